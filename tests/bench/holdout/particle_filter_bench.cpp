// A bootstrap particle filter for the volatility of returns.
#include <firn/firn.h>

#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kParticleFilterParticles = 8192, kParticleFilterTimes = 20;
// The persistence of the log-volatility, the size of its changes, and the returns' usual size.
constexpr float kParticleFilterPhi = 0.98f, kParticleFilterSigma = 0.2f,
                kParticleFilterBeta = 0.65f;
constexpr float kParticleFilterTurn = 6.2831853f;

/// The mean log-volatility at each time, and the log-likelihood of the return given the earlier
/// ones.
struct ParticleFiltered {
    Tensor means, likelihood;
};

/// A normal number for a counter, by G. Box and M. Muller, 1958.
Tensor particle_filter_normal(const Tensor& counter) {
    Tensor u = pcgf(2 * counter), v = pcgf(2 * counter + 1);
    return sqrt(-2.0f * log(1.0f - u)) * cos(kParticleFilterTurn * v);
}

/// N. Gordon, D. Salmond and A. Smith, "Novel Approach to Nonlinear/Non-Gaussian Bayesian State
/// Estimation", 1993, with systematic resampling (G. Kitagawa, 1996): the particles' log-volatility
/// x goes to phi x + sigma e, and a return is beta exp(x / 2) e.
ParticleFiltered particle_filter_steps(Tensor returns, Tensor x, Tensor phi, Tensor sigma,
                                       Tensor beta) {
    Size n = x.size(0);
    Tensor count = Tensor(n).as(f32), particle = arange(n);
    Tensor means = zeros({returns.size(0)}), likelihood = zeros({returns.size(0)});
    for (Tensor t : loop(returns.size(0))) {
        x = phi * x + sigma * particle_filter_normal(t * n + particle);
        Tensor scaled = square(returns(t) / beta);
        Tensor log_weight = -0.5f * (log(kParticleFilterTurn * beta * beta) + x + scaled * exp(-x));
        Tensor top = max(log_weight), weight = exp(log_weight - top), total = sum(weight);
        likelihood(t) = top + log(total / count);
        means(t) = sum(weight * x) / total;
        Tensor points = (particle.as(f32) + pcgf(t)) / count;
        x = x(searchsorted(cumsum(weight / total), points));
    }
    return {means, likelihood};
}
ParticleFiltered particle_filter_steps_kernel(Tensor returns, Tensor x, Tensor phi, Tensor sigma,
                                              Tensor beta) {
    Size n = x.size(0);
    Tensor count = Tensor(n).as(f32);
    Tensor means = zeros({returns.size(0)}), likelihood = zeros({returns.size(0)});
    for (Tensor t : loop(returns.size(0))) {
        Tensor moved = zeros({n}), log_weight = zeros({n}), weight = zeros({n});
        kernel({n}, [&](Tensor i) {
            Tensor at = phi * x(i) + sigma * particle_filter_normal(t * n + i),
                   y = returns(t) / beta;
            moved(i) = at;
            log_weight(i) =
                -0.5f * (log(kParticleFilterTurn * beta * beta) + at + y * y * exp(-at));
        });
        Tensor top = max(log_weight);
        kernel({n}, [&](Tensor i) { weight(i) = exp(log_weight(i) - top); });
        Tensor total = sum(weight), cumulative = cumsum(weight);
        likelihood(t) = top + log(total / count);
        means(t) = sum(weight * moved) / total;
        Tensor chosen = zeros({n});
        kernel({n}, [&](Tensor i) {
            Tensor point = (i.as(f32) + pcgf(t)) / count * total;
            Tensor low = 0, high = Tensor(n) - 1;  // the first that is not below the point
            while_([&] { return low < high; },
                   [&] {
                       Tensor middle = (low + high) / 2, below = cumulative(middle) < point;
                       low = select(below, middle + 1, low);
                       high = select(below, high, middle);
                   });
            chosen(i) = moved(low);
        });
        x = chosen;
    }
    return {means, likelihood};
}

