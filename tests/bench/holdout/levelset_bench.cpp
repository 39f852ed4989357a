// A level set in space made a distance to its surface again, in pseudo-time.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kLevelSetSide = 96, kLevelSetSteps = 4;
constexpr int64_t kLevelSetCells = int64_t(kLevelSetSide) * kLevelSetSide * kLevelSetSide;
constexpr float kLevelSetStep = 0.3f;  // of a cell

Tensor level_set_minmod(const Tensor& a, const Tensor& b) {
    return where(a * b > 0.0f, where(abs(a) < abs(b), a, b), 0.0f);
}
/// M. Sussman, P. Smereka and S. Osher, "A Level Set Approach for Computing Solutions to
/// Incompressible Two-Phase Flow", 1994: differences of second order (ENO), Godunov's choice
/// between them. Values at the edges continue outside.
Tensor level_set_distance(Tensor start, Tensor step) {
    Tensor phi = start, sign = start / sqrt(square(start) + 1.0f);
    for (Tensor turn : loop(kLevelSetSteps)) {
        Tensor padded = pad(phi, PadMode::Edge, {.before = {2, 2, 2}, .after = {2, 2, 2}});
        Tensor slope = zeros(phi.shape());
        for (int axis = 0; axis < 3; ++axis) {
            auto shifted = [&](int by) {
                std::array<IndexRange, 3> part{range(2, -2), range(2, -2), range(2, -2)};
                part[size_t(axis)] = range(2 + by, phi.size(axis) + (2 + by));
                return Tensor(padded(part[0], part[1], part[2]));
            };
            Tensor back2 = shifted(-2), back1 = shifted(-1), next1 = shifted(1), next2 = shifted(2);
            Tensor curve = back1 - 2.0f * phi + next1;
            Tensor curve_back = back2 - 2.0f * back1 + phi, curve_next = phi - 2.0f * next1 + next2;
            Tensor back = phi - back1 + 0.5f * level_set_minmod(curve, curve_back);
            Tensor next = next1 - phi - 0.5f * level_set_minmod(curve, curve_next);
            Tensor outside = max(square(max(back, 0.0f)), square(min(next, 0.0f)));
            Tensor inside = max(square(min(back, 0.0f)), square(max(next, 0.0f)));
            slope += where(start > 0.0f, outside, inside);
        }
        phi -= step * sign * (sqrt(slope) - 1.0f);
    }
    return phi;
}
Tensor level_set_distance_kernel(Tensor start, Tensor step) {
    auto depth = start.size(0), h = start.size(1), w = start.size(2);
    Tensor phi = start;
    for (Tensor turn : loop(kLevelSetSteps)) {
        Tensor stepped = zeros({depth, h, w});
        kernel({depth, h, w}, [&](Tensor z, Tensor y, Tensor x) {
            Tensor from = start(z, y, x), own = phi(z, y, x), slope = 0.0f;
            for (int axis = 0; axis < 3; ++axis) {
                auto at = [&](int by) {
                    return Tensor(phi(axis == 0 ? z + by : z, axis == 1 ? y + by : y,
                                      axis == 2 ? x + by : x));
                };
                Tensor back2 = at(-2), back1 = at(-1), next1 = at(1), next2 = at(2);
                Tensor curve = back1 - 2.0f * own + next1;
                Tensor back =
                    own - back1 + 0.5f * level_set_minmod(curve, back2 - 2.0f * back1 + own);
                Tensor next =
                    next1 - own - 0.5f * level_set_minmod(curve, own - 2.0f * next1 + next2);
                if_(
                    from > 0.0f,
                    [&] { slope += max(square(max(back, 0.0f)), square(min(next, 0.0f))); },
                    [&] { slope += max(square(min(back, 0.0f)), square(max(next, 0.0f))); });
            }
            Tensor sign = from * rsqrt(from * from + 1.0f);
            stepped(z, y, x) = own - step * sign * (sqrt(slope) - 1.0f);
        });
        phi = stepped;
    }
    return phi;
}

std::vector<std::vector<float>> host_level_set(const std::vector<float>& start) {
    constexpr int n = kLevelSetSide;
    const auto minmod = [](double a, double b) {
        return a * b <= 0 ? 0.0 : std::abs(a) < std::abs(b) ? a : b;
    };
    std::vector<double> phi(start.begin(), start.end());
    for (int turn = 0; turn < kLevelSetSteps; ++turn) {
        const std::vector<double> old = phi;
        for (int z = 0; z < n; ++z)
            for (int y = 0; y < n; ++y)
                for (int x = 0; x < n; ++x) {
                    const size_t at = size_t((z * n + y) * n + x);
                    const double from = double(start[at]);
                    double slope = 0;
                    for (int axis = 0; axis < 3; ++axis) {
                        const int along = axis == 0 ? z : axis == 1 ? y : x;
                        const int stride = axis == 0 ? n * n : axis == 1 ? n : 1;
                        std::array<double, 5> p{};
                        for (int k = 0; k < 5; ++k) {
                            const int by = std::clamp(along + k - 2, 0, n - 1) - along;
                            p[size_t(k)] = old[size_t(int(at) + by * stride)];
                        }
                        const double curve = p[1] - 2 * p[2] + p[3];
                        const double back =
                            p[2] - p[1] + 0.5 * minmod(curve, p[0] - 2 * p[1] + p[2]);
                        const double next =
                            p[3] - p[2] - 0.5 * minmod(curve, p[2] - 2 * p[3] + p[4]);
                        const double rise =
                            from > 0 ? std::max({back, -next, 0.0}) : std::max({-back, next, 0.0});
                        slope += rise * rise;
                    }
                    const double sign = from / std::sqrt(from * from + 1);
                    phi[at] -= double(kLevelSetStep) * sign * (std::sqrt(slope) - 1);
                }
    }
    return {std::vector<float>(phi.begin(), phi.end())};
}

