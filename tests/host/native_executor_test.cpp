// Programs whose kernels are machine code: memory, loops, copies, parameters, threads.
#include "compiler/host/native_executor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/program/native_abi.h"
#include "compiler/program/outside_access.h"
#include "compiler/program/spirv_format.h"
#include "tests/deadline.h"
#include "tests/host/compiled.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

const Size n = Size::symbol("n");

/// The head of every kernel: the text of native_abi.h in C.
const char* const kHead = R"(
typedef struct {
    void* const* buffers;
    const unsigned long* params;
    unsigned groups[3];
    unsigned long cached;
    const unsigned long* bytes;
    struct { unsigned found; int access; unsigned kind, buffer; long index, elements; unsigned long group; }* fault;
} NativeCall;
static float float_of(unsigned long bits) { union { unsigned u; float f; } x; x.u = bits; return x.f; }
static void run(const NativeCall* call, unsigned long group);
void firn_kernel(const NativeCall* call, unsigned long first, unsigned long last) {
    for (unsigned long g = first; g < last; ++g) run(call, g);
}
)";

/// Elements of a group of the kernels here.
constexpr int64_t kGroup = 16;

std::vector<uint32_t> words_of(const std::vector<std::byte>& object) {
    std::vector<uint32_t> words(1 + (object.size() + 3) / 4);
    words[0] = static_cast<uint32_t>(object.size());
    std::memcpy(words.data() + 1, object.data(), object.size());
    return words;
}

/// Gives the last kernel this body of `run`.
void set_code(Program& program, const std::string& body) {
    KernelInfo& kernel = program.kernels.back();
    kernel.artefact.format = kNativeFormat;
    kernel.artefact.words = words_of(
        compile_c(kHead +
                  ("static void run(const NativeCall* call, unsigned long group) {" + body + "}"))
            .value());
}

bool has_compiler() { return compile_c("int x;").has_value(); }

/// Takes n as its first parameter, and goes over the elements of a group.
const std::string kOver =
    "float* x = call->buffers[0]; float* y = call->buffers[1];"
    "unsigned n = call->params[0];"
    "for (unsigned i = group * 16; i < n && i < group * 16 + 16; ++i) ";

/// target = source * factor + param, over n elements.
Step scale(Program& program, int source, int target, float factor, const ParamInfo& param) {
    Step step = dispatch(program, {source}, {target});
    const std::string offset =
        param.dtype == f32 ? "float_of(call->params[1])" : "(float)(int)call->params[1]";
    set_code(program, kOver + "y[i] = x[i] * " + std::to_string(factor) + "f + " + offset + ";");
    auto& dispatched = std::get<DispatchStep>(step.step);
    dispatched.params = {{i32, n, -1}, param};
    dispatched.groups = {ceil_div(n, kGroup), 1, 1};
    dispatched.work = {n, n * Size(4), n * Size(4)};
    return step;
}

struct Runner {
    std::unique_ptr<Executor> executor = make_native_executor(cpu_profile());

    template <class T>
    std::shared_ptr<Memory> upload(const std::vector<T>& values) {
        auto memory = executor->allocate((values.size() * sizeof(T) + 15) / 16 * 16, "test");
        executor->write(*memory, 0, std::as_bytes(std::span(values)));
        return memory;
    }
    template <class T = float>
    std::vector<T> download(const Memory& memory, size_t count) {
        std::vector<T> values(count);
        executor->read(memory, 0, std::as_writable_bytes(std::span(values)));
        return values;
    }
    /// Runs a program of one tensor argument (and scalars after it) and one result of equal size.
    std::vector<float> run(const std::shared_ptr<const Program>& program,
                           const std::vector<float>& in, SizeEnv env = {},
                           std::vector<Scalar> scalars = {}) {
        Call call;
        env["n"] = static_cast<int64_t>(in.size());
        for (size_t k = 0; k < scalars.size(); ++k)
            if (scalars[k].dtype == i32) env[scalar_symbol(static_cast<int>(k) + 1)] = scalars[k].i;
        call.symbols = env;
        call.scalars = std::move(scalars);
        call.scalars.insert(call.scalars.begin(), Scalar{});
        call.arguments = {upload(in)};
        call.arguments.resize(program->arguments.size());
        call.results = {upload(std::vector<float>(in.size()))};
        executor->run(program, call);
        EXPECT_EQ(download(*call.arguments[0], in.size()), in);
        return download(*call.results[0], in.size());
    }
    std::vector<float> run(const Program& program, const std::vector<float>& in, SizeEnv env = {},
                           std::vector<Scalar> scalars = {}) {
        return run(std::make_shared<const Program>(program), in, std::move(env),
                   std::move(scalars));
    }
};

