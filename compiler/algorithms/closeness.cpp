// Comparisons with a tolerance.
#include "compiler/algorithms/closeness.h"

#include "compiler/algorithms/real.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

Tensor equal_elements(const Tensor& a, const Tensor& b, bool equal_nan) {
    if (!equal_nan || !a.dtype().is_float()) return a == b;
    return (a == b) | (is_nan(a) & is_nan(b));
}

}  // namespace

Tensor isclose(const Operand& a, const Arg& b, const ClosenessOptions& options) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b});
    const Tensor x = as_wide(in[0]), y = as_wide(in[1]);
    const Tensor near = abs(x - y) <= abs(y) * options.rtol + options.atol;
    return equal_elements(in[0], in[1], options.equal_nan) | (near & !is_inf(x) & !is_inf(y));
}

Tensor allclose(const Operand& a, const Arg& b, const ClosenessOptions& options) {
    LineScope at(a.line());
    return all(isclose(a, b, options));
}

Tensor array_equal(const Operand& a, const Operand& b, const EqualOptions& options) {
    LineScope at(a.line());
    const Shape first = a.tensor().shape(), second = b.tensor().shape();
    Tensor same = full({}, first.size() == second.size());
    for (size_t k = 0; k < first.size() && first.size() == second.size(); ++k) {
        if (first[k] == second[k]) continue;
        if ((first[k] - second[k]).is_constant()) return full({}, false);
        same = same & (Tensor(first[k]) == Tensor(second[k]));
    }
    if (first.size() != second.size()) return same;
    const std::vector<Tensor> in = meet({a, b});
    return same & all(equal_elements(in[0], in[1], options.equal_nan));
}

}  // namespace firn
