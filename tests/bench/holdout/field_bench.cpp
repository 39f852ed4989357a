// Maxwell's equations on a grid, and the prices of options.
#include <firn/firn.h>

#include <cmath>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kFieldSide = 1024, kFieldSteps = 10;
constexpr int64_t kFieldCells = int64_t(kFieldSide) * kFieldSide;

using Field = std::tuple<Tensor, Tensor, Tensor>;

/// K. Yee, "Numerical Solution of Initial Boundary Value Problems Involving Maxwell's Equations in
/// Isotropic Media", 1966. Between perfect conductors: the electric field keeps its values at the
/// edges.
Field maxwell_steps(Tensor ez, Tensor hx, Tensor hy, Tensor material) {
    const auto inner = range(1, -1), low = range(0, -1), high = range(1, none);
    for (Tensor step : loop(kFieldSteps)) {
        hx(low, all) -= 0.5f * (ez(high, all) - ez(low, all));
        hy(all, low) += 0.5f * (ez(all, high) - ez(all, low));
        Tensor curl = hy(inner, inner) - hy(inner, range(0, -2)) -
                      (hx(inner, inner) - hx(range(0, -2), inner));
        ez(inner, inner) += material(inner, inner) * curl;
    }
    return {ez, hx, hy};
}
Field maxwell_steps_kernel(Tensor ez, Tensor hx, Tensor hy, Tensor material) {
    Size h = ez.size(0), w = ez.size(1);
    for (Tensor step : loop(kFieldSteps)) {
        kernel({h, w}, [&](Tensor i, Tensor j) {
            hx(i, j) -= 0.5f * (ez(i + 1, j) - ez(i, j));
            hy(i, j) += 0.5f * (ez(i, j + 1) - ez(i, j));
        });
        kernel({h, w}, [&](Tensor i, Tensor j) {
            if_((i > 0) & (i < h - 1) & (j > 0) & (j < w - 1), [&] {
                Tensor curl = hy(i, j) - hy(i, j - 1) - (hx(i, j) - hx(i - 1, j));
                ez(i, j) += material(i, j) * curl;
            });
        });
    }
    return {ez, hx, hy};
}

std::vector<std::vector<float>> host_maxwell(Plane ez, Plane hx, Plane hy, const Plane& material) {
    constexpr int kLast = kFieldSide - 1;
    for (int step = 0; step < kFieldSteps; ++step) {
        for (int i = 0; i <= kLast; ++i)
            for (int j = 0; j <= kLast; ++j) {
                hx(i, j) -= 0.5f * (ez.clamped(i + 1, j) - ez(i, j));
                hy(i, j) += 0.5f * (ez.clamped(i, j + 1) - ez(i, j));
            }
        for (int i = 1; i < kLast; ++i)
            for (int j = 1; j < kLast; ++j)
                ez(i, j) += material(i, j) * (hy(i, j) - hy(i, j - 1) - (hx(i, j) - hx(i - 1, j)));
    }
    return {ez.values, hx.values, hy.values};
}

constexpr const char* kMaxwellMagnetic = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), own = y * 1024 + x;
    float here = ez_at(own);
    hx[own] = old_hx_at(own) - 0.5 * (ez_at(min(y + 1, 1023) * 1024 + x) - here);
    hy[own] = old_hy_at(own) + 0.5 * (ez_at(y * 1024 + min(x + 1, 1023)) - here);
}
)";
constexpr const char* kMaxwellElectric = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), own = y * 1024 + x;
    float here = old_ez_at(own);
    if (x > 0 && x < 1023 && y > 0 && y < 1023) {
        float curl = hy_at(own) - hy_at(own - 1) - (hx_at(own) - hx_at(own - 1024));
        here += material_at(own) * curl;
    }
    ez[own] = here;
}
)";

HandProgram plain_maxwell() {
    auto kernel = [](const std::string& name, const std::string& body,
                     const std::vector<HandBinding>& bindings) {
        return HandKernel{name,     body, {64, 4, 1}, {kFieldSide / 64, kFieldSide / 4, 1},
                          bindings, {}};
    };
    // The fields' buffers are 0, 1 and 2 as arguments, and 4, 5 and 6 as results.
    HandProgram program;
    program.kernels = {kernel("maxwell_magnetic", kMaxwellMagnetic,
                              {{"ez", As::Floats, 0},
                               {"old_hx", As::Floats, 1},
                               {"old_hy", As::Floats, 2},
                               {"hx", As::Floats, 5, true},
                               {"hy", As::Floats, 6, true}}),
                       kernel("maxwell_electric", kMaxwellElectric,
                              {{"old_ez", As::Floats, 0},
                               {"hx", As::Floats, 5},
                               {"hy", As::Floats, 6},
                               {"material", As::Floats, 3},
                               {"ez", As::Floats, 4, true}})};
    program.steps = {{0, {}}, {1, {}}};
    for (int step = 1; step < kFieldSteps; ++step)
        program.steps.insert(program.steps.end(), {{0, {4, 5, 6, 5, 6}}, {1, {4, 5, 6, 3, 4}}});
    return program;
}

