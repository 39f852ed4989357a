// The flow: advection, forces and projection, written on whole tensors.
#include "apps/fluid/step.h"

#include "apps/fluid/sampling.h"

namespace firn::fluid {
namespace {

using Outside = Field::Outside;

/// Gradients of the curl well below this, in 1 / (second cell), are noise that confinement leaves
/// alone.
constexpr float kCalm = 0.5f;

/// Returns the place `dt` earlier of the fluid that is now at `to`, where its velocity is `a`, by
/// the classical Runge-Kutta method.
Point trace_back(const Tensor& u, const Tensor& v, const Point& to, const Point& a,
                 const Tensor& dt) {
    auto velocity = [&](const Point& at) {
        return Point{bilinear(Field(v, Outside::Zero), {at.y, at.x - 0.5f}),
                     bilinear(Field(u, Outside::Zero), {at.y - 0.5f, at.x})};
    };
    auto behind = [&](const Point& speed, const Tensor& time) {
        return Point{to.y - time * speed.y, to.x - time * speed.x};
    };
    Point b = velocity(behind(a, 0.5f * dt)), c = velocity(behind(b, 0.5f * dt));
    Point d = velocity(behind(c, dt));
    return behind({a.y + 2.0f * (b.y + c.y) + d.y, a.x + 2.0f * (b.x + c.x) + d.x}, dt / 6.0f);
}

/// Returns the share of each point that the brush covers: 1 on its line, falling to 0 as a
/// Gaussian.
Tensor coverage(const Brush& brush, const Point& at) {
    const BrushStroke stroke{brush.from_y, brush.from_x, brush.to_y, brush.to_x};
    return exp(-squared_distance(at.y, at.x, stroke) / (brush.radius * brush.radius));
}

}  // namespace

Tensor divergence(const Tensor& u, const Tensor& v) {
    auto [i, j] = indices<2>(u.shape());
    return zero(u)(i, j + 1) - u + zero(v)(i + 1, j) - v;
}

Tensor vorticity(const Tensor& u, const Tensor& v, const Tensor& open) {
    auto [i, j] = indices<2>(u.shape());
    Reader inside = zero(open);
    Tensor all = inside(i, j) * inside(i - 1, j) * inside(i, j - 1) * inside(i - 1, j - 1);
    return all * (v - v(i, j - 1) - u + u(i - 1, j));
}

Tensor speed(const Tensor& u, const Tensor& v) {
    auto [i, j] = indices<2>(u.shape());
    Tensor x = 0.5f * (u + zero(u)(i, j + 1)), y = 0.5f * (v + zero(v)(i + 1, j));
    return sqrt(x * x + y * y);
}

Tensor rms(const Tensor& x) { return sqrt(mean(x * x)); }

FlowStep step(const Flow& flow, const Tensor& open, const std::vector<Level>& levels,
              const Brush& brush, const Constants& constants) {
    const Tensor &u = flow.u, &v = flow.v, &dt = constants.dt;
    auto [i, j] = indices<2>(u.shape());
    Tensor y = cast<float>(i), x = cast<float>(j);
    Point middle{y + 0.5f, x + 0.5f}, left_side{y + 0.5f, x}, upper_side{y, x + 0.5f};
    Reader across = zero(u), down = zero(v);
    Point in_middle{0.5f * (v + down(i + 1, j)), 0.5f * (u + across(i, j + 1))};

    // Vorticity confinement: a force across the gradient of |curl|, towards the middle of each
    // whirl. The gradients are between means of two, so that they do not see (and feed) ripples of
    // one cell.
    Tensor curl = vorticity(u, v, open), strength = abs(curl);
    auto at = [&](int down, int across) { return strength(i + down, j + across); };
    auto force = [&](const Tensor& gradient_y, const Tensor& gradient_x, const Tensor& around) {
        Tensor length = sqrt(gradient_y * gradient_y + gradient_x * gradient_x) + kCalm;
        return std::pair{constants.confinement * gradient_y / length * around,
                         -constants.confinement * gradient_x / length * around};
    };
    Tensor push_u =
        force(0.25f * (at(2, 0) + at(1, 0) - at(0, 0) - at(-1, 0)),
              0.25f * (at(0, 1) - at(0, -1) + at(1, 1) - at(1, -1)), 0.5f * (curl + curl(i + 1, j)))
            .first;
    Tensor push_v =
        force(0.25f * (at(1, 0) - at(-1, 0) + at(1, 1) - at(-1, 1)),
              0.25f * (at(0, 2) + at(0, 1) - at(0, 0) - at(0, -1)), 0.5f * (curl + curl(i, j + 1)))
            .second;

    // Every quantity comes from where its place was before, then the brush and the forces act on
    // it. The way there is traced for the middles of cells; that of a side is between its two.
    Point before = trace_back(u, v, middle, in_middle, dt);
    Tensor way_y = before.y - middle.y, way_x = before.x - middle.x;
    auto before_side = [&](const Point& side, int up, int back) {
        return Point{side.y + 0.5f * (way_y + way_y(i - up, j - back)),
                     side.x + 0.5f * (way_x + way_x(i - up, j - back))};
    };
    const Level& finest = levels[0];
    Point from = before_side(left_side, 0, 1);
    Tensor moved_u =
        bicubic(Field(u, Outside::Zero), {from.y - 0.5f, from.x}) * constants.velocity_kept +
        dt * push_u;
    moved_u = finest.left * mix(moved_u, brush.u, brush.strength * coverage(brush, left_side));
    from = before_side(upper_side, 1, 0);
    Tensor moved_v =
        bicubic(Field(v, Outside::Zero), {from.y, from.x - 0.5f}) * constants.velocity_kept +
        dt * push_v;
    moved_v = finest.upper * mix(moved_v, brush.v, brush.strength * coverage(brush, upper_side));

    FlowStep next;
    for (size_t c = 0; c < 3; ++c) {
        Tensor moved = bicubic(Field(flow.dye[c]), {before.y - 0.5f, before.x - 0.5f});
        next.flow.dye[c] =
            mix(moved * constants.dye_kept, brush.colour[c], brush.ink * coverage(brush, middle));
    }

    // The pressure whose gradient takes the divergence away, starting from that of the step before.
    next.u_before = moved_u;
    next.v_before = moved_v;
    Tensor source = divergence(moved_u, moved_v);
    Tensor pressure = flow.pressure;
    for (Tensor cycle : loop(constants.cycles))
        pressure = multigrid_cycle(levels, pressure, source, constants.sweeps);
    next.flow.pressure = pressure;
    next.flow.u = moved_u - finest.left * (pressure - pressure(i, j - 1));
    next.flow.v = moved_v - finest.upper * (pressure - pressure(i - 1, j));
    return next;
}

}  // namespace firn::fluid
