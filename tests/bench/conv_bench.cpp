// Convolutions, 8 images of 16 to 32 channels and 64 x 64 pixels, as sums over indexed reads, and
// both their gradients written out.
#include <firn/firn.h>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kImages = 8, kIn = 16, kOut = 32, kConvSide = 64;

// An edge of zeros, which saves bounds tests.
constexpr const char* kPad = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x), image = int(gl_GlobalInvocationID.y);
    if (at >= WIDE * WIDE) return;
    int row = at / WIDE - EDGE, column = at % WIDE - EDGE;
    bool inside = row >= 0 && row < 64 && column >= 0 && column < 64;
    padded[image * WIDE * WIDE + at] = inside ? x_at(image * 4096 + row * 64 + column) : 0.0;
}
)";

// Weights as [out / 8][in][tap][out % 8]: eight lanes load those of eight outputs at once.
constexpr const char* kPackWeights = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x);
    if (at >= IN * OUT * TAPS) return;
    int tap = (at >> 3) % TAPS, rest = (at >> 3) / TAPS;
    int from = rest % IN, to = rest / IN * 8 + (at & 7);
    packed[at] = FLIP != 0 ? w_at((from * OUT + to) * TAPS + TAPS - 1 - tap) : w_at((to * IN + from) * TAPS + tap);
}
)";

// A row of 64 pixels of eight channels per eight lanes.
constexpr const char* kConvolve = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, row = int(gl_WorkGroupID.x) * 8 + (int(gl_LocalInvocationID.x) >> 3);
    int block = int(gl_WorkGroupID.y), image = int(gl_WorkGroupID.z);
    float total[64];
    [[unroll]] for (int k = 0; k < 64; ++k) total[k] = 0.0;
    for (int from = 0; from < IN; ++from)
        EACH_ROW for (int p = 0; p < SIZE; ++p) [[unroll]] for (int q = 0; q < SIZE; ++q) {
            float weight = packed_at(((block * IN + from) * TAPS + p * SIZE + q) * 8 + lane);
            int at = ((image * IN + from) * WIDE + row + p) * WIDE + q + lane;
            float along[8];
            [[unroll]] for (int c = 0; c < 8; ++c) along[c] = padded_at(at + 8 * c);
            [[unroll]] for (int r = 0; r < 8; ++r) {
                float factor = eight_shuffle(weight, r);
                [[unroll]] for (int c = 0; c < 8; ++c) total[r * 8 + c] += factor * along[c];
            }
        }
    [[unroll]] for (int r = 0; r < 8; ++r) [[unroll]] for (int c = 0; c < 8; ++c)
        y[((image * OUT + block * 8 + r) * 64 + row) * 64 + 8 * c + lane] = total[r * 8 + c];
}
)";

// Per eight lanes: an image, eight outputs, an input and ROWS rows of taps, over all pixels. Then
// the images' parts are added.
constexpr const char* kWeights = R"(
const int PARTS = SIZE / ROWS;
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, first = int(gl_WorkGroupID.x) % PARTS * ROWS;
    int from = int(gl_WorkGroupID.x) / PARTS * 8 + (int(gl_LocalInvocationID.x) >> 3);
    int block = int(gl_WorkGroupID.y), image = int(gl_WorkGroupID.z);
    float total[8 * ROWS * SIZE];
    [[unroll]] for (int k = 0; k < 8 * ROWS * SIZE; ++k) total[k] = 0.0;
    for (int row = 0; row < 64; ++row)
        for (int column = lane; column < 64; column += 8) {
            float gradient[8];
            [[unroll]] for (int r = 0; r < 8; ++r)
                gradient[r] = g_at(((image * 32 + block * 8 + r) * 64 + row) * 64 + column);
            [[unroll]] for (int p = 0; p < ROWS; ++p) [[unroll]] for (int q = 0; q < SIZE; ++q) {
                float pixel = padded_at(((image * 16 + from) * WIDE + row + first + p) * WIDE + column + q);
                [[unroll]] for (int r = 0; r < 8; ++r) total[(r * ROWS + p) * SIZE + q] += gradient[r] * pixel;
            }
        }
    [[unroll]] for (int r = 0; r < 8; ++r) [[unroll]] for (int t = 0; t < ROWS * SIZE; ++t) {
        float sum = eight_sum(total[r * ROWS * SIZE + t]);
        if (lane == 0)
            parts[((image * 32 + block * 8 + r) * 16 + from) * SIZE * SIZE + first * SIZE + t] = sum;
    }
}
)";
constexpr const char* kAddImages = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x);
    if (at >= COUNT) return;
    float sum = 0.0;
    [[unroll]] for (int image = 0; image < 8; ++image) sum += parts_at(image * COUNT + at);
    y[at] = sum;
}
)";

