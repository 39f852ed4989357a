// Segments where a field crosses a level, by marching squares with compaction.
#include <firn/firn.h>

#include <bit>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kContourSide = 1024;

/// The edges between which a cell's segments run, by which of its corners are above: the corners
/// and the edges go round from the upper left and the upper one; -1: no segment.
const std::vector<int> kEdges{-1, -1, -1, -1, 3, 0, -1, -1, 0, 1, -1, -1, 3,  1,  -1, -1,
                              1,  2,  -1, -1, 3, 0, 1,  2,  0, 2, -1, -1, 3,  2,  -1, -1,
                              2,  3,  -1, -1, 0, 2, -1, -1, 0, 1, 2,  3,  1,  2,  -1, -1,
                              1,  3,  -1, -1, 0, 1, -1, -1, 0, 3, -1, -1, -1, -1, -1, -1};

/// The segments [count, 4] of the field's level 0, from (y, x) to (y, x), in the order of their
/// cells.
Tensor marching_squares_of(Tensor field, Tensor edges) {
    Size h = field.size(0) - 1, w = field.size(1) - 1;
    Shape shape{h, w, 2};  // two segments of a cell at most
    Tensor i = index(shape, 0), j = index(shape, 1), s = index(shape, 2);
    Tensor a = field(i, j), b = field(i, j + 1), c = field(i + 1, j + 1), d = field(i + 1, j);
    Tensor kind = select(a > 0.0f, 1, 0) + select(b > 0.0f, 2, 0) + select(c > 0.0f, 4, 0) +
                  select(d > 0.0f, 8, 0);
    Tensor top = a / (a - b), right = b / (b - c), bottom = d / (d - c), left = a / (a - d);
    std::vector<Tensor> ends;
    for (int end = 0; end < 2; ++end) {
        Tensor edge = edges(kind, 2 * s + end);
        ends.push_back(
            i + select(edge == 0, 0.0f, select(edge == 1, right, select(edge == 2, 1.0f, left))));
        ends.push_back(
            j + select(edge == 0, top, select(edge == 1, 1.0f, select(edge == 2, bottom, 0.0f))));
    }
    Tensor segments = stack(ends, {.axis = 3}), there = edges(kind, 2 * s) >= 0;
    return compact(reshape(segments, {h * w * 2, 4}), reshape(there, {h * w * 2}));
}

std::vector<std::vector<float>> host_marching_squares(const Plane& field) {
    std::vector<float> out;
    for (int i = 0; i + 1 < field.h; ++i)
        for (int j = 0; j + 1 < field.w; ++j) {
            const float a = field(i, j), b = field(i, j + 1), c = field(i + 1, j + 1),
                        d = field(i + 1, j);
            const int kind = (a > 0) + 2 * (b > 0) + 4 * (c > 0) + 8 * (d > 0);
            const float y = float(i), x = float(j);
            for (int s = 0; s < 4; ++s) {
                const int edge = kEdges[static_cast<size_t>(4 * kind + s)];
                if (edge == 0) out.insert(out.end(), {y, x + a / (a - b)});
                if (edge == 1) out.insert(out.end(), {y + b / (b - c), x + 1});
                if (edge == 2) out.insert(out.end(), {y + 1, x + d / (d - c)});
                if (edge == 3) out.insert(out.end(), {y + a / (a - d), x});
            }
        }
    return {out};
}

