// The logistic function, with derivatives of every order that neither overflow nor cancel.
#pragma once
#include "compiler/ir/builder.h"

namespace firn {

/// y = 1 / (1 + exp(-x)) of a float x; f16 and bf16 are cast to f32 before. Its derivative is
/// y (1 - y), with 1 - y as logistic_complement() gives it.
Ref logistic(const Builder& b, const Ref& x);
/// 1 - y of y = logistic(x), to the last digits also where y is next to 1. Its derivative is
/// -y (1 - y): all derivatives of both are products of both.
Ref logistic_complement(const Builder& b, const Ref& x, const Ref& y);

}  // namespace firn
