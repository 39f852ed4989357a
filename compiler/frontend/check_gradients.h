// Gradients against differences.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// The steps and tolerances of check_gradients().
struct CheckGradientsOptions {
    double step = 1e-5;       ///< the step of the differences, relative beyond 1
    double tolerance = 1e-6;  ///< relative where the derivative is beyond 1
    int directions = 64;      ///< beyond that, elements are moved together, in random directions
    uint64_t seed = 0;        ///< seeds the random weights and directions
};

/// The result of check_gradients(): whether all agree, the largest difference (relative where the
/// derivative is beyond 1), and its place.
struct GradientCheck {
    bool agree = true;
    double worst = 0;
    std::string where;   ///< names the tensor and element, with the derivative by both ways
    int directions = 0;  ///< how many directions were tried
    int not_smooth = 0;  ///< how many of them were not judged
    /// Returns whether all agree.
    explicit operator bool() const { return agree; }
};

/// Compares grad() of f by all `xs` with jvp() and with central differences of f, of a sum of f's
/// elements with random weights. All are computed in f64 by the oracle, in every session. `f` takes
/// tensors of the shapes of `xs` in f64 and gives one. At kinks and steps of f the two may differ,
/// rightly: where they do, and differences of f at several steps and to both sides do not agree
/// with one another either, the direction is not judged.
///
/// Example: after `auto f = [](const std::vector<Tensor>& x) { return sin(x[0]) * x[1]; };`
/// `check_gradients(f, {tensor({0.5f, 1.0f}), tensor({2.0f, 3.0f})}).agree` is `true`.
GradientCheck check_gradients(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                              const std::vector<Tensor>& xs,
                              const CheckGradientsOptions& options = {}, SourceLine line = here());

}  // namespace firn
