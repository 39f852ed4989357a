// Pictures: equalised histograms, and the wavelets of Haar.
#include <firn/firn.h>

#include <bit>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kPictureSide = 2048;
constexpr int64_t kPicturePixels = int64_t(kPictureSide) * kPictureSide;

/// Grey values 0 to 255, spread so that each part of the range is met equally often.
Tensor equalised(Tensor picture) {
    Tensor sums = cumsum(bincount(picture, 256));
    Tensor first = min(select(sums > 0, sums, sums(255)));
    Tensor level = cast<float>(sums - first) / cast<float>(sums(255) - first);
    return cast<int>(round(255.0f * level))(picture);
}

std::vector<std::vector<float>> host_equalised(const std::vector<int>& picture) {
    std::vector<int> sums(256);
    for (int value : picture) ++sums[static_cast<size_t>(value)];
    for (size_t k = 1; k < 256; ++k) sums[k] += sums[k - 1];
    const int first = *std::find_if(sums.begin(), sums.end(), [](int sum) { return sum > 0; });
    std::vector<float> out;
    for (int value : picture) {
        const float level =
            float(sums[static_cast<size_t>(value)] - first) / float(sums[255] - first);
        out.push_back(std::nearbyint(255.0f * level));
    }
    return {out};
}

constexpr const char* kEqualiseClear = "void main() { counts[gl_GlobalInvocationID.x] = 0; }\n";
constexpr const char* kEqualiseCount = R"(
shared int own[256];
void main() {
    int k = int(gl_LocalInvocationID.x), base = int(gl_WorkGroupID.x) * 4096 + k;
    own[k] = 0;
    barrier();
    for (int turn = 0; turn < 16; ++turn) atomicAdd(own[x_at(base + 256 * turn)], 1);
    barrier();
    atomicAdd(counts[k], own[k]);
}
)";
constexpr const char* kEqualiseTable = R"(
shared int sums[256];
void main() {
    int k = int(gl_LocalInvocationID.x);
    sums[k] = counts_at(k);
    barrier();
    for (int far = 1; far < 256; far *= 2) {
        int other = k >= far ? sums[k - far] : 0;
        barrier();
        sums[k] += other;
        barrier();
    }
    int first = 0;
    for (int l = 255; l >= 0; --l) first = sums[l] > 0 ? sums[l] : first;
    table[k] = roundEven(255.0 * (float(sums[k] - first) / float(sums[255] - first)));
}
)";
constexpr const char* kEqualise = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    y[k] = table_at(x_at(k));
}
)";

HandProgram equalise_by_hand() {
    constexpr int kIn = 0, kResult = 1, kCounts = 2, kTable = 3;
    return {
        {{"equalise_clear",
          kEqualiseClear,
          {256, 1, 1},
          {1, 1, 1},
          {{"counts", As::Ints, kCounts, true}},
          {}},
         {"equalise_count",
          kEqualiseCount,
          {256, 1, 1},
          {int(kPicturePixels / 4096), 1, 1},
          {{"x", As::Ints, kIn}, {"counts", As::Ints, kCounts, true}},
          {}},
         {"equalise_table",
          kEqualiseTable,
          {256, 1, 1},
          {1, 1, 1},
          {{"counts", As::Ints, kCounts}, {"table", As::Floats, kTable, true}},
          {}},
         {"equalise",
          kEqualise,
          {256, 1, 1},
          {int(kPicturePixels / 256), 1, 1},
          {{"x", As::Ints, kIn}, {"table", As::Floats, kTable}, {"y", As::Floats, kResult, true}},
          {}}},
        {256, 256},
        {}};
}

