// Histograms of oriented gradients: the features of a detector of pedestrians.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kHogRows = 960, kHogColumns = 1280, kHogCell = 8, kHogBins = 9;
constexpr int kHogCellRows = kHogRows / kHogCell, kHogCellColumns = kHogColumns / kHogCell;
constexpr int64_t kHogPixels = int64_t(kHogRows) * kHogColumns;
constexpr int64_t kHogBlocks = int64_t(kHogCellRows - 1) * (kHogCellColumns - 1);
constexpr int64_t kHogResults = kHogBlocks * 4 * kHogBins;
// The constant that keeps flat blocks from dividing by 0, and the limit for strong edges.
constexpr float kHogEpsilon = 0.01f, kHogMost = 0.2f, kHogPi = 3.14159265f;

/// N. Dalal, B. Triggs, "Histograms of Oriented Gradients for Human Detection", 2005: every pixel
/// votes with its gradient's length for the two nearest of 9 directions in the four nearest cells
/// of 8 by 8 pixels; blocks of 2 by 2 cells are scaled to length 1, cut, and scaled again.
Tensor hog(Tensor picture) {
    Size rows = picture.size(0) / kHogCell, columns = picture.size(1) / kHogCell;
    auto [i, j] = indices<2>(picture.shape());
    Tensor across = picture(i, j + 1) - picture(i, j - 1);
    Tensor down = picture(i + 1, j) - picture(i - 1, j);
    Tensor magnitude = sqrt(across * across + down * down);
    Tensor angle = atan2(down, across) % kHogPi;

    // Its place between centres of cells and of bins.
    Tensor y = (i.as(f32) + 0.5f) / float(kHogCell) - 0.5f;
    Tensor x = (j.as(f32) + 0.5f) / float(kHogCell) - 0.5f;
    Tensor bin = angle * (kHogBins / kHogPi) - 0.5f;
    Tensor first_y = floor(y), first_x = floor(x), first_bin = floor(bin);
    Tensor cells = zeros({rows, columns, kHogBins});
    for (int dy : {0, 1})
        for (int dx : {0, 1})
            for (int db : {0, 1}) {
                Tensor weight = (1.0f - abs(y - first_y - float(dy))) *
                                (1.0f - abs(x - first_x - float(dx))) *
                                (1.0f - abs(bin - first_bin - float(db)));
                scatter_add(cells(first_y.as(i32) + dy, first_x.as(i32) + dx,
                                  remainder(first_bin.as(i32) + db, kHogBins)),
                            weight * magnitude);
            }

    Tensor upper = cells(range(0, rows - 1)), lower = cells(range(1, rows));
    auto left = [&](const Tensor& row) { return row(all, range(0, columns - 1)); };
    auto right = [&](const Tensor& row) { return row(all, range(1, columns)); };
    Tensor blocks = concat({left(upper), right(upper), left(lower), right(lower)}, {.axis = -1});
    auto scaled = [](const Tensor& v) {
        Tensor energy = sum(v * v, {.axis = -1, .keep_dims = true});
        return v / sqrt(energy + kHogEpsilon * kHogEpsilon);
    };
    return scaled(min(scaled(blocks), kHogMost));
}
Tensor hog_kernel(Tensor picture) {
    Size h = picture.size(0), w = picture.size(1), rows = floor_div(h, kHogCell),
         columns = floor_div(w, kHogCell);
    Tensor magnitude = zeros({h, w}), bin = zeros({h, w});
    kernel({h, w}, [&](Tensor i, Tensor j) {
        Tensor across = picture(i, j + 1) - picture(i, j - 1);
        Tensor down = picture(i + 1, j) - picture(i - 1, j);
        magnitude(i, j) = sqrt(across * across + down * down);
        Tensor angle = atan2(down, across);
        angle = select(angle < 0.0f, angle + kHogPi, angle);
        bin(i, j) = angle * (kHogBins / kHogPi) - 0.5f;
    });
    Tensor cells = zeros({rows, columns, kHogBins});
    kernel({rows, columns}, [&](Tensor row, Tensor column) {
        Local votes = local(f32, kHogBins);
        for (Tensor b : loop(kHogBins)) votes(b) = 0.0f;
        for (Tensor dy : loop(2 * kHogCell))
            for (Tensor dx : loop(2 * kHogCell)) {
                Tensor i = row * kHogCell + dy - kHogCell / 2;
                Tensor j = column * kHogCell + dx - kHogCell / 2;
                if_((i >= 0) & (i < h) & (j >= 0) & (j < w), [&] {
                    Tensor weight_y = 1.0f - abs(dy.as(f32) - 7.5f) / float(kHogCell);
                    Tensor weight_x = 1.0f - abs(dx.as(f32) - 7.5f) / float(kHogCell);
                    Tensor vote = magnitude(i, j) * weight_y * weight_x;
                    Tensor first = floor(bin(i, j)), part = bin(i, j) - first;
                    Tensor low = (first.as(i32) + kHogBins) % kHogBins;
                    Tensor high = (first.as(i32) + 1) % kHogBins;
                    votes(low) = votes(low) + vote * (1.0f - part);
                    votes(high) = votes(high) + vote * part;
                });
            }
        for (Tensor b : loop(kHogBins)) cells(row, column, b) = votes(b);
    });
    Tensor blocks = zeros({rows - 1, columns - 1, 4 * kHogBins});
    kernel({rows - 1, columns - 1}, [&](Tensor row, Tensor column) {
        Local block = local(f32, 4 * kHogBins);
        Tensor energy = kHogEpsilon * kHogEpsilon;
        for (int part = 0; part < 4; ++part)
            for (Tensor b : loop(kHogBins)) {
                Tensor v = cells(row + part / 2, column + part % 2, b);
                block(part * kHogBins + b) = v;
                energy += v * v;
            }
        Tensor cut_energy = kHogEpsilon * kHogEpsilon;
        for (Tensor k : loop(4 * kHogBins)) {
            Tensor v = min(block(k) / sqrt(energy), kHogMost);
            block(k) = v;
            cut_energy += v * v;
        }
        for (Tensor k : loop(4 * kHogBins)) blocks(row, column, k) = block(k) / sqrt(cut_energy);
    });
    return blocks;
}

