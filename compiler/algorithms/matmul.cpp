// A matrix product is an expanded product and a sum; the scheduler makes it a kernel.
#include "compiler/algorithms/matmul.h"

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// Only here a line scope: outside of one, shapes are read back where only the device knows them.
[[noreturn]] void refuse_at(SourceLine line, const std::string& message) {
    LineScope at(line);
    refuse("matmul: " + message);
}

}  // namespace

Tensor matmul(const Operand& a, const Operand& b) {
    SourceLine line = a.line();
    Tensor x = a.tensor(), y = b.tensor();
    const Shape left = x.shape(line), right = y.shape(line);
    if (left.empty() || right.empty())
        refuse_at(line, "a is " + text(left) + " and b is " + text(right) +
                            "; a scalar has no rows or columns, multiply by *");
    bool row = left.size() == 1, column = right.size() == 1;
    const Size& inner = left.back();
    const Size& inner_b = column ? right[0] : right[right.size() - 2];
    bool never_equal = (inner - inner_b).is_constant() && !(inner == inner_b);
    if (never_equal || inner.is(1) != inner_b.is(1))
        refuse_at(line, "inner sizes differ, a is " + text(left) + " and b is " + text(right) +
                            "; transpose one operand");
    if (row) x = unsqueeze(a, 0);
    if (column) y = unsqueeze(b, -1);
    // Products of halves, too, are exact in f32.
    const DType half = x.dtype(line);
    const bool halves = half.is_half() && y.dtype(line) == half;
    if (halves) x = x.as(f32, line), y = y.as(f32, line);
    Tensor terms =
        Arg(unsqueeze(Operand(x, line), -1), line) * Arg(unsqueeze(Operand(y, line), -3), line);
    Tensor product = sum(Operand(terms, line), {.axis = -2});
    if (halves) product = product.as(half, line);
    if (column) product = squeeze(Operand(product, line), {.axis = -1});
    if (row) product = squeeze(Operand(product, line), {.axis = column ? -1 : -2});
    return product;
}

}  // namespace firn