double host_particle_filter_normal(uint32_t counter) {
    const double u = double(host_pcgf(2 * counter)), v = double(host_pcgf(2 * counter + 1));
    return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * 3.14159265358979 * v);
}

std::vector<std::vector<float>> host_particle_filter(const std::vector<float>& returns,
                                                     const std::vector<float>& start) {
    constexpr double kPhi = double(kParticleFilterPhi), kSigma = double(kParticleFilterSigma),
                     kBeta = double(kParticleFilterBeta);
    constexpr size_t kCount = size_t(kParticleFilterParticles);
    std::vector<double> x(start.begin(), start.end()), moved(kCount), weights(kCount), sums(kCount);
    std::vector<float> means, likelihood;
    uint32_t counter = 0;
    for (uint32_t t = 0; t < uint32_t(kParticleFilterTimes); ++t) {
        const double y = double(returns[size_t(t)]) / kBeta;
        double top = -1e300, total = 0, moment = 0;
        for (size_t i = 0; i < kCount; ++i) {
            const double at = kPhi * x[i] + kSigma * host_particle_filter_normal(counter++);
            moved[i] = at;
            weights[i] = -0.5 * (std::log(2 * 3.14159265358979 * kBeta * kBeta) + at +
                                 y * y * std::exp(-at));
            top = std::max(top, weights[i]);
        }
        for (size_t i = 0; i < kCount; ++i) {
            const double weight = std::exp(weights[i] - top);
            sums[i] = total += weight;
            moment += weight * moved[i];
        }
        likelihood.push_back(float(top + std::log(total / kParticleFilterParticles)));
        means.push_back(float(moment / total));
        for (size_t i = 0, k = 0; i < kCount; ++i) {
            const double point =
                (double(i) + double(host_pcgf(t))) / kParticleFilterParticles * total;
            while (k + 1 < kCount && sums[k] < point) ++k;
            x[i] = moved[k];
        }
    }
    return {means, likelihood};
}

// Functions that several kernels share.
constexpr const char* kParticleFilterShared = R"(
const float phi = 0.98, sigma = 0.2, beta = 0.65, turn_of_circle = 6.2831853;
uint pcg(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
float pcgf(uint x) { return float(pcg(x) >> 8u) * (1.0 / 16777216.0); }
)";

