// Poisson's equation by multigrid: V-cycles with red and black relaxation.
#include <firn/firn.h>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

// Inner points of a square, around which the solution is 0: 511, 255, .., 1 on a side.
constexpr int kMultigridLevels = 9, kMultigridSide = (1 << kMultigridLevels) - 1;
constexpr int kMultigridCycles = 3, kMultigridBefore = 2, kMultigridAfter = 1;
constexpr int64_t kMultigridPoints = int64_t(kMultigridSide) * kMultigridSide;
constexpr float kMultigridSpacing = 1.0f / float(kMultigridSide + 1);

/// Half a sweep of Gauss and Seidel: the points of one colour.
Tensor multigrid_relax(const Tensor& u, const Tensor& f, const Tensor& spacing, int colour) {
    auto [i, j] = indices<2>(u.shape());
    Tensor around = zero(u)(i - 1, j) + zero(u)(i + 1, j) + zero(u)(i, j - 1) + zero(u)(i, j + 1);
    return where((i + j) % 2 == colour, 0.25f * (around + spacing * spacing * f), u);
}
/// W. Briggs, V. Henson and S. McCormick, "A Multigrid Tutorial", 2000: full weighting on the way
/// down, bilinear on the way up.
Tensor multigrid_cycle(Tensor u, Tensor f, Tensor spacing, int level) {
    for (int k = 0; k < 2 * kMultigridBefore; ++k) u = multigrid_relax(u, f, spacing, k % 2);
    if (level > 0) {
        auto [i, j] = indices<2>(u.shape());
        Tensor around =
            zero(u)(i - 1, j) + zero(u)(i + 1, j) + zero(u)(i, j - 1) + zero(u)(i, j + 1);
        Tensor residual = f - (4.0f * u - around) / (spacing * spacing);
        auto [y, x] = indices<2>(Shape{(u.size(0) - 1) / 2, (u.size(1) - 1) / 2});
        Tensor y0 = 2 * y, y1 = y0 + 1, y2 = y0 + 2, x0 = 2 * x, x1 = x0 + 1, x2 = x0 + 2;
        Tensor sides = residual(y0, x1) + residual(y2, x1) + residual(y1, x0) + residual(y1, x2);
        Tensor corners = residual(y0, x0) + residual(y0, x2) + residual(y2, x0) + residual(y2, x2);
        Tensor coarse = 0.25f * residual(y1, x1) + 0.125f * sides + 0.0625f * corners;
        Tensor error = multigrid_cycle(zeros(coarse.shape()), coarse, 2.0f * spacing, level - 1);
        Tensor up = floor_div(i - 1, 2), low = i / 2, left = floor_div(j - 1, 2), right = j / 2;
        u += 0.25f * (zero(error)(up, left) + zero(error)(up, right) + zero(error)(low, left) +
                      zero(error)(low, right));
    }
    for (int k = 0; k < 2 * kMultigridAfter; ++k) u = multigrid_relax(u, f, spacing, k % 2);
    return u;
}
Tensor multigrid_solve(Tensor f, Tensor spacing) {
    Tensor u = zeros(f.shape());
    for (Tensor cycle : loop(kMultigridCycles))
        u = multigrid_cycle(u, f, spacing, kMultigridLevels - 1);
    return u;
}

