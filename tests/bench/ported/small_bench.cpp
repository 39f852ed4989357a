// Small work in many steps: factorisations as loops, a Poisson solver, sums along a short axis.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

using Floats = std::vector<float>;

constexpr int kMatrix = 64;

/// Random, and well conditioned.
Floats matrix() {
    Floats out = numbers(kMatrix * kMatrix, -1, 1);
    for (int k = 0; k < kMatrix; ++k) out[size_t(k * kMatrix + k)] += 8;
    return out;
}

/// Factorises by Gram and Schmidt, and returns the product, which must equal the matrix.
Tensor factorised(Tensor a) {
    Size m = a.size(0), n = a.size(1);
    auto [i, k] = indices<2>(a.shape());
    Tensor q = zeros(a.shape()), r = zeros({n, n}), rows = arange(m), columns = arange(n);
    for (Tensor j : loop(n)) {
        Tensor column = a(rows, j), unit = column / sqrt(sum(column * column));
        Tensor dots = sum(reshape(unit, {m, 1}) * a, {.axis = 0});
        r(j, columns) = select(columns >= j, dots, 0.0f);
        q(rows, j) = unit;
        a = select(k > j, a - reshape(unit, {m, 1}) * dots, a);
    }
    return matmul(q, r);
}

/// Inverts by Gauss and Jordan, without pivots.
Tensor inverted(Tensor a) {
    auto [i, j] = indices<2>(a.shape());
    Tensor out = select(i == j, 1.0f, 0.0f), all = arange(a.size(0));
    for (Tensor k : loop(a.size(0))) {
        Tensor row = a(k, all) / a(k, k), of_out = out(k, all) / a(k, k);
        Tensor factor = reshape(a(all, k), {a.size(0), 1});
        out = select(i == k, of_out(j), out - factor * of_out(j));
        a = select(i == k, row(j), a - factor * row(j));
    }
    return out;
}

Floats host_inverse(const Floats& of) {
    constexpr int n = kMatrix;
    std::vector<double> a(of.begin(), of.end()), out(of.size());
    for (int k = 0; k < n; ++k) out[size_t(k * n + k)] = 1;
    for (int k = 0; k < n; ++k) {
        const double pivot = a[size_t(k * n + k)];
        for (int j = 0; j < n; ++j) a[size_t(k * n + j)] /= pivot, out[size_t(k * n + j)] /= pivot;
        for (int i = 0; i < n; ++i) {
            const double factor = a[size_t(i * n + k)];
            if (i == k) continue;
            for (int j = 0; j < n; ++j) {
                a[size_t(i * n + j)] -= factor * a[size_t(k * n + j)];
                out[size_t(i * n + j)] -= factor * out[size_t(k * n + j)];
            }
        }
    }
    return Floats(out.begin(), out.end());
}

// An invocation has a column of the matrix and of the inverse. The rest of the pivot's column is
// not read again.
constexpr const char* kInverse = R"(
shared float a[64 * 128];
void main() {
    int j = int(gl_LocalInvocationID.x);
    for (int i = 0; i < 64; ++i)
        a[i * 128 + j] = j < 64 ? x[i * 64 + j] : i == j - 64 ? 1.0 : 0.0;
    barrier();
    for (int k = 0; k < 64; ++k) {
        if (j > k) {
            float row = a[k * 128 + j] / a[k * 128 + k];
            for (int i = 0; i < 64; ++i)
                a[i * 128 + j] = i == k ? row : a[i * 128 + j] - a[i * 128 + k] * row;
        }
        barrier();
    }
    if (j >= 64)
        for (int i = 0; i < 64; ++i) y[i * 64 + j - 64] = a[i * 128 + j];
}
)";

