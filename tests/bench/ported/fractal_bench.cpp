// The Buddhabrot: where orbits go that leave, counted in three layers by how long they are.
#include <firn/firn.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/bench/holdout/holdout.h"
#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

using Floats = std::vector<float>;

constexpr int kFractalSide = 512, kLongest = 1000, kSamples = 2;
constexpr int kShort = kLongest / 50, kMiddle = kLongest / 10;
constexpr int64_t kFractalPixels = int64_t(kFractalSide) * kFractalSide;

/// An iteration of the orbit, which ends where it leaves.
void turn_of(Tensor& x, Tensor& y, const Tensor& cx, const Tensor& cy) {
    Tensor next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    if_(x * x + y * y > 4.0f, [&] { break_(); });
}

/// The next frame [h, w, 3], which keeps something of the one before. Orbits begin at random places
/// with random constants, one for each pixel and sample.
Tensor next_frame(Tensor before, Tensor frame, Tensor time) {
    Tensor hits = zeros({kFractalSide, kFractalSide, 3}, i32);
    auto [i, j] = indices<2>({kFractalSide, kFractalSide});
    Tensor seed = cast<uint32_t>(i + j * kFractalSide + frame * kFractalSide * kFractalSide);
    Tensor x = cast<float>(i), y = cast<float>(j);
    for (Tensor sample : loop(kSamples)) {
        seed = pcg(seed);
        auto place = [&](const Tensor& pixel, uint32_t number) {
            return 3.0f * (pixel + 2.0f * pcgf(seed + number)) / float(kFractalSide) - 1.5f;
        };
        Tensor cx = place(x, 0), cy = place(y, 5), from_x = place(x, 25), from_y = place(y, 388);
        Tensor at_x = from_x, at_y = from_y, length = zeros({kFractalSide, kFractalSide}, i32);
        for (Tensor turn : loop(kLongest)) {
            turn_of(at_x, at_y, cx, cy);
            length += 1;
        }
        if_(length >= kLongest, [&] { continue_(); });
        at_x = from_x, at_y = from_y;
        for (Tensor turn : loop(kLongest)) {
            turn_of(at_x, at_y, cx, cy);
            Tensor c = cos(0.3f * time), s = sin(0.3f * time);
            Tensor across = (c * at_x + s * cx) / 3.0f + 0.6f,
                   down = (c * at_y + s * cy) / 3.0f + 0.5f;
            if_((across < 0.0f) | (across > 1.0f) | (down < 0.0f) | (down > 1.0f),
                [&] { continue_(); });
            Tensor column = cast<int>(across * float(kFractalSide)),
                   row = cast<int>(down * float(kFractalSide));
            Tensor layer = select(length < kShort, 2, select(length < kMiddle, 1, 0));
            scatter_add(hits(kFractalSide - 1 - row, column, layer), 1);
            scatter_add(hits(row, column, layer), 1);
        }
    }
    std::vector<Tensor> channels;
    constexpr float bend[] = {0.9f, 0.65f, 0.5f};
    Tensor sum = 0.0f;
    for (int k = 2; k >= 0; --k) {
        sum += cast<float>(hits(i, j, k));
        Tensor light = 2.5f * pow(sum * 12.0f / float(kLongest * kSamples), bend[k]);
        channels.insert(channels.begin(),
                        0.4f * smoothstep(0.0f, 1.0f, light) + 0.6f * before(i, j, k));
    }
    return stack(channels, {.axis = 2});
}

struct HostFrame {
    Floats picture;
    double turns = 0, marks = 0;
};

