// The affine layer.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

struct LinearOptions {
    bool bias = true;
    Initialiser init = nullptr;  // of the weight; none: uniform, within 1 / sqrt(in), as torch's
};
/// x weight^T + bias along the last axis: [.., in] to [.., out]. weight [out, in], bias [out].
/// UserError where the last axis is another.
class Linear : public Module {
  public:
    Variable weight, bias;

    /// Without parameters yet.
    Linear() = default;
    Linear(int64_t in, int64_t out, const LinearOptions& options = {}, SourceLine line = here());
    Tensor operator()(const Operand& x) const;
};

}  // namespace firn