constexpr const char* kPlainLevelSet = R"(
float at(ivec3 place) {
    place = clamp(place, ivec3(0), ivec3(SIDE - 1));
    return phi_at((place.z * SIDE + place.y) * SIDE + place.x);
}
float minmod(float a, float b) {
    return a * b <= 0.0 ? 0.0 : abs(a) < abs(b) ? a : b;
}
float square(float x) { return x * x; }
void main() {
    ivec3 place = ivec3(gl_GlobalInvocationID);
    int own_at = (place.z * SIDE + place.y) * SIDE + place.x;
    float from = start_at(own_at), own = phi_at(own_at), slope = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        ivec3 by = ivec3(axis == 0, axis == 1, axis == 2);
        float back2 = at(place - 2 * by), back1 = at(place - by);
        float next1 = at(place + by), next2 = at(place + 2 * by);
        float curve = back1 - 2.0 * own + next1;
        float back = own - back1 + 0.5 * minmod(curve, back2 - 2.0 * back1 + own);
        float next = next1 - own - 0.5 * minmod(curve, own - 2.0 * next1 + next2);
        if (from > 0.0) slope += max(square(max(back, 0.0)), square(min(next, 0.0)));
        else slope += max(square(min(back, 0.0)), square(max(next, 0.0)));
    }
    float sign_ = from / sqrt(from * from + 1.0);
    stepped[own_at] = own - 0.3 * sign_ * (sqrt(slope) - 1.0);
}
)";

// Eight lanes have a row, 12 cells each, and go down the rows of their plane. A difference and
// minmod between two cells serves both: along the row they share it, and down the rows it is kept.
// If the sign of the start is factored out, Godunov's choice is the larger one of two slopes and 0.
constexpr const char* kBestLevelSet = R"(
const int Q = SIDE / 4;
float minmod(float a, float b) { return max(min(a, b), 0.0) + min(max(a, b), 0.0); }
void main() {
    int lane = int(gl_LocalInvocationID.x), z = int(gl_WorkGroupID.x), first = lane * 3;
    int plane = z * SIDE * Q + first;
    int up2 = max(z - 2, 0) * SIDE * Q + first, up1 = max(z - 1, 0) * SIDE * Q + first;
    int low1 = min(z + 1, SIDE - 1) * SIDE * Q + first;
    int low2 = min(z + 2, SIDE - 1) * SIDE * Q + first;
    int before = max(lane - 1, 0), after = min(lane + 1, 7);
    float own[12], below[12], step_[12], curve[12], behind[12];
    [[unroll]] for (int part = 0; part < 3; ++part) {
        vec4 a = phi_at(plane + part), b = phi_at(plane + Q + part);
        [[unroll]] for (int k = 0; k < 4; ++k) {
            int q = 4 * part + k;
            own[q] = a[k], below[q] = b[k], curve[q] = step_[q] = b[k] - a[k], behind[q] = 0.0;
        }
    }
    for (int y = 0; y < SIDE; ++y) {
        float row[16], across[13], apart[15];
        [[unroll]] for (int q = 0; q < 12; ++q) row[q + 2] = own[q];
        float left2 = eight_shuffle(own[10], before), left1 = eight_shuffle(own[11], before);
        float right1 = eight_shuffle(own[0], after), right2 = eight_shuffle(own[1], after);
        row[0] = lane == 0 ? own[0] : left2, row[1] = lane == 0 ? own[0] : left1;
        row[14] = lane == 7 ? own[11] : right1, row[15] = lane == 7 ? own[11] : right2;
        [[unroll]] for (int q = 0; q < 15; ++q) apart[q] = row[q + 1] - row[q];
        [[unroll]] for (int q = 0; q < 13; ++q)
            across[q] = 0.5 * minmod(apart[q + 1] - apart[q], apart[q + 2] - apart[q + 1]);
        [[unroll]] for (int part = 0; part < 3; ++part) {
            int at = y * Q + part, later = min(y + 2, SIDE - 1) * Q + part;
            vec4 from = start_at(plane + at), further = phi_at(plane + later), stepped_;
            vec4 a = phi_at(up2 + at), b = phi_at(up1 + at);
            vec4 d = phi_at(low1 + at), e = phi_at(low2 + at);
            [[unroll]] for (int k = 0; k < 4; ++k) {
                int q = 4 * part + k;
                float sign_ = from[k] * (0.3 / sqrt(from[k] * from[k] + 1.0));
                float side = from[k] > 0.0 ? 1.0 : -1.0;
                float back = apart[q + 1] + across[q], next = apart[q + 2] - across[q + 1];
                float rise = max(max(side * back, -side * next), 0.0), slope = rise * rise;

                float ab = b[k] - a[k], bc = own[q] - b[k], cd = d[k] - own[q], de = e[k] - d[k];
                float curve_ = cd - bc;
                back = bc + 0.5 * minmod(bc - ab, curve_);
                next = cd - 0.5 * minmod(curve_, de - cd);
                rise = max(max(side * back, -side * next), 0.0), slope += rise * rise;

                float new_step = further[k] - below[q], new_curve = new_step - step_[q];
                float bend = 0.5 * minmod(curve[q], new_curve);
                rise = max(max(side * behind[q], -side * (step_[q] - bend)), 0.0);
                slope += rise * rise;
                behind[q] = step_[q] + bend, step_[q] = new_step, curve[q] = new_curve;

                stepped_[k] = own[q] - sign_ * (sqrt(slope) - 1.0);
                own[q] = below[q], below[q] = further[k];
            }
            stepped[plane + at] = stepped_;
        }
    }
}
)";

