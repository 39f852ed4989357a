// print_value and assert_value. On the oracle and compiled.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Effects : public ::testing::TestWithParam<bool> {
  protected:
    Effects() {
        session_.on_print([this](const std::string& text) { printed_ += text; });
    }
    /// Returns the prints since the last call, without the lines of this file.
    std::string printed() {
        std::string out;
        for (size_t k = 0; k < printed_.size(); ++k) {
            if (printed_.compare(k, 18, "(effects_test.cpp:") == 0) k = printed_.find(')', k) + 2;
            out += printed_[k];
        }
        printed_.clear();
        return out;
    }
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
    std::string printed_;
};
INSTANTIATE_TEST_SUITE_P(Executors, Effects, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(Effects, LazyValuesArePrintedAtOnce) {
    Tensor x = tensor({1.5, -2.0, 30.0}) * 2.0f;
    print_value(x, {.label = "x"});
    const std::string line = std::to_string(__LINE__ - 1);
    EXPECT_EQ(printed_, "x (effects_test.cpp:" + line + ") f32[3] = [ 3 -4 60]\n");
    printed_.clear();
    print_value(sum(x));
    EXPECT_EQ(printed(), "f32 = 59\n");
    print_value(reshape(arange(6), {2, 3}) == 4);
    EXPECT_EQ(printed(), "bool[2, 3] =\n[[false false false]\n [false  true false]]\n");
}

TEST_P(Effects, LongAxesShowTheirEnds) {
    print_value(reshape(arange(300), {30, 10}), {.edge = 2});
    EXPECT_EQ(printed(),
              "i32[30, 10] =\n[[  0   1 ...   8   9]\n [ 10  11 ...  18  19]\n ...\n"
              " [280 281 ... 288 289]\n [290 291 ... 298 299]]\n");
}

TEST_P(Effects, SizesThatOnlyTheDeviceKnowsAreReadBackForTheReport) {
    Tensor x = arange(9);
    print_value(compact(x, x > 5) * 2);
    EXPECT_EQ(printed(), "i32[3] = [12 14 16]\n");
    auto chosen = compile(
        [](Tensor x) {
            Tensor few = compact(x, x > 5);
            print_value(few, {.label = "few"});
            assert_value(few < 8);
            return few;
        },
        {i32("n")});
    chosen(arange(8));
    EXPECT_EQ(printed(), "few i32[2] = [6 7]\n");
    expect_parts(user_error([&] { chosen(compact(arange(10), arange(10) % 2 == 0)); }),
                 {"1 of 2 elements fails", "[1]", "8 < 8", "effects_test.cpp:"});
}

TEST_P(Effects, ACompiledFunctionPrintsAtEveryCall) {
    auto twice = compile(
        [](Tensor x) {
            Tensor y = 2.0f * x;
            print_value(y, {.label = "y", .edge = 2});
            return y + 1.0f;
        },
        {f32("n")});
    EXPECT_EQ(printed(), "");
    EXPECT_EQ(twice(tensor({1.0, 2.0})).to_vector<float>(), (Floats{3, 5}));
    EXPECT_EQ(printed(), "y f32[2] = [2 4]\n");
    twice(arange(7).as(f32));
    EXPECT_EQ(printed(), "y f32[7] = [ 0  2 ... 10 12]\n");
}

TEST_P(Effects, ALoopPrintsItsFirstIterations) {
    auto powers = compile(
        [](Tensor x) {
            for (Tensor i : loop(2, 12, 2)) {
                x = x * 2.0f;
                print_value(x, {.iterations = 3});
            }
            return x;
        },
        {f32("n")});
    EXPECT_EQ(powers(tensor({1.0, 0.5})).to_vector<float>(), (Floats{32, 16}));
    EXPECT_EQ(printed(),
              "iteration 0 f32[2] = [2 1]\niteration 1 f32[2] = [4 2]\niteration 2 f32[2] = [8 4]\n"
              "... up to 2 more iterations; print_value(x, {.iterations = 5}) shows them\n");
}

TEST_P(Effects, LongAxesInALoop) {
    auto f = compile(
        [](Tensor x) {
            for (Tensor i : loop(2)) {
                x = x + 1;
                print_value(x, {.edge = 1});
            }
            return x;
        },
        {i32("n", "m")});
    f(reshape(arange(12), {4, 3}));
    EXPECT_EQ(printed(),
              "iteration 0 i32[4, 3] =\n[[ 1 ...  3]\n ...\n [10 ... 12]]\n"
              "iteration 1 i32[4, 3] =\n[[ 2 ...  4]\n ...\n [11 ... 13]]\n");
    f(tensor({5, 6}, {1, 2}));
    EXPECT_EQ(printed(), "iteration 0 i32[1, 2] =\n[[6 7]]\niteration 1 i32[1, 2] =\n[[7 8]]\n");
}

TEST_P(Effects, OnlyTheBranchThatIsTakenPrints) {
    auto f = compile(
        [](Tensor x, Tensor limit) {
            if_(
                sum(x) > limit, [&] { print_value(x, {.label = "large"}); },
                [&] { print_value(2 * x, {.label = "small"}); });
            return x;
        },
        {i32("n"), i32()});
    f(tensor({1, 2}), 10);
    EXPECT_EQ(printed(), "small i32[2] = [2 4]\n");
    f(tensor({1, 2}), 2);
    EXPECT_EQ(printed(), "large i32[2] = [1 2]\n");
}

TEST_P(Effects, ElementsThatAreLeftOutAreDashes) {
    Tensor x = tensor({5, 1, 8});
    for (Tensor iteration : loop(9)) {
        if_(x <= 1, [&] { break_(); });
        x = x / 2;
        if_(iteration != 1, [&] { print_value(x); });
    }
    EXPECT_EQ(printed(), "iteration 0 i32[3] = [ 2 --  4]\niteration 2 i32[3] = [-- --  1]\n");
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 1, 1}));
}