std::vector<float> host_hog(const Plane& picture) {
    std::vector<double> cells(size_t(kHogCellRows) * kHogCellColumns * kHogBins);
    const auto cell = [&](int row, int column) {
        return &cells[(size_t(row) * kHogCellColumns + size_t(column)) * kHogBins];
    };
    for (int i = 0; i < kHogRows; ++i)
        for (int j = 0; j < kHogColumns; ++j) {
            const double across =
                double(picture.clamped(i, j + 1)) - double(picture.clamped(i, j - 1));
            const double down =
                double(picture.clamped(i + 1, j)) - double(picture.clamped(i - 1, j));
            const double magnitude = std::hypot(across, down);
            double angle = std::atan2(down, across);
            if (angle < 0) angle += M_PI;
            const double bin = angle * kHogBins / M_PI - 0.5, y = (i + 0.5) / kHogCell - 0.5,
                         x = (j + 0.5) / kHogCell - 0.5;
            const int first_bin = int(std::floor(bin)), first_y = int(std::floor(y)),
                      first_x = int(std::floor(x));
            for (int row : {first_y, first_y + 1})
                for (int column : {first_x, first_x + 1}) {
                    if (row < 0 || row >= kHogCellRows || column < 0 || column >= kHogCellColumns)
                        continue;
                    const double vote =
                        magnitude * (1 - std::abs(y - row)) * (1 - std::abs(x - column));
                    double* votes = cell(row, column);
                    votes[(first_bin + kHogBins) % kHogBins] += vote * (1 - (bin - first_bin));
                    votes[(first_bin + 1) % kHogBins] += vote * (bin - first_bin);
                }
        }
    std::vector<float> out;
    out.reserve(size_t(kHogResults));
    for (int row = 0; row + 1 < kHogCellRows; ++row)
        for (int column = 0; column + 1 < kHogCellColumns; ++column) {
            std::array<double, 4 * kHogBins> block{};
            for (int part = 0; part < 4; ++part)
                std::copy_n(cell(row + part / 2, column + part % 2), kHogBins,
                            &block[size_t(part) * kHogBins]);
            for (double most : {double(kHogMost), 1.0}) {
                double energy = double(kHogEpsilon) * double(kHogEpsilon);
                for (double v : block) energy += v * v;
                for (double& v : block) v = std::min(v / std::sqrt(energy), most);
            }
            for (double v : block) out.push_back(float(v));
        }
    return out;
}

constexpr const char* kPlainHogGradients = R"(
float at(int y, int x) {
    return picture_at(clamp(y, 0, ROWS - 1) * COLUMNS + clamp(x, 0, COLUMNS - 1));
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float across = at(y, x + 1) - at(y, x - 1), down = at(y + 1, x) - at(y - 1, x);
    magnitude[y * COLUMNS + x] = sqrt(across * across + down * down);
    float angle = atan(down, across);
    if (angle < 0.0) angle += 3.14159265;
    bin[y * COLUMNS + x] = angle * (9.0 / 3.14159265) - 0.5;
}
)";

