// Pictures that are changed at random, so that there are more of them.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The largest changes: numbers or tensors of rank 0, such as arguments that sliders change.
struct RandomMoveOptions {
    std::optional<Tensor> turn = std::nullopt;     ///< radians
    std::optional<Tensor> shift = std::nullopt;    ///< pixels, down and across
    std::optional<Tensor> stretch = std::nullopt;  ///< share of the size, below 1
    bool flip = false;                             ///< half of them are mirrored
    /// See RandomOptions.
    std::optional<Tensor> seed = std::nullopt, stream = std::nullopt;
};
/// Every picture of x, f32 [batch, n, m] or [batch, channels, n, m], mirrored, stretched and turned
/// about its middle, and shifted, by chances of its own; linear between pixels, 0 outside. One
/// elementwise kernel. UserError: another rank or type.
///
/// Examples: after `Tensor x = tensor({1.0f, 2.0f}, {1, 1, 2});` `random_move(x, {.seed = 1})` is
/// `{{{1, 2}}}`, `sum(random_move(x, {.flip = true, .seed = 1}))` is `3`.
Tensor random_move(const Operand& x, const RandomMoveOptions& options, SourceLine line = here());

}  // namespace firn