HostFrame host_frame(const Floats& before, int frame, float time) {
    HostFrame out;
    std::vector<int> hits(size_t(kFractalPixels * 3));
    const float c = std::cos(0.3f * time), s = std::sin(0.3f * time);
    for (int i = 0; i < kFractalSide; ++i)
        for (int j = 0; j < kFractalSide; ++j) {
            uint32_t seed = uint32_t(i + j * kFractalSide + frame * kFractalSide * kFractalSide);
            for (int sample = 0; sample < kSamples; ++sample) {
                seed = host_pcg(seed);
                auto place = [&](int pixel, uint32_t number) {
                    return 3 * (float(pixel) + 2 * host_pcgf(seed + number)) / kFractalSide - 1.5f;
                };
                const float cx = place(i, 0), cy = place(j, 5), from_x = place(i, 25),
                            from_y = place(j, 388);
                float x = from_x, y = from_y;
                auto leaves = [&] {
                    const float next = x * x - y * y + cx;
                    y = 2 * x * y + cy;
                    x = next;
                    ++out.turns;
                    return x * x + y * y > 4;
                };
                int length = 0;
                while (length < kLongest && !leaves()) ++length;
                if (length >= kLongest) continue;
                const int layer = length < kShort ? 2 : length < kMiddle ? 1 : 0;
                x = from_x, y = from_y;
                while (!leaves()) {
                    const float across = (c * x + s * cx) / 3 + 0.6f,
                                down = (c * y + s * cy) / 3 + 0.5f;
                    if (across < 0 || across > 1 || down < 0 || down > 1) continue;
                    const int column = int(across * kFractalSide), row = int(down * kFractalSide);
                    for (int at : {kFractalSide - 1 - row, row})
                        if (at >= 0 && at < kFractalSide && column < kFractalSide)
                            ++hits[size_t((at * kFractalSide + column) * 3 + layer)], ++out.marks;
                }
            }
        }
    constexpr float bend[] = {0.9f, 0.65f, 0.5f};
    for (size_t k = 0; k < size_t(kFractalPixels); ++k)
        for (size_t channel = 0; channel < 3; ++channel) {
            float sum = 0;
            for (size_t l = channel; l < 3; ++l) sum += float(hits[3 * k + l]);
            const float light = 2.5f * std::pow(sum * 12 / (kLongest * kSamples), bend[channel]);
            const float t = std::clamp(light, 0.0f, 1.0f);
            out.picture.push_back(0.4f * t * t * (3 - 2 * t) + 0.6f * before[3 * k + channel]);
        }
    return out;
}

/// The mean distance over the mean: long orbits are chaotic, so that a rounding moves their marks.
double mean_difference(const Floats& a, const Floats& b) {
    double apart = 0, all = 1e-30;
    for (size_t k = 0; k < a.size(); ++k) apart += std::abs(a[k] - b[k]), all += std::abs(b[k]);
    return apart / all;
}

// The code for one orbit or four, by the types U and V. Long orbits are chaotic: without `precise`,
// roundings give others.
constexpr const char* kOrbitStart = R"(
U pcg(U x) {
    U state = x * 747796405u + 2891336453u;
    U word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
V place(V pixel, U seed) {
    precise V at = 3.0 * (pixel + 2.0 * (V(pcg(seed) >> 8u) / 16777216.0)) / 512.0 - 1.5;
    return at;
}
void turn(inout V x, inout V y, V cx, V cy) {
    precise V next_x = x * x - y * y + cx, next_y = 2.0 * x * y + cy;
    x = next_x, y = next_y;
}
// Begins an orbit, with its constants; `seed` becomes that of the next sample.
void begin(V i, V j, inout U seed, out V x, out V y, out V cx, out V cy) {
    seed = pcg(seed);
    cx = place(i, seed), cy = place(j, seed + 5u);
    x = place(i, seed + 25u), y = place(j, seed + 388u);
}
)";
constexpr const char* kOneOrbit = "#define U uint\n#define V float\n";
constexpr const char* kFourOrbits = "#define U uvec4\n#define V vec4\n";

