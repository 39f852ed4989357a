// Edges of a picture by Canny's method.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kEdgeSide = 1024, kSweeps = 16;
constexpr int64_t kEdgePixels = int64_t(kEdgeSide) * kEdgeSide;
constexpr float kLow = 0.25f, kHigh = 0.6f, kNarrow = 0.41421356f;  // of the angle of 22.5 degrees
constexpr std::array<float, 5> kBlur{0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

Tensor blurred(const Tensor& x, int axis) {
    auto [i, j] = indices<2>(x.shape());
    Tensor out = 0.0f;
    for (int k = -2; k <= 2; ++k)
        out += kBlur[size_t(k + 2)] * (axis == 0 ? x(i + k, j) : x(i, j + k));
    return out;
}

/// 1 on edges. J. Canny, "A Computational Approach to Edge Detection", 1986; weak edges are kept
/// where a strong one is within as many pixels as there are sweeps, along weak ones.
Tensor canny_of(Tensor picture) {
    auto [i, j] = indices<2>(picture.shape());
    Tensor x = blurred(blurred(picture, 0), 1);
    Tensor across = x(i - 1, j + 1) + 2.0f * x(i, j + 1) + x(i + 1, j + 1) - x(i - 1, j - 1) -
                    2.0f * x(i, j - 1) - x(i + 1, j - 1);
    Tensor down = x(i + 1, j - 1) + 2.0f * x(i + 1, j) + x(i + 1, j + 1) - x(i - 1, j - 1) -
                  2.0f * x(i - 1, j) - x(i - 1, j + 1);
    Tensor strength = sqrt(across * across + down * down);
    Tensor flat = abs(down) < kNarrow * abs(across), steep = abs(across) < kNarrow * abs(down);
    Tensor dy = select(flat, 0, 1);
    Tensor dx = select(steep, 0, select(flat | (across * down > 0.0f), 1, -1));
    Tensor top = (strength >= strength(i + dy, j + dx)) & (strength > strength(i - dy, j - dx));
    Tensor weak = top & (strength > kLow), edge = top & (strength > kHigh);
    for (Tensor sweep : loop(kSweeps)) {
        Tensor near = edge;
        for (int v = -1; v <= 1; ++v)
            for (int u = -1; u <= 1; ++u) near = near | edge(i + v, j + u);
        edge = weak & near;
    }
    return select(edge, 1.0f, 0.0f);
}

Plane host_blurred(const Plane& x, int dy, int dx) {
    Plane out(x.h, x.w);
    for (int i = 0; i < x.h; ++i)
        for (int j = 0; j < x.w; ++j)
            for (int k = -2; k <= 2; ++k)
                out(i, j) += kBlur[size_t(k + 2)] * x.clamped(i + k * dy, j + k * dx);
    return out;
}

/// 0 where there is no edge, 1 on weak and 2 on strong ones.
Plane host_tops(const Plane& picture) {
    const Plane x = host_blurred(host_blurred(picture, 1, 0), 0, 1);
    Plane across(x.h, x.w), down = across, strength = across, tops = across;
    for (int i = 0; i < x.h; ++i)
        for (int j = 0; j < x.w; ++j) {
            auto at = [&](int v, int u) { return x.clamped(i + v, j + u); };
            across(i, j) =
                at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
            down(i, j) =
                at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
            strength(i, j) = std::sqrt(across(i, j) * across(i, j) + down(i, j) * down(i, j));
        }
    for (int i = 0; i < x.h; ++i)
        for (int j = 0; j < x.w; ++j) {
            const float h = across(i, j), v = down(i, j), s = strength(i, j);
            const bool flat = std::abs(v) < kNarrow * std::abs(h),
                       steep = std::abs(h) < kNarrow * std::abs(v);
            const int dy = flat ? 0 : 1, dx = steep ? 0 : flat || h * v > 0 ? 1 : -1;
            const bool top =
                s >= strength.clamped(i + dy, j + dx) && s > strength.clamped(i - dy, j - dx);
            tops(i, j) = !top || s <= kLow ? 0.0f : s > kHigh ? 2.0f : 1.0f;
        }
    return tops;
}

std::vector<std::vector<float>> host_canny(const Plane& picture) {
    const Plane tops = host_tops(picture);
    Plane edge(tops.h, tops.w);
    for (size_t k = 0; k < tops.values.size(); ++k) edge.values[k] = tops.values[k] == 2 ? 1 : 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        const Plane old = edge;
        for (int i = 0; i < old.h; ++i)
            for (int j = 0; j < old.w; ++j)
                for (int k = 0; k < 9 && tops(i, j) > 0; ++k)
                    edge(i, j) = std::max(edge(i, j), old.clamped(i + k / 3 - 1, j + k % 3 - 1));
    }
    return {edge.values};
}