constexpr const char* kPlainParticleFilterBegin = R"(
void main() {
    turn[0] = 0;
}
)";
constexpr const char* kPlainParticleFilterMove = R"(
void main() {
    int i = int(gl_GlobalInvocationID.x), t = turn_at(0);
    uint counter = uint(t * COUNT + i);
    float u = pcgf(2u * counter), v = pcgf(2u * counter + 1u);
    float normal = sqrt(-2.0 * log(1.0 - u)) * cos(turn_of_circle * v);
    float x = phi * x_at(i) + sigma * normal, y = returns_at(t) / beta;
    moved[i] = x;
    log_weight[i] = -0.5 * (log(turn_of_circle * beta * beta) + x + y * y * exp(-x));
}
)";
constexpr const char* kPlainParticleFilterBlockTop = R"(
shared float part[256];
void main() {
    int at = int(gl_LocalInvocationID.x);
    part[at] = log_weight_at(int(gl_GlobalInvocationID.x));
    barrier();
    for (int half_ = 128; half_ > 0; half_ /= 2) {
        if (at < half_) part[at] = max(part[at], part[at + half_]);
        barrier();
    }
    if (at == 0) block_top[gl_WorkGroupID.x] = part[0];
}
)";
constexpr const char* kPlainParticleFilterTop = R"(
shared float part[COUNT / 256];
void main() {
    int at = int(gl_LocalInvocationID.x);
    part[at] = block_top_at(at);
    barrier();
    for (int half_ = COUNT / 512; half_ > 0; half_ /= 2) {
        if (at < half_) part[at] = max(part[at], part[at + half_]);
        barrier();
    }
    if (at == 0) top[0] = part[0];
}
)";
constexpr const char* kPlainParticleFilterWeigh = R"(
shared float part[256], moment[256];
void main() {
    int at = int(gl_LocalInvocationID.x), i = int(gl_GlobalInvocationID.x);
    float weight = exp(log_weight_at(i) - top_at(0));
    part[at] = weight;
    moment[at] = weight * moved_at(i);
    barrier();
    for (int step = 1; step < 256; step *= 2) {
        float before = at >= step ? part[at - step] : 0.0;
        float before_moment = at >= step ? moment[at - step] : 0.0;
        barrier();
        part[at] += before;
        moment[at] += before_moment;
        barrier();
    }
    prefix[i] = part[at];
    if (at == 255) {
        block_sum[gl_WorkGroupID.x] = part[255];
        block_moment[gl_WorkGroupID.x] = moment[255];
    }
}
)";
constexpr const char* kPlainParticleFilterScan = R"(
shared float part[COUNT / 256], moment[COUNT / 256];
void main() {
    int at = int(gl_LocalInvocationID.x);
    float own = block_sum_at(at);
    part[at] = own;
    moment[at] = block_moment_at(at);
    barrier();
    for (int step = 1; step < COUNT / 256; step *= 2) {
        float before = at >= step ? part[at - step] : 0.0;
        float before_moment = at >= step ? moment[at - step] : 0.0;
        barrier();
        part[at] += before;
        moment[at] += before_moment;
        barrier();
    }
    offset[at] = part[at] - own;
    if (at == COUNT / 256 - 1) {
        int t = turn[0];
        means[t] = moment[at] / part[at];
        likelihood[t] = top_at(0) + log(part[at] / float(COUNT));
        total[0] = part[at];
        shift[0] = pcgf(uint(t));
        turn[0] = t + 1;
    }
}
)";
constexpr const char* kPlainParticleFilterAdd = R"(
void main() {
    int i = int(gl_GlobalInvocationID.x);
    cumulative[i] = (prefix_at(i) + offset_at(i / 256)) / total_at(0);
}
)";
constexpr const char* kPlainParticleFilterChoose = R"(
void main() {
    int i = int(gl_GlobalInvocationID.x), low = 0, high = COUNT - 1;
    float point = (float(i) + shift_at(0)) / float(COUNT);
    while (low < high) {
        int middle = (low + high) / 2;
        if (cumulative_at(middle) < point)
            low = middle + 1;
        else
            high = middle;
    }
    chosen[i] = moved_at(low);
}
)";

