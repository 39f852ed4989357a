// Programs are right on a device that has no more of something than the Vulkan specification
// guarantees.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <ostream>

#include "compiler/frontend/record.h"
#include "compiler/program/vulkan_limits.h"
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

struct Limit {
    const char* name;
    DeviceProfile (*of)(DeviceProfile);
    friend std::ostream& operator<<(std::ostream& out, const Limit& limit) {
        return out << limit.name;
    }
};

template <auto Member, auto Value>
DeviceProfile with(DeviceProfile profile) {
    profile.*Member = Value;
    return profile;
}

template <uint32_t Size>
DeviceProfile with_subgroups(DeviceProfile profile) {
    return with<&DeviceProfile::subgroup_size, Size>(profile);
}

DeviceProfile with_small_groups(DeviceProfile profile) {
    const DeviceProfile all = least(profile);
    profile.max_group_size = all.max_group_size;
    std::copy(std::begin(all.max_group_extent), std::end(all.max_group_extent),
              std::begin(profile.max_group_extent));
    return profile;
}

DeviceProfile with_few_bindings(DeviceProfile profile) {
    profile.max_storage_buffers = 4;
    profile.max_views = std::min(profile.max_views, 4u);
    return profile;
}

/// So little that ordinary tensors are larger than a binding.
DeviceProfile with_addresses(DeviceProfile profile) {
    profile.max_view_elements = 64;
    profile.max_storage_range = 1024;
    return profile;
}

template <uint32_t Lanes>
DeviceProfile with_all(DeviceProfile profile) {
    return least(with_subgroups<Lanes>(profile));
}

const Limit kLimits[] = {
    {"TexelElements", with<&DeviceProfile::max_view_elements, 65536u>},
    {"StorageRange", with_addresses},
    {"SharedMemory", with<&DeviceProfile::shared_bytes, 16384u>},
    {"Groups", with_small_groups},
    {"Bindings", with_few_bindings},
    {"PushConstants", with<&DeviceProfile::push_constant_bytes, 128u>},
    {"NoPushConstants", with<&DeviceProfile::push_constant_bytes, 0u>},
    {"Bodies", with<&DeviceProfile::max_body_operations, 64u>},
    {"Subgroups1", with_subgroups<1>},
    {"Subgroups4", with_subgroups<4>},
    {"Subgroups128", with_subgroups<128>},
    {"NoShuffles", with<&DeviceProfile::subgroup_shuffle, false>},
    {"No8Bit", with<&DeviceProfile::storage_8bit, false>},
    {"No16Bit", with<&DeviceProfile::storage_16bit, false>},
    {"NoF64", with<&DeviceProfile::has_f64, false>},
    {"NoI64", with<&DeviceProfile::has_i64, false>},
    {"NoFloatAtomics", with<&DeviceProfile::float_atomic_add, false>},
    {"NoTexelLoads", with<&DeviceProfile::view_loads, false>},
    {"NoAddresses", with<&DeviceProfile::buffer_addresses, false>},
    {"Least1", with_all<1>},
    {"Least8", with_all<8>},
    {"Least128", with_all<128>},
};

Tensor floats(const Shape& shape, uint32_t seed = 7) {
    return tensor(random_floats(static_cast<size_t>(element_count(shape).constant()), seed), shape);
}

Tensor diffused() {
    Tensor u = floats({40, 60});
    for (Tensor iteration : loop(20)) {
        auto [i, j] = indices<2>(u.shape());
        u = u + 0.2f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u);
    }
    return u;
}

Tensor escape_times() {
    Tensor x = arange(500).as(f32) / 250 - 1, z = zeros({500}), iterations = zeros({500}, i32);
    while_([&] { return z < 2.0f; }, [&] { z = z * z + x + 0.5f, iterations += 1; },
           {.max_steps = 100});
    return iterations;
}

Tensor reversed_in_groups() {
    Tensor x = floats({1024}), y = zeros({1024});
    kernel({1024}, {.group = {64}}, [&](Tensor i) {
        Shared tile = shared(f32, {64});
        tile(63 - local_index(0)) = x(i);
        barrier();
        y(i) = tile(local_index(0));
    });
    return y;
}

Tensor stored_halves(DType type) {
    Tensor x = floats({33}).as(type), i = arange(33);
    x(32 - i) = floats({33}, 9).as(type);
    realize(x);
    return x.as(f32) * 2;
}

