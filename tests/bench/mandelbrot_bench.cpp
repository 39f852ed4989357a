// The Mandelbrot set at 1024 x 1024 with at most 256 iterations, the inner loop of apps/mandelbrot.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kMandelbrotSide = 1024, kMandelbrotTurns = 256;
constexpr float kLeft = -2.2f, kTop = -1.5f, kPixel = 3.0f / kMandelbrotSide;

// Each invocation computes a pixel, in rows as long as suit stores. Unrolled iterations that select
// between old and new values were slower: most of an iteration's time is its arithmetic.
constexpr const char* kMandelbrot = R"(
const int side = 1024, turns = 256;
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    float cx = -2.2 + 3.0 / 1024.0 * float(j), cy = -1.5 + 3.0 / 1024.0 * float(i);
    float x = cx, y = cy, xx = x * x, yy = y * y, count = 0.0;
    for (int turn = 0; turn < turns; ++turn) {
        if (xx + yy > 256.0) break;
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        count += 1.0;
    }
    time[i * side + j] = xx + yy > 256.0 ? count + 2.0 - log2(0.5 * log2(xx + yy)) : 0.0;
}
)";

constexpr const char* kPlainMandelbrot = R"(
const int side = 1024, turns = 256;
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    float cx = -2.2 + 3.0 / 1024.0 * float(j), cy = -1.5 + 3.0 / 1024.0 * float(i);
    float x = cx, y = cy, count = 0.0;
    for (int turn = 0; turn < turns; ++turn) {
        if (x * x + y * y > 256.0) break;
        float next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        count += 1.0;
    }
    float far = x * x + y * y;
    time[i * side + j] = far > 256.0 ? count + 2.0 - log2(0.5 * log2(far)) : 0.0;
}
)";

/// Returns the share of pixels whose times differ by more than a hundredth of an iteration: those
/// with orbits so chaotic that another rounding gives another orbit.
double share_that_differs(const std::vector<float>& a, const std::vector<float>& b) {
    size_t count = 0;
    for (size_t k = 0; k < a.size(); ++k) count += !(std::abs(a[k] - b[k]) < 0.01f);
    return double(count) / double(a.size());
}

/// Returns the iterations of all orbits together.
double count_turns() {
    double turns = 0;
    for (int i = 0; i < kMandelbrotSide; ++i)
        for (int j = 0; j < kMandelbrotSide; ++j) {
            const float cx = kLeft + kPixel * float(j), cy = kTop + kPixel * float(i);
            float x = cx, y = cy;
            for (int turn = 0; turn < kMandelbrotTurns && x * x + y * y <= 256.0f;
                 ++turn, ++turns) {
                const float next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
            }
        }
    return turns;
}

Contest mandelbrot() {
    auto draw = compile(
        [](Tensor left, Tensor top, Tensor pixel, Tensor turns) {
            auto [i, j] = indices<2>({kMandelbrotSide, kMandelbrotSide});
            Tensor cx = left + pixel * j, cy = top + pixel * i, x = cx, y = cy, count = 0.0f;
            for (Tensor turn : loop(min(turns, 20000))) {
                if_(x * x + y * y > 256.0f, [&] { break_(); });
                Tensor next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
                count += 1.0f;
            }
            Tensor far = x * x + y * y;
            return select(far > 256.0f, count + 2.0f - log2(0.5f * log2(max(far, 256.0f))), 0.0f);
        },
        {f32(), f32(), f32(), i32()});

    auto by_hand = [](const std::string& name, const char* body, uint32_t across, uint32_t down) {
        HandKernel kernel{name,
                          body,
                          {across, down, 1},
                          {kMandelbrotSide / int(across), kMandelbrotSide / int(down), 1},
                          {{"time", As::Floats, 0, true}},
                          {}};
        return HandProgram{{kernel}, {}, {}};
    };
    constexpr double kOfATurn = 9;  // operations, the test and the count among them
    return {
        .least = {0, 4.0 * kMandelbrotSide * kMandelbrotSide, kOfATurn * count_turns()},
        .arguments = {},
        .results = {int64_t(kMandelbrotSide) * kMandelbrotSide},
        .firn = [draw] { return std::vector<Tensor>{draw(kLeft, kTop, kPixel, kMandelbrotTurns)}; },
        .best = by_hand("mandelbrot", kMandelbrot, 64, 4),
        .plain = by_hand("plain_mandelbrot", kPlainMandelbrot, 16, 16),
        .processor = mandelbrot_by_hand(kMandelbrotSide, kMandelbrotTurns, kLeft, kTop, kPixel),
        .tolerance = 0.02,
        .difference = share_that_differs};
}

}  // namespace

void add_mandelbrot(std::vector<Case>& cases) {
    cases.push_back(
        {"mandelbrot", mandelbrot, Section::Own, "lanes go on until the last of them has escaped"});
}

}  // namespace firn::bench