TEST_P(Effects, AScalarUnderAShapedCondition) {
    Tensor x = arange(3);
    if_(x != 1, [&] { print_value(Tensor(7)); });
    EXPECT_EQ(printed(), "i32[3] = [ 7 --  7]\n");
    for (Tensor i : loop(3)) {
        print_value(i);
        if_(x <= i, [&] { break_(); });
        x += 0;
    }
    EXPECT_EQ(printed(), "iteration 0 i32 = 0\niteration 1 i32 = 1\niteration 2 i32 = 2\n");
}

TEST_P(Effects, NestedLoopsNameBothIterations) {
    for (Tensor i : loop(2))
        for (Tensor j : loop(2)) print_value(10 * i + j);
    EXPECT_EQ(printed(),
              "iteration 0, 0 i32 = 0\niteration 0, 1 i32 = 1\niteration 1, 0 i32 = 10\niteration "
              "1, 1 i32 = 11\n");
}

TEST_P(Effects, EveryTypePrintsInALoop) {
    for (DType type : kAllTypes) {
        Tensor x = tensor({0, 1, 3}).as(type);
        for (Tensor i : loop(1)) print_value(x.as(type));
        EXPECT_EQ(printed(),
                  std::string("iteration 0 ") + type.name() +
                      (type.is_bool() ? "[3] = [false  true  true]\n" : "[3] = [0 1 3]\n"));
    }
}

TEST_P(Effects, AnAssertionThatHoldsSaysNothing) {
    auto root = compile(
        [](Tensor x) {
            assert_value(x >= 0.0f, "no root");
            return x * x;
        },
        {f32("n")});
    EXPECT_EQ(root(tensor({2.0, 3.0})).to_vector<float>(), (Floats{4, 9}));
    EXPECT_EQ(root(zeros({0})).to_vector<float>(), Floats{});
}

TEST_P(Effects, AFailedAssertionNamesTheFirstElement) {
    const std::string line = std::to_string(__LINE__ + 3);
    auto root = compile(
        [](Tensor x) {
            assert_value(x >= 0.0f, "no root");
            return x * x;
        },
        {f32("n", "m")});
    Tensor x = tensor({1.0, 2.0, 3.0, -4.5, 5.0, -6.0}, {3, 2});
    const std::string message = user_error([&] { root(x); });
    expect_parts(message,
                 {"assert_value: no root: 2 of 6 elements fail, the first at [1, 1]: -4.5 >= 0",
                  "effects_test.cpp:" + line});
    EXPECT_EQ(x.to_vector<float>()[3], -4.5f);  // the argument is as it was
    EXPECT_EQ(root(x * x).to_vector<float>()[1], 16.0f);
}