const ParamInfo kZero{f32, 0, -1};

class NativeExecutor : public testing::Test {
  protected:
    void SetUp() override { FIRN_SKIP_WITHOUT_COMPILER(has_compiler()); }
};

Program chain() {
    Program p;
    int x = add_argument(p, "x", {n}), a = add_buffer(p, n), b = add_buffer(p, n),
        c = add_buffer(p, n), y = add_result(p, {n});
    p.steps = {scale(p, x, a, 2, kZero), scale(p, a, b, 3, kZero), scale(p, b, c, 5, kZero),
               scale(p, c, y, 7, kZero)};
    return p;
}

TEST_F(NativeExecutor, ChainThroughPackedTemporaries) {
    EXPECT_EQ(Runner().run(chain(), {1, 2, 3}), (std::vector<float>{210, 420, 630}));
}
TEST_F(NativeExecutor, PlansOfManySizesAreKept) {
    Runner runner;
    const auto program = std::make_shared<const Program>(chain());
    for (int round = 0; round < 3; ++round)
        for (size_t size = 0; size < 40; ++size)
            EXPECT_EQ(runner.run(program, std::vector<float>(size, 2)),
                      std::vector<float>(size, 420));
}
TEST_F(NativeExecutor, KernelsOfManyGroupsRunOnceEach) {
    Runner runner;
    std::vector<float> in(100000), expected(in.size());
    std::iota(in.begin(), in.end(), 0.0f);
    std::transform(in.begin(), in.end(), expected.begin(), [](float x) { return x * 210; });
    const auto program = std::make_shared<const Program>(chain());
    for (int k = 0; k < 5; ++k) EXPECT_EQ(runner.run(program, in), expected);
}
TEST_F(NativeExecutor, AProgramAtTheAddressOfAnotherIsAnother) {
    Runner runner;
    for (float factor : {2.0f, 3.0f, 4.0f, 5.0f}) {
        Program p;
        int x = add_argument(p, "x", {n}), y = add_result(p, {n});
        p.steps = {scale(p, x, y, factor, kZero)};
        EXPECT_EQ(runner.run(p, {1, 2}), (std::vector<float>{factor, 2 * factor}));
    }
}