constexpr const char* kCannyBlur = R"(
const float weight[5] = float[](0.0625, 0.25, 0.375, 0.25, 0.0625);
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    float sum = 0.0;
    for (int k = -2; k <= 2; ++k)
        sum += weight[k + 2] * (DOWN != 0 ? x_at(clamp(i + k, 0, 1023) * 1024 + j)
                                          : x_at(i * 1024 + clamp(j + k, 0, 1023)));
    y[i * 1024 + j] = sum;
}
)";
// The neighbours with which the strength is compared: 0 to 3 for right, below, right below and left
// below.
constexpr const char* kCannySlope = R"(
int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
float near(int v, int u) { return x_at(clamp(i + v, 0, 1023) * 1024 + clamp(j + u, 0, 1023)); }
void main() {
    float across = near(-1, 1) + 2.0 * near(0, 1) + near(1, 1) - near(-1, -1) -
                   2.0 * near(0, -1) - near(1, -1);
    float down = near(1, -1) + 2.0 * near(1, 0) + near(1, 1) - near(-1, -1) -
                 2.0 * near(-1, 0) - near(-1, 1);
    strength[i * 1024 + j] = sqrt(across * across + down * down);
    bool flat_ = abs(down) < 0.41421356 * abs(across), steep = abs(across) < 0.41421356 * abs(down);
    way[i * 1024 + j] = flat_ ? 0 : steep ? 1 : across * down > 0.0 ? 2 : 3;
}
)";
// 0 where there is no edge, 1 on weak and 2 on strong ones.
constexpr const char* kCannyThin = R"(
int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
float near(int v, int u) { return x_at(clamp(i + v, 0, 1023) * 1024 + clamp(j + u, 0, 1023)); }
void main() {
    int way = way_at(i * 1024 + j), dy = way == 0 ? 0 : 1, dx = way == 1 ? 0 : way == 3 ? -1 : 1;
    float own = near(0, 0);
    bool top = own >= near(dy, dx) && own > near(-dy, -dx);
    y[i * 1024 + j] = !top || own <= 0.25 ? 0.0 : own > 0.6 ? 2.0 : 1.0;
}
)";
constexpr const char* kCannySweep = R"(
int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
void main() {
    float own = x_at(i * 1024 + j), most = own;
    for (int v = -1; v <= 1; ++v)
        for (int u = -1; u <= 1; ++u)
            most = max(most, x_at(clamp(i + v, 0, 1023) * 1024 + clamp(j + u, 0, 1023)));
    y[i * 1024 + j] = own > 0.0 ? most : 0.0;
}
)";
constexpr const char* kCannyEnd = R"(
void main() {
    int k = int(gl_GlobalInvocationID.y) * 1024 + int(gl_GlobalInvocationID.x);
    y[k] = x_at(k) == 2.0 ? 1.0 : 0.0;
}
)";

HandProgram canny_by_hand() {
    constexpr int kPictureOf = 0, kResult = 1, kFirstOf = 2, kSecondOf = 3, kWayOf = 4;
    HandProgram out;
    out.temporaries = {kEdgePixels, kEdgePixels, kEdgePixels};
    auto add = [&](const char* body, int from, const HandBinding& to, bool down = false) {
        out.kernels.push_back({"canny",
                               body,
                               {64, 4, 1},
                               {kEdgeSide / 64, kEdgeSide / 4, 1},
                               {{"x", As::Floats, from}, to},
                               {{"DOWN", down}}});
    };
    const HandBinding first{"y", As::Floats, kFirstOf, true},
        second{"y", As::Floats, kSecondOf, true};
    add(kCannyBlur, kPictureOf, second, true);
    add(kCannyBlur, kSecondOf, first);
    add(kCannySlope, kFirstOf, {"strength", As::Floats, kSecondOf, true});
    out.kernels.back().bindings.push_back({"way", As::Ints, kWayOf, true});
    add(kCannyThin, kSecondOf, first);
    out.kernels.back().bindings.push_back({"way", As::Ints, kWayOf});
    add(kCannySweep, kFirstOf, second);
    add(kCannyEnd, kFirstOf, {"y", As::Floats, kResult, true});
    out.steps = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
    for (int sweep = 0; sweep < kSweeps; ++sweep)
        out.steps.push_back({4, {kFirstOf + sweep % 2, kFirstOf + (sweep + 1) % 2}});
    out.steps.push_back({5, {}});
    return out;
}