TEST_P(Effects, ALazyAssertionFailsAtOnce) {
    Tensor x = tensor({1, 2});
    EXPECT_EQ(user_error([&] {
                  assert_value(all(x == 1));
              }).find("assert_value: the condition does not hold: it is false"),
              0u);
    expect_parts(user_error([&] { assert_value(x, "x"); }), {"must be a bool"});
}

TEST_P(Effects, AnAssertionInALoopNamesTheIteration) {
    Tensor x = tensor({4, 9, 2});
    const std::string message = user_error([&] {
        for (Tensor i : loop(20)) {
            x -= 1;
            assert_value(x > 0, "used up");
        }
    });
    expect_parts(message,
                 {"used up: 3 of 3 elements fail, the first at [2] in iteration 1: 0 > 0"});
    EXPECT_EQ(x.to_vector<int>(), (Ints{-16, -11, -18}));  // the loop itself ran
}

TEST_P(Effects, AnAssertionUnderAConditionChecksItsElements) {
    Tensor x = tensor({4, -9, 2});
    if_(
        x < 0, [&] { assert_value(x == -9); }, [&] { assert_value(x > 1); });
    expect_parts(user_error([&] { if_(x < 3, [&] { assert_value((x != 2) & (x != 4), "two"); }); }),
                 {"two: 1 of 3 elements fails, at [2]"});
}

TEST_P(Effects, AfterPrintsTheFirstAssertionIsThrown) {
    auto f = compile(
        [](Tensor x) {
            assert_value(x > 1, "first");
            print_value(x);
            assert_value(x > 2, "second");
            return x;
        },
        {i32()});
    expect_parts(user_error([&] { f(0); }), {"first: it is false: 0 > 1"});
    EXPECT_EQ(printed(), "i32 = 0\n");
    expect_parts(user_error([&] { f(2); }), {"second: it is false: 2 > 2"});
}

TEST_P(Effects, AFunctionInsideAnotherKeepsItsEffects) {
    auto inner = compile(
        [](Tensor x) {
            print_value(x, {.label = "in"});
            for (Tensor i : loop(2)) {
                x += 1;
                print_value(x, {.label = "loop"});
            }
            assert_value(x < 10, "too large");
            return x;
        },
        {i32("k")});
    auto outer = compile(
        [&](Tensor x) {
            for (Tensor i : loop(2)) x = inner(x);
            return x;
        },
        {i32("n")});
    EXPECT_EQ(outer(tensor({1, 2})).to_vector<int>(), (Ints{5, 6}));
    EXPECT_EQ(printed(),
              "in iteration 0 i32[2] = [1 2]\nin iteration 1 i32[2] = [3 4]\n"
              "loop iteration 0, 0 i32[2] = [2 3]\nloop iteration 0, 1 i32[2] = [3 4]\n"
              "loop iteration 1, 0 i32[2] = [4 5]\nloop iteration 1, 1 i32[2] = [5 6]\n");
    expect_parts(user_error([&] {
                     outer(tensor({7, 2}));
                 }),
                 {"too large: 1 of 2 elements fails, at [0] in iteration 1: 11 < 10"});
}

TEST_P(Effects, AnExceptionInABodyDropsItsEffects) {
    EXPECT_THROW(
        {
            for (Tensor i : loop(2)) {
                print_value(i);
                throw std::runtime_error("left");
            }
        },
        std::runtime_error);
    for (Tensor i : loop(1)) print_value(i + 5);
    EXPECT_EQ(printed(), "iteration 0 i32 = 5\n");
}

// --- promises
// -------------------------------------------------------------------------------------