Tensor multigrid_cycle_kernel(Tensor u, Tensor f, Tensor spacing, int level) {
    auto h = u.size(0), w = u.size(1);
    auto relax = [&](int colour) {
        kernel({h, (w + 1) / 2}, [&](Tensor i, Tensor half) {
            Tensor j = 2 * half + ((i + colour) & 1);
            Tensor around =
                zero(u)(i - 1, j) + zero(u)(i + 1, j) + zero(u)(i, j - 1) + zero(u)(i, j + 1);
            if_(j < Tensor(w), [&] { u(i, j) = 0.25f * (around + spacing * spacing * f(i, j)); });
        });
    };
    for (int k = 0; k < 2 * kMultigridBefore; ++k) relax(k % 2);
    if (level > 0) {
        Tensor residual = zeros({h, w});
        kernel({h, w}, [&](Tensor i, Tensor j) {
            Tensor around =
                zero(u)(i - 1, j) + zero(u)(i + 1, j) + zero(u)(i, j - 1) + zero(u)(i, j + 1);
            residual(i, j) = f(i, j) - (4.0f * u(i, j) - around) / (spacing * spacing);
        });
        Shape half{(h - 1) / 2, (w - 1) / 2};
        Tensor coarse = zeros(half);
        kernel(half, [&](Tensor y, Tensor x) {
            Tensor sum = 0.0f;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    const float weight = (dy == 0 ? 0.5f : 0.25f) * (dx == 0 ? 0.5f : 0.25f);
                    sum += weight * residual(2 * y + 1 + dy, 2 * x + 1 + dx);
                }
            coarse(y, x) = sum;
        });
        Tensor error = multigrid_cycle_kernel(zeros(half), coarse, 2.0f * spacing, level - 1);
        kernel({h, w}, [&](Tensor i, Tensor j) {
            Tensor up = floor_div(i - 1, 2), low = i / 2, left = floor_div(j - 1, 2), right = j / 2;
            Tensor sum = zero(error)(up, left) + zero(error)(up, right) + zero(error)(low, left) +
                         zero(error)(low, right);
            u(i, j) = u(i, j) + 0.25f * sum;
        });
    }
    for (int k = 0; k < 2 * kMultigridAfter; ++k) relax(k % 2);
    return u;
}
Tensor multigrid_solve_kernel(Tensor f, Tensor spacing) {
    Tensor u = zeros(f.shape());
    for (Tensor cycle : loop(kMultigridCycles))
        u = multigrid_cycle_kernel(u, f, spacing, kMultigridLevels - 1);
    return u;
}

/// A level on the host, with zeros around it.
struct MultigridLevel {
    explicit MultigridLevel(int n) : side(n), values(size_t(n + 2) * size_t(n + 2)) {}
    double& operator()(int i, int j) {
        return values[size_t(i + 1) * size_t(side + 2) + size_t(j + 1)];
    }
    double around(int i, int j) {
        return (*this)(i - 1, j) + (*this)(i + 1, j) + (*this)(i, j - 1) + (*this)(i, j + 1);
    }
    int side;
    std::vector<double> values;
};

void host_multigrid_cycle(MultigridLevel& u, MultigridLevel& f, double spacing) {
    const int n = u.side;
    const auto sweeps = [&](int count) {
        for (int k = 0; k < 2 * count; ++k)
            for (int i = 0; i < n; ++i)
                for (int j = (i + k) & 1; j < n; j += 2)
                    u(i, j) = 0.25 * (u.around(i, j) + spacing * spacing * f(i, j));
    };
    sweeps(kMultigridBefore);
    if (n > 1) {
        MultigridLevel residual(n), coarse(n / 2), error(n / 2);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                residual(i, j) = f(i, j) - (4 * u(i, j) - u.around(i, j)) / (spacing * spacing);
        for (int i = 0; i < n / 2; ++i)
            for (int j = 0; j < n / 2; ++j)
                for (int di = -1; di <= 1; ++di)
                    for (int dj = -1; dj <= 1; ++dj)
                        coarse(i, j) += residual(2 * i + 1 + di, 2 * j + 1 + dj) /
                                        double(4 << (di * di + dj * dj));
        host_multigrid_cycle(error, coarse, 2 * spacing);
        // Goes from each coarse point to those around it.
        for (int i = 0; i < n / 2; ++i)
            for (int j = 0; j < n / 2; ++j)
                for (int di = -1; di <= 1; ++di)
                    for (int dj = -1; dj <= 1; ++dj)
                        u(2 * i + 1 + di, 2 * j + 1 + dj) +=
                            error(i, j) / double(1 << (di * di + dj * dj));
    }
    sweeps(kMultigridAfter);
}
std::vector<std::vector<float>> host_multigrid(const Plane& right_side) {
    const int n = kMultigridSide;
    MultigridLevel u(n), f(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) f(i, j) = double(right_side(i, j));
    for (int k = 0; k < kMultigridCycles; ++k)
        host_multigrid_cycle(u, f, double(kMultigridSpacing));
    std::vector<float> out;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) out.push_back(float(u(i, j)));
    return {out};
}

