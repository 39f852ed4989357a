// Matrices with one diagonal.
#pragma once
#include "compiler/frontend/indexing.h"

namespace firn {

/// Ones on the diagonal that begins k columns to the right (negative: rows below), as numpy's eye.
///
/// Examples: `eye(2, 3, 1)` is `{{0, 1, 0}, {0, 0, 1}}`, `eye(2, 2, -1)` is `{{0, 0}, {1, 0}}`.
Tensor eye(const Size& rows, const Size& columns, int k, DType dtype = f32,
           SourceLine line = here());
/// The matrix [n + |offset|, ..] with x on a diagonal and 0 elsewhere, if x is [n]; that diagonal
/// of x if x is a matrix, empty if it lies outside. It works like numpy's diag. UserError for other
/// ranks.
///
/// Examples: `diag(tensor({1, 2}))` is `{{1, 0}, {0, 2}}`,
/// `diag(tensor({1, 2, 3, 4}, {2, 2}), {.offset = 1})` is `{2}`.
Tensor diag(const Operand& x, const DiagonalOptions& options = {});

}  // namespace firn
