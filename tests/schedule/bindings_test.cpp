// A kernel never binds more tensors than the device does: what asks for more is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "compiler/driver/explain.h"
#include "tests/algorithms/agreement.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

constexpr int kElements = 6;

DeviceProfile with_bindings(DeviceProfile profile, uint32_t most) {
    profile.max_storage_buffers = profile.max_views = most;
    return profile;
}

struct Device {
    const char* name;
    DeviceProfile profile;
    friend std::ostream& operator<<(std::ostream& out, const Device& device) {
        return out << device.name;
    }
};

std::vector<Device> devices() {
    return {{"Cpu", cpu_profile()},
            {"Gpu", gpu_profile()},
            {"CpuOfFour", with_bindings(cpu_profile(), 4)},
            {"GpuOfFour", with_bindings(gpu_profile(), 4)}};
}

class Bindings : public testing::TestWithParam<Device> {
  protected:
    Session session = Session::interpreter(GetParam().profile);
    SessionScope scope{session};
};

/// Tensor t holds 10 t, 10 t + 1, ...
std::vector<float> values_of(int t) {
    std::vector<float> out(kElements);
    std::iota(out.begin(), out.end(), 10.0f * static_cast<float>(t));
    return out;
}

Tensors inputs(int count) {
    Tensors out;
    for (int t = 0; t < count; ++t) out.push_back(tensor(values_of(t), {kElements}));
    return out;
}

Tensor total(const Tensors& all) {
    Tensor sum = all[0];
    for (size_t t = 1; t < all.size(); ++t) sum = sum + all[t];
    return sum;
}

std::vector<float> expected_total(int count) {
    std::vector<float> out(kElements, 0.0f);
    for (int t = 0; t < count; ++t)
        for (size_t i = 0; i < kElements; ++i) out[i] += values_of(t)[i];
    return out;
}

std::vector<float> joined(int count) {
    std::vector<float> out;
    for (int t = 0; t < count; ++t)
        for (float v : values_of(t)) out.push_back(v);
    return out;
}

TEST_P(Bindings, ASumOfManyTensorsIsRight) {
    for (int count : {2, 3, 4, 5, 17, 31, 32, 33, 63, 64, 65, 80, 300})
        EXPECT_EQ(total(inputs(count)).to_vector<float>(), expected_total(count)) << count;
}

TEST_P(Bindings, ACompiledSumOfManyTensorsIsRight) {
    const std::vector<ArgSpec> symbolic(80, f32("n"));
    auto sum = compile([](const Tensors& all) { return total(all); }, symbolic);
    const Tensors all = inputs(80);
    EXPECT_EQ(sum(all).to_vector<float>(), expected_total(80));
}

TEST_P(Bindings, AStackOfManyTensorsIsRight) {
    for (int count : {2, 5, 33, 80, 300})
        EXPECT_EQ(stack(inputs(count)).to_vector<float>(), joined(count)) << count;
}

TEST_P(Bindings, ATreeOfManyTensorsIsRight) {
    Tensors level = inputs(256);
    while (level.size() > 1) {
        Tensors next;
        for (size_t k = 0; k < level.size(); k += 2) next.push_back(level[k] + level[k + 1]);
        level = std::move(next);
    }
    EXPECT_EQ(level[0].to_vector<float>(), expected_total(256));
}

TEST_P(Bindings, SumsThatShareTensorsAreRight) {
    const Tensors all = inputs(80);
    Tensors sums;
    for (size_t k = 0; k < 20; ++k)
        sums.push_back(total({all.begin() + static_cast<long>(k), all.end()}));
    realize(sums);
    for (int k = 0; k < 20; ++k) {
        std::vector<float> expected = expected_total(80);
        for (size_t i = 0; i < kElements; ++i) expected[i] -= k ? expected_total(k)[i] : 0;
        EXPECT_EQ(sums[static_cast<size_t>(k)].to_vector<float>(), expected) << k;
    }
}

TEST_P(Bindings, AReductionOfManyTensorsIsRight) {
    const std::vector<float> each = expected_total(80);
    EXPECT_EQ(sum(total(inputs(80))).item<float>(),
              std::accumulate(each.begin(), each.end(), 0.0f));
}

