// The affine layer.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

/// What a Linear has, and begins with.
struct LinearOptions {
    bool bias = true;
    Initialiser init = nullptr;  ///< of the weight; none: uniform, within 1 / sqrt(in), as torch's
};
/// x weight^T + bias along the last axis: [.., in] to [.., out]. weight [out, in], bias [out].
///
/// Example: after `Linear layer(2, 1, {.bias = false, .init = constant_init(0.5f)});`
/// `layer(tensor({1.0f, 3.0f}))` is `{2}`.
class Linear : public Module {
  public:
    Variable weight, bias;

    /// Without parameters yet.
    Linear() = default;
    /// From `in` to `out` features; the bias is uniform within 1 / sqrt(in). UserError: one of them
    /// below 1.
    Linear(int64_t in, int64_t out, const LinearOptions& options = {}, SourceLine line = here());
    /// x weight^T + bias. UserError where the last axis is not `in`.
    Tensor operator()(const Operand& x) const;
};

}  // namespace firn
