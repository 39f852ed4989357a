// The affine layer.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

/// The options and first values of a Linear.
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

    /// Makes a layer without parameters, to be assigned later.
    Linear() = default;
    /// Maps `in` to `out` features; the first bias is uniform within 1 / sqrt(in). UserError if one
    /// of them is below 1.
    Linear(int64_t in, int64_t out, const LinearOptions& options = {}, SourceLine line = here());
    /// x weight^T + bias. UserError where the last axis is not `in`.
    Tensor operator()(const Operand& x) const;
};

}  // namespace firn
