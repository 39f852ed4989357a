// Programs on a device: results, replay, memory, hazards and profiling.
#include <sys/resource.h>

#include <numeric>

#include "compiler/program/spirv_format.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/runtime/executor_fixture.h"
#include "tests/runtime/programs.h"

namespace firn {
namespace {

using namespace testing_programs;

TEST_F(ExecutorTest, RunsAKernelWithASizeAndAScalar) {
    Runner runner(device);
    Call call = runner.call(runner.upload(ramp(1000)), 1000, {scalar_float(2.5)});
    runner.executor.run(scale_program(), call);
    EXPECT_EQ(runner.download(*call.results[0], 1000), scaled(ramp(1000), 2.5f));
}

TEST_F(ExecutorTest, OneProgramServesEverySize) {
    Runner runner(device);
    auto program = scale_program();
    for (int64_t n : {1, 63, 64, 65, 5000}) {
        Call call = runner.call(runner.upload(ramp(static_cast<size_t>(n))), n, {scalar_float(3)});
        runner.executor.run(program, call);
        EXPECT_EQ(runner.download(*call.results[0], static_cast<size_t>(n)),
                  scaled(ramp(static_cast<size_t>(n)), 3));
    }
}

TEST_F(ExecutorTest, AnEmptyTensorRunsNothing) {
    Runner runner(device);
    Call call = runner.call(runner.upload({}), 0, {scalar_float(3)});
    EXPECT_NO_THROW(runner.executor.run(scale_program(), call));
}

TEST_F(ExecutorTest, ParametersTravelInABufferWhereTheyAreTooMany) {
    Runner runner(device);
    auto program = scale_program(true);
    for (float factor : {2.0f, 5.0f}) {
        Call call = runner.call(runner.upload(ramp(300)), 300, {scalar_float(factor)});
        runner.executor.run(program, call);
        EXPECT_EQ(runner.download(*call.results[0], 300), scaled(ramp(300), factor));
    }
}

TEST_F(ExecutorTest, CopiesThroughStagingWhereMemoryIsNotMapped) {
    DeviceOptions unmapped = options();
    unmapped.map_memory = false;
    auto other = Device::create(unmapped);
    Runner runner(other);
    auto argument = runner.upload(ramp(1 << 20));  // beyond the limit of a command buffer
    Call call = runner.call(argument, 1 << 20, {scalar_float(2)});
    ASSERT_EQ(static_cast<Buffer&>(*argument).mapped(), nullptr);
    runner.executor.run(scale_program(), call);
    EXPECT_EQ(runner.download(*call.results[0], 1 << 20), scaled(ramp(1 << 20), 2));
    EXPECT_TRUE(other->validation_messages().empty());
}

TEST_F(ExecutorTest, AnUnchangedCallIsReplayed) {
    Runner runner(device);
    auto program = scale_program();
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    for (int i = 0; i < 20; ++i) runner.executor.run(program, call);
    EXPECT_EQ(runner.executor.counts().recordings, 1);
    EXPECT_EQ(runner.executor.counts().runs, 20);
}

TEST_F(ExecutorTest, AChangedScalarRecordsAgainButPreparesNothing) {
    Runner runner(device);
    auto program = scale_program();
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    for (int i = 0; i < 20; ++i) {
        call.scalars[1] = scalar_float(i);
        runner.executor.run(program, call);
    }
    EXPECT_EQ(runner.executor.counts().recordings, 20);
    EXPECT_EQ(runner.executor.counts().preparations, 1);
    EXPECT_EQ(runner.download(*call.results[0], 100), scaled(ramp(100), 19));
}

TEST_F(ExecutorTest, AScalarIsConvertedToItsDeclaredType) {
    Runner runner(device);
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    call.scalars[1] = scalar_int(4);
    runner.executor.run(scale_program(), call);
    EXPECT_EQ(runner.download(*call.results[0], 100), scaled(ramp(100), 4));
}

TEST_F(ExecutorTest, RunsFollowEachOtherInOrder) {
    Runner runner(device);
    auto program = scale_program();
    const std::vector<float> ones(2048, 1.0f);
    auto first = runner.upload(ones);
    Call forth = runner.call(first, 2048, {scalar_float(2)});
    Call back = runner.call(forth.results[0], 2048, {scalar_float(2)});
    back.results[0] = first;
    for (int i = 0; i < 30; ++i) {
        runner.executor.run(program, forth);
        runner.executor.run(program, back);
        if (i % 6 == 5) runner.executor.run(program, runner.call(first, 2048, {scalar_float(7)}));
        if (i % 10 == 9) runner.executor.write(*first, 0, std::as_bytes(std::span(ones)));
    }
    runner.executor.run(program, forth);
    EXPECT_EQ(runner.download(*forth.results[0], 2048), std::vector<float>(2048, 2.0f));
}

TEST_F(ExecutorTest, BatchedRunsGiveTheSame) {
    Runner runner(device);
    device->set_batch_limit(64);
    auto program = scale_program();
    auto first = runner.upload(std::vector<float>(512, 1.0f));
    Call forth = runner.call(first, 512, {scalar_float(2)});
    Call back = runner.call(forth.results[0], 512, {scalar_float(2)});
    back.results[0] = first;
    for (int i = 0; i < 10; ++i) {
        runner.executor.run(program, forth);
        runner.executor.run(program, back);
    }
    std::vector<float> values = runner.download(*first, 512);
    device->set_batch_limit(1);
    EXPECT_EQ(values, std::vector<float>(512, 1048576.0f));
}

TEST_F(ExecutorTest, AReductionInTwoDispatches) {
    Runner runner(device);
    Call call = runner.call(runner.upload(std::vector<float>(100000, 1.0f)), 100000, {}, 1);
    runner.executor.run(sum_program(), call);
    EXPECT_EQ(runner.download(*call.results[0], 1)[0], 100000.0f);
}

class Rotation : public ExecutorTest, public testing::WithParamInterface<int> {};

TEST_P(Rotation, EndsInTheResultAfterAnyNumberOfTurns) {
    Runner runner(device);
    int trips = GetParam();
    Call call = runner.call(runner.upload(std::vector<float>(500, 1.0f)), 500, {scalar_int(trips)});
    runner.executor.run(rotation_program(), call);
    float expected = 1 + static_cast<float>(trips) + static_cast<float>(trips * (trips - 1)) / 8;
    EXPECT_EQ(runner.download(*call.results[0], 500), std::vector<float>(500, expected));
}

INSTANTIATE_TEST_SUITE_P(Trips, Rotation, testing::Values(0, 1, 2, 5, 64));

TEST_F(ExecutorTest, TripsOfAScalarNeedNoPlanOfTheirOwn) {
    auto program = rotation_program();
    LoadedProgram loaded(device, *program);
    for (int64_t trips : {3, 64, 1'000'000})
        loaded.plan_to_run(*program, {{"n", 64}, {"$1", trips}});
    EXPECT_EQ(loaded.plans_made(), 1);
}

TEST_F(ExecutorTest, FewTurnsAreReplayedWhileTheirNumberStays) {
    Runner runner(device);
    auto program = rotation_program();
    Call call = runner.call(runner.upload(std::vector<float>(64, 1.0f)), 64, {scalar_int(4)});
    for (int k = 0; k < 5; ++k) runner.executor.run(program, call);
    EXPECT_EQ(runner.executor.counts().recordings, 2);  // as they are found, then as they are known
    EXPECT_EQ(runner.download(*call.results[0], 64)[0], 1 + 4 + 12.0f / 8);
}

/// The most memory that the process has had so far, in MiB.
double peak_memory() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_maxrss) / 1024;
}

