// Integer arithmetic of users wraps around, also where sizes are symbols: no size is refused for
// it.
#include <gtest/gtest.h>

#include "compiler/language.h"

namespace firn {
namespace {

int by(const Session& session, Tensor (*function)(Tensor), int64_t n) {
    SessionScope scope(session);
    const auto compiled = compile(function, {f32("n")});
    return compiled(tensor(std::vector<float>(static_cast<size_t>(n)))).item<int>();
}

Tensor negative_products(Tensor x) {
    const Tensor i = index({x.shape()[0]}, 0);
    return sum((i * i < 0).as(i32)) + sum((i * i * i < 0).as(i32));
}

Tensor small_product(Tensor x) { return (prod(index({x.shape()[0]}, 0) + 1) <= 1).as(i32); }

TEST(Wrapping, ProductsOfSymbolicIndices) {
    for (int64_t n : {8, 2000, 100000})
        EXPECT_EQ(by(Session::interpreter(), negative_products, n),
                  by(Session::oracle(), negative_products, n))
            << n;
    EXPECT_EQ(by(Session::interpreter(), negative_products, 100000), 80986);
}

TEST(Wrapping, AProductOverASymbolicAxis) {
    for (int64_t n : {0, 1, 2, 100})
        EXPECT_EQ(by(Session::interpreter(), small_product, n),
                  by(Session::oracle(), small_product, n))
            << n;
}

}  // namespace
}  // namespace firn