HandProgram plain_particle_filter() {
    constexpr int kReturns = 0, kMeans = 2, kLikelihood = 3, kMoved = 4, kLogWeight = 5,
                  kBlockTop = 6, kTop = 7, kPrefix = 8, kBlockSum = 9, kBlockMoment = 10,
                  kOffset = 11, kTurn = 12, kTotal = 13, kShift = 14, kCumulative = 15,
                  kChosen = 16, kBlocks = kParticleFilterParticles / 256;
    const std::vector<std::pair<std::string, int>> constants = {
        {"COUNT", kParticleFilterParticles}};
    const std::string shared = kParticleFilterShared;
    HandProgram out;
    out.kernels = {
        {"particle_filter_begin",
         kPlainParticleFilterBegin,
         {1, 1, 1},
         {1, 1, 1},
         {{"turn", As::Ints, kTurn, true}},
         {}},
        {"particle_filter_move",
         shared + kPlainParticleFilterMove,
         {256, 1, 1},
         {kBlocks, 1, 1},
         {{"turn", As::Ints, kTurn},
          {"returns", As::Floats, kReturns},
          {"x", As::Floats, kChosen},
          {"moved", As::Floats, kMoved, true},
          {"log_weight", As::Floats, kLogWeight, true}},
         constants},
        {"particle_filter_block_top",
         kPlainParticleFilterBlockTop,
         {256, 1, 1},
         {kBlocks, 1, 1},
         {{"log_weight", As::Floats, kLogWeight}, {"block_top", As::Floats, kBlockTop, true}},
         constants},
        {"particle_filter_top",
         kPlainParticleFilterTop,
         {kBlocks, 1, 1},
         {1, 1, 1},
         {{"block_top", As::Floats, kBlockTop}, {"top", As::Floats, kTop, true}},
         constants},
        {"particle_filter_weigh",
         kPlainParticleFilterWeigh,
         {256, 1, 1},
         {kBlocks, 1, 1},
         {{"log_weight", As::Floats, kLogWeight},
          {"top", As::Floats, kTop},
          {"moved", As::Floats, kMoved},
          {"prefix", As::Floats, kPrefix, true},
          {"block_sum", As::Floats, kBlockSum, true},
          {"block_moment", As::Floats, kBlockMoment, true}},
         constants},
        {"particle_filter_scan",
         shared + kPlainParticleFilterScan,
         {kBlocks, 1, 1},
         {1, 1, 1},
         {{"block_sum", As::Floats, kBlockSum},
          {"block_moment", As::Floats, kBlockMoment},
          {"top", As::Floats, kTop},
          {"offset", As::Floats, kOffset, true},
          {"turn", As::Ints, kTurn, true},
          {"total", As::Floats, kTotal, true},
          {"shift", As::Floats, kShift, true},
          {"means", As::Floats, kMeans, true},
          {"likelihood", As::Floats, kLikelihood, true}},
         constants},
        {"particle_filter_add",
         kPlainParticleFilterAdd,
         {256, 1, 1},
         {kBlocks, 1, 1},
         {{"prefix", As::Floats, kPrefix},
          {"offset", As::Floats, kOffset},
          {"total", As::Floats, kTotal},
          {"cumulative", As::Floats, kCumulative, true}},
         constants},
        {"particle_filter_choose",
         kPlainParticleFilterChoose,
         {256, 1, 1},
         {kBlocks, 1, 1},
         {{"shift", As::Floats, kShift},
          {"cumulative", As::Floats, kCumulative},
          {"moved", As::Floats, kMoved},
          {"chosen", As::Floats, kChosen, true}},
         constants}};
    out.temporaries = {kParticleFilterParticles,
                       kParticleFilterParticles,
                       kBlocks,
                       1,
                       kParticleFilterParticles,
                       kBlocks,
                       kBlocks,
                       kBlocks,
                       1,
                       1,
                       1,
                       kParticleFilterParticles,
                       kParticleFilterParticles};
    out.steps = {{0, {}}, {1, {kTurn, kReturns, 1, kMoved, kLogWeight}}};
    for (int t = 0; t < kParticleFilterTimes; ++t) {
        if (t > 0) out.steps.push_back({1, {}});
        for (int kernel_of_step = 2; kernel_of_step < 8; ++kernel_of_step)
            out.steps.push_back({kernel_of_step, {}});
    }
    return out;
}

