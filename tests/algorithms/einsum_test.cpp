// Einsum against the operations that it stands for.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Tensor random(const Shape& shape, uint32_t seed) {
    return tensor(random_floats(static_cast<size_t>(element_count(shape).constant()), seed), shape);
}

/// Both give the same values, in all ways of evaluation.
template <class Made, class Plain>
void expect_same(const Made& made, const Plain& plain) {
    Floats expected;
    Shape shape;
    {
        SessionScope scope(Session::oracle());
        Tensor value = plain();
        expected = value.template to_vector<float>();
        shape = value.shape();
        EXPECT_EQ(Shape(made().shape()), shape);
    }
    expect_values(made, expected, 1e-5);
}

TEST(Einsum, MatrixProduct) {
    expect_same(
        [] {
            return einsum("ij,jk->ik", {random({3, 4}, 1), random({4, 5}, 2)});
        },
        [] {
            return matmul(random({3, 4}, 1), random({4, 5}, 2));
        });
}

/// In f16 the products would be infinite, and their sum nan.
TEST(Einsum, ProductsOfHalvesAreTakenInF32) {
    auto row = [] { return tensor(Floats{300, 300}, {1, 2}).as(f16); };
    auto column = [] { return tensor(Floats{300, -300}, {2, 1}).as(f16); };
    expect_values([&] { return matmul(row(), column()).as(f32); }, Floats{0});
    expect_values([&] { return einsum("ij,jk->ik", {row(), column()}).as(f32); }, Floats{0});
    EXPECT_EQ(matmul(row().as(bf16), column().as(bf16)).dtype(), bf16);
    EXPECT_EQ(einsum("ij,jk->ik", {row().as(bf16), column()}).dtype(), f32);
    EXPECT_EQ(matmul(row(), column()).dtype(), f16);
    EXPECT_EQ(einsum("ij,jk->ik", {row(), column()}).dtype(), f16);
}

TEST(Einsum, WithoutAnArrowLettersThatOccurOnceStay) {
    expect_same(
        [] {
            return einsum("kj,ji", {random({3, 4}, 1), random({4, 5}, 2)});
        },
        [] {
            return transpose(matmul(random({3, 4}, 1), random({4, 5}, 2)));
        });
}

TEST(Einsum, TransposesSumsAndTakesDiagonals) {
    expect_same(
        [] {
            return einsum("ij->ji", {random({3, 4}, 1)});
        },
        [] {
            return transpose(random({3, 4}, 1));
        });
    expect_same(
        [] {
            return einsum("ij->", {random({3, 4}, 1)});
        },
        [] {
            return sum(random({3, 4}, 1));
        });
    expect_same(
        [] {
            return einsum("ii->i", {random({4, 4}, 1)});
        },
        [] {
            return diagonal(random({4, 4}, 1));
        });
    expect_same(
        [] {
            return einsum("ii", {random({4, 4}, 1)});
        },
        [] {
            return trace(random({4, 4}, 1));
        });
}

TEST(Einsum, OuterProduct) {
    expect_same(
        [] {
            return einsum("i,j->ij", {random({3}, 1), random({4}, 2)});
        },
        [] { return unsqueeze(random({3}, 1), 1) * random({4}, 2); });
}

TEST(Einsum, DotsStandForABatch) {
    expect_same(
        [] {
            return einsum("...ij,...jk->...ik", {random({2, 3, 4}, 1), random({4, 5}, 2)});
        },
        [] {
            return matmul(random({2, 3, 4}, 1), random({4, 5}, 2));
        });
}

TEST(Einsum, ThreeOperands) {
    expect_same(
        [] {
            return einsum("i,ij,j", {random({3}, 1), random({3, 4}, 2), random({4}, 3)});
        },
        [] {
            return sum(unsqueeze(random({3}, 1), 1) * random({3, 4}, 2) * random({4}, 3));
        });
}

TEST(Einsum, OfSymbolicSizes) {
    expect_same(
        [] {
            auto f = compile(
                [](Tensor a, Tensor b) {
                    return einsum("bij,bjk->bik", {a, b});
                },
                {f32("b", "n", "m"), f32("b", "m", "k")});
            return f(random({2, 3, 4}, 1), random({2, 4, 5}, 2));
        },
        [] {
            return matmul(random({2, 3, 4}, 1), random({2, 4, 5}, 2));
        });
}

TEST(Einsum, MistakesShowTheText) {
    auto message = [](const std::string& text, const std::vector<Shape>& shapes) {
        return error_of([&] {
            std::vector<Tensor> operands;
            for (const Shape& shape : shapes) operands.push_back(zeros(shape));
            einsum(text, operands);
        });
    };
    expect_message(message("ij,jk", {{2, 3}}),
                   {"\"ij,jk\"", "1 tensors", "2 operands", "einsum_test.cpp:"});
    expect_message(message("ijk->i", {{2, 3}}), {"\"ijk\"", "[2, 3]"});
    expect_message(message("ij,jk->ik", {{2, 3}, {4, 5}}), {"'j'", "3", "4"});
    expect_message(message("ij->iz", {{2, 3}}), {"'z'", "no operand"});
    expect_message(message("ij->ii", {{2, 3}}), {"'i'", "twice"});
    expect_message(message("i1->i", {{2, 3}}), {"'1'"});
    expect_message(message("ii", {{2, 3}}), {"'i'", "2", "3"});
    expect_message(message("...i->i", {{2, 3}}), {"'...'"});
}

}  // namespace
}  // namespace firn
