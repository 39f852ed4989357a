// The strokes of digits, their variations, and digits in files.
#include "apps/train_digits/digits.h"

#include <firn/learning.h>

#include <filesystem>

#include "compiler/base/error.h"

namespace firn::train_digits {
namespace {

constexpr int kStrokes = 4, kStyles = 2, kPieces = 6;  // pieces: segments that stand for a curve

struct Stroke {
    float points[8];  // x and y of a cubic Bezier curve's control points; x to the right, y down
};
struct Glyph {
    Stroke strokes[kStrokes];  // fewer are followed by the first again
};

constexpr Stroke line(float x0, float y0, float x1, float y1) {
    return {{x0, y0, x0 + (x1 - x0) / 3, y0 + (y1 - y0) / 3, x0 + (x1 - x0) * 2 / 3,
             y0 + (y1 - y0) * 2 / 3, x1, y1}};
}

// clang-format off
constexpr Glyph kGlyphs[kClasses][kStyles] = {
    {{{{{.50f, .08f, .12f, .08f, .12f, .92f, .50f, .92f}}, {{.50f, .92f, .88f, .92f, .88f, .08f, .50f, .08f}}, line(.5f, .08f, .5f, .08f), line(.5f, .08f, .5f, .08f)}},
     {{{{.56f, .06f, .22f, .12f, .18f, .90f, .48f, .93f}}, {{.48f, .93f, .80f, .94f, .82f, .12f, .46f, .10f}}, line(.5f, .92f, .5f, .92f), line(.5f, .92f, .5f, .92f)}}},
    {{{line(.5f, .08f, .5f, .92f), line(.5f, .08f, .34f, .24f), line(.5f, .5f, .5f, .6f), line(.5f, .5f, .5f, .6f)}},
     {{line(.52f, .08f, .52f, .92f), line(.52f, .08f, .32f, .26f), line(.32f, .92f, .72f, .92f), line(.52f, .5f, .52f, .6f)}}},
    {{{{{.22f, .28f, .25f, .00f, .85f, .02f, .74f, .38f}}, {{.74f, .38f, .66f, .60f, .35f, .75f, .20f, .92f}}, line(.2f, .92f, .8f, .92f), line(.4f, .92f, .6f, .92f)}},
     {{{{.22f, .25f, .30f, -.02f, .90f, .05f, .70f, .45f}}, {{.70f, .45f, .55f, .75f, .25f, .98f, .22f, .80f}}, {{.22f, .80f, .30f, .65f, .55f, .95f, .82f, .88f}}, line(.7f, .45f, .7f, .45f)}}},
    {{{{{.24f, .18f, .35f, .00f, .80f, .05f, .72f, .30f}}, {{.72f, .30f, .68f, .44f, .55f, .47f, .42f, .47f}}, {{.42f, .47f, .85f, .47f, .88f, .85f, .50f, .92f}}, {{.50f, .92f, .35f, .94f, .25f, .88f, .20f, .78f}}}},
     {{line(.25f, .1f, .75f, .1f), line(.75f, .1f, .45f, .42f), {{.45f, .42f, .90f, .42f, .90f, .90f, .50f, .92f}}, {{.50f, .92f, .36f, .93f, .26f, .88f, .20f, .80f}}}}},
    {{{line(.3f, .08f, .22f, .58f), line(.22f, .58f, .82f, .58f), line(.64f, .3f, .64f, .92f), line(.4f, .58f, .6f, .58f)}},
     {{line(.62f, .08f, .18f, .62f), line(.18f, .62f, .82f, .62f), line(.62f, .08f, .62f, .92f), line(.4f, .62f, .6f, .62f)}}},
    {{{line(.72f, .1f, .32f, .1f), line(.32f, .1f, .28f, .45f), {{.28f, .45f, .60f, .30f, .90f, .55f, .70f, .80f}}, {{.70f, .80f, .55f, .98f, .30f, .92f, .20f, .82f}}}},
     {{line(.76f, .08f, .35f, .12f), line(.35f, .12f, .30f, .42f), {{.30f, .42f, .95f, .30f, .90f, .95f, .45f, .92f}}, {{.45f, .92f, .35f, .92f, .28f, .88f, .22f, .84f}}}}},
    {{{{{.68f, .10f, .40f, .20f, .20f, .50f, .25f, .72f}}, {{.25f, .72f, .28f, 1.0f, .75f, .98f, .75f, .70f}}, {{.75f, .70f, .75f, .42f, .30f, .45f, .25f, .72f}}, line(.25f, .72f, .25f, .72f)}},
     {{{{.60f, .06f, .30f, .30f, .18f, .65f, .30f, .84f}}, {{.30f, .84f, .42f, 1.0f, .72f, .92f, .72f, .72f}}, {{.72f, .72f, .70f, .50f, .36f, .50f, .26f, .72f}}, line(.3f, .84f, .3f, .84f)}}},
    {{{line(.2f, .12f, .8f, .12f), {{.80f, .12f, .60f, .40f, .48f, .60f, .42f, .92f}}, line(.4f, .12f, .6f, .12f), line(.4f, .12f, .6f, .12f)}},
     {{line(.22f, .1f, .8f, .1f), {{.80f, .10f, .62f, .40f, .50f, .60f, .40f, .92f}}, line(.32f, .5f, .7f, .5f), line(.4f, .1f, .6f, .1f)}}},
    {{{{{.50f, .08f, .22f, .08f, .22f, .48f, .50f, .48f}}, {{.50f, .48f, .78f, .48f, .78f, .08f, .50f, .08f}}, {{.50f, .48f, .14f, .48f, .14f, .92f, .50f, .92f}}, {{.50f, .92f, .86f, .92f, .86f, .48f, .50f, .48f}}}},
     {{{{.70f, .18f, .60f, .02f, .20f, .08f, .28f, .30f}}, {{.28f, .30f, .35f, .50f, .78f, .55f, .72f, .78f}}, {{.72f, .78f, .65f, .98f, .20f, .95f, .28f, .70f}}, {{.28f, .70f, .35f, .50f, .75f, .40f, .70f, .18f}}}}},
    {{{{{.70f, .30f, .72f, .02f, .25f, .02f, .26f, .30f}}, {{.26f, .30f, .28f, .58f, .70f, .55f, .70f, .30f}}, {{.70f, .30f, .72f, .55f, .68f, .75f, .60f, .92f}}, line(.7f, .3f, .7f, .3f)}},
     {{{{.70f, .28f, .66f, .00f, .26f, .04f, .26f, .30f}}, {{.26f, .30f, .28f, .56f, .66f, .54f, .70f, .28f}}, line(.7f, .14f, .7f, .92f), line(.7f, .3f, .7f, .4f)}}},
};
// clang-format on

/// All glyphs, f32 [10 styles, strokes, 4, 2].
Tensor glyph_table() {
    std::vector<float> values;
    for (const auto& digit : kGlyphs)
        for (const Glyph& glyph : digit)
            for (const Stroke& stroke : glyph.strokes)
                values.insert(values.end(), std::begin(stroke.points), std::end(stroke.points));
    return tensor(values, {kClasses * kStyles, kStrokes, 4, 2});
}

/// The deviation from the usual hand; 0: none.
struct Hand {
    float points = 0.03f;                              // deviation of control points
    float turn = 0.17f, slant = 0.2f, stretch = 0.1f;  // deviations: radians, share, share
    float shift = 3.0f;                                // pixels at most
    float noise = 0.08f;                               // deviation of the paper
};

/// f32 [n, 28, 28] in [0, 1] of styles i32 [n].
Tensor drawn(const Tensor& styles, const Tensor& table, const Tensor& seed, const Hand& hand) {
    const Size n = styles.size(0);
    int stream = 1;
    const auto normal = [&](const Shape& shape, float deviation) {
        return deviation * randn(shape, {.seed = seed, .stream = stream++});
    };
    const auto uniform = [&](float low, float high) {
        return low + (high - low) * rand({n, 1, 1}, {.seed = seed, .stream = stream++});
    };
    // Curves, in the middle of the unit square.
    const Tensor controls =
        take(table, styles, {.axis = 0}) - 0.5f + normal({n, kStrokes, 4, 2}, hand.points);
    auto [sample, stroke, piece] = indices<3>({n, kStrokes, kPieces + 1});
    const Tensor t = piece.as(f32) / float(kPieces), s = 1.0f - t;
    const auto along = [&](int axis) {
        const auto p = [&](int k) { return controls(sample, stroke, k, axis); };
        return s * s * s * p(0) + 3.0f * s * s * t * p(1) + 3.0f * s * t * t * p(2) +
               t * t * t * p(3);
    };
    const Tensor turn = normal({n, 1, 1}, hand.turn), slant = normal({n, 1, 1}, hand.slant);
    const Tensor wide = 18.0f * (1.0f + normal({n, 1, 1}, hand.stretch)),
                 high = 21.0f * (1.0f + normal({n, 1, 1}, 0.6f * hand.stretch));
    const Tensor y = along(1), x = along(0) - slant * y;
    const Tensor right = 13.5f + uniform(-hand.shift, hand.shift) + wide * x * cos(turn) -
                         high * y * sin(turn),
                 down = 13.5f + uniform(-hand.shift, hand.shift) + wide * x * sin(turn) +
                        high * y * cos(turn);
    // The distance of every pixel to the nearest piece.
    auto [k, i, j, part] = indices<4>({n, kSide, kSide, kStrokes * kPieces});
    const Tensor of = part / kPieces, at = part % kPieces;
    const Tensor x0 = right(k, of, at), y0 = down(k, of, at), dx = right(k, of, at + 1) - x0,
                 dy = down(k, of, at + 1) - y0, px = j.as(f32) - x0, py = i.as(f32) - y0;
    const Tensor share = clamp((px * dx + py * dy) / (dx * dx + dy * dy + 1e-6f), 0.0f, 1.0f);
    const Tensor distance =
        sqrt(min(square(px - share * dx) + square(py - share * dy), {.axis = 3}));
    const bool plain = hand.noise == 0;
    const Tensor width = plain ? Tensor(1.1f) : uniform(0.6f, 1.7f),
                 soft = plain ? Tensor(1.0f) : uniform(0.7f, 1.6f),
                 pressure = plain ? Tensor(1.0f) : uniform(0.65f, 1.0f);
    const Tensor ink = pressure * clamp((width - distance) / soft + 0.5f, 0.0f, 1.0f);
    return clamp(ink + normal({n, kSide, kSide}, hand.noise), 0.0f, 1.0f);
}

std::string found(const std::string& folder, std::string name) {
    const std::filesystem::path path(folder);
    if (std::filesystem::exists(path / name)) return path / name;
    std::string dotted = name;
    dotted[dotted.rfind("-idx")] = '.';
    if (std::filesystem::exists(path / dotted)) return path / dotted;
    throw UserError("folder " + folder + ": no file " + name +
                    "; unpack the four files of MNIST there");
}

Samples load_samples(const std::string& folder, const std::string& name) {
    const std::string path = found(folder, name + "-images-idx3-ubyte");
    const Tensor images = load_idx(path),
                 labels = load_idx(found(folder, name + "-labels-idx1-ubyte"));
    if (images.rank() != 3 || images.dtype() != u8 || !images.size(1).is(kSide) ||
        !images.size(2).is(kSide))
        throw UserError("file " + path + ": is " + images.dtype().name() + text(images.shape()) +
                        "; digits are u8[n, 28, 28]");
    if (images.size(0).is(0)) throw UserError("file " + path + ": has no pictures");
    if (labels.rank() != 1 || labels.size(0) != images.size(0))
        throw UserError("file " + path + ": has " + std::to_string(int64_t(images.size(0))) +
                        " pictures, and there are labels " + text(labels.shape()));
    check_labels(labels, kClasses);
    return {images, labels.as(i32)};
}

}  // namespace

Samples drawn_digits(int64_t count, uint32_t seed) {
    static const auto draw = [](Tensor lanes, Tensor table, Tensor seed) {
        const Tensor labels = randint(0, kClasses, lanes.shape(), {.seed = seed, .stream = 100});
        const Tensor style = randint(0, kStyles, lanes.shape(), {.seed = seed, .stream = 101});
        return std::tuple{(255.0f * drawn(kStyles * labels + style, table, seed, {}) + 0.5f).as(u8),
                          labels};
    };
    const auto compiled = compile(draw, {i32("n"), f32(kClasses * kStyles, kStrokes, 4, 2), u32()});
    auto [images, labels] = compiled(arange(count), glyph_table(), seed);
    return {images, labels};
}

Tensor plain_digits() {
    return drawn(kStyles * arange(kClasses), glyph_table(), 0u, {0, 0, 0, 0, 0, 0});
}

DigitData load_digits(const std::string& folder) {
    return {load_samples(folder, "train"), load_samples(folder, "t10k")};
}

void save_digits(const std::string& folder, const DigitData& data) {
    const auto save = [&](const std::string& name, const Samples& samples) {
        save_idx(folder + "/" + name + "-images-idx3-ubyte", samples.images);
        save_idx(folder + "/" + name + "-labels-idx1-ubyte", samples.labels.as(u8));
    };
    save("train", data.train);
    save("t10k", data.test);
}

}  // namespace firn::train_digits
