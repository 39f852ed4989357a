// The interpreter as an executor: memory, rotation, copies, hazards, times.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/base/error.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "tests/kernel/kernel_by_hand.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

const Size n = Size::symbol("n");

/// target = source * factor + param, over n elements; the parameter's source is given.
Step scale(Program& program, int source, int target, float factor, const ParamInfo& param) {
    Step step = dispatch(program, {source}, {target});
    ByHand k;
    int x = k.buffer(f32, false), y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Grid, n);
    NodeId offset = k.param(param.dtype);
    if (param.dtype != f32) offset = k.op(KernelOp::Cast, f32, {offset}, kRoot);
    NodeId product =
        k.op(KernelOp::Mul, f32, {k.load(kRoot, x, i), k.constant(scalar_float(factor))}, kRoot);
    k.store(kRoot, y, i, k.op(KernelOp::Add, f32, {product, offset}, kRoot));
    program.kernels.back().code = std::make_shared<const KernelCode>(std::move(k.code));
    std::get<DispatchStep>(step.step).params = {param};
    return step;
}

struct Runner {
    std::unique_ptr<Executor> executor = make_interpreter();

    std::shared_ptr<Memory> upload(const std::vector<float>& values) {
        uint64_t bytes = (values.size() * 4 + 15) / 16 * 16;
        auto memory = executor->allocate(bytes, "test");
        executor->write(*memory, 0, std::as_bytes(std::span(values)));
        return memory;
    }
    std::vector<float> download(const Memory& memory, size_t count) {
        std::vector<float> values(count);
        executor->read(memory, 0, std::as_writable_bytes(std::span(values)));
        return values;
    }
    /// Runs a program of one tensor argument (and scalars after it) and one result of equal size.
    std::vector<float> run(const Program& program, const std::vector<float>& in, SizeEnv env = {},
                           std::vector<Scalar> scalars = {}) {
        auto shared = std::make_shared<const Program>(program);
        Call call;
        env["n"] = static_cast<int64_t>(in.size());
        call.symbols = env;
        call.scalars = std::move(scalars);
        call.scalars.insert(call.scalars.begin(), Scalar{});
        call.arguments = {upload(in)};
        call.arguments.resize(program.arguments.size());
        call.results = {upload(std::vector<float>(in.size()))};
        executor->run(shared, call);
        return download(*call.results[0], in.size());
    }
};

const ParamInfo kZero{f32, 0, -1};

TEST(Interpreter, ChainThroughPackedTemporaries) {
    Program p;
    int x = add_argument(p, "x", {n}), a = add_buffer(p, n), b = add_buffer(p, n),
        c = add_buffer(p, n), y = add_result(p, {n});
    p.steps = {scale(p, x, a, 2, kZero), scale(p, a, b, 3, kZero), scale(p, b, c, 5, kZero),
               scale(p, c, y, 7, kZero)};
    EXPECT_EQ(Runner().run(p, {1, 2, 3}), (std::vector<float>{210, 420, 630}));
}

TEST(Interpreter, ScalarArgumentsAreParameters) {
    Program p;
    int x = add_argument(p, "x", {n});
    add_scalar(p, "offset", f32);
    int y = add_result(p, {n});
    p.steps = {scale(p, x, y, 1, {f32, 0, 1})};
    EXPECT_EQ(Runner().run(p, {1, 2}, {}, {scalar_float(0.5)}), (std::vector<float>{1.5, 2.5}));
}

/// y = x, then `trips` times: swap after next = 2 * now + iteration.
Program doubling() {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n}), t = add_buffer(p, n);
    p.steps = {copy(x, y),
               repeat(Size::symbol("trips"), {scale(p, y, t, 2, {i32, Size::symbol("t"), -1})},
                      {{y, t}, {t, y}})};
    return p;
}
TEST(Interpreter, ResultOfARotationEndsInItsMemoryAfterOddTrips) {
    EXPECT_EQ(Runner().run(doubling(), {1, 10}, {{"trips", 3}}), (std::vector<float>{12, 84}));
}
TEST(Interpreter, ResultOfARotationEndsInItsMemoryAfterEvenTrips) {
    EXPECT_EQ(Runner().run(doubling(), {1, 10}, {{"trips", 2}}), (std::vector<float>{5, 41}));
}
TEST(Interpreter, LoopOfNoTripsLeavesTheStart) {
    EXPECT_EQ(Runner().run(doubling(), {1, 10}, {{"trips", 0}}), (std::vector<float>{1, 10}));
}

