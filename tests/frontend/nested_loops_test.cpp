// Loops inside loops of one kernel: each value that they carry is asked where it is needed, and
// nowhere else.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class NestedLoops : public ::testing::TestWithParam<const char*> {
  protected:
    static Session session() {
        const std::string name = GetParam();
        if (name == "oracle") return Session::oracle();
        return name == "gpu" ? Session::interpreter(gpu_profile()) : Session::interpreter();
    }
    SessionScope scope_{session()};
};
INSTANTIATE_TEST_SUITE_P(Executors, NestedLoops, ::testing::Values("oracle", "cpu", "gpu"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(NestedLoops, AnInnerLoopIsAsLongAsTheIterationOfOneThatTheDataMayEnd) {
    Tensor x = zeros({1}, i32), limit = tensor({400});
    for (Tensor i : loop(17)) {
        for (Tensor j : loop(i + 1)) x = x + j;
        if_(limit(0) < i, [] { break_(); });
    }
    EXPECT_EQ(x.to_vector<int>(), (Ints{816}));
}

TEST_P(NestedLoops, OneOfTheValuesOfALoopInsideIsAskedElsewhere) {
    Tensor x = tensor({7, 7});
    for ([[maybe_unused]] Tensor iteration : loop(3)) {
        Tensor y = arange(2);
        for ([[maybe_unused]] Tensor inner : loop(2)) y = y * 3, x = x + y;
        x = x + y(1);
    }
    EXPECT_EQ(x.to_vector<int>(), (Ints{34, 70}));
}

TEST_P(NestedLoops, OneOfTheValuesOfALoopInsideIsHowLongAnotherOneRuns) {
    Tensor x = zeros({1, 2}, i32);
    {
        Tensor y = x - Tensor(1).as(i64);
        for ([[maybe_unused]] Tensor iteration : loop(3)) {
            y = prod(index({1, 1, 2}, 2), {.axis = Axes{0}});
            Tensor z = 1;
            while_([&] { return z < 2; }, [&] { x = y, y = x; }, {.max_steps = 1});
            for ([[maybe_unused]] Tensor inner : loop(wrap(y)(1, 1))) x = index({1, 2}, 0);
        }
    }
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 0}));
}

TEST_P(NestedLoops, OneOfTheValuesOfALoopInsideIsAskedAcross) {
    Tensor x = zeros({2, 2}, i32), y = reshape(tensor({1, 2, 3, 4}), {2, 2});
    for ([[maybe_unused]] Tensor iteration : loop(2)) {
        Tensor across = transpose(y);
        for ([[maybe_unused]] Tensor inner : loop(2)) x = x + 1, across = across * 2;
        y = transpose(across);
    }
    EXPECT_EQ((x + y).to_vector<int>(), (Ints{20, 36, 52, 68}));
}

TEST_P(NestedLoops, ANumberAsksALoopInsideForOneElementOfOneValue) {
    auto f = compile(
        [](Tensor number, Tensor vector) {
            for ([[maybe_unused]] Tensor iteration : loop(3)) {
                Tensor y = arange(3);
                for ([[maybe_unused]] Tensor inner : loop(2)) y = y + 1, vector = vector + y;
                number = number + y(1);
            }
            return std::tuple{number, vector};
        },
        {i32(), i32(3)});
    const auto [number, vector] = f(0, zeros({3}, i32));
    EXPECT_EQ(number.item<int>(), 9);
    EXPECT_EQ(vector.to_vector<int>(), (Ints{9, 15, 21}));
}

// Found by random programs: one element was asked at an index of another rank than its kernel's.
TEST(OneElement, HasOneIndexWhateverTheRank) {
    SessionScope scope(Session::interpreter());
    Tensor x = full({1, 1, 1}, 3.0f), y = x;
    for (Tensor k : loop(2)) {
        if_(k >= 1, [&] { break_(); });
        kernel(x.shape(), [&](Tensor a, Tensor b, Tensor c) { x(a, b, c) = 1.0f; });
        y = reshape(full({1, 1, 1, 1}, 2.0f) - x, {1, 1, 1});
    }
    EXPECT_EQ(y.to_vector<float>(), Floats{1});
}

}  // namespace
}  // namespace firn