// A subgroup keeps 16 columns in registers, a lane every eighth row of them; the pivot's column,
// which is always the first of its subgroup, goes through shared memory. Columns move on by one in
// every iteration, and rows by eight in every eighth.
constexpr const char* kBestInverse = R"(
shared float pivots[2 * 8 * 64];
float u[8 * 16], next[8 * 16], factor[8];
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, part = int(gl_LocalInvocationID.x) >> 3;
    [[unroll]] for (int m = 0; m < 8; ++m) [[unroll]] for (int c = 0; c < 16; ++c) {
        int row = 8 * m + lane, column = 16 * part + c;
        u[m * 16 + c] = part < 4 ? x_at(row * 64 + (column & 63)) : row == column - 64 ? 1.0 : 0.0;
    }
    for (int eight = 0; eight < 8; ++eight) {
        for (int pivot = 0; pivot < 8; ++pivot) {
            int side = (pivot & 1) * 512, owner = side + (eight >> 1) * 64 + lane;
            [[unroll]] for (int m = 0; m < 8; ++m)
                pivots[side + part * 64 + 8 * m + lane] = u[m * 16];
            barrier();
            [[unroll]] for (int m = 0; m < 8; ++m) factor[m] = pivots[owner + 8 * m];
            float scale = 1.0 / eight_shuffle(factor[0], pivot);
            [[unroll]] for (int c = 0; c < 16; ++c) {
                float row = eight_shuffle(u[c], pivot) * scale;
                [[unroll]] for (int m = 0; m < 8; ++m)
                    next[m * 16 + ((c + 15) & 15)] = u[m * 16 + c] - factor[m] * row;
                if (lane == pivot) next[(c + 15) & 15] = row;
            }
            [[unroll]] for (int k = 0; k < 128; ++k) u[k] = next[k];
        }
        [[unroll]] for (int k = 0; k < 128; ++k) next[k] = u[(k + 16) & 127];
        [[unroll]] for (int k = 0; k < 128; ++k) u[k] = next[k];
    }
    if (part >= 4) [[unroll]] for (int m = 0; m < 8; ++m) [[unroll]] for (int c = 0; c < 4; ++c) {
        int k = m * 16 + 4 * c;
        y[(8 * m + lane) * 16 + (part - 4) * 4 + c] = vec4(u[k], u[k + 1], u[k + 2], u[k + 3]);
    }
}
)";

// An invocation has a column; q takes the place of a.
constexpr const char* kFactorise = R"(
shared float a[64 * 64], r[64 * 64];
void main() {
    int k = int(gl_LocalInvocationID.x);
    for (int i = 0; i < 64; ++i) a[i * 64 + k] = x[i * 64 + k];
    barrier();
    for (int j = 0; j < 64; ++j) {
        float squares = 0.0, along = 0.0;
        for (int i = 0; i < 64; ++i) squares += a[i * 64 + j] * a[i * 64 + j];
        float size = sqrt(squares);
        barrier();
        if (k == j)
            for (int i = 0; i < 64; ++i) a[i * 64 + k] /= size;
        barrier();
        for (int i = 0; i < 64; ++i) along += a[i * 64 + j] * a[i * 64 + k];
        r[j * 64 + k] = k > j ? along : k == j ? size : 0.0;
        if (k > j)
            for (int i = 0; i < 64; ++i) a[i * 64 + k] -= a[i * 64 + j] * along;
        barrier();
    }
    for (int i = 0; i < 64; ++i) {
        float sum = 0.0;
        for (int j = 0; j < 64; ++j) sum += a[i * 64 + j] * r[j * 64 + k];
        y[i * 64 + k] = sum;
    }
}
)";

// The same layout as for the inverse; an iteration adds its column of q times its row of r to the
// product.
constexpr const char* kBestFactorise = R"(
shared float firsts[2 * 4 * 64];
float a[8 * 16], old[8 * 16], q[8];
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, part = int(gl_LocalInvocationID.x) >> 3;
    float product[8 * 16];
    [[unroll]] for (int m = 0; m < 8; ++m) [[unroll]] for (int c = 0; c < 16; ++c) {
        a[m * 16 + c] = x_at((8 * m + lane) * 64 + 16 * part + c);
        product[m * 16 + c] = 0.0;
    }
    for (int j = 0; j < 64; ++j) {
        int side = (j & 1) * 256;
        float squares = 0.0;
        [[unroll]] for (int m = 0; m < 8; ++m) firsts[side + part * 64 + 8 * m + lane] = a[m * 16];
        barrier();
        [[unroll]] for (int m = 0; m < 8; ++m) {
            q[m] = firsts[side + (j >> 4) * 64 + 8 * m + lane];
            squares += q[m] * q[m];
        }
        float scale = inversesqrt(eight_sum(squares));
        [[unroll]] for (int m = 0; m < 8; ++m) q[m] *= scale;
        [[unroll]] for (int k = 0; k < 128; ++k) old[k] = a[k];
        [[unroll]] for (int k = 0; k < 128; ++k) a[k] = product[k];
        [[unroll]] for (int c = 0; c < 16; ++c) {
            int to = (c + 15) & 15;
            float along = 0.0;
            [[unroll]] for (int m = 0; m < 8; ++m) along += q[m] * old[m * 16 + c];
            along = eight_sum(along);
            float r = 16 * part + ((c + j) & 15) >= j ? along : 0.0;
            [[unroll]] for (int m = 0; m < 8; ++m) {
                product[m * 16 + to] = a[m * 16 + c] + q[m] * r;
                old[m * 16 + c] -= q[m] * along;
            }
        }
        [[unroll]] for (int m = 0; m < 8; ++m) [[unroll]] for (int c = 0; c < 16; ++c)
            a[m * 16 + ((c + 15) & 15)] = old[m * 16 + c];
    }
    [[unroll]] for (int m = 0; m < 8; ++m) [[unroll]] for (int c = 0; c < 16; c += 4) {
        int k = m * 16 + c;
        y[((8 * m + lane) * 64 + 16 * part + c) / 4] =
            vec4(product[k], product[k + 1], product[k + 2], product[k + 3]);
    }
}
)";

