// Optical flow from coarse to fine: the motion of every pixel from one picture to the next.
#include <firn/firn.h>

#include <array>
#include <cmath>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kLucasRows = 480, kLucasColumns = 640, kLucasLevels = 3, kLucasTurns = 3;
constexpr int kLucasRadius = 3;  // of the window in which all pixels move alike
constexpr int64_t kLucasPixels = int64_t(kLucasRows) * kLucasColumns;
constexpr float kLucasRidge = 0.01f;  // keeps areas without texture still

/// The motion to the right and down, in pixels.
struct LucasFlow {
    Tensor u, v;
};

/// Half of the picture: P. Burt, E. Adelson, "The Laplacian Pyramid as a Compact Image Code", 1983.
Tensor lucas_halved(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    Tensor across =
        (x(i, j - 2) + 4.0f * x(i, j - 1) + 6.0f * x + 4.0f * x(i, j + 1) + x(i, j + 2)) / 16.0f;
    Tensor both = (across(i - 2, j) + 4.0f * across(i - 1, j) + 6.0f * across +
                   4.0f * across(i + 1, j) + across(i + 2, j)) /
                  16.0f;
    return both(range(none, none, 2), range(none, none, 2));
}
/// Between the four nearest pixels; outside, those at the edge.
Tensor lucas_sampled(const Tensor& x, const Tensor& row, const Tensor& column) {
    Tensor top = floor(row), left = floor(column);
    Tensor i = top.as(i32), j = left.as(i32);
    Tensor upper = mix(x(i, j), x(i, j + 1), column - left);
    Tensor lower = mix(x(i + 1, j), x(i + 1, j + 1), column - left);
    return mix(upper, lower, row - top);
}
Tensor lucas_window_sum(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    Tensor across = x;
    for (int k = 1; k <= kLucasRadius; ++k) across += x(i, j - k) + x(i, j + k);
    Tensor both = across;
    for (int k = 1; k <= kLucasRadius; ++k) both += across(i - k, j) + across(i + k, j);
    return both;
}

/// B. Lucas, T. Kanade, "An Iterative Image Registration Technique with an Application to Stereo
/// Vision", 1981, for every pixel, and from the smallest picture of a pyramid to the largest.
LucasFlow lucas_kanade(Tensor first, Tensor second) {
    std::vector<Tensor> firsts{first}, seconds{second};
    for (int level = 1; level < kLucasLevels; ++level) {
        firsts.push_back(lucas_halved(firsts.back()));
        seconds.push_back(lucas_halved(seconds.back()));
    }
    Tensor u = zeros(firsts.back().shape()), v = zeros(firsts.back().shape());
    for (int level = kLucasLevels - 1; level >= 0; --level) {
        const Tensor &from = firsts[size_t(level)], &to = seconds[size_t(level)];
        auto [i, j] = indices<2>(from.shape());
        Tensor y = i.as(f32), x = j.as(f32);
        if (level < kLucasLevels - 1)
            std::tie(u, v) = std::tuple{2.0f * lucas_sampled(u, 0.5f * y, 0.5f * x),
                                        2.0f * lucas_sampled(v, 0.5f * y, 0.5f * x)};
        Tensor across = 0.5f * (from(i, j + 1) - from(i, j - 1));
        Tensor down = 0.5f * (from(i + 1, j) - from(i - 1, j));
        Tensor xx = lucas_window_sum(across * across) + kLucasRidge;
        Tensor xy = lucas_window_sum(across * down);
        Tensor yy = lucas_window_sum(down * down) + kLucasRidge;
        Tensor determinant = xx * yy - xy * xy;
        for (Tensor turn : loop(kLucasTurns)) {
            Tensor change = lucas_sampled(to, y + v, x + u) - from;
            Tensor x_change = lucas_window_sum(across * change);
            Tensor y_change = lucas_window_sum(down * change);
            u -= (yy * x_change - xy * y_change) / determinant;
            v -= (xx * y_change - xy * x_change) / determinant;
        }
    }
    return {u, v};
}