TEST_F(NativeExecutor, OnlyResultsBeyondTheLargestCacheMayGoPastIt) {
    const long cache = std::max(sysconf(_SC_LEVEL4_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
    if (cache <= 0 || cache > 128 << 20) GTEST_SKIP() << "the largest cache is unknown or large";
    Program p;
    const int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    p.steps = {scale(p, x, y, 1, kZero)};
    set_code(p, kOver + "y[i] = call->cached == 0;");
    Runner runner;
    EXPECT_EQ(runner.run(p, std::vector<float>(100))[7], 0.0f);
    EXPECT_EQ(runner.run(p, std::vector<float>(static_cast<size_t>(cache) / 4 + 64))[7], 1.0f);
}

TEST_F(NativeExecutor, ScalarArgumentsAreParameters) {
    Program p;
    int x = add_argument(p, "x", {n});
    add_scalar(p, "offset", f32);
    int y = add_result(p, {n});
    p.steps = {scale(p, x, y, 1, {f32, 0, 1})};
    Runner runner;
    const auto program = std::make_shared<const Program>(p);
    for (float offset : {0.5f, 1.5f, -2.0f})
        EXPECT_EQ(runner.run(program, {1, 2}, {}, {scalar_float(offset)}),
                  (std::vector<float>{1 + offset, 2 + offset}));
}
TEST_F(NativeExecutor, SizesOfScalarArgumentsAreFilledIn) {
    Program p;
    int x = add_argument(p, "x", {n});
    add_scalar(p, "k", i32);
    int y = add_result(p, {n});
    p.steps = {scale(p, x, y, 1, {i32, Size::symbol(scalar_symbol(1)) * Size(3), -1})};
    Runner runner;
    const auto program = std::make_shared<const Program>(p);
    for (int k : {1, 2, 7})
        EXPECT_EQ(runner.run(program, {1}, {}, {scalar_int(k)}),
                  (std::vector<float>{float(1 + 3 * k)}));
}
TEST_F(NativeExecutor, NumbersThatTheHostComputesAreParameters) {
    Program p;
    int x = add_argument(p, "x", {n});
    add_scalar(p, "k", f32);
    int y = add_result(p, {n}), t = add_buffer(p, n);
    // The argument times the iteration.
    p.host_scalars = {{HostOp::Argument, 0, 1, Size(), -1, -1},
                      {HostOp::Size, 0, -1, Size::symbol("t"), -1, -1},
                      {HostOp::Mul, 0, -1, Size(), 0, 1}};
    p.steps = {copy(x, y), repeat(3, {scale(p, y, t, 1, {f32, 0, 4})}, {{y, t}, {t, y}})};
    std::get<DispatchStep>(std::get<RepeatStep>(p.steps[1].step).body[0].step).params[1].scalar = 4;
    Runner runner;
    const auto program = std::make_shared<const Program>(p);
    for (float k : {1.0f, 0.5f})
        EXPECT_EQ(runner.run(program, {1}, {}, {scalar_float(k)}), (std::vector<float>{1 + 3 * k}));
}

TEST_F(NativeExecutor, ParametersHaveEightBytesEach) {
    const std::vector<Scalar> given{
        scalar_float(-1.5),  scalar_float(2.5, f16), scalar_float(3, bf16), scalar_float(0.1, f64),
        scalar_int(-2),      scalar_int(-1, u32),    scalar_int(-3, i64),   scalar_int(-1, u64),
        scalar_int(-4, i16), scalar_int(65535, u16), scalar_int(-5, i8),    scalar_int(255, u8),
        scalar_bool(true)};
    Program p;
    const int x = add_argument(p, "x", {n});
    for (const Scalar& value : given) add_scalar(p, "s", value.dtype);
    const int y = add_result(p, {26});
    Step step = dispatch(p, {x}, {y});
    set_code(p,
             "for (int k = 0; k < 13; ++k) ((unsigned long*)call->buffers[1])[k] = "
             "call->params[k];");
    for (size_t k = 0; k < given.size(); ++k)
        std::get<DispatchStep>(step.step).params.push_back(
            {given[k].dtype, 0, static_cast<int>(k) + 1});
    p.steps = {step};
    Runner runner;
    Call call;
    call.symbols = {{"n", 1}};
    call.scalars = given;
    call.scalars.insert(call.scalars.begin(), Scalar{});
    call.arguments.resize(14);
    call.arguments[0] = runner.upload(std::vector<float>{0});
    call.results = {runner.executor->allocate(112, "y")};
    runner.executor->run(std::make_shared<const Program>(p), call);
    EXPECT_EQ(runner.download<uint64_t>(*call.results[0], 13),
              (std::vector<uint64_t>{0xbfc00000, 0x40200000, 0x40400000, 0x3fb999999999999a,
                                     0xfffffffe, 0xffffffff, 0xfffffffffffffffd, UINT64_MAX,
                                     0xfffffffc, 0xffff, 0xfffffffb, 0xff, 1}));
}

/// y = x, then `trips` times: swap after next = 2 * now + iteration.
Program doubling(const Size& trips = Size::symbol("trips")) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n}), t = add_buffer(p, n);
    p.steps = {copy(x, y),
               repeat(trips, {scale(p, y, t, 2, {i32, Size::symbol("t"), -1})}, {{y, t}, {t, y}})};
    return p;
}
TEST_F(NativeExecutor, ResultOfARotationEndsInItsMemory) {
    Runner runner;
    const auto program = std::make_shared<const Program>(doubling());
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(runner.run(program, {1, 10}, {{"trips", 0}}), (std::vector<float>{1, 10}));
        EXPECT_EQ(runner.run(program, {1, 10}, {{"trips", 2}}), (std::vector<float>{5, 41}));
        EXPECT_EQ(runner.run(program, {1, 10}, {{"trips", 3}}), (std::vector<float>{12, 84}));
        EXPECT_EQ(runner.run(program, {}, {{"trips", 2}}), (std::vector<float>{}));
    }
}
TEST_F(NativeExecutor, LongLoopsAreNotUnrolled) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n}), t = add_buffer(p, n);
    p.steps = {copy(x, y),
               repeat(Size::symbol("trips"), {scale(p, y, t, 1, {f32, 1, -1})}, {{y, t}, {t, y}})};
    std::get<DispatchStep>(std::get<RepeatStep>(p.steps[1].step).body[0].step).params[1] = {i32, 1,
                                                                                            -1};
    set_code(p, kOver + "y[i] = x[i] + (int)call->params[1];");
    Runner runner;
    const auto program = std::make_shared<const Program>(p);
    for (int64_t trips : {20000, 20001, 20000})
        EXPECT_EQ(runner.run(program, {1, 10}, {{"trips", trips}}),
                  (std::vector<float>{float(1 + trips), float(10 + trips)}));
}
TEST_F(NativeExecutor, TripsThatAreAnArgument) {
    Program p = doubling(Size::symbol(scalar_symbol(1)));
    add_scalar(p, "trips", i32);
    Runner runner;
    const auto program = std::make_shared<const Program>(p);
    for (int trips : {3, 3, 3, 2, 0, 2, 2, 3})
        EXPECT_EQ(runner.run(program, {1}, {}, {scalar_int(trips)}),
                  (std::vector<float>{trips == 3   ? 12.0f
                                      : trips == 2 ? 5.0f
                                                   : 1.0f}));
}

