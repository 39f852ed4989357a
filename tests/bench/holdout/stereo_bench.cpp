// Stereo: how far each pixel of one picture lies from where another eye sees it.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kStereoRows = 384, kStereoColumns = 512, kStereoDepths = 32, kStereoRadius = 3;
constexpr int64_t kStereoPixels = int64_t(kStereoRows) * kStereoColumns;

/// Block matching by sums of absolute differences: D. Scharstein and R. Szeliski, "A Taxonomy and
/// Evaluation of Dense Two-Frame Stereo Correspondence Algorithms", 2002. Between its neighbours
/// the least sum lies at the vertex of a parabola.
Tensor stereo_of(Tensor left, Tensor right) {
    auto [d, i, j] = indices<3>({kStereoDepths, left.size(0), left.size(1)});
    Tensor apart = abs(left(i, j) - right(i, j - d));
    Tensor across = zeros(apart.shape()), cost = zeros(apart.shape());
    for (int x = -kStereoRadius; x <= kStereoRadius; ++x) across += apart(d, i, j + x);
    for (int y = -kStereoRadius; y <= kStereoRadius; ++y) cost += across(d, i + y, j);
    Tensor best = argmin(cost, {.axis = 0});
    auto [row, column] = indices<2>(left.shape());
    Tensor before = cost(best - 1, row, column), least = min(cost, {.axis = 0}),
           after = cost(best + 1, row, column);
    Tensor inside = (best > 0) & (best < kStereoDepths - 1);
    return best + where(inside, 0.5f * (before - after) / (before - 2.0f * least + after), 0.0f);
}
Tensor stereo_kernel(Tensor left, Tensor right) {
    Tensor disparity = zeros(left.shape());
    kernel(left.shape(), [&](Tensor i, Tensor j) {
        Tensor least = 1e9f, before = 0.0f, after = 0.0f, last = 0.0f, best = -1;
        for (Tensor d : loop(kStereoDepths)) {
            Tensor cost = 0.0f;
            for (Tensor y : loop(-kStereoRadius, kStereoRadius + 1))
                for (Tensor x : loop(-kStereoRadius, kStereoRadius + 1)) {
                    Tensor row = clamp(i + y, 0, left.size(0) - 1),
                           column = clamp(j + x, 0, left.size(1) - 1);
                    cost += abs(left(row, column) - right(row, column - d));
                }
            if_(best == d - 1, [&] { after = cost; });
            if_(cost < least, [&] {
                before = last;
                least = cost;
                best = d;
            });
            last = cost;
        }
        Tensor at = best.as(f32);
        if_((best > 0) & (best < kStereoDepths - 1),
            [&] { at += 0.5f * (before - after) / (before - 2.0f * least + after); });
        disparity(i, j) = at;
    });
    return disparity;
}

/// The views of both eyes: grey values of 0 to 255 on a hilly wall.
std::pair<Plane, Plane> stereo_pair() {
    const Plane distance = hills(kStereoRows, kStereoColumns, 2);
    const Plane coarse(kStereoRows / 4, kStereoColumns / 4,
                       numbers(kStereoPixels / 16, 0, 150, 21));
    const std::vector<float> fine = numbers(kStereoPixels, 0, 100, 22),
                             noise = numbers(2 * kStereoPixels, -3, 3, 23);
    Plane left(kStereoRows, kStereoColumns), right = left;
    const auto wall = [&](int i, float x) {
        const auto at = [&](int j) {
            const int inside = std::clamp(j, 0, kStereoColumns - 1);
            return coarse(i / 4, inside / 4) + fine[left.place(i, inside)];
        };
        const float low = std::floor(x);
        return std::lerp(at(int(low)), at(int(low) + 1), x - low);
    };
    const auto seen = [](float grey) { return std::clamp(std::round(grey), 0.0f, 255.0f); };
    for (int i = 0; i < kStereoRows; ++i)
        for (int j = 0; j < kStereoColumns; ++j) {
            const size_t place = left.place(i, j);
            const float shift = 16 + 13 * distance(i, j);
            left(i, j) = seen(wall(i, float(j)) + noise[2 * place]);
            right(i, j) = seen(wall(i, float(j) + shift) + noise[2 * place + 1]);
        }
    return {left, right};
}