LucasFlow lucas_kanade_kernel(Tensor first, Tensor second) {
    auto halved = [](const Tensor& x) {
        Size rows = floor_div(x.size(0) + 1, 2), columns = floor_div(x.size(1) + 1, 2);
        Tensor out = zeros({rows, columns});
        kernel({rows, columns}, [&](Tensor i, Tensor j) {
            const std::array weights{1.0f, 4.0f, 6.0f, 4.0f, 1.0f};
            Tensor sum = 0.0f;
            for (int a = 0; a < 5; ++a)
                for (int b = 0; b < 5; ++b)
                    sum += weights[size_t(a)] * weights[size_t(b)] *
                           x(2 * i + (a - 2), 2 * j + (b - 2));
            out(i, j) = sum / 256.0f;
        });
        return out;
    };
    std::vector<Tensor> firsts{first}, seconds{second};
    for (int level = 1; level < kLucasLevels; ++level) {
        firsts.push_back(halved(firsts.back()));
        seconds.push_back(halved(seconds.back()));
    }
    LucasFlow flow;
    for (int level = kLucasLevels - 1; level >= 0; --level) {
        const Tensor &from = firsts[size_t(level)], &to = seconds[size_t(level)];
        const Size rows = from.size(0), columns = from.size(1);
        const Shape shape{rows, columns};
        LucasFlow now{zeros(shape), zeros(shape)};
        if (level < kLucasLevels - 1)
            kernel(shape, [&](Tensor i, Tensor j) {
                Tensor y = 0.5f * i.as(f32), x = 0.5f * j.as(f32);
                now.u(i, j) = 2.0f * lucas_sampled(flow.u, y, x);
                now.v(i, j) = 2.0f * lucas_sampled(flow.v, y, x);
            });
        flow = now;

        Tensor across = zeros(shape), down = zeros(shape);
        kernel(shape, [&](Tensor i, Tensor j) {
            across(i, j) = 0.5f * (from(i, j + 1) - from(i, j - 1));
            down(i, j) = 0.5f * (from(i + 1, j) - from(i - 1, j));
        });
        Tensor row_xx = zeros(shape), row_xy = zeros(shape), row_yy = zeros(shape);
        kernel(shape, [&](Tensor i, Tensor j) {
            Tensor xx = 0.0f, xy = 0.0f, yy = 0.0f;
            for (Tensor k : loop(-kLucasRadius, kLucasRadius + 1)) {
                Tensor x = across(i, j + k), y = down(i, j + k);
                xx += x * x, xy += x * y, yy += y * y;
            }
            row_xx(i, j) = xx, row_xy(i, j) = xy, row_yy(i, j) = yy;
        });
        Tensor all_xx = zeros(shape), all_xy = zeros(shape), all_yy = zeros(shape);
        kernel(shape, [&](Tensor i, Tensor j) {
            Tensor xx = kLucasRidge, xy = 0.0f, yy = kLucasRidge;
            for (Tensor k : loop(-kLucasRadius, kLucasRadius + 1))
                xx += row_xx(i + k, j), xy += row_xy(i + k, j), yy += row_yy(i + k, j);
            all_xx(i, j) = xx, all_xy(i, j) = xy, all_yy(i, j) = yy;
        });

        Tensor x_change = zeros(shape), y_change = zeros(shape);
        Tensor row_x = zeros(shape), row_y = zeros(shape);
        for (Tensor turn : loop(kLucasTurns)) {
            kernel(shape, [&](Tensor i, Tensor j) {
                Tensor y = i.as(f32) + flow.v(i, j), x = j.as(f32) + flow.u(i, j);
                Tensor change = lucas_sampled(to, y, x) - from(i, j);
                x_change(i, j) = across(i, j) * change;
                y_change(i, j) = down(i, j) * change;
            });
            kernel(shape, [&](Tensor i, Tensor j) {
                Tensor x = 0.0f, y = 0.0f;
                for (Tensor k : loop(-kLucasRadius, kLucasRadius + 1))
                    x += x_change(i, j + k), y += y_change(i, j + k);
                row_x(i, j) = x, row_y(i, j) = y;
            });
            kernel(shape, [&](Tensor i, Tensor j) {
                Tensor x = 0.0f, y = 0.0f;
                for (Tensor k : loop(-kLucasRadius, kLucasRadius + 1))
                    x += row_x(i + k, j), y += row_y(i + k, j);
                Tensor xx = all_xx(i, j), xy = all_xy(i, j), yy = all_yy(i, j);
                Tensor determinant = xx * yy - xy * xy;
                flow.u(i, j) = flow.u(i, j) - (yy * x - xy * y) / determinant;
                flow.v(i, j) = flow.v(i, j) - (xx * y - xy * x) / determinant;
            });
        }
    }
    return flow;
}