// A lane goes down 8 columns: from a row of the picture, with 4 more columns on both sides, it
// makes the blurred row 2 above, the slopes 3 above and the edges 4 above, from kept values of the
// rows before. All values are 256 times as large, because the blur is made of sums of two.
constexpr const char* kBestCannyTops = R"(
#define EACH(K, N) [[unroll]] for (int K = 0; K < N; ++K)
void main() {
    int column = 2 * int(gl_GlobalInvocationID.x), begin = int(gl_WorkGroupID.y) * ROWS;
    bool left = column == 0, right = column == 254;
    float sums[4][16], slope[2][10], smooth_[2][10], strength[2][10], across[8], down[8];
    EACH(l, 4) EACH(k, 16) sums[l][k] = 0.0;
    EACH(l, 2) EACH(k, 10) slope[l][k] = smooth_[l][k] = strength[l][k] = 0.0;
    EACH(k, 8) across[k] = down[k] = 0.0;
    for (int row = begin - 4; row < begin + ROWS + 4; ++row) {
        int at = clamp(row, 0, 1023) * 256 + column;
        vec4 v1 = x_at(at), v2 = x_at(at + 1), v0 = x_at(max(at - 1, 0)), v3 = x_at(at + 2);
        v0 = left ? v1.xxxx : v0, v3 = right ? v2.wwww : v3;
        float x[16] = float[](v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w,
                              v2.x, v2.y, v2.z, v2.w, v3.x, v3.y, v3.z, v3.w);
        EACH(l, 4) EACH(k, 16) {
            float sum = x[k] + sums[l][k];
            sums[l][k] = x[k], x[k] = sum;
        }
        EACH(l, 4) EACH(k, 15) x[k] += x[k + 1];
        x[0] = left ? x[2] : x[0], x[1] = left ? x[2] : x[1];
        x[10] = right ? x[9] : x[10], x[11] = right ? x[9] : x[11];

        bool first = row == 2, last = row == 1026;
        float s[10], new_across[8], new_down[8];
        EACH(k, 10) {
            float dif = x[k + 2] - x[k], sum = x[k] + 2.0 * x[k + 1] + x[k + 2];
            dif = last ? slope[1][k] : dif, sum = last ? smooth_[1][k] : sum;
            slope[1][k] = first ? dif : slope[1][k], smooth_[1][k] = first ? sum : smooth_[1][k];
            float h = slope[0][k] + 2.0 * slope[1][k] + dif, v = sum - smooth_[0][k];
            slope[0][k] = slope[1][k], slope[1][k] = dif;
            smooth_[0][k] = smooth_[1][k], smooth_[1][k] = sum;
            s[k] = h * h + v * v;
            if (k > 0 && k < 9) new_across[k - 1] = h, new_down[k - 1] = v;
        }
        s[0] = left ? s[1] : s[0], s[9] = right ? s[8] : s[9];

        first = row == 3, last = row == 1027;
        EACH(k, 10) {
            s[k] = last ? strength[1][k] : s[k];
            strength[1][k] = first ? s[k] : strength[1][k];
        }
        int bits = 0;
        EACH(k, 8) {
            float h = abs(across[k]), v = abs(down[k]), own = strength[1][k + 1];
            bool flat_ = v < 0.41421356 * h, steep = h < 0.41421356 * v;
            bool falls = across[k] * down[k] > 0.0;
            float to = flat_ ? strength[1][k + 2] : steep ? s[k + 1] : falls ? s[k + 2] : s[k];
            float from = flat_ ? strength[1][k]
                       : steep ? strength[0][k + 1] : falls ? strength[0][k] : strength[0][k + 2];
            bool top = own >= to && own > from;
            bits |= top && own > LOW ? 1 << k : 0;
            bits |= top && own > HIGH ? 256 << k : 0;
            across[k] = new_across[k], down[k] = new_down[k];
        }
        EACH(k, 10) strength[0][k] = strength[1][k], strength[1][k] = s[k];
        if (row >= begin + 4) tops[(row - 4) * 128 + column / 2] = bits;
    }
}
)";
// A subgroup goes down all columns, a bit of each, through all sweeps at once: sweep s is s rows
// behind.
constexpr const char* kBestCannySweeps = R"(
#define EACH(K, N) [[unroll]] for (int K = 0; K < N; ++K)
int lane = int(gl_LocalInvocationID.x);
uvec4 spread(uvec4 e) {
    uint before = eight_shuffle(e.w, max(lane - 1, 0));
    uint after = eight_shuffle(e.x, min(lane + 1, 7));
    before = lane == 0 ? 0u : before, after = lane == 7 ? 0u : after;
    return e | e << 1 | uvec4(before, e.xyz) >> 31 | e >> 1 | uvec4(e.yzw, after) << 31;
}
void main() {
    int begin = int(gl_WorkGroupID.x) * ROWS;
    uvec4 weak[17], near[16], last[16];
    EACH(s, 16) weak[s] = near[s] = last[s] = uvec4(0);
    weak[16] = uvec4(0);
    for (int row = max(begin - 16, 0); row < begin + ROWS + 16; ++row) {
        EACH(s, 16) weak[16 - s] = weak[15 - s];
        uvec4 edge = uvec4(0), now = uvec4(0);
        EACH(q, 4) {
            uvec4 bits = floatBitsToUint(tops_at(min(row, 1023) * 32 + lane * 4 + q));
            uvec4 low = (bits & 255u) << uvec4(0, 8, 16, 24);
            uvec4 high = bits >> 8 << uvec4(0, 8, 16, 24);
            now[q] = low.x | low.y | low.z | low.w;
            edge[q] = high.x | high.y | high.z | high.w;
        }
        weak[0] = row < 1024 ? now : uvec4(0);
        edge = row < 1024 ? edge : uvec4(0);
        EACH(s, 16) {
            uvec4 wide = spread(edge);
            edge = weak[s + 1] & (near[s] | wide);
            near[s] = last[s] | wide, last[s] = wide;
        }
        if (row >= begin + 16)
            EACH(q, 4) EACH(k, 8)
                y[(row - 16) * 256 + lane * 32 + q * 8 + k] =
                    vec4(uvec4(edge[q]) >> uvec4(0, 1, 2, 3) + 4 * k & 1u);
    }
}
)";

