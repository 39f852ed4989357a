// Carried values of loops of kernels that their next ones are written over.
#include <gtest/gtest.h>

#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

Tensor averaged(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    return 0.5f * (x(i, j - 1) + x(i, j + 1));
}

/// Sums over the iterations of moving values.
Tensors with_a_sum(const Tensors& a) {
    Tensor x = a[0], total = zeros(x.shape());
    for (Tensor iteration : loop(7)) {
        x = averaged(x);
        total += x;
    }
    return {x, total};
}

/// The old sum is asked for after the new one is there.
Tensors with_a_sum_that_is_read(const Tensors& a) {
    Tensor x = a[0], total = zeros(x.shape()), last = zeros(x.shape());
    for (Tensor iteration : loop(7)) {
        x = averaged(x);
        last = averaged(total);
        total += x;
    }
    return {x, total, last};
}

/// `apart`: the oldest state is read by neighbours.
template <bool apart>
Tensors leapfrogging(const Tensors& a) {
    Tensor before = a[0], now = averaged(a[0]);
    for (Tensor iteration : loop(6)) {
        Tensor next = apart ? averaged(before) - now : averaged(now) - before;
        before = now, now = next;
    }
    return {before, now};
}

/// An inner loop continues with the outer one's carried values.
Tensors nested(const Tensors& a) {
    Tensor x = a[0], total = zeros(x.shape());
    for (Tensor cycle : loop(3)) {
        for (Tensor iteration : loop(2)) x = averaged(x), total += x;
        total = 0.5f * total;
    }
    return {x, total};
}

struct Row {
    const char* name;
    Tensors (*function)(const Tensors&);
    size_t rotating;  // names of buffers, in all loops
};
class InPlace : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, InPlace,
                         testing::Values(Row{"sum", with_a_sum, 2},
                                         Row{"sum_that_is_read", with_a_sum_that_is_read, 4},
                                         Row{"leapfrog", leapfrogging<false>, 2},
                                         Row{"leapfrog_apart", leapfrogging<true>, 3},
                                         Row{"nested", nested, 2}),
                         [](const auto& info) { return std::string(info.param.name); });

size_t rotating(const std::vector<Step>& steps) {
    size_t count = 0;
    for (const Step& step : steps)
        if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
            count += repeat->rotation.size() + rotating(repeat->body);
    return count;
}

std::vector<std::vector<float>> results(const Session& session, const Row& row,
                                        const Shape& shape) {
    SessionScope scope(session);
    auto f = compile([&](const Tensors& a) { return row.function(a); },
                     std::vector<ArgSpec>{f32("n", "m")});
    std::vector<std::vector<float>> out;
    for (const Tensor& t : f.call({rand(shape, {.seed = 3})})) out.push_back(t.to_vector<float>());
    return out;
}

TEST_P(InPlace, BuffersThatRotate) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(rotating(program_for(profile, GetParam().function, {f32(4096, 4096)})->steps),
                  GetParam().rotating)
            << profile.name;
}

TEST_P(InPlace, GivesWhatTheOracleGives) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (const Shape& shape : {Shape{300, 301}, {8, 8}, {1, 1}, {0, 3}}) {
            const auto got = results(Session::interpreter(profile), GetParam(), shape),
                       expected = results(Session::oracle(), GetParam(), shape);
            ASSERT_EQ(got.size(), expected.size());
            for (size_t k = 0; k < got.size(); ++k) {
                ASSERT_EQ(got[k].size(), expected[k].size());
                for (size_t e = 0; e < got[k].size(); ++e)
                    ASSERT_NEAR(got[k][e], expected[k][e], 1e-4f)
                        << profile.name << " " << text(shape) << " result " << k << " at " << e;
            }
        }
}

}  // namespace
}  // namespace firn