HandProgram level_set_program(const char* text, As read, As write, std::array<uint32_t, 3> group,
                              std::array<int, 3> groups) {
    HandProgram out;
    out.kernels = {{"level_set",
                    text,
                    group,
                    groups,
                    {{"start", read, 0}, {"phi", read, 0}, {"stepped", write, 1, true}},
                    {{"SIDE", kLevelSetSide}}}};
    // 0 is the start, 1 the result, and 2 holds every other step.
    out.temporaries = {kLevelSetCells};
    for (int k = 0; k < kLevelSetSteps; ++k) {
        const int to = (kLevelSetSteps - k) % 2 == 1 ? 1 : 2;
        out.steps.push_back({0, {0, k == 0 ? 0 : 3 - to, to}});
    }
    return out;
}
HandProgram plain_level_set() {
    return level_set_program(kPlainLevelSet, As::Floats, As::Floats, {32, 4, 1},
                             {kLevelSetSide / 32, kLevelSetSide / 4, kLevelSetSide});
}
HandProgram best_level_set() {
    return level_set_program(kBestLevelSet, As::Texels4, As::Vec4s, {8, 1, 1},
                             {kLevelSetSide, 1, 1});
}

Contest level_set(Tensor (*program)(Tensor, Tensor)) {
    auto f = compile(program, {f32("d", "h", "w"), f32()});
    // A ball with bumps, whose slope is not 1.
    std::vector<float> start;
    const Plane bumps = hills(kLevelSetSide, kLevelSetSide, 5);
    for (int z = 0; z < kLevelSetSide; ++z)
        for (int y = 0; y < kLevelSetSide; ++y)
            for (int x = 0; x < kLevelSetSide; ++x) {
                const float middle = 0.5f * float(kLevelSetSide - 1), radius = 30;
                const float dx = float(x) - middle, dy = float(y) - middle, dz = float(z) - middle;
                const float off = dx * dx + dy * dy + dz * dz - radius * radius;
                start.push_back(off / radius + 4 * bumps(y, x) * bumps(z, y));
            }
    // The fewest operations known. Per cell and step, along each axis: two differences and a minmod
    // of 5, which neighbours share, 4 for the slopes and 5 for the larger one and its square; then
    // 3 to add these up and take the root, and 3 for the step. The sign's 5 are the same in all
    // steps. Between the steps all may stay in caches.
    return {.least = {4.0 * kLevelSetCells, 4.0 * kLevelSetCells,
                      (3 * 16.0 + 6) * kLevelSetSteps * kLevelSetCells + 5.0 * kLevelSetCells},
            .arguments = {start},
            .results = {kLevelSetCells},
            .firn =
                [f, phi = tensor(start, {kLevelSetSide, kLevelSetSide, kLevelSetSide})] {
                    return std::vector<Tensor>{f(phi, kLevelSetStep)};
                },
            .best = best_level_set(),
            .plain = plain_level_set(),
            .expected = [=] { return host_level_set(start); }};
}

constexpr const char* kLevelSetFar =
    "rows of four neighbouring planes are read for each row, and stores are dear";

}  // namespace

void add_levelset(std::vector<Case>& cases) {
    cases.push_back(
        {"levelset", [] { return level_set(level_set_distance); }, Section::Holdout, kLevelSetFar});
    cases.push_back({"levelset_kernel", [] { return level_set(level_set_distance_kernel); },
                     Section::Holdout, kLevelSetFar});
}

}  // namespace firn::bench