constexpr const char* kPlainMultigridClear = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x < SIDE && y < SIDE) u[y * SIDE + x] = 0.0;
}
)";

// The sweep works in place: one colour reads the other.
constexpr const char* kPlainMultigridRelax = R"(
float value(int y, int x) {
    return x >= 0 && x < SIDE && y >= 0 && y < SIDE ? u_at(y * SIDE + x) : 0.0;
}
void main() {
    int y = int(gl_GlobalInvocationID.y);
    int x = 2 * int(gl_GlobalInvocationID.x) + ((y + COLOUR) & 1), at = y * SIDE + x;
    if (x >= SIDE || y >= SIDE) return;
    float spacing = 1.0 / float(SIDE + 1);
    float around = value(y - 1, x) + value(y + 1, x) + value(y, x - 1) + value(y, x + 1);
    u[at] = 0.25 * (around + spacing * spacing * f_at(at));
}
)";

constexpr const char* kPlainMultigridResidual = R"(
float value(int y, int x) {
    return x >= 0 && x < SIDE && y >= 0 && y < SIDE ? u_at(y * SIDE + x) : 0.0;
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), at = y * SIDE + x;
    if (x >= SIDE || y >= SIDE) return;
    float spacing = 1.0 / float(SIDE + 1);
    float around = value(y - 1, x) + value(y + 1, x) + value(y, x - 1) + value(y, x + 1);
    residual[at] = f_at(at) - (4.0 * value(y, x) - around) / (spacing * spacing);
}
)";

// SIDE is that of the finer level, here and in the next one.
constexpr const char* kPlainMultigridRestrict = R"(
float value(int y, int x) { return residual_at(y * SIDE + x); }
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x >= SIDE / 2 || y >= SIDE / 2) return;
    int i = 2 * y + 1, j = 2 * x + 1;
    float sides = value(i - 1, j) + value(i + 1, j) + value(i, j - 1) + value(i, j + 1);
    float corners = value(i - 1, j - 1) + value(i - 1, j + 1) + value(i + 1, j - 1) +
                    value(i + 1, j + 1);
    coarse[y * (SIDE / 2) + x] = 0.25 * value(i, j) + 0.125 * sides + 0.0625 * corners;
}
)";

constexpr const char* kPlainMultigridProlong = R"(
float value(int y, int x) {
    return x >= 0 && x < SIDE / 2 && y >= 0 && y < SIDE / 2 ? error_at(y * (SIDE / 2) + x) : 0.0;
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), at = y * SIDE + x;
    if (x >= SIDE || y >= SIDE) return;
    int up = (y - 1) >> 1, low = y >> 1, left = (x - 1) >> 1, right = x >> 1;
    u[at] = u_at(at) + 0.25 * (value(up, left) + value(up, right) + value(low, left) +
                               value(low, right));
}
)";