HandProgram small_group(const std::string& name, const char* body, uint32_t lanes, bool best) {
    return {
        {{name,
          body,
          {lanes, 1, 1},
          {1, 1, 1},
          {{"x", best ? As::Texels : As::Floats, 0}, {"y", best ? As::Vec4s : As::Floats, 1, true}},
          {}}},
        {},
        {}};
}

Contest of_matrix(Tensor (*f)(Tensor), bool gives_inverse) {
    const Floats a = matrix();
    constexpr double n = kMatrix;
    auto run = compile(f, {f32("m", "n")});
    return {
        .least = {4 * n * n, 4 * n * n, 2 * n * n * n},
        .arguments = {a},
        .results = {kMatrix * kMatrix},
        .firn = [run, x = tensor(a, {kMatrix, kMatrix})] { return std::vector<Tensor>{run(x)}; },
        .best = gives_inverse ? small_group("inverse_by_hand", kBestInverse, 64, true)
                              : small_group("qr_by_hand", kBestFactorise, 32, true),
        .plain = gives_inverse ? small_group("plain_inverse", kInverse, 128, false)
                               : small_group("plain_qr", kFactorise, 64, false),
        .tolerance = 1e-4,
        .expected =
            [a, gives_inverse] {
                return std::vector<Floats>{gives_inverse ? host_inverse(a) : a};
            }};
}

constexpr int kGrid = 128, kIterations = 256;

Tensor relaxed(Tensor source) {
    auto [i, j] = indices<2>(source.shape());
    Tensor u = zeros(source.shape());
    for (Tensor k : loop(kIterations))
        u = 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - source);
    return u;
}

constexpr const char* kZeros = R"(
void main() { y[gl_GlobalInvocationID.x] = 0.0; }
)";
constexpr const char* kRelax = R"(
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x), row = i * 128;
    int up = max(i - 1, 0) * 128, down = min(i + 1, 127) * 128;
    y[row + j] = 0.25 * (u[up + j] + u[down + j] + u[row + max(j - 1, 0)] +
                         u[row + min(j + 1, 127)] - source[row + j]);
}
)";