std::vector<std::vector<float>> host_stereo(const Plane& left, const Plane& right) {
    std::vector<Plane> costs;  // sums of integers, so that they are exact
    for (int d = 0; d < kStereoDepths; ++d) {
        Plane across(kStereoRows, kStereoColumns), cost = across;
        for (int i = 0; i < kStereoRows; ++i)
            for (int j = 0; j < kStereoColumns; ++j)
                for (int x = -kStereoRadius; x <= kStereoRadius; ++x) {
                    const int column = std::clamp(j + x, 0, kStereoColumns - 1);
                    across(i, j) += std::abs(left(i, column) - right.clamped(i, column - d));
                }
        for (int i = 0; i < kStereoRows; ++i)
            for (int j = 0; j < kStereoColumns; ++j)
                for (int y = -kStereoRadius; y <= kStereoRadius; ++y)
                    cost(i, j) += across.clamped(i + y, j);
        costs.push_back(std::move(cost));
    }
    Plane out(kStereoRows, kStereoColumns);
    for (size_t k = 0; k < out.values.size(); ++k) {
        const auto cost = [&](size_t d) { return double(costs[d].values[k]); };
        size_t best = 0;
        for (size_t d = 1; d < costs.size(); ++d)
            if (cost(d) < cost(best)) best = d;
        double at = double(best);
        if (best > 0 && best + 1 < costs.size()) {
            const double before = cost(best - 1), least = cost(best), after = cost(best + 1);
            at += 0.5 * (before - after) / (before - 2 * least + after);
        }
        out.values[k] = float(at);
    }
    return {out.values};
}

constexpr const char* kPlainStereo = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), best = -1;
    float least = 1e9, before = 0.0, after = 0.0, last = 0.0;
    for (int d = 0; d < 32; ++d) {
        float cost = 0.0;
        for (int dy = -3; dy <= 3; ++dy)
            for (int dx = -3; dx <= 3; ++dx) {
                int row = clamp(y + dy, 0, 383) * 512, column = clamp(x + dx, 0, 511);
                cost += abs(left_at(row + column) - right_at(row + max(column - d, 0)));
            }
        if (best == d - 1) after = cost;
        if (cost < least) {
            before = last;
            least = cost;
            best = d;
        }
        last = cost;
    }
    float at = float(best);
    if (best > 0 && best < 31) at += 0.5 * (before - after) / (before - 2.0 * least + after);
    disparity[y * 512 + x] = at;
}
)";

HandProgram plain_stereo() {
    return {
        {{"stereo",
          kPlainStereo,
          {16, 16, 1},
          {kStereoColumns / 16, kStereoRows / 16, 1},
          {{"left", As::Floats, 0}, {"right", As::Floats, 1}, {"disparity", As::Floats, 2, true}},
          {}}},
        {},
        {}};
}

