// Shapes in pictures: segments where a level is crossed, and connected components.
#include <firn/firn.h>

#include <array>
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

Contest marching_squares() {
    auto f = compile(marching_squares_of, {f32("h", "w"), i32(16, 4)});
    const Plane field = hills(kSide, kSide, 6);
    const double count = double(host_marching_squares(field)[0].size()) / 4;
    const int64_t numbers = int64_t(4 * count);
    // A comparison of every corner; two ends of a segment with a difference, a quotient and two
    // sums.
    return {
        .least = {4.0 * kSide * kSide, 16 * count, 1.0 * kSide * kSide + 8 * count},
        .arguments = {},
        .results = {numbers},
        .firn = [f, field0 = tensor(field.values, {kSide, kSide}),
                 edges = tensor(kEdges, {16, 4})] { return std::vector<Tensor>{f(field0, edges)}; },
        .best = {},
        .plain = {},
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

Contest components() {
    auto f = compile(label_components, {i32("h", "w")});
    Plane picture(kPicture, kPicture, numbers(kPixels, 0, 1));
    for (float& value : picture.values) value = value < 0.58f ? 1.0f : 0.0f;
    const std::vector<int> pixels(picture.values.begin(), picture.values.end());
    // Two comparisons of a pixel, with its left and upper neighbours.
    return {
        .least = {4.0 * kPixels, 4.0 * kPixels, 2.0 * kPixels},
        .arguments = {},
        .results = {kPixels},
        .firn = [f, x = tensor(pixels, {kPicture, kPicture})] { return std::vector<Tensor>{f(x)}; },
        .best = {},
        .plain = {},
        .tolerance = 0,
        .expected = [picture] { return host_components(picture); }};
}

}  // namespace

void add_contours(std::vector<Case>& cases) {
    cases.push_back({"marching_squares", marching_squares, Section::Strangers});
    cases.push_back({"components", components, Section::Strangers});
}

}  // namespace firn::bench