HandProgram plain_multigrid() {
    HandProgram out;
    // 0 is the right side, 1 the solution, 2 a residual, then both of each coarser level.
    out.temporaries = {kMultigridPoints};
    const auto u_of = [](int depth) { return depth == 0 ? 1 : 2 * depth + 1; };
    const auto f_of = [](int depth) { return depth == 0 ? 0 : 2 * depth + 2; };
    std::vector<HandStep> down, up;
    for (int depth = 0; depth < kMultigridLevels; ++depth) {
        const int side = kMultigridSide >> depth, first = int(out.kernels.size());
        const int u = u_of(depth), f = f_of(depth), next_u = u_of(depth + 1),
                  next_f = f_of(depth + 1);
        if (depth > 0) out.temporaries.insert(out.temporaries.end(), 2, int64_t(side) * side);
        const auto add = [&](const char* text, int columns, std::vector<HandBinding> bindings,
                             int colour) {
            out.kernels.push_back({"multigrid",
                                   text,
                                   {64, 4, 1},
                                   {(columns + 63) / 64, (side + 3) / 4, 1},
                                   std::move(bindings),
                                   {{"SIDE", side}, {"COLOUR", colour}}});
        };
        add(kPlainMultigridClear, side, {{"u", As::Floats, u, true}}, 0);
        for (int colour = 0; colour < 2; ++colour)
            add(kPlainMultigridRelax, side / 2 + 1,
                {{"u", As::Floats, u, true}, {"f", As::Floats, f}}, colour);
        if (depth > 0) down.push_back({first, {}});
        for (int k = 0; k < 2 * kMultigridBefore; ++k) down.push_back({first + 1 + k % 2, {}});
        std::vector<HandStep> back;
        if (side > 1) {
            add(kPlainMultigridResidual, side,
                {{"u", As::Floats, u}, {"f", As::Floats, f}, {"residual", As::Floats, 2, true}}, 0);
            add(kPlainMultigridRestrict, side,
                {{"residual", As::Floats, 2}, {"coarse", As::Floats, next_f, true}}, 0);
            add(kPlainMultigridProlong, side,
                {{"error", As::Floats, next_u}, {"u", As::Floats, u, true}}, 0);
            down.push_back({first + 3, {}});
            down.push_back({first + 4, {}});
            back.push_back({first + 5, {}});
        }
        for (int k = 0; k < 2 * kMultigridAfter; ++k) back.push_back({first + 1 + k % 2, {}});
        up.insert(up.begin(), back.begin(), back.end());
    }
    out.steps = {{0, {}}};
    for (int cycle = 0; cycle < kMultigridCycles; ++cycle) {
        out.steps.insert(out.steps.end(), down.begin(), down.end());
        out.steps.insert(out.steps.end(), up.begin(), up.end());
    }
    return out;
}