constexpr const char* kPlainConvolve = R"(
void main() {
    int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    int to = int(gl_GlobalInvocationID.z) % OUT, image = int(gl_GlobalInvocationID.z) / OUT;
    float total = 0.0;
    for (int from = 0; from < IN; ++from)
        for (int p = 0; p < SIZE; ++p) for (int q = 0; q < SIZE; ++q) {
            int i = row + p - EDGE, j = column + q - EDGE, tap = p * SIZE + q;
            if (i < 0 || i >= 64 || j < 0 || j >= 64) continue;
            float weight = FLIP != 0 ? w[(from * OUT + to) * TAPS + TAPS - 1 - tap] : w[(to * IN + from) * TAPS + tap];
            total += x[((image * IN + from) * 64 + i) * 64 + j] * weight;
        }
    y[((image * OUT + to) * 64 + row) * 64 + column] = total;
}
)";
constexpr const char* kPlainWeights = R"(
void main() {
    int at = int(gl_GlobalInvocationID.x);
    if (at >= COUNT) return;
    int q = at % SIZE - EDGE, p = at / SIZE % SIZE - EDGE, from = at / TAPS % 16, to = at / TAPS / 16;
    float total = 0.0;
    for (int image = 0; image < 8; ++image)
        for (int i = max(0, -p); i < min(64, 64 - p); ++i) for (int j = max(0, -q); j < min(64, 64 - q); ++j)
            total += g[((image * 32 + to) * 64 + i) * 64 + j] * x[((image * 16 + from) * 64 + i + p) * 64 + j + q];
    y[at] = total;
}
)";

using Constants = std::vector<std::pair<std::string, int>>;
Constants constants(int size, int in, int out, bool flip) {
    return {{"SIZE", size},
            {"TAPS", size * size},
            {"EDGE", size / 2},
            {"WIDE", kConvSide + size - 1},
            {"IN", in},
            {"OUT", out},
            {"FLIP", flip},
            {"ROWS", size == 3 ? 3 : 1},
            {"COUNT", kIn * kOut * size * size}};
}

HandKernel padding(int size, int images, int buffer) {
    const int wide = kConvSide + size - 1;
    return {"pad",
            kPad,
            {64, 1, 1},
            {(wide * wide + 63) / 64, images, 1},
            {{"x", As::Texels, 0}, {"padded", As::Floats, buffer, true}},
            constants(size, 0, 0, false)};
}

// Buffers 0, 1: image and weights; 2: result; 3, 4: padded and packed.
HandProgram best_convolution(int size, int in, int out, bool flip) {
    const int wide = kConvSide + size - 1;
    const Constants numbers_ = constants(size, in, out, flip);
    // Five rows of taps unrolled are more code than the first cache has room for.
    const std::string head = size == 3 ? "#define EACH_ROW [[unroll]]\n" : "#define EACH_ROW\n";
    HandKernel pack{"pack_weights",
                    kPackWeights,
                    {64, 1, 1},
                    {(in * out * size * size + 63) / 64, 1, 1},
                    {{"w", As::Texels, 1}, {"packed", As::Floats, 4, true}},
                    numbers_};
    HandKernel convolve{
        "convolve",
        head + kConvolve,
        {64, 1, 1},
        {kConvSide / 8, out / 8, kImages},
        {{"padded", As::Texels, 3}, {"packed", As::Texels, 4}, {"y", As::Floats, 2, true}},
        numbers_};
    return {{padding(size, kImages * in, 3), pack, convolve},
            {int64_t(kImages) * in * wide * wide, int64_t(in) * out * size * size},
            {}};
}
HandProgram plain_convolution(int size, int in, int out, bool flip) {
    return {{{"plain_convolve",
              kPlainConvolve,
              {16, 16, 1},
              {kConvSide / 16, kConvSide / 16, kImages * out},
              {{"x", As::Floats, 0}, {"w", As::Floats, 1}, {"y", As::Floats, 2, true}},
              constants(size, in, out, flip)}},
            {},
            {}};
}

