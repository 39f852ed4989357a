// Temporal antialiasing: the frame before, moved to where things are now, is clamped to what stands
// around each pixel and blended with the new frame.
#include <firn/firn.h>
#include <firn/shading.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kTaaRows = 720, kTaaColumns = 1024;
constexpr int64_t kTaaPixels = int64_t(kTaaRows) * kTaaColumns;
constexpr float kTaaBlend = 0.1f;

/// Brightness and two differences of colours. H. Malvar, G. Sullivan, "YCoCg-R: A Color Space with
/// RGB Reversibility and Low Dynamic Range", 2003.
vec3 taa_ycocg(const vec3& c) {
    return {0.25f * c.x + 0.5f * c.y + 0.25f * c.z, 0.5f * (c.x - c.z),
            0.5f * c.y - 0.25f * (c.x + c.z)};
}
vec3 taa_rgb(const vec3& c) {
    Tensor rest = c.x - c.z;
    return {rest + c.y, c.x + c.z, rest - c.y};
}
vec3 taa_pixel(const Tensor& picture, const Tensor& i, const Tensor& j) {
    return {picture(i, j, 0), picture(i, j, 1), picture(i, j, 2)};
}
/// Between the four pixels around a place.
vec3 taa_between(const Tensor& picture, const Tensor& y, const Tensor& x) {
    Tensor i = floor(y).as(i32), j = floor(x).as(i32), down = y - floor(y), right = x - floor(x);
    auto row = [&](const Tensor& k) {
        return mix(taa_pixel(picture, k, j), taa_pixel(picture, k, j + 1), right);
    };
    return mix(row(i), row(i + 1), down);
}

/// B. Karis, "High-Quality Temporal Supersampling", SIGGRAPH 2014. Motion is in pixels, along
/// columns and rows, and the motion of the nearest pixel around a pixel counts.
Tensor temporal_aa(Tensor current, Tensor history, Tensor motion, Tensor depth, Tensor blend) {
    Size rows = depth.size(0), columns = depth.size(1);
    auto [i, j] = indices<2>(depth.shape());
    Tensor y =
        0.25f * current(all, all, 0) + 0.5f * current(all, all, 1) + 0.25f * current(all, all, 2);
    Tensor co = 0.5f * (current(all, all, 0) - current(all, all, 2));
    Tensor cg = 0.5f * current(all, all, 1) - 0.25f * (current(all, all, 0) + current(all, all, 2));
    vec3 low(INFINITY), high(-INFINITY);
    Tensor nearest = full({rows, columns}, INFINITY);
    Tensor near_i = zeros({rows, columns}, i32), near_j = zeros({rows, columns}, i32);
    for (int di = -1; di <= 1; ++di)
        for (int dj = -1; dj <= 1; ++dj) {
            vec3 other(y(i + di, j + dj), co(i + di, j + dj), cg(i + di, j + dj));
            low = min(low, other), high = max(high, other);
            Tensor far = depth(i + di, j + dj), nearer = far < nearest;
            nearest = where(nearer, far, nearest);
            near_i = where(nearer, i + di, near_i), near_j = where(nearer, j + dj, near_j);
        }
    Tensor from_x = j - motion(near_i, near_j, 0), from_y = i - motion(near_i, near_j, 1);
    Tensor inside =
        (from_x >= 0.0f) & (from_x <= columns - 1) & (from_y >= 0.0f) & (from_y <= rows - 1);
    vec3 before = clamp(taa_ycocg(taa_between(history, from_y, from_x)), low, high);
    Tensor new_weight = blend / (1.0f + y);
    Tensor old_weight = where(inside, (1.0f - blend) / (1.0f + before.x), 0.0f);
    vec3 out =
        taa_rgb((new_weight * vec3(y, co, cg) + old_weight * before) / (new_weight + old_weight));
    return stack({out.x, out.y, out.z}, {.axis = 2});
}
Tensor temporal_aa_kernel(Tensor current, Tensor history, Tensor motion, Tensor depth,
                          Tensor blend) {
    Size rows = depth.size(0), columns = depth.size(1);
    Tensor picture = zeros({rows, columns, 3});
    kernel({rows, columns}, [&](Tensor i, Tensor j) {
        vec3 low(INFINITY), high(-INFINITY);
        Tensor nearest = INFINITY, near_i = i, near_j = j;
        for (int di = -1; di <= 1; ++di)
            for (int dj = -1; dj <= 1; ++dj) {
                vec3 other = taa_ycocg(taa_pixel(current, i + di, j + dj));
                low = min(low, other), high = max(high, other);
                Tensor far = depth(i + di, j + dj);
                if_(far < nearest, [&] { nearest = far, near_i = i + di, near_j = j + dj; });
            }
        vec2 from = vec2(j, i) - vec2(motion(near_i, near_j, 0), motion(near_i, near_j, 1));
        vec3 now = taa_ycocg(taa_pixel(current, i, j)), mixed = now;
        if_((from.x >= 0.0f) & (from.x <= columns - 1) & (from.y >= 0.0f) & (from.y <= rows - 1),
            [&] {
                vec3 before = clamp(taa_ycocg(taa_between(history, from.y, from.x)), low, high);
                Tensor new_weight = blend / (1.0f + now.x);
                Tensor old_weight = (1.0f - blend) / (1.0f + before.x);
                mixed = (new_weight * now + old_weight * before) / (new_weight + old_weight);
            });
        vec3 out = taa_rgb(mixed);
        picture(i, j, 0) = out.x, picture(i, j, 1) = out.y, picture(i, j, 2) = out.z;
    });
    return picture;
}

