// Shapes in pictures: segments where a level is crossed, and connected components.
#include <firn/firn.h>

#include <array>
#include <bit>
#include <numeric>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kSide = 1024;

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
              {kSide - 1, 1, 1},
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
              {kSide - 1, 1, 1},
              {field, edges, {"starts", As::Ints, kStartsOf}, {"y", As::Vec4s, 2, true}},
              {{"SEGMENTS", segments}}}},
            {kSide, kSide},
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
    constexpr int kBlocks = kSide / 16, kMasksOf = 3, kCountsOf = 4;
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
            {2 * kSide * kSide / 32, kBlocks},
            {}};
}

Contest marching_squares() {
    auto f = compile(marching_squares_of, {f32("h", "w"), i32(16, 4)});
    const Plane field = hills(kSide, kSide, 6);
    const double count = double(host_marching_squares(field)[0].size()) / 4;
    const int64_t numbers = int64_t(4 * count);
    std::vector<float> bits;
    for (int edge : kEdges) bits.push_back(std::bit_cast<float>(edge));
    // A comparison of every corner; two ends of a segment with a difference, a quotient and two
    // sums.
    return {
        .least = {4.0 * kSide * kSide, 16 * count, 1.0 * kSide * kSide + 8 * count},
        .arguments = {field.values, bits},
        .results = {numbers},
        .firn = [f, field0 = tensor(field.values, {kSide, kSide}),
                 edges = tensor(kEdges, {16, 4})] { return std::vector<Tensor>{f(field0, edges)}; },
        .best = best_squares(int(count)),
        .plain = squares_by_hand(int(count)),
        .expected = [field] { return host_marching_squares(field); }};
}

constexpr int kPicture = 512;
constexpr int64_t kPixels = int64_t(kPicture) * kPicture;

/// The smallest index of a pixel in the component of each, and its own where the picture is 0.
/// Labels spread to neighbours and to the pixel that a label names, whose own label is then taken.
Tensor label_components(Tensor picture) {
    auto [i, j] = indices<2>(picture.shape());
    Size h = picture.size(0), w = picture.size(1);
    Tensor label = arange(h * w), changed = true, inside = picture != 0;
    while_([&] { return changed; },
           [&] {
               Tensor grid = reshape(label, {h, w}), low = grid;
               for (auto [dy, dx] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
                   Tensor there = zero(picture)(i + dy, j + dx) != 0;
                   low = select(inside & there, min(low, grid(i + dy, j + dx)), low);
               }
               Tensor next = label;
               scatter_min(next(label), reshape(low, {h * w}));
               next = next(next);
               next = next(next);
               changed = any(next != label);
               label = next;
           });
    return reshape(label, {h, w});
}

std::vector<std::vector<float>> host_components(const Plane& picture) {
    std::vector<int> parent(picture.values.size());
    std::iota(parent.begin(), parent.end(), 0);
    auto root = [&](int k) {
        while (parent[static_cast<size_t>(k)] != k) k = parent[static_cast<size_t>(k)];
        return k;
    };
    auto join = [&](size_t a, size_t b) {
        const int s = root(int(a)), t = root(int(b));
        parent[static_cast<size_t>(std::max(s, t))] = std::min(s, t);
    };
    for (int i = 0; i < picture.h; ++i)
        for (int j = 0; j < picture.w; ++j) {
            if (picture(i, j) == 0) continue;
            if (i > 0 && picture(i - 1, j) != 0) join(picture.place(i - 1, j), picture.place(i, j));
            if (j > 0 && picture(i, j - 1) != 0) join(picture.place(i, j - 1), picture.place(i, j));
        }
    std::vector<float> out;
    for (size_t k = 0; k < parent.size(); ++k) out.push_back(float(root(int(k))));
    return {out};
}

// A turn that follows one without changes does nothing: its number goes to and fro between `was`
// and `now`.
constexpr const char* kLabelStart = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    y[k] = float(k);
    next[k] = k;
    if (k == 0) was[0] = 1;
}
)";
constexpr const char* kLabelSpread = R"(
int label_at(int k) { return int(y_at(k)); }
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y), k = i * 512 + j;
    if (k == 0) now[0] = 0;
    if (was_at(0) == 0 || picture_at(k) == 0) return;
    int own = label_at(k), low = own;
    if (i > 0 && picture_at(k - 512) != 0) low = min(low, label_at(k - 512));
    if (i < 511 && picture_at(k + 512) != 0) low = min(low, label_at(k + 512));
    if (j > 0 && picture_at(k - 1) != 0) low = min(low, label_at(k - 1));
    if (j < 511 && picture_at(k + 1) != 0) low = min(low, label_at(k + 1));
    atomicMin(next[own], low);
}
)";
constexpr const char* kLabelJump = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    if (was_at(0) == 0) return;
    far[k] = next_at(next_at(k));
}
)";
constexpr const char* kLabelEnd = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    if (was_at(0) == 0) return;
    int label = far_at(far_at(k));
    if (float(label) != y[k]) now[0] = 1;
    y[k] = float(label);
    next[k] = label;
}
)";