// Counts in each invocation's own memory, which need no atomics; floats, for their sums by
// shuffles.
constexpr const char* kBestEqualiseCount = R"(
float own[256];
void main() {
    int lane = int(gl_LocalInvocationID.x), base = int(gl_WorkGroupID.x) * (EACH / 4) + lane;
    for (int k = 0; k < 256; ++k) own[k] = 0.0;
    for (int turn = 0; turn < EACH / 128; ++turn)
        [[unroll]] for (int k = 0; k < 4; ++k) {
            ivec4 four = floatBitsToInt(x_at(base + 8 * (4 * turn + k)));
            [[unroll]] for (int l = 0; l < 4; ++l) ++own[four[l]];
        }
    for (int k = 0; k < 256; ++k) {
        float sum = eight_sum(own[k]);
        if (lane == 0) counts[int(gl_WorkGroupID.x) * 256 + k] = sum;
    }
}
)";
// A subgroup whose lanes have 32 values each.
constexpr const char* kBestEqualiseTable = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x);
    float sums[32], sum = 0.0, before = 0.0, first = 1e9;
    for (int k = 0; k < 32; ++k) sums[k] = 0.0;
    for (int part = 0; part < PARTS; ++part)
        [[unroll]] for (int k = 0; k < 32; ++k) sums[k] += counts_at(part * 256 + lane * 32 + k);
    [[unroll]] for (int k = 0; k < 32; ++k) sum += sums[k];
    [[unroll]] for (int k = 0; k < 8; ++k) {
        float other = eight_shuffle(sum, k);
        before += k < lane ? other : 0.0;
    }
    [[unroll]] for (int k = 0; k < 32; ++k) {
        before += sums[k];
        sums[k] = before;
        first = before > 0.0 ? min(first, before) : first;
    }
    first = -eight_max(-first);
    float last = eight_max(before);
    [[unroll]] for (int k = 0; k < 32; ++k)
        table[lane * 32 + k] = roundEven(255.0 * ((sums[k] - first) / (last - first)));
}
)";
constexpr const char* kBestEqualise = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    ivec4 four = floatBitsToInt(x_at(k));
    y[k] = vec4(table_at(four.x), table_at(four.y), table_at(four.z), table_at(four.w));
}
)";

HandProgram best_equalise() {
    constexpr int kIn = 0, kResult = 1, kCounts = 2, kTable = 3, kParts = 64;
    return {
        {{"equalise_count",
          kBestEqualiseCount,
          {8, 1, 1},
          {kParts, 1, 1},
          {{"x", As::Texels4, kIn}, {"counts", As::Floats, kCounts, true}},
          {{"EACH", int(kPicturePixels / kParts)}}},
         {"equalise_table",
          kBestEqualiseTable,
          {8, 1, 1},
          {1, 1, 1},
          {{"counts", As::Texels, kCounts}, {"table", As::Floats, kTable, true}},
          {{"PARTS", kParts}}},
         {"equalise",
          kBestEqualise,
          {256, 1, 1},
          {int(kPicturePixels / 1024), 1, 1},
          {{"x", As::Texels4, kIn}, {"table", As::Texels, kTable}, {"y", As::Vec4s, kResult, true}},
          {}}},
        {256 * kParts, 256},
        {}};
}

Contest equalise() {
    auto f = compile(equalised, {i32("h", "w")});
    std::vector<int> picture;
    for (float value : hills(kPictureSide, kPictureSide, 5).values)
        picture.push_back(std::clamp(int(128 + 70 * value), 0, 255));
    std::vector<float> bits;
    for (int pixel : picture) bits.push_back(std::bit_cast<float>(pixel));
    // A count and a look-up of each pixel.
    return {.least = {4.0 * kPicturePixels, 4.0 * kPicturePixels, 1.0 * kPicturePixels,
                      1.0 * kPicturePixels},
            .arguments = {bits},
            .results = {kPicturePixels},
            .firn = [f, x = tensor(picture, {kPictureSide,
                                             kPictureSide})] { return std::vector<Tensor>{f(x)}; },
            .best = best_equalise(),
            .plain = equalise_by_hand(),
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [picture] { return host_equalised(picture); }};
}