constexpr const char* kPlainHogCells = R"(
void main() {
    int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    float votes[9];
    for (int b = 0; b < 9; ++b) votes[b] = 0.0;
    for (int dy = 0; dy < 16; ++dy)
        for (int dx = 0; dx < 16; ++dx) {
            int y = row * 8 + dy - 4, x = column * 8 + dx - 4;
            if (y < 0 || y >= ROWS || x < 0 || x >= COLUMNS) continue;
            float weight_y = 1.0 - abs(float(dy) - 7.5) / 8.0;
            float weight_x = 1.0 - abs(float(dx) - 7.5) / 8.0;
            float vote = magnitude_at(y * COLUMNS + x) * weight_y * weight_x;
            float place = bin_at(y * COLUMNS + x), first = floor(place), part = place - first;
            votes[(int(first) + 9) % 9] += vote * (1.0 - part);
            votes[(int(first) + 1) % 9] += vote * part;
        }
    for (int b = 0; b < 9; ++b) cells[(row * (COLUMNS / 8) + column) * 9 + b] = votes[b];
}
)";

constexpr const char* kPlainHogBlocks = R"(
void main() {
    int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    if (column >= COLUMNS / 8 - 1) return;
    float block[36];
    float energy = 0.01 * 0.01, cut_energy = 0.01 * 0.01;
    for (int part = 0; part < 4; ++part)
        for (int b = 0; b < 9; ++b) {
            int cell = (row + part / 2) * (COLUMNS / 8) + column + part % 2;
            float v = cells_at(cell * 9 + b);
            block[part * 9 + b] = v;
            energy += v * v;
        }
    for (int k = 0; k < 36; ++k) {
        float v = min(block[k] / sqrt(energy), 0.2);
        block[k] = v;
        cut_energy += v * v;
    }
    int to = (row * (COLUMNS / 8 - 1) + column) * 36;
    for (int k = 0; k < 36; ++k) blocks[to + k] = block[k] / sqrt(cut_energy);
}
)";

HandProgram plain_hog() {
    const std::vector<std::pair<std::string, int>> sizes{{"ROWS", kHogRows},
                                                         {"COLUMNS", kHogColumns}};
    HandProgram out;  // 2 and 3 hold the gradients, 4 the cells
    out.kernels = {
        {"gradients",
         kPlainHogGradients,
         {64, 4, 1},
         {kHogColumns / 64, kHogRows / 4, 1},
         {{"picture", As::Floats, 0},
          {"magnitude", As::Floats, 2, true},
          {"bin", As::Floats, 3, true}},
         sizes},
        {"cells",
         kPlainHogCells,
         {32, 1, 1},
         {kHogCellColumns / 32, kHogCellRows, 1},
         {{"magnitude", As::Floats, 2}, {"bin", As::Floats, 3}, {"cells", As::Floats, 4, true}},
         sizes},
        {"blocks",
         kPlainHogBlocks,
         {32, 1, 1},
         {kHogCellColumns / 32, kHogCellRows - 1, 1},
         {{"cells", As::Floats, 4}, {"blocks", As::Floats, 1, true}},
         sizes}};
    out.temporaries = {kHogPixels, kHogPixels, int64_t(kHogCellRows) * kHogCellColumns * kHogBins};
    return out;
}