// All steps of a level: begins with 0 or with the old values plus the coarser level's correction
// (ADD), does HALVES of sweeps, and computes the right side of the coarser level (COARSER). In
// place, in private memory: eight lanes beside one another have C columns each and go down ROWS
// rows; when row y comes, the first half takes row y - 1, the next one row y - 2, and so on, which
// means the same columns, every other one, for all of them. Wrong values at a tile's borders spread
// by a point with each half, and are not stored. Residuals are 0 at the points of the last half, so
// that only every second point is read. Right sides are multiplied by the spacing's square, rows
// are S wide, and the column behind the last one is 0. After the last cycle they are N wide.
constexpr const char* kBestMultigridPass = R"(
const int W = HALVES + 3;
const float F_SCALE = 1.0 / float(F_PARTS * F_PARTS);
void main() {
    int lane = int(gl_LocalInvocationID.x), before = max(lane - 1, 0), after = min(lane + 1, 7);
    int left = int(gl_WorkGroupID.x) * (8 * C - 2 * HALO) - HALO, first = left + lane * C;
    int begin = int(gl_WorkGroupID.y) * ROWS, end = min(begin + ROWS, N);
    float weight[C], u[W * C], rhs[W * C], sums[C / 2];
    [[unroll]] for (int q = 0; q < C; ++q)
        weight[q] = first + q >= 0 && first + q < N ? 0.25 : 0.0;
    [[unroll]] for (int k = 0; k < W * C; ++k) u[k] = rhs[k] = 0.0;
    [[unroll]] for (int k = 0; k < C / 2; ++k) sums[k] = 0.0;
    for (int top = begin - HALO; top < end + HALO; top += 2)
        [[unroll]] for (int p = 0; p < 2; ++p) {
            int y = top + p, row = clamp(y, 0, N - 1);
            [[unroll]] for (int k = W * C - 1; k >= C; --k) u[k] = u[k - C], rhs[k] = rhs[k - C];
            [[unroll]] for (int q = 0; q < C; ++q) {
                rhs[q] = f_at(row * F_WIDTH + first + q) * F_SCALE;
                u[q] = 0.0;
            }
            if (ADD == 1) {
                float both[C / 2 + 1];
                int low = y >> 1, up = (y - 1) >> 1;
                float of_low = low >= 0 && low < N / 2 ? 1.0 - 0.5 * float(1 - p) : 0.0;
                int from = clamp(low, 0, N / 2 - 1) * (S / 2) + (first >> 1) - 1;
                [[unroll]] for (int k = 0; k <= C / 2; ++k) both[k] = of_low * error_at(from + k);
                if (p == 0) {
                    float of_up = up >= 0 && up < N / 2 ? 0.5 : 0.0;
                    from = clamp(up, 0, N / 2 - 1) * (S / 2) + (first >> 1) - 1;
                    [[unroll]] for (int k = 0; k <= C / 2; ++k)
                        both[k] += of_up * error_at(from + k);
                }
                float inside = y == row ? 4.0 : 0.0;
                [[unroll]] for (int q = 0; q < C; q += 2) {
                    float even = 0.5 * (both[q / 2] + both[q / 2 + 1]), odd = both[q / 2 + 1];
                    int at = row * S + first + q;
                    u[q] = (u_from_at(at) + even) * (inside * weight[q]);
                    u[q + 1] = (u_from_at(at + 1) + odd) * (inside * weight[q + 1]);
                }
            }
            [[unroll]] for (int half_ = 0; half_ < HALVES; ++half_) {
                int of = y - 1 - half_, here = (half_ + 1) * C, above = here + C, below = here - C;
                float inside = of >= 0 && of < N ? 1.0 : 0.0;
                float beside = p == 1 ? eight_shuffle(u[here + C - 1], before)
                                      : eight_shuffle(u[here], after);
                [[unroll]] for (int k = 0; k < C / 2; ++k) {
                    int q = 2 * k + 1 - p;
                    float from_left = q == 0 ? beside : u[here + max(q - 1, 0)];
                    float from_right = q == C - 1 ? beside : u[here + min(q + 1, C - 1)];
                    float around = (from_left + from_right) + (u[above + q] + u[below + q]);
                    u[here + q] = (around + rhs[here + q]) * (weight[q] * inside);
                }
            }
            int done = y - HALVES;
            if (done >= begin && done < end)
                [[unroll]] for (int q = 0; q < C; q += 4) {
                    int place = lane * C + q, x = left + place, k = HALVES * C + q;
                    if (place >= HALO && place < 8 * C - HALO && x < S) {
#if LAST
                        int at = done * N + x;
                        u_to[at] = u[k], u_to[at + 1] = u[k + 1], u_to[at + 2] = u[k + 2];
                        if (x + 3 < N) u_to[at + 3] = u[k + 3];
#else
                        u_to[(done * S + x) >> 2] = vec4(u[k], u[k + 1], u[k + 2], u[k + 3]);
#endif
                    }
                }
#if COARSER
            {
                int here = (HALVES + 1) * C, above = here + C, below = here - C;
                float beside = p == 1 ? eight_shuffle(u[here + C - 1], before)
                                      : eight_shuffle(u[here], after);
                float residual[C / 2];
                [[unroll]] for (int k = 0; k < C / 2; ++k) {
                    int q = 2 * k + 1 - p;
                    float from_left = q == 0 ? beside : u[here + max(q - 1, 0)];
                    float from_right = q == C - 1 ? beside : u[here + min(q + 1, C - 1)];
                    float around = (from_left + from_right) + (u[above + q] + u[below + q]);
                    residual[k] = rhs[here + q] - 4.0 * u[here + q] + around;
                }
                if (p == 0) {
                    [[unroll]] for (int k = 0; k < C / 2; ++k) sums[k] += residual[k];
                } else {
                    float next = eight_shuffle(residual[0], after), corners[C / 2];
                    [[unroll]] for (int k = 0; k < C / 2; ++k) {
                        float second = k == C / 2 - 1 ? next : residual[min(k + 1, C / 2 - 1)];
                        corners[k] = 0.25 * (residual[k] + second);
                        sums[k] += corners[k];
                    }
                    int over = y - HALVES - 3;  // the coarse row's first one
                    if (over >= begin && over < end)
                        [[unroll]] for (int k = 0; k < C / 2; k += 4) {
                            int place = lane * C + 2 * k, x = (left + place) / 2;
                            if (place >= HALO && place < 8 * C - HALO && x < S / 2)
                                coarse[((over >> 1) * (S / 2) + x) >> 2] =
                                    vec4(sums[k], sums[k + 1], sums[k + 2], sums[k + 3]);
                        }
                    [[unroll]] for (int k = 0; k < C / 2; ++k) sums[k] = corners[k];
                }
            }
#endif
        }
}
)";