constexpr const char* kPlainOrbits = R"(
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    uint seed = uint(i + j * 512 + frame_at(0) * 262144);
    float c = cos(0.3 * time_at(0)), s = sin(0.3 * time_at(0));
    for (int n = 0; n < 2; ++n) {
        float from_x, from_y, cx, cy;
        begin(float(i), float(j), seed, from_x, from_y, cx, cy);
        float x = from_x, y = from_y;
        int turns = 0;
        for (; turns < 1000; ++turns) {
            turn(x, y, cx, cy);
            precise float far = x * x + y * y;
            if (far > 4.0) break;
        }
        if (turns >= 1000) continue;
        int layer = turns < 20 ? 2 : turns < 100 ? 1 : 0;
        x = from_x, y = from_y;
        for (int k = 0; k < turns; ++k) {
            turn(x, y, cx, cy);
            float across = (c * x + s * cx) / 3.0 + 0.6, down = (c * y + s * cy) / 3.0 + 0.5;
            if (across < 0.0 || across > 1.0 || down < 0.0 || down > 1.0) continue;
            int column = int(across * 512.0), row = int(down * 512.0);
            if (column >= 512 || row >= 512) continue;
            atomicAdd(hits[((511 - row) * 512 + column) * 3 + layer], 1);
            atomicAdd(hits[(row * 512 + column) * 3 + layer], 1);
        }
    }
}
)";
constexpr const char* kPlainNoHits = R"(
void main() { hits[gl_GlobalInvocationID.x] = 0; }
)";
constexpr const char* kPlainFrame = R"(
void main() {
    uint at = (gl_GlobalInvocationID.y * 512u + gl_GlobalInvocationID.x) * 3u;
    float bend[3] = {0.9, 0.65, 0.5}, sum = 0.0;
    for (int k = 2; k >= 0; --k) {
        sum += float(hits_at(at + k));
        float light = 2.5 * pow(sum * 12.0 / 2000.0, bend[k]);
        picture[at + k] = 0.4 * smoothstep(0.0, 1.0, light) + 0.6 * before_at(at + k);
    }
}
)";