Tensor total_of_many() {
    Tensor sum = floats({30, 40});
    for (uint32_t t = 0; t < 40; ++t) sum = sum + floats({30, 40}, t);
    return sum;
}

Tensor positive_roots() {
    Tensor x = floats({3000});
    return sum(sqrt(compact(x, x > 0.0f)));
}

Tensor by_size(const Shape& shape) {
    auto blur = compile(
        [](Tensor x, Tensor scale) {
            auto [i, j] = indices<2>(x.shape());
            return scale * (x(i, j - 1) + x + x(i, j + 1)) + sum(x, {.axis = 1, .keep_dims = true});
        },
        {f32("n", "m"), f32()});
    return blur(floats(shape), 0.5f);
}

struct Program {
    const char* name;
    Tensor (*run)();
    double tolerance = 0;
};

const Program kPrograms[] = {
    {"elementwise",
     [] {
         return exp(floats({300, 300})) * 2 + 1;
     },
     1e-6},
    {"a sum of more than a view", [] { return sum(floats({100000})); }, 1e-3},
    {"softmax",
     [] {
         return softmax(floats({40, 500}));
     },
     1e-6},
    {"matmul",
     [] {
         return matmul(floats({70, 90}), floats({90, 50}, 8));
     },
     1e-5},
    {"matmul of halves",
     [] {
         return matmul(floats({64, 64}).as(f16), floats({64, 64}, 8).as(f16));
     },
     1e-2},
    {"stencil in a loop", diffused, 1e-5},
    {"cumsum", [] { return cumsum(tensor(random_ints(5000, 1, -9, 9))); }},
    {"sort",
     [] {
         return sort(floats({3, 300}), {.axis = 1});
     }},
    {"histogram", [] { return histogram(floats({5000}), 50, {.low = -1, .high = 1}); }},
    {"floats that are added",
     [] { return segment_sum(floats({700}), tensor(random_ints(700, 1, -2, 40)), 37); }, 1e-5},
    {"convolution",
     [] {
         return conv2d(floats({2, 3, 16, 16}), floats({4, 3, 3, 3}), {.stride = 2, .padding = 1});
     },
     1e-5},
    {"gather in two dimensions",
     [] {
         return floats({50, 60})(tensor(random_ints(99, 1, 0, 49)),
                                 tensor(random_ints(99, 2, 0, 59)));
     }},
    {"loop until done", escape_times},
    {"kernel by hand", reversed_in_groups},
    {"many tensors", total_of_many, 1e-4},
    {"a size of the device", positive_roots, 1e-3},
    {"bytes",
     [] {
         return (arange(777).as(u8) + 3).as(i8).as(i32) +
                tensor(random_ints(777, 1, 0, 9)).as(u8).as(i32);
     }},
    {"shorts",
     [] {
         Tensor x = (arange(777) * 97).as(u16), i = arange(777);
         x(776 - i) = (x + 3).as(i16);
         realize(x);
         return x.as(i32) + bitcast(x, i16).as(i32);
     }},
    {"counts in bytes and shorts",
     [] {
         Tensor x = zeros({40}, u8), y = full({40}, 32000).as(i16),
                at = tensor(random_ints(7000, 1, -2, 39));
         scatter_add(x(at), 1), scatter_add(y(at), 7), scatter_max(x(arange(9)), 250);
         realize(x), realize(y);
         return x.as(i32) + y.as(i32);
     }},
    {"halves that are stored", [] { return stored_halves(f16); }},
    {"brain floats that are stored", [] { return stored_halves(bf16); }},
    {"bits of halves",
     [] {
         Tensor bits = arange(65536).as(u16), half = bitcast(bits, f16),
                brain = bitcast(bits, bf16);
         const auto back = [&](const Tensor& x) {
             return select(is_nan(x) | (abs(x.as(f32)) < 1.2e-38f), 0, bitcast(x, u16).as(i32));
         };
         realize(half), realize(brain);
         return back(half) + 3 * back(brain);
     }},
    {"truths", [] { return floats({999}) > floats({999}, 8); }},
    {"sizes that are symbols",
     [] {
         return by_size({33, 130});
     },
     1e-4},
    {"large sizes that are symbols",
     [] {
         return by_size({300, 400});
     },
     1e-4},
    {"random numbers", [] { return randn({999}, {.seed = 5}); }, 1e-5},
    {"fft",
     [] {
         return fft(floats({2, 300})).re;
     },
     1e-4},
};