constexpr int kImage = 1024, kLevels = 5;
constexpr int64_t kElements = int64_t(kImage) * kImage;

/// The coefficients as one picture: each level's means in the upper left, which the next divides.
Tensor haar_of(Tensor x, int levels) {
    if (levels == 0) return x;
    Tensor even = slice(x, {.axis = 0, .begin = 0, .step = 2}),
           odd = slice(x, {.axis = 0, .begin = 1, .step = 2});
    Tensor low = even + odd, high = even - odd;
    auto across = [](const Tensor& rows, float sign) {
        return 0.5f * (slice(rows, {.axis = 1, .begin = 0, .step = 2}) +
                       sign * slice(rows, {.axis = 1, .begin = 1, .step = 2}));
    };
    Tensor means = haar_of(across(low, 1), levels - 1);
    return concat({concat({means, across(low, -1)}, {.axis = 1}),
                   concat({across(high, 1), across(high, -1)}, {.axis = 1})},
                  {.axis = 0});
}

std::vector<std::vector<float>> host_haar(Plane x) {
    for (int side = kImage; side > kImage >> kLevels; side /= 2) {
        const Plane old = x;
        const int half = side / 2;
        for (int i = 0; i < half; ++i)
            for (int j = 0; j < half; ++j) {
                const float a = old(2 * i, 2 * j), b = old(2 * i, 2 * j + 1),
                            c = old(2 * i + 1, 2 * j), d = old(2 * i + 1, 2 * j + 1);
                x(i, j) = 0.5f * (a + b + c + d);
                x(i, j + half) = 0.5f * (a - b + c - d);
                x(i + half, j) = 0.5f * (a + b - c - d);
                x(i + half, j + half) = 0.5f * (a - b - c + d);
            }
    }
    return {x.values};
}

// A level is `HALF` wide; its means go to the next, those of the last one to the result.
constexpr const char* kHaarLevel = R"(
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x);
    int at = 4 * i * HALF + 2 * j;
    float a = x_at(at), b = x_at(at + 1), c = x_at(at + 2 * HALF), d = x_at(at + 2 * HALF + 1);
    means[i * (LAST != 0 ? 1024 : HALF) + j] = 0.5 * (a + b + c + d);
    y[i * 1024 + j + HALF] = 0.5 * (a - b + c - d);
    y[(i + HALF) * 1024 + j] = 0.5 * (a + b - c - d);
    y[(i + HALF) * 1024 + j + HALF] = 0.5 * (a - b - c + d);
}
)";

HandProgram haar_by_hand() {
    constexpr int kIn = 0, kResult = 1, kMeans = 2;  // of each level but the last
    HandProgram out;
    for (int level = 0; level < kLevels; ++level) {
        const int half = kImage >> (level + 1), last = level + 1 == kLevels;
        if (!last) out.temporaries.push_back(int64_t(half) * half);
        out.kernels.push_back({"haar",
                               kHaarLevel,
                               {16, 16, 1},
                               {half / 16, half / 16, 1},
                               {{"x", As::Floats, level == 0 ? kIn : kMeans + level - 1},
                                {"means", As::Floats, last ? kResult : kMeans + level, true},
                                {"y", As::Floats, kResult, true}},
                               {{"HALF", half}, {"LAST", last}}});
    }
    return out;
}

