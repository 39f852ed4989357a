// The quasi-Newton method for smooth problems that evaluate the whole loss at every step.
#pragma once
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

/// The options of an LBFGS.
struct LBFGSOptions {
    float lr = 1.0f;       ///< the first length that a line search tries
    int history = 10;      ///< pairs of differences that stand for the second derivative
    int line_search = 20;  ///< lengths that are tried, each half of the one before
};

/// Limited-memory BFGS: the direction by the two-loop recursion, its length by halving until the
/// loss falls by at least 1e-4 of the decrease that its slope predicts (L. Armijo, 1966). Pairs
/// without positive curvature are left out. If no length satisfies this, nothing changes. A handle;
/// parameters are f32. D. Liu and J. Nocedal, "On the limited memory BFGS method for large scale
/// optimization", 1989.
///
///     LBFGS lbfgs(net.parameters());
///     auto step = compile({net, lbfgs}, [&](Tensor x, Tensor y) {
///         return lbfgs.step([&] { return mse_loss(net(x), y); });
///     }, {f32("n", 2), f32("n", 1)});
///
/// Example: after `Variable w({1}, constant_init(0), true); LBFGS lbfgs({{"w", w}});`
/// `for (int k = 0; k < 2; ++k) lbfgs.step([&] { return sum(square(w.value() - 3.0f)); });`
/// `w.value()` is `{3}`.
class LBFGS {
  public:
    /// UserError: no parameters, or some that are not f32; a history or a line search below 1.
    explicit LBFGS(const std::vector<NamedVariable>& parameters, const LBFGSOptions& options = {},
                   SourceLine line = here());

    /// Makes a step, and returns the loss before it. `loss` is recorded three times, with other
    /// parameters each time, so it must not change other variables. Inside `compile({net, lbfgs},
    /// ..)` all of it is one program.
    Tensor step(const Callback<Tensor()>& loss, SourceLine line = here()) const;
    /// The number "lr", which a slider may change.
    float& lr() const { return lr_.value(); }
    /// Begins again, without its estimate of the second derivative.
    void reset(SourceLine line = here()) const;
    /// Parameters, its own variables (`optimizer.s`) and the number `optimizer.lr`.
    operator State() const;

  private:
    struct Point {
        Tensor x, gradient;
    };
    /// The loss with the parameters of `x`, all of them as one vector.
    Tensor loss_at(const Tensor& x, const Callback<Tensor()>& loss) const;
    std::vector<Tensor> parts(const Tensor& x) const;
    void remember(const Point& now) const;
    Tensor direction(const Tensor& gradient) const;

    std::vector<NamedVariable> parameters_;
    LBFGSOptions options_;
    Number lr_;
    Variable steps_, last_x_, last_gradient_;  // of the previous step
    Variable s_, y_, rho_,
        pairs_;  // differences [history, n], 1 / (s y) or 0, and the number of pairs so far
};

}  // namespace firn