TEST_F(ExecutorTest, ALongLoopIsSubmittedInPiecesThatAreNotKept) {
    auto bare = Device::create();  // the validation layer keeps records
    Runner runner(bare);
    auto program = rotation_program();
    std::get<RepeatStep>(program->steps[1].step).body[0] =
        dispatch(0, {1, 2}, {size_param(kN), size_param(Size(0))}, kN);
    const auto run = [&](int trips) {
        Call call =
            runner.call(runner.upload(std::vector<float>(64, 1.0f)), 64, {scalar_int(trips)});
        runner.executor.run(program, call);
        EXPECT_EQ(runner.download(*call.results[0], 64)[63], static_cast<float>(1 + trips));
    };
    run(10'000);
    std::vector<RunProgress> reports;
    runner.executor.set_progress([&](const RunProgress& report) { reports.push_back(report); },
                                 1e-3);
    const double before = peak_memory();
    run(50'001);
    EXPECT_LE(peak_memory() - before, 16);
    EXPECT_GT(runner.executor.counts().parts, 50'000 / static_cast<int64_t>(Pace::kMostSteps));
    ASSERT_GE(reports.size(), 2u);
    EXPECT_GT(reports.back().iteration, reports.front().iteration);
    EXPECT_EQ(reports.back().iterations, 50'001);
    EXPECT_GE(reports.back().seconds, 2 * reports.front().seconds);
}

TEST_F(ExecutorTest, AResultThatIsAnArgumentIsCopied) {
    Runner runner(device);
    auto program = std::make_shared<Program>();
    program->name = "identity";
    program->arguments = {tensor_argument("a", kN, 0)};
    program->results = {{f32, {kN}, 0}};
    program->buffers = {buffer("a", kN, BufferRole::Argument)};
    Call call = runner.call(runner.upload(ramp(100)), 100, {});
    runner.executor.run(program, call);
    EXPECT_EQ(runner.download(*call.results[0], 100), ramp(100));
}

TEST_F(ExecutorTest, TwoResultsMayNameOneBuffer) {
    Runner runner(device);
    auto program = scale_program();
    program->results.push_back(program->results[0]);
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    call.results.push_back(runner.executor.allocate(400, "second"));
    runner.executor.run(program, call);
    EXPECT_EQ(runner.download(*call.results[1], 100), scaled(ramp(100), 2));
}

TEST_F(ExecutorTest, AnUnwantedResultMayBeLeftOut) {
    Runner runner(device);
    auto program = scale_program();
    program->results.push_back({f32, {kN}, 2});
    program->buffers.push_back(buffer("c", kN, BufferRole::Result));
    program->steps.push_back(dispatch(0, {1, 2}, {size_param(kN), scalar_param(f32, 1)}, kN));
    Call call = runner.call(runner.upload(ramp(100)), 100, {scalar_float(2)});
    call.results = {nullptr, runner.executor.allocate(400, "wanted")};
    runner.executor.run(program, call);
    EXPECT_EQ(runner.download(*call.results[1], 100), scaled(ramp(100), 4));
}

TEST_F(ExecutorTest, ConstantsAreUploaded) {
    Runner runner(device);
    auto program = std::make_shared<Program>();
    program->name = "constant";
    program->results = {{f32, {3}, 1}};
    std::vector<float> values = {1, 2, 3};
    BufferInfo constant = buffer("table", 3, BufferRole::Constant);
    constant.data.resize(12);
    std::memcpy(constant.data.data(), values.data(), 12);
    program->buffers = {constant, buffer("copy", 3, BufferRole::Result)};
    program->kernels = {kernel("copy", 2, {}, "if (i < 3) b1[i] = b0[i] * 2.0;")};
    program->steps = {dispatch(0, {0, 1}, {}, 3)};
    Call call;
    call.results = {runner.executor.allocate(12, "copy")};
    runner.executor.run(program, call);
    EXPECT_EQ(runner.download(*call.results[0], 3), (std::vector<float>{2, 4, 6}));
}

TEST_F(ExecutorTest, TexelBindingsLoadOneAndFourElements) {
    Runner runner(device);
    auto program = std::make_shared<Program>();
    program->name = "texels";
    program->arguments = {tensor_argument("a", kN, 0)};
    program->results = {{f32, {kN}, 1}};
    program->buffers = {buffer("a", kN, BufferRole::Argument), buffer("b", kN, BufferRole::Result)};
    KernelInfo info;
    info.name = "texels";
    info.artefact.text = R"(#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32f) readonly uniform imageBuffer one;
layout(set = 0, binding = 1, rgba32f) readonly uniform imageBuffer four;
layout(set = 0, binding = 2, std430) buffer B { vec4 b[]; };
layout(push_constant) uniform P { int n; } p;
void main() {
    int i = int(gl_GlobalInvocationID.x);
    if (i * 4 >= p.n) return;
    b[i] = imageLoad(four, i) + imageLoad(one, 4 * i).x;
})";
    info.artefact.format = kSpirvFormat;
    info.artefact.words = glsl_to_spirv(info.artefact.text, info.name);
    info.group_size = {64, 1, 1};
    info.bindings = {{BindingForm::View, f32, 1, false},
                     {BindingForm::View, f32, 4, false},
                     {BindingForm::Storage, f32, 4, true}};
    info.param_types = {i32};
    program->kernels = {info};
    program->steps = {dispatch(0, {0, 0, 1}, {size_param(kN)}, ceil_div(kN, 4))};
    Call call = runner.call(runner.upload(ramp(1022)), 1022, {});
    runner.executor.run(program, call);
    std::vector<float> expected = ramp(1022);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += ramp(1022)[i / 4 * 4];
    EXPECT_EQ(runner.download(*call.results[0], 1022), expected);
}

TEST_F(ExecutorTest, TenThousandRunsAllocateNothingAfterTheSecond) {
    Runner runner(device);
    auto program = sum_program();
    auto argument = runner.upload(std::vector<float>(256, 1.0f));
    uint64_t allocations = 0, used = 0;
    for (int i = 0; i < 10000; ++i) {
        if (i == 2) {
            allocations = device->memory().use().allocations;
            used = device->memory().use().used;
        }
        runner.executor.run(program, runner.call(argument, 256, {}, 1));
    }
    EXPECT_EQ(device->memory().use().allocations, allocations);
    EXPECT_EQ(device->memory().use().used, used);
    EXPECT_LE(runner.executor.counts().preparations, 2);
}

TEST_F(ExecutorTest, MemoryStatesThatAlternateAreReplayed) {
    Runner runner(device);
    auto program = scale_program();
    Call forth = runner.call(runner.upload(ramp(64)), 64, {scalar_float(1)});
    Call back = runner.call(forth.results[0], 64, {scalar_float(1)});
    back.results[0] = forth.arguments[0];
    for (int i = 0; i < 50; ++i) runner.executor.run(program, i % 2 ? back : forth);
    EXPECT_EQ(runner.executor.counts().recordings, 2);
}

TEST_F(ExecutorTest, AProgramThatEndedIsForgotten) {
    Runner runner(device);
    uint64_t used = 0;
    for (int i = 0; i < 20; ++i) {
        auto program = sum_program();
        runner.executor.run(program, runner.call(runner.upload(ramp(64)), 64, {}, 1));
        if (i == 2) used = device->memory().use().used;
    }
    EXPECT_EQ(device->memory().use().used, used);
}

TEST_F(ExecutorTest, AGrowingScratchKeepsOldCallsRight) {
    Runner runner(device);
    auto small = sum_program(), large = sum_program();
    large->buffers[1].elements = 100000;
    auto argument = runner.upload(std::vector<float>(640, 1.0f));
    for (const auto& program : {small, large, small}) {
        Call call = runner.call(argument, 640, {}, 1);
        runner.executor.run(program, call);
        EXPECT_EQ(runner.download(*call.results[0], 1)[0], 640.0f);
    }
}

TEST_F(ExecutorTest, ATemporaryIsKeptWithTheCallWhereSomebodyLooks) {
    Runner runner(device);
    runner.executor.set_watching(true);
    auto program = diamond_program();
    auto argument = runner.upload(ramp(300));
    const auto plus = [](float more) {
        std::vector<float> values = ramp(300);
        for (float& value : values) value += more;
        return values;
    };
    runner.executor.run(program, runner.call(argument, 300, {}));
    EXPECT_EQ(runner.executor.watched().at(0).temporary, nullptr);
    // b is a + 1, and c and d are b + 1.
    for (int buffer : {1, 2, 3}) {
        runner.executor.watch_temporary(program, buffer);
        Call call = runner.call(argument, 300, {});
        runner.executor.run(program, call);
        ASSERT_EQ(runner.executor.watched().size(), 1u);
        const WatchedCall watched = runner.executor.watched().at(0);
        ASSERT_NE(watched.temporary, nullptr);
        EXPECT_EQ(runner.download(*watched.temporary, 300), plus(buffer == 1 ? 1 : 2));
        std::vector<float> squares = plus(2);
        for (float& value : squares) value *= value;
        EXPECT_EQ(runner.download(*call.results[0], 300), squares);
    }
    runner.executor.watch_temporary(nullptr, -1);
    runner.executor.run(program, runner.call(argument, 300, {}));
    EXPECT_EQ(runner.executor.watched().at(0).temporary, nullptr);
    EXPECT_EQ(runner.executor.watched().at(0).runs, 5);
}

TEST_F(ExecutorTest, ATemporaryThatRotatesIsKeptAsTheLoopLeavesIt) {
    Runner runner(device);
    runner.executor.set_watching(true);
    auto program = rotation_program();
    runner.executor.watch_temporary(program, 2);
    Call call = runner.call(runner.upload(std::vector<float>(64, 0.0f)), 64, {scalar_int(3)});
    runner.executor.run(program, call);
    // After three iterations `now` holds the sum of 1, 1.25 and 1.5, and `next` the value before
    // that.
    EXPECT_EQ(runner.download(*call.results[0], 1)[0], 3.75f);
    EXPECT_EQ(runner.download(*runner.executor.watched().at(0).temporary, 1)[0], 2.25f);
}

TEST_F(ExecutorTest, KernelsOfOneNameAreTimedByProgram) {
    Runner runner(device);
    runner.executor.set_profiling(true);
    auto one = scale_program(), other = scale_program();
    auto argument = runner.upload(ramp(1000));
    runner.executor.run(one, runner.call(argument, 1000, {scalar_float(2)}));
    for (int i = 0; i < 2; ++i)
        runner.executor.run(other, runner.call(argument, 1000, {scalar_float(2)}));
    const std::vector<KernelTime> times = runner.executor.take_kernel_times();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].name, times[1].name);
    EXPECT_NE(times[0].program, times[1].program);
    EXPECT_EQ(times[0].dispatches, 1);
    EXPECT_EQ(times[1].dispatches, 2);
}

TEST_F(ExecutorTest, KernelsAreTimed) {
    Runner runner(device);
    runner.executor.set_profiling(true);
    auto program = sum_program();
    for (int i = 0; i < 3; ++i)
        runner.executor.run(program, runner.call(runner.upload(ramp(1 << 20)), 1 << 20, {}, 1));
    std::vector<KernelTime> times = runner.executor.take_kernel_times();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].name, "parts");
    EXPECT_EQ(times[0].dispatches, 3);
    EXPECT_GT(times[0].milliseconds, 0.01);
    EXPECT_LT(times[0].milliseconds, 1000);
}