// The kernel is one group. A subgroup keeps eight rows in registers, a lane 16 columns of them; the
// first and the last row go through shared memory, and the columns beside a lane's through
// shuffles.
constexpr const char* kBestRelax = R"(
shared float edges[2 * 32 * 128];
float u[8 * 16], pull[8 * 16], above[16], below[16], old[16];
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7, strip = int(gl_LocalInvocationID.x) >> 3;
    int left_lane = max(lane - 1, 0), right_lane = min(lane + 1, 7);
    int first = max(2 * strip - 1, 0) * 128 + lane, last = min(2 * strip + 2, 31) * 128 + lane;
    [[unroll]] for (int r = 0; r < 8; ++r) [[unroll]] for (int c = 0; c < 16; ++c) {
        u[r * 16 + c] = 0.0;
        pull[r * 16 + c] = 0.25 * source_at((strip * 8 + r) * 128 + lane * 16 + c);
    }
    for (int turn = 0; turn < 256; ++turn) {
        int side = (turn & 1) * 4096, own = side + strip * 256 + lane;
        [[unroll]] for (int c = 0; c < 16; ++c) {
            edges[own + 8 * c] = u[c];
            edges[own + 128 + 8 * c] = u[112 + c];
        }
        barrier();
        [[unroll]] for (int c = 0; c < 16; ++c) {
            above[c] = edges[side + first + 8 * c];
            below[c] = edges[side + last + 8 * c];
        }
        [[unroll]] for (int r = 0; r < 8; ++r) {
            float left = eight_shuffle(u[r * 16 + 15], left_lane);
            float right = eight_shuffle(u[r * 16], right_lane);
            if (lane == 0) left = u[r * 16];
            if (lane == 7) right = u[r * 16 + 15];
            [[unroll]] for (int c = 0; c < 16; ++c) old[c] = u[r * 16 + c];
            [[unroll]] for (int c = 0; c < 16; ++c) {
                float before = c == 0 ? left : old[max(c - 1, 0)];
                float after = c == 15 ? right : old[min(c + 1, 15)];
                float under = r == 7 ? below[c] : u[min(r + 1, 7) * 16 + c];
                u[r * 16 + c] = 0.25 * (above[c] + under + before + after) - pull[r * 16 + c];
                above[c] = old[c];
            }
        }
    }
    [[unroll]] for (int r = 0; r < 8; ++r) [[unroll]] for (int c = 0; c < 16; c += 4) {
        int k = r * 16 + c;
        y[((strip * 8 + r) * 128 + lane * 16 + c) / 4] = vec4(u[k], u[k + 1], u[k + 2], u[k + 3]);
    }
}
)";

HandProgram relax_by_turns() {
    constexpr int kSource = 0, kOut = 1, kOther = 2;
    HandProgram out;
    out.temporaries = {kGrid * kGrid};
    out.kernels.push_back({"poisson_zeros",
                           kZeros,
                           {256, 1, 1},
                           {kGrid * kGrid / 256, 1, 1},
                           {{"y", As::Floats, kOut, true}},
                           {}});
    out.kernels.push_back({"poisson_turn",
                           kRelax,
                           {64, 4, 1},
                           {kGrid / 64, kGrid / 4, 1},
                           {{"source", As::Floats, kSource},
                            {"u", As::Floats, kOut},
                            {"y", As::Floats, kOther, true}},
                           {}});
    out.steps.push_back({0, {}});
    for (int k = 0; k < kIterations; ++k)
        out.steps.push_back({1, {kSource, k % 2 ? kOther : kOut, k % 2 ? kOut : kOther}});
    return out;
}

Contest poisson() {
    const Floats source = numbers(kGrid * kGrid, -1, 1);
    auto f = compile(relaxed, {f32("h", "w")});
    const auto host = [source] {
        Floats u(source.size()), next = u;
        const auto at = [&](int i, int j) {
            return u[size_t(std::clamp(i, 0, kGrid - 1) * kGrid + std::clamp(j, 0, kGrid - 1))];
        };
        for (int k = 0; k < kIterations; ++k, std::swap(u, next))
            for (int i = 0; i < kGrid; ++i)
                for (int j = 0; j < kGrid; ++j)
                    next[size_t(i * kGrid + j)] =
                        0.25f * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) -
                                 source[size_t(i * kGrid + j)]);
        return std::vector<Floats>{u};
    };
    constexpr double cells = kGrid * kGrid;
    return {.least = {4 * cells, 4 * cells, 5.0 * kIterations * cells},
            .arguments = {source},
            .results = {kGrid * kGrid},
            .firn = [f, b = tensor(source, {kGrid, kGrid})] { return std::vector<Tensor>{f(b)}; },
            .best = {{{"poisson",
                       kBestRelax,
                       {128, 1, 1},
                       {1, 1, 1},
                       {{"source", As::Texels, 0}, {"y", As::Vec4s, 1, true}},
                       {}}},
                     {},
                     {}},
            .plain = relax_by_turns(),
            .tolerance = 1e-4,
            .expected = host};
}

constexpr int kSums[] = {25, 61, 153};

