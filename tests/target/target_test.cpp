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

}  // namespace
}  // namespace firn