TEST_F(ExecutorTest, ATraceHasARowForEveryDispatchBetweenItsCallAndItsEnd) {
    Runner runner(device);
    runner.executor.set_profiling(true);
    runner.executor.set_tracing(true);
    auto program = sum_program();
    auto argument = runner.upload(ramp(1 << 20));
    const double begin = trace_now();
    for (int i = 0; i < 3; ++i) {
        runner.executor.run(program, runner.call(argument, 1 << 20, {}, 1));
        runner.executor.wait();
    }
    const double end = trace_now();
    runner.executor.take_kernel_times();
    const std::vector<TraceEvent> events = runner.executor.take_trace();
    constexpr double kClocks = 2e-3;  // they are compared to within a part of a submission
    double last = begin - kClocks;
    int dispatches = 0, compiled = 0;
    for (const TraceEvent& event : events) {
        EXPECT_LE(event.begin, event.end);
        if (std::string(event.track) == "compile") ++compiled;
        if (std::string(event.track) != "device") continue;
        EXPECT_EQ(event.name, dispatches++ % 2 == 0 ? "parts" : "total");
        EXPECT_GE(event.begin, last);
        EXPECT_LT(event.end, end + kClocks);
        last = event.end;
    }
    EXPECT_EQ(dispatches, 6);
    EXPECT_EQ(compiled, 2);
    EXPECT_TRUE(runner.executor.take_trace().empty());
}