// The levels of 31 points and fewer on a side, in the memory of one group; each with zeros around
// it.
constexpr const char* kBestMultigridSmall = R"(
const int ALL = 33 * 33 + 17 * 17 + 9 * 9 + 5 * 5 + 3 * 3;
shared float u[ALL], rhs[ALL];
float around(int at, int width) { return u[at - width] + u[at + width] + u[at - 1] + u[at + 1]; }
void relax(int base, int side, int colour) {
    barrier();
    int x0 = int(gl_LocalInvocationID.x), y0 = int(gl_LocalInvocationID.y), width = side + 2;
    for (int y = y0; y < side; y += 16) {
        int x = 2 * x0 + ((y + colour) & 1), at = base + (y + 1) * width + x + 1;
        if (x < side) u[at] = 0.25 * (around(at, width) + rhs[at]);
    }
    barrier();
}
float residual(int at, int width) { return rhs[at] - 4.0 * u[at] + around(at, width); }
void main() {
    int x0 = int(gl_LocalInvocationID.x), y0 = int(gl_LocalInvocationID.y);
    for (int k = y0 * 16 + x0; k < ALL; k += 256) u[k] = 0.0;
    for (int y = y0; y < 31; y += 16)
        for (int x = x0; x < 31; x += 16) rhs[(y + 1) * 33 + x + 1] = f_at(y * 32 + x);
    int base = 0, side = 31;
    for (; side > 1; side /= 2) {
        for (int k = 0; k < 4; ++k) relax(base, side, k & 1);
        int next = base + (side + 2) * (side + 2), half_ = side / 2, width = side + 2;
        if (x0 < half_ && y0 < half_) {
            int at = base + (2 * y0 + 2) * width + 2 * x0 + 2;
            rhs[next + (y0 + 1) * (half_ + 2) + x0 + 1] =
                residual(at, width) +
                0.25 * (residual(at - width - 1, width) + residual(at - width + 1, width) +
                        residual(at + width - 1, width) + residual(at + width + 1, width));
        }
        base = next;
    }
    barrier();
    if (x0 == 0 && y0 == 0) u[base + 4] = 0.25 * rhs[base + 4];
    for (side = 3; side < 32; side = 2 * side + 1) {
        barrier();
        int coarse = base, width = side / 2 + 2;
        base -= (side + 2) * (side + 2);
        for (int y = y0; y < side; y += 16)
            for (int x = x0; x < side; x += 16) {
                int up = coarse + ((y + 1) >> 1) * width, low = coarse + ((y + 2) >> 1) * width;
                int from_left = (x + 1) >> 1, from_right = (x + 2) >> 1;
                u[base + (y + 1) * (side + 2) + x + 1] +=
                    0.25 * (u[up + from_left] + u[up + from_right] + u[low + from_left] +
                            u[low + from_right]);
            }
        for (int k = 0; k < 2; ++k) relax(base, side, k);
    }
    for (int y = y0; y < 31; y += 16)
        for (int x = x0; x < 32; x += 16) u_to[y * 32 + x] = u[(y + 1) * 33 + x + 1];
}
)";

