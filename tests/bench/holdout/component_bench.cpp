// Components of a picture: the smallest index of a pixel that hangs together with each.
#include <firn/firn.h>

#include <bit>
#include <numeric>
#include <utility>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kComponentPicture = 512;
constexpr int64_t kComponentPixels = int64_t(kComponentPicture) * kComponentPicture;

/// The smallest index of a pixel in the component of each pixel, and its own if the picture is 0.
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

// An iteration after one without changes does nothing: its number alternates between `was` and
// `now`.
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
    // Snakes, spirals and mazes through the whole picture need 10 iterations, since an iteration
    // makes the chains of labels a quarter as long; the others are for worse pictures.
    constexpr int kLabelTurns = 32;
    constexpr int kIn = 0, kLabels = 1, kNext = 2, kJumped = 3, kChanged = 4;
    HandProgram out;
    out.temporaries = {kComponentPixels, kComponentPixels, 1, 1};
    const HandBinding was{"was", As::Ints, kChanged};
    auto add = [&](const char* body, const std::vector<HandBinding>& bindings) {
        out.kernels.push_back(
            {"components", body, {256, 1, 1}, {int(kComponentPixels / 256), 1, 1}, bindings, {}});
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
    out.kernels[1].groups = {kComponentPicture / 64, kComponentPicture / 4, 1};
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
    constexpr int kIn = 0, kLabels = 1, kNext = 2, kWords = 3, kTiles = int(kComponentPixels / 512);
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
              {int(kComponentPixels / 32 / 64), 1, 1},
              {{"words", As::IntTexels, kWords},
               {"next", As::IntTexels, kNext},
               {"y", As::Vec4s, kLabels, true}},
              {}}},
            {kComponentPixels, kComponentPixels / 32},
            {}};
}

Contest components() {
    auto f = compile(label_components, {i32("h", "w")});
    Plane picture(kComponentPicture, kComponentPicture, numbers(kComponentPixels, 0, 1));
    for (float& value : picture.values) value = value < 0.58f ? 1.0f : 0.0f;
    const std::vector<int> pixels(picture.values.begin(), picture.values.end());
    std::vector<float> bits;
    for (int pixel : pixels) bits.push_back(std::bit_cast<float>(pixel));
    // Two comparisons of a pixel, with its left and upper neighbours.
    return {.least = {4.0 * kComponentPixels, 4.0 * kComponentPixels, 2.0 * kComponentPixels},
            .arguments = {bits},
            .results = {kComponentPixels},
            .firn =
                [f, x = tensor(pixels, {kComponentPicture, kComponentPicture})] {
                    return std::vector<Tensor>{f(x)};
                },
            .best = best_labels(),
            .plain = labels_by_hand(),
            .tolerance = 0,
            .expected = [picture] { return host_components(picture); }};
}

}  // namespace

void add_components(std::vector<Case>& cases) {
    cases.push_back({"components", components, Section::Training,
                     "labels travel: sweeps follow one another until none changes"});
}

}  // namespace firn::bench
