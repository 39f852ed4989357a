// Stencils, blurs and convolutions of pictures with channels, their sizes symbols.
#include "tests/bench/ported/picture.h"

namespace firn::bench {
namespace {

Tensor four_points(Tensor u) {
    auto [i, j, k] = indices<3>(u.shape());
    return 0.25f * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k));
}
Tensor four_points_kernel(Tensor u) {
    Tensor mean = zeros(u.shape());
    kernel(u.shape(), [&](Tensor i, Tensor j, Tensor k) {
        mean(i, j, k) = 0.25f * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k));
    });
    return mean;
}

constexpr const char* kPlainFourPoints = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x) / 3, channel = int(gl_GlobalInvocationID.x) % 3;
    int y = int(gl_GlobalInvocationID.y), row = y * 3072, column = x * 3 + channel;
    float up = u_at(max(y - 1, 0) * 3072 + column), down = u_at(min(y + 1, 1023) * 3072 + column);
    float left = u_at(row + max(x - 1, 0) * 3 + channel);
    float right = u_at(row + min(x + 1, 1023) * 3 + channel);
    mean[row + column] = 0.25 * (up + down + left + right);
}
)";
// Four pixels of four rows: three vec4s of a row, and its neighbours.
constexpr const char* kBestFourPoints = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x) * 3, y = int(gl_GlobalInvocationID.y) * 4;
    vec4 own[6][3];
    [[unroll]] for (int r = 0; r < 6; ++r) [[unroll]] for (int k = 0; k < 3; ++k)
        own[r][k] = u_at(clamp(y + r - 1, 0, 1023) * 768 + x + k);
    [[unroll]] for (int r = 1; r < 5; ++r) {
        vec4 a = own[r][0], b = own[r][1], c = own[r][2];
        int row = (y + r - 1) * 768 + x;
        vec4 left = u_at(max(row - 1, 0)), right = u_at(min(row + 3, 1024 * 768 - 1));
        left.yzw = x == 0 ? a.xyz : left.yzw;
        right.xyz = x == 765 ? c.yzw : right.xyz;
        mean[row] = 0.25 * (own[r - 1][0] + own[r + 1][0] + vec4(left.yzw, a.x) + vec4(a.w, b.xyz));
        mean[row + 1] =
            0.25 * (own[r - 1][1] + own[r + 1][1] + vec4(a.yzw, b.x) + vec4(b.w, c.xyz));
        mean[row + 2] =
            0.25 * (own[r - 1][2] + own[r + 1][2] + vec4(b.yzw, c.x) + vec4(c.w, right.xyz));
    }
}
)";

HandProgram four_points_by_hand(bool best) {
    return {{{"stencil_channels",
              best ? kBestFourPoints : kPlainFourPoints,
              {64, 4, 1},
              {best ? 4 : 48, best ? 64 : 256, 1},
              {{"u", best ? As::Texels4 : As::Floats, 0},
               {"mean", best ? As::Vec4s : As::Floats, 1, true}},
              {}}},
            {},
            {}};
}

Contest stencil_channels(Tensor (*program)(Tensor)) {
    const Image x = noise(1024, 1024, 3);
    auto f = compile(program, {f32("h", "w", "c")});
    const auto mean = [x](int i, int j, int k) {
        return 0.25f *
               (x.at(i - 1, j, k) + x.at(i + 1, j, k) + x.at(i, j - 1, k) + x.at(i, j + 1, k));
    };
    Contest out = of_picture(
        x, [f](Tensor u) { return Tensor(f(u)); }, [=] { return x.map(mean); }, 4);
    out.arguments = {x.values};
    out.best = four_points_by_hand(true);
    out.plain = four_points_by_hand(false);
    return out;
}
Tensor blurred(Tensor u) {
    auto [i, j, k] = indices<3>(u.shape());
    Tensor total = zeros(u.shape()), weights = 0.0f;
    for (Tensor y : loop(-kRadius, kRadius + 1))
        for (Tensor x : loop(-kRadius, kRadius + 1)) {
            Tensor weight = exp(-cast<float>(x * x + y * y) / 20.0f);
            total = total + weight * u(i + y, j + x, k);
            weights = weights + weight;
        }
    return total / weights;
}
Tensor blurred_kernel(Tensor u) {
    Tensor out = zeros(u.shape());
    kernel(u.shape(), [&](Tensor i, Tensor j, Tensor k) {
        Tensor total = 0.0f, weights = 0.0f;
        for (Tensor y : loop(-kRadius, kRadius + 1))
            for (Tensor x : loop(-kRadius, kRadius + 1)) {
                Tensor weight = exp(-cast<float>(x * x + y * y) / 20.0f);
                total += weight * u(i + y, j + x, k);
                weights += weight;
            }
        out(i, j, k) = total / weights;
    });
    return out;
}

