// Mean and variance of the pixels around each pixel, by sums over rectangles.
#include <firn/firn.h>

#include <bit>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kAreaSide = 2048, kAreaRadius = 8;
constexpr int64_t kAreaPixels = int64_t(kAreaSide) * kAreaSide;

/// The mean and variance of grey values in the square of that radius around each pixel, as far as
/// it is in the picture: F. Crow, "Summed-Area Tables for Texture Mapping", 1984. The sums are
/// integers that wrap: their differences are right as long as the sums over squares fit.
std::pair<Tensor, Tensor> mean_and_variance(Tensor picture, Tensor radius) {
    Size h = picture.size(0), w = picture.size(1);
    auto [i, j] = indices<2>({h, w});
    Tensor top = max(i - radius, 0), low = min(i + radius + 1, h);
    Tensor left = max(j - radius, 0), right = min(j + radius + 1, w);
    auto sum_around = [&](const Tensor& x) {
        Tensor table = cumsum(cumsum(x, {.axis = 0}), {.axis = 1});
        table = pad(table, {.before = {1, 1}});
        return table(low, right) - table(top, right) - table(low, left) + table(top, left);
    };
    Tensor count = ((low - top) * (right - left)).as(f32);
    Tensor mean = sum_around(picture).as(f32) / count;
    Tensor variance = sum_around(picture * picture).as(f32) / count - square(mean);
    return {mean, variance};
}

std::vector<std::vector<float>> host_mean_and_variance(const std::vector<int>& picture) {
    constexpr int kWide = kAreaSide + 1;
    std::vector<int64_t> sums(size_t(kWide) * kWide), squares(sums);
    const auto at = [](int i, int j) { return size_t(i) * kWide + size_t(j); };
    for (int i = 0; i < kAreaSide; ++i)
        for (int j = 0; j < kAreaSide; ++j) {
            const int64_t x = picture[size_t(i) * kAreaSide + size_t(j)];
            const auto add = [&](std::vector<int64_t>& table, int64_t value) {
                table[at(i + 1, j + 1)] =
                    value + table[at(i, j + 1)] + table[at(i + 1, j)] - table[at(i, j)];
            };
            add(sums, x);
            add(squares, x * x);
        }
    std::vector<float> means, variances;
    for (int i = 0; i < kAreaSide; ++i)
        for (int j = 0; j < kAreaSide; ++j) {
            const int top = std::max(i - kAreaRadius, 0), left = std::max(j - kAreaRadius, 0),
                      low = std::min(i + kAreaRadius + 1, kAreaSide),
                      right = std::min(j + kAreaRadius + 1, kAreaSide);
            const auto mean_of = [&](const std::vector<int64_t>& table) {
                return double(table[at(low, right)] - table[at(top, right)] - table[at(low, left)] +
                              table[at(top, left)]) /
                       ((low - top) * (right - left));
            };
            const double mean = mean_of(sums);
            means.push_back(float(mean));
            variances.push_back(float(mean_of(squares) - mean * mean));
        }
    return {means, variances};
}

constexpr const char* kSumRows = R"(
void main() {
    int row = int(gl_GlobalInvocationID.x) * 2048, sum = 0, square = 0;
    for (int j = 0; j < 2048; ++j) {
        int x = x_at(row + j);
        sum += x;
        square += x * x;
        sums[row + j] = sum;
        squares[row + j] = square;
    }
}
)";
constexpr const char* kSumColumns = R"(
void main() {
    int column = int(gl_GlobalInvocationID.x), sum = 0, square = 0;
    for (int i = 0; i < 2048; ++i) {
        sum += sums[i * 2048 + column];
        square += squares[i * 2048 + column];
        sums[i * 2048 + column] = sum;
        squares[i * 2048 + column] = square;
    }
}
)";
constexpr const char* kSumAround = R"(
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x);
    int top = max(i - 8, 0) - 1, low = min(i + 8, 2047);
    int left = max(j - 8, 0) - 1, right = min(j + 8, 2047);
    int a = low * 2048 + right, b = top * 2048 + right;
    int c = low * 2048 + left, d = top * 2048 + left;
    int sum = sums_at(a), square = squares_at(a);
    if (top >= 0) sum -= sums_at(b), square -= squares_at(b);
    if (left >= 0) sum -= sums_at(c), square -= squares_at(c);
    if (top >= 0 && left >= 0) sum += sums_at(d), square += squares_at(d);
    float count = float((low - top) * (right - left)), average = float(sum) / count;
    mean[i * 2048 + j] = average;
    variance[i * 2048 + j] = float(square) / count - average * average;
}
)";