// An invocation goes along one sum's elements, which are `STEP` apart.
constexpr const char* kScan = R"(
void main() {
    int lane = int(gl_GlobalInvocationID.x);
    if (lane >= LANES) return;
    int first = STEP == 1 ? lane * COUNT : lane;
    float sum = 0.0;
    for (int k = 0; k < COUNT; ++k) {
        sum += x[first + k * STEP];
        y[first + k * STEP] = sum;
    }
}
)";
// Lanes beyond the last do again what that one does.
constexpr const char* kBestScanOuter = R"(
void main() {
    int first = min(int(gl_GlobalInvocationID.x), LANES - 1);
    float sum = 0.0;
    [[unroll]] for (int k = 0; k < COUNT; ++k) {
        sum += x_at(first + k * STEP);
        y[first + k * STEP] = sum;
    }
}
)";
// Four rows of 153 are 153 vec4s, in which a row begins in a component of its own. One row is left
// over: its last element, which is no whole vec4, is stored alone.
constexpr const char* kBestScanInner = R"(
void main() {
    int lane = int(gl_GlobalInvocationID.x), own = lane * 153;
    int count = lane < 381 ? 153 : lane == 381 ? 38 : 0;
    float sum = 0.0;
    for (int k = 0; k < count; ++k) {
        vec4 v = x_at(own + k);
        [[unroll]] for (int l = 0; l < 4; ++l) v[l] = sum = v[l] + (k == 38 * l ? 0.0 : sum);
        y[own + k] = v;
    }
    if (lane == 381) last[233324] = sum + x_at(58331).x;
}
)";

Contest scan(int axis) {
    const int64_t count = int64_t(kSums[0]) * kSums[1] * kSums[2];
    const Floats x = numbers(count, -1, 1);
    auto f = compile([axis](Tensor values) { return cumsum(values, {.axis = axis}); },
                     {f32("a", "b", "c")});
    const auto host = [=] {
        const int64_t step = axis == 0 ? kSums[1] * kSums[2] : 1;
        std::vector<double> sums(x.begin(), x.end());
        for (int64_t k = 0; k < count; ++k)
            if (k / step % kSums[axis] > 0) sums[size_t(k)] += sums[size_t(k - step)];
        return std::vector<Floats>{Floats(sums.begin(), sums.end())};
    };
    const int lanes = int(count) / kSums[axis];
    HandProgram plain{{{"plain_scan",
                        kScan,
                        {64, 1, 1},
                        {(lanes + 63) / 64, 1, 1},
                        {{"x", As::Floats, 0}, {"y", As::Floats, 1, true}},
                        {{"LANES", lanes},
                         {"COUNT", kSums[axis]},
                         {"STEP", axis == 0 ? kSums[1] * kSums[2] : 1}}}},
                      {},
                      {}};
    HandProgram best = plain;
    if (axis == 0) {
        best.kernels[0].body = kBestScanOuter;
        best.kernels[0].bindings[0].as = As::Texels;
    } else {
        best.kernels[0].body = kBestScanInner;
        best.kernels[0].group_size = {8, 1, 1};
        best.kernels[0].groups = {48, 1, 1};
        best.kernels[0].bindings = {
            {"x", As::Texels4, 0}, {"y", As::Vec4s, 1, true}, {"last", As::Floats, 1, true}};
    }
    // Whole vec4s for the texels.
    Floats padded = x;
    padded.resize((x.size() + 3) / 4 * 4);
    return {.least = {4.0 * double(count), 4.0 * double(count), double(count)},
            .arguments = {padded},
            .results = {count},
            .firn = [f, values = tensor(x, {kSums[0], kSums[1],
                                            kSums[2]})] { return std::vector<Tensor>{f(values)}; },
            .best = best,
            .plain = plain,
            .tolerance = 1e-5,
            .expected = host};
}

}  // namespace

void add_ported_small(std::vector<Case>& cases) {
    cases.push_back(
        {"qr_by_hand", [] { return of_matrix(factorised, false); }, Section::Ported,
         "columns wait for one another, and a launch takes longer than all operations"});
    cases.push_back(
        {"inverse_by_hand", [] { return of_matrix(inverted, true); }, Section::Ported,
         "columns wait for one another, and a launch takes longer than all operations"});
    cases.push_back({"poisson", poisson, Section::Ported,
                     "its iterations wait for one another, each of them short"});
    cases.push_back({"scan_outer", [] { return scan(0); }, Section::Ported,
                     "a sum needs those before it: two passes"});
    cases.push_back({"scan_inner", [] { return scan(2); }, Section::Ported,
                     "a sum needs those before it: two passes"});
}

}  // namespace firn::bench
