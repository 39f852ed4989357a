// Reading and storing by index: bounds modes, versions, traps of the notation.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Accesses = OracleTest;

TEST_F(Accesses, ReadingOutsideClamps) {
    Tensor u = tensor({1, 2, 3}), i = index(u, 0);
    EXPECT_EQ(u(i - 1).to_vector<int>(), (Ints{1, 1, 2}));
    EXPECT_EQ(u(i + 1).to_vector<int>(), (Ints{2, 3, 3}));
}

TEST_F(Accesses, WrapGoesAround) {
    Tensor u = tensor({1, 2, 3}), i = index(u, 0);
    EXPECT_EQ(wrap(u)(i - 1).to_vector<int>(), (Ints{3, 1, 2}));
}

TEST_F(Accesses, MirrorRepeatsTheEdge) {
    Tensor u = tensor({1, 2, 3}), i = index(u, 0);
    EXPECT_EQ(mirror(u)(i - 2).to_vector<int>(), (Ints{2, 1, 1}));
}

TEST_F(Accesses, ZeroReadsZeroOutside) {
    Tensor u = tensor({1, 2, 3}), i = index(u, 0);
    EXPECT_EQ(zero(u)(i + 1).to_vector<int>(), (Ints{2, 3, 0}));
}

TEST_F(Accesses, FillReadsTheValueOutside) {
    Tensor u = tensor({1.0f, 2.0f}), i = index(u, 0);
    EXPECT_EQ(fill(u, -1)(i - 1).to_vector<float>(), (Floats{-1, 1}));
}

TEST_F(Accesses, UncheckedReadsInside) {
    Tensor u = tensor({1, 2, 3}), i = index(u, 0);
    EXPECT_EQ(unchecked(u)(2 - i).to_vector<int>(), (Ints{3, 2, 1}));
}

TEST_F(Accesses, AccessesAddLikeTensors) {
    Tensor u = tensor({1, 2, 3}), i = index(u, 0);
    EXPECT_EQ((u(i - 1) + u(i + 1)).to_vector<int>(), (Ints{3, 4, 5}));
}

TEST_F(Accesses, AccessIsAnArgumentOfAFunction) {
    Tensor u = tensor({4.0f, 9.0f}), i = index(u, 0);
    EXPECT_EQ(sqrt(u(1 - i)).to_vector<float>(), (Floats{3, 2}));
}

TEST_F(Accesses, AccessWithANumber) {
    Tensor u = tensor({4.0f, 9.0f});
    EXPECT_EQ((2 * u(1)).item<float>(), 18);
}

TEST_F(Accesses, MinusAndNotOfAnAccess) {
    Tensor u = tensor({4, 9});
    EXPECT_EQ((-u(0)).item<int>(), -4);
    EXPECT_EQ((~u(1)).item<int>(), ~9);
}

TEST_F(Accesses, FewerIndicesReadWholeRows) {
    Tensor u = tensor({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(u(1).to_vector<int>(), (Ints{3, 4}));
}

TEST_F(Accesses, FewerIndicesStoreWholeRows) {
    Tensor u = zeros({2, 2}, i32);
    u(1) = tensor({5, 6});
    EXPECT_EQ(u.to_vector<int>(), (Ints{0, 0, 5, 6}));
}

TEST_F(Accesses, StoreFromAnotherAccessStores) {
    Tensor u = tensor({1, 2, 3}), v = tensor({7, 8, 9});
    u(0) = v(2);
    EXPECT_EQ(u.to_vector<int>(), (Ints{9, 2, 3}));
}

TEST_F(Accesses, CompoundStoresReadTheirElement) {
    Tensor u = tensor({1, 2, 3});
    u(0) += 10;
    u(1) -= 1;
    u(2) *= 3;
    EXPECT_EQ(u.to_vector<int>(), (Ints{11, 1, 9}));
}

TEST_F(Accesses, StoreOutsideIsDropped) {
    Tensor u = tensor({1, 2, 3});
    u(3) = 9;
    u(-1) = 9;
    EXPECT_EQ(u.to_vector<int>(), (Ints{1, 2, 3}));
}

TEST_F(Accesses, LastStoreWinsWhereIndicesCollide) {
    Tensor u = zeros({2}, i32);
    u(tensor({0, 0, 1})) = tensor({5, 6, 7});
    EXPECT_EQ(u.to_vector<int>(), (Ints{6, 7}));
}

TEST_F(Accesses, StoreCastsToTheTensorsType) {
    Tensor u = zeros({1}, i32);
    u(0) = 2.75f;
    EXPECT_EQ(u.item<int>(), 2);
}

TEST_F(Accesses, AccessKeepsTheVersionOfItsCreation) {
    Tensor u = tensor({1, 2});
    auto first = u(0);
    u(0) = 5;
    EXPECT_EQ(Tensor(first).item<int>(), 1);
}

TEST_F(Accesses, TupleOfAccessesDecaysInCompile) {
    auto swap = compile([](Tensor u) { return std::tuple{u(1), u(0)}; }, {i32(2)});
    auto [a, b] = swap(tensor({1, 2}));
    EXPECT_EQ(a.item<int>(), 2);
    EXPECT_EQ(b.item<int>(), 1);
}

TEST_F(Accesses, ExpressionIsIndexedToo) {
    Tensor u = tensor({1, 2});
    EXPECT_EQ((u + 1)(1).item<int>(), 3);
}

TEST_F(Accesses, FloatIndexIsAnError) {
    Tensor u = tensor({1, 2});
    expect_parts(user_error([&] { Tensor x = u(0.5f); }),
                 {"index 0 is f32", "cast", "access_test.cpp:"});
}

TEST_F(Accesses, TooManyIndicesAreAnError) {
    Tensor u = tensor({1, 2});
    expect_parts(user_error([&] { Tensor x = u(0, 0); }),
                 {"2 indices", "1 axes", "access_test.cpp:"});
}

TEST_F(Accesses, EmptyTensorReadsZero) {
    Tensor u = zeros({0});
    EXPECT_EQ(u(0).item<float>(), 0);
}

TEST_F(Accesses, ElementsChangeByEveryOperator) {
    Tensor x = tensor({7, 7, 7, 7, 7, 7, 7, 7});
    x(0) %= 4;
    x(1) &= 3;
    x(2) |= 8;
    x(3) ^= 1;
    x(4) <<= 1;
    x(5) >>= 1;
    x(6)++;
    --x(7);
    EXPECT_EQ(x.to_vector<int>(), (Ints{3, 3, 15, 6, 14, 3, 8, 6}));
    x(x > 7) |= 16;
    EXPECT_EQ(x.to_vector<int>(), (Ints{3, 3, 31, 6, 30, 3, 24, 6}));
    expect_parts(user_error([&] {
                     Tensor y = zeros({2});
                     y(0) |= 1;
                 }),
                 {"integers and bools", "access_test.cpp"});
}

TEST_F(Accesses, TensorFillIsAnError) {
    Tensor u = tensor({1, 2});
    expect_parts(user_error([&] { Tensor x = fill(u, u(0))(3); }),
                 {"fill", "known while recording"});
}

}  // namespace
}  // namespace firn