// A time is one dispatch: resampling, the step, and the running sums of the weights. An invocation
// has a run of particles. A group's weights are over the largest of the group, so that groups need
// not wait for one another; for the choice at the next time, the groups' sums are scaled by their
// largest weight over the largest of all. The ends of runs lie in registers of eight lanes, which
// shuffle them; within a run it is bisection. At the first time (FIRST) there is nothing to choose
// from.
constexpr const char* kBestParticleFilterStep = R"(
float normal(uint counter) {
    float u = pcgf(2u * counter), v = pcgf(2u * counter + 1u), r = abs(v - 0.5) - 0.25;
    float a = r * 6.28318530718, z = a * a;  // the cosine of v turns is the sine of a
    float s = ((((2.7e-6 * z - 1.98409e-4) * z + 8.333329e-3) * z - 0.16666667) * z + 1.0) * a;
    return sqrt(-2.0 * log(1.0 - u)) * s;
}
void main() {
    int lane = int(gl_LocalInvocationID.x), group = int(gl_WorkGroupID.x);
    int chunk = int(gl_GlobalInvocationID.x), t = FIRST == 1 ? 0 : turn_at(0);
    float ends[OWN], upscale[OWN / 8], border[8], total = 1.0, shift = 0.0;
    if (FIRST == 0) {
        float top = -1e38, sum = 0.0;
        [[unroll]] for (int k = 0; k < OWN / 8; ++k)
            top = max(top, tops_at((t - 1) * GROUPS + lane * (OWN / 8) + k));
        top = eight_max(top);
        [[unroll]] for (int k = 0; k < OWN / 8; ++k) {
            float under = tops_at((t - 1) * GROUPS + lane * (OWN / 8) + k) - top;
            float scale = exp(under);
            upscale[k] = exp(-under);
            [[unroll]] for (int r = 0; r < 8; ++r) {
                sum += scale * sums_at((t - 1) * CHUNKS + lane * OWN + 8 * k + r);
                ends[8 * k + r] = sum;
            }
        }
        float before = 0.0, all_lanes = 0.0;
        [[unroll]] for (int k = 0; k < 8; ++k) {
            float other = eight_shuffle(sum, k);
            before += k < lane ? other : 0.0;
            all_lanes += other;
            border[k] = all_lanes;
        }
        [[unroll]] for (int r = 0; r < OWN; ++r) ends[r] += before;
        total = border[7] * (1.0 / float(COUNT));
        shift = pcgf(uint(t - 1));
    }
    float y = returns_at(t) / beta, top = -1e38;
    y *= y;
    for (int k = 0; k < EACH / 4; ++k) {
        int first = chunk * EACH + 4 * k;
        vec4 stepped;
        [[unroll]] for (int q = 0; q < 4; ++q) {
            int at = first + q, from = at;
            if (FIRST == 0) {
                float point = (float(at) + shift) * total, base = 0.0;
                int of_lane = 0, run = 0;
                [[unroll]] for (int r = 0; r < 7; ++r)
                    if (border[r] < point) of_lane = r + 1, base = border[r];
                [[unroll]] for (int r = 0; r < OWN - 1; ++r) {
                    float end = eight_shuffle(ends[r], of_lane);
                    if (end < point) run = r + 1, base = end;
                }
                float scale = eight_shuffle(upscale[0], of_lane);
                [[unroll]] for (int r = 1; r < OWN / 8; ++r) {
                    float other = eight_shuffle(upscale[r], of_lane);
                    if (run >= 8 * r) scale = other;
                }
                from = (of_lane * OWN + run) * EACH;
                point = (point - base) * scale;
                [[unroll]] for (int k = LEVELS - 1; k >= 0; --k) {
                    int middle = from + (1 << k);
                    from = prefix_at(middle - 1) < point ? middle : from;
                }
            }
            float x = phi * x_at(from) + sigma * normal(uint(t * COUNT + at));
            stepped[q] = x;
            top = max(top, -0.5 * (x + y * exp(-x)));
        }
        moved[first >> 2] = stepped;
    }
    top = eight_max(top);
    float sum = 0.0, moment = 0.0;
    for (int k = 0; k < EACH / 4; ++k) {
        int at = chunk * (EACH / 4) + k;
        vec4 x = moved[at], weight = exp(-0.5 * (x + y * exp(-x)) - top), to;
        [[unroll]] for (int q = 0; q < 4; ++q) {
            to[q] = sum += weight[q];
            moment += weight[q] * x[q];
        }
        new_prefix[at] = to;
    }
    sums[t * CHUNKS + chunk] = sum;
    moments[t * CHUNKS + chunk] = moment;
    if (lane == 0) tops[t * GROUPS + group] = top;
    if (chunk == 0) next_turn[0] = t + 1;
}
)";