// The 8 by 8 pixels between four cells' centres vote for these four and no others: they are a
// lane's, for all bins at once, without an array that is read by a place of the data. Weights fall
// by equal steps, so sums of running sums are the weighted ones. A lane goes down its column; its
// right neighbour has the other half of a cell. A cell is stored as 9 bins and their energy.
constexpr const char* kBestHogCells = R"(
int lane, column, edge;
// The tile's pixels of a row, and one on either side, which is a neighbour's but at the ends.
void load(int y, out float row[10]) {
    y = clamp(y, 0, ROWS - 1);
    int at = y * (COLUMNS / 4) + 2 * column;
    vec4 a = fours_at(max(at - 1, 0)), b = fours_at(at);
    if (column == 0) a = vec4(b.x);
    if (column * 8 == COLUMNS) b = vec4(a.w);
    float outer = picture_at(y * COLUMNS + edge);
    float before = eight_shuffle(b.w, max(lane - 1, 0));
    float after = eight_shuffle(a.x, min(lane + 1, 7));
    row[0] = lane == 0 ? outer : before, row[9] = lane == 7 ? outer : after;
    row[1] = a.x, row[2] = a.y, row[3] = a.z, row[4] = a.w;
    row[5] = b.x, row[6] = b.y, row[7] = b.z, row[8] = b.w;
}
void main() {
    lane = int(gl_LocalInvocationID.x), column = int(gl_WorkGroupID.x) * 7 + lane;
    edge = clamp(column * 8 + (lane == 0 ? -5 : 4), 0, COLUMNS - 1);
    int begin = int(gl_WorkGroupID.y) * EACH;
    float low_inside = column == 0 ? 0.0 : 1.0, high_inside = column * 8 >= COLUMNS ? 0.0 : 1.0;
    float kept[18], up[10], own[10];
    [[unroll]] for (int k = 0; k < 18; ++k) kept[k] = 0.0;
    load(begin * 8 - 5, up);
    load(begin * 8 - 4, own);
    for (int tile = begin; tile <= begin + EACH; ++tile) {
        float once[18], twice[18];
        [[unroll]] for (int k = 0; k < 18; ++k) once[k] = twice[k] = 0.0;
        for (int y = tile * 8 - 4; y < tile * 8 + 4; ++y) {
            float inside = y >= 0 && y < ROWS ? 1.0 : 0.0;
            float down[10], sums[9], sums_of_sums[9], weight[8], from_first[8];
            load(y + 1, down);
            [[unroll]] for (int b = 0; b < 9; ++b) sums[b] = sums_of_sums[b] = 0.0;
            [[unroll]] for (int k = 0; k < 8; ++k) {
                float dx = own[k + 2] - own[k], dy = down[k + 1] - up[k + 1];
                float m = sqrt(dx * dx + dy * dy) * (k < 4 ? low_inside : high_inside) * inside;
                float ax = abs(dx), ay = abs(dy), more = max(ax, ay);
                float q = min(ax, ay) / max(more, 1e-30), z = q * q;
                float t = 0.00782548294;
                t = t * z - 0.0368986292, t = t * z + 0.0837415565, t = t * z - 0.134804056;
                t = t * z + 0.198798722, t = t * z - 0.333263745, t = t * z + 0.999999328;
                t *= q * (9.0 / 3.14159265);
                t = ay > ax ? 4.5 - t : t;
                t = dx * dy < 0.0 ? 9.0 - t : t;
                weight[k] = m, from_first[k] = m * (t - 0.5);
            }
            [[unroll]] for (int b = 0; b < 9; ++b)
                [[unroll]] for (int k = 0; k < 8; ++k) {
                    float m = weight[k], away = abs(from_first[k] - float(b) * m);
                    if (b == 0) away = min(away, abs(from_first[k] - 9.0 * m));
                    if (b == 8) away = min(away, abs(from_first[k] + m));
                    sums[b] += max(m - away, 0.0);
                    sums_of_sums[b] += sums[b];
                }
            [[unroll]] for (int b = 0; b < 9; ++b) {
                float left = 0.125 * sums_of_sums[b] - 0.0625 * sums[b];
                once[b] += left, once[b + 9] += sums[b] - left;
                twice[b] += once[b], twice[b + 9] += once[b + 9];
            }
            [[unroll]] for (int k = 0; k < 10; ++k) up[k] = own[k], own[k] = down[k];
        }
        float cell[9], energy = 0.0;
        [[unroll]] for (int b = 0; b < 9; ++b) {
            float left = 0.125 * twice[b] - 0.0625 * once[b];
            float right = 0.125 * twice[b + 9] - 0.0625 * once[b + 9];
            cell[b] = kept[b + 9] + right + eight_shuffle(kept[b] + left, min(lane + 1, 7));
            kept[b] = once[b] - left, kept[b + 9] = once[b + 9] - right;
            energy += cell[b] * cell[b];
        }
        if (tile > begin && lane < 7 && column < COLUMNS / 8) {
            int to = ((tile - 1) * (COLUMNS / 8) + column) * 3;
            cells[to] = vec4(cell[0], cell[1], cell[2], cell[3]);
            cells[to + 1] = vec4(cell[4], cell[5], cell[6], cell[7]);
            cells[to + 2] = vec4(cell[8], energy, 0.0, 0.0);
        }
    }
}
)";

