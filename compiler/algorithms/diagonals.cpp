// Diagonals by the distance of column and row.
#include "compiler/algorithms/diagonals.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reader.h"

namespace firn {

Tensor eye(const Size& rows, const Size& columns, int k, DType dtype, SourceLine line) {
    LineScope at(line);
    auto [i, j] = indices<2>(Shape{rows, columns});
    return (j - i == k).as(dtype);
}

Tensor diag(const Operand& x, const DiagonalOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    const int right = options.offset > 0 ? options.offset : 0, below = right - options.offset;
    if (own.rank() == 1) {
        const Size n = own.size(0) + Size(right + below);
        auto [i, j] = indices<2>(Shape{n, n});
        return select(j - i == options.offset, own(min(i, j)), 0);
    }
    if (own.rank() != 2)
        refuse("diag: x has shape " + text(own.shape()) +
               "; give a vector or a matrix, or see diagonal for a batch");
    const Size count = min(own.size(0) - Size(below), own.size(1) - Size(right));
    const Tensor i = arange(count.lower_bound() < 0 ? max(count, Size(0)) : count);
    return own(i + below, i + right);
}

}  // namespace firn