// The results of all times.
constexpr const char* kBestParticleFilterFinish = R"(
void main() {
    int t = int(gl_GlobalInvocationID.x);
    if (t >= TIMES) return;
    float top = -1e38, total = 0.0, moment = 0.0;
    [[unroll]] for (int k = 0; k < GROUPS; ++k) top = max(top, tops_at(t * GROUPS + k));
    for (int k = 0; k < GROUPS; ++k) {
        float scale = exp(tops_at(t * GROUPS + k) - top);
        [[unroll]] for (int q = 0; q < 8; ++q) {
            total += scale * sums_at(t * CHUNKS + 8 * k + q);
            moment += scale * moments_at(t * CHUNKS + 8 * k + q);
        }
    }
    means[t] = moment / total;
    likelihood[t] = top - 0.5 * log(turn_of_circle * beta * beta) + log(total / float(COUNT));
}
)";

HandProgram best_particle_filter() {
    constexpr int kReturns = 0, kStart = 1, kMeans = 2, kLikelihood = 3, kTops = 4, kSums = 5,
                  kMoments = 6;
    // Alternating buffers: places, running sums within runs, and the number of the time.
    constexpr std::array<int, 2> kPlaces{7, 8}, kPrefix{9, 10}, kTurn{11, 12};
    constexpr int kGroups = 16, kChunks = 8 * kGroups;
    const std::string shared = kParticleFilterShared;
    const std::vector<std::pair<std::string, int>> constants = {
        {"COUNT", kParticleFilterParticles},
        {"TIMES", kParticleFilterTimes},
        {"CHUNKS", kChunks},
        {"OWN", kChunks / 8},
        {"GROUPS", kGroups},
        {"EACH", kParticleFilterParticles / kChunks},
        {"LEVELS", std::countr_zero(unsigned(kParticleFilterParticles / kChunks))},
        {"FIRST", 0}};
    HandProgram out;
    const HandKernel step = {"particle_filter_step",
                             shared + kBestParticleFilterStep,
                             {8, 1, 1},
                             {kGroups, 1, 1},
                             {{"returns", As::Texels, kReturns},
                              {"turn", As::IntTexels, kTurn[0]},
                              {"x", As::Texels, kPlaces[0]},
                              {"prefix", As::Texels, kPrefix[0]},
                              {"moved", As::Vec4s, kPlaces[1], true},
                              {"new_prefix", As::Vec4s, kPrefix[1], true},
                              {"next_turn", As::Ints, kTurn[1], true},
                              {"tops", As::Floats, kTops, true},
                              {"sums", As::Floats, kSums, true},
                              {"moments", As::Floats, kMoments, true}},
                             constants};
    HandKernel first = step;
    first.name = "particle_filter_first";
    first.constants.back().second = 1;
    out.kernels = {first,
                   step,
                   {"particle_filter_finish",
                    shared + kBestParticleFilterFinish,
                    {8, 1, 1},
                    {(kParticleFilterTimes + 7) / 8, 1, 1},
                    {{"sums", As::Texels, kSums},
                     {"moments", As::Texels, kMoments},
                     {"tops", As::Texels, kTops},
                     {"means", As::Floats, kMeans, true},
                     {"likelihood", As::Floats, kLikelihood, true}},
                    constants}};
    constexpr int64_t kCount = kParticleFilterParticles,
                      kSumsOfAll = kParticleFilterTimes * kChunks;
    out.temporaries = {kParticleFilterTimes * kGroups,
                       kSumsOfAll,
                       kSumsOfAll,
                       kCount,
                       kCount,
                       kCount,
                       kCount,
                       1,
                       1};
    for (int t = 0; t < kParticleFilterTimes; ++t) {
        const size_t from = size_t(t % 2), to = 1 - from;
        out.steps.push_back({t == 0 ? 0 : 1,
                             {kReturns, kTurn[from], t == 0 ? kStart : kPlaces[from], kPrefix[from],
                              kPlaces[to], kPrefix[to], kTurn[to], kTops, kSums, kMoments}});
    }
    out.steps.push_back({2, {}});
    return out;
}