TEST(Interpreter, EmptyTensorsRun) {
    EXPECT_EQ(Runner().run(doubling(), {}, {{"trips", 2}}), (std::vector<float>{}));
}

TEST(Interpreter, ConstantsAreRead) {
    Program p;
    add_argument(p, "x", {n});
    int c = add_buffer(p, 3, BufferRole::Constant), y = add_result(p, {n});
    std::vector<float> values{4, 5, 6};
    auto bytes = std::as_bytes(std::span(values));
    p.buffers[size_t(c)].data.assign(bytes.begin(), bytes.end());
    p.steps = {scale(p, c, y, 1, kZero)};
    EXPECT_EQ(Runner().run(p, {0, 0, 0}), values);
}

TEST(Interpreter, ResultThatIsAnArgumentIsCopied) {
    Program p;
    ResultInfo result;
    result.shape = {n};
    result.buffer = add_argument(p, "x", {n});
    p.results.push_back(result);
    EXPECT_EQ(Runner().run(p, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
}

TEST(Interpreter, SkippedResultNeedsNoMemory) {
    Program p;
    int x = add_argument(p, "x", {n});
    int y = add_result(p, {n}), z = add_result(p, {n});
    p.steps = {scale(p, x, y, 2, kZero), scale(p, y, z, 2, kZero)};
    Runner runner;
    Call call;
    call.symbols = {{"n", 2}};
    call.scalars.resize(1);
    call.arguments = {runner.upload({1, 2})};
    call.results = {nullptr, runner.upload({0, 0})};
    runner.executor->run(std::make_shared<const Program>(p), call);
    EXPECT_EQ(runner.download(*call.results[1], 2), (std::vector<float>{4, 8}));
}

TEST(Interpreter, DonatedArgumentMayBeTheResultsMemory) {
    Program p;
    int x = add_argument(p, "x", {n}), a = add_buffer(p, n), y = add_result(p, {n});
    p.steps = {scale(p, x, a, 2, kZero), scale(p, a, y, 2, kZero)};
    Runner runner;
    Call call;
    call.symbols = {{"n", 2}};
    call.scalars.resize(1);
    call.arguments = {runner.upload({1, 2})};
    call.results = call.arguments;
    runner.executor->run(std::make_shared<const Program>(p), call);
    EXPECT_EQ(runner.download(*call.results[0], 2), (std::vector<float>{4, 8}));
}

/// Runs steps on one vector per buffer: no packing, no slots, rotations by moving the vectors.
void run_plainly(const std::vector<Step>& steps, std::vector<float>& values,
                 const std::vector<float>& factors) {
    for (const Step& step : steps) {
        if (auto* d = std::get_if<DispatchStep>(&step.step))
            values[size_t(d->buffers[1])] =
                values[size_t(d->buffers[0])] * factors[size_t(d->kernel)];
        if (auto* r = std::get_if<RepeatStep>(&step.step))
            for (int64_t iteration = 0; iteration < r->trips.constant(); ++iteration) {
                run_plainly(r->body, values, factors);
                std::vector<float> before = values;
                for (auto [first, second] : r->rotation)
                    values[size_t(first)] = before[size_t(second)];
            }
    }
}

/// Random chains and loops of three rotating buffers over temporaries that come and go.
class RandomProgram : public testing::TestWithParam<unsigned> {};
TEST_P(RandomProgram, PackedMemoryGivesWhatSeparateMemoryGives) {
    std::mt19937 random(GetParam());
    Program p;
    std::vector<int> defined{add_argument(p, "x", {n})};
    std::vector<float> factors;
    auto pick = [&] {
        // Mostly recent values, so that others die.
        size_t reach = std::min<size_t>(defined.size(), random() % 4 ? 3 : 12);
        return defined[defined.size() - 1 - random() % reach];
    };
    auto step = [&](int source, int target) {
        factors.push_back(1.0f + 0.25f * float(random() % 4));
        return scale(p, source, target, factors.back(), kZero);
    };
    for (int k = 0; k < 12; ++k) {
        if (random() % 3) {
            int target = add_buffer(p, n);
            p.steps.push_back(step(pick(), target));
            defined.push_back(target);
            continue;
        }
        int a = add_buffer(p, n), b = add_buffer(p, n), c = add_buffer(p, n), t = add_buffer(p, n);
        for (int carried : {a, b, c}) p.steps.push_back(step(pick(), carried));
        std::vector<Step> body{step(a, t), step(t, c)};
        p.steps.push_back(repeat(int64_t(random() % 5), std::move(body), {{a, b}, {b, c}, {c, a}}));
        for (int carried : {a, b, c}) defined.push_back(carried);
    }
    int y = add_result(p, {n});
    p.steps.push_back(step(pick(), y));
    std::vector<float> values(p.buffers.size(), 1.5f);
    run_plainly(p.steps, values, factors);
    float expected = values[size_t(y)];
    EXPECT_EQ(Runner().run(p, {1.5f, 1.5f}), (std::vector<float>{expected, expected}));
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgram, testing::Range(0u, 50u));

TEST(Interpreter, FreshMemoryIsNotZero) {
    Runner runner;
    EXPECT_NE(runner.download(*runner.executor->allocate(16, "fresh"), 1)[0], 0.0f);
}
TEST(Interpreter, ImpossibleAllocationSaysWhatIsHeld) {
    Runner runner;
    auto held = runner.executor->allocate(4096, "held");
    std::string error =
        message<DeviceError>([&] { runner.executor->allocate(uint64_t{1} << 62, "huge"); });
    EXPECT_NE(error.find("4611686018427387904 bytes were asked for 'huge', 4096 bytes are held"),
              std::string::npos)
        << error;
}
TEST(Interpreter, MemoryMayOutliveItsExecutor) {
    std::shared_ptr<Memory> memory = make_interpreter()->allocate(64, "longer");
    EXPECT_EQ(memory->bytes(), 64u);
}
TEST(Interpreter, ReadBeyondTheMemoryIsRefused) {
    Runner runner;
    auto memory = runner.executor->allocate(16, "small");
    std::vector<std::byte> target(8);
    EXPECT_THROW(runner.executor->read(*memory, 12, target), InternalError);
    EXPECT_THROW(runner.executor->write(*memory, UINT64_MAX, target), InternalError);
}
TEST(Interpreter, TooSmallMemoryIsNamed) {
    Program p;
    add_argument(p, "x", {n});
    p.name = "small";
    Runner runner;
    Call call;
    call.symbols = {{"n", 100}};
    call.scalars.resize(1);
    call.arguments = {runner.upload({1})};
    EXPECT_EQ(message<InternalError>(
                  [&] { runner.executor->run(std::make_shared<const Program>(p), call); }),
              "internal error: program small needs 400 bytes for buffer b0 and memory test has 16");
}
TEST(Interpreter, SavedProgramIsRefused) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    p.steps = {scale(p, x, y, 2, kZero)};
    p.kernels[0].code = nullptr;
    EXPECT_NE(message<InternalError>([&] { Runner().run(p, {1}); }).find("saved program"),
              std::string::npos);
}
TEST(Interpreter, TimesEveryKernelWhenAsked) {
    Program p = doubling();
    Runner runner;
    runner.executor->set_profiling(true);
    runner.run(p, {1}, {{"trips", 3}});
    std::vector<KernelTime> times = runner.executor->take_kernel_times();
    ASSERT_EQ(times.size(), 1u);
    EXPECT_EQ(times[0].name, "k0");
    EXPECT_EQ(times[0].dispatches, 3);
    EXPECT_TRUE(runner.executor->take_kernel_times().empty());
}

}  // namespace
}  // namespace firn