TEST_P(Bindings, NeighboursMayBeComputedFromManyTensors) {
    for (int count : {5, 6, 9, 40}) {
        auto sum_around = compile(
            [](const Tensors& all) {
                Tensor y = total(all), i = arange(kElements);
                return y + y(i - 1) + y(i + 1);
            },
            std::vector<ArgSpec>(static_cast<size_t>(count), f32(kElements)));
        const std::vector<float> each = expected_total(count);
        std::vector<float> expected;
        for (int k = 0; k < kElements; ++k) {
            const int after = std::min(k + 1, kElements - 1);
            expected.push_back(each[static_cast<size_t>(k)] +
                               each[static_cast<size_t>(std::max(k - 1, 0))] +
                               each[static_cast<size_t>(after)]);
        }
        EXPECT_EQ(sum_around(inputs(count)).to_vector<float>(), expected) << count;
    }
}

/// Kept in memory, since every row needs all of it, although it is computed from nothing there.
Tensor dear(int t) {
    Tensor at = index({64, 200}, 0) + index({64, 200}, 1);
    return sum(sin(at.as(f32) + static_cast<float>(t)), {.axis = 1});
}

TEST_P(Bindings, ManyTensorsMayBeComputedFromNothing) {
    const auto all_pairs = [](int count) {
        Tensor x = arange(64).as(f32), sum = unsqueeze(x, 1) + x;
        for (int t = 0; t < count; ++t) sum = max(sum, 100 * (unsqueeze(dear(t), 1) + dear(t + 1)));
        return sum;
    };
    for (int count : {4, 7, 40}) {
        SCOPED_TRACE(count);
        std::vector<float> expected;
        {
            SessionScope oracle(Session::oracle());
            expected = all_pairs(count).to_vector<float>();
        }
        expect_near(all_pairs(count).to_vector<float>(), expected, 1e-3);
    }
}

TEST_P(Bindings, WhatIsStoredMayComeFromManyTensors) {
    Tensor x = zeros({kElements}), i = arange(kElements);
    x(kElements - 1 - i) = total(inputs(80));
    std::vector<float> expected = expected_total(80);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(x.to_vector<float>(), expected);
}

TEST_P(Bindings, ALoopMayReadManyTensors) {
    const Tensors all = inputs(80);
    Tensor x = zeros({kElements});
    for (Tensor iteration : loop(3))
        for (const Tensor& each : all) x = max(x, each) + 1.0f;
    std::vector<float> expected(kElements, 0.0f);
    for (int iteration = 0; iteration < 3; ++iteration)
        for (int t = 0; t < 80; ++t)
            for (size_t i = 0; i < kElements; ++i)
                expected[i] = std::max(expected[i], values_of(t)[i]) + 1;
    EXPECT_EQ(x.to_vector<float>(), expected);
}

TEST_P(Bindings, WhatALoopGivesMayMeetOtherTensors) {
    const Tensors all = inputs(6);
    Tensor x = all[0];
    for (Tensor iteration : loop(3)) x = max(x, all[1]) + min(x, all[2]);
    Tensor chosen = select(all[3] < all[4], x, all[5]);
    std::vector<float> expected = values_of(0);
    for (int iteration = 0; iteration < 3; ++iteration)
        for (size_t i = 0; i < kElements; ++i)
            expected[i] =
                std::max(expected[i], values_of(1)[i]) + std::min(expected[i], values_of(2)[i]);
    EXPECT_EQ(chosen.to_vector<float>(), expected);
}

TEST_P(Bindings, ALoopWhoseBoundsAreInMemoryMayStandInABranch) {
    Tensor bounds = tensor({2, 50, 3}), total = zeros({40}, i32), x = arange(40);
    for (Tensor t : loop(bounds(0), bounds(1), bounds(2))) total += t * x;
    std::vector<int> expected(40);
    for (int t = 2; t < 50; t += 3)
        for (int i = 0; i < 40; ++i) expected[static_cast<size_t>(i)] += t * i;
    EXPECT_EQ(total.to_vector<int>(), expected);
}

