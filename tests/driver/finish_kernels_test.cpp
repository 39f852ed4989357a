// The passes over the list of a program's kernels, and new cuts if a finished kernel takes more
// iterations than the driver allows an invocation.
#include "compiler/driver/finish_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

TEST(ListPasses, EachTakesWhatTheOneBeforeGives) {
    KernelStage stage = KernelStage::Lowered;
    for (const ListPass& pass : list_passes()) {
        EXPECT_EQ(pass.takes, stage) << pass.info.name;
        stage = pass.gives;
    }
    EXPECT_EQ(stage, KernelStage::Placed);
}

const std::vector<ArgSpec> kArgs{f32(64), f32(64, 32)};

/// A driver that lets an invocation take `edges` back edges.
DeviceProfile short_breath(uint32_t edges) {
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = edges;
    return profile;
}

std::shared_ptr<const Program> program_of(Tensors (*f)(const Tensors&), uint32_t edges) {
    SessionScope scope(Session::interpreter(short_breath(edges)));
    return compile([&](const Tensors& a) { return f(a); }, kArgs).program();
}

std::vector<float> values(Tensors (*f)(const Tensors&), const Session& session) {
    SessionScope scope(session);
    const auto compiled = compile([&](const Tensors& a) { return f(a); }, kArgs);
    const std::vector<Arg> args{rand({64}, {.seed = 1}), rand({64, 32}, {.seed = 2})};
    return compiled.call(args).at(0).to_vector<float>();
}

void expect_values_of_oracle(Tensors (*f)(const Tensors&), uint32_t edges) {
    const std::vector<float> got = values(f, Session::interpreter(short_breath(edges))),
                             expected = values(f, Session::oracle());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-4f) << k;
}

/// A reduction in the iterations of another one: unrolled, it takes 30 back edges.
Tensors nest(const Tensors& a) {
    auto [i, j, k] = indices<3>({64, 30, 7});
    return {sum(sqrt(sum(a[0]((i * j + k) % 64), {.axis = 2})), {.axis = 1})};
}

/// Rows of 32 elements, each a reduction of its own, over values that the row shares: 541.
Tensors rows(const Tensors& a) {
    auto [i, j, k] = indices<3>({64, 32, 31});
    Tensor scale = sum(a[1] * a[1], {.axis = 1, .keep_dims = true});
    return {sum(a[0]((i + j * k) % 64), {.axis = 2}) / scale};
}

bool has_verdict(const Program& program, const std::string& value, const std::string& reason) {
    return std::any_of(program.verdicts.begin(), program.verdicts.end(), [&](const VerdictInfo& v) {
        return v.value == value && v.reason == reason;
    });
}

TEST(CutAgain, WhatMayRunStaysNested) {
    const auto program = program_of(nest, 30);
    EXPECT_EQ(program->kernels.size(), 1u);
    EXPECT_EQ(program->kernels.at(0).back_edges, 30);
}

TEST(CutAgain, ANestThatTakesTooManyIterationsIsCut) {
    const auto program = program_of(nest, 29);
    EXPECT_TRUE(has_verdict(*program, "Reduce f32[64, 30]", kReasonTrips));
    for (const KernelInfo& kernel : program->kernels) EXPECT_LE(kernel.back_edges, 29);
    expect_values_of_oracle(nest, 29);
}

TEST(CutAgain, ARowThatTakesTooManyIterationsIsLeftToAsManyInvocationsAsItHasElements) {
    const auto whole = program_of(rows, 541), left = program_of(rows, 540);
    EXPECT_TRUE(has_verdict(*whole, "Reduce f32[64]", kReasonRow));
    EXPECT_EQ(whole->kernels.at(0).back_edges, 541);
    EXPECT_LT(left->kernels.at(0).back_edges, 100);
    EXPECT_EQ(left->kernels.size(), 1u) << "nothing else is cut";
    expect_values_of_oracle(rows, 540);
}

/// A loop by hand of 100 iterations, which no schedule can cut, nor a mapping unroll.
Tensors by_hand(const Tensors& a) {
    Tensor out = zeros({64});
    kernel({64}, {.group = {64}}, [&](Tensor i) {
        Tensor x = a[0](i);
        for (Tensor k : loop(100)) x = sin(x) + cast<float>(k);
        out(i) = x;
    });
    return {out};
}

TEST(CutAgain, WhatCanNeverRunIsTheUsersToChange) {
    try {
        program_of(by_hand, 20);
        FAIL() << "no error";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("a loop inside one kernel takes up to"),
                  std::string::npos)
            << error.what();
    }
}

TEST(CutAgain, TheTraceKeepsWhatAKernelWasThatCannotRun) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto function = compile([&](const Tensors& a) { return by_hand(a); }, kArgs);
    CompileOptions options{.emission = Emission::Text};
    options.trace = std::make_shared<CompileTrace>();
    EXPECT_THROW(compile_graph(current_session().state()->nodes, function.graph(), short_breath(20),
                               options),
                 UserError);
    ASSERT_FALSE(options.trace->kernels.empty());
    EXPECT_EQ(options.trace->kernels.back().name, "unfinished");
    EXPECT_EQ(options.trace->kernels.back().passes.back().name, "count_back_edges");
}

}  // namespace
}  // namespace firn
