// The quasi-Newton method for smooth problems whose whole loss is asked at every step.
#pragma once
#include <vector>

#include "compiler/learning/variable.h"

namespace firn {

struct LBFGSOptions {
    float lr = 1.0f;       // the first length that a line search tries
    int history = 10;      // pairs of differences that stand for the second derivative
    int line_search = 20;  // lengths that are tried, each half of the one before
};

/// D. Liu and J. Nocedal, "On the limited memory BFGS method for large scale optimization", 1989:
/// the direction by the two-loop recursion, its length by halving until the loss falls by at least
/// 1e-4 of what its slope promises (L. Armijo, 1966). Pairs that do not curve upwards are left out.
/// Where no length serves, everything stays as it is. A handle; parameters are f32.
///
///     LBFGS lbfgs(net.parameters());
///     auto step = compile({net, lbfgs}, [&](Tensor x, Tensor y) {
///         return lbfgs.step([&] { return mse_loss(net(x), y); });
///     }, {f32("n", 2), f32("n", 1)});
class LBFGS {
  public:
    explicit LBFGS(const std::vector<NamedVariable>& parameters, const LBFGSOptions& options = {},
                   SourceLine line = here());

    /// One step; gives the loss before it. `loss` is recorded three times, with other parameters
    /// each time, so it must not change other variables. Inside `compile({net, lbfgs}, ..)` all of
    /// it is one program.
    Tensor step(const Callback<Tensor()>& loss, SourceLine line = here()) const;
    float& lr() const { return lr_.value(); }
    /// Begins again, without what it knows of the second derivative.
    void reset(SourceLine line = here()) const;
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
    Variable steps_, last_x_, last_gradient_;  // of the step before
    Variable s_, y_, rho_,
        pairs_;  // differences [history, n], 1 / (s y) or 0, and how many there were
};

}  // namespace firn
