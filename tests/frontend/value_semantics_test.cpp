// A Tensor is a value: copies, assignments and stores never show through another handle.
#include <algorithm>
#include <optional>
#include <utility>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Values = OracleTest;

TEST_F(Values, OldCopySurvivesCompoundAssignment) {
    Tensor x = tensor({1.0f, 2.0f});
    Tensor old = x;
    x += 1.0f;
    EXPECT_EQ(old.to_vector<float>(), (Floats{1, 2}));
    EXPECT_EQ(x.to_vector<float>(), (Floats{2, 3}));
}

TEST_F(Values, OldCopySurvivesAStore) {
    Tensor x = tensor({1.0f, 2.0f, 3.0f});
    Tensor old = x;
    x(1) = 9.0f;
    EXPECT_EQ(old.to_vector<float>(), (Floats{1, 2, 3}));
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 9, 3}));
}

TEST_F(Values, SiblingCopyIsNotAliased) {
    Tensor x = tensor({1.0f});
    Tensor y = x;
    y += 1.0f;
    x += 10.0f;
    EXPECT_EQ(x.item<float>(), 11);
    EXPECT_EQ(y.item<float>(), 2);
}

TEST_F(Values, OldCopySurvivesAnAssignmentInALoop) {
    Tensor x = 1.0f;
    Tensor old = x;
    for (Tensor i : loop(3)) x += 1.0f;
    EXPECT_EQ(old.item<float>(), 1);
    EXPECT_EQ(x.item<float>(), 4);
}

TEST_F(Values, CopyMadeInALoopKeepsTheValueOfThatMoment) {
    Tensor x = 1.0f, sum_of_old = 0.0f;
    for (Tensor i : loop(3)) {
        Tensor old = x;
        x *= 2.0f;
        sum_of_old += old;
    }
    EXPECT_EQ(x.item<float>(), 8);
    EXPECT_EQ(sum_of_old.item<float>(), 1 + 2 + 4);
}

TEST_F(Values, StdSwapSwaps) {
    Tensor a = 1.0f, b = 2.0f;
    std::swap(a, b);
    EXPECT_EQ(a.item<float>(), 2);
    EXPECT_EQ(b.item<float>(), 1);
}

TEST_F(Values, StdSwapInALoopIsCarried) {
    Tensor a = 1.0f, b = 2.0f;
    for (Tensor i : loop(3)) std::swap(a, b);
    EXPECT_EQ(a.item<float>(), 2);
    EXPECT_EQ(b.item<float>(), 1);
}

struct Held {
    Tensor position, velocity;
};

TEST_F(Values, StructOfTensorsIsCopied) {
    Held state{0.0f, 1.0f};
    Held old = state;
    state.position += state.velocity;
    EXPECT_EQ(old.position.item<float>(), 0);
    EXPECT_EQ(state.position.item<float>(), 1);
}

TEST_F(Values, StructOfTensorsIsCarried) {
    Held state{0.0f, 1.0f};
    for (Tensor i : loop(4)) {
        Held next = state;
        next.position += next.velocity;
        next.velocity *= 2.0f;
        state = next;
    }
    EXPECT_EQ(state.position.item<float>(), 1 + 2 + 4 + 8);
    EXPECT_EQ(state.velocity.item<float>(), 16);
}

TEST_F(Values, VectorOfTensorsGrows) {
    std::vector<Tensor> all;
    for (int k = 0; k < 20; ++k) all.push_back(Tensor(k));
    EXPECT_EQ(all[0].item<int>(), 0);
    EXPECT_EQ(all[19].item<int>(), 19);
}

TEST_F(Values, VectorOfTensorsGrowsInsideARecordedLoop) {
    Tensor total = 0;
    for (Tensor i : loop(4)) {
        std::vector<Tensor> local;
        for (int k = 0; k < 5; ++k) local.push_back(i * k);
        for (const Tensor& each : local) total += each;
    }
    EXPECT_EQ(total.item<int>(), (0 + 1 + 2 + 3) * (0 + 1 + 2 + 3 + 4));
}

TEST_F(Values, ElementsOfAnOuterVectorAreCarried) {
    std::vector<Tensor> both{Tensor(0), Tensor(10)};
    for (Tensor i : loop(3)) {
        both[0] += 1;
        both[1] -= 1;
    }
    EXPECT_EQ(both[0].item<int>(), 3);
    EXPECT_EQ(both[1].item<int>(), 7);
}

TEST_F(Values, MovedFromTensorKeepsItsValue) {
    Tensor a = 3.0f;
    Tensor b = std::move(a);
    a += 1.0f;
    EXPECT_EQ(b.item<float>(), 3);
    EXPECT_EQ(a.item<float>(), 4);
}

TEST_F(Values, StoreReadsTheVersionBeforeIt) {
    Tensor u = tensor({1.0f, 2.0f, 3.0f, 4.0f});
    Tensor i = index(u, 0);
    u(i) = u(i - 1);
    EXPECT_EQ(u.to_vector<float>(), (Floats{1, 1, 2, 3}));
}

TEST_F(Values, TensorWithoutAValueIsAnErrorWithTheLine) {
    Tensor x;
    expect_parts(user_error([&] { x.to_vector<float>(); }),
                 {"no value yet", "value_semantics_test.cpp:"});
}

TEST_F(Values, TensorsOfTwoSessionsDoNotMix) {
    Tensor x = tensor({1.0f});
    Session other = Session::oracle();
    SessionScope inner(other);
    expect_parts(user_error([&] { Tensor y = x + 1.0f; }),
                 {"another session", "value_semantics_test.cpp:"});
}

static_assert(!std::is_constructible_v<bool, Tensor>, "a native if on a tensor does not compile");
static_assert(!std::is_convertible_v<Tensor, bool>);
static_assert(!std::is_assignable_v<Access&, float>,
              "auto a = u(i); a = v; would store nothing one can see");
static_assert(std::is_same_v<decltype(std::declval<const Tensor&>()(0)), Tensor>,
              "reading a const tensor gives a value, so that nothing is stored to it silently");
static_assert(!std::is_assignable_v<Tensor, float>, "a temporary value cannot be assigned");

template <class T>
concept HasLogicalAnd = requires(T a, T b) {
    a&& b;
};
static_assert(!HasLogicalAnd<Tensor>);

}  // namespace
}  // namespace firn
