// Small kernels that do not need each other run in one dispatch, and give the same.
#include "compiler/mapping/list/side_by_side.h"

#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/host_functions.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

const std::vector<int> kSizes = {100, 7, 64, 1, 333};

/// Each of its own size.
Tensors apart(const Tensors& a) {
    Tensors out;
    for (const Tensor& x : a) out.push_back(sin(x) * 2.0f + x);
    return out;
}

/// Two results of each size, of lengths with and without whole blocks of four.
Tensors in_pairs(const Tensors& a) {
    Tensors out;
    for (const Tensor& x : a) {
        out.push_back(cos(x) - x);
        out.push_back(x * x);
    }
    return out;
}

/// The second needs the first one's result.
Tensors chained(const Tensors& a) {
    Tensor total = sum(a[0] * a[0]);
    return {total, a[1] * total, a[2] + 1.0f};
}

template <class F>
std::shared_ptr<const Program> program_of(F function, const std::vector<int>& sizes,
                                          const DeviceProfile& profile) {
    SessionScope scope(Session::interpreter(profile));
    std::vector<ArgSpec> specs;
    for (int n : sizes) specs.push_back(f32(n));
    return compile([&](const Tensors& a) { return function(a); }, specs).program();
}

template <class F>
std::vector<std::vector<float>> values_by(F function, const Session& session) {
    SessionScope scope(session);
    std::vector<ArgSpec> specs;
    for (int n : kSizes) specs.push_back(f32(n));
    auto compiled = compile([&](const Tensors& a) { return function(a); }, specs);
    std::vector<Arg> args;
    for (int n : kSizes) args.emplace_back(rand({n}, {.seed = 9}));
    std::vector<std::vector<float>> out;
    for (const Tensor& t : compiled.call(args)) out.push_back(t.template to_vector<float>());
    return out;
}

TEST(SideBySide, SmallKernelsOfDifferentShapesAreOneDispatch) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(program_of(apart, kSizes, profile)->steps.size(), 1u) << profile.name;
}

TEST(SideBySide, LargeOnesStayApart) {
    EXPECT_EQ(program_of(apart, {1 << 20, 1 << 19}, cpu_profile())->steps.size(), 2u);
}

TEST(SideBySide, NoMoreThanTheDeviceBinds) {
    DeviceProfile profile = gpu_profile();
    profile.max_storage_buffers = 8;
    EXPECT_GE(program_of(apart, kSizes, profile)->steps.size(), 2u);
}

TEST(SideBySide, OnACpuDriverAKernelTakesOneTurnOfWhatIsNotItsOwn) {
    // Masked iterations of the others, beside 64 elements of one's own: 8192 elements stand beside
    // few.
    const auto program = program_of(in_pairs, {8192, 100, 7, 64, 333}, cpu_profile());
    ASSERT_EQ(program->steps.size(), 1u);
    EXPECT_LE(program->kernels[0].back_edges, 5 * 64 / 4 + 4 * 3);
    const auto& step = std::get<DispatchStep>(program->steps[0].step);
    const int64_t invocations = step.groups[0].constant() * program->kernels[0].group_size[0];
    EXPECT_LE(invocations, 2 * (8192 + 100 + 7 + 64 + 333) / 64);
}

TEST(SideBySide, TheValuesStayTheSame) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        EXPECT_EQ(values_by(apart, with_host_functions(profile)),
                  values_by(apart, Session::oracle()));
        EXPECT_EQ(values_by(in_pairs, with_host_functions(profile)),
                  values_by(in_pairs, Session::oracle()));
        const auto got = values_by(chained, with_host_functions(profile)),
                   wanted = values_by(chained, Session::oracle());
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t k = 0; k < got.size(); ++k)
            for (size_t i = 0; i < got[k].size(); ++i)
                EXPECT_NEAR(got[k][i], wanted[k].at(i), 1e-3f) << k << " " << i;
    }
}

}  // namespace
}  // namespace firn