/// Without checks the compiled program trusts the promise; the oracle never does.
class Promises : public Effects {
  protected:
    void SetUp() override { session_.check_promises(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Executors, Promises, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "checked" : "oracle"; });

Tensor stored(const std::vector<int>& at, const ScatterOptions& promise) {
    Tensor x = zeros({4}, i32);
    store(x(tensor(at)), 1 + arange(int(at.size())), promise);
    return x;
}

TEST_P(Promises, ThatAreKeptSayNothing) {
    EXPECT_EQ(stored({3, 9, 0, 9, -2}, {.unique = true}).to_vector<int>(), (Ints{3, 0, 0, 1}));
    EXPECT_EQ(stored({3, 1, 0, 2}, {.permutation = true}).to_vector<int>(), (Ints{3, 2, 4, 1}));
}

TEST_P(Promises, ANegativeNumberAsAnIndexIsWarnedOf) {
    const Tensor x = tensor({1, 2, 3});
    testing::internal::CaptureStderr();
    EXPECT_EQ(Tensor(x(-1)).item<int>(), 1);
    const std::string said = testing::internal::GetCapturedStderr();
    if (GetParam())
        expect_parts(said, {"warning", "effects_test.cpp:", "index of -1", "range(-1, none)"});
    else
        EXPECT_EQ(said, "");
    testing::internal::CaptureStderr();
    const Tensor y = x(index(x, 0) - 1) + wrap(x)(-1) + x(range(-1, none));
    EXPECT_EQ(y.to_vector<int>(), (Ints{7, 7, 8}));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(Promises, PositionsThatMeetAreAnError) {
    expect_parts(
        user_error([] {
            stored({3, 1, 0, 1}, {.unique = true}).to_vector<int>();
        }),
        {"store: it promises that no two positions have the same index", "effects_test.cpp:"});
    expect_parts(user_error([] {
                     stored({3, 1, 0, 1}, {.permutation = true}).to_vector<int>();
                 }),
                 {"no two positions", "effects_test.cpp:"});
}

TEST_P(Promises, AnElementThatIsLeftOutIsAnError) {
    expect_parts(user_error([] {
                     stored({3, 1, 0}, {.permutation = true}).to_vector<int>();
                 }),
                 {"store: it promises a permutation", "effects_test.cpp:"});
}

TEST_P(Promises, OfABranchHoldWhereItIsTaken) {
    Tensor at = tensor({2, 1, 2, 3}), x = zeros({4, 2}, i32);
    if_(arange(4) != 0, [&] { store(x(at), 7, {.permutation = true}); });
    EXPECT_EQ(sum(x, {.axis = 1}).to_vector<int>(), (Ints{0, 14, 14, 14}));
    expect_parts(user_error([&] {
                     if_(arange(4) != 1, [&] { store(x(at), 7, {.unique = true}); });
                     x.to_vector<int>();
                 }),
                 {"no two positions"});
}

TEST_P(Promises, InsideALoopAreCheckedInEveryIteration) {
    auto iteration = [](Tensor x) {
        for (Tensor i : loop(4)) store(x((arange(3) * i) % 4), i, {.unique = true});
        return x;
    };
    auto f = compile(iteration, {i32("n")});
    expect_parts(user_error([&] { f(zeros({4}, i32)); }),
                 {"no two positions"});  // all at 0 in iteration 0
}

TEST_P(Promises, AnUncheckedReadOutsideIsAnError) {
    Tensor x = arange(5);
    EXPECT_EQ(unchecked(x)(tensor({4, 0})).to_vector<int>(), (Ints{4, 0}));
    expect_parts(user_error([&] {
                     unchecked(x)(tensor({4, 5})).to_vector<int>();
                 }),
                 {"unchecked", "effects_test.cpp:"});
}

TEST(CheckOption, TheEnvironmentTurnsItOn) {
    setenv("FIRN_CHECK", "1", 1);
    Session session = Session::interpreter();
    SessionScope scope(session);
    EXPECT_NE(user_error([] { stored({1, 1}, {.unique = true}); }), "");
    unsetenv("FIRN_CHECK");
    SessionScope other(Session::interpreter());
    EXPECT_EQ(user_error([] { stored({1, 1}, {.unique = true}).to_vector<int>(); }), "");
}

}  // namespace
}  // namespace firn
