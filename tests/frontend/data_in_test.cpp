// Elements that users hold in types of their own.
#include <array>
#include <span>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class DataIn : public ::testing::Test {
  protected:
    SessionScope scope_{Session::oracle()};
};

/// A matrix of some library.
struct Matrix {
    double elements[4] = {1, 2, 3, 4};
    const double* data() const { return elements; }
    int size() const { return 4; }
};

TEST_F(DataIn, OfSpansArraysAndMatrices) {
    std::array<int, 3> array{1, 2, 3};
    EXPECT_EQ(tensor(array).to_vector<int>(), (Ints{1, 2, 3}));
    std::span<int> writable(array);
    EXPECT_EQ(tensor(writable, {3, 1}).shape(), (Shape{3, 1}));
    EXPECT_EQ(tensor(writable.subspan(1)).to_vector<int>(), (Ints{2, 3}));
    Tensor matrix = tensor(Matrix(), {2, 2});
    EXPECT_EQ(matrix.dtype(), f64);
    EXPECT_EQ(matrix.to_vector<double>(), (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(DataIn, OfBools) {
    EXPECT_EQ(tensor(std::vector<bool>{true, false}).dtype(), boolean);
    EXPECT_EQ(tensor(std::vector<bool>{true, false}, {2, 1}).to_vector<bool>(),
              (std::vector<bool>{true, false}));
}

TEST_F(DataIn, MustFillTheShape) {
    expect_parts(user_error([&] {
                     tensor(std::array<int, 3>{}, {2, 2});
                 }),
                 {"3 values do not fill shape"});
}

template <class T>
concept MakesATensor = requires(const T& values) {
    tensor(values);
};
static_assert(MakesATensor<std::vector<float>> && !MakesATensor<std::vector<std::string>>);

}  // namespace
}  // namespace firn
