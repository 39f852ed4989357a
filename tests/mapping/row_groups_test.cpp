// Groups that hold whole rows: values of a row are computed once, and its reductions are combined.
#include "compiler/mapping/walk/row_groups.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/driver/compile.h"
#include "compiler/frontend/statistics.h"
#include "compiler/language.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// An element costs as much to keep in memory as to compute once more. A subgroup of 4 has few
/// lanes for many rows and subgroups.
DeviceProfile balanced(uint32_t subgroup) {
    DeviceProfile profile = cpu_profile();
    profile.operations_per_second = 1e6;
    profile.bytes_per_second = 6e5;
    profile.seconds_per_load = 1e-12;
    profile.seconds_per_launch = 0;
    profile.parallel_invocations = 1;
    profile.subgroup_size = subgroup;
    return profile;
}

Tensors soft_scores(const Tensors& a) { return {softmax(matmul(a[0], transpose(a[1])) * 0.25f)}; }

/// A mean, a spread, and the place of the largest, of one computed row.
Tensors normal_scores(const Tensors& a) {
    Tensor x = matmul(a[0], transpose(a[1]));
    Tensor centred = x - mean(x, {.axis = 1, .keep_dims = true});
    Tensor normal =
        centred * rsqrt(mean(centred * centred, {.axis = 1, .keep_dims = true}) + 1e-5f);
    return {normal - reshape(argmax(x, {.axis = 1}), {-1, 1}).as(f32)};
}

Tensors causal_scores(const Tensors& a) {
    Tensor x = matmul(a[0], transpose(a[1]));
    auto [i, j] = indices<2>(x.shape());
    return {softmax(select(j <= i, x, -1e30f))};
}

template <class F>
auto compiled(F function, const Shape& left, const Shape& right) {
    ArgSpec a = f32(1), b = f32(1);
    a.shape = left, b.shape = right;
    return compile([=](const Tensors& x) { return function(x); }, std::vector<ArgSpec>{a, b});
}

template <class F>
std::vector<float> values(const Session& session, F function, const Shape& left,
                          const Shape& right) {
    SessionScope scope(session);
    std::vector<Arg> args{rand(left, {.seed = 3}), rand(right, {.seed = 4})};
    return compiled(function, left, right).call(args)[0].template to_vector<float>();
}

template <class F>
void expect_as_oracle(const DeviceProfile& profile, F function, const Shape& left,
                      const Shape& right) {
    const auto got = values(Session::interpreter(profile), function, left, right);
    const auto wanted = values(Session::oracle(), function, left, right);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t k = 0; k < got.size(); ++k)
        ASSERT_NEAR(got[k], wanted[k], 1e-4f * std::max(1.0f, std::abs(wanted[k])))
            << profile.name << " at " << k;
}

template <class F>
std::shared_ptr<const Program> program_of(const DeviceProfile& profile, F function,
                                          const Shape& left, const Shape& right) {
    SessionScope scope(Session::interpreter(profile));
    return compiled(function, left, right).program();
}

/// Rows: full, with a tail, longer than one tile, of an odd length, of one subgroup, and few of
/// them.
const std::vector<std::pair<Shape, Shape>> kShapes = {{{16, 8}, {64, 8}}, {{10, 8}, {100, 8}},
                                                      {{6, 8}, {300, 8}}, {{7, 8}, {61, 8}},
                                                      {{8, 8}, {32, 8}},  {{1, 8}, {128, 8}}};

TEST(RowGroups, GiveWhatTheOracleGives) {
    for (const uint32_t subgroup : {4u, 8u, 32u})
        for (const auto& [left, right] : kShapes) {
            const DeviceProfile profile = balanced(subgroup);
            expect_as_oracle(profile, soft_scores, left, right);
            expect_as_oracle(profile, normal_scores, left, right);
            expect_as_oracle(profile, causal_scores, left, right);
        }
}

TEST(RowGroups, AProductAndWhatNormalisesItsRowsAreOneKernel) {
    for (const uint32_t subgroup : {4u, 8u, 32u})
        for (const auto& [left, right] : kShapes)
            for (const auto function : {soft_scores, normal_scores, causal_scores}) {
                const auto program = program_of(balanced(subgroup), function, left, right);
                EXPECT_EQ(program->steps.size(), 1u) << subgroup << text(left) << text(right);
                EXPECT_TRUE(reduces_rows(*std::get<DispatchStep>(program->steps[0].step).lowered))
                    << subgroup << text(left) << text(right);
            }
}

TEST(RowGroups, ARowThatNoGroupHoldsStaysInMemory) {
    DeviceProfile profile = balanced(8);
    profile.max_group_size = 128;
    // So many rows that one group alone would take longer than all.
    EXPECT_EQ(program_of(profile, soft_scores, {256, 8}, {1024, 8})->steps.size(), 1u);
    EXPECT_GT(program_of(profile, soft_scores, {256, 8}, {2048, 8})->steps.size(), 1u);
}

TEST(RowGroups, SharedMemoryHoldsTwoValuesForEachInvocationAndReduction) {
    const auto program = program_of(balanced(8), soft_scores, {16, 8}, {512, 8});
    ASSERT_EQ(program->kernels.size(), 1u);
    EXPECT_LE(program->kernels[0].shared_bytes,
              2 * 2 * sizeof(float) * program->kernels[0].group_size[0]);
}

TEST(RowGroups, EveryOtherMappingHoldsRowsToo) {
    const auto program = program_of(balanced(8), soft_scores, {16, 8}, {64, 8});
    const auto& step = std::get<DispatchStep>(program->steps.at(0).step);
    const auto heuristic = choose_mapping(*step.lowered, program->profile, {});
    const std::vector<Mapping> others =
        vary_mapping(*step.lowered, heuristic, program->profile, {});
    EXPECT_GE(others.size(), 3u);
    for (const Mapping& m : others)
        EXPECT_EQ(why_illegal({*step.lowered, m, program->profile, {}}), "");
}

}  // namespace
}  // namespace firn