// A lane has 8 columns of 32 rows, a subgroup 64 columns: three levels stay in a lane, the others'
// neighbours are in the next lanes.
constexpr const char* kBestHaar = R"(
int lane = int(gl_LocalInvocationID.x), column = int(gl_WorkGroupID.x), row = int(gl_WorkGroupID.y);
vec4 level(float a, float b, float c, float d) {
    vec2 low = vec2(a + b, a - b), high = vec2(c + d, c - d);
    return 0.5 * vec4(low + high, low - high);
}
void put(int half_, int i, int j, vec4 v) {
    y[i * 1024 + j + half_] = v.y;
    y[(i + half_) * 1024 + j] = v.z;
    y[(i + half_) * 1024 + j + half_] = v.w;
}
void main() {
    float third[4];
    for (int part = 0; part < 4; ++part) {
        vec2 second[2];
        [[unroll]] for (int r = 0; r < 2; ++r) {
            vec4 first[2];
            [[unroll]] for (int q = 0; q < 2; ++q) {
                int i = row * 16 + part * 4 + r * 2 + q, at = 2 * i * 256 + column * 16 + lane * 2;
                vec4 a = x_at(at), b = x_at(at + 1), c = x_at(at + 256), d = x_at(at + 257);
                vec4 even = vec4(a.xz, b.xz), odd = vec4(a.yw, b.yw);
                vec4 even2 = vec4(c.xz, d.xz), odd2 = vec4(c.yw, d.yw);
                vec4 low = 0.5 * (even + even2), low2 = 0.5 * (odd + odd2);
                vec4 high = 0.5 * (even - even2), high2 = 0.5 * (odd - odd2);
                int to = i * 256 + column * 8 + lane;
                first[q] = low + low2;
                y4[to + 128] = low - low2;
                y4[to + 512 * 256] = high + high2;
                y4[to + 512 * 256 + 128] = high - high2;
            }
            int i = row * 8 + part * 2 + r, j = column * 16 + lane * 2;
            vec4 u = level(first[0].x, first[0].y, first[1].x, first[1].y);
            vec4 v = level(first[0].z, first[0].w, first[1].z, first[1].w);
            put(256, i, j, u);
            put(256, i, j + 1, v);
            second[r] = vec2(u.x, v.x);
        }
        vec4 v = level(second[0].x, second[0].y, second[1].x, second[1].y);
        put(128, row * 4 + part, column * 8 + lane, v);
        third[part] = v.x;
    }
    vec4 fourth[2];
    [[unroll]] for (int q = 0; q < 2; ++q) {
        float a = third[2 * q], c = third[2 * q + 1];
        fourth[q] = level(a, subgroupShuffleXor(a, 1u), c, subgroupShuffleXor(c, 1u));
        if ((lane & 1) == 0) put(64, row * 2 + q, column * 4 + lane / 2, fourth[q]);
    }
    float a = fourth[0].x, c = fourth[1].x;
    vec4 fifth = level(a, subgroupShuffleXor(a, 2u), c, subgroupShuffleXor(c, 2u));
    if ((lane & 3) == 0) {
        int i = row, j = column * 2 + lane / 4;
        put(32, i, j, fifth);
        y[i * 1024 + j] = fifth.x;
    }
}
)";

HandProgram best_haar() {
    return {{{"haar",
              kBestHaar,
              {8, 1, 1},
              {kImage / 64, kImage / 32, 1},
              {{"x", As::Texels4, 0}, {"y", As::Floats, 1, true}, {"y4", As::Vec4s, 1, true}},
              {}}},
            {},
            {}};
}

Contest haar() {
    auto f = compile([](Tensor x) { return haar_of(x, kLevels); }, {f32("h", "w")});
    Plane x = hills(kImage, kImage, 11);
    // Operations per four elements of a level: 8 sums and 4 products; the levels are 4 / 3 of the
    // first.
    return {
        .least = {4.0 * kElements, 4.0 * kElements, 4.0 * kElements},
        .arguments = {x.values},
        .results = {kElements},
        .firn = [f, x0 = tensor(x.values, {kImage, kImage})] { return std::vector<Tensor>{f(x0)}; },
        .best = best_haar(),
        .plain = haar_by_hand(),
        .expected = [x] { return host_haar(x); }};
}

}  // namespace

void add_pictures(std::vector<Case>& cases) {
    cases.push_back({"equalise", equalise, Section::Training,
                     "counts of grey levels are sums at places that others share"});
    cases.push_back({"haar", haar, Section::Training,
                     "its levels wait for one another, and the smallest are launches alone"});
}

}  // namespace firn::bench