Plane host_lucas_halved(const Plane& x) {
    const std::array weights{1.0f, 4.0f, 6.0f, 4.0f, 1.0f};
    Plane out((x.h + 1) / 2, (x.w + 1) / 2);
    for (int i = 0; i < out.h; ++i)
        for (int j = 0; j < out.w; ++j) {
            float sum = 0;
            for (int a = 0; a < 5; ++a)
                for (int b = 0; b < 5; ++b)
                    sum += weights[size_t(a)] * weights[size_t(b)] *
                           x.clamped(2 * i + a - 2, 2 * j + b - 2);
            out(i, j) = sum / 256;
        }
    return out;
}
float host_lucas_sampled(const Plane& x, float row, float column) {
    const float top = std::floor(row), left = std::floor(column);
    const int i = int(top), j = int(left);
    const auto mixed = [](float a, float b, float t) { return a + (b - a) * t; };
    return mixed(mixed(x.clamped(i, j), x.clamped(i, j + 1), column - left),
                 mixed(x.clamped(i + 1, j), x.clamped(i + 1, j + 1), column - left), row - top);
}
Plane host_lucas_window_sum(const Plane& x) {
    Plane across(x.h, x.w), both(x.h, x.w);
    for (const bool along_rows : {true, false})
        for (int i = 0; i < x.h; ++i)
            for (int j = 0; j < x.w; ++j) {
                float sum = 0;
                for (int k = -kLucasRadius; k <= kLucasRadius; ++k)
                    sum += along_rows ? x.clamped(i, j + k) : across.clamped(i + k, j);
                (along_rows ? across : both)(i, j) = sum;
            }
    return both;
}
std::vector<std::vector<float>> host_lucas_kanade(const Plane& first, const Plane& second) {
    std::vector<Plane> firsts{first}, seconds{second};
    for (int level = 1; level < kLucasLevels; ++level) {
        firsts.push_back(host_lucas_halved(firsts.back()));
        seconds.push_back(host_lucas_halved(seconds.back()));
    }
    Plane u(1, 1), v(1, 1);
    for (int level = kLucasLevels - 1; level >= 0; --level) {
        const Plane &from = firsts[size_t(level)], &to = seconds[size_t(level)];
        const auto each = [&](auto value) {
            Plane out(from.h, from.w);
            for (int i = 0; i < out.h; ++i)
                for (int j = 0; j < out.w; ++j) out(i, j) = value(i, j);
            return out;
        };
        const auto twice = [&](const Plane& coarse) {
            return each([&](int i, int j) {
                return 2 * host_lucas_sampled(coarse, 0.5f * float(i), 0.5f * float(j));
            });
        };
        u = twice(u), v = twice(v);  // the smallest begins with 0
        const Plane across = each(
            [&](int i, int j) { return 0.5f * (from.clamped(i, j + 1) - from.clamped(i, j - 1)); });
        const Plane down = each(
            [&](int i, int j) { return 0.5f * (from.clamped(i + 1, j) - from.clamped(i - 1, j)); });
        const auto sum_of = [&](const Plane& a, const Plane& b) {
            return host_lucas_window_sum(each([&](int i, int j) { return a(i, j) * b(i, j); }));
        };
        const Plane xx = sum_of(across, across), xy = sum_of(across, down), yy = sum_of(down, down);
        for (int turn = 0; turn < kLucasTurns; ++turn) {
            const Plane change = each([&](int i, int j) {
                return host_lucas_sampled(to, float(i) + v(i, j), float(j) + u(i, j)) - from(i, j);
            });
            const Plane x_change = sum_of(across, change), y_change = sum_of(down, change);
            for (int i = 0; i < from.h; ++i)
                for (int j = 0; j < from.w; ++j) {
                    const float a = xx(i, j) + kLucasRidge, b = xy(i, j),
                                c = yy(i, j) + kLucasRidge, determinant = a * c - b * b;
                    u(i, j) -= (c * x_change(i, j) - b * y_change(i, j)) / determinant;
                    v(i, j) -= (a * y_change(i, j) - b * x_change(i, j)) / determinant;
                }
        }
    }
    return {u.values, v.values};
}

constexpr const char* kPlainLucasHalve = R"(
const float weights[5] = float[5](1.0, 4.0, 6.0, 4.0, 1.0);
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float sum = 0.0;
    for (int a = 0; a < 5; ++a)
        for (int b = 0; b < 5; ++b) {
            int row = clamp(2 * y + a - 2, 0, 2 * ROWS - 1);
            int column = clamp(2 * x + b - 2, 0, 2 * COLUMNS - 1);
            sum += weights[a] * weights[b] * fine_at(row * 2 * COLUMNS + column);
        }
    half_size[y * COLUMNS + x] = sum / 256.0;
}
)";

constexpr const char* kPlainLucasStart = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), to = y * COLUMNS + x;
    if (COARSEST == 1) {
        u[to] = v[to] = 0.0;
        return;
    }
    int rows = ROWS / 2, columns = COLUMNS / 2;
    int low = min(y / 2 + 1, rows - 1), right = min(x / 2 + 1, columns - 1);
    int a = y / 2 * columns + x / 2, b = y / 2 * columns + right;
    int c = low * columns + x / 2, d = low * columns + right;
    float fx = 0.5 * float(x % 2), fy = 0.5 * float(y % 2);
    u[to] = 2.0 * mix(mix(coarse_u_at(a), coarse_u_at(b), fx),
                      mix(coarse_u_at(c), coarse_u_at(d), fx), fy);
    v[to] = 2.0 * mix(mix(coarse_v_at(a), coarse_v_at(b), fx),
                      mix(coarse_v_at(c), coarse_v_at(d), fx), fy);
}
)";

constexpr const char* kPlainLucasGradients = R"(
float at(int y, int x) {
    return from_at(clamp(y, 0, ROWS - 1) * COLUMNS + clamp(x, 0, COLUMNS - 1));
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    across[y * COLUMNS + x] = 0.5 * (at(y, x + 1) - at(y, x - 1));
    down[y * COLUMNS + x] = 0.5 * (at(y + 1, x) - at(y - 1, x));
}
)";