// Ten pixels below one another share the loads. Four take 1.25 times as long.
constexpr const char* kBestBlur = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y) * 10;
    vec4 total[10];
    [[unroll]] for (int k = 0; k < 10; ++k) total[k] = vec4(0.0);
    float weights = 0.0;
    for (int dy = -8; dy <= 8; ++dy)
        for (int dx = -8; dx <= 8; ++dx) weights += exp(-float(dx * dx + dy * dy) / 20.0);
    for (int dx = -8; dx <= 8; ++dx) {
        float own[17];
        [[unroll]] for (int k = 0; k < 17; ++k) own[k] = exp(-float(dx * dx + (k - 8) * (k - 8)) / 20.0);
        int column = clamp(x + dx, 0, 319);
        [[unroll]] for (int row = 0; row < 26; ++row) {
            vec4 pixel = u_at(clamp(y + row - 8, 0, 319) * 320 + column);
            [[unroll]] for (int k = 0; k < 10; ++k)
                if (row >= k && row - k < 17) total[k] += own[row - k] * pixel;
        }
    }
    [[unroll]] for (int k = 0; k < 10; ++k) blurred[(y + k) * 320 + x] = total[k] / weights;
}
)";

constexpr const char* kPlainBlur = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x) / 4, channel = int(gl_GlobalInvocationID.x) & 3;
    int y = int(gl_GlobalInvocationID.y);
    float total = 0.0, weights = 0.0;
    for (int dy = -8; dy <= 8; ++dy)
        for (int dx = -8; dx <= 8; ++dx) {
            float weight = exp(-float(dx * dx + dy * dy) / 20.0);
            int at = clamp(y + dy, 0, 319) * 320 + clamp(x + dx, 0, 319);
            total += weight * u_at(at * 4 + channel);
            weights += weight;
        }
    blurred[(y * 320 + x) * 4 + channel] = total / weights;
}
)";

HandProgram blur_by_hand(bool best) {
    const As in = best ? As::Texels4 : As::Floats, out = best ? As::Vec4s : As::Floats;
    return {{{"blur",
              best ? kBestBlur : kPlainBlur,
              {64, best ? 1u : 4u, 1},
              {best ? 5 : 20, best ? 32 : 80, 1},
              {{"u", in, 0}, {"blurred", out, 1, true}},
              {}}},
            {},
            {}};
}

Contest blur_channels(Tensor (*program)(Tensor)) {
    const Image x = noise(320, 320, 4);
    auto f = compile(program, {f32("h", "w", "c")});
    const auto mean = [x](int i, int j, int k) {
        double total = 0, weights = 0;
        for (int dy = -kRadius; dy <= kRadius; ++dy)
            for (int dx = -kRadius; dx <= kRadius; ++dx) {
                const double weight = weight_of(dx * dx + dy * dy);
                total += weight * double(x.at(i + dy, j + dx, k)), weights += weight;
            }
        return total / weights;
    };
    // A product and a sum for each tap.
    const double taps = (2 * kRadius + 1) * (2 * kRadius + 1);
    Contest out = of_picture(
        x, [f](Tensor u) { return Tensor(f(u)); }, [=] { return x.map(mean); }, 2 * taps);
    out.arguments = {x.values};
    out.best = blur_by_hand(true);
    out.plain = blur_by_hand(false);
    return out;
}