/// The inputs of the program: pictures of three channels, motion of two, depths.
struct TaaFrame {
    std::vector<float> current, history, motion, depth;
};

using TaaColour = std::array<double, 3>;
TaaColour host_taa_ycocg(const TaaColour& c) {
    return {0.25 * c[0] + 0.5 * c[1] + 0.25 * c[2], 0.5 * (c[0] - c[2]),
            0.5 * c[1] - 0.25 * (c[0] + c[2])};
}

std::vector<float> host_temporal_aa(const TaaFrame& frame) {
    const auto place = [](int i, int j) {
        return size_t(std::clamp(i, 0, kTaaRows - 1)) * kTaaColumns +
               size_t(std::clamp(j, 0, kTaaColumns - 1));
    };
    const auto pixel = [&](const std::vector<float>& picture, int i, int j) {
        TaaColour out;
        for (size_t c = 0; c < 3; ++c) out[c] = double(picture[3 * place(i, j) + c]);
        return out;
    };
    std::vector<float> out;
    out.reserve(size_t(kTaaPixels) * 3);
    for (int i = 0; i < kTaaRows; ++i)
        for (int j = 0; j < kTaaColumns; ++j) {
            const TaaColour now = host_taa_ycocg(pixel(frame.current, i, j));
            TaaColour low = now, high = now, mixed = now;
            float nearest = INFINITY;
            size_t near = 0;
            for (int k = i - 1; k <= i + 1; ++k)
                for (int l = j - 1; l <= j + 1; ++l) {
                    const TaaColour other = host_taa_ycocg(pixel(frame.current, k, l));
                    for (size_t c = 0; c < 3; ++c) {
                        low[c] = std::min(low[c], other[c]);
                        high[c] = std::max(high[c], other[c]);
                    }
                    if (frame.depth[place(k, l)] < nearest)
                        nearest = frame.depth[near = place(k, l)];
                }
            const float x = float(j) - frame.motion[2 * near],
                        y = float(i) - frame.motion[2 * near + 1];
            if (x >= 0 && x <= kTaaColumns - 1 && y >= 0 && y <= kTaaRows - 1) {
                const int row = int(y), column = int(x);
                TaaColour before{};
                for (int corner = 0; corner < 4; ++corner) {
                    const double right = double(x) - column, down = double(y) - row;
                    const double weight =
                        (corner & 1 ? right : 1 - right) * (corner & 2 ? down : 1 - down);
                    const TaaColour one =
                        pixel(frame.history, row + corner / 2, column + corner % 2);
                    for (size_t c = 0; c < 3; ++c) before[c] += weight * one[c];
                }
                before = host_taa_ycocg(before);
                for (size_t c = 0; c < 3; ++c) before[c] = std::clamp(before[c], low[c], high[c]);
                const double blend = double(kTaaBlend), new_weight = blend / (1 + now[0]),
                             old_weight = (1 - blend) / (1 + before[0]);
                for (size_t c = 0; c < 3; ++c)
                    mixed[c] =
                        (new_weight * now[c] + old_weight * before[c]) / (new_weight + old_weight);
            }
            const double rest = mixed[0] - mixed[2];
            for (double c : {rest + mixed[1], mixed[0] + mixed[2], rest - mixed[1]})
                out.push_back(float(c));
        }
    return out;
}