constexpr const char* kPlainLucasRowProducts = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float xx = 0.0, xy = 0.0, yy = 0.0;
    for (int k = -RADIUS; k <= RADIUS; ++k) {
        int at = y * COLUMNS + clamp(x + k, 0, COLUMNS - 1);
        float gx = across_at(at), gy = down_at(at);
        xx += gx * gx, xy += gx * gy, yy += gy * gy;
    }
    row_xx[y * COLUMNS + x] = xx;
    row_xy[y * COLUMNS + x] = xy;
    row_yy[y * COLUMNS + x] = yy;
}
)";

constexpr const char* kPlainLucasProducts = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float xx = 0.01, xy = 0.0, yy = 0.01;
    for (int k = -RADIUS; k <= RADIUS; ++k) {
        int at = clamp(y + k, 0, ROWS - 1) * COLUMNS + x;
        xx += row_xx_at(at), xy += row_xy_at(at), yy += row_yy_at(at);
    }
    all_xx[y * COLUMNS + x] = xx;
    all_xy[y * COLUMNS + x] = xy;
    all_yy[y * COLUMNS + x] = yy;
}
)";

constexpr const char* kPlainLucasChanges = R"(
float at(int y, int x) {
    return to_at(clamp(y, 0, ROWS - 1) * COLUMNS + clamp(x, 0, COLUMNS - 1));
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), own = y * COLUMNS + x;
    float row = float(y) + v_at(own), column = float(x) + u_at(own);
    float top = floor(row), left = floor(column);
    int i = int(top), j = int(left);
    float upper = mix(at(i, j), at(i, j + 1), column - left);
    float lower = mix(at(i + 1, j), at(i + 1, j + 1), column - left);
    float change = mix(upper, lower, row - top) - from_at(own);
    x_change[own] = across_at(own) * change;
    y_change[own] = down_at(own) * change;
}
)";

constexpr const char* kPlainLucasRowChanges = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float sum_x = 0.0, sum_y = 0.0;
    for (int k = -RADIUS; k <= RADIUS; ++k) {
        int at = y * COLUMNS + clamp(x + k, 0, COLUMNS - 1);
        sum_x += x_change_at(at), sum_y += y_change_at(at);
    }
    row_x[y * COLUMNS + x] = sum_x;
    row_y[y * COLUMNS + x] = sum_y;
}
)";

constexpr const char* kPlainLucasSolve = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), own = y * COLUMNS + x;
    float sum_x = 0.0, sum_y = 0.0;
    for (int k = -RADIUS; k <= RADIUS; ++k) {
        int at = clamp(y + k, 0, ROWS - 1) * COLUMNS + x;
        sum_x += row_x_at(at), sum_y += row_y_at(at);
    }
    float xx = all_xx_at(own), xy = all_xy_at(own), yy = all_yy_at(own);
    float determinant = xx * yy - xy * xy;
    u[own] -= (yy * sum_x - xy * sum_y) / determinant;
    v[own] -= (xx * sum_y - xy * sum_x) / determinant;
}
)";

/// The places of each level's pictures and flow: 0 to 3 are arguments and results.
struct LucasLevel {
    int rows, columns, from, to, u, v;
};
constexpr int kLucasShared = 12;  // the first buffer that all levels share
std::array<LucasLevel, kLucasLevels> lucas_levels() {
    return {{{kLucasRows, kLucasColumns, 0, 1, 2, 3},
             {kLucasRows / 2, kLucasColumns / 2, 4, 5, 6, 7},
             {kLucasRows / 4, kLucasColumns / 4, 8, 9, 10, 11}}};
}
std::vector<int64_t> lucas_temporaries(int shared) {
    std::vector<int64_t> out(4, kLucasPixels / 4);
    out.insert(out.end(), 4, kLucasPixels / 16);
    out.insert(out.end(), size_t(shared), kLucasPixels);
    return out;
}

