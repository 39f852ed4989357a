// Targets write the texts of kernels that are read, and refuse kernels that they cannot express.
#include "compiler/target/target.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "compiler/plan/plan_kernel.h"
#include "tests/emitting.h"

namespace firn {
namespace {

KernelInfo doubled(const Session& session) {
    SessionScope scope(session);
    return compile([](Tensor x) { return 2.0f * x; }, {f32("n")}).program()->kernels.at(0);
}

TEST(Target, NoTextIsWrittenThatNothingReads) {
    EXPECT_TRUE(doubled(Session::interpreter()).artefact.text.empty());
    EXPECT_FALSE(doubled(emitting()).artefact.text.empty());
}

TEST(Target, KernelsOfEqualStructureHaveOneIdentity) {
    const std::string one = doubled(Session::interpreter()).identity;
    EXPECT_EQ(one, doubled(emitting()).identity);
    SessionScope scope(Session::interpreter());
    const auto tripled = compile([](Tensor x) { return 3.0f * x; }, {f32("n")});
    EXPECT_NE(one, tripled.program()->kernels.at(0).identity);
}

TEST(Target, WhatItCannotExpressIsRefusedByTheUsersLine) {
    DeviceProfile profile = cpu_profile();
    profile.has_f64 = false;
    std::string said;
    try {
        SessionScope scope(Session::interpreter(profile));
        const auto wide = compile([](Tensor x) { return (x.as(f64) * 2.0).as(f32); }, {f32("n")});
        wide(ones({4}));
    } catch (const UserError& error) {
        said = error.what();
    }
    EXPECT_NE(said.find("f64 is not available on this device; cast to f32 (target_test.cpp:"),
              std::string::npos)
        << said;
}

/// The refusal of a kernel by a target with this function.
std::string refusal(const KernelCode& code,
                    std::string (*cannot)(const KernelCode&, const KernelNode&,
                                          const DeviceProfile&)) {
    const DeviceProfile profile = cpu_profile();
    Target target = target_of(profile);
    target.cannot = cannot;
    try {
        check_expressible(code, target, profile, " (the kernel)");
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(Target, ARefusalMayLookAtTheWholeKernelAndNamesTheUsersLine) {
    SessionScope scope(Session::interpreter());
    const auto turned = compile(
        [](Tensor x) {
            Tensor y = zeros({64});
            kernel({64}, {.group = {64}}, [&](Tensor i) {
                Shared tile = shared(f32, 64);
                tile(i) = x(i);
                barrier();
                y(i) = tile(63 - i);
            });
            return y;
        },
        {f32(64)});
    const KernelCode& code = *turned.program()->kernels.at(0).code;
    const std::string shares = refusal(
        code,
        [](const KernelCode& whole, const KernelNode& n, const DeviceProfile&) -> std::string {
            const bool own = n.op == KernelOp::Array &&
                             whole.buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)].space ==
                                 MemorySpace::Shared;
            return own ? "no memory is shared here" : "";
        });
    EXPECT_NE(shares.find("no memory is shared here (target_test.cpp:"), shares.npos) << shares;
    const std::string waits = refusal(
        code,
        [](const KernelCode& whole, const KernelNode& n, const DeviceProfile&) -> std::string {
            return n.op == KernelOp::Barrier && whole.group_size[0] > 8 ? "no group waits here"
                                                                        : "";
        });
    EXPECT_NE(waits.find("no group waits here ("), waits.npos) << waits;
    const std::string binds = refusal(
        code,
        [](const KernelCode& whole, const KernelNode& n, const DeviceProfile&) -> std::string {
            const bool written =
                n.op == KernelOp::Load && n.lines.empty() &&
                whole.buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)].written;
            return written ? "nothing is written here" : "";
        });
    EXPECT_EQ(binds, "nothing is written here (the kernel)");
}

}  // namespace
}  // namespace firn