constexpr const char* kBestHogBlocks = R"(
void main() {
    int column = int(gl_GlobalInvocationID.x), begin = int(gl_WorkGroupID.y) * EACH;
    if (column >= COLUMNS / 8 - 1) return;
    vec4 upper[6], lower[6];
    [[unroll]] for (int k = 0; k < 6; ++k)
        upper[k] = cells_at((begin * (COLUMNS / 8) + column) * 3 + k);
    for (int row = begin; row < begin + EACH; ++row) {
        [[unroll]] for (int k = 0; k < 6; ++k)
            lower[k] = cells_at(((row + 1) * (COLUMNS / 8) + column) * 3 + k);
        float block[36];
        [[unroll]] for (int k = 0; k < 18; ++k) {
            int at = k < 9 ? k : k + 3;
            block[k] = upper[at >> 2][at & 3], block[18 + k] = lower[at >> 2][at & 3];
        }
        float energy = upper[2].y + upper[5].y + lower[2].y + lower[5].y + 0.01 * 0.01;
        float scale = 1.0 / sqrt(energy), cut_energy = 0.01 * 0.01;
        [[unroll]] for (int k = 0; k < 36; ++k) {
            block[k] = min(block[k] * scale, 0.2);
            cut_energy += block[k] * block[k];
        }
        scale = 1.0 / sqrt(cut_energy);
        int to = (row * (COLUMNS / 8 - 1) + column) * 9;
        [[unroll]] for (int k = 0; k < 9; ++k)
            blocks[to + k] = scale * vec4(block[4 * k], block[4 * k + 1], block[4 * k + 2],
                                          block[4 * k + 3]);
        [[unroll]] for (int k = 0; k < 6; ++k) upper[k] = lower[k];
    }
}
)";

HandProgram best_hog() {
    constexpr int kCellsEach = 15, kBlocksEach = 7;
    HandProgram out;  // 2 holds the cells
    out.kernels = {
        {"cells",
         kBestHogCells,
         {8, 1, 1},
         {(kHogCellColumns + 6) / 7, kHogCellRows / kCellsEach, 1},
         {{"picture", As::Texels, 0}, {"fours", As::Texels4, 0}, {"cells", As::Vec4s, 2, true}},
         {{"ROWS", kHogRows}, {"COLUMNS", kHogColumns}, {"EACH", kCellsEach}}},
        {"blocks",
         kBestHogBlocks,
         {32, 1, 1},
         {(kHogCellColumns + 31) / 32, (kHogCellRows - 1) / kBlocksEach, 1},
         {{"cells", As::Texels4, 2}, {"blocks", As::Vec4s, 1, true}},
         {{"COLUMNS", kHogColumns}, {"EACH", kBlocksEach}}}};
    out.temporaries = {int64_t(kHogCellRows) * kHogCellColumns * 12};
    return out;
}

Contest hog_contest(Tensor (*program)(Tensor)) {
    auto f = compile(program, {f32("h", "w")});
    Plane picture = hills(kHogRows, kHogColumns, 31);
    const std::vector<float> noise = numbers(kHogPixels, -0.1f, 0.1f);
    for (size_t k = 0; k < noise.size(); ++k)
        picture.values[k] = 0.5f + 0.4f * picture.values[k] + noise[k];
    // The fewest operations known. Per pixel 2 for the gradient, 4 for its length, 17 for its
    // direction, 4 for its two shares, 4 additions along the rows, and for these of two bins in two
    // cells along the columns an eighth of 2 * 9 * 3; per number of the results two squares, two
    // scalings and a bound, 7 in all.
    return {.least = {4.0 * kHogPixels, 4.0 * double(kHogResults),
                      38.0 * kHogPixels + 7.0 * double(kHogResults)},
            .arguments = {picture.values},
            .results = {kHogResults},
            .firn = [f, x = tensor(picture.values,
                                   {picture.h, picture.w})] { return std::vector<Tensor>{f(x)}; },
            .best = best_hog(),
            .plain = plain_hog(),
            .tolerance = 1e-4,  // devices' arctangents are good to 2e-5
            .expected = [=] { return std::vector<std::vector<float>>{host_hog(picture)}; }};
}

constexpr const char* kHogFar = "every pixel needs an angle, and which bins it votes for is data";

}  // namespace

void add_hog(std::vector<Case>& cases) {
    cases.push_back({"hog", [] { return hog_contest(hog); }, Section::Holdout, kHogFar});
    cases.push_back(
        {"hog_kernel", [] { return hog_contest(hog_kernel); }, Section::Holdout, kHogFar});
}

}  // namespace firn::bench