HandProgram plain_lucas_kanade() {
    enum {
        kAcross = kLucasShared,
        kDown,
        kRowXx,
        kRowXy,
        kRowYy,
        kXx,
        kXy,
        kYy,
        kXChange,
        kYChange,
        kRowX,
        kRowY
    };
    const auto read = [](const char* name, int buffer) {
        return HandBinding{name, As::Floats, buffer};
    };
    const auto write = [](const char* name, int buffer) {
        return HandBinding{name, As::Floats, buffer, true};
    };
    HandProgram out;
    const auto add = [&](const LucasLevel& level, const char* name, const char* text,
                         std::vector<HandBinding> bindings, int coarsest = 0) {
        out.kernels.push_back({name,
                               text,
                               {32, 8, 1},
                               {level.columns / 32, level.rows / 8, 1},
                               std::move(bindings),
                               {{"ROWS", level.rows},
                                {"COLUMNS", level.columns},
                                {"RADIUS", kLucasRadius},
                                {"COARSEST", coarsest}}});
        out.steps.push_back({int(out.kernels.size()) - 1, {}});
    };
    const auto levels = lucas_levels();
    for (size_t k = 1; k < levels.size(); ++k) {
        add(levels[k], "halve_first", kPlainLucasHalve,
            {read("fine", levels[k - 1].from), write("half_size", levels[k].from)});
        add(levels[k], "halve_second", kPlainLucasHalve,
            {read("fine", levels[k - 1].to), write("half_size", levels[k].to)});
    }
    for (size_t k = levels.size(); k-- > 0;) {
        const LucasLevel &level = levels[k], &coarse = levels[std::min(k + 1, levels.size() - 1)];
        const bool coarsest = k + 1 == levels.size();
        std::vector<HandBinding> start{write("u", level.u), write("v", level.v)};
        start.push_back(read("coarse_u", coarsest ? level.from : coarse.u));
        start.push_back(read("coarse_v", coarsest ? level.from : coarse.v));
        add(level, "start", kPlainLucasStart, start, coarsest);
        add(level, "gradients", kPlainLucasGradients,
            {read("from", level.from), write("across", kAcross), write("down", kDown)});
        add(level, "row_products", kPlainLucasRowProducts,
            {read("across", kAcross), read("down", kDown), write("row_xx", kRowXx),
             write("row_xy", kRowXy), write("row_yy", kRowYy)});
        add(level, "products", kPlainLucasProducts,
            {read("row_xx", kRowXx), read("row_xy", kRowXy), read("row_yy", kRowYy),
             write("all_xx", kXx), write("all_xy", kXy), write("all_yy", kYy)});
        const int turn = int(out.kernels.size());
        add(level, "changes", kPlainLucasChanges,
            {read("from", level.from), read("to", level.to), read("across", kAcross),
             read("down", kDown), read("u", level.u), read("v", level.v),
             write("x_change", kXChange), write("y_change", kYChange)});
        add(level, "row_changes", kPlainLucasRowChanges,
            {read("x_change", kXChange), read("y_change", kYChange), write("row_x", kRowX),
             write("row_y", kRowY)});
        add(level, "solve", kPlainLucasSolve,
            {read("row_x", kRowX), read("row_y", kRowY), read("all_xx", kXx), read("all_xy", kXy),
             read("all_yy", kYy), write("u", level.u), write("v", level.v)});
        for (int again = 1; again < kLucasTurns; ++again)
            for (int part = 0; part < 3; ++part) out.steps.push_back({turn + part, {}});
    }
    out.temporaries = lucas_temporaries(12);
    return out;
}

// Both pictures of the next level; an invocation goes down a column, and keeps three rows' sums.
constexpr const char* kBestLucasHalve = R"(
int at[5];
void across(int row, out vec2 sum) {
    row = clamp(row, 0, 2 * ROWS - 1) * 2 * COLUMNS;
    vec2 x[5];
    [[unroll]] for (int k = 0; k < 5; ++k)
        x[k] = vec2(first_at(row + at[k]), second_at(row + at[k]));
    sum = 0.0625 * (x[0] + x[4]) + 0.25 * (x[1] + x[3]) + 0.375 * x[2];
}
void main() {
    int x = int(gl_GlobalInvocationID.x), begin = int(gl_WorkGroupID.y) * EACH;
    [[unroll]] for (int k = 0; k < 5; ++k) at[k] = clamp(2 * x + k - 2, 0, 2 * COLUMNS - 1);
    vec2 a, b, c, d, e;
    across(2 * begin - 2, a);
    across(2 * begin - 1, b);
    across(2 * begin, c);
    for (int y = begin; y < begin + EACH; ++y) {
        across(2 * y + 1, d);
        across(2 * y + 2, e);
        vec2 sum = 0.0625 * (a + e) + 0.25 * (b + d) + 0.375 * c;
        half_first[y * COLUMNS + x] = sum.x;
        half_second[y * COLUMNS + x] = sum.y;
        a = c, b = d, c = e;
    }
}
)";

// The flow from the level before, the gradients, and their products with the first changes: four
// pixels of a row each.
constexpr const char* kBestLucasStart = R"(
const int WIDE = COLUMNS / 4;
vec4 twice(vec3 upper, vec3 lower, bool odd) {
    vec3 c = odd ? upper + lower : 2.0 * upper;
    return vec4(c.x, 0.5 * (c.x + c.y), c.y, 0.5 * (c.y + c.z));
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), own = y * WIDE + x;
    if (x >= WIDE) return;
    vec4 now_u = vec4(0.0), now_v = vec4(0.0);
    if (COARSEST == 0) {
        int top = (y >> 1) * (COLUMNS / 2), low = min((y >> 1) + 1, ROWS / 2 - 1) * (COLUMNS / 2);
        int a = 2 * x, b = a + 1, c = min(a + 2, COLUMNS / 2 - 1);
        bool odd = (y & 1) == 1;
        now_u = twice(vec3(coarse_u_at(top + a), coarse_u_at(top + b), coarse_u_at(top + c)),
                      vec3(coarse_u_at(low + a), coarse_u_at(low + b), coarse_u_at(low + c)), odd);
        now_v = twice(vec3(coarse_v_at(top + a), coarse_v_at(top + b), coarse_v_at(top + c)),
                      vec3(coarse_v_at(low + a), coarse_v_at(low + b), coarse_v_at(low + c)), odd);
    }
    vec4 here = from_four_at(own);
    float left = from_at(4 * own - (x > 0 ? 1 : 0));
    float right = from_at(4 * own + (x < WIDE - 1 ? 4 : 3));
    vec4 gx = 0.5 * (vec4(here.yzw, right) - vec4(left, here.xyz));
    vec4 gy = 0.5 * (from_four_at(min(y + 1, ROWS - 1) * WIDE + x) -
                     from_four_at(max(y - 1, 0) * WIDE + x));
    vec4 change;
    [[unroll]] for (int k = 0; k < 4; ++k)
        change[k] = sampled(float(y) + now_v[k], float(4 * x + k) + now_u[k]) - here[k];
    u[own] = now_u, v[own] = now_v;
    across[own] = gx, down[own] = gy;
    x_change[own] = gx * change, y_change[own] = gy * change;
}
)";

