// Products by native code whose operands are packed: the sums of the oracle.
#include <vector>

#include "tests/device/native_levels.h"

namespace firn {
namespace {

class NativePacked : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativePacked, native_levels(), level_name);

/// A product of [rows, depth] by [depth, columns], of which either may lie in memory transposed.
struct Product {
    int rows, depth, columns;
    bool left = false, right = false;

    std::string text() const {
        return std::to_string(rows) + " x " + std::to_string(depth) + " x " +
               std::to_string(columns) + (left ? ", left transposed" : "") +
               (right ? ", right transposed" : "");
    }
    Tensor of(DType type) const {
        const Tensor a = small_numbers(
            left ? Shape{Size(depth), Size(rows)} : Shape{Size(rows), Size(depth)}, type);
        const Tensor b = small_numbers(
            right ? Shape{Size(columns), Size(depth)} : Shape{Size(depth), Size(columns)}, type);
        return matmul(left ? transpose(a) : a, right ? transpose(b) : b);
    }
};

TEST_P(NativePacked, TransposedFactorsGiveTheSameSums) {
    for (const int rows : {32, 50})
        for (const int columns : {16, 17, 67})
            for (const int depth : {1, 24}) {
                const Product product{rows, depth, columns, false, true};
                expect_equal(product.text(), [&] { return product.of(i32); });
            }
}

TEST_P(NativePacked, LongRowsGiveTheSameSums) {
    for (const Product& product :
         {Product{128, 180, 190}, Product{131, 170, 197}, Product{257, 140, 515, true}})
        expect_equal(product.text(), [&] { return product.of(f64); });
}

TEST_P(NativePacked, EveryTypeIsPacked) {
    const Product product{40, 9, 35, false, true};
    for (const DType type : {f16, f64, i64, u8, i16, u32})
        expect_equal(type.name(), [&] { return sum(product.of(type).as(f64), {.axis = 0}); });
}

TEST_P(NativePacked, MatricesMayStandInBatches) {
    expect_equal("a batch", [] {
        const Tensor a = small_numbers({Size(3), Size(40), Size(11)}, i32),
                     b = small_numbers({Size(3), Size(21), Size(11)}, i32);
        return matmul(a, transpose(b, {0, 2, 1}));
    });
}

TEST_P(NativePacked, WhatFollowsAProductReadsItsOwnElements) {
    expect_equal("an epilogue", [] {
        const Tensor product = Product{40, 13, 37, false, true}.of(i32),
                     added = small_numbers({Size(37)}, i32),
                     each = small_numbers({Size(40), Size(37)}, i32);
        auto [i, j] = indices<2>(product.shape());
        return max(product + added, 5000) * each + i - 3 * j + added(36 - j);
    });
}

TEST_P(NativePacked, TwoProductsMayShareAKernel) {
    expect_equal("two products", [] {
        const Tensor a = small_numbers({Size(64), Size(12)}, i32),
                     b = small_numbers({Size(30), Size(12)}, i32),
                     c = small_numbers({Size(64), Size(5)}, i32),
                     d = small_numbers({Size(30), Size(5)}, i32);
        return matmul(a, transpose(b)) - 2 * matmul(c, transpose(d));
    });
}

TEST_P(NativePacked, AFactorMayChangeInALoopOfKernels) {
    expect_equal("a loop", [] {
        auto f = compile(
            [](Tensor x, Tensor w) {
                for (Tensor k : loop(3)) x = matmul(x, transpose(w)) % 97 + k;
                return x;
            },
            {i32(45, 45), i32(45, 45)});
        return Tensor(f(small_numbers({Size(45), Size(45)}, i32),
                        small_numbers({Size(45), Size(45)}, i32) + 1));
    });
}

TEST_P(NativePacked, SizesMayBeSymbols) {
    auto program = [] {
        auto f = compile([](Tensor a, Tensor b) { return matmul(a, transpose(b)); },
                         {i32(64, "k"), i32("n", "k")});
        std::vector<Tensor> all;
        for (const auto& [k, n] : {std::pair{1, 16}, {9, 70}, {30, 17}, {4, 3}, {5, 1}})
            all.push_back(reshape(Tensor(f(small_numbers({Size(64), Size(k)}, i32),
                                           small_numbers({Size(n), Size(k)}, i32))),
                                  {64 * n}));
        return concat(all);
    };
    expect_equal("symbols", program);
}

}  // namespace
}  // namespace firn