HandProgram plain_summed_area() {
    constexpr int kIn = 0, kMean = 1, kVariance = 2, kSums = 3, kSquares = 4;
    const HandBinding sums{"sums", As::Ints, kSums, true},
        squares{"squares", As::Ints, kSquares, true};
    return {{{"sum_rows",
              kSumRows,
              {64, 1, 1},
              {kAreaSide / 64, 1, 1},
              {{"x", As::Ints, kIn}, sums, squares},
              {}},
             {"sum_columns", kSumColumns, {64, 1, 1}, {kAreaSide / 64, 1, 1}, {sums, squares}, {}},
             {"sum_around",
              kSumAround,
              {64, 4, 1},
              {kAreaSide / 64, kAreaSide / 4, 1},
              {{"sums", As::Ints, kSums},
               {"squares", As::Ints, kSquares},
               {"mean", As::Floats, kMean, true},
               {"variance", As::Floats, kVariance, true}},
              {}}},
            {kAreaPixels, kAreaPixels},
            {}};
}

// Without a table: eight lanes beside one another go down ROWS rows of C columns each, and keep the
// sum of 17 pixels of each column, to which a row comes and from which one goes. Along a row, the
// sum of 17 columns goes on in the same way; those of the next lanes come by shuffles, and
// incomplete sums at a tile's borders are not stored. Values less 128 keep all sums of squares
// below 2^24, where floats are exact. 12 columns a lane take as long, 24 or 32 take 1.2 to 1.5
// times; lanes that sum up the 16 columns beside their own 32 or 64, without shuffles, 1.6 or 1.9
// times.
constexpr const char* kBestSummedArea = R"(
vec4 pixels(int at, float use) { return use * (vec4(floatBitsToInt(x_at(at))) - 128.0); }
void main() {
    int lane = int(gl_LocalInvocationID.x), tile = int(gl_WorkGroupID.x);
    int last = int(gl_NumWorkGroups.x) - 1, start = min(tile * (8 * C - 16), 2048 - 8 * C);
    int from = tile == 0 ? 0 : start + 8, to = tile == last ? 2048 : start + 8 * C - 8;
    int left = start + lane * C, begin = int(gl_WorkGroupID.y) * ROWS, end = begin + ROWS;
    float sums[C], squares[C], across[C];
    [[unroll]] for (int k = 0; k < C; ++k) {
        int j = left + k;
        sums[k] = squares[k] = 0.0;
        across[k] = 1.0 / float(min(j + 8, 2047) - max(j - 8, 0) + 1);
    }
    for (int y = begin - 8; y < end + 8; ++y) {
        int old = y - 17, at = clamp(y, 0, 2047) * 512 + left / 4;
        int old_at = max(old, 0) * 512 + left / 4;
        float use = y >= 0 && y < 2048 ? 1.0 : 0.0, use_old = old >= max(begin - 8, 0) ? 1.0 : 0.0;
        [[unroll]] for (int q = 0; q < C; q += 4) {
            vec4 come = pixels(at + q / 4, use), go = pixels(old_at + q / 4, use_old);
            vec4 more = come - go, twice = come + go;
            [[unroll]] for (int k = 0; k < 4; ++k) {
                sums[q + k] += more[k];
                squares[q + k] += more[k] * twice[k];
            }
        }
        int row = y - 8;
        if (row >= begin) {
            float around[C + 16], around2[C + 16];
            [[unroll]] for (int k = 0; k < C; ++k)
                around[k + 8] = sums[k], around2[k + 8] = squares[k];
            [[unroll]] for (int k = 0; k < 8; ++k) {
                float a = eight_shuffle(sums[C - 8 + k], max(lane - 1, 0));
                float b = eight_shuffle(squares[C - 8 + k], max(lane - 1, 0));
                float c = eight_shuffle(sums[k], min(lane + 1, 7));
                float d = eight_shuffle(squares[k], min(lane + 1, 7));
                around[k] = lane > 0 ? a : 0.0, around2[k] = lane > 0 ? b : 0.0;
                around[C + 8 + k] = lane < 7 ? c : 0.0, around2[C + 8 + k] = lane < 7 ? d : 0.0;
            }
            float down = 1.0 / float(min(row + 8, 2047) - max(row - 8, 0) + 1);
            float sum = 0.0, square = 0.0;
            [[unroll]] for (int k = 0; k < 16; ++k) sum += around[k], square += around2[k];
            [[unroll]] for (int q = 0; q < C; q += 4) {
                vec4 m, s;
                [[unroll]] for (int k = 0; k < 4; ++k) {
                    m[k] = sum += around[q + k + 16];
                    s[k] = square += around2[q + k + 16];
                    sum -= around[q + k];
                    square -= around2[q + k];
                }
                vec4 scale = down * vec4(across[q], across[q + 1], across[q + 2], across[q + 3]);
                m *= scale;
                int column = left + q, own = row * 512 + column / 4;
                if (column >= from && column < to) {
                    mean[own] = m + 128.0;
                    variance[own] = s * scale - m * m;
                }
            }
        }
    }
}
)";