constexpr const char* kBestLucasSampled = R"(
float sampled(float row, float column) {
    float top = floor(row), left = floor(column);
    float fx = column - left, fy = row - top;
    int i = int(top), j = int(left);
    int i0 = clamp(i, 0, ROWS - 1) * COLUMNS, i1 = clamp(i + 1, 0, ROWS - 1) * COLUMNS;
    int j0 = clamp(j, 0, COLUMNS - 1), j1 = clamp(j + 1, 0, COLUMNS - 1);
    float a = to_at(i0 + j0), b = to_at(i0 + j1), c = to_at(i1 + j0), d = to_at(i1 + j1);
    a += (b - a) * fx, c += (d - c) * fx;
    return a + (c - a) * fy;
}
)";

// Sums over windows: eight lanes have 8 columns each, of which 4 at either end are their
// neighbours' too. Down the columns one row comes and one goes; what beside a lane's columns is
// needed comes from the lanes beside it. A lane's columns begin at the four of
// number `base`, which may lie outside.
constexpr const char* kBestLucasWindow = R"(
const int WIDE = COLUMNS / 4;
int lane, base;
vec4 at_edge(vec4 four, int part) {
    if (base + part < 0) four = four.xxxx;
    if (base + part >= WIDE) four = four.wwww;
    return four;
}
#define FOUR_AT(name, row, part)                                                                   \
    at_edge(name##_at((row) * WIDE + clamp(base + part, 0, WIDE - 1)), part)
void across_sum(float s[8], out float sum[8]) {
    float all[14], two[13];
    [[unroll]] for (int k = 0; k < 3; ++k) all[k] = eight_shuffle(s[k + 5], max(lane - 1, 0));
    [[unroll]] for (int k = 0; k < 8; ++k) all[k + 3] = s[k];
    [[unroll]] for (int k = 0; k < 3; ++k) all[k + 11] = eight_shuffle(s[k], min(lane + 1, 7));
    [[unroll]] for (int k = 0; k < 13; ++k) two[k] = all[k] + all[k + 1];
    [[unroll]] for (int k = 0; k < 8; ++k)
        sum[k] = (two[k] + two[k + 2]) + (two[k + 4] + all[k + 6]);
}
bool is_own(int part) {
    int place = lane * 2 + part;
    return place > 0 && place < 15 && base + part < WIDE;
}
)";

// The inverse of the window's products of gradients.
constexpr const char* kBestLucasProducts = R"(
void add(int row, float sign, inout float xx[8], inout float xy[8], inout float yy[8]) {
    row = clamp(row, 0, ROWS - 1);
    [[unroll]] for (int part = 0; part < 2; ++part) {
        vec4 x = FOUR_AT(across, row, part), y = FOUR_AT(down, row, part), signed_x = sign * x;
        [[unroll]] for (int k = 0; k < 4; ++k) {
            xx[4 * part + k] += signed_x[k] * x[k], xy[4 * part + k] += signed_x[k] * y[k];
            yy[4 * part + k] += sign * y[k] * y[k];
        }
    }
}
void main() {
    lane = int(gl_LocalInvocationID.x), base = int(gl_WorkGroupID.x) * 14 - 1 + lane * 2;
    int begin = int(gl_WorkGroupID.y) * EACH;
    float xx[8], xy[8], yy[8];
    [[unroll]] for (int k = 0; k < 8; ++k) xx[k] = xy[k] = yy[k] = 0.0;
    for (int row = begin - 4; row < begin + 3; ++row) add(row, 1.0, xx, xy, yy);
    for (int row = begin; row < begin + EACH; ++row) {
        add(row + 3, 1.0, xx, xy, yy);
        add(row - 4, -1.0, xx, xy, yy);
        float a[8], b[8], c[8];
        across_sum(xx, a);
        across_sum(xy, b);
        across_sum(yy, c);
        [[unroll]] for (int k = 0; k < 8; ++k) {
            a[k] += 0.01, c[k] += 0.01;
            float over = 1.0 / (a[k] * c[k] - b[k] * b[k]);
            a[k] *= over, b[k] *= over, c[k] *= over;
        }
        [[unroll]] for (int part = 0; part < 2; ++part) {
            int q = 4 * part, own = row * WIDE + base + part;
            if (is_own(part)) {
                inverse_xx[own] = vec4(c[q], c[q + 1], c[q + 2], c[q + 3]);
                inverse_xy[own] = vec4(b[q], b[q + 1], b[q + 2], b[q + 3]);
                inverse_yy[own] = vec4(a[q], a[q + 1], a[q + 2], a[q + 3]);
            }
        }
    }
}
)";

