// Elements that users hold in types of their own.
#include <array>
#include <span>
#include <vector>

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

/// Looks like Eigen's matrices and maps; columns first.
template <class T>
struct ColumnsFirst {
    T* elements;
    long height, width;
    long rows() const { return height; }
    long cols() const { return width; }
    long size() const { return height * width; }
    long rowStride() const { return 1; }
    long colStride() const { return height; }
    T* data() const { return elements; }
};
/// Looks like a std::mdspan.
template <class T>
struct Mdspan {
    T* elements;
    std::array<size_t, 3> extents, strides;
    static constexpr size_t rank() { return 3; }
    size_t extent(size_t axis) const { return extents.at(axis); }
    size_t stride(size_t axis) const { return strides.at(axis); }
    T* data_handle() const { return elements; }
};

TEST_F(DataIn, OfViewsWithStrides) {
    std::vector<double> memory{1, 2, 3, 4, 5, 6};
    const Tensor matrix = tensor(ColumnsFirst<const double>{memory.data(), 2, 3});
    EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
    EXPECT_EQ(matrix.dtype(), f64);
    EXPECT_EQ(matrix.to_vector<int>(), (Ints{1, 3, 5, 2, 4, 6}));
    EXPECT_EQ(tensor(ColumnsFirst<double>{memory.data(), 2, 3}, {3, 2}).to_vector<int>(),
              (Ints{1, 3, 5, 2, 4, 6}));
    const Tensor box = tensor(Mdspan<double>{memory.data(), {2, 1, 2}, {3, 3, 2}});
    EXPECT_EQ(box.shape(), (Shape{2, 1, 2}));
    EXPECT_EQ(box.to_vector<int>(), (Ints{1, 3, 4, 6}));
}

TEST_F(DataIn, OutToMemoryOfTheUsers) {
    const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
    std::vector<float> memory(6);
    copy_to(x, memory);
    EXPECT_EQ(memory, (Floats{1, 2, 3, 4, 5, 6}));
    copy_to(x * 2, ColumnsFirst<float>{memory.data(), 2, 3});
    EXPECT_EQ(memory, (Floats{2, 8, 4, 10, 6, 12}));
    copy_to(x(1), ColumnsFirst<float>{memory.data(), 3, 1});  // a column
    copy_to(reshape(x(0), {1, 3, 1}), Mdspan<float>{memory.data() + 1, {1, 3, 1}, {1, 2, 1}});
    EXPECT_EQ(memory, (Floats{4, 1, 6, 2, 6, 3}));
    std::array<int, 2> few{};
    copy_to(x(0, range(2)), std::span<int>(few));
    EXPECT_EQ(few, (std::array<int, 2>{1, 2}));
    expect_parts(user_error([&] { copy_to(x, std::span<int>(few)); }),
                 {"copy_to", "[2, 3]", "2 elements", "data_in_test.cpp:"});
    expect_parts(user_error([&] {
                     copy_to(x, ColumnsFirst<float>{memory.data(), 3, 2});
                 }),
                 {"copy_to", "[2, 3]", "[3, 2]", "data_in_test.cpp:"});
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