Tensor total_by_hand(const Tensors& all) {
    Tensor y = zeros({kElements});
    kernel({kElements}, [&](Tensor i) {
        Tensor sum = 0.0f;
        for (const Tensor& each : all) sum = sum + each(i);
        y(i) = sum;
    });
    return y;
}

TEST_P(Bindings, AKernelByHandMayReadMoreThanOneFormOfBindingTakes) {
    for (int count : {3, 7, 80})
        EXPECT_EQ(total_by_hand(inputs(count)).to_vector<float>(), expected_total(count)) << count;
}

TEST(BindingLimits, AKernelByHandIsRefusedWhereNoFormTakesAllThatItReads) {
    DeviceProfile profile = with_bindings(cpu_profile(), 4);
    profile.buffer_addresses = false;
    const Session session = Session::interpreter(profile);
    SessionScope scope(session);
    EXPECT_EQ(total_by_hand(inputs(7)).to_vector<float>(), expected_total(7));
    try {
        total_by_hand(inputs(8)).to_vector<float>();
        ADD_FAILURE() << "it was not refused";
    } catch (const UserError& error) {
        expect_message(error.what(), {"reads 4 tensors through views and binds 5 others",
                                      "this device binds 4 and 4", "bindings_test.cpp:"});
    }
}

INSTANTIATE_TEST_SUITE_P(Each, Bindings, testing::ValuesIn(devices()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BindingLimits, AnExplanationSaysThatBindingsAreTheReason) {
    auto program = program_for(
        cpu_profile(), [](const Tensors& all) { return Tensors{total(all)}; },
        std::vector<ArgSpec>(80, f32(512, 512)));
    const auto cut = [](const VerdictInfo& v) {
        return v.verdict == "materialised" && v.reason == "too-many-bindings";
    };
    EXPECT_EQ(std::count_if(program->verdicts.begin(), program->verdicts.end(), cut), 1)
        << explain(*program);
    EXPECT_EQ(program->kernels.size(), 2u);
}

TEST(BindingLimits, EveryKernelBindsAsManyAsTheDeviceDoes) {
    for (const Device& device : devices()) {
        auto program = program_for(
            device.profile, [](const Tensors& all) { return Tensors{total(all)}; },
            std::vector<ArgSpec>(300, f32(512, 512)));
        for (const KernelInfo& kernel : program->kernels)
            EXPECT_LE(kernel.bindings.size(),
                      device.profile.max_storage_buffers + device.profile.max_views);
    }
}

/// Returns the most bytes in one storage binding: if only the device knows how many are used, the
/// room that the call makes for them.
int64_t largest_storage_binding(const Program& program) {
    int64_t most = 0;
    for_dispatches(program.steps, [&](const DispatchStep& dispatch) {
        const std::vector<BindingInfo>& bindings =
            program.kernels[static_cast<size_t>(dispatch.kernel)].bindings;
        for (size_t k = 0; k < bindings.size(); ++k) {
            if (bindings[k].form != BindingForm::Storage) continue;
            const BufferInfo& buffer = program.buffers[static_cast<size_t>(dispatch.buffers[k])];
            most = std::max(most, largest(buffer.bytes()).upper_bound());
        }
    });
    return most;
}

// They would be bound whole, which a device with small bindings refuses.
TEST(BindingsOfDataSizes, HoldNoMoreThanADeviceBinds) {
    const auto chosen = [](const Tensors& a) {
        return Tensors{compact(a[0], a[0] % 4 != 0) + 1, nonzero(a[0] > 2), unique(a[0]),
                       sort(compact(a[0], a[0] > 1))};
    };
    for (DeviceProfile profile : {cpu_profile(), gpu_profile()}) {
        profile.max_storage_range = 65536;
        profile.max_view_elements = 4096;
        for (const int elements : {10'000, 40'000}) {  // 40 and 160 kB
            const auto program = program_for(profile, chosen, {i32(elements)});
            EXPECT_GT(largest_storage_binding(*program), 0) << profile.name;
            EXPECT_LE(largest_storage_binding(*program), 65536) << profile.name;
        }
    }
}

}  // namespace
}  // namespace firn
