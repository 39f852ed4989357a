// Blurs in two passes, their sizes symbols.
#include "tests/bench/ported/picture.h"

namespace firn::bench {
namespace {

/// Blurs in two passes, as far as a float has digits.
Tensor blurred_by(Tensor u, Tensor sigma) {
    auto [i, j] = indices<2>(u.shape());
    Tensor reach = cast<int>(ceil(2.5f * sigma)), total = zeros(u.shape()), weights = 0.0f;
    for (Tensor y : loop(-reach, reach + 1)) {
        Tensor weight = exp(-cast<float>(y * y) / (2.0f * sigma * sigma));
        total = total + weight * u(i + y, j);
        weights = weights + weight;
    }
    Tensor down = total / weights;
    total = zeros(u.shape());
    for (Tensor x : loop(-reach, reach + 1))
        total = total + exp(-cast<float>(x * x) / (2.0f * sigma * sigma)) * down(i, j + x);
    return total / weights;
}

/// Blurs the values before a gamma of 2.2, in two passes that are written out.
Tensor blurred_light(Tensor u) {
    Tensor light = pow(u, 2.2f), down = zeros(u.shape()), out = zeros(u.shape());
    auto [i, j] = indices<2>(u.shape());
    for (int y = -kRadius; y <= kRadius; ++y) down = down + weight_of(y * y) * light(i + y, j);
    for (int x = -kRadius; x <= kRadius; ++x) out = out + weight_of(x * x) * down(i, j + x);
    return out;
}

/// Blurs in two passes on the host; `normalised`: each is divided by the sum of the weights.
template <class Weight>
Image two_passes(const Image& x, int reach, const Weight& weight, bool normalised) {
    double sum = 0;
    for (int d = -reach; d <= reach; ++d) sum += weight(d);
    if (!normalised) sum = 1;
    const auto along = [&](const Image& from, bool rows) {
        return from.map([&](int i, int j, int k) {
            double total = 0;
            for (int d = -reach; d <= reach; ++d)
                total += weight(d) * double(from.at(rows ? i + d : i, rows ? j : j + d, k));
            return total / sum;
        });
    };
    return along(along(x, true), false);
}

constexpr const char* kWeightOfSigma = R"(
float weight(int d) { return exp(-float(d * d) / (2.0 * sigma_at(0) * sigma_at(0))); }
)";
constexpr const char* kWeightOfTwenty = R"(
float weight(int d) { return exp(-float(d * d) / 20.0); }
)";

constexpr const char* kPlainDown = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float total = 0.0, weights = 0.0;
    int reach = int(ceil(2.5 * sigma_at(0)));
    for (int d = -reach; d <= reach; ++d) {
        total += weight(d) * u_at(clamp(y + d, 0, 1023) * 1024 + x);
        weights += weight(d);
    }
    blurred[y * 1024 + x] = total / weights;
}
)";
constexpr const char* kPlainAcross = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float total = 0.0, weights = 0.0;
    int reach = int(ceil(2.5 * sigma_at(0)));
    for (int d = -reach; d <= reach; ++d) {
        total += weight(d) * u_at(y * 1024 + clamp(x + d, 0, 1023));
        weights += weight(d);
    }
    blurred[y * 1024 + x] = total / weights;
}
)";
constexpr const char* kPlainLight = R"(
void main() {
    uint k = gl_GlobalInvocationID.x;
    light[k] = pow(u_at(k), 2.2);
}
)";
constexpr const char* kPlainLightDown = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float total = 0.0;
    for (int d = -8; d <= 8; ++d) total += weight(d) * u_at(clamp(y + d, 0, 1023) * 1024 + x);
    blurred[y * 1024 + x] = total;
}
)";
constexpr const char* kPlainLightAcross = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float total = 0.0;
    for (int d = -8; d <= 8; ++d) total += weight(d) * u_at(y * 1024 + clamp(x + d, 0, 1023));
    blurred[y * 1024 + x] = total;
}
)";

