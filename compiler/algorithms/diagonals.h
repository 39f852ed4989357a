// Matrices with one diagonal.
#pragma once
#include "compiler/frontend/indexing.h"

namespace firn {

/// Ones on the diagonal that begins k columns to the right (negative: rows below), as numpy's eye.
Tensor eye(const Size& rows, const Size& columns, int k, DType dtype = f32,
           SourceLine line = here());
/// As numpy's diag: of [n] the matrix with x on a diagonal and 0 elsewhere, [n + |offset|, ..]; of
/// a matrix that diagonal, empty where it lies outside. UserError for other ranks.
Tensor diag(const Operand& x, const DiagonalOptions& options = {});

}  // namespace firn