HandProgram best_canny() {
    constexpr int kPictureOf = 0, kResult = 1, kTopsOf = 2, kTopRows = 64, kSweepRows = 64;
    const float low = 256 * kLow, high = 256 * kHigh;
    return {{{"canny_tops",
              "const float LOW = " + std::to_string(low * low) +
                  ", HIGH = " + std::to_string(high * high) + ";\n" + kBestCannyTops,
              {8, 1, 1},
              {kEdgeSide / 64, kEdgeSide / kTopRows, 1},
              {{"x", As::Texels4, kPictureOf}, {"tops", As::Ints, kTopsOf, true}},
              {{"ROWS", kTopRows}}},
             {"canny",
              kBestCannySweeps,
              {8, 1, 1},
              {kEdgeSide / kSweepRows, 1, 1},
              {{"tops", As::Texels4, kTopsOf}, {"y", As::Vec4s, kResult, true}},
              {{"ROWS", kSweepRows}}}},
            {kEdgePixels / 8},
            {}};
}

Contest canny() {
    auto f = compile(canny_of, {f32("h", "w")});
    Plane picture = hills(kEdgeSide, kEdgeSide, 7);
    const std::vector<float> noise = numbers(kEdgePixels, -0.1f, 0.1f);
    for (size_t k = 0; k < noise.size(); ++k)
        picture.values[k] = std::floor(3 * picture.values[k]) / 3 + noise[k];
    // Operations per pixel: the blur 18, differences 10, the strength 4, directions 6, the thinning
    // 2, the thresholds 2; per sweep four maxima, by rows and by columns.
    return {.least = {4.0 * kEdgePixels, 4.0 * kEdgePixels, (42.0 + 4 * kSweeps) * kEdgePixels},
            .arguments = {picture.values},
            .results = {kEdgePixels},
            .firn = [f, x = tensor(picture.values,
                                   {kEdgeSide, kEdgeSide})] { return std::vector<Tensor>{f(x)}; },
            .best = best_canny(),
            .plain = canny_by_hand(),
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [picture] { return host_canny(picture); }};
}

}  // namespace

void add_edges(std::vector<Case>& cases) {
    cases.push_back(
        {"canny", canny, Section::Training, "its sweeps wait for one another, each of them short"});
}

}  // namespace firn::bench