// All T steps in one dispatch, in private memory. Eight lanes beside one another have C columns
// each and go down ROWS rows: with row y of step 0 each step t goes on from row
// y - 1 - t, as soon as it has the row below. Wrong values at a tile's borders, which would need
// its neighbours, spread by a cell with each step, and are not stored. Halves are in m, so that the
// magnetic fields, doubled, need no products. Five steps in a dispatch take 1.2 times as long, two
// 1.7 times, one 2.6 times.
constexpr const char* kMaxwellBest = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), last = int(gl_NumWorkGroups.x) - 1;
    int tile = int(gl_WorkGroupID.x), left = min(tile * (8 * C - 2 * HALO), 1024 - 8 * C);
    int from = tile == 0 ? 0 : left + HALO, to = tile == last ? 1024 : left + 8 * C - HALO;
    int begin = int(gl_WorkGroupID.y) * ROWS, end = begin + ROWS;
    int top = max(begin - T, 0), bottom = min(end + T, 1024) - 1;
    float e[T * C], hx[T * C], hy[T * C], m[T * C], above[C];
    [[unroll]] for (int k = 0; k < T * C; ++k) e[k] = hx[k] = hy[k] = m[k] = 0.0;
    [[unroll]] for (int c = 0; c < C; ++c) above[c] = 0.0;
    for (int y = top; y < end + T; ++y) {
        float ne[C], nx[C], ny[C], nm[C];
        int at = min(y, bottom) * 256 + (left + lane * C) / 4;
        float inside = y > top && y < bottom ? 0.5 : 0.0;
        [[unroll]] for (int q = 0; q < C / 4; ++q) {
            vec4 new_e = ez_from_at(at + q), new_m = inside * material_at(at + q);
            vec4 new_x = 2.0 * hx_from_at(at + q), new_y = 2.0 * hy_from_at(at + q);
            [[unroll]] for (int k = 0; k < 4; ++k) {
                ne[4 * q + k] = new_e[k], nm[4 * q + k] = new_m[k];
                nx[4 * q + k] = new_x[k], ny[4 * q + k] = new_y[k];
            }
        }
        nm[0] = lane == 0 ? 0.0 : nm[0];
        nm[C - 1] = lane == 7 ? 0.0 : nm[C - 1];
        float right[T], before[T];
        [[unroll]] for (int t = 0; t < T; ++t) {
            int k = t * C + C - 1;
            float other = eight_shuffle(e[t * C], min(lane + 1, 7));
            right[t] = lane == 7 ? e[k] : other;
            before[t] = eight_shuffle(hy[k] + (right[t] - e[k]), max(lane - 1, 0));
        }
        // Four columns go through all steps together. (Where the innermost loop counts c itself,
        // from part, Mesa 22.3 gives other results, and takes several times as long.)
        [[unroll]] for (int part = 0; part < C; part += 4)
            [[unroll]] for (int t = 0; t < T; ++t)
                [[unroll]] for (int q = 0; q < 4; ++q) {
                    int c = part + q, k = t * C + c;
                    float beside = c < C - 1 ? e[min(k + 1, T * C - 1)] : right[t];
                    float over = t < T - 1 ? hx[min(k + C, T * C - 1)] : above[c];
                    float gx = (hx[k] + e[k]) - ne[c], gy = hy[k] + (beside - e[k]), own = m[k];
                    float now = e[k] + own * (((gy - before[t]) + over) - gx);
                    before[t] = gy;
                    e[k] = ne[c], hx[k] = nx[c], hy[k] = ny[c], m[k] = nm[c];
                    ne[c] = now, nx[c] = gx, ny[c] = gy, nm[c] = own;
                }
        [[unroll]] for (int c = 0; c < C; ++c) above[c] = nx[c];
        int row = y - T;
        if (row >= begin && row < end)
            [[unroll]] for (int q = 0; q < C; q += 4) {
                int column = left + lane * C + q, own = row * 256 + column / 4;
                if (column >= from && column < to) {
                    ez_to[own] = vec4(ne[q], ne[q + 1], ne[q + 2], ne[q + 3]);
                    hx_to[own] = 0.5 * vec4(nx[q], nx[q + 1], nx[q + 2], nx[q + 3]);
                    hy_to[own] = 0.5 * vec4(ny[q], ny[q + 1], ny[q + 2], ny[q + 3]);
                }
            }
    }
}
)";

