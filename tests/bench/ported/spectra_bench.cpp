// A filter of pictures in the frequency domain, by the library's transforms and by one's own.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

constexpr int kSpectraLevels = 10, kSpectraSide = 1 << kSpectraLevels, kChannels = 3;
constexpr int64_t kSpectraCount = int64_t(kSpectraSide) * kSpectraSide * kChannels;

Tensor filtered(Tensor x, Tensor filter) {
    Complex spectrum = fftn({x, zeros(x.shape())}, {0, 1});
    return ifftn({spectrum.re * filter, spectrum.im * filter}, {0, 1}).re;
}

/// Element p along axis 0 or 1, the other indices as they are.
Access along(Tensor& x, int axis, const Tensor& p, const Tensor& i, const Tensor& j,
             const Tensor& k) {
    return axis == 0 ? x(p, j, k) : x(i, p, k);
}

/// After Cooley and Tukey, in place: the bits of indices reversed, then a stage for each of them.
Complex transformed(Complex x, int axis, float sign) {
    Shape halves = x.re.shape();
    halves[size_t(axis)] = floor_div(halves[size_t(axis)], 2);
    {
        auto [i, j, k] = indices<3>(x.re.shape());
        Tensor place = axis == 0 ? i : j, reversed = zeros(x.re.shape(), i32);
        for (int bit = 0; bit < kSpectraLevels; ++bit)
            reversed = reversed | (((place >> bit) & 1) << (kSpectraLevels - 1 - bit));
        x = {along(x.re, axis, reversed, i, j, k), along(x.im, axis, reversed, i, j, k)};
    }
    auto [i, j, k] = indices<3>(halves);
    Tensor pair = axis == 0 ? i : j;
    for (Tensor level : loop(kSpectraLevels)) {
        Tensor half = 1 << level, offset = pair % half;
        Tensor low = pair / half * (2 * half) + offset, high = low + half;
        Tensor angle = sign * float(M_PI) * cast<float>(offset) / cast<float>(half);
        Tensor c = cos(angle), s = sin(angle);
        Tensor low_re = along(x.re, axis, low, i, j, k), low_im = along(x.im, axis, low, i, j, k),
               high_re = along(x.re, axis, high, i, j, k),
               high_im = along(x.im, axis, high, i, j, k);
        Tensor re = high_re * c - high_im * s, im = high_re * s + high_im * c;
        along(x.re, axis, low, i, j, k) = low_re + re;
        along(x.im, axis, low, i, j, k) = low_im + im;
        along(x.re, axis, high, i, j, k) = low_re - re;
        along(x.im, axis, high, i, j, k) = low_im - im;
    }
    return x;
}

Tensor filtered_by_hand(Tensor x, Tensor filter) {
    Complex spectrum = transformed(transformed({x, zeros(x.shape())}, 0, -1), 1, -1);
    spectrum = {spectrum.re * filter, spectrum.im * filter};
    return transformed(transformed(spectrum, 0, 1), 1, 1).re /
           (float(kSpectraSide) * float(kSpectraSide));
}

// 1024 = 32 x 32: two passes of 32 values each that stay in registers. `BACK` is 1 on the way back,
// where the last pass divides; the first kernel takes real pictures, and the last gives them.
constexpr const char* kTransformHead = R"(
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
void main() {
    int id = int(gl_GlobalInvocationID.x), inner = id % INNER, row = id / INNER;
    // Along axis 0 the other index is all of a row; along axis 1 the channel, which goes with b.
    int base = AXIS == 0 ? inner : row * 3072 + inner % 3;
    int b = AXIS == 0 ? row : inner / 3, from = base + (FIRST != 0 ? b : 32 * b) * STRIDE;
    int to = base + b * STRIDE;
    float angle = (BACK != 0 ? 6.283185307179586 : -6.283185307179586) * float(b) / 1024.0;
    vec2 w = vec2(cos(angle), sin(angle)), turn = w;
)";

/// Returns the reads, the transform and the stores, line by line, unrolled.
std::string transform_text(bool back, bool first, bool real, bool filter, bool last) {
    constexpr int kRadix = 32;
    std::string out = kTransformHead;
    const auto v = [](int k) { return "v" + std::to_string(k); };
    for (int m = 0; m < kRadix; ++m) {
        const std::string at = "from + " + std::to_string(first ? 32 * m : m) + " * STRIDE";
        out += "vec2 " + v(m) + " = vec2(re_at(" + at + "), " +
               (real ? "0.0" : "im_at(" + at + ")") + ")" + (filter ? " * by_at(" + at + ")" : "") +
               ";\n";
    }
    for (int far = kRadix / 2; far > 0; far /= 2)
        for (int k = 0; k < kRadix / 2; ++k) {
            const int offset = k % far, low = k / far * 2 * far + offset, high = low + far;
            const double angle = (back ? 1 : -1) * M_PI * offset / far;
            char by[80];
            std::snprintf(by, sizeof by, ", vec2(%.9f, %.9f))", std::cos(angle), std::sin(angle));
            out += "{ vec2 rest = " + v(low) + " - " + v(high) + "; " + v(low) + " += " + v(high) +
                   "; " + v(high) + " = " + (offset ? "times(rest" + std::string(by) : "rest") +
                   "; }\n";
        }
    for (int k = 0; k < kRadix; ++k) {
        const int reversed = (k & 1) << 4 | (k & 2) << 2 | (k & 4) | (k & 8) >> 2 | (k & 16) >> 4;
        const std::string at = "to + " + std::to_string(32 * k) + " * STRIDE";
        if (first && k > 0) out += v(reversed) + " = times(" + v(reversed) + ", turn);\n";
        if (first && k > 0) out += "turn = times(turn, w);\n";
        out += "out_re[" + at + "] = " + v(reversed) + (last ? ".x / 1048576.0;\n" : ".x;\n");
        if (!last) out += "out_im[" + at + "] = " + v(reversed) + ".y;\n";
    }
    return out + "}\n";
}