/// While y < most: y += 1, in memory that rotates; the number of iterations is counted in z.
Program counting() {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n}), z = add_result(p, {n}),
        t = add_buffer(p, n), alive = add_buffer(p, 1);
    p.buffers[size_t(alive)].dtype = boolean;
    p.steps = {copy(x, y)};
    Step clear = dispatch(p, {}, {z, alive});
    set_code(p, "*(float*)call->buffers[0] = 0; *(unsigned*)call->buffers[1] = 1;");
    Step step = dispatch(p, {y}, {t, z, alive});
    set_code(p,
             "float* x = call->buffers[0]; float* y = call->buffers[1]; float* z = "
             "call->buffers[2]; unsigned* alive = call->buffers[3];"
             "*y = *x < 10 ? *x + 1 : *x; *z += 1; *alive = *y < 10;");
    Step loop = repeat(1000, {step}, {{y, t}, {t, y}});
    std::get<RepeatStep>(loop.step).alive = alive;
    std::get<RepeatStep>(loop.step).never_ended = "it never ended";
    p.steps.push_back(clear);
    p.steps.push_back(loop);
    return p;
}
TEST_F(NativeExecutor, LoopsEndWhereTheDataSays) {
    Runner runner;
    const auto program = std::make_shared<const Program>(counting());
    for (float start : {0.0f, 3.0f, 9.0f, 4.0f, 0.0f}) {
        Call call;
        call.symbols = {{"n", 1}};
        call.scalars.resize(1);
        call.arguments = {runner.upload(std::vector<float>{start})};
        call.results = {runner.upload(std::vector<float>{0}), runner.upload(std::vector<float>{0})};
        runner.executor->run(program, call);
        EXPECT_EQ(runner.download(*call.results[0], 1)[0], 10);
        EXPECT_EQ(runner.download(*call.results[1], 1)[0], 10 - start)
            << "no iteration runs behind the end";
    }
}
TEST_F(NativeExecutor, ALoopThatNeverEndsLeavesItsArguments) {
    Program p = counting();
    // The argument itself is where the loop counts.
    p.steps.erase(p.steps.begin());
    auto& loop = std::get<RepeatStep>(p.steps[1].step);
    loop.trips = 20;
    const int x = p.arguments[0].buffer, y = p.results[0].buffer;
    p.results[0].buffer = x;
    p.buffers[size_t(y)].role = BufferRole::Temporary;
    auto& step = std::get<DispatchStep>(loop.body[0].step);
    step.buffers[0] = x;
    loop.rotation = {{x, step.buffers[1]}, {step.buffers[1], x}};
    Runner runner;
    Call call;
    call.symbols = {{"n", 1}};
    call.scalars.resize(1);
    call.arguments = {runner.upload(std::vector<float>{-50})};
    call.results = {call.arguments[0], runner.upload(std::vector<float>{0})};
    const auto program = std::make_shared<const Program>(p);
    EXPECT_EQ(message<UserError>([&] { runner.executor->run(program, call); }), "it never ended");
    EXPECT_EQ(runner.download(*call.arguments[0], 1)[0], -50);
    const std::vector<float> seven{7};
    runner.executor->write(*call.arguments[0], 0, std::as_bytes(std::span(seven)));
    runner.executor->run(program, call);
    EXPECT_EQ(runner.download(*call.arguments[0], 1)[0], 10);
}