HandProgram best_summed_area() {
    constexpr int kColumns = 16, kRows = 256, kInner = 8 * kColumns - 16;
    return {
        {{"summed_area",
          kBestSummedArea,
          {8, 1, 1},
          {(kAreaSide - 16 + kInner - 1) / kInner, kAreaSide / kRows, 1},
          {{"x", As::Texels4, 0}, {"mean", As::Vec4s, 1, true}, {"variance", As::Vec4s, 2, true}},
          {{"C", kColumns}, {"ROWS", kRows}}}},
        {},
        {}};
}

Contest summed_area() {
    auto f = compile(mean_and_variance, {i32("h", "w"), i32()});
    const std::vector<float> hill = hills(kAreaSide, kAreaSide, 7).values,
                             noise = numbers(kAreaPixels, -40, 40);
    std::vector<int> picture;
    std::vector<float> bits;
    for (size_t k = 0; k < hill.size(); ++k) {
        picture.push_back(std::clamp(int(128 + 80 * hill[k] + noise[k]), 0, 255));
        bits.push_back(std::bit_cast<float>(picture[k]));
    }
    // The fewest operations known, without a table. Per pixel: a difference and two sums for the
    // values that enter and leave a column, a product and a sum for the squares; two sums along the
    // row for either; a product for the mean, and three operations for the variance.
    return {.least = {4.0 * kAreaPixels, 8.0 * kAreaPixels, 13.0 * kAreaPixels},
            .arguments = {bits},
            .results = {kAreaPixels, kAreaPixels},
            .firn =
                [f, x = tensor(picture, {kAreaSide, kAreaSide})] {
                    auto [mean, variance] = f(x, kAreaRadius);
                    return std::vector<Tensor>{mean, variance};
                },
            .best = best_summed_area(),
            .plain = plain_summed_area(),
            .tolerance = 1e-4,
            .expected = [picture] { return host_mean_and_variance(picture); }};
}

constexpr const char* kSummedAreaFar =
    "sums along rows and columns are one or two operations for each element read";

}  // namespace

void add_summed_area(std::vector<Case>& cases) {
    cases.push_back({"summed_area", summed_area, Section::Training, kSummedAreaFar});
}

}  // namespace firn::bench