// A row of cells is a block; an invocation has four of them.
constexpr const char* kSquaresScan = R"(
shared int sums[gl_WorkGroupSize.x];
int scan(int own) {
    int k = int(gl_LocalInvocationID.x);
    sums[k] = own;
    barrier();
    for (int far = 1; far < int(gl_WorkGroupSize.x); far *= 2) {
        int other = k >= far ? sums[k - far] : 0;
        barrier();
        sums[k] += other;
        barrier();
    }
    return sums[k];
}
)";
constexpr const char* kSquaresCell = R"(
vec4 corners(int i, int j) {
    int at = i * 1024 + j;
    return vec4(field_at(at), field_at(at + 1), field_at(at + 1025), field_at(at + 1024));
}
int kind_of(vec4 v) { return int(dot(vec4(greaterThan(v, vec4(0))), vec4(1, 2, 4, 8))); }
vec2 end(int edge, vec4 v) {
    return edge == 0 ? vec2(0, v.x / (v.x - v.y))
         : edge == 1 ? vec2(v.y / (v.y - v.z), 1)
         : edge == 2 ? vec2(1, v.w / (v.w - v.z)) : vec2(v.x / (v.x - v.w), 0);
}
vec4 segment(int i, int j, vec4 v, int kind, int s) {
    int edge = 4 * kind + 2 * s;
    return vec4(i, j, i, j) + vec4(end(edges_at(edge), v), end(edges_at(edge + 1), v));
}
)";
constexpr const char* kSquaresOwn = R"(
int row = int(gl_WorkGroupID.x), first = 4 * int(gl_LocalInvocationID.x);
int own_count() {
    int count = 0;
    for (int j = first; j < min(first + 4, 1023); ++j) {
        int kind = kind_of(corners(row, j));
        for (int s = 0; s < 2; ++s) count += edges_at(4 * kind + 2 * s) >= 0 ? 1 : 0;
    }
    return count;
}
)";
constexpr const char* kSquaresCount = R"(
void main() {
    int sum = scan(own_count());
    if (gl_LocalInvocationID.x == 255u) counts[row] = sum;
}
)";
constexpr const char* kSquaresStarts = R"(
void main() {
    int k = int(gl_LocalInvocationID.x), own = k < 1023 ? counts_at(k) : 0, sum = scan(own);
    starts[k] = sum - own;
}
)";
constexpr const char* kSquaresWrite = R"(
void main() {
    int own = own_count(), place = starts_at(row) + scan(own) - own;
    for (int j = first; j < min(first + 4, 1023); ++j) {
        vec4 v = corners(row, j);
        int kind = kind_of(v);
        for (int s = 0; s < 2; ++s)
            if (edges_at(4 * kind + 2 * s) >= 0 && place < SEGMENTS)
                y[place++] = segment(row, j, v, kind, s);
    }
}
)";

HandProgram squares_by_hand(int segments) {
    constexpr int kCountsOf = 3, kStartsOf = 4;
    const HandBinding field{"field", As::Floats, 0}, edges{"edges", As::Ints, 1};
    const std::string scan = kSquaresScan, cell = scan + kSquaresCell + kSquaresOwn;
    return {{{"marching_squares_count",
              cell + kSquaresCount,
              {256, 1, 1},
              {kContourSide - 1, 1, 1},
              {field, edges, {"counts", As::Ints, kCountsOf, true}},
              {}},
             {"marching_squares_starts",
              scan + kSquaresStarts,
              {1024, 1, 1},
              {1, 1, 1},
              {{"counts", As::Ints, kCountsOf}, {"starts", As::Ints, kStartsOf, true}},
              {}},
             {"marching_squares",
              cell + kSquaresWrite,
              {256, 1, 1},
              {kContourSide - 1, 1, 1},
              {field, edges, {"starts", As::Ints, kStartsOf}, {"y", As::Vec4s, 2, true}},
              {{"SEGMENTS", segments}}}},
            {kContourSide, kContourSide},
            {}};
}

