// A periodogram of observations at uneven times.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kLombSamples = 1800, kLombFrequencies = 4000;
constexpr double kLombDays = 50, kLombHighest = 25;  // radians a day

/// J. Scargle, "Studies in Astronomical Time Series Analysis II", 1982; in the form of R. Townsend,
/// "Fast Calculation of the Lomb-Scargle Periodogram Using Graphics Processing Units", 2010, which
/// goes through the samples once: as scipy.signal.lombscargle does.
Tensor lomb_scargle_power(Tensor times, Tensor values, Tensor omega) {
    Tensor y = values - mean(values);
    Tensor angle = omega(all, newaxis) * times(newaxis, all);
    Tensor c = cos(angle), s = sin(angle);
    Tensor yc = sum(y * c, {1}), ys = sum(y * s, {1});
    Tensor cc = sum(c * c, {1}), ss = sum(s * s, {1}), cs = sum(c * s, {1});
    // The phase at which sine and cosine are orthogonal over these times.
    Tensor phase = 0.5f * atan2(2.0f * cs, cc - ss);
    Tensor a = cos(phase), b = sin(phase);
    Tensor even = square(a * yc + b * ys) / (a * a * cc + 2.0f * a * b * cs + b * b * ss);
    Tensor odd = square(a * ys - b * yc) / (a * a * ss - 2.0f * a * b * cs + b * b * cc);
    return 0.5f * (even + odd);
}
Tensor lomb_scargle_power_kernel(Tensor times, Tensor values, Tensor omega) {
    Tensor centre = mean(values), power = zeros({omega.size(0)});
    kernel({omega.size(0)}, [&](Tensor i) {
        Tensor w = omega(i), yc = 0.0f, ys = 0.0f, cc = 0.0f, ss = 0.0f, cs = 0.0f;
        for (Tensor k : loop(times.size(0))) {
            Tensor c = cos(w * times(k)), s = sin(w * times(k)), y = values(k) - centre;
            yc += y * c;
            ys += y * s;
            cc += c * c;
            ss += s * s;
            cs += c * s;
        }
        Tensor phase = 0.5f * atan2(2.0f * cs, cc - ss);
        Tensor a = cos(phase), b = sin(phase);
        Tensor even = a * yc + b * ys, odd = a * ys - b * yc;
        power(i) = 0.5f * (even * even / (a * a * cc + 2.0f * a * b * cs + b * b * ss) +
                           odd * odd / (a * a * ss - 2.0f * a * b * cs + b * b * cc));
    });
    return power;
}

std::vector<std::vector<float>> host_lomb_scargle(const std::vector<float>& times,
                                                  const std::vector<float>& values,
                                                  const std::vector<float>& omega) {
    double centre = 0;
    for (float y : values) centre += double(y) / kLombSamples;
    std::vector<float> out;
    for (float w : omega) {
        double yc = 0, ys = 0, cc = 0, ss = 0, cs = 0;
        for (size_t k = 0; k < times.size(); ++k) {
            const double angle = double(w) * double(times[k]), y = double(values[k]) - centre;
            const double c = std::cos(angle), s = std::sin(angle);
            yc += y * c, ys += y * s, cc += c * c, ss += s * s, cs += c * s;
        }
        const double phase = 0.5 * std::atan2(2 * cs, cc - ss);
        const double a = std::cos(phase), b = std::sin(phase);
        const double even = a * yc + b * ys, odd = a * ys - b * yc;
        out.push_back(float(0.5 * (even * even / (a * a * cc + 2 * a * b * cs + b * b * ss) +
                                   odd * odd / (a * a * ss - 2 * a * b * cs + b * b * cc))));
    }
    return {out};
}

constexpr const char* kPlainLombMean = R"(
void main() {
    float sum = 0.0;
    for (int k = 0; k < SAMPLES; ++k) sum += values_at(k);
    centre[0] = sum / float(SAMPLES);
}
)";