// Nearly all iterations belong to the few orbits that stay. So that no lane waits for another's
// orbit, those that leave within sixteen iterations, and those that do not, are listed first; an
// orbit's number is that of its pixel and sample, above it is its length.
constexpr const char* kSortOrbits = R"(
void main() {
    int first = 4 * int(gl_GlobalInvocationID.x);
    ivec4 number = first + ivec4(0, 1, 2, 3);
    vec4 x, y, cx, cy, alive = vec4(1.0), turns = vec4(0.0);
    begin_numbered(number, x, y, cx, cy);
    [[unroll]] for (int k = 0; k < 16; ++k) turn(x, y, cx, cy, alive, turns);
    int left = 0, stayed = 0;
    [[unroll]] for (int k = 0; k < 4; ++k) {
        left += alive[k] == 0.0 && turns[k] > 0.0 ? 1 : 0;
        stayed += alive[k] != 0.0 ? 1 : 0;
    }
    if (left > 0) left = atomicAdd(short_count[0], left);
    if (stayed > 0) stayed = atomicAdd(still_count[0], stayed);
    [[unroll]] for (int k = 0; k < 4; ++k) {
        if (alive[k] != 0.0) still[stayed++] = number[k];
        else if (turns[k] > 0.0) shorts[left++] = number[k] + (int(turns[k]) << 19);
    }
}
)";
constexpr const char* kLongOrbits = R"(
void main() {
    int first = 4 * int(gl_GlobalInvocationID.x), all = still_count[0];
    if (first >= all) return;
    ivec4 number;
    [[unroll]] for (int k = 0; k < 4; ++k) number[k] = still_at(min(first + k, all - 1));
    vec4 x, y, cx, cy, alive = vec4(1.0), turns = vec4(0.0);
    begin_numbered(number, x, y, cx, cy);
    for (int k = 0; k < 125; ++k) {
        [[unroll]] for (int l = 0; l < 8; ++l) turn(x, y, cx, cy, alive, turns);
        if (alive == vec4(0.0)) break;
    }
    [[unroll]] for (int k = 0; k < 4; ++k)
        if (alive[k] == 0.0 && first + k < all)
            longs[atomicAdd(long_count[0], 1)] = number[k] + (int(turns[k]) << 19);
}
)";
constexpr const char* kTurnNumbered = R"(
void begin_numbered(ivec4 number, out vec4 x, out vec4 y, out vec4 cx, out vec4 cy) {
    ivec4 j = number & 511, i = (number >> 9) & 511;
    uvec4 seed = uvec4(i + j * 512 + frame_at(0) * 262144);
    seed = mix(seed, pcg(seed), greaterThan(number, ivec4(262143)));
    begin(vec4(i), vec4(j), seed, x, y, cx, cy);
}
void turn(inout vec4 x, inout vec4 y, vec4 cx, vec4 cy, inout vec4 alive, inout vec4 turns) {
    turn(x, y, cx, cy);
    precise vec4 far = x * x + y * y;
    alive = mix(vec4(0.0), alive, lessThanEqual(far, vec4(4.0)));
    turns += alive;
}
)";
// A lane whose orbit has ended continues with the next one, of 64 at most: the device ends loops
// after 2^16 iterations. The picture of hits is its own mirror image: half of them are counted.
constexpr const char* kMarkOrbits = R"(
void main() {
    int slot = int(gl_GlobalInvocationID.x), all = count[0], left = 0, layer = 0;
    int lanes = max(512, all / 64 + 1);
    if (slot >= lanes) return;
    float c = cos(0.3 * time_at(0)), s = sin(0.3 * time_at(0)), x, y, cx, cy;
    for (;;) {
        if (left == 0) {
            if (slot >= all) break;
            int number = done_at(slot), i = (number >> 9) & 511, j = number & 511;
            uint seed = uint(i + j * 512 + frame_at(0) * 262144);
            seed = (number & 262144) != 0 ? pcg(seed) : seed;
            begin(float(i), float(j), seed, x, y, cx, cy);
            left = number >> 19;
            layer = left < 20 ? 2 : left < 100 ? 1 : 0;
            slot += lanes;
        }
        turn(x, y, cx, cy);
        --left;
        float across = (c * x + s * cx) / 3.0 + 0.6, down = (c * y + s * cy) / 3.0 + 0.5;
        int column = int(across * 512.0), row = int(down * 512.0);
        if (across >= 0.0 && column < 512 && down >= 0.0 && row < 512)
            atomicAdd(hits[(layer * 512 + row) * 512 + column], 1);
    }
}
)";
constexpr const char* kBestNoHits = R"(
void main() {
    uint at = gl_WorkGroupID.x * 1024u + gl_LocalInvocationID.x;
    [[unroll]] for (uint k = 0u; k < 4u; ++k) hits[at + 256u * k] = vec4(0.0);
    if (at == 0u) short_count[0] = 0, long_count[0] = 0, still_count[0] = 0;
}
)";
constexpr const char* kBestFrame = R"(
void main() {
    int x = 4 * int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float bend[3] = {0.9, 0.65, 0.5};
    vec4 sum = vec4(0.0), lit[3];
    [[unroll]] for (int k = 2; k >= 0; --k) {
        int a = (k * 512 + y) * 512 + x, b = (k * 512 + 511 - y) * 512 + x;
        [[unroll]] for (int l = 0; l < 4; ++l) sum[l] += float(hits_at(a + l) + hits_at(b + l));
        lit[k] = 0.4 * smoothstep(0.0, 1.0, 2.5 * pow(sum * 12.0 / 2000.0, vec4(bend[k])));
    }
    int at = (y * 512 + x) / 4 * 3;
    picture[at] = vec4(lit[0].x, lit[1].x, lit[2].x, lit[0].y) + 0.6 * before_at(at);
    picture[at + 1] = vec4(lit[1].y, lit[2].y, lit[0].z, lit[1].z) + 0.6 * before_at(at + 1);
    picture[at + 2] = vec4(lit[2].z, lit[0].w, lit[1].w, lit[2].w) + 0.6 * before_at(at + 2);
}
)";

HandProgram plain_buddhabrot() {
    const HandBinding hits{"hits", As::Ints, 4, true};
    return {{{"no_hits", kPlainNoHits, {256, 1, 1}, {3072, 1, 1}, {hits}, {}},
             {"orbits",
              std::string(kOneOrbit) + kOrbitStart + kPlainOrbits,
              {64, 4, 1},
              {8, 128, 1},
              {{"frame", As::Ints, 1}, {"time", As::Floats, 2}, hits},
              {}},
             {"frame",
              kPlainFrame,
              {64, 4, 1},
              {8, 128, 1},
              {{"hits", As::Ints, 4}, {"before", As::Floats, 0}, {"picture", As::Floats, 3, true}},
              {}}},
            {3 * kFractalPixels},
            {}};
}