TEST_F(NativeExecutor, AnAccessOutsideLeavesTheArguments) {
    Program p;
    // The argument itself is where the kernel stores.
    const int x = add_argument(p, "x", {n});
    p.results.push_back({.shape = {n}, .buffer = x});
    p.steps = {dispatch(p, {}, {x})};
    set_code(
        p,
        "float* x = call->buffers[0]; long n = call->bytes[0] / 4; x[group] = 7;"
        "if (n != 5) { call->fault->kind = 1; call->fault->index = n; call->fault->group = group;"
        "call->fault->elements = n; call->fault->access = 3; call->fault->found = 1; }");
    std::get<DispatchStep>(p.steps[0].step).groups = {n, 1, 1};
    p.kernels[0].artefact.format = kCheckedFormat;
    const auto program = std::make_shared<const Program>(p);
    Runner runner;
    const auto call_of = [&](int64_t elements) {
        Call call;
        call.symbols = {{"n", elements}};
        call.scalars.resize(1);
        call.arguments = {runner.upload(std::vector<float>(static_cast<size_t>(elements), 1))};
        call.results = call.arguments;
        return call;
    };
    const Call faulty = call_of(6), good = call_of(5);
    try {
        runner.executor->run(program, faulty);
        ADD_FAILURE() << "the call went on";
    } catch (const OutsideAccess& fault) {
        EXPECT_EQ(fault.kernel, 0u);
        EXPECT_EQ(fault.access, 3);
        const std::string said = fault.what();
        EXPECT_NE(
            said.find("stores to element 6, byte 24 of tensor 'b0' (binding 0, f32), which has "
                      "6 elements, 24 bytes"),
            std::string::npos)
            << said;
    }
    EXPECT_EQ(runner.download(*faulty.arguments[0], 6), std::vector<float>(6, 1));
    runner.executor->run(program, good);
    EXPECT_EQ(runner.download(*good.arguments[0], 5), std::vector<float>(5, 7));
}