// Buffers 0, 1: image and the result's gradient; 2: result; 3, 4: padded and parts.
HandProgram best_weights(int size) {
    const int wide = kConvSide + size - 1, count = kIn * kOut * size * size,
              parts = size == 3 ? 1 : size;
    const Constants numbers_ = constants(size, kIn, kOut, false);
    HandKernel weights{
        "weight_gradient",
        kWeights,
        {64, 1, 1},
        {kIn / 8 * parts, kOut / 8, kImages},
        {{"padded", As::Texels, 3}, {"g", As::Texels, 1}, {"parts", As::Floats, 4, true}},
        numbers_};
    HandKernel add{"add_images",
                   kAddImages,
                   {64, 1, 1},
                   {(count + 63) / 64, 1, 1},
                   {{"parts", As::Texels, 4}, {"y", As::Floats, 2, true}},
                   numbers_};
    return {{padding(size, kImages * kIn, 3), weights, add},
            {int64_t(kImages) * kIn * wide * wide, int64_t(kImages) * count},
            {}};
}
HandProgram plain_weights(int size) {
    return {{{"plain_weight_gradient",
              kPlainWeights,
              {64, 1, 1},
              {(kIn * kOut * size * size + 63) / 64, 1, 1},
              {{"x", As::Floats, 0}, {"g", As::Floats, 1}, {"y", As::Floats, 2, true}},
              constants(size, kIn, kOut, false)}},
            {},
            {}};
}

Tensor convolved(Tensor x, Tensor w) {
    Dimension n = x.size(0), in = x.size(1), out = w.size(0), size = w.size(2);
    auto [b, o, i, j, c, p, q] = indices<7>({n, out, x.size(2), x.size(3), in, size, size});
    return sum(zero(x)(b, c, i + p - size / 2, j + q - size / 2) * w(o, c, p, q),
               {.axis = {4, 5, 6}});
}
/// Every other row and column of the result.
Tensor strided(Tensor x, Tensor w) {
    Dimension n = x.size(0), in = x.size(1), out = w.size(0), size = w.size(2);
    auto [b, o, i, j, c, p, q] = indices<7>({n, out, x.size(2) / 2, x.size(3) / 2, in, size, size});
    return sum(zero(x)(b, c, 2 * i + p - size / 2, 2 * j + q - size / 2) * w(o, c, p, q),
               {.axis = {4, 5, 6}});
}
Tensor input_gradient(Tensor g, Tensor w) {
    Dimension n = g.size(0), in = w.size(1), out = w.size(0), size = w.size(2);
    auto [b, o, i, j, c, p, q] = indices<7>({n, out, g.size(2), g.size(3), in, size, size});
    Tensor x = zeros({n, in, g.size(2), g.size(3)});
    scatter_add(x(b, c, i + p - size / 2, j + q - size / 2), g(b, o, i, j) * w(o, c, p, q));
    return x;
}
Tensor weight_gradient(Tensor x, Tensor g, int taps) {
    auto [o, c, p, q, b, i, j] =
        indices<7>({g.size(1), x.size(1), taps, taps, x.size(0), x.size(2), x.size(3)});
    return sum(g(b, o, i, j) * zero(x)(b, c, i + p - taps / 2, j + q - taps / 2),
               {.axis = {4, 5, 6}});
}