// Four by four pixels: two loads of four for each row that they need.
constexpr const char* kBestConvolution = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x) * 4, y = int(gl_GlobalInvocationID.y) * 4;
    float tap[9], total[16];
    [[unroll]] for (int k = 0; k < 9; ++k) tap[k] = w_at(k);
    [[unroll]] for (int k = 0; k < 16; ++k) total[k] = 0.0;
    [[unroll]] for (int row = 0; row < 6; ++row) {
        int at = (min(y + row, 2047) * 2048 + x) >> 2;
        vec4 a = u_at(at), b = u_at(min(at + 1, 2048 * 512 - 1));
        float along[6] = {a.x, a.y, a.z, a.w, b.x, b.y};
        [[unroll]] for (int r = 0; r < 4; ++r)
            if (row >= r && row - r < 3)
                [[unroll]] for (int c = 0; c < 4; ++c) [[unroll]] for (int q = 0; q < 3; ++q)
                    total[r * 4 + c] += along[c + q] * tap[(row - r) * 3 + q];
    }
    [[unroll]] for (int r = 0; r < 4; ++r) [[unroll]] for (int c = 0; c < 4; ++c)
        if (y + r < 2046 && x + c < 2046) sums[(y + r) * 2046 + x + c] = total[r * 4 + c];
}
)";

constexpr const char* kPlainConvolution = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x >= 2046 || y >= 2046) return;
    float total = 0.0;
    for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) total += u_at((y + p) * 2048 + x + q) * w_at(p * 3 + q);
    sums[y * 2046 + x] = total;
}
)";

HandProgram convolution_by_hand(bool best) {
    return {{{"convolution",
              best ? kBestConvolution : kPlainConvolution,
              {64, 4, 1},
              {best ? 8 : 32, best ? 128 : 512, 1},
              {{"u", best ? As::Texels4 : As::Floats, 0},
               {"w", best ? As::Texels : As::Floats, 1},
               {"sums", As::Floats, 2, true}},
              {}}},
            {},
            {}};
}

/// The convolution as one sum over two axes.
Tensor convolved(Tensor x, Tensor w) {
    Size rows = x.size(0) - w.size(0) + 1, columns = x.size(1) - w.size(1) + 1;
    auto [i, j, k, l] = indices<4>({rows, columns, w.size(0), w.size(1)});
    return sum(x(i + k, j + l) * w(k, l), {2, 3});
}
Tensor convolved_kernel(Tensor x, Tensor w) {
    Tensor out = zeros({x.size(0) - w.size(0) + 1, x.size(1) - w.size(1) + 1});
    kernel(out.shape(), [&](Tensor i, Tensor j) {
        Tensor total = 0.0f;
        for (Tensor k : loop(w.size(0)))
            for (Tensor l : loop(w.size(1))) total += x(i + k, j + l) * w(k, l);
        out(i, j) = total;
    });
    return out;
}

Contest convolution(Tensor (*program)(Tensor, Tensor)) {
    const Image x = noise(2048, 2048, 1);
    const Floats taps = numbers(9, -1, 1, 3);
    auto f = compile(program, {f32("h", "w"), f32("p", "q")});
    const int side = x.h - 2;
    const int64_t count = int64_t(side) * side;
    const auto all = [=] {
        Floats out;
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j) {
                double sum = 0;
                for (int k = 0; k < 9; ++k)
                    sum += double(x.at(i + k / 3, j + k % 3, 0)) * double(taps[size_t(k)]);
                out.push_back(float(sum));
            }
        return std::vector<Floats>{out};
    };
    return {.least = {4.0 * double(x.count()), 4.0 * double(count), 18.0 * double(count)},
            .arguments = {x.values, taps},
            .results = {count},
            .firn = [f, u = tensor(x.values, {x.h, x.w}),
                     w = tensor(taps, {3, 3})] { return std::vector<Tensor>{f(u, w)}; },
            .best = convolution_by_hand(true),
            .plain = convolution_by_hand(false),
            .expected = all};
}

}  // namespace

void add_ported_pictures(std::vector<Case>& cases) {
    const auto add = [&](const char* name, std::function<Contest()> make) {
        cases.push_back({name, std::move(make), Section::Ported});
    };
    add("stencil_channels", [] { return stencil_channels(four_points); });
    add("stencil_channels_kernel", [] { return stencil_channels(four_points_kernel); });
    add("blur_channels", [] { return blur_channels(blurred); });
    add("blur_channels_kernel", [] { return blur_channels(blurred_kernel); });
    add("convolution", [] { return convolution(convolved); });
    add("convolution_kernel", [] { return convolution(convolved_kernel); });
}

}  // namespace firn::bench