TEST_F(NativeExecutor, GroupsThatOnlyTheDeviceKnows) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n}), sizes = add_buffer(p, 8);
    p.buffers[size_t(sizes)].dtype = i32;
    Step count = dispatch(p, {x}, {sizes});
    set_code(p,
             "int* sizes = call->buffers[1]; sizes[2] = *(float*)call->buffers[0]; sizes[3] = 1; "
             "sizes[4] = 1;");
    Step fill = dispatch(p, {sizes}, {y});
    set_code(p, "((float*)call->buffers[1])[group] = call->groups[0];");
    auto& filled = std::get<DispatchStep>(fill.step);
    filled.groups = {n, 1, 1};
    filled.sizes_binding = 0;
    filled.sizes_groups = 2;
    Step clear = dispatch(p, {}, {y});
    set_code(p, "((float*)call->buffers[0])[group] = -1;");
    std::get<DispatchStep>(clear.step).groups = {n, 1, 1};
    p.steps = {clear, count, fill};
    Runner runner;
    const auto program = std::make_shared<const Program>(p);
    EXPECT_EQ(runner.run(program, {2, 0, 0}), (std::vector<float>{2, 2, -1}));
    EXPECT_EQ(runner.run(program, {0, 0, 0}), (std::vector<float>{-1, -1, -1}));
    EXPECT_EQ(runner.run(program, {-5, 0, 0}), (std::vector<float>{-1, -1, -1}));
    EXPECT_EQ(runner.run(program, {3, 0, 0}), (std::vector<float>{3, 3, 3}));
}
TEST_F(NativeExecutor, GroupsOfThreeAxesAreNumberedXFirst) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    Step step = dispatch(p, {x}, {y});
    set_code(p,
             "unsigned a = group % call->groups[0], b = group / call->groups[0] % "
             "call->groups[1], c = group / call->groups[0] / call->groups[1];"
             "((float*)call->buffers[1])[group] = a + 10 * b + 100 * c;");
    std::get<DispatchStep>(step.step).groups = {2, 3, 2};
    p.steps = {step};
    EXPECT_EQ(Runner().run(p, std::vector<float>(12)),
              (std::vector<float>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
}

TEST_F(NativeExecutor, ConstantsAreRead) {
    Program p;
    add_argument(p, "x", {n});
    int c = add_buffer(p, 3, BufferRole::Constant), y = add_result(p, {n});
    std::vector<float> values{4, 5, 6};
    auto bytes = std::as_bytes(std::span(values));
    p.buffers[size_t(c)].data.assign(bytes.begin(), bytes.end());
    p.steps = {scale(p, c, y, 1, kZero)};
    EXPECT_EQ(Runner().run(p, {0, 0, 0}), values);
}
TEST_F(NativeExecutor, ResultThatIsAnArgumentIsCopied) {
    Program p;
    ResultInfo result;
    result.shape = {n};
    result.buffer = add_argument(p, "x", {n});
    p.results.push_back(result);
    EXPECT_EQ(Runner().run(p, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
}
TEST_F(NativeExecutor, ResultsThatExchangePlaces) {
    Program p;
    int a = add_argument(p, "a", {n}), b = add_argument(p, "b", {n});
    ResultInfo result;
    result.shape = {n};
    result.buffer = b;
    p.results.push_back(result);
    result.buffer = a;
    p.results.push_back(result);
    Runner runner;
    Call call;
    call.symbols = {{"n", 2}};
    call.scalars.resize(2);
    call.arguments = {runner.upload(std::vector<float>{1, 2}),
                      runner.upload(std::vector<float>{3, 4})};
    call.results = call.arguments;
    runner.executor->run(std::make_shared<const Program>(p), call);
    EXPECT_EQ(runner.download(*call.results[0], 2), (std::vector<float>{3, 4}));
    EXPECT_EQ(runner.download(*call.results[1], 2), (std::vector<float>{1, 2}));
}
TEST_F(NativeExecutor, SkippedResultNeedsNoMemory) {
    Program p;
    int x = add_argument(p, "x", {n});
    int y = add_result(p, {n}), z = add_result(p, {n});
    p.steps = {scale(p, x, y, 2, kZero), scale(p, y, z, 2, kZero)};
    Runner runner;
    Call call;
    call.symbols = {{"n", 2}};
    call.scalars.resize(1);
    call.arguments = {runner.upload(std::vector<float>{1, 2})};
    call.results = {nullptr, runner.upload(std::vector<float>{0, 0})};
    runner.executor->run(std::make_shared<const Program>(p), call);
    EXPECT_EQ(runner.download(*call.results[1], 2), (std::vector<float>{4, 8}));
}

TEST_F(NativeExecutor, MemoryOfAKernelIsAligned) {
    Program p;
    int x = add_argument(p, "x", {n}), a = add_buffer(p, n), y = add_result(p, {n});
    Step first = scale(p, x, a, 1, kZero);
    Step step = dispatch(p, {a}, {y});
    set_code(p, kOver + "{ y[i] = (unsigned long)x % 64 == 0 && (unsigned long)y % 64 == 0; }");
    auto& dispatched = std::get<DispatchStep>(step.step);
    dispatched.params = {{i32, n, -1}};
    dispatched.groups = {ceil_div(n, kGroup), 1, 1};
    dispatched.work = {n * Size(100000), n, n};
    p.steps = {first, step};
    setenv("FIRN_THREADS", "4", 1);
    Runner runner;
    unsetenv("FIRN_THREADS");
    EXPECT_EQ(runner.run(p, std::vector<float>(4000)), std::vector<float>(4000, 1.0f));
}
TEST_F(NativeExecutor, LargeKernelsRunOnSeveralThreadsAndSmallOnesOnOne) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    Step step = dispatch(p, {x}, {y});
    // Threads have stacks of their own.
    set_code(p,
             "volatile int here; unsigned long end = (unsigned long)&here >> 20;"
             "for (volatile int k = 0; k < 20000; ++k) {}"
             "((float*)call->buffers[1])[group] = (float)(end & 0xfffff);");
    auto& dispatched = std::get<DispatchStep>(step.step);
    dispatched.groups = {n, 1, 1};
    const auto places = [&](const Size& operations) {
        dispatched.work = {operations, n, n};
        p.steps = {step};
        setenv("FIRN_THREADS", "3", 1);
        Runner runner;
        unsetenv("FIRN_THREADS");
        const std::vector<float> seen = runner.run(p, std::vector<float>(400));
        return std::set<float>(seen.begin(), seen.end()).size();
    };
    EXPECT_EQ(places(1000), 1u);
    // Others may keep the cores busy until one thread has done all of it.
    Deadline deadline;
    while (places(1000000000) < 2 && !deadline.is_over()) {
    }
    EXPECT_FALSE(deadline.is_over());
}
TEST_F(NativeExecutor, ExecutorsOfTwoThreadsRunAtOnce) {
    const auto program = std::make_shared<const Program>(doubling());
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; ++thread)
        threads.emplace_back([&, thread] {
            Runner runner;
            const auto start = float(thread);
            for (int k = 0; k < 300; ++k) {
                const std::vector<float> in(static_cast<size_t>(100 + k % 7), start);
                EXPECT_EQ(runner.run(program, in, {{"trips", 3}}),
                          std::vector<float>(in.size(), 8 * start + 4));
            }
        });
    for (std::thread& thread : threads) thread.join();
}
TEST_F(NativeExecutor, ThreadsMayPrepareWhileAnotherRuns) {
    Runner runner;
    const auto program = std::make_shared<const Program>(chain());
    std::thread other([&] {
        for (int k = 0; k < 100; ++k) EXPECT_TRUE(runner.executor->prepare(*program));
    });
    for (int k = 0; k < 100; ++k) EXPECT_EQ(runner.run(chain(), {1}), (std::vector<float>{210}));
    other.join();
}
TEST_F(NativeExecutor, AChildOfForkRunsPrograms) {
    setenv("FIRN_THREADS", "3", 1);
    Runner runner;
    unsetenv("FIRN_THREADS");
    const auto program = std::make_shared<const Program>(chain());
    const std::vector<float> in(200000, 1), expected(200000, 210);
    EXPECT_EQ(runner.run(program, in), expected);
    const pid_t child = fork();
    if (child == 0) _exit(runner.run(program, in) == expected ? 0 : 1);
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

#if defined(__x86_64__)
TEST_F(NativeExecutor, FloatsAreRoundedAsEverAndSubnormalOnesAreKept) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    p.steps = {scale(p, x, y, 0.5f, kZero)};
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040 | 0x6000);  // flush subnormal numbers, and round towards 0
    const unsigned mine = _mm_getcsr() & ~0x3fu;
    const float tiny = 2e-38f;
    const std::vector<float> out = Runner().run(p, {tiny});
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, mine);
    _mm_setcsr(before);
    EXPECT_EQ(out[0], 1e-38f);
}
#endif