HandProgram best_buddhabrot() {
    constexpr int kHits = 4, kShorts = 5, kLongs = 6, kStill = 7, kOrbitCount = 1 << 19;
    auto count = [](const std::string& name, int list) {
        return HandBinding{name + "_count", As::Ints, list + 3, true};
    };
    const HandBinding shorts = count("short", kShorts), longs = count("long", kLongs),
                      still = count("still", kStill), frame{"frame", As::IntTexels, 1};
    HandProgram program;
    program.temporaries = {3 * kFractalPixels, kOrbitCount, kOrbitCount, kOrbitCount, 1, 1, 1};
    program.kernels = {
        {"no_hits",
         kBestNoHits,
         {256, 1, 1},
         {192, 1, 1},
         {{"hits", As::Vec4s, kHits, true}, shorts, longs, still},
         {}},
        {"sort_orbits",
         std::string(kFourOrbits) + kOrbitStart + kTurnNumbered + kSortOrbits,
         {64, 1, 1},
         {kOrbitCount / 256, 1, 1},
         {frame,
          shorts,
          still,
          {"shorts", As::Ints, kShorts, true},
          {"still", As::Ints, kStill, true}},
         {}},
        {"long_orbits",
         std::string(kFourOrbits) + kOrbitStart + kTurnNumbered + kLongOrbits,
         {64, 1, 1},
         {kOrbitCount / 256, 1, 1},
         {frame, longs, still, {"longs", As::Ints, kLongs, true}, {"still", As::IntTexels, kStill}},
         {}},
        {"mark_orbits",
         std::string(kOneOrbit) + kOrbitStart + kMarkOrbits,
         {64, 1, 1},
         {129, 1, 1},
         {frame,
          {"time", As::Texels, 2},
          {"count", As::Ints, kShorts + 3},
          {"done", As::IntTexels, kShorts},
          {"hits", As::Ints, kHits, true}},
         {}},
        {"frame",
         kBestFrame,
         {64, 4, 1},
         {2, 128, 1},
         {{"hits", As::IntTexels, kHits},
          {"before", As::Texels4, 0},
          {"picture", As::Vec4s, 3, true}},
         {}}};
    program.steps = {{0, {}}, {1, {}}, {2, {}}, {3, {}}, {3, {1, 2, kLongs + 3, kLongs, kHits}},
                     {4, {}}};
    return program;
}

Contest buddhabrot() {
    auto f = compile(next_frame, {f32(kFractalSide, kFractalSide, 3), i32(), f32()});
    constexpr int kFrame = 3;
    constexpr float kTime = 0.7f;
    const Floats before = numbers(3 * kFractalPixels, 0, 0.1f);
    const HostFrame expected = host_frame(before, kFrame, kTime);
    // Operations per iteration: 10 with its comparison, a place in the picture 8 and two marks; per
    // pixel 60.
    return {.least = {12.0 * kFractalPixels, 12.0 * kFractalPixels,
                      10 * expected.turns + 5 * expected.marks + 60.0 * kFractalPixels},
            .arguments = {before, {std::bit_cast<float>(kFrame)}, {kTime}},
            .results = {3 * kFractalPixels},
            .firn =
                [f, x = tensor(before, {kFractalSide, kFractalSide, 3})] {
                    return std::vector<Tensor>{f(x, kFrame, kTime)};
                },
            .best = best_buddhabrot(),
            .plain = plain_buddhabrot(),
            .tolerance = 0.05,  // orbits go other ways where products and sums are fused
            .difference = mean_difference,
            .expected = [picture = expected.picture] { return std::vector<Floats>{picture}; }};
}

}  // namespace

void add_ported_fractals(std::vector<Case>& cases) {
    cases.push_back({"buddhabrot", buddhabrot, Section::Ported,
                     "lanes go on until the last of them has escaped, and every point is a sum at "
                     "a place of its own"});
}

}  // namespace firn::bench
