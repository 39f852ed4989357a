// Waves of shallow water in a basin without walls.
#include <firn/firn.h>

#include <array>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kShallowSide = 1024, kShallowSteps = 10;
constexpr int64_t kShallowCells = int64_t(kShallowSide) * kShallowSide;
// Time step over cell width, a bound of all waves' speeds, and gravity.
constexpr float kShallowRatio = 0.08f, kShallowSpeed = 5.0f, kShallowGravity = 9.81f;

/// Height, and momentum along the columns (x) and along the rows (y).
struct ShallowWater {
    Tensor h, hu, hv;
};

/// A finite-volume step with the fluxes of P. Lax, "Weak Solutions of Nonlinear Hyperbolic
/// Equations and Their Numerical Computation", 1954, around the edges.
ShallowWater shallow_water_steps(ShallowWater water, Tensor ratio, Tensor speed) {
    auto [h, hu, hv] = water;
    for (Tensor step : loop(kShallowSteps)) {
        Tensor u = hu / h, v = hv / h, pressure = 0.5f * kShallowGravity * h * h;
        // Through the side towards the next cell along the axis.
        auto through = [&](const Tensor& q, const Tensor& flux, int axis) {
            Tensor next_q = roll(q, -1, {.axis = axis}), next_flux = roll(flux, -1, {.axis = axis});
            return 0.5f * (flux + next_flux) - 0.5f * speed * (next_q - q);
        };
        auto stepped = [&](const Tensor& q, const Tensor& flux_x, const Tensor& flux_y) {
            Tensor right = through(q, flux_x, 1), low = through(q, flux_y, 0);
            Tensor left = roll(right, 1, {.axis = 1}), up = roll(low, 1, {.axis = 0});
            return q - ratio * (right - left + low - up);
        };
        std::tie(h, hu, hv) = std::tuple{stepped(h, hu, hv), stepped(hu, hu * u + pressure, hu * v),
                                         stepped(hv, hv * u, hv * v + pressure)};
    }
    return {h, hu, hv};
}
ShallowWater shallow_water_steps_kernel(ShallowWater water, Tensor ratio, Tensor speed) {
    Size rows = water.h.size(0), columns = water.h.size(1);
    for (Tensor step : loop(kShallowSteps)) {
        ShallowWater next{zeros({rows, columns}), zeros({rows, columns}), zeros({rows, columns})};
        kernel({rows, columns}, [&](Tensor i, Tensor j) {
            auto cell = [&](const Tensor& y, const Tensor& x) {
                return vec3(wrap(water.h)(y, x), wrap(water.hu)(y, x), wrap(water.hv)(y, x));
            };
            auto flux_x = [](const vec3& q) {
                Tensor u = q.y / q.x;
                return vec3(q.y, q.y * u + 0.5f * kShallowGravity * q.x * q.x, q.z * u);
            };
            auto flux_y = [](const vec3& q) {
                Tensor v = q.z / q.x;
                return vec3(q.z, q.y * v, q.z * v + 0.5f * kShallowGravity * q.x * q.x);
            };
            vec3 own = cell(i, j), left = cell(i, j - 1), right = cell(i, j + 1),
                 up = cell(i - 1, j), low = cell(i + 1, j);
            vec3 through = 0.5f * (flux_x(right) - flux_x(left) + flux_y(low) - flux_y(up)) -
                           0.5f * speed * (right + left + low + up - 4.0f * own);
            vec3 stepped = own - ratio * through;
            next.h(i, j) = stepped.x, next.hu(i, j) = stepped.y, next.hv(i, j) = stepped.z;
        });
        water = next;
    }
    return water;
}

using ShallowPlanes = std::array<Plane, 3>;