HandProgram filter_by_hand(As read) {
    constexpr int kPicture = 0, kFilter = 1, kResult = 2, kRe = 3, kIm = 4;  // two of each
    HandProgram out;
    out.temporaries = {kSpectraCount, kSpectraCount, kSpectraCount, kSpectraCount};
    int from = 1;
    for (int pass = 0; pass < 8; ++pass) {
        const bool first = pass == 0, last = pass == 7, back = pass >= 4;
        const int axis = (pass / 2) % 2, to = 1 - from;
        HandKernel kernel{"transform",
                          transform_text(back, pass % 2 == 0, first, pass == 4, last),
                          {64, 1, 1},
                          {int(kSpectraCount / 32 / 64), 1, 1},
                          {{"re", read, first ? kPicture : kRe + 2 * from},
                           {"out_re", As::Floats, last ? kResult : kRe + 2 * to, true},
                           {"im", read, first ? kPicture : kIm + 2 * from},
                           {"by", read, kFilter}},
                          {{"BACK", back},
                           {"AXIS", axis},
                           {"STRIDE", axis == 0 ? 3072 : 3},
                           {"INNER", axis == 0 ? 3072 : 96},
                           {"FIRST", pass % 2 == 0}}};
        kernel.bindings.push_back({"out_im", As::Floats, last ? kRe + 2 * to : kIm + 2 * to, true});
        out.kernels.push_back(std::move(kernel));
        from = to;
    }
    return out;
}

/// The filter that gives the mean of an element's diagonal neighbours, around the edges.
Contest filter(Tensor (*f)(Tensor, Tensor)) {
    const std::vector<float> x = numbers(kSpectraCount, 0, 1);
    std::vector<float> waves;
    for (int i = 0; i < kSpectraSide; ++i)
        for (int j = 0; j < kSpectraSide; ++j)
            for (int k = 0; k < kChannels; ++k)
                waves.push_back(float(std::cos(2 * M_PI * i / kSpectraSide) *
                                      std::cos(2 * M_PI * j / kSpectraSide)));
    auto run = compile(f, {f32("h", "w", "c"), f32("h", "w", "c")});
    const auto means = [x] {
        std::vector<float> out;
        const auto at = [&](int i, int j, int k) {
            return x[size_t(((i + kSpectraSide) % kSpectraSide * kSpectraSide +
                             (j + kSpectraSide) % kSpectraSide) *
                                kChannels +
                            k)];
        };
        for (int i = 0; i < kSpectraSide; ++i)
            for (int j = 0; j < kSpectraSide; ++j)
                for (int k = 0; k < kChannels; ++k)
                    out.push_back(0.25f * (at(i - 1, j - 1, k) + at(i - 1, j + 1, k) +
                                           at(i + 1, j - 1, k) + at(i + 1, j + 1, k)));
        return std::vector<std::vector<float>>{out};
    };
    // Two transforms of real pictures, each half of 5 n log2 n.
    return {.least = {8.0 * kSpectraCount, 4.0 * kSpectraCount,
                      2 * 2.5 * 2 * kSpectraLevels * kSpectraCount},
            .arguments = {x, waves},
            .results = {kSpectraCount},
            .firn =
                [run, picture = tensor(x, {kSpectraSide, kSpectraSide, kChannels}),
                 of = tensor(waves, {kSpectraSide, kSpectraSide, kChannels})] {
                    return std::vector<Tensor>{run(picture, of)};
                },
            .best = filter_by_hand(As::Texels),
            .plain = filter_by_hand(As::Floats),
            .expected = means};
}

}  // namespace

void add_ported_spectra(std::vector<Case>& cases) {
    cases.push_back({"fft_filter", [] { return filter(filtered); }, Section::Ported,
                     "levels that no core holds are passes through memory"});
    cases.push_back({"fft_by_hand", [] { return filter(filtered_by_hand); }, Section::Ported,
                     "levels that no core holds are passes through memory"});
}

}  // namespace firn::bench