/// The root of the mean squared difference over the largest number. Rounding decides from which
/// particle one goes on, and soon the particles are others of the same distribution: on the host,
/// to move them by a millionth changes the means by a hundredth. The first numbers are made before
/// any choice, and must be closer by a factor of 1000.
double particle_filter_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double squares = 0, largest = 0;
    for (size_t k = 0; k < a.size(); ++k) {
        if (!std::isfinite(a[k]) || !std::isfinite(b[k])) return INFINITY;
        squares += double(a[k] - b[k]) * double(a[k] - b[k]);
        largest = std::max(largest, double(std::abs(b[k])));
    }
    const double all = std::sqrt(squares / double(a.size()));
    return std::max(all, 1000 * double(std::abs(a[0] - b[0]))) / largest;
}

Contest particle_filter(ParticleFiltered (*program)(Tensor, Tensor, Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("times"), f32("n"), f32(), f32(), f32()});
    // Particles as they are after a long time without returns, and returns of the model.
    std::vector<float> start, returns;
    const double spread = double(kParticleFilterSigma) /
                          std::sqrt(1 - double(kParticleFilterPhi * kParticleFilterPhi));
    for (uint32_t k = 0; k < uint32_t(kParticleFilterParticles); ++k)
        start.push_back(float(spread * host_particle_filter_normal(100000000 + k)));
    double x = 0;
    for (uint32_t t = 0; t < uint32_t(kParticleFilterTimes); ++t) {
        x = double(kParticleFilterPhi) * x +
            double(kParticleFilterSigma) * host_particle_filter_normal(200000000 + t);
        returns.push_back(float(double(kParticleFilterBeta) * std::exp(x / 2) *
                                host_particle_filter_normal(300000000 + t)));
    }
    // Operations per particle and time: two hashes of 8 operations, a logarithm, a root and a
    // cosine of about 10 each, two exponentials of about 8, and 12 to move, weigh, and add up
    // weights and moments. Its ancestor is gathered, from sums that are read in order.
    const double steps = double(kParticleFilterParticles) * kParticleFilterTimes;
    return {.least = {4.0 * (kParticleFilterTimes + kParticleFilterParticles),
                      4.0 * 2 * kParticleFilterTimes, 74.0 * steps, steps},
            .arguments = {returns, start},
            .results = {kParticleFilterTimes, kParticleFilterTimes},
            .firn =
                [f, y = tensor(returns), x0 = tensor(start)] {
                    auto [means, likelihood] =
                        f(y, x0, kParticleFilterPhi, kParticleFilterSigma, kParticleFilterBeta);
                    return std::vector<Tensor>{means, likelihood};
                },
            .best = best_particle_filter(),
            .plain = plain_particle_filter(),
            .tolerance = 5e-2,
            .difference = particle_filter_difference,
            .expected = [=] { return host_particle_filter(returns, start); }};
}

constexpr const char* kParticleFilterFar =
    "at each time all wait for the largest weight, and for the sum of all before they choose";

}  // namespace

void add_particle_filter(std::vector<Case>& cases) {
    cases.push_back({"particle_filter", [] { return particle_filter(particle_filter_steps); },
                     Section::Holdout, kParticleFilterFar});
    cases.push_back({"particle_filter_kernel",
                     [] { return particle_filter(particle_filter_steps_kernel); }, Section::Holdout,
                     kParticleFilterFar});
}

}  // namespace firn::bench