std::vector<std::vector<float>> host_shallow_water(ShallowPlanes q) {
    constexpr double kGravity = double(kShallowGravity), kRatio = double(kShallowRatio),
                     kSpeed = double(kShallowSpeed);
    constexpr int kMask = kShallowSide - 1;
    using Cell = std::array<double, 3>;
    for (int step = 0; step < kShallowSteps; ++step) {
        const ShallowPlanes old = q;
        const auto cell = [&](int i, int j) {
            const size_t at = old[0].place(i & kMask, j & kMask);
            return Cell{double(old[0].values[at]), double(old[1].values[at]),
                        double(old[2].values[at])};
        };
        const auto flux = [&](const Cell& c, size_t axis) {  // 1 along the columns, 2 the rows
            Cell out{c[axis], c[1] * c[axis] / c[0], c[2] * c[axis] / c[0]};
            out[axis] += 0.5 * kGravity * c[0] * c[0];
            return out;
        };
        for (int i = 0; i < kShallowSide; ++i)
            for (int j = 0; j < kShallowSide; ++j) {
                const Cell own = cell(i, j), left = cell(i, j - 1), right = cell(i, j + 1),
                           up = cell(i - 1, j), low = cell(i + 1, j);
                const Cell from_left = flux(left, 1), to_right = flux(right, 1),
                           from_up = flux(up, 2), to_low = flux(low, 2);
                for (size_t k = 0; k < 3; ++k) {
                    const double across = to_right[k] - from_left[k] + to_low[k] - from_up[k];
                    const double spread = right[k] + left[k] + low[k] + up[k] - 4 * own[k];
                    q[k](i, j) = float(own[k] - 0.5 * kRatio * (across - kSpeed * spread));
                }
            }
    }
    return {q[0].values, q[1].values, q[2].values};
}

constexpr const char* kPlainShallowWater = R"(
const float gravity = 9.81, ratio = 0.08, speed = 5.0;
vec3 cell(int y, int x) {
    int at = (y & 1023) * 1024 + (x & 1023);
    return vec3(h_at(at), hu_at(at), hv_at(at));
}
vec3 flux_x(vec3 q) {
    float u = q.y / q.x;
    return vec3(q.y, q.y * u + 0.5 * gravity * q.x * q.x, q.z * u);
}
vec3 flux_y(vec3 q) {
    float v = q.z / q.x;
    return vec3(q.z, q.y * v, q.z * v + 0.5 * gravity * q.x * q.x);
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), at = y * 1024 + x;
    vec3 own = cell(y, x), left = cell(y, x - 1), right = cell(y, x + 1);
    vec3 up = cell(y - 1, x), low = cell(y + 1, x);
    vec3 through = 0.5 * (flux_x(right) - flux_x(left) + flux_y(low) - flux_y(up)) -
                   0.5 * speed * (right + left + low + up - 4.0 * own);
    vec3 stepped = own - ratio * through;
    new_h[at] = stepped.x;
    new_hu[at] = stepped.y;
    new_hv[at] = stepped.z;
}
)";

/// The buffers of all steps in a row: 0, 1 and 2 are arguments, 3, 4 and 5 results, and 6, 7 and 8
/// hold the values between two dispatches. The last one writes the results.
std::vector<HandStep> shallow_turns(int dispatches) {
    std::vector<HandStep> out;
    for (int k = 0; k < dispatches; ++k) {
        const int from = k == 0                      ? 0
                         : (dispatches - k) % 2 == 0 ? 3
                                                     : 6,
                  to = (dispatches - k) % 2 == 0 ? 6 : 3;
        out.push_back({0, {from, from + 1, from + 2, to, to + 1, to + 2}});
    }
    return out;
}

HandProgram plain_shallow_water() {
    HandProgram out;
    out.kernels = {{"shallow_water",
                    kPlainShallowWater,
                    {64, 4, 1},
                    {kShallowSide / 64, kShallowSide / 4, 1},
                    {{"h", As::Floats, 0},
                     {"hu", As::Floats, 1},
                     {"hv", As::Floats, 2},
                     {"new_h", As::Floats, 3, true},
                     {"new_hu", As::Floats, 4, true},
                     {"new_hv", As::Floats, 5, true}},
                    {}}};
    out.temporaries = {kShallowCells, kShallowCells, kShallowCells};
    out.steps = shallow_turns(kShallowSteps);
    return out;
}