constexpr const char* kPlainTemporalAa = R"(
const float blend = 0.1;
int place(int i, int j) { return clamp(i, 0, 719) * 1024 + clamp(j, 0, 1023); }
vec3 ycocg(vec3 c) {
    return vec3(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, 0.5 * (c.r - c.b),
                0.5 * c.g - 0.25 * (c.r + c.b));
}
vec3 now_pixel(int i, int j) {
    int at = place(i, j) * 3;
    return ycocg(vec3(current_at(at), current_at(at + 1), current_at(at + 2)));
}
vec3 old_pixel(int i, int j) {
    int at = place(i, j) * 3;
    return vec3(history_at(at), history_at(at + 1), history_at(at + 2));
}
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    vec3 low = vec3(1e30), high = vec3(-1e30);
    float nearest = 1e30;
    int near_at = 0;
    for (int k = i - 1; k <= i + 1; ++k)
        for (int l = j - 1; l <= j + 1; ++l) {
            vec3 other = now_pixel(k, l);
            low = min(low, other);
            high = max(high, other);
            float far = depth_at(place(k, l));
            if (far < nearest) {
                nearest = far;
                near_at = place(k, l);
            }
        }
    vec3 now = now_pixel(i, j), mixed = now;
    vec2 from = vec2(j, i) - vec2(motion_at(2 * near_at), motion_at(2 * near_at + 1));
    if (from.x >= 0.0 && from.x <= 1023.0 && from.y >= 0.0 && from.y <= 719.0) {
        int x = int(from.x), y = int(from.y);
        vec2 f = fract(from);
        vec3 before = mix(mix(old_pixel(y, x), old_pixel(y, x + 1), f.x),
                          mix(old_pixel(y + 1, x), old_pixel(y + 1, x + 1), f.x), f.y);
        before = clamp(ycocg(before), low, high);
        float new_weight = blend / (1.0 + now.x), old_weight = (1.0 - blend) / (1.0 + before.x);
        mixed = (new_weight * now + old_weight * before) / (new_weight + old_weight);
    }
    int at = place(i, j) * 3;
    picture[at] = mixed.x - mixed.z + mixed.y;
    picture[at + 1] = mixed.x + mixed.z;
    picture[at + 2] = mixed.x - mixed.z - mixed.y;
}
)";

HandProgram plain_temporal_aa() {
    HandProgram out;
    out.kernels = {{"temporal_aa",
                    kPlainTemporalAa,
                    {16, 16, 1},
                    {kTaaColumns / 16, kTaaRows / 16, 1},
                    {{"current", As::Floats, 0},
                     {"history", As::Floats, 1},
                     {"motion", As::Floats, 2},
                     {"depth", As::Floats, 3},
                     {"picture", As::Floats, 4, true}},
                    {}}};
    return out;
}

