// The flow: advection, forces and projection, written on whole tensors.
#include "apps/fluid/step.h"

#include <algorithm>
#include <vector>

namespace firn::fluid {
namespace {

/// Gradients of the curl well below this, in 1 / (second cell), are noise that confinement leaves
/// alone.
constexpr float kCalm = 0.5f;

/// Points in cell units, one per element.
struct Point {
    Tensor y, x;
};

// --- sampling between elements -------------------------------------------------------------------

/// `field` at a point given in its own indices, linear between the four nearest elements.
Tensor bilinear(const Reader& field, const Point& at) {
    Tensor top = floor(at.y), left = floor(at.x);
    Tensor i = cast<int>(top), j = cast<int>(left), s = at.y - top, t = at.x - left;
    return mix(mix(field(i, j), field(i, j + 1), t), mix(field(i + 1, j), field(i + 1, j + 1), t),
               s);
}

std::array<Tensor, 4> catmull_rom(const Tensor& t) {
    return {t * (t * (1.0f - 0.5f * t) - 0.5f), 1.0f + t * t * (1.5f * t - 2.5f),
            t * (0.5f + t * (2.0f - 1.5f * t)), t * t * (0.5f * t - 0.5f)};
}

/// The Catmull-Rom spline through the sixteen nearest elements, kept within the range of the
/// nearest four: sharp, and without new extremes.
template <class Field>
Tensor bicubic(const Field& field, const Point& at) {
    Tensor top = floor(at.y), left = floor(at.x);
    Tensor i = cast<int>(top), j = cast<int>(left);
    std::array<Tensor, 4> down = catmull_rom(at.y - top), across = catmull_rom(at.x - left);
    Tensor value = 0.0f;
    for (int a = 0; a < 4; ++a) {
        Tensor row = 0.0f;
        for (int b = 0; b < 4; ++b) row += across[size_t(b)] * field(i + (a - 1), j + (b - 1));
        value += down[size_t(a)] * row;
    }
    Tensor a = field(i, j), b = field(i, j + 1), c = field(i + 1, j), d = field(i + 1, j + 1);
    return clamp(value, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
}

/// Where the fluid at `to` was `dt` before, by the classical Runge-Kutta method.
Point trace_back(const Tensor& u, const Tensor& v, const Point& to, const Tensor& dt) {
    auto velocity = [&](const Point& at) {
        return Point{bilinear(zero(v), {at.y, at.x - 0.5f}),
                     bilinear(zero(u), {at.y - 0.5f, at.x})};
    };
    auto behind = [&](const Point& speed, const Tensor& time) {
        return Point{to.y - time * speed.y, to.x - time * speed.x};
    };
    Point a = velocity(to), b = velocity(behind(a, 0.5f * dt)), c = velocity(behind(b, 0.5f * dt));
    Point d = velocity(behind(c, dt));
    return behind({a.y + 2.0f * (b.y + c.y) + d.y, a.x + 2.0f * (b.x + c.x) + d.x}, dt / 6.0f);
}

/// How much the brush covers each point: 1 on its line, falling to 0 as a Gaussian.
Tensor coverage(const Brush& brush, const Point& at) {
    Tensor along_y = brush.to_y - brush.from_y, along_x = brush.to_x - brush.from_x;
    Tensor dy = at.y - brush.from_y, dx = at.x - brush.from_x;
    Tensor length = max(along_y * along_y + along_x * along_x, 1e-6f);
    Tensor share = clamp((dy * along_y + dx * along_x) / length, 0.0f, 1.0f);
    Tensor off_y = dy - share * along_y, off_x = dx - share * along_x;
    return exp(-(off_y * off_y + off_x * off_x) / (brush.radius * brush.radius));
}

// --- pressure: multigrid -------------------------------------------------------------------------

/// How open the left and the upper side of every cell are, from 0 to 1. On coarser levels cells
/// hold four of the level before; what lies beyond an odd edge counts as an obstacle.
struct Level {
    Tensor left, upper;
};

Level coarser(const Level& fine) {
    Size n = fine.left.size(0), m = fine.left.size(1);
    auto [i, j] = indices<2>({ceil_div(n, 2), ceil_div(m, 2)});
    Reader left = zero(fine.left), upper = zero(fine.upper);
    return {0.5f * (left(2 * i, 2 * j) + left(2 * i + 1, 2 * j)),
            0.5f * (upper(2 * i, 2 * j) + upper(2 * i, 2 * j + 1))};
}

/// The pressure of a cell's neighbours summed through its open sides, and how much of these are
/// open.
struct Surroundings {
    Tensor sum, openness;
};

Surroundings surroundings(const Level& level, const Tensor& pressure) {
    auto [i, j] = indices<2>(level.left.shape());
    Tensor left = level.left, upper = level.upper;
    Tensor right = zero(left)(i, j + 1), lower = zero(upper)(i + 1, j);
    return {left * pressure(i, j - 1) + right * pressure(i, j + 1) + upper * pressure(i - 1, j) +
                lower * pressure(i + 1, j),
            left + right + upper + lower};
}

/// The weights of the Jacobi sweeps alternate so that two are the Chebyshev polynomial for the
/// upper three quarters of the spectrum: rough errors shrink to 0.22, as by red-black Gauss-Seidel.
constexpr int kCoarsestSweeps = 4;
constexpr float kEvenWeight = 1.389f, kOddWeight = 0.5616f;

/// Sweeps `first` to `end` - 1 over the whole level.
Tensor smooth(const Level& level, Tensor pressure, const Tensor& source, int first,
              const Tensor& end) {
    for (Tensor sweep : loop(first, end)) {
        Surroundings around = surroundings(level, pressure);
        Tensor change = around.sum - source - around.openness * pressure;
        pressure +=
            select(sweep % 2 == 0, kEvenWeight, kOddWeight) * change / max(around.openness, 0.25f);
    }
    return pressure;
}

/// Every cell's share of the level below: the sum of its four cells.
Tensor restricted(const Tensor& fine, const Level& coarse) {
    auto [i, j] = indices<2>(coarse.left.shape());
    Reader read = zero(fine);
    return read(2 * i, 2 * j) + read(2 * i, 2 * j + 1) + read(2 * i + 1, 2 * j) +
           read(2 * i + 1, 2 * j + 1);
}

/// Linear from the coarse cell that holds each cell towards the nearest two, as far as the way is
/// open.
Tensor prolonged(const Tensor& error, const Level& coarse, const Level& fine) {
    auto [i, j] = indices<2>(fine.left.shape());
    Tensor row = i / 2, column = j / 2, below = i % 2, after = j % 2;
    Tensor own = error(row, column);
    Tensor open_y = zero(coarse.upper)(row + below, column),
           open_x = zero(coarse.left)(row, column + after);
    return own + 0.25f * (open_y * (error(row + 2 * below - 1, column) - own) +
                          open_x * (error(row, column + 2 * after - 1) - own));
}

/// What corrects a pressure whose residual is `source`, by one V-cycle from `depth` down.
Tensor correction(const std::vector<Level>& levels, size_t depth, const Tensor& source,
                  const Tensor& sweeps);

/// One V-cycle: brings the pressure nearer to that whose flow out of every cell is `source`. The
/// first sweep is done already.
Tensor v_cycle(const std::vector<Level>& levels, size_t depth, Tensor pressure,
               const Tensor& source, int first, const Tensor& sweeps) {
    const Level& level = levels[depth];
    if (depth + 1 == levels.size())
        return smooth(level, pressure, source, first, kCoarsestSweeps * sweeps);
    pressure = smooth(level, pressure, source, first, sweeps);
    Surroundings around = surroundings(level, pressure);
    Tensor residual = source - around.sum + around.openness * pressure;
    const Level& coarse = levels[depth + 1];
    Tensor error = correction(levels, depth + 1, restricted(residual, coarse), sweeps);
    return smooth(level, pressure + prolonged(error, coarse, level), source, 0, sweeps);
}

Tensor correction(const std::vector<Level>& levels, size_t depth, const Tensor& source,
                  const Tensor& sweeps) {
    auto [i, j] = indices<2>(source.shape());
    const Level& level = levels[depth];
    // From nothing, the first sweep needs no neighbours.
    Tensor openness =
        level.left + zero(level.left)(i, j + 1) + level.upper + zero(level.upper)(i + 1, j);
    return v_cycle(levels, depth, -kEvenWeight * source / max(openness, 0.25f), source, 1, sweeps);
}

}  // namespace

int multigrid_levels(int64_t n, int64_t m) {
    int levels = 1;
    for (int64_t side = std::min(n, m); side > 3; side = (side + 1) / 2) ++levels;
    return levels;
}

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

FlowStep step(const Flow& flow, const Tensor& open, const Brush& brush, const Constants& constants,
              int levels) {
    const Tensor &u = flow.u, &v = flow.v, &dt = constants.dt;
    auto [i, j] = indices<2>(u.shape());
    Tensor y = cast<float>(i), x = cast<float>(j);
    Point middle{y + 0.5f, x + 0.5f}, left_side{y + 0.5f, x}, upper_side{y, x + 0.5f};

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
    // it.
    Level finest{open * zero(open)(i, j - 1), open * zero(open)(i - 1, j)};
    Point from = trace_back(u, v, left_side, dt);
    Tensor moved_u =
        bicubic(zero(u), {from.y - 0.5f, from.x}) * constants.velocity_kept + dt * push_u;
    moved_u = finest.left * mix(moved_u, brush.u, brush.strength * coverage(brush, left_side));
    from = trace_back(u, v, upper_side, dt);
    Tensor moved_v =
        bicubic(zero(v), {from.y, from.x - 0.5f}) * constants.velocity_kept + dt * push_v;
    moved_v = finest.upper * mix(moved_v, brush.v, brush.strength * coverage(brush, upper_side));

    FlowStep next;
    from = trace_back(u, v, middle, dt);
    for (size_t c = 0; c < 3; ++c) {
        Tensor moved = bicubic(flow.dye[c], {from.y - 0.5f, from.x - 0.5f});
        next.flow.dye[c] =
            mix(moved * constants.dye_kept, brush.colour[c], brush.ink * coverage(brush, middle));
    }

    // The pressure whose gradient takes the divergence away, starting from that of the step before.
    std::vector<Level> multigrid{finest};
    while (int(multigrid.size()) < levels) multigrid.push_back(coarser(multigrid.back()));
    next.u_before = moved_u;
    next.v_before = moved_v;
    Tensor source = divergence(moved_u, moved_v);
    Tensor pressure = flow.pressure;
    for (Tensor cycle : loop(constants.cycles))
        pressure = v_cycle(multigrid, 0, pressure, source, 0, constants.sweeps);
    next.flow.pressure = pressure;
    next.flow.u = moved_u - finest.left * (pressure - pressure(i, j - 1));
    next.flow.v = moved_v - finest.upper * (pressure - pressure(i - 1, j));
    return next;
}

}  // namespace firn::fluid
