// The picture of a network that learns digits.
#include "apps/train_digits/views.h"

namespace firn::train_digits {
namespace {

constexpr int kMistakeRows = 2, kMistakes = 8 * kMistakeRows, kCaption = 14;
constexpr float kPaper = 0.07f;  // the grey behind everything

/// Returns a channel as three, each times its share of a colour.
Tensor tinted(const Tensor& grey, float red, float green, float blue) {
    return stack({grey * red, grey * green, grey * blue}, {.axis = 2});
}

/// Columns for the ten probabilities, [150, 330], the largest in another colour.
Tensor bars(const Tensor& probability) {
    constexpr int kRows = 150, kEach = 33;
    auto [i, j] = indices<2>({kRows, kClasses * kEach});
    const Tensor p = probability(j / kEach);
    const Tensor on = ((kRows - i).as(f32) <= max(p * float(kRows), 1.0f)) & (j % kEach < 28);
    const Tensor best = j / kEach == argmax(probability);
    const auto channel = [&](float usual, float largest) {
        return select(on, select(best, largest, usual), kPaper);
    };
    return stack({channel(0.35f, 0.2f), channel(0.45f, 0.85f), channel(0.6f, 0.45f)}, {.axis = 2});
}

/// Weights or what they find, about 0: blue below, red above.
Tensor signed_mosaic(const Tensor& tiles) {
    const Tensor x = mosaic(tiles / (max(abs(tiles)) + 1e-6f), 1, 0.0f);
    const Tensor up = sqrt(max(x, 0.0f)), down = sqrt(max(-x, 0.0f));
    return stack({kPaper + up * 0.9f + down * 0.1f, kPaper + up * 0.5f + down * 0.5f,
                  kPaper + up * 0.1f + down * 0.9f},
                 {.axis = 2});
}

/// Shares of every row, and the digits along both sides: [11 * 28, 11 * 28, 3].
Tensor confusion_table(const Tensor& confusion, const Tensor& plain) {
    const Tensor share = confusion / max(sum(confusion, {.axis = 1, .keep_dims = true}), 1.0f);
    auto [i, j] = indices<2>({11 * kSide, 11 * kSide});
    const Tensor row = i / kSide - 1, column = j / kSide - 1;
    // Wrong answers are rare, so their root is shown.
    const Tensor value = sqrt(share(row, column)), right = row == column;
    const Tensor line = (i % kSide == 0) | (j % kSide == 0);
    const Tensor side =
        select(row < 0, plain(column, i % kSide, j % kSide), plain(row, i % kSide, j % kSide)) *
        0.7f;
    const Tensor corner = (row < 0) & (column < 0), margin = (row < 0) | (column < 0);
    const auto channel = [&](float good, float bad) {
        const Tensor cell = 0.12f + select(right, good, bad) * value;
        return select(corner, kPaper,
                      select(margin, max(side, kPaper), select(line, kPaper, cell)));
    };
    return stack({channel(0.1f, 0.88f), channel(0.6f, 0.25f), channel(0.35f, 0.1f)}, {.axis = 2});
}

/// Pictures with what they are and what they were taken for above them.
Tensor mistakes(const Tensor& images, const Tensor& labels, const Tensor& read, const Tensor& loss,
                const Tensor& plain) {
    const Tensor worst = topk(loss, kMistakes).indices;
    auto [row, column, i, j] =
        indices<4>({kMistakeRows, kMistakes / kMistakeRows, kCaption + kSide, kSide});
    const Tensor which = worst(row * (kMistakes / kMistakeRows) + column);
    const Tensor caption = i < kCaption, left = j < kCaption;
    const Tensor body = images(which, i - kCaption, j).as(f32) / 255.0f;
    const Tensor digit = select(left, plain(labels(which), 2 * i, 2 * j),
                                plain(read(which), 2 * i, 2 * (j - kCaption)));
    const auto channel = [&](float of_label, float of_read) {
        return mosaic(select(caption, digit * select(left, of_label, of_read), body), 2, kPaper);
    };
    return stack({channel(0.3f, 1.0f), channel(0.9f, 0.4f), channel(0.4f, 0.3f)}, {.axis = 2});
}

}  // namespace

Tensor with_stroke(const Tensor& pad, float from_i, float from_j, float to_i, float to_j) {
    static const auto ink = [](Tensor pad, Tensor i0, Tensor j0, Tensor i1, Tensor j1) {
        auto [i, j] = indices<2>(pad.shape());
        const Tensor y = i.as(f32) + 0.5f - i0, x = j.as(f32) + 0.5f - j0, dy = i1 - i0,
                     dx = j1 - j0;
        const Tensor share = clamp((y * dy + x * dx) / (dy * dy + dx * dx + 1e-6f), 0.0f, 1.0f);
        const Tensor distance = sqrt(square(y - share * dy) + square(x - share * dx));
        return max(pad, clamp(1.7f - distance, 0.0f, 1.0f));
    };
    return jit(ink)(pad, from_i, from_j, to_i, to_j);
}

Drawing picture(const Training& training, const Views& views) {
    const Samples& test = training.data.test;
    const Tensor& plain = views.plain;
    Tensor canvas = full({kHeight, kWidth, 3}, kPaper);
    canvas = pasted(canvas, tinted(0.1f + 0.9f * views.pad, 1.0f, 0.97f, 0.9f), kPad);
    canvas = pasted(canvas, bars(views.read.probability), {384, kPad.column, 1});
    const Tensor digits =
        reshape(permute(concat({plain, zeros({kClasses, kSide, 5})}, {.axis = 2}), {1, 0, 2}),
                {kSide, kClasses * 33});
    canvas = pasted(canvas, max(digits * 0.7f, kPaper), {538, kPad.column, 1});
    canvas = pasted(canvas, confusion_table(views.test.confusion, plain), {10, 680, 1});
    canvas =
        pasted(canvas, signed_mosaic(reshape(training.network.first.weight.value(), {4, 3, 5, 5})),
               {20, 1014, 10});
    canvas =
        pasted(canvas, signed_mosaic(reshape(views.read.features, {4, 3, 14, 14})), {274, 1014, 3});
    const bool enough = test.images.size(0) >= kMistakes;  // to choose from
    if (enough)
        canvas = pasted(canvas,
                        mistakes(test.images, test.labels, views.test.read, views.test.loss, plain),
                        {456, 692, 2});
    Drawing out = canvas;
    caption(out, "draw: left button, clear: right", kPad);
    caption(out, "filters", {20, 1014});
    caption(out, "activations", {274, 1014});
    caption(out, "rows: true digit, columns: predicted", {342, 709});
    if (enough) caption(out, "worst errors: true digit, predicted", {456, 692});
    return out;
}

}  // namespace firn::train_digits