HandProgram best_maxwell() {
    return {{{"maxwell",
              kMaxwellBest,
              {8, 1, 1},
              {14, 2, 1},
              {{"ez_from", As::Texels4, 0},
               {"hx_from", As::Texels4, 1},
               {"hy_from", As::Texels4, 2},
               {"material", As::Texels4, 3},
               {"ez_to", As::Vec4s, 4, true},
               {"hx_to", As::Vec4s, 5, true},
               {"hy_to", As::Vec4s, 6, true}},
              {{"T", kFieldSteps}, {"C", 12}, {"HALO", 12}, {"ROWS", kFieldSide / 2}}}},
            {},
            {}};
}

Contest maxwell(Field (*program)(Tensor, Tensor, Tensor, Tensor)) {
    const auto field = f32("h", "w");
    auto f = compile(program, {field, field, field, field});
    Plane ez = hills(kFieldSide, kFieldSide, 40), hx = hills(kFieldSide, kFieldSide, 31),
          hy = hills(kFieldSide, kFieldSide, 23), material(kFieldSide, kFieldSide, 0.5f);
    // A disc of glass, and the conductor around.
    for (int i = 0; i < kFieldSide; ++i)
        for (int j = 0; j < kFieldSide; ++j) {
            if (std::hypot(float(i - 500), float(j - 600)) < 200) material(i, j) = 0.5f / 2.25f;
            if (std::min(i, j) == 0 || std::max(i, j) == kFieldSide - 1) ez(i, j) = 0;
        }
    const auto on_device = [](const Plane& x) { return tensor(x.values, {x.h, x.w}); };
    // Operations per step: a difference and an fma for each magnetic component, three differences
    // and an fma for the electric one. Between the steps all may stay in caches.
    const double edge = kFieldSide - 1.0,
                 operations = 6 * kFieldSide * edge + 5 * (edge - 1) * (edge - 1);
    return {
        .least = {16.0 * kFieldCells, 12.0 * kFieldCells, kFieldSteps * operations},
        .arguments = {ez.values, hx.values, hy.values, material.values},
        .results = {kFieldCells, kFieldCells, kFieldCells},
        .firn =
            [f, a = on_device(ez), b = on_device(hx), c = on_device(hy), d = on_device(material)] {
                auto [e, x, y] = f(a, b, c, d);
                return std::vector<Tensor>{e, x, y};
            },
        .best = best_maxwell(),
        .plain = plain_maxwell(),
        .expected = [=] { return host_maxwell(ez, hx, hy, material); }};
}

constexpr int64_t kOptions = 1 << 20;
constexpr float kOptionRate = 0.02f, kOptionVolatility = 0.3f;

/// Polynomial 26.2.17 of M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 1964.
Tensor cumulative_normal(const Tensor& x) {
    Tensor k = 1.0f / (1.0f + 0.2316419f * abs(x));
    Tensor series =
        k * (0.319381530f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    Tensor tail = 0.39894228f * exp(-0.5f * x * x) * series;
    return where(x < 0.0f, tail, 1.0f - tail);
}
/// Prices of calls and of puts: F. Black and M. Scholes, "The Pricing of Options and Corporate
/// Liabilities", 1973.
std::pair<Tensor, Tensor> option_prices(Tensor spot, Tensor strike, Tensor time, Tensor rate,
                                        Tensor volatility) {
    Tensor spread = volatility * sqrt(time);
    Tensor d1 = (log(spot / strike) + (rate + 0.5f * volatility * volatility) * time) / spread;
    Tensor d2 = d1 - spread;
    Tensor owed = strike * exp(-rate * time);
    Tensor call = spot * cumulative_normal(d1) - owed * cumulative_normal(d2);
    Tensor put = owed * cumulative_normal(-d2) - spot * cumulative_normal(-d1);
    return {call, put};
}

double host_cumulative_normal(double x) {
    const double k = 1 / (1 + 0.2316419 * std::abs(x));
    const double series =
        k * (0.319381530 +
             k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    const double tail = std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0)) * series;
    return x < 0 ? tail : 1 - tail;
}
std::vector<std::vector<float>> host_option_prices(const std::vector<float>& spots,
                                                   const std::vector<float>& strikes,
                                                   const std::vector<float>& times) {
    constexpr double kRate = double(kOptionRate), kVolatility = double(kOptionVolatility);
    std::vector<float> calls, puts;
    for (size_t k = 0; k < spots.size(); ++k) {
        const double spot = double(spots[k]), strike = double(strikes[k]), time = double(times[k]);
        const double spread = kVolatility * std::sqrt(time);
        const double d1 =
            (std::log(spot / strike) + (kRate + 0.5 * kVolatility * kVolatility) * time) / spread;
        const double d2 = d1 - spread, owed = strike * std::exp(-kRate * time);
        calls.push_back(
            float(spot * host_cumulative_normal(d1) - owed * host_cumulative_normal(d2)));
        puts.push_back(
            float(owed * host_cumulative_normal(-d2) - spot * host_cumulative_normal(-d1)));
    }
    return {calls, puts};
}