// T steps in one dispatch, in private memory. Eight lanes beside one another have C columns each
// and go down ROWS rows: step t takes row y - t of the step before, adds its fluxes to the row
// above, which is complete then and goes on to step t + 1, and keeps partial results for its own
// row (`kept`) and the one below (`down`). A cell gives each of its four neighbours A q plus or
// minus B times a flux. Wrong values at a tile's borders, which would need its neighbours, spread
// by a cell with each step, and are not stored. All ten steps in a dispatch take 1.13 times as
// long, two 1.5 times, one 2.4 times; the plain one with texels 7 times.
constexpr const char* kBestShallowWater = R"(
const float B = 0.5 * 0.08, A = B * 5.0, KEPT = 1.0 - 4.0 * A, PRESSURE = 0.5 * 9.81 * B;
void main() {
    int lane = int(gl_LocalInvocationID.x), tile = int(gl_WorkGroupID.x);
    int left = tile * (8 * C - 2 * HALO) - HALO;
    int begin = int(gl_WorkGroupID.y) * ROWS, end = begin + ROWS;
    float kept_h[T * C], kept_u[T * C], kept_v[T * C], down_h[T * C], down_u[T * C], down_v[T * C];
    [[unroll]] for (int k = 0; k < T * C; ++k)
        kept_h[k] = kept_u[k] = kept_v[k] = down_h[k] = down_u[k] = down_v[k] = 0.0;
    for (int y = begin - T; y < end + T; ++y) {
        float h[C], hu[C], hv[C];
        [[unroll]] for (int q = 0; q < C; q += 4) {
            int at = (y & 1023) * 256 + (((left + lane * C + q) & 1023) >> 2);
            vec4 new_h = h_from_at(at), new_u = hu_from_at(at), new_v = hv_from_at(at);
            [[unroll]] for (int k = 0; k < 4; ++k)
                h[q + k] = new_h[k], hu[q + k] = new_u[k], hv[q + k] = new_v[k];
        }
        float right_h[T], right_u[T], right_v[T], left_h[T], left_u[T], left_v[T];
        [[unroll]] for (int t = 0; t < T; ++t) right_h[t] = right_u[t] = right_v[t] = 0.0;
        [[unroll]] for (int part = 0; part < C; part += 4)
            [[unroll]] for (int t = 0; t < T; ++t)
                [[unroll]] for (int q = 0; q < 4; ++q) {
                    int c = part + q, k = t * C + c;
                    float scale = B / h[c], bu = hu[c] * scale, bv = hv[c] * scale;
                    float pressure = PRESSURE * h[c] * h[c], both = hu[c] * bv;
                    float xu = hu[c] * bu + pressure, yv = hv[c] * bv + pressure;
                    float bhu = B * hu[c], bhv = B * hv[c];
                    float ah = A * h[c], au = A * hu[c], av = A * hv[c];
                    float now_h = kept_h[k] + (ah - bhv), now_u = kept_u[k] + (au - both),
                          now_v = kept_v[k] + (av - yv);
                    kept_h[k] = (KEPT * h[c] + down_h[k]) + right_h[t];
                    kept_u[k] = (KEPT * hu[c] + down_u[k]) + right_u[t];
                    kept_v[k] = (KEPT * hv[c] + down_v[k]) + right_v[t];
                    down_h[k] = ah + bhv, down_u[k] = au + both, down_v[k] = av + yv;
                    right_h[t] = ah + bhu, right_u[t] = au + xu, right_v[t] = av + both;
                    if (c > 0) {
                        kept_h[max(k - 1, 0)] += ah - bhu;
                        kept_u[max(k - 1, 0)] += au - xu;
                        kept_v[max(k - 1, 0)] += av - both;
                    } else {
                        left_h[t] = ah - bhu, left_u[t] = au - xu, left_v[t] = av - both;
                    }
                    h[c] = now_h, hu[c] = now_u, hv[c] = now_v;
                }
        [[unroll]] for (int t = 0; t < T; ++t) {
            int before = max(lane - 1, 0), after = min(lane + 1, 7), first = t * C;
            kept_h[first] += eight_shuffle(right_h[t], before);
            kept_u[first] += eight_shuffle(right_u[t], before);
            kept_v[first] += eight_shuffle(right_v[t], before);
            kept_h[first + C - 1] += eight_shuffle(left_h[t], after);
            kept_u[first + C - 1] += eight_shuffle(left_u[t], after);
            kept_v[first + C - 1] += eight_shuffle(left_v[t], after);
        }
        int row = y - T;
        if (row >= begin && row < end)
            [[unroll]] for (int q = 0; q < C; q += 4) {
                int place = lane * C + q, column = left + place, at = row * 256 + (column >> 2);
                if (place >= HALO && place < 8 * C - HALO && column < 1024) {
                    h_to[at] = vec4(h[q], h[q + 1], h[q + 2], h[q + 3]);
                    hu_to[at] = vec4(hu[q], hu[q + 1], hu[q + 2], hu[q + 3]);
                    hv_to[at] = vec4(hv[q], hv[q + 1], hv[q + 2], hv[q + 3]);
                }
            }
    }
}
)";