Contest convolution(int size, const std::string& which) {
    const int64_t in = int64_t(kImages) * kIn * kConvSide * kConvSide, out = in / kIn * kOut;
    const int64_t count = int64_t(kIn) * kOut * size * size;
    std::vector<float> x = numbers(in, -1.0f, 1.0f, 1), g = numbers(out, -1.0f, 1.0f, 2),
                       w = numbers(count, -1.0f, 1.0f, 3);
    Tensor image = tensor(x, {kImages, kIn, kConvSide, kConvSide}),
           gradient = tensor(g, {kImages, kOut, kConvSide, kConvSide}),
           weights = tensor(w, {kOut, kIn, size, size});
    Contest contest{.least = {},
                    .arguments = {},
                    .results = {},
                    .firn = {},
                    .best = {},
                    .plain = {},
                    .tolerance = 1e-4};
    ConvolutionTask task{
        .images = kImages, .in = kIn, .out = kOut, .side = kConvSide, .size = size};
    const double operations = 2.0 * double(out) * kIn * size * size;
    if (which == "gradient_of_weights") {
        auto f = compile([size](Tensor x, Tensor g) { return weight_gradient(x, g, size); },
                         {f32("b", "c", "h", "w"), f32("b", "o", "h", "w")});
        contest.least = {4.0 * double(in + out), 4.0 * double(count), operations};
        contest.arguments = {x, g};
        contest.results = {count};
        contest.firn = [=] { return std::vector<Tensor>{f(image, gradient)}; };
        contest.best = best_weights(size), contest.plain = plain_weights(size);
        task.which = Convolution::GradientOfWeights;
    } else if (which == "gradient_of_input") {
        auto f = compile(input_gradient, {f32("b", "o", "h", "w"), f32("o", "c", size, size)});
        contest.least = {4.0 * double(out + count), 4.0 * double(in), operations};
        contest.arguments = {g, w};
        contest.results = {in};
        contest.firn = [=] { return std::vector<Tensor>{f(gradient, weights)}; };
        task.which = Convolution::GradientOfInput;
        contest.best = best_convolution(size, kOut, kIn, true);
        contest.plain = plain_convolution(size, kOut, kIn, true);
    } else {
        auto f = compile(convolved, {f32("b", "c", "h", "w"), f32("o", "c", size, size)});
        contest.least = {4.0 * double(in + count), 4.0 * double(out), operations};
        contest.arguments = {x, w};
        contest.results = {out};
        contest.firn = [=] { return std::vector<Tensor>{f(image, weights)}; };
        contest.best = best_convolution(size, kIn, kOut, false);
        contest.plain = plain_convolution(size, kIn, kOut, false);
    }
    contest.libraries = [task] { return convolution_libraries(task); };
    return contest;
}

/// The result of every other row and column, by the host with sums in f64.
std::vector<float> expected_strided(int size, const std::vector<float>& x,
                                    const std::vector<float>& w) {
    constexpr int kSide = kConvSide / 2;
    std::vector<float> out;
    for (int at = 0; at < kImages * kOut * kSide * kSide; ++at) {
        const int column = at % kSide, row = at / kSide % kSide, to = at / kSide / kSide % kOut,
                  image = at / kSide / kSide / kOut;
        double sum = 0;
        for (int from = 0; from < kIn; ++from)
            for (int p = 0; p < size; ++p)
                for (int q = 0; q < size; ++q) {
                    const int i = 2 * row + p - size / 2, j = 2 * column + q - size / 2;
                    if (i < 0 || i >= kConvSide || j < 0 || j >= kConvSide) continue;
                    sum +=
                        double(x[size_t(((image * kIn + from) * kConvSide + i) * kConvSide + j)]) *
                        double(w[size_t(((to * kIn + from) * size + p) * size + q)]);
                }
        out.push_back(float(sum));
    }
    return out;
}

Contest strided_convolution(int size) {
    const int64_t in = int64_t(kImages) * kIn * kConvSide * kConvSide, out = in / kIn * kOut / 4,
                  count = int64_t(kIn) * kOut * size * size;
    const std::vector<float> x = numbers(in, -1.0f, 1.0f, 1), w = numbers(count, -1.0f, 1.0f, 3);
    auto f = compile(strided, {f32("b", "c", "h", "w"), f32("o", "c", size, size)});
    return {
        .least = {4.0 * double(in + count), 4.0 * double(out),
                  2.0 * double(out) * kIn * size * size},
        .arguments = {x, w},
        .results = {out},
        .firn = [f, image = tensor(x, {kImages, kIn, kConvSide, kConvSide}),
                 weights = tensor(w, {kOut, kIn, size,
                                      size})] { return std::vector<Tensor>{f(image, weights)}; },
        .best = {},
        .plain = {},
        .libraries =
            [=] {
                return convolution_libraries({.images = kImages,
                                              .in = kIn,
                                              .out = kOut,
                                              .side = kConvSide,
                                              .size = size,
                                              .stride = 2});
            },
        .tolerance = 1e-4,
        .expected = [=] { return std::vector<std::vector<float>>{expected_strided(size, x, w)}; }};
}

}  // namespace

void add_convolutions(std::vector<Case>& cases) {
    constexpr const char* kFar =
        "an operand is loaded for every few products, which the peak has in registers";
    for (int size : {3, 5})
        for (const char* which : {"", "gradient_of_input", "gradient_of_weights"})
            cases.push_back({"conv" + std::to_string(size) + (*which ? "_" : "") + which,
                             [=] { return convolution(size, which); }, Section::Own, kFar});
    cases.push_back({"conv3_strided", [] { return strided_convolution(3); }, Section::Own, kFar});
}

}  // namespace firn::bench