constexpr const char* kPlainLombScargle = R"(
void main() {
    int i = int(gl_GlobalInvocationID.x);
    if (i >= FREQUENCIES) return;
    float w = omega_at(i), yc = 0.0, ys = 0.0, cc = 0.0, ss = 0.0, cs = 0.0;
    for (int k = 0; k < SAMPLES; ++k) {
        float angle = w * times_at(k), c = cos(angle), s = sin(angle);
        float y = values_at(k) - centre_at(0);
        yc += y * c;
        ys += y * s;
        cc += c * c;
        ss += s * s;
        cs += c * s;
    }
    float phase = 0.5 * atan(2.0 * cs, cc - ss), a = cos(phase), b = sin(phase);
    float even = a * yc + b * ys, odd = a * ys - b * yc;
    power[i] = 0.5 * (even * even / (a * a * cc + 2.0 * a * b * cs + b * b * ss) +
                      odd * odd / (a * a * ss - 2.0 * a * b * cs + b * b * cc));
}
)";

const std::vector<std::pair<std::string, int>> kLombConstants = {{"SAMPLES", kLombSamples},
                                                                 {"FREQUENCIES", kLombFrequencies}};

HandProgram plain_lomb_scargle() {
    HandProgram out;
    out.kernels = {{"lomb_mean",
                    kPlainLombMean,
                    {1, 1, 1},
                    {1, 1, 1},
                    {{"values", As::Floats, 1}, {"centre", As::Floats, 4, true}},
                    kLombConstants},
                   {"lomb_scargle",
                    kPlainLombScargle,
                    {64, 1, 1},
                    {(kLombFrequencies + 63) / 64, 1, 1},
                    {{"times", As::Floats, 0},
                     {"values", As::Floats, 1},
                     {"omega", As::Floats, 2},
                     {"centre", As::Floats, 4},
                     {"power", As::Floats, 3, true}},
                    kLombConstants}};
    out.temporaries = {1};
    return out;
}

// An invocation has SEVERAL frequencies; eight lanes add up the values for their mean. Sine and
// cosine are polynomials of a quarter of the angle, which lies within an eighth of a turn there,
// doubled twice: s is the root of 2 times the sine, c twice the cosine, and s2 and s4 make that
// cheap. The squares add up to 1, so only one of the two sums is made.
constexpr const char* kBestLombScargle = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), first = int(gl_WorkGroupID.x) * 8 * SEVERAL + lane;
    float turns[SEVERAL], yc[SEVERAL], ys[SEVERAL], cc[SEVERAL], cs[SEVERAL], part = 0.0;
    for (int k = 0; k < SAMPLES; k += 40)
        [[unroll]] for (int u = 0; u < 40; u += 8) part += values_at(k + u + lane);
    float centre = eight_sum(part) / float(SAMPLES);
    [[unroll]] for (int q = 0; q < SEVERAL; ++q) {
        turns[q] = omega_at(first + 8 * q) * 0.15915494309;
        yc[q] = ys[q] = cc[q] = cs[q] = 0.0;
    }
    for (int k = 0; k < SAMPLES; k += UNROLLED)
        [[unroll]] for (int u = 0; u < UNROLLED; ++u) {
            float time = times_at(k + u), y = values_at(k + u) - centre;
            [[unroll]] for (int q = 0; q < SEVERAL; ++q) {
                float turn = turns[q] * time, r = turn - roundEven(turn), z = r * r;
                float s = r * (((-0.0066210002 * z + 0.1127023929) * z - 0.9135311875) * z +
                               2.2214414691);
                float c = (((0.0018385205 * z - 0.0417269615) * z + 0.5073390158) * z -
                           2.4674011003) * z + 2.0;
                float s2 = s * c, c2 = 1.0 - s * s, s4 = s2 * c2, c4 = 1.0 - s2 * s2;
                yc[q] += y * c4;
                ys[q] += y * s4;
                cc[q] += c4 * c4;
                cs[q] += c4 * s4;
            }
        }
    [[unroll]] for (int q = 0; q < SEVERAL; ++q) {
        ys[q] *= sqrt(2.0), cs[q] *= sqrt(2.0);
        float ss = float(SAMPLES) - cc[q];
        float phase = 0.5 * atan(2.0 * cs[q], cc[q] - ss), a = cos(phase), b = sin(phase);
        float even = a * yc[q] + b * ys[q], odd = a * ys[q] - b * yc[q];
        float both = 2.0 * a * b * cs[q];
        if (first + 8 * q < FREQUENCIES)
            power[first + 8 * q] = 0.5 * (even * even / (a * a * cc[q] + both + b * b * ss) +
                                          odd * odd / (a * a * ss - both + b * b * cc[q]));
    }
}
)";