HandProgram labels_by_hand() {
    // Snakes, spirals and mazes through the whole picture need 10 turns, since a turn makes the
    // chains of labels a quarter as long; the others are for what is worse.
    constexpr int kLabelTurns = 32;
    constexpr int kIn = 0, kLabels = 1, kNext = 2, kJumped = 3, kChanged = 4;
    HandProgram out;
    out.temporaries = {kPixels, kPixels, 1, 1};
    const HandBinding was{"was", As::Ints, kChanged};
    auto add = [&](const char* body, const std::vector<HandBinding>& bindings) {
        out.kernels.push_back(
            {"components", body, {256, 1, 1}, {int(kPixels / 256), 1, 1}, bindings, {}});
    };
    add(kLabelStart, {{"y", As::Floats, kLabels, true},
                      {"next", As::Ints, kNext, true},
                      {"was", As::Ints, kChanged, true}});
    add(kLabelSpread, {{"picture", As::Ints, kIn},
                       {"y", As::Floats, kLabels},
                       {"next", As::Ints, kNext, true},
                       was,
                       {"now", As::Ints, kChanged + 1, true}});
    add(kLabelJump, {{"next", As::Ints, kNext}, {"far", As::Ints, kJumped, true}, was});
    add(kLabelEnd, {{"far", As::Ints, kJumped},
                    {"y", As::Floats, kLabels, true},
                    {"next", As::Ints, kNext, true},
                    was,
                    {"now", As::Ints, kChanged + 1, true}});
    out.kernels[1].group_size = {64, 4, 1};
    out.kernels[1].groups = {kPicture / 64, kPicture / 4, 1};
    out.steps.push_back({0, {}});
    for (int turn = 0; turn < kLabelTurns; ++turn) {
        const int from = kChanged + turn % 2, to = kChanged + (turn + 1) % 2;
        out.steps.push_back({1, {kIn, kLabels, kNext, from, to}});
        out.steps.push_back({2, {kNext, kJumped, from}});
        out.steps.push_back({3, {kJumped, kLabels, kNext, from, to}});
    }
    return out;
}