// An invocation has R rows of four pixels. For each row that it reads and each of the four pixels
// it keeps the least and the largest of three beside one another, and which of these is nearest;
// three rows above one another give those of nine. Ties go to the first in reading order, as in the
// plain one. One row or four at a time take 1.1 to 1.2 times as long as two.
constexpr const char* kBestTemporalAa = R"(
const float blend = 0.1;
void main() {
    int j = int(gl_GlobalInvocationID.x) * 4, top = int(gl_WorkGroupID.y) * R;
    int left = max(j - 1, 0), right = min(j + 4, 1023);
    vec3 now[(R + 2) * 4], low[(R + 2) * 4], high[(R + 2) * 4];
    float nearest[(R + 2) * 4];
    int near_at[(R + 2) * 4];
    [[unroll]] for (int k = 0; k < R + 2; ++k) {
        int row = clamp(top + k - 1, 0, 719) * 1024, a = (row + left) * 3, b = (row + right) * 3;
        vec4 p = current4_at((row + j) / 4 * 3), q = current4_at((row + j) / 4 * 3 + 1),
             s = current4_at((row + j) / 4 * 3 + 2), d = depth4_at((row + j) / 4);
        vec3 c[6] = {vec3(current_at(a), current_at(a + 1), current_at(a + 2)), p.xyz,
                     vec3(p.w, q.xy), vec3(q.zw, s.x), s.yzw,
                     vec3(current_at(b), current_at(b + 1), current_at(b + 2))};
        float far[6] = {depth_at(row + left), d.x, d.y, d.z, d.w, depth_at(row + right)};
        int at[6] = {row + left, row + j, row + j + 1, row + j + 2, row + j + 3, row + right};
        [[unroll]] for (int n = 0; n < 6; ++n) {
            float red_blue = 0.25 * (c[n].r + c[n].b), half_green = 0.5 * c[n].g;
            c[n] = vec3(red_blue + half_green, 0.5 * (c[n].r - c[n].b), half_green - red_blue);
        }
        [[unroll]] for (int n = 0; n < 4; ++n) {
            int to = k * 4 + n;
            now[to] = c[n + 1];
            low[to] = min(min(c[n], c[n + 1]), c[n + 2]);
            high[to] = max(max(c[n], c[n + 1]), c[n + 2]);
            bool second = far[n + 1] < far[n];
            float first_two = second ? far[n + 1] : far[n];
            bool third = far[n + 2] < first_two;
            nearest[to] = third ? far[n + 2] : first_two;
            near_at[to] = third ? at[n + 2] : second ? at[n + 1] : at[n];
        }
    }
    [[unroll]] for (int k = 0; k < R; ++k) {
        vec3 out_of[4];
        [[unroll]] for (int n = 0; n < 4; ++n) {
            int a = k * 4 + n, b = a + 4, c = a + 8;
            vec3 least = min(min(low[a], low[b]), low[c]);
            vec3 most = max(max(high[a], high[b]), high[c]);
            bool second = nearest[b] < nearest[a];
            float first_two = second ? nearest[b] : nearest[a];
            int at = nearest[c] < first_two ? near_at[c] : second ? near_at[b] : near_at[a];
            float x = float(j + n) - motion_at(2 * at), y = float(top + k) - motion_at(2 * at + 1);
            float to_x = clamp(x, 0.0, 1023.0), to_y = clamp(y, 0.0, 719.0);
            bool inside = x == to_x && y == to_y;
            int column = int(to_x), row = int(to_y);
            float fx = to_x - float(column), fy = to_y - float(row);
            // Beyond the last row and column the weight is 0.
            int u = (row * 1024 + column) * 3, v = min(row + 1, 719) * 3072 + column * 3;
            vec3 o[4];
            [[unroll]] for (int m = 0; m < 2; ++m) {
                int s = u + 3 * m, t = v + 3 * m;
                o[m] = vec3(history_at(s), history_at(s + 1), history_at(s + 2));
                o[2 + m] = vec3(history_at(t), history_at(t + 1), history_at(t + 2));
            }
            vec3 upper = o[0] + fx * (o[1] - o[0]), under = o[2] + fx * (o[3] - o[2]);
            vec3 old = upper + fy * (under - upper);
            float red_blue = 0.25 * (old.r + old.b), half_green = 0.5 * old.g;
            old = vec3(red_blue + half_green, 0.5 * (old.r - old.b), half_green - red_blue);
            old = min(max(old, least), most);
            // Both weights times the product of their divisors.
            float wn = blend * (1.0 + old.x), wo = (1.0 - blend) * (1.0 + now[b].x);
            float part = inside ? wo / (wn + wo) : 0.0;
            vec3 mixed = now[b] + part * (old - now[b]);
            float rest = mixed.x - mixed.z;
            out_of[n] = vec3(rest + mixed.y, mixed.x + mixed.z, rest - mixed.y);
        }
        int to = ((top + k) * 1024 + j) / 4 * 3;
        picture[to] = vec4(out_of[0], out_of[1].x);
        picture[to + 1] = vec4(out_of[1].yz, out_of[2].xy);
        picture[to + 2] = vec4(out_of[2].z, out_of[3]);
    }
}
)";