class Limits : public testing::TestWithParam<Limit> {
  protected:
    static std::vector<double> values(const Session& session, const Program& program) {
        SessionScope scope(session);
        return program.run().to_vector<double>();
    }
    /// Returns the numbers of the oracle, which are the same for every limit, so that it is asked
    /// once.
    static const std::vector<double>& expected(const Program& program) {
        static std::map<const Program*, std::vector<double>> found;
        const auto [at, first] = found.try_emplace(&program);
        if (first) at->second = values(Session::oracle(), program);
        return at->second;
    }

    static void expect_programs(const DeviceProfile& profile) {
        const Session session = Session::interpreter(profile);
        session.state()->emission = Emission::Binary;  // the driver's input is valid, too
        for (const Program& program : kPrograms) {
            SCOPED_TRACE(program.name);
            try {
                expect_near(values(session, program), expected(program), program.tolerance);
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
            }
        }
    }
};

TEST_P(Limits, ProgramsOnACpuDriverAreRight) { expect_programs(GetParam().of(cpu_profile())); }
TEST_P(Limits, ProgramsOnAGpuAreRight) { expect_programs(GetParam().of(gpu_profile())); }

INSTANTIATE_TEST_SUITE_P(Each, Limits, testing::ValuesIn(kLimits),
                         [](const auto& info) { return std::string(info.param.name); });

/// A device on which one invocation sorts everything, and whose loops end before that.
DeviceProfile short_of_breath() {
    DeviceProfile profile = cpu_profile();
    profile.parallel_invocations = 1;
    profile.max_back_edges = 600;
    return profile;
}

TEST(LimitsHold, WhatIsSortedIsLongerThanTheLoopsOfAnInvocation) {
    const std::vector<int> ids = random_ints(2100, 1, 0, 50);
    const auto by_symbol = [](const Tensor& x) {
        return compile([](Tensor x) { return sort(x); }, {f32("n")})(x);
    };
    const std::pair<const char*, std::function<Tensor()>> programs[] = {
        {"sort", [] { return sort(floats({2100})); }},
        {"argsort",
         [] {
             return argsort(floats({2, 2100}), {.axis = 1, .descending = true});
         }},
        {"sort of a size that is a symbol", [&] { return by_symbol(floats({2100})); }},
        {"unique", [&] { return unique(tensor(ids)); }},
        {"median", [] { return median(floats({2100})); }},
        {"topk", [] { return topk(floats({2100}), 9).values; }},
        {"permutation", [] { return permutation(2100); }},
        {"segment_sum", [&] { return segment_sum(floats({2100}), tensor(ids), 51); }},
    };
    const Session device = Session::interpreter(short_of_breath());
    for (const auto& [name, make] : programs) {
        SCOPED_TRACE(name);
        const auto values = [&make = make](const Session& session) {
            SessionScope scope(session);
            return make().to_vector<double>();
        };
        try {
            EXPECT_EQ(values(device), values(Session::oracle()));
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

/// Returns the device's message for `make()`.
template <class Make>
std::string refusal(const DeviceProfile& profile, const Make& make) {
    SessionScope scope(Session::interpreter(profile));
    try {
        make().template to_vector<double>();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(LimitsRefuse, TypesThatTheDeviceLacks) {
    const DeviceProfile none = least(cpu_profile());
    expect_message(refusal(none, [] { return floats({9}).as(f64) * 3; }),
                   {"f64 is not available on this device", "cast to f32", "limits_test.cpp:"});
    expect_message(refusal(none, [] { return floats({9}).as(i64) * 3; }),
                   {"i64 is not available on this device", "cast to i32", "limits_test.cpp:"});
}

TEST(LimitsRefuse, TensorsLargerThanABindingWhereBuffersHaveNoAddresses) {
    DeviceProfile profile = with_addresses(cpu_profile());
    profile.buffer_addresses = false;
    expect_message(
        refusal(profile, [] { return floats({999}) * 3; }),
        {"a tensor of 4000 bytes", "binds 1024 at once", "split the tensor", "limits_test.cpp:"});
}

TEST(LimitsRefuse, GroupsThatAreTooLarge) {
    expect_message(
        refusal(least(gpu_profile()),
                [] {
                    Tensor y = zeros({1024});
                    kernel({1024}, {.group = {256}}, [&](Tensor i) { y(i) = i.as(f32); });
                    return y;
                }),
        {"a group of this kernel has 256 invocations", "allows 128", "limits_test.cpp:"});
}

}  // namespace
}  // namespace firn