HandProgram best_shallow_water() {
    constexpr int kTurn = 5, kColumns = 12, kRows = kShallowSide / 2;
    constexpr int kHalo = (kTurn + 3) / 4 * 4, kInner = 8 * kColumns - 2 * kHalo;
    HandProgram out;
    out.kernels = {{"shallow_water",
                    kBestShallowWater,
                    {8, 1, 1},
                    {(kShallowSide + kInner - 1) / kInner, kShallowSide / kRows, 1},
                    {{"h_from", As::Texels4, 0},
                     {"hu_from", As::Texels4, 1},
                     {"hv_from", As::Texels4, 2},
                     {"h_to", As::Vec4s, 3, true},
                     {"hu_to", As::Vec4s, 4, true},
                     {"hv_to", As::Vec4s, 5, true}},
                    {{"T", kTurn}, {"C", kColumns}, {"HALO", kHalo}, {"ROWS", kRows}}}};
    out.temporaries = {kShallowCells, kShallowCells, kShallowCells};
    out.steps = shallow_turns(kShallowSteps / kTurn);
    return out;
}

Contest shallow_water(ShallowWater (*program)(ShallowWater, Tensor, Tensor)) {
    const auto field = f32("h", "w");
    auto f = compile(program, {field, field, field, f32(), f32()});
    ShallowPlanes q{hills(kShallowSide, kShallowSide, 9), hills(kShallowSide, kShallowSide, 7),
                    hills(kShallowSide, kShallowSide, 5)};
    for (float& h : q[0].values) h = 1.0f + 0.3f * h;
    for (size_t k : {1u, 2u})
        for (float& momentum : q[k].values) momentum *= 0.5f;
    const auto on_device = [](const Plane& x) { return tensor(x.values, {x.h, x.w}); };
    // The fewest operations known. Per cell and step a division, two velocities and two products
    // for the pressure, all scaled, and 5 for the fluxes of momentum; for each component 3 sums of
    // neighbours, 3 of fluxes, and 5 to weigh them and the cell's own. Between the steps all may
    // stay in caches.
    return {
        .least = {12.0 * kShallowCells, 12.0 * kShallowCells, 43.0 * kShallowSteps * kShallowCells},
        .arguments = {q[0].values, q[1].values, q[2].values},
        .results = {kShallowCells, kShallowCells, kShallowCells},
        .firn =
            [f, h = on_device(q[0]), hu = on_device(q[1]), hv = on_device(q[2])] {
                auto [a, b, c] = f(ShallowWater{h, hu, hv}, kShallowRatio, kShallowSpeed);
                return std::vector<Tensor>{a, b, c};
            },
        .best = best_shallow_water(),
        .plain = plain_shallow_water(),
        .expected = [=] { return host_shallow_water(q); }};
}

constexpr const char* kShallowWaterFar =
    "steps wait for one another, and each asks for its neighbours' pressures and waves";

}  // namespace

void add_shallow_water(std::vector<Case>& cases) {
    cases.push_back({"shallow_water", [] { return shallow_water(shallow_water_steps); },
                     Section::Training, kShallowWaterFar});
    cases.push_back({"shallow_water_kernel",
                     [] { return shallow_water(shallow_water_steps_kernel); }, Section::Training,
                     kShallowWaterFar});
}

}  // namespace firn::bench