TEST_F(NativeExecutor, OtherFormatsAreForOtherDevices) {
    Program p;
    p.name = "other";
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    p.steps = {scale(p, x, y, 2, kZero)};
    p.kernels[0].artefact.format = kSpirvFormat;
    EXPECT_EQ(
        message<UserError>([&] { Runner().run(p, {1}); }),
        "kernel 'k0' of program 'other' is 'spirv' and this session runs 'native': the program was "
        "saved for other devices; save it for this device too, or compile the program here");
}
TEST_F(NativeExecutor, AProgramForAnotherLevelOfProcessorsIsRefused) {
    Program p;
    p.name = "wide";
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    p.steps = {scale(p, x, y, 2, kZero)};
    p.profile = native_profile(512);
    p.profile.name = "native code for a wide one";
    for (const char* processor : {"", "x86-64-v4"}) {
        p.profile.processor = processor;
        EXPECT_EQ(message<UserError>([&] { Runner().run(p, {1}); }),
                  "program 'wide' is native code for a wide one and this session runs reference "
                  "CPU driver; save it for this device too, or compile the program here");
    }
}
TEST_F(NativeExecutor, CodeThatIsDamagedIsRefused) {
    Program p;
    int x = add_argument(p, "x", {n}), y = add_result(p, {n});
    p.steps = {scale(p, x, y, 2, kZero)};
    const Program right = p;
    const auto error = [&] { return message<UserError>([&] { Runner().run(p, {1}); }); };
    p.kernels[0].artefact.words.clear();
    EXPECT_NE(error().find("has no machine code, or not all of it"), std::string::npos);
    p = right;
    p.kernels[0].artefact.words[0] = 1u << 30;
    EXPECT_NE(error().find("has no machine code, or not all of it"), std::string::npos);
    p = right;
    p.kernels[0].artefact.words[1] = 0;
    EXPECT_NE(error().find("cannot be loaded"), std::string::npos);
    p.kernels[0].artefact.words = words_of(compile_c("int other;").value());
    EXPECT_NE(error().find("its machine code has no function firn_kernel"), std::string::npos);
}
TEST_F(NativeExecutor, NeedsNoKernelCode) {
    EXPECT_FALSE(make_native_executor(cpu_profile())->needs_kernel_code());
}

