// Calls that are refused: too little memory, the wrong one, and features that the device lacks.
#include "engine/runtime/vulkan_executor.h"
#include "tests/runtime/executor_fixture.h"
#include "tests/runtime/programs.h"

namespace firn {
namespace {

using namespace testing_programs;

TEST_F(ExecutorTest, TooLittleMemoryIsAUserError) {
    Runner runner(device);
    Call call = runner.call(runner.upload(ramp(10)), 100, {scalar_float(2)});
    std::string message = message_of([&] { runner.executor.run(scale_program(), call); });
    EXPECT_EQ(message, "program 'scale': 'a' takes 400 bytes and the memory given for it has 48");
}

TEST_F(ExecutorTest, MissingMemoryIsAUserError) {
    Runner runner(device);
    Call call = runner.call(nullptr, 100, {scalar_float(2)});
    std::string message = message_of([&] { runner.executor.run(scale_program(), call); });
    EXPECT_EQ(message, "program 'scale' was called without argument 0 ('a')");
}

TEST_F(ExecutorTest, AResultInTheMemoryOfAnArgumentIsAUserError) {
    Runner runner(device);
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    call.results[0] = call.arguments[0];
    std::string message = message_of([&] { runner.executor.run(scale_program(), call); });
    EXPECT_EQ(message,
              "program 'scale': 'a' and 'b' were given the same memory and one of them is written; "
              "give each its own");
}

TEST_F(ExecutorTest, MemoryOfAnotherDeviceIsAUserError) {
    Runner runner(device), other(Device::create());
    Call call = runner.call(other.upload(ramp(100)), 100, {scalar_float(2)});
    std::string message = message_of([&] { runner.executor.run(scale_program(), call); });
    EXPECT_NE(message.find("belongs to another device or session"), std::string::npos) << message;
}

TEST_F(ExecutorTest, AStorageBufferBeyondTheLimitIsAUserError) {
    uint64_t limit = device->limits().maxStorageBufferRange;
    if (limit > (256ull << 20)) GTEST_SKIP() << "the limit is too large to try";
    Runner runner(device);
    auto program = scale_program();
    program->steps = {dispatch(0, {0, 1}, {size_param(kN), scalar_param(f32, 1)}, 64)};
    auto n = static_cast<int64_t>(limit / 4 + 64);
    Call call = runner.call(runner.executor.allocate(limit + 256, "large"), n, {scalar_float(2)});
    std::string message = message_of([&] { runner.executor.run(program, call); });
    EXPECT_NE(message.find("of which the device"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(limit)), std::string::npos) << message;
}

TEST_F(ExecutorTest, OutOfMemoryInTheTemporariesLeavesTensorsUsable) {
    Runner runner(device);
    auto huge = sum_program();
    huge->buffers[1].elements = 1ll << 44;
    auto argument = runner.upload(std::vector<float>(64, 1.0f));
    EXPECT_THROW(runner.executor.run(huge, runner.call(argument, 64, {}, 1)), DeviceError);
    Call call = runner.call(argument, 64, {}, 1);
    runner.executor.run(sum_program(), call);
    EXPECT_EQ(runner.download(*call.results[0], 1)[0], 64.0f);
}

TEST_F(ExecutorTest, AKernelForALargerDeviceIsAUserError) {
    Runner runner(device);
    auto program = scale_program();
    program->kernels[0].shared_bytes = 1 << 30;
    std::string message = message_of([&] {
        runner.executor.run(program, runner.call(runner.upload(ramp(8)), 8, {scalar_float(1)}));
    });
    EXPECT_NE(message.find("kernel 'scale' needs 1073741824 bytes of shared memory"),
              std::string::npos)
        << message;
}

TEST_F(ExecutorTest, MoreLoopTurnsThanTheDriverRunsIsAUserError) {
    if (device->profile().max_back_edges == 0) GTEST_SKIP() << "the driver has no limit";
    Runner runner(device);
    auto program = scale_program();
    program->kernels[0].back_edges = device->profile().max_back_edges + 1;
    EXPECT_THROW(
        runner.executor.run(program, runner.call(runner.upload(ramp(8)), 8, {scalar_float(1)})),
        UserError);
}

bool compiles = true;  // the driver's compiler
PFN_vkCreateComputePipelines create_pipelines;

TEST_F(ExecutorTest, WhatTheDriverCannotCompileIsNamed) {
    DeviceOptions broken = options();
    broken.on_device_functions = [](VolkDeviceTable& table) {
        create_pipelines = table.vkCreateComputePipelines;
        table.vkCreateComputePipelines = [](auto... given) {
            return compiles ? create_pipelines(given...) : VK_ERROR_UNKNOWN;
        };
    };
    Runner runner(Device::create(broken));
    compiles = false;
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    const std::string message = message_of([&] { runner.executor.run(scale_program(), call); });
    EXPECT_NE(message.find("the driver cannot compile kernel 'scale'"), std::string::npos)
        << message;
    compiles = true;
    runner.executor.run(scale_program(), call);
    EXPECT_EQ(runner.download(*call.results[0], 100), scaled(ramp(100), 2));
}

}  // namespace
}  // namespace firn