// Trees of the runs of set pixels, each named by its first pixel: a lane joins those in a tile of
// 16 rows and 32 columns, then those across the tiles' edges.
constexpr const char* kRunStart = R"(
int start_of(uint bits, int at) { return findMSB(~bits & ((1u << at) - 1u)) + 1; }
uint firsts(uint bits) { return bits & ~(bits << 1); }
)";
constexpr const char* kJoinInTile = R"(
int parent[512];
int root(int k) {
    while (parent[k] != k) k = parent[k];
    return k;
}
void main() {
    int tile = int(gl_GlobalInvocationID.x), column = tile & 15, row = (tile >> 4) * 16;
    uint above = 0u, rows[16];
    for (int i = 0; i < 16; ++i) {
        uint bits = 0u;
        [[unroll]] for (int k = 0; k < 8; ++k) {
            vec4 four = picture_at((row + i) * 128 + column * 8 + k);
            uvec4 bit = mix(uvec4(1, 2, 4, 8) << (4 * k), uvec4(0),
                            equal(floatBitsToInt(four), ivec4(0)));
            bits |= bit.x | bit.y | bit.z | bit.w;
        }
        words[(row + i) * 16 + column] = int(bits);
        for (uint left = firsts(bits); left != 0u; left &= left - 1u) {
            int at = 32 * i + findLSB(left);
            parent[at] = at;
        }
        for (uint left = firsts(bits & above); left != 0u; left &= left - 1u) {
            int at = findLSB(left), own = 32 * i + start_of(bits, at);
            int a = root(own), b = root(32 * i - 32 + start_of(above, at));
            parent[max(a, b)] = min(a, b);
            parent[own] = min(a, b);
        }
        rows[i] = above = bits;
    }
    int base = row * 512 + column * 32;
    for (int i = 0; i < 16; ++i)
        for (uint left = firsts(rows[i]); left != 0u; left &= left - 1u) {
            int at = 32 * i + findLSB(left), top = parent[parent[at]];
            parent[at] = top;
            next[base + 512 * i + (at & 31)] = base + 512 * (top >> 5) + (top & 31);
        }
}
)";
constexpr const char* kJoinTiles = R"(
int root(int k) {
    for (int up = next[k]; up != k; up = next[k]) k = up;
    return k;
}
void join(int a, int b) {
    while (true) {
        a = root(a), b = root(b);
        if (a == b) break;
        int high = max(a, b), low = min(a, b), old = atomicMin(next[high], low);
        if (old == high) break;
        a = old, b = low;
    }
}
void main() {
    int tile = int(gl_GlobalInvocationID.x), column = tile & 15, row = (tile >> 4) * 16;
    if (row > 0) {
        int word = row * 16 + column;
        uint bits = uint(words_at(word)), above = uint(words_at(word - 16));
        int own = row * 512 + column * 32;
        for (uint left = firsts(bits & above); left != 0u; left &= left - 1u) {
            int at = findLSB(left);
            join(own + start_of(bits, at), own - 512 + start_of(above, at));
        }
    }
    if (column > 0) {
        uint both = 0u;
        [[unroll]] for (int i = 0; i < 16; ++i) {
            int word = (row + i) * 16 + column;
            both |= (uint(words_at(word)) & uint(words_at(word - 1)) >> 31) << i;
        }
        for (uint left = firsts(both); left != 0u; left &= left - 1u) {
            int i = row + findLSB(left), own = i * 512 + column * 32;
            join(own, own - 32 + start_of(uint(words_at(i * 16 + column - 1)), 31));
        }
    }
}
)";
constexpr const char* kNameRoots = R"(
void main() {
    int word = int(gl_GlobalInvocationID.x), base = 32 * word, named[32];
    uint bits = uint(words_at(word));
    for (uint left = firsts(bits); left != 0u; left &= left - 1u) {
        int at = findLSB(left), k = base + at;
        for (int up = next_at(k); up != k; up = next_at(k)) k = up;
        named[at] = k;
    }
    uint begin = firsts(bits);
    int own = 0;
    [[unroll]] for (int q = 0; q < 8; ++q) {
        vec4 four;
        [[unroll]] for (int k = 0; k < 4; ++k) {
            int at = 4 * q + k;
            own = (begin >> at & 1u) != 0u ? named[at] : own;
            four[k] = float((bits >> at & 1u) != 0u ? own : base + at);
        }
        y[8 * word + q] = four;
    }
}
)";

HandProgram best_labels() {
    constexpr int kIn = 0, kLabels = 1, kNext = 2, kWords = 3, kTiles = int(kPixels / 512);
    const std::string head = kRunStart;
    return {{{"components_tile",
              head + kJoinInTile,
              {8, 1, 1},
              {kTiles / 8, 1, 1},
              {{"picture", As::Texels4, kIn},
               {"words", As::Ints, kWords, true},
               {"next", As::Ints, kNext, true}},
              {}},
             {"components_join",
              head + kJoinTiles,
              {8, 1, 1},
              {kTiles / 8, 1, 1},
              {{"words", As::IntTexels, kWords}, {"next", As::Ints, kNext, true}},
              {}},
             {"components",
              head + kNameRoots,
              {64, 1, 1},
              {int(kPixels / 32 / 64), 1, 1},
              {{"words", As::IntTexels, kWords},
               {"next", As::IntTexels, kNext},
               {"y", As::Vec4s, kLabels, true}},
              {}}},
            {kPixels, kPixels / 32},
            {}};
}

Contest components() {
    auto f = compile(label_components, {i32("h", "w")});
    Plane picture(kPicture, kPicture, numbers(kPixels, 0, 1));
    for (float& value : picture.values) value = value < 0.58f ? 1.0f : 0.0f;
    const std::vector<int> pixels(picture.values.begin(), picture.values.end());
    std::vector<float> bits;
    for (int pixel : pixels) bits.push_back(std::bit_cast<float>(pixel));
    // Two comparisons of a pixel, with its left and upper neighbours.
    return {
        .least = {4.0 * kPixels, 4.0 * kPixels, 2.0 * kPixels},
        .arguments = {bits},
        .results = {kPixels},
        .firn = [f, x = tensor(pixels, {kPicture, kPicture})] { return std::vector<Tensor>{f(x)}; },
        .best = best_labels(),
        .plain = labels_by_hand(),
        .tolerance = 0,
        .expected = [picture] { return host_components(picture); }};
}

}  // namespace

void add_contours(std::vector<Case>& cases) {
    cases.push_back({"marching_squares", marching_squares, Section::Strangers});
    cases.push_back({"components", components, Section::Strangers});
}

}  // namespace firn::bench
