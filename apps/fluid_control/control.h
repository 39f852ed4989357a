// A flow whose first velocity is found by gradients, so that it carries dye into a picture.
#pragma once
#include <firn/learning.h>

#include "apps/fluid/step.h"

namespace firn::fluid_control {

/// Options a change of which makes another problem: see make_control.
struct ProblemOptions {
    int steps = 100;  // of the flow
    float dt = 0.5f;  // seconds in each
    int coarse = 4;   // cells between the numbers that are learned
    int cycles = 1;   // multigrid cycles of each step
    bool operator==(const ProblemOptions&) const = default;
};

/// Numbers [n / coarse + 3, m / coarse + 3] between which a stream function is a cubic B-spline: a
/// velocity of its differences has no divergence, and none goes through the walls.
struct FirstVelocity : Module {
    FirstVelocity(int64_t n, int64_t m, int coarse);
    /// u and v of the staggered grid, cells per second.
    std::pair<Tensor, Tensor> operator()() const;

    Variable stream;

  private:
    int64_t n_, m_;
    int coarse_;
};

/// The problem and what is compiled for it. Copies share what is learned.
struct Control {
    Tensor start, target;  // dye f32 [n, m, 3]
    FirstVelocity velocity;
    Adam adam;
    StateFunction improve;  // gives the distance before
    StateFunction film;     // see film()
    int64_t iterations = 0;
};
/// `start` and `target` are f32 [n, m, 3] of one size. UserError where they are not.
Control make_control(const Tensor& start, const Tensor& target, const ProblemOptions& options);
/// Begins again from rest: compiles nothing.
void restart(Control& control);

struct Settings {
    float lr = 0.3f;
    float smooth = 1e-4f;  // weight of the squares of the velocity
};
/// Makes a step down the gradient through all steps of the flow, and returns the mean square of the
/// distance before it, rank 0.
Tensor improve(Control& control, const Settings& settings);
/// The dye at the start and after each of kStills equal parts of the steps, [n, m, 3], from the
/// first velocity that is known now.
constexpr int kStills = 5;
std::vector<Tensor> film(const Control& control);

}  // namespace firn::fluid_control
