// Choices with expensive sides become branches; cheap ones stay selects.
#include "compiler/mapping/before/select_branches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/host_functions.h"

namespace firn {
namespace {

/// Many costly operations for the few elements that need them.
Tensor dear_arithmetic(Tensor x) {
    Tensor y = x;
    if_(x > 0.9f, [&] {
        for (int k = 0; k < 8; ++k) y = sin(y) + exp(-y);
    });
    return y;
}

Tensor cheap_arithmetic(Tensor x) {
    Tensor y = x;
    if_(x > 0.9f, [&] { y = 2.0f * y + 1.0f; });
    return y;
}

/// A loop that has no end of its own.
Tensor dear_loop(Tensor x) {
    Tensor y = x, z = x;
    if_(x > 0.9f, [&] {
        for (Tensor k : loop(200)) y = 0.5f * sin(y + cast<float>(k));
        z = y * y;
    });
    return y + z;
}

/// One side is needed anyhow.
Tensor shared_side(Tensor x) {
    Tensor dear = sin(exp(sin(exp(sin(x)))));
    return select(x > 0.9f, dear, x) + dear;
}

template <class F>
int branches(F function, const DeviceProfile& profile) {
    SessionScope scope(Session::interpreter(profile));
    auto program = compile(function, {f32(4096)}).program();
    int count = 0;
    for (const KernelInfo& kernel : program->kernels)
        for (const KernelRegion& region : kernel.code->regions)
            for (NodeId id : region.order) count += (*kernel.code)[id].op == KernelOp::Branch;
    return count;
}

template <class F>
std::vector<float> values(F function, const Session& session) {
    SessionScope scope(session);
    return function(rand({777}, {.seed = 5})).template to_vector<float>();
}

TEST(SelectBranches, AGpuBranchesWhereASideIsDear) {
    EXPECT_GT(branches(dear_arithmetic, gpu_profile()), 0);
    EXPECT_GT(branches(dear_loop, gpu_profile()), 0);
}

TEST(SelectBranches, ACpuDriverBranchesForLoopsAlone) {
    EXPECT_EQ(branches(dear_arithmetic, cpu_profile()), 0);
    EXPECT_EQ(branches(dear_loop, cpu_profile()), 1);
}

TEST(SelectBranches, CheapSidesStaySelects) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(branches(cheap_arithmetic, profile), 0) << profile.name;
}

TEST(SelectBranches, WhatIsNeededAnyhowStaysOutside) {
    EXPECT_EQ(branches(shared_side, gpu_profile()), 0);
}

TEST(SelectBranches, ResultsOfOneIfShareItsLoop) {
    auto two = [](Tensor x, Tensor flag) {
        Tensor y = x, z = x;
        if_(flag > 0, [&] {
            for (Tensor k : loop(200)) {
                y = 0.5f * sin(y + z);
                z += y;
            }
        });
        return std::tuple{y, z};
    };
    SessionScope scope(Session::interpreter());
    auto program = compile(two, {f32(4096), i32()}).program();
    const KernelCode& code = *program->kernels.at(0).code;
    int outside = 0, taken = 0;
    for (NodeId id : code[kRoot].order) {
        outside += code[id].op == KernelOp::For;
        taken += code[id].op == KernelOp::Branch;
    }
    EXPECT_EQ(outside, 0);
    EXPECT_EQ(taken, 1);
}

TEST(SelectBranches, TheValuesStayTheSame) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        EXPECT_EQ(values(dear_arithmetic, with_host_functions(profile)),
                  values(dear_arithmetic, Session::oracle()));
        EXPECT_EQ(values(dear_loop, with_host_functions(profile)),
                  values(dear_loop, Session::oracle()));
        EXPECT_EQ(values(shared_side, with_host_functions(profile)),
                  values(shared_side, Session::oracle()));
    }
}

}  // namespace
}  // namespace firn