TEST_F(NativeExecutor, ImpossibleAllocationSaysWhatIsHeld) {
    Runner runner;
    auto held = runner.executor->allocate(4096, "held");
    const std::string error =
        message<DeviceError>([&] { runner.executor->allocate(uint64_t{1} << 62, "huge"); });
    EXPECT_NE(error.find("4611686018427387904 bytes were asked for 'huge', 4096 bytes are held"),
              std::string::npos)
        << error;
}
TEST_F(NativeExecutor, TemporariesThatDoNotFitAreAnErrorToo) {
    Program p;
    int x = add_argument(p, "x", {1}), big = add_buffer(p, n), y = add_result(p, {1});
    p.steps = {scale(p, x, big, 1, kZero), scale(p, big, y, 1, kZero)};
    Runner runner;
    Call call;
    call.symbols = {{"n", int64_t{1} << 44}};
    call.scalars.resize(1);
    call.arguments = {runner.upload(std::vector<float>{1})};
    call.results = {runner.upload(std::vector<float>{1})};
    for (Step& step : p.steps) std::get<DispatchStep>(step.step).params[0].size = 1;
    EXPECT_NE(message<DeviceError>([&] {
                  runner.executor->run(std::make_shared<const Program>(p), call);
              }).find("were asked for 'temporaries'"),
              std::string::npos);
}
TEST_F(NativeExecutor, MemoryMayOutliveItsExecutor) {
    std::shared_ptr<Memory> memory = make_native_executor(cpu_profile())->allocate(64, "longer");
    EXPECT_EQ(memory->bytes(), 64u);
}
TEST_F(NativeExecutor, TheHostSeesItsMemory) {
    Runner runner;
    const auto memory = runner.upload(std::vector<float>{1, 2});
    float value = 0;
    std::memcpy(&value, runner.executor->mapped(*memory) + 4, 4);
    EXPECT_EQ(value, 2);
    EXPECT_EQ(runner.executor->map_for_writing(*memory), runner.executor->mapped(*memory));
}

TEST_F(NativeExecutor, TimesEveryKernelWhenAsked) {
    Runner runner;
    runner.executor->set_profiling(true);
    runner.run(doubling(), {1}, {{"trips", 3}});
    std::vector<KernelTime> times = runner.executor->take_kernel_times();
    ASSERT_EQ(times.size(), 1u);
    EXPECT_EQ(times[0].name, "k0");
    EXPECT_EQ(times[0].dispatches, 3);
    EXPECT_TRUE(runner.executor->take_kernel_times().empty());
}
TEST_F(NativeExecutor, LongRunsTellTheirProgressAndCanBeEnded) {
    Runner runner;
    const auto program = std::make_shared<const Program>(doubling());
    std::vector<RunProgress> told;
    runner.executor->set_progress([&](const RunProgress& progress) { told.push_back(progress); },
                                  0);
    runner.run(program, {0}, {{"trips", 100000}});
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().iterations, 100000);
    bool asked = false;
    const CancelScope scope([&] { return std::exchange(asked, true); });
    EXPECT_THROW(runner.run(program, {0}, {{"trips", 100000}}), Cancelled);
}

}  // namespace
}  // namespace firn
