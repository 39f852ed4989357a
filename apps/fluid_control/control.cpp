// The flow as a function of its first velocity, and the step down its gradient.
#include "apps/fluid_control/control.h"

#include <cmath>

#include "apps/fluid/sampling.h"
#include "compiler/base/error.h"

namespace firn::fluid_control {
namespace {

/// Weights of the four knots around a place, `t` behind the second, of a cubic B-spline.
std::array<Tensor, 4> spline(const Tensor& t) {
    const Tensor s = 1.0f - t;
    return {s * s * s / 6.0f, (4.0f - 6.0f * t * t + 3.0f * t * t * t) / 6.0f,
            (4.0f - 6.0f * s * s + 3.0f * s * s * s) / 6.0f, t * t * t / 6.0f};
}

/// 1 in the middle, 0 at the walls and within a cell of them.
Tensor window(const Tensor& at, int64_t size) {
    const Tensor edge = min(at - 1.0f, float(size) - 1.0f - at);
    return smoothstep(0.0f, 6.0f, edge);
}

fluid::FlowStep flow_step(const fluid::Flow& flow, const Tensor& open,
                          const std::vector<fluid::Level>& levels, const ProblemOptions& options) {
    const Tensor zero = 0.0f, one = 1.0f;
    const fluid::Brush nothing{zero, zero, zero, zero, one,
                               zero, zero, zero, zero, {zero, zero, zero}};
    return fluid::step(flow, open, levels, nothing,
                       {options.dt, zero, one, one, options.cycles, 2});
}

fluid::Flow first_flow(const Tensor& dye, const FirstVelocity& velocity) {
    const auto [u, v] = velocity();
    auto [i, j] = indices<2>(u.shape());
    return {u, v, zeros(u.shape()), {dye(i, j, 0), dye(i, j, 1), dye(i, j, 2)}};
}

Tensor dye_of(const fluid::Flow& flow) {
    return stack({flow.dye[0], flow.dye[1], flow.dye[2]}, {.axis = 2});
}

fluid::Flow after(fluid::Flow flow, const Tensor& steps, const Tensor& open,
                  const std::vector<fluid::Level>& levels, const ProblemOptions& options) {
    for (Tensor k : loop(steps)) {
        const fluid::Flow next = flow_step(flow, open, levels, options).flow;
        flow.u = next.u;
        flow.v = next.v;
        flow.pressure = next.pressure;
        for (size_t c = 0; c < 3; ++c) flow.dye[c] = next.dye[c];
    }
    return flow;
}

}  // namespace

FirstVelocity::FirstVelocity(int64_t n, int64_t m, int coarse)
    : stream(add_parameter("stream", {n / coarse + 4, m / coarse + 4}, constant_init(0))),
      n_(n),
      m_(m),
      coarse_(coarse) {}

std::pair<Tensor, Tensor> FirstVelocity::operator()() const {
    // The stream function at the upper left corners of cells, and one more row and column.
    auto [i, j] = indices<2>({n_ + 1, m_ + 1});
    // The first knot stands before the first corner.
    const fluid::Point at{i.as(f32) / float(coarse_) + 1.0f, j.as(f32) / float(coarse_) + 1.0f};
    Tensor psi = fluid::sample(fluid::Field(stream.value()), at, 4,
                               [](const std::vector<Tensor>& knots, const fluid::Point& place) {
                                   return fluid::weighted(knots, spline(place.y), spline(place.x));
                               });
    psi = psi * window(i.as(f32), n_) * window(j.as(f32), m_);
    auto [row, column] = indices<2>({n_, m_});
    return {psi(row + 1, column) - psi(row, column), psi(row, column) - psi(row, column + 1)};
}

Control make_control(const Tensor& start, const Tensor& target, const ProblemOptions& options) {
    if (start.rank() != 3 || Shape(start.shape()) != Shape(target.shape()) || !start.size(2).is(3))
        throw UserError("fluid_control: dye " + text(start.shape()) + " and target " +
                        text(target.shape()) + "; give two of one size, [n, m, 3]");
    const int64_t n = start.size(0).constant(), m = start.size(1).constant();
    const FirstVelocity velocity(n, m, options.coarse);
    const Adam adam(velocity.parameters());
    const Tensor open = ones({n, m});
    const std::vector<fluid::Level> levels = fluid::pyramid(open);
    const StateFunction improve =
        compile({velocity, adam},
                [&](Tensor start, Tensor target, Tensor smooth) {
                    fluid::Flow flow =
                        after(first_flow(start, velocity), options.steps, open, levels, options);
                    const Tensor distance = mse_loss(dye_of(flow), target);
                    const auto [u, v] = velocity();
                    adam.step(distance + smooth * mean(square(u) + square(v)));
                    return distance;
                },
                {f32(n, m, 3), f32(n, m, 3), f32()});
    const StateFunction film = compile({velocity},
                                       [&](Tensor start) {
                                           fluid::Flow flow = first_flow(start, velocity);
                                           std::vector<Tensor> stills{start};
                                           for (int k = 1; k <= kStills; ++k) {
                                               const int steps = options.steps * k / kStills -
                                                                 options.steps * (k - 1) / kStills;
                                               flow = after(flow, steps, open, levels, options);
                                               stills.push_back(dye_of(flow));
                                           }
                                           return stills;
                                       },
                                       {f32(n, m, 3)});
    return {start, target, velocity, adam, improve, film};
}

void restart(Control& control) {
    control.velocity.reset(0);
    control.adam.reset();
    control.iterations = 0;
}

Tensor improve(Control& control, const Settings& settings) {
    control.adam["lr"] = settings.lr;
    ++control.iterations;
    return control.improve.call({control.start, control.target, settings.smooth})[0];
}

std::vector<Tensor> film(const Control& control) { return control.film.call({control.start}); }

}  // namespace firn::fluid_control
