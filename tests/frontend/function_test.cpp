// compile and jit: symbols, scalars, results, captures, inlining and misuse.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Functions = OracleTest;

TEST_F(Functions, OneProgramServesEverySize) {
    auto twice = compile([](Tensor x) { return x * 2; }, {f32("n")});
    EXPECT_EQ(twice(tensor({1.0f, 2.0f})).to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(twice(tensor({3.0f})).to_vector<float>(), (Floats{6}));
}

TEST_F(Functions, ScalarsAreGivenAsCppNumbers) {
    auto scale = compile([](Tensor x, Tensor by) { return x * by; }, {f32("n"), f32()});
    EXPECT_EQ(scale(tensor({1.0f, 2.0f}), 3).to_vector<float>(), (Floats{3, 6}));
    EXPECT_EQ(scale(tensor({1.0f, 2.0f}), 0.5).to_vector<float>(), (Floats{0.5f, 1}));
    EXPECT_EQ(scale.variant_count(), 1u);
}

TEST_F(Functions, ScalarMayBeATensorOnTheDevice) {
    auto scale = compile([](Tensor x, Tensor by) { return x * by; }, {f32("n"), f32()});
    Tensor by = sum(tensor({1.0f, 2.0f}));
    EXPECT_EQ(scale(tensor({1.0f, 2.0f}), by).to_vector<float>(), (Floats{3, 6}));
}

TEST_F(Functions, SeveralResults) {
    auto both = compile([](Tensor x) { return std::tuple{x + 1, x - 1}; }, {i32("n")});
    auto [up, down] = both(tensor({5}));
    EXPECT_EQ(up.item<int>(), 6);
    EXPECT_EQ(down.item<int>(), 4);
}

TEST_F(Functions, TieAssignsTheResults) {
    auto step = compile(
        [](Tensor u, Tensor v) {
            return std::tuple{u + v, v * 2};
        },
        {i32(), i32()});
    Tensor u = 1, v = 1;
    for (int frame = 0; frame < 3; ++frame) std::tie(u, v) = step(u, v);
    EXPECT_EQ(u.item<int>(), 8);
    EXPECT_EQ(v.item<int>(), 8);
}

TEST_F(Functions, ResultsAsPairArrayAndVector) {
    auto pair = compile([](Tensor x) { return std::pair{x, x + 1}; }, {i32()});
    auto array = compile([](Tensor x) { return std::array<Tensor, 2>{x, x + 1}; }, {i32()});
    auto vector = compile([](Tensor x) { return std::vector<Tensor>{x, x + 1, x + 2}; }, {i32()});
    EXPECT_EQ(pair(1).second.item<int>(), 2);
    EXPECT_EQ(array(1)[1].item<int>(), 2);
    EXPECT_EQ(vector(1)[2].item<int>(), 3);
}

TEST_F(Functions, GenericLambdasAndNoArguments) {
    auto sum_of = compile([](auto a, auto b) { return a + b; }, {i32(), i32()});
    auto constant = compile([] { return full({2}, 3); });
    EXPECT_EQ(sum_of(1, 2).item<int>(), 3);
    EXPECT_EQ(constant().to_vector<int>(), (Ints{3, 3}));
}

TEST_F(Functions, ListOfArguments) {
    auto total = compile(
        [](const std::vector<Tensor>& parts) {
            Tensor out = 0.0f;
            for (const Tensor& part : parts) out += sum(part);
            return out;
        },
        std::vector<ArgSpec>{f32("n"), f32("m")});
    EXPECT_EQ(total(std::vector<Tensor>{ones({2}), ones({3})}).item<float>(), 5);
    expect_parts(user_error([&] { total(std::vector<Tensor>{ones({2})}); }),
                 {"1 arguments", "2", "function_test.cpp:"});
}

TEST_F(Functions, CompileInALoopMayNotCaptureWhatIsRecorded) {
    Tensor w = tensor({2.0f});
    expect_parts(user_error([&] {
                     for (Tensor i : loop(3)) compile([&](Tensor x) { return x * w; }, {f32("n")});
                 }),
                 {"still being recorded", "pass it as an argument"});
}

TEST_F(Functions, CapturedTensorKeepsItsValue) {
    Tensor w = tensor({2.0f});
    auto times = compile([&](Tensor x) { return x * w; }, {f32("n")});
    w += 100.0f;
    EXPECT_EQ(times(tensor({3.0f})).item<float>(), 6);
}

TEST_F(Functions, CapturedExpressionIsComputedOnce) {
    Tensor w = sqrt(tensor({16.0f}));
    auto times = compile([&](Tensor x) { return x * w; }, {f32("n")});
    EXPECT_EQ(times.graph().args.size(), 2u);
    EXPECT_EQ(times(tensor({3.0f})).item<float>(), 12);
}

TEST_F(Functions, CapturedConstantIsNoArgument) {
    Tensor w = 2.0f, z = zeros({1});
    auto times = compile([&](Tensor x) { return x * w + z; }, {f32("n")});
    EXPECT_EQ(times.graph().args.size(), 1u);
}

TEST_F(Functions, CallInsideARecordingIsInlined) {
    auto blur = compile([](Tensor x) { return x + x(index(x, 0) - 1); }, {i32("n")});
    auto twice = compile([&](Tensor x) { return blur(blur(x)); }, {i32("n")});
    EXPECT_EQ(twice(tensor({1, 2, 3})).to_vector<int>(), (Ints{4, 5, 8}));
}

TEST_F(Functions, InlinedSymbolsAreRenamedApart) {
    auto total = compile([](Tensor x) { return sum(x, {.axis = 0}) + Tensor(x.size(0)).as(f32); },
                         {f32("m", "n")});
    auto outer = compile([&](Tensor x) { return total(x); }, {f32("n", "m")});
    EXPECT_EQ(outer(ones({2, 3})).to_vector<float>(), (Floats{4, 4, 4}));
}

TEST_F(Functions, InlinedLoopTakesTheSizesGiven) {
    auto powers = compile(
        [](Tensor x) {
            Tensor y = ones(x.shape());
            for (Tensor i : loop(x.size(0))) y *= x;
            return y;
        },
        {f32("k")});
    auto outer = compile([&](Tensor a, Tensor b) { return sum(powers(a)) + sum(powers(b)); },
                         {f32("p"), f32("q")});
    EXPECT_EQ(outer(tensor({2.0f, 2.0f}), tensor({3.0f})).item<float>(), 4 + 4 + 3);
}

TEST_F(Functions, InlinedInALazyLoop) {
    auto grow = compile([](Tensor x, Tensor by) { return x * by; }, {i32("n"), i32()});
    Tensor x = tensor({1, 3});
    for (Tensor i : loop(3)) x = grow(x, 2);
    EXPECT_EQ(x.to_vector<int>(), (Ints{8, 24}));
}

TEST_F(Functions, InlinedCaptureIsKept) {
    Tensor w = tensor({2});
    auto times = compile([&](Tensor x) { return x * w; }, {i32("n")});
    auto outer = compile([&](Tensor x) { return times(x) + 1; }, {i32("n")});
    EXPECT_EQ(outer(tensor({5, 6})).to_vector<int>(), (Ints{11, 13}));
}

TEST_F(Functions, LoopWithASymbolicBound) {
    auto count = compile(
        [](Tensor x) {
            Tensor total = 0;
            for (Tensor i : loop(x.size(0))) total += x(i);
            return total;
        },
        {i32("n")});
    EXPECT_EQ(count(tensor({1, 2, 3})).item<int>(), 6);
}

TEST_F(Functions, LoopWithAScalarBound) {
    auto power = compile(
        [](Tensor x, Tensor n) {
            Tensor y = 1.0f;
            for (Tensor i : loop(n)) y *= x;
            return y;
        },
        {f32("n"), i32()});
    EXPECT_EQ(power(tensor({2.0f, 3.0f}), 3).to_vector<float>(), (Floats{8, 27}));
}

TEST_F(Functions, JitCompilesOncePerShape) {
    auto twice = jit([](Tensor x) { return x * 2; });
    twice(tensor({1, 2}));
    twice(tensor({3, 4}));
    EXPECT_EQ(twice.shape_count(), 1u);
    EXPECT_EQ(twice(tensor({5})).item<int>(), 10);
    EXPECT_EQ(twice.shape_count(), 2u);
}

TEST_F(Functions, JitIsInlinedWhileRecording) {
    auto twice = jit([](Tensor x) { return x * 2; });
    auto outer = compile([&](Tensor x) { return twice(x) + 1; }, {i32("n")});
    EXPECT_EQ(outer(tensor({1, 2})).to_vector<int>(), (Ints{3, 5}));
}

TEST_F(Functions, CompileInsideARecordingWorksOnItsArguments) {
    auto outer = compile(
        [](Tensor x) {
            auto inner = compile([](Tensor y) { return y * 3; }, {i32("k")});
            return inner(x);
        },
        {i32("n")});
    EXPECT_EQ(outer(tensor({1, 2})).to_vector<int>(), (Ints{3, 6}));
}

// --- misuse --------------------------------------------------------------------------------------

TEST_F(Functions, SymbolBoundTwiceNamesBothArguments) {
    auto add = compile([](Tensor a, Tensor b) { return a + b; }, {f32("n"), f32("n")});
    expect_parts(user_error([&] { add(zeros({2}), zeros({3})); }),
                 {"argument 0", "argument 1", "[2]", "[3]", "function_test.cpp:"});
}

TEST_F(Functions, SymbolsThatMustMeetAreCheckedAtTheCall) {
    auto add = compile([](Tensor a, Tensor b) { return a + b; }, {f32("n"), f32("m")});
    EXPECT_EQ(add(ones({2}), ones({2})).to_vector<float>(), (Floats{2, 2}));
    expect_parts(user_error([&] { add(zeros({2}), zeros({3})); }),
                 {"n", "m", "function_test.cpp:"});
}

TEST_F(Functions, OtherTypeIsAnError) {
    auto f = compile([](Tensor a) { return a; }, {f32("n")});
    expect_parts(user_error([&] {
                     f(tensor({1, 2}));
                 }),
                 {"argument 0", "f32[n]", "i32[2]", ".as(f32)", "function_test.cpp:"});
}

TEST_F(Functions, OtherRankIsAnError) {
    auto f = compile([](Tensor a) { return a; }, {f32("n")});
    expect_parts(user_error([&] {
                     f(zeros({2, 2}));
                 }),
                 {"argument 0", "[2, 2]", "rank", "function_test.cpp:"});
}

TEST_F(Functions, OtherFixedSizeIsAnError) {
    auto f = compile([](Tensor a) { return a; }, {f32(4)});
    expect_parts(user_error([&] { f(zeros({2})); }),
                 {"argument 0", "[2]", "4", "function_test.cpp:"});
}

TEST_F(Functions, NumberForAShapedArgumentIsAnError) {
    auto f = compile([](Tensor a) { return a; }, {f32("n")});
    expect_parts(user_error([&] { f(1.5f); }),
                 {"argument 0", "1.5", "full(", "function_test.cpp:"});
}

TEST_F(Functions, LossyNumberIsAnError) {
    auto f = compile([](Tensor a) { return a; }, {i32()});
    expect_parts(user_error([&] { f(0.5f); }), {"0.5", "i32", "cannot hold", "function_test.cpp:"});
    expect_parts(user_error([&] { f(int64_t{1} << 40); }), {"cannot hold"});
    EXPECT_EQ(f(3.0).item<int>(), 3);
}

TEST_F(Functions, AssigningAnOutsideTensorIsAnError) {
    Tensor outside = 1.0f;
    expect_parts(user_error([&] {
                     compile(
                         [&](Tensor x) {
                             outside += x;
                             return x;
                         },
                         {f32()});
                 }),
                 {"outside", "compiled", "function_test.cpp:"});
    EXPECT_EQ(outside.item<float>(), 1);
}

TEST_F(Functions, DataWhileCompilingIsAnError) {
    expect_parts(user_error([] {
                     compile(
                         [](Tensor x) {
                             x.item<float>();
                             return x;
                         },
                         {f32()});
                 }),
                 {"data is asked for inside the function", "function_test.cpp:"});
}

TEST_F(Functions, SymbolicSizeAsACppIntegerIsAnError) {
    expect_parts(user_error([] {
                     compile(
                         [](Tensor x) {
                             int n = x.size(0);
                             return x * n;
                         },
                         {f32("n")});
                 }),
                 {"n is symbolic", "function_test.cpp:"});
}

TEST_F(Functions, SymbolicSizeInACppLoopIsAnError) {
    expect_parts(user_error([] {
                     compile(
                         [](Tensor x) {
                             Tensor y = x;
                             for (int k = 0; k < x.size(0); ++k) y += x;
                             return y;
                         },
                         {f32("n")});
                 }),
                 {"n is symbolic", "function_test.cpp:"});
}

TEST_F(Functions, ExceptionWhileCompilingLeavesTheSessionUsable) {
    EXPECT_THROW(compile([](Tensor) -> Tensor { throw std::runtime_error("mine"); }, {f32()}),
                 std::runtime_error);
    EXPECT_EQ((Tensor(1) + 1).item<int>(), 2);
}

TEST_F(Functions, ArgumentKeptAfterTheCompileIsAnError) {
    Tensor kept;
    std::vector<Tensor> all;
    compile(
        [&](Tensor x) {
            all.push_back(x);
            return x;
        },
        {f32()});
    expect_parts(user_error([&] { all[0].item<float>(); }), {"compiled function is used after it"});
}

TEST_F(Functions, NativeBreakInTheBodyIsReportedByCompile) {
    expect_parts(user_error([] {
                     compile(
                         [](Tensor x) {
                             for (Tensor i : loop(3)) {
                                 x += 1.0f;
                                 break;
                             }
                             return x;
                         },
                         {f32()});
                 }),
                 {"native break", "function_test.cpp:"});
}

TEST_F(Functions, ThatTakeAListTakeSpecsInBraces) {
    const auto f =
        compile([](const std::vector<Tensor>& x) { return x[0] + x[1]; }, {f32("n"), f32()});
    EXPECT_EQ(f({ones({2}), 2.0f}).to_vector<float>(), (Floats{3, 3}));
}

}  // namespace
}  // namespace firn