HandProgram best_lomb_scargle() {
    constexpr int kSeveral = 5;
    HandProgram out;
    auto constants = kLombConstants;
    constants.insert(constants.end(), {{"SEVERAL", kSeveral}, {"UNROLLED", 2}});
    out.kernels = {{"lomb_scargle",
                    kBestLombScargle,
                    {8, 1, 1},
                    {(kLombFrequencies + 8 * kSeveral - 1) / (8 * kSeveral), 1, 1},
                    {{"times", As::Texels, 0},
                     {"values", As::Texels, 1},
                     {"omega", As::Texels, 2},
                     {"power", As::Floats, 3, true}},
                    constants}};
    return out;
}

/// A star that varies with two periods, observed in the nights, and noise.
std::pair<std::vector<float>, std::vector<float>> lomb_observations() {
    std::vector<float> times = numbers(kLombSamples, 0, float(kLombDays), 3),
                       values = numbers(kLombSamples, -1, 1, 5);
    std::sort(times.begin(), times.end());
    for (size_t k = 0; k < times.size(); ++k) {
        times[k] = std::floor(times[k]) + 0.4f * (times[k] - std::floor(times[k]));
        values[k] += 12.0f + std::sin(7.3f * times[k]) + 0.5f * std::cos(17.9f * times[k]);
    }
    return {times, values};
}

Contest lomb_scargle(Tensor (*program)(Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("samples"), f32("samples"), f32("frequencies")});
    const auto observed = lomb_observations();
    const std::vector<float>&times = observed.first, &values = observed.second;
    std::vector<float> omega;
    for (int k = 1; k <= kLombFrequencies; ++k)
        omega.push_back(float(kLombHighest * k / kLombFrequencies));
    // The fewest operations known. Per sample and frequency the angle, 2 to bring it near 0, 16 for
    // the two polynomials of it, 6 to double it twice, and 8 for four sums of products: the squares
    // of sine and cosine add up to 1.
    return {.least = {4.0 * (2 * kLombSamples + kLombFrequencies), 4.0 * kLombFrequencies,
                      33.0 * kLombSamples * kLombFrequencies},
            .arguments = {times, values, omega},
            .results = {kLombFrequencies},
            .firn = [f, t = tensor(times), y = tensor(values),
                     w = tensor(omega)] { return std::vector<Tensor>{f(t, y, w)}; },
            .best = best_lomb_scargle(),
            .plain = plain_lomb_scargle(),
            .tolerance = 1e-3,  // angles of up to 1250, in f32
            .expected = [=] { return host_lomb_scargle(times, values, omega); }};
}

constexpr const char* kLombScargleFar =
    "sine and cosine of every sample at every frequency, without multiply-adds";

}  // namespace

void add_lomb_scargle(std::vector<Case>& cases) {
    cases.push_back({"lomb_scargle", [] { return lomb_scargle(lomb_scargle_power); },
                     Section::Holdout, kLombScargleFar});
    cases.push_back({"lomb_scargle_kernel", [] { return lomb_scargle(lomb_scargle_power_kernel); },
                     Section::Holdout, kLombScargleFar});
}

}  // namespace firn::bench