// A step of the flow, and the changes that the next one asks for.
constexpr const char* kBestLucasTurn = R"(
void add(int row, float sign, inout float x[8], inout float y[8]) {
    row = clamp(row, 0, ROWS - 1);
    [[unroll]] for (int part = 0; part < 2; ++part) {
        vec4 dx = FOUR_AT(x_change, row, part), dy = FOUR_AT(y_change, row, part);
        [[unroll]] for (int k = 0; k < 4; ++k)
            x[4 * part + k] += sign * dx[k], y[4 * part + k] += sign * dy[k];
    }
}
void main() {
    lane = int(gl_LocalInvocationID.x), base = int(gl_WorkGroupID.x) * 14 - 1 + lane * 2;
    int begin = int(gl_WorkGroupID.y) * EACH;
    float x[8], y[8];
    [[unroll]] for (int k = 0; k < 8; ++k) x[k] = y[k] = 0.0;
    for (int row = begin - 4; row < begin + 3; ++row) add(row, 1.0, x, y);
    for (int row = begin; row < begin + EACH; ++row) {
        add(row + 3, 1.0, x, y);
        add(row - 4, -1.0, x, y);
        float all_x[8], all_y[8];
        across_sum(x, all_x);
        across_sum(y, all_y);
        [[unroll]] for (int part = 0; part < 2; ++part) {
            int q = 4 * part, own = row * WIDE + base + part;
            if (is_own(part)) {
                vec4 sum_x = vec4(all_x[q], all_x[q + 1], all_x[q + 2], all_x[q + 3]);
                vec4 sum_y = vec4(all_y[q], all_y[q + 1], all_y[q + 2], all_y[q + 3]);
                vec4 xy = inverse_xy_at(own);
                vec4 now_u = u_at(own) - (inverse_xx_at(own) * sum_x - xy * sum_y);
                vec4 now_v = v_at(own) - (inverse_yy_at(own) * sum_y - xy * sum_x);
                new_u[own] = now_u, new_v[own] = now_v;
                if (LAST == 0) {
                    vec4 change;
                    float column = float(4 * (base + part));
                    [[unroll]] for (int k = 0; k < 4; ++k)
                        change[k] = sampled(float(row) + now_v[k], column + float(k) + now_u[k]);
                    change -= from_at(own);
                    new_x_change[own] = across_at(own) * change;
                    new_y_change[own] = down_at(own) * change;
                }
            }
        }
    }
}
)";