HandProgram best_multigrid() {
    constexpr int kDeep = kMultigridLevels - 5;  // of 31
    static const std::string pass[] = {
        "#define LAST 0\n#define COARSER 0\n" + std::string(kBestMultigridPass),
        "#define LAST 0\n#define COARSER 1\n" + std::string(kBestMultigridPass),
        "#define LAST 1\n#define COARSER 0\n" + std::string(kBestMultigridPass)};
    HandProgram out;
    // Buffer 0 is the right side, 1 the solution; then each level has its values before the coarser
    // levels, those after them, and its own right side.
    const auto own = [](int depth) { return 2 + 3 * depth; };
    for (int depth = 0; depth <= kDeep; ++depth)
        out.temporaries.insert(out.temporaries.end(), 3,
                               int64_t((kMultigridSide >> depth) + 1) * (kMultigridSide >> depth));
    const auto add = [&](int depth, int halves, int from, int to, bool coarser) {
        const int side = kMultigridSide >> depth, wide = side + 1, columns = side > 100 ? 16 : 8;
        const int halo = coarser ? 8 : 4, inner = 8 * columns - 2 * halo, rows = wide / 2;
        const bool last = to == 1;
        std::vector<HandBinding> bindings{{"f", As::Texels, depth == 0 ? 0 : own(depth) + 2},
                                          {"u_to", last ? As::Floats : As::Vec4s, to, true},
                                          {"u_from", As::Texels, from < 0 ? 0 : from},
                                          {"error", As::Texels, from < 0 ? 0 : own(depth + 1) + 1}};
        if (coarser) bindings.push_back({"coarse", As::Vec4s, own(depth + 1) + 2, true});
        out.kernels.push_back({"multigrid_pass",
                               pass[last      ? 2
                                    : coarser ? 1
                                              : 0],
                               {8, 1, 1},
                               {(wide + inner - 1) / inner, wide / rows, 1},
                               std::move(bindings),
                               {{"N", side},
                                {"S", wide},
                                {"C", columns},
                                {"HALO", halo},
                                {"ROWS", rows},
                                {"HALVES", halves},
                                {"ADD", from < 0 ? 0 : 1},
                                {"F_WIDTH", depth == 0 ? side : wide},
                                {"F_PARTS", depth == 0 ? wide : 1}}});
    };
    const auto twice = [&](int depth, int cycle) { return own(depth) + cycle % 2; };
    for (int cycle = 0; cycle < kMultigridCycles; ++cycle) {
        add(0, cycle == 0 ? 4 : 6, cycle == 0 ? -1 : twice(0, cycle - 1), twice(0, cycle), true);
        for (int depth = 1; depth < kDeep; ++depth) add(depth, 4, -1, own(depth), true);
        out.kernels.push_back(
            {"multigrid_small",
             kBestMultigridSmall,
             {16, 16, 1},
             {1, 1, 1},
             {{"f", As::Texels, own(kDeep) + 2}, {"u_to", As::Floats, own(kDeep) + 1, true}},
             {}});
        for (int depth = kDeep - 1; depth > 0; --depth)
            add(depth, 2, own(depth), own(depth) + 1, false);
    }
    add(0, 2, twice(0, kMultigridCycles - 1), 1, false);
    return out;
}

Contest multigrid(Tensor (*program)(Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32()});
    Plane right_side = hills(kMultigridSide, kMultigridSide, 11);
    // The fewest operations known. Per point and cycle 5 for each of three sweeps (3 sums of
    // neighbours, the right side, and the quarter), 6 for its residual, for one colour alone,
    // because it is 0 at the points of a sweep's last half, a quarter of 5 for the coarser right
    // side, and 2 for the correction; and a third of all that for the coarser levels, which stay in
    // caches.
    constexpr double kOfPoint = 15 + 3 + 1.25 + 2;
    return {.least = {4.0 * kMultigridPoints, 4.0 * kMultigridPoints,
                      4.0 / 3.0 * kOfPoint * kMultigridCycles * kMultigridPoints},
            .arguments = {right_side.values},
            .results = {kMultigridPoints},
            .firn =
                [f, b = tensor(right_side.values, {kMultigridSide, kMultigridSide})] {
                    return std::vector<Tensor>{f(b, kMultigridSpacing)};
                },
            .best = best_multigrid(),
            .plain = plain_multigrid(),
            .expected = [=] { return host_multigrid(right_side); }};
}

constexpr const char* kMultigridFar =
    "half sweeps wait for one another, and coarse levels are too small to fill the cores";

}  // namespace

void add_multigrid(std::vector<Case>& cases) {
    cases.push_back(
        {"multigrid", [] { return multigrid(multigrid_solve); }, Section::Holdout, kMultigridFar});
    cases.push_back({"multigrid_kernel", [] { return multigrid(multigrid_solve_kernel); },
                     Section::Holdout, kMultigridFar});
}

}  // namespace firn::bench