// An invocation has 4 * WIDE columns of ROWS rows, and takes DEPTHS depths at a time. It keeps the
// parts of both pictures that meet, and moves the other one along. Sums run along a row, then down
// the rows.
constexpr const char* kBestStereo = R"(
const int ACROSS = 4 * WIDE, MEETING = ACROSS + 6;
void main() {
    int x = int(gl_GlobalInvocationID.x) * WIDE, y = int(gl_GlobalInvocationID.y) * ROWS;
    bool first = x == 0, final = x == 128 - WIDE;
    vec4 least[ROWS * WIDE], best[ROWS * WIDE], before[ROWS * WIDE], after[ROWS * WIDE];
    vec4 last[ROWS * WIDE];
    [[unroll]] for (int k = 0; k < ROWS * WIDE; ++k) {
        least[k] = vec4(1e9), best[k] = before[k] = after[k] = last[k] = vec4(0.0);
    }
    float own[ROWS + 6][ACROSS + 8], other[ROWS + 6][ACROSS + 8 + DEPTHS];
    [[unroll]] for (int r = 0; r < ROWS + 6; ++r) {
        int row = clamp(y + r - 3, 0, 383) * 128;
        [[unroll]] for (int k = 0; k < WIDE + 2; ++k) {
            vec4 part = left_at(row + clamp(x + k - 1, 0, 127));
            vec4 seen = right_at(row + clamp(x + k - 1, 0, 127));
            if (k == 0) part = first ? part.xxxx : part, seen = first ? seen.xxxx : seen;
            [[unroll]] for (int c = 0; c < 4; ++c) own[r][4 * k + c] = part[c];
            [[unroll]] for (int c = 0; c < 4; ++c) other[r][4 * k + c] = seen[c];
        }
    }
    for (int d = 0; d < 32; d += DEPTHS) {
        float ring[7][DEPTHS][ACROSS], total[DEPTHS][ACROSS];
        [[unroll]] for (int r = 0; r < ROWS + 6; ++r) {
            int row = clamp(y + r - 3, 0, 383) * 128;
            [[unroll]] for (int k = ACROSS + 7; k >= 0; --k) other[r][k + DEPTHS] = other[r][k];
            [[unroll]] for (int k = 0; k < DEPTHS / 4; ++k) {
                int column = x + k - 1 - (d + DEPTHS) / 4;
                vec4 part = right_at(row + max(column, 0));
                part = column < 0 ? part.xxxx : part;
                [[unroll]] for (int c = 0; c < 4; ++c) other[r][4 * k + c] = part[c];
            }
            [[unroll]] for (int e = 0; e < DEPTHS; ++e) {
                float apart[MEETING], sum = 0.0;
                [[unroll]] for (int k = 0; k < MEETING; ++k)
                    apart[k] = abs(own[r][k + 1] - other[r][k + 1 + DEPTHS - e]);
                [[unroll]] for (int k = 3; k < 6; ++k)
                    apart[ACROSS + k] = final ? apart[ACROSS + 2] : apart[ACROSS + k];
                [[unroll]] for (int k = 0; k < 6; ++k) sum += apart[k];
                [[unroll]] for (int c = 0; c < ACROSS; ++c) {
                    sum += apart[c + 6];
                    if (c > 0) sum -= apart[c - 1];
                    float old = r < 7 ? 0.0 : ring[r % 7][e][c];
                    float more = r < 7 ? sum : sum - old;
                    total[e][c] = r == 0 ? sum : total[e][c] + more;
                    ring[r % 7][e][c] = sum;
                }
            }
            if (r >= 6)
                [[unroll]] for (int k = 0; k < WIDE; ++k) {
                    int at = (r - 6) * WIDE + k;
                    bvec4 was = equal(best[at], vec4(d - 1));
                    [[unroll]] for (int e = 0; e < DEPTHS; ++e) {
                        vec4 cost = vec4(total[e][4 * k], total[e][4 * k + 1], total[e][4 * k + 2],
                                         total[e][4 * k + 3]);
                        bvec4 lower = lessThan(cost, least[at]);
                        after[at] = mix(after[at], cost, was);
                        before[at] = mix(before[at], last[at], lower);
                        best[at] = mix(best[at], vec4(d + e), lower);
                        least[at] = min(least[at], cost);
                        last[at] = cost;
                        was = lower;
                    }
                }
        }
    }
    [[unroll]] for (int r = 0; r < ROWS; ++r) [[unroll]] for (int k = 0; k < WIDE; ++k) {
        int at = r * WIDE + k;
        vec4 bend = before[at] - 2.0 * least[at] + after[at];
        vec4 part = 0.5 * (before[at] - after[at]) / bend;
        bvec4 inside = lessThan(abs(best[at] - 15.5), vec4(15.0));
        disparity[(y + r) * 128 + x + k] = best[at] + mix(vec4(0.0), part, inside);
    }
}
)";

HandProgram best_stereo(int wide, int rows, int depths) {
    const int across = kStereoColumns / 4 / wide, group = std::min(across, 64);
    return {
        {{"stereo",
          kBestStereo,
          {uint32_t(group), 1, 1},
          {across / group, kStereoRows / rows, 1},
          {{"left", As::Texels4, 0}, {"right", As::Texels4, 1}, {"disparity", As::Vec4s, 2, true}},
          {{"WIDE", wide}, {"ROWS", rows}, {"DEPTHS", depths}}}},
        {},
        {}};
}

Contest stereo(Tensor (*program)(Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32("h", "w")});
    const auto [left, right] = stereo_pair();
    // Operations per pixel and depth: the difference and its size 2, sums that run along both axes
    // 4, and 1 to compare. The parabola takes 7.
    constexpr double kOfAPixel = 7.0 * kStereoDepths + 7;
    Tensor l = tensor(left.values, {kStereoRows, kStereoColumns}),
           r = tensor(right.values, {kStereoRows, kStereoColumns});
    return {.least = {8.0 * kStereoPixels, 4.0 * kStereoPixels, kOfAPixel * kStereoPixels},
            .arguments = {left.values, right.values},
            .results = {kStereoPixels},
            .firn = [=] { return std::vector<Tensor>{f(l, r)}; },
            .best = best_stereo(2, 16, 4),
            .plain = plain_stereo(),
            .expected = [left, right] { return host_stereo(left, right); }};
}

constexpr const char* kStereoFar =
    "few operations are an fma, and sums over windows are shared between pixels at best";

}  // namespace

void add_stereo(std::vector<Case>& cases) {
    cases.push_back({"stereo", [] { return stereo(stereo_of); }, Section::Training, kStereoFar});
    cases.push_back(
        {"stereo_kernel", [] { return stereo(stereo_kernel); }, Section::Training, kStereoFar});
}

}  // namespace firn::bench