// A subgroup has 16 rows, a lane 128 columns of each, of which it keeps a bit: where a corner is
// above, and where a cell has its first and its second segment.
constexpr const char* kBestSquaresCount = R"(
int lane = int(gl_LocalInvocationID.x), block = int(gl_WorkGroupID.x);
uvec4 above(int row) {
    uvec4 bits = uvec4(0);
    [[unroll]] for (int q = 0; q < 4; ++q)
        [[unroll]] for (int k = 0; k < 8; ++k) {
            bvec4 set = greaterThan(field_at(row * 256 + lane * 32 + q * 8 + k), vec4(0));
            uvec4 bit = mix(uvec4(0), uvec4(1, 2, 4, 8) << (4 * k), set);
            bits[q] |= bit.x | bit.y | bit.z | bit.w;
        }
    return bits;
}
uvec4 right(uvec4 a) {
    return a >> 1 | uvec4(a.yzw, eight_shuffle(a.x, min(lane + 1, 7))) << 31;
}
uvec4 pick(uvec4 at, uvec4 zero, uvec4 one) { return (zero & ~at) | (one & at); }
uvec4 has_segment(int s, uvec4 a, uvec4 b, uvec4 c, uvec4 d) {
    uvec4 by[16];
    [[unroll]] for (int k = 0; k < 16; ++k) by[k] = uvec4(edges_at(4 * k + 2 * s) >= 0 ? ~0u : 0u);
    [[unroll]] for (int k = 0; k < 8; ++k) by[k] = pick(a, by[2 * k], by[2 * k + 1]);
    [[unroll]] for (int k = 0; k < 4; ++k) by[k] = pick(b, by[2 * k], by[2 * k + 1]);
    [[unroll]] for (int k = 0; k < 2; ++k) by[k] = pick(c, by[2 * k], by[2 * k + 1]);
    uvec4 has = pick(d, by[0], by[1]);
    if (lane == 7) has.w &= 0x7fffffffu;
    return has;
}
void main() {
    int count = 0;
    uvec4 a = above(16 * block), b = right(a);
    for (int row = 16 * block; row < min(16 * block + 16, 1023); ++row) {
        uvec4 d = above(row + 1), c = right(d);
        [[unroll]] for (int s = 0; s < 2; ++s) {
            uvec4 has = has_segment(s, a, b, c, d);
            ivec4 each = bitCount(has);
            count += each.x + each.y + each.z + each.w;
            [[unroll]] for (int q = 0; q < 4; ++q)
                masks[(row * 32 + lane * 4 + q) * 2 + s] = int(has[q]);
        }
        a = d, b = c;
    }
    float sum = eight_sum(float(count));
    if (lane == 0) counts[block] = int(sum);
}
)";
constexpr const char* kBestSquaresWrite = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), block = int(gl_WorkGroupID.x), own = 0;
    for (int k = lane; k < block; k += 8) own += counts_at(k);
    int start = int(eight_sum(float(own)));
    for (int row = 16 * block; row < min(16 * block + 16, 1023); ++row) {
        int word = (row * 32 + lane * 4) * 2, place = start;
        own = 0;
        [[unroll]] for (int k = 0; k < 8; ++k) own += bitCount(masks_at(word + k));
        [[unroll]] for (int k = 0; k < 8; ++k) {
            int other = eight_shuffle(own, k);
            place += k < lane ? other : 0;
            start += other;
        }
        for (int q = 0; q < 4; ++q) {
            uint has = uint(masks_at(word + 2 * q)), also = uint(masks_at(word + 2 * q + 1));
            for (uint left = has | also; left != 0u; left &= left - 1u) {
                int bit = findLSB(left), j = lane * 128 + q * 32 + bit;
                vec4 v = corners(row, j);
                int kind = kind_of(v);
                if ((has >> bit & 1u) != 0u && place < SEGMENTS)
                    y[place++] = segment(row, j, v, kind, 0);
                if ((also >> bit & 1u) != 0u && place < SEGMENTS)
                    y[place++] = segment(row, j, v, kind, 1);
            }
        }
    }
}
)";

HandProgram best_squares(int segments) {
    constexpr int kBlocks = kContourSide / 16, kMasksOf = 3, kCountsOf = 4;
    return {{{"marching_squares_count",
              kBestSquaresCount,
              {8, 1, 1},
              {kBlocks, 1, 1},
              {{"field", As::Texels4, 0},
               {"edges", As::IntTexels, 1},
               {"masks", As::Ints, kMasksOf, true},
               {"counts", As::Ints, kCountsOf, true}},
              {}},
             {"marching_squares",
              std::string(kSquaresCell) + kBestSquaresWrite,
              {8, 1, 1},
              {kBlocks, 1, 1},
              {{"field", As::Texels, 0},
               {"edges", As::IntTexels, 1},
               {"masks", As::IntTexels, kMasksOf},
               {"counts", As::IntTexels, kCountsOf},
               {"y", As::Vec4s, 2, true}},
              {{"SEGMENTS", segments}}}},
            {2 * kContourSide * kContourSide / 32, kBlocks},
            {}};
}

Contest marching_squares() {
    auto f = compile(marching_squares_of, {f32("h", "w"), i32(16, 4)});
    const Plane field = hills(kContourSide, kContourSide, 6);
    const double count = double(host_marching_squares(field)[0].size()) / 4;
    const int64_t numbers = int64_t(4 * count);
    std::vector<float> bits;
    for (int edge : kEdges) bits.push_back(std::bit_cast<float>(edge));
    // A comparison of every corner; two ends of a segment with a difference, a quotient and two
    // sums.
    return {
        .least = {4.0 * kContourSide * kContourSide, 16 * count,
                  1.0 * kContourSide * kContourSide + 8 * count},
        .arguments = {field.values, bits},
        .results = {numbers},
        .firn = [f, field0 = tensor(field.values, {kContourSide, kContourSide}),
                 edges = tensor(kEdges, {16, 4})] { return std::vector<Tensor>{f(field0, edges)}; },
        .best = best_squares(int(count)),
        .plain = squares_by_hand(int(count)),
        .expected = [field] { return host_marching_squares(field); }};
}

}  // namespace

void add_contours(std::vector<Case>& cases) {
    cases.push_back(
        {"marching_squares", marching_squares, Section::Training,
         "places of segments are known when all before them are counted: three passes"});
}

}  // namespace firn::bench