HandProgram best_lucas_kanade() {
    // Changes have two places each: an iteration replaces a value that its neighbours still read.
    enum { kAcross = kLucasShared, kDown, kXx, kXy, kYy, kXChange, kYChange, kNewX, kNewY };
    HandProgram out;
    const auto add = [&](const LucasLevel& level, const char* name, std::string text,
                         std::array<uint32_t, 3> group, std::array<int, 3> groups,
                         std::vector<HandBinding> bindings,
                         std::vector<std::pair<std::string, int>> constants) {
        constants.emplace_back("ROWS", level.rows),
            constants.emplace_back("COLUMNS", level.columns);
        out.kernels.push_back(
            {name, std::move(text), group, groups, std::move(bindings), std::move(constants)});
    };
    const auto fours = [](const char* name, int buffer) {
        return HandBinding{name, As::Texels4, buffer};
    };
    const auto texels = [](const char* name, int buffer) {
        return HandBinding{name, As::Texels, buffer};
    };
    const auto write = [](const char* name, int buffer) {
        return HandBinding{name, As::Vec4s, buffer, true};
    };
    const std::string sampled = kBestLucasSampled, window = kBestLucasWindow;
    const auto levels = lucas_levels();
    for (size_t k = 1; k < levels.size(); ++k)
        add(levels[k], "halve", kBestLucasHalve, {32, 1, 1},
            {levels[k].columns / 32, levels[k].rows / 12, 1},
            {texels("first", levels[k - 1].from),
             texels("second", levels[k - 1].to),
             {"half_first", As::Floats, levels[k].from, true},
             {"half_second", As::Floats, levels[k].to, true}},
            {{"EACH", 12}});
    for (size_t k = levels.size(); k-- > 0;) {
        const LucasLevel& level = levels[k];
        const bool coarsest = k + 1 == levels.size();
        const int each = k == 0 ? 30 : k == 1 ? 20 : 10, groups = (level.columns + 55) / 56;
        add(level, "start", sampled + kBestLucasStart, {32, 4, 1},
            {(level.columns + 127) / 128, level.rows / 4, 1},
            {fours("from_four", level.from), texels("from", level.from), texels("to", level.to),
             texels("coarse_u", coarsest ? level.from : levels[k + 1].u),
             texels("coarse_v", coarsest ? level.from : levels[k + 1].v), write("u", level.u),
             write("v", level.v), write("across", kAcross), write("down", kDown),
             write("x_change", kXChange), write("y_change", kYChange)},
            {{"COARSEST", coarsest}});
        add(level, "products", window + kBestLucasProducts, {8, 1, 1},
            {groups, level.rows / each, 1},
            {fours("across", kAcross), fours("down", kDown), write("inverse_xx", kXx),
             write("inverse_xy", kXy), write("inverse_yy", kYy)},
            {{"EACH", each}});
        for (int turn = 0; turn < kLucasTurns; ++turn) {
            const int x_from = turn % 2 == 0 ? kXChange : kNewX,
                      y_from = turn % 2 == 0 ? kYChange : kNewY;
            const int x_to = turn % 2 == 0 ? kNewX : kXChange,
                      y_to = turn % 2 == 0 ? kNewY : kYChange;
            add(level, "turn", sampled + window + kBestLucasTurn, {8, 1, 1},
                {groups, level.rows / each, 1},
                {fours("x_change", x_from), fours("y_change", y_from), fours("inverse_xx", kXx),
                 fours("inverse_xy", kXy), fours("inverse_yy", kYy), fours("u", level.u),
                 fours("v", level.v), fours("from", level.from), fours("across", kAcross),
                 fours("down", kDown), texels("to", level.to), write("new_u", level.u),
                 write("new_v", level.v), write("new_x_change", x_to), write("new_y_change", y_to)},
                {{"EACH", each}, {"LAST", turn + 1 == kLucasTurns}});
        }
    }
    out.temporaries = lucas_temporaries(9);
    return out;
}

/// A pattern that moves by up to five pixels, at `shift` 1.
Plane lucas_picture(float shift) {
    Plane out(kLucasRows, kLucasColumns);
    for (int i = 0; i < out.h; ++i)
        for (int j = 0; j < out.w; ++j) {
            const float across = 3.0f + 1.5f * std::sin(0.011f * float(i)),
                        along = -1.5f + 2.0f * std::cos(0.009f * float(j));
            const float y = float(i) - shift * along, x = float(j) - shift * across;
            out(i, j) = 0.5f + 0.2f * std::sin(0.31f * x + 0.17f * y) +
                        0.15f * std::sin(0.23f * y - 0.12f * x + 2.0f * std::sin(0.05f * x)) +
                        0.1f * std::cos(0.71f * y) * std::cos(0.53f * x);
        }
    return out;
}

Contest lucas_kanade_contest(LucasFlow (*program)(Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32("h", "w")});
    const Plane first = lucas_picture(0), second = lucas_picture(1);
    // The fewest operations known, per pixel of a level. In each of three iterations 4 numbers at a
    // place of the flow's, 6 for that place, 6 between the numbers, 3 for the changes, 8 for sums
    // over windows (of two sums along both axes, one number comes and one goes), and 8 for the
    // step. Once 4 for the gradient, 3 products, 12 for their sums, 9 for the inverse, and 8 for
    // the flow from the level before. The levels together have 21/16 of the pixels. Per pixel of
    // the 5/16 in smaller pictures, 24 in each of two.
    return {.least = {8.0 * kLucasPixels, 8.0 * kLucasPixels,
                      (21.0 / 16 * (31 * kLucasTurns + 36) + 5.0 / 16 * 48) * kLucasPixels,
                      21.0 / 16 * 4 * kLucasTurns * kLucasPixels},
            .arguments = {first.values, second.values},
            .results = {kLucasPixels, kLucasPixels},
            .firn =
                [f, a = tensor(first.values, {first.h, first.w}),
                 b = tensor(second.values, {second.h, second.w})] {
                    auto [u, v] = f(a, b);
                    return std::vector<Tensor>{u, v};
                },
            .best = best_lucas_kanade(),
            .plain = plain_lucas_kanade(),
            .tolerance = 1e-4,  // sums over windows cancel, and are divided by one another
            .expected = [=] { return host_lucas_kanade(first, second); }};
}

constexpr const char* kLucasFar =
    "steps and levels wait for one another, and sums over windows go through memory";

}  // namespace

void add_lucas_kanade(std::vector<Case>& cases) {
    cases.push_back({"lucas_kanade", [] { return lucas_kanade_contest(lucas_kanade); },
                     Section::Holdout, kLucasFar});
    cases.push_back({"lucas_kanade_kernel",
                     [] { return lucas_kanade_contest(lucas_kanade_kernel); }, Section::Holdout,
                     kLucasFar});
}

}  // namespace firn::bench