constexpr const char* kPlainOptions = R"(
const float rate = 0.02, volatility = 0.3;
float normal(float x) {
    float k = 1.0 / (1.0 + 0.2316419 * abs(x));
    float series = k * (0.319381530 + k * (-0.356563782 +
                   k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    float tail = 0.39894228 * exp(-0.5 * x * x) * series;
    return x < 0.0 ? tail : 1.0 - tail;
}
void main() {
    int own = int(gl_GlobalInvocationID.x);
    float spot = spot_at(own), strike = strike_at(own), time = time_at(own);
    float spread = volatility * sqrt(time);
    float d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread;
    float d2 = d1 - spread, owed = strike * exp(-rate * time);
    call[own] = spot * normal(d1) - owed * normal(d2);
    put[own] = owed * normal(-d2) - spot * normal(-d1);
}
)";

// Four options in an invocation. As spot * density(d1) is owed * density(d2), there is one density;
// both tails share a division, and the put comes from the call. Groups of 64 take 1.05 times as
// long, the plain one four at a time 1.1 times; hand-written logarithms and exponentials gain
// nothing.
constexpr const char* kBestOptions = R"(
const float rate = 0.02, volatility = 0.3;
vec4 series(vec4 k) {
    return k * (0.319381530 + k * (-0.356563782 +
           k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
}
void main() {
    int own = int(gl_GlobalInvocationID.x);
    vec4 spot = spot_at(own), strike = strike_at(own), time = time_at(own);
    vec4 spread = volatility * sqrt(time);
    vec4 d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread;
    vec4 d2 = d1 - spread, owed = strike * exp(-rate * time);
    vec4 density = 0.39894228 * spot * exp(-0.5 * d1 * d1);
    vec4 a = 1.0 + 0.2316419 * abs(d1), b = 1.0 + 0.2316419 * abs(d2), both = 1.0 / (a * b);
    vec4 tail1 = density * series(b * both), tail2 = density * series(a * both);
    vec4 price = mix(spot - tail1, tail1, lessThan(d1, vec4(0))) -
                 mix(owed - tail2, tail2, lessThan(d2, vec4(0)));
    call[own] = price;
    put[own] = price - spot + owed;
}
)";

HandProgram options_by_hand(bool best) {
    const As in = best ? As::Texels4 : As::Floats, out = best ? As::Vec4s : As::Floats;
    return {{{"options",
              best ? kBestOptions : kPlainOptions,
              {256, 1, 1},
              {int(kOptions / (best ? 1024 : 256)), 1, 1},
              {{"spot", in, 0},
               {"strike", in, 1},
               {"time", in, 2},
               {"call", out, 3, true},
               {"put", out, 4, true}},
              {}}},
            {},
            {}};
}

Contest options() {
    auto f = compile(option_prices, {f32("n"), f32("n"), f32("n"), f32(), f32()});
    const std::vector<float> spots = numbers(kOptions, 5, 30, 1),
                             strikes = numbers(kOptions, 1, 100, 2),
                             times = numbers(kOptions, 0.25f, 10, 3);
    // The fewest operations known. d1 and d2 take a logarithm, a root, two quotients, and 4; the
    // density of one, which gives the other's, an exponential and 4; the discounted strike an
    // exponential and 2; each of two tails a reciprocal and 12; the call 7 with two choices, the
    // put 2.
    return {.least = {12.0 * kOptions, 8.0 * kOptions, 51.0 * kOptions},
            .arguments = {spots, strikes, times},
            .results = {kOptions, kOptions},
            .firn =
                [f, s = tensor(spots), k = tensor(strikes), t = tensor(times)] {
                    auto [call, put] = f(s, k, t, kOptionRate, kOptionVolatility);
                    return std::vector<Tensor>{call, put};
                },
            .best = options_by_hand(true),
            .plain = options_by_hand(false),
            .expected = [=] { return host_option_prices(spots, strikes, times); }};
}

}  // namespace

void add_fields(std::vector<Case>& cases) {
    constexpr const char* kStepped = "its steps wait for one another, and the fields fill a cache";
    cases.push_back(
        {"maxwell", [] { return maxwell(maxwell_steps); }, Section::Training, kStepped});
    cases.push_back({"maxwell_kernel", [] { return maxwell(maxwell_steps_kernel); },
                     Section::Training, kStepped});
    cases.push_back({"options", options, Section::Training,
                     "logarithms, exponentials and roots are many operations each"});
}

}  // namespace firn::bench