TEST_F(ExecutorTest, KernelsOfRunsInPartsAreTimed) {
    Runner runner(device);
    runner.executor.set_profiling(true);
    auto program = rotation_program();
    constexpr int kTrips = 10'000;  // more than one submission takes
    runner.executor.run(program, runner.call(runner.upload(ramp(64)), 64, {scalar_int(kTrips)}));
    EXPECT_GT(runner.executor.counts().parts, 1);
    int dispatches = 0;
    for (const KernelTime& time : runner.executor.take_kernel_times())
        if (time.name != "copy") dispatches += time.dispatches;
    EXPECT_GE(dispatches, kTrips);
}

TEST_F(ExecutorTest, TimesAreTakenOnce) {
    Runner runner(device);
    runner.executor.set_profiling(true);
    runner.executor.run(sum_program(), runner.call(runner.upload(ramp(64)), 64, {}, 1));
    runner.executor.take_kernel_times();
    EXPECT_TRUE(runner.executor.take_kernel_times().empty());
}

TEST_F(ExecutorTest, TimesOfRunsThatAreNotCompleteComeLater) {
    Runner runner(device);
    runner.executor.set_profiling(true);
    device->set_batch_limit(1000);  // nothing runs until a result is read
    runner.executor.run(sum_program(), runner.call(runner.upload(ramp(64)), 64, {}, 1));
    EXPECT_TRUE(runner.executor.take_ready_kernel_times().empty());
    device->set_batch_limit(1);
    device->flush();
    runner.executor.wait();
    EXPECT_EQ(runner.executor.take_ready_kernel_times().size(), 2u);
}

TEST_F(ExecutorTest, WithoutProfilingThereAreNoTimes) {
    Runner runner(device);
    runner.executor.run(sum_program(), runner.call(runner.upload(ramp(64)), 64, {}, 1));
    EXPECT_TRUE(runner.executor.take_kernel_times().empty());
}

TEST_F(ExecutorTest, ADiamondRunsRight) {
    Runner runner(device);
    Call call = runner.call(runner.upload(ramp(5000)), 5000, {});
    runner.executor.run(diamond_program(), call);
    std::vector<float> expected = ramp(5000);
    for (float& value : expected) value = (value + 2) * (value + 2);
    EXPECT_EQ(runner.download(*call.results[0], 5000), expected);
}

}  // namespace
}  // namespace firn