constexpr const char* kBestLight = R"(
void main() {
    int at = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    [[unroll]] for (int k = 0; k < 4; ++k)
        light[at + 256 * k] = pow(u_at(at + 256 * k), vec4(2.2));
}
)";
// The weights of both sides.
constexpr const char* kBlurWeights = R"(
    float own[9], weights = 0.0;
    [[unroll]] for (int d = 0; d < 9; ++d) {
        own[d] = weight(d);
        weights += d == 0 ? own[d] : 2.0 * own[d];
    }
    float scale = NORMALISED == 1 ? 1.0 / weights : 1.0;
)";
// Eight rows of four pixels share the loads. The reach of eight is a constant, as in Firn's code
// for a sigma.
constexpr const char* kBestDown = R"(
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y) * ROWS;
    vec4 total[ROWS];
    [[unroll]] for (int k = 0; k < ROWS; ++k) total[k] = vec4(0.0);
    [[unroll]] for (int row = 0; row < ROWS + 16; ++row) {
        vec4 pixel = u_at(clamp(y + row - 8, 0, 1023) * 256 + x);
        [[unroll]] for (int k = 0; k < ROWS; ++k)
            if (row >= k && row - k < 17) total[k] += own[abs(row - k - 8)] * pixel;
    }
    [[unroll]] for (int k = 0; k < ROWS; ++k) blurred[(y + k) * 256 + x] = scale * total[k];
}
)";
// Sixteen pixels of a row, from eight loads of four.
constexpr const char* kBestAcross = R"(
    int x = int(gl_GlobalInvocationID.x) * 4, y = int(gl_GlobalInvocationID.y);
    float line[32];
    [[unroll]] for (int k = 0; k < 8; ++k) {
        int at = x + k - 2;
        vec4 pixels = u_at(y * 256 + clamp(at, 0, 255));
        pixels = at < 0 ? pixels.xxxx : at > 255 ? pixels.wwww : pixels;
        [[unroll]] for (int c = 0; c < 4; ++c) line[4 * k + c] = pixels[c];
    }
    [[unroll]] for (int k = 0; k < 16; k += 4) {
        vec4 total = vec4(0.0);
        [[unroll]] for (int d = 0; d < 17; ++d)
            [[unroll]] for (int c = 0; c < 4; ++c) total[c] += own[abs(d - 8)] * line[k + d + c];
        blurred[y * 256 + x + k / 4] = scale * total;
    }
}
)";

/// Both passes; the weights are of sigma, which is the buffer of that number, or of none.
std::vector<HandKernel> passes_by_hand(bool best, int from, int between, int to, int sigma) {
    const bool normalised = sigma >= 0;
    const std::string weight = normalised ? kWeightOfSigma : kWeightOfTwenty,
                      head = weight + "void main() {" + kBlurWeights;
    auto pass = [&](const char* name, const std::string& body, std::array<int, 3> groups, int in,
                    int out) {
        HandKernel kernel{name,
                          body,
                          {64, 4, 1},
                          groups,
                          {{"u", best ? As::Texels4 : As::Floats, in},
                           {"blurred", best ? As::Vec4s : As::Floats, out, true}},
                          {{"NORMALISED", normalised}, {"ROWS", 8}}};
        if (normalised) kernel.bindings.push_back({"sigma", best ? As::Texels : As::Floats, sigma});
        return kernel;
    };
    if (best)
        return {pass("blur_down", head + kBestDown, {4, 32, 1}, from, between),
                pass("blur_across", head + kBestAcross, {1, 256, 1}, between, to)};
    return {pass("blur_down", weight + (normalised ? kPlainDown : kPlainLightDown), {16, 256, 1},
                 from, between),
            pass("blur_across", weight + (normalised ? kPlainAcross : kPlainLightAcross),
                 {16, 256, 1}, between, to)};
}

HandProgram light_by_hand(bool best) {
    HandProgram program{{{"light",
                          best ? kBestLight : kPlainLight,
                          {256, 1, 1},
                          {best ? 256 : 4096, 1, 1},
                          {{"u", best ? As::Texels4 : As::Floats, 0},
                           {"light", best ? As::Vec4s : As::Floats, 2, true}},
                          {}}},
                        {1024 * 1024, 1024 * 1024},
                        {}};
    for (HandKernel& kernel : passes_by_hand(best, 2, 3, 1, -1)) program.kernels.push_back(kernel);
    return program;
}

Contest blur_by_a_float() {
    const Image x = noise(1024, 1024, 1);
    constexpr float kSigma = 3.2f;
    auto f = compile(blurred_by, {f32("h", "w"), f32()});
    const auto weight = [=](int d) { return std::exp(-d * d / (2.0 * kSigma * kSigma)); };
    Contest out = of_picture(
        x, [f](Tensor u) { return Tensor(f(u, kSigma)); },
        [=] { return two_passes(x, 8, weight, true); }, 4 * 17);
    out.arguments = {x.values, {kSigma}};
    out.best = {passes_by_hand(true, 0, 3, 2, 1), {x.count()}, {}};
    out.plain = {passes_by_hand(false, 0, 3, 2, 1), {x.count()}, {}};
    return out;
}

Contest blur_of_powers() {
    const Image x = noise(1024, 1024, 1);
    auto f = compile(blurred_light, {f32("h", "w")});
    const auto host = [x] {
        const Image light =
            x.map([&](int i, int j, int k) { return std::pow(x.at(i, j, k), 2.2f); });
        return two_passes(
            light, kRadius, [](int d) { return double(weight_of(d * d)); }, false);
    };
    Contest out = of_picture(
        x, [f](Tensor u) { return Tensor(f(u)); }, host, 4 * 17 + 20);
    out.arguments = {x.values};
    out.best = light_by_hand(true);
    out.plain = light_by_hand(false);
    return out;
}

}  // namespace

void add_ported_blurs(std::vector<Case>& cases) {
    cases.push_back({"blur_by_a_float", blur_by_a_float, Section::Ported,
                     "a tap is a load, which takes as long as many sums"});
    cases.push_back({"blur_of_powers", blur_of_powers, Section::Ported,
                     "a power is dozens of operations, and a tap a load"});
}

}  // namespace firn::bench