HandProgram best_temporal_aa() {
    constexpr int kRows = 2;
    HandProgram out;
    out.kernels = {{"temporal_aa",
                    kBestTemporalAa,
                    {32, 1, 1},
                    {kTaaColumns / 128, kTaaRows / kRows, 1},
                    {{"current", As::Texels, 0},
                     {"current4", As::Texels4, 0},
                     {"history", As::Texels, 1},
                     {"motion", As::Texels, 2},
                     {"depth", As::Texels, 3},
                     {"depth4", As::Texels4, 3},
                     {"picture", As::Vec4s, 4, true}},
                    {{"R", kRows}}}};
    return out;
}

/// Bright and dark tiles in front of a smooth ground; the previous frame has other noise, and tiles
/// move differently from the ground.
TaaFrame taa_frame() {
    const Plane waves = hills(kTaaRows, kTaaColumns, 9), slow = hills(kTaaRows, kTaaColumns, 3);
    const std::vector<float> noise = numbers(6 * kTaaPixels, 0.0f, 1.0f, 5);
    TaaFrame out;
    for (int i = 0; i < kTaaRows; ++i)
        for (int j = 0; j < kTaaColumns; ++j) {
            const bool tile = (i / 23 + j / 31) % 3 == 0;
            const size_t at = waves.place(i, j);
            for (size_t c = 0; c < 3; ++c) {
                const float ground = 1.0f + 0.5f * waves.values[at] + 0.2f * float(c);
                const float colour = tile ? 0.3f + 2.0f * float(c == size_t(i / 23 % 3)) : ground;
                out.current.push_back(colour + 0.3f * noise[6 * at + c]);
                out.history.push_back(colour + 0.3f * noise[6 * at + 3 + c]);
            }
            out.motion.push_back(tile ? 5.0f * slow.values[at] : 1.3f);
            out.motion.push_back(tile ? 2.0f - 3.0f * waves.values[at] : -0.6f);
            out.depth.push_back((tile ? 2.0f : 9.0f) + slow.values[at]);
        }
    return out;
}

Contest taa_contest(Tensor (*program)(Tensor, Tensor, Tensor, Tensor, Tensor)) {
    const auto picture = f32("h", "w", 3);
    auto f = compile(program, {picture, picture, f32("h", "w", 2), f32("h", "w"), f32()});
    const TaaFrame frame = taa_frame();
    const auto on_device = [](const std::vector<float>& x, int channels) {
        return tensor(x, {kTaaRows, kTaaColumns, channels});
    };
    // Each picture, motion and depth once. Three numbers of brightness and colour (6 operations) of
    // the old and the new, 2 x 3 x 4 comparisons for the box by rows and columns, 4 of depths and 4
    // choices, the old place (2) and its fractions (4), three channels between four pixels (27),
    // the clamp (6), weights (6), the blend (9) and the way back (4). Motion and the old picture
    // are read where depths and motion say; of neighbours' four old pixels most are the same.
    return {.least = {4.0 * 9 * kTaaPixels, 4.0 * 3 * kTaaPixels, 102.0 * kTaaPixels,
                      (2 + 3) * double(kTaaPixels)},
            .arguments = {frame.current, frame.history, frame.motion, frame.depth},
            .results = {3 * kTaaPixels},
            .firn =
                [f, current = on_device(frame.current, 3), history = on_device(frame.history, 3),
                 motion = on_device(frame.motion, 2),
                 depth = tensor(frame.depth, {kTaaRows, kTaaColumns})] {
                    return std::vector<Tensor>{f(current, history, motion, depth, kTaaBlend)};
                },
            .best = best_temporal_aa(),
            .plain = plain_temporal_aa(),
            .tolerance = 1e-4,
            .difference = share_that_differs,
            .expected = [=] { return std::vector<std::vector<float>>{host_temporal_aa(frame)}; }};
}

constexpr const char* kTaaFar =
    "three channels beside one another are three loads and stores of every fourth number, and each "
    "place in the old picture is four pixels";

}  // namespace

void add_temporal_aa(std::vector<Case>& cases) {
    cases.push_back(
        {"temporal_aa", [] { return taa_contest(temporal_aa); }, Section::Holdout, kTaaFar});
    cases.push_back({"temporal_aa_kernel", [] { return taa_contest(temporal_aa_kernel); },
                     Section::Holdout, kTaaFar});
}

}  // namespace firn::bench
