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

TEST(Wrapping, ProductsOfSymbolicIndices) {
    for (int64_t n : {8, 2000, 100000})
        EXPECT_EQ(by(Session::interpreter(), negative_products, n),
                  by(Session::oracle(), negative_products, n))
            << n;
    EXPECT_EQ(by(Session::interpreter(), negative_products, 100000), 80986);
}

// The product of sixteen unrolled iterations is bounded by no number of 64 bits.
TEST(Wrapping, AProductOverASymbolicAxis) {
    const auto run = [](const Session& session, int64_t n) {
        SessionScope scope(session);
        const auto compiled = compile(
            [](Tensor x) {
                if_(prod(index({x.shape()[0]}, 0), {.axis = Axes{0}}) <= 1, [&] { x = x + 1; });
                return x;
            },
            {f32("n")});
        return compiled(tensor(std::vector<float>(static_cast<size_t>(n), 1.5f)))
            .to_vector<float>();
    };
    for (int64_t n : {0, 1, 8, 100})
        EXPECT_EQ(run(Session::interpreter(), n), run(Session::oracle(), n)) << n;
}

}  // namespace
}  // namespace firn
