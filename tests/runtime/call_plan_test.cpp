// The plan of a call: its barriers, its descriptor sets, and its dependencies.
#include <gtest/gtest.h>

#include "engine/runtime/vulkan_executor.h"
#include "tests/runtime/executor_fixture.h"
#include "tests/runtime/programs.h"

namespace firn {
namespace {

using namespace testing_programs;

TEST(CallPlan, ADiamondHasTheBarriersItNeedsAndNoMore) {
    CallPlan plan = plan_call(*diamond_program(), cpu_profile(), {{"n", 1000}});
    std::vector<bool> barriers;
    for (const PlannedStep& step : plan.steps) barriers.push_back(step.barrier_before);
    EXPECT_EQ(barriers, (std::vector<bool>{false, true, false, true}));
}

TEST(CallPlan, TurnsOfALoopShareDescriptorSets) {
    CallPlan plan = plan_call(*rotation_program(), cpu_profile(), {{"n", 64}, {"$1", 100}});
    EXPECT_EQ(plan.dispatches, 100);
    EXPECT_EQ(plan.sets.size(), 2u);
}

TEST(CallPlan, DependsOnAScalarThatDecidesTheTrips) {
    EXPECT_EQ(plan_symbols(*rotation_program()), (std::vector<std::string>{"$1", "n"}));
}

TEST(CallPlan, DependsOnNoScalarThatIsOnlyAParameter) {
    auto program = scale_program();
    Size offset = Size::symbol(scalar_symbol(1)) * kN;
    std::get<DispatchStep>(program->steps[0].step).params[0] = size_param(offset);
    EXPECT_EQ(plan_symbols(*program), (std::vector<std::string>{"n"}));
}

TEST(CallPlan, ASizeOfAScalarIsFilledInAtTheCall) {
    auto program = scale_program();
    program->arguments[1].dtype = i32;
    Size offset = Size::symbol(scalar_symbol(1)) * kN;
    std::get<DispatchStep>(program->steps[0].step).params[0] = size_param(offset);
    CallPlan plan = plan_call(*program, cpu_profile(), {{"n", 10}, {"$1", 1}});
    PatchedParams patched = unpatched(plan);
    patch_params(plan, {Scalar{}, scalar_int(7)}, patched);
    const std::vector<std::byte>& params = patched.bytes;
    EXPECT_EQ(load_scalar(i32, params.data()).i, 70);
}

TEST(CallPlan, ANumberThatTheHostComputesIsFilledInAtTheCall) {
    auto program = scale_program();
    HostScalar rate, size;
    rate.op = HostOp::Argument, rate.argument = 1;
    size.op = HostOp::Size, size.size = kN;
    program->host_scalars = {rate, size, {HostOp::Div, 0, -1, Size(), 0, 1}};
    std::get<DispatchStep>(program->steps[0].step).params[1] = scalar_param(f32, 2 + 2);
    const CallPlan plan = plan_call(*program, cpu_profile(), {{"n", 10}});
    PatchedParams patched = unpatched(plan);
    for (const double given : {5.0, 7.0}) {
        patch_params(plan, {Scalar{}, scalar_float(given)}, patched);
        EXPECT_EQ(load_scalar(f32, patched.bytes.data() + 4), scalar_float(given / 10));
    }
}

TEST(CallPlan, ANumberOfATurnIsFilledInForEveryIteration) {
    auto program = scale_program();
    HostScalar rate, iteration;
    rate.op = HostOp::Argument, rate.argument = 1;
    iteration.op = HostOp::Size, iteration.size = Size::symbol("$t0");
    program->host_scalars = {rate, iteration, {HostOp::Add, 0, -1, Size(), 0, 1}};
    std::get<DispatchStep>(program->steps[0].step).params[1] = scalar_param(f32, 2 + 2);
    RepeatStep repeat;
    repeat.induction = "$t0", repeat.trips = Size(3), repeat.body = {program->steps[0]};
    program->steps[0] = {std::move(repeat)};
    const CallPlan plan = plan_call(*program, cpu_profile(), {{"n", 10}});
    PatchedParams patched = unpatched(plan);
    for (const double given : {5.0, 7.0}) {
        patch_params(plan, {Scalar{}, scalar_float(given)}, patched);
        for (size_t k = 0; k < 3; ++k)
            EXPECT_EQ(load_scalar(f32, patched.bytes.data() + plan.steps[k].param_offset + 4),
                      scalar_float(given + static_cast<double>(k)));
    }
}

TEST(CallPlan, TooManyWorkgroupsIsAUserError) {
    DeviceProfile profile = cpu_profile();
    std::string message = message_of([&] {
        plan_call(*scale_program(), profile, {{"n", 64ll << 17}});
    });
    EXPECT_NE(
        message.find("kernel 'scale' of program 'scale' needs 131072 workgroups in dimension 0"),
        std::string::npos)
        << message;
}

}  // namespace
}  // namespace firn
