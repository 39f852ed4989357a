// A pseudospectral step of the Navier-Stokes equations on a periodic square.
#include <firn/firn.h>

#include <cmath>
#include <complex>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kSpectralSide = 256;
constexpr int64_t kSpectralCells = int64_t(kSpectralSide) * kSpectralSide;
constexpr float kTime = 0.01f, kViscosity = 1e-3f;

/// The spectrum times i k.
Complex derivative(const Complex& x, const Tensor& k) { return {-(k * x.im), k * x.re}; }

/// The vorticity a time step later: advection explicit and without the upper third of the waves,
/// viscosity implicit.
Tensor spectral_step(Tensor vorticity, Tensor dt, Tensor viscosity) {
    auto [i, j] = indices<2>(vorticity.shape());
    auto n = vorticity.size(0), m = vorticity.size(1);
    Tensor ky = cast<float>(select(i < n / 2, i, i - n)),
           kx = cast<float>(select(j < m / 2, j, j - m));
    Tensor squared = kx * kx + ky * ky;
    Complex w = fftn(vorticity);
    Complex stream = w * (1.0f / max(squared, 1.0f));
    Tensor u = ifftn(derivative(stream, ky)).re, v = -ifftn(derivative(stream, kx)).re;
    Tensor across = ifftn(derivative(w, kx)).re, down = ifftn(derivative(w, ky)).re;
    Complex advection = fftn(u * across + v * down);
    Tensor kept = select((abs(kx) < m / 3) & (abs(ky) < n / 3), 1.0f, 0.0f);
    Complex next = (w - advection * (dt * kept)) * (1.0f / (1.0f + viscosity * dt * squared));
    return ifftn(next).re;
}

using Numbers = std::vector<std::complex<double>>;

/// Transforms in place, along a line of `step`; the inverse is not scaled.
void transform_line(Numbers& x, size_t first, size_t step, double sign) {
    constexpr size_t n = kSpectralSide;
    auto at = [&](size_t k) -> std::complex<double>& { return x[first + k * step]; };
    for (size_t k = 1, r = 0; k < n; ++k) {
        size_t bit = n / 2;
        for (; r & bit; bit /= 2) r ^= bit;
        r ^= bit;
        if (k < r) std::swap(at(k), at(r));
    }
    for (size_t half = 1; half < n; half *= 2)
        for (size_t k = 0; k < half; ++k) {
            const auto turn = std::polar(1.0, sign * M_PI * double(k) / double(half));
            for (size_t low = k; low < n; low += 2 * half) {
                const auto a = at(low), b = at(low + half) * turn;
                at(low) = a + b;
                at(low + half) = a - b;
            }
        }
}

Numbers transformed(Numbers x, bool inverse) {
    for (size_t k = 0; k < kSpectralSide; ++k)
        transform_line(x, k * kSpectralSide, 1, inverse ? 1 : -1);
    for (size_t k = 0; k < kSpectralSide; ++k)
        transform_line(x, k, kSpectralSide, inverse ? 1 : -1);
    if (inverse)
        for (auto& value : x) value /= double(kSpectralCells);
    return x;
}

std::vector<std::vector<float>> host_step(const std::vector<float>& vorticity) {
    const Numbers w = transformed(Numbers(vorticity.begin(), vorticity.end()), false);
    auto wave = [](size_t k) {
        return k < kSpectralSide / 2 ? double(k) : double(k) - kSpectralSide;
    };
    Numbers u(w.size()), v(w.size()), across(w.size()), down(w.size());
    const std::complex<double> unit(0, 1);
    for (size_t k = 0; k < w.size(); ++k) {
        const double ky = wave(k / kSpectralSide), kx = wave(k % kSpectralSide);
        const auto stream = w[k] / std::max(kx * kx + ky * ky, 1.0);
        u[k] = unit * ky * stream, v[k] = -unit * kx * stream;
        across[k] = unit * kx * w[k], down[k] = unit * ky * w[k];
    }
    for (Numbers* field : {&u, &v, &across, &down}) *field = transformed(*field, true);
    Numbers advection(w.size());
    for (size_t k = 0; k < w.size(); ++k)
        advection[k] = u[k].real() * across[k].real() + v[k].real() * down[k].real();
    advection = transformed(advection, false);
    Numbers next(w.size());
    for (size_t k = 0; k < w.size(); ++k) {
        const double ky = wave(k / kSpectralSide), kx = wave(k % kSpectralSide);
        const bool kept = std::abs(kx) < kSpectralSide / 3 && std::abs(ky) < kSpectralSide / 3;
        next[k] = (w[k] - (kept ? double(kTime) : 0.0) * advection[k]) /
                  (1 + double(kViscosity) * kTime * (kx * kx + ky * ky));
    }
    std::vector<float> out;
    for (const auto& value : transformed(next, true)) out.push_back(float(value.real()));
    return {out};
}

constexpr int kSpectralIn = 0, kSpectralOut = 1, kSpectralOwn = 2;

HandKernel spectral_kernel(const std::string& name, const std::string& body, int group, int lines,
                           const std::vector<HandBinding>& bindings) {
    return {"navier_stokes_" + name, body, {uint32_t(group), 1, 1}, {lines, 1, 1}, bindings, {}};
}

// A group transforms a line: 256 = 16 x 16, values change places in shared memory in between.
// SIGN is 1 on the way back.
constexpr const char* kSpectralLine = R"(
shared vec2 line[256];
vec2 z[16];
#define SUM(k) z[((k) & 1) << 3 | ((k) & 2) << 1 | ((k) & 4) >> 1 | ((k) & 8) >> 3]
float wave(int k) { return float(k < 128 ? k : k - 256); }
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
vec2 turned(float part) { return vec2(cos(6.28318531 * part), float(SIGN) * sin(6.28318531 * part)); }
#define STAGE(FAR)                                                           \
    [[unroll]] for (int k = 0; k < 8; ++k) {                                 \
        int offset = k % FAR, low = 2 * k - offset;                          \
        vec2 a = z[low], b = z[low + FAR];                                   \
        z[low] = a + b;                                                      \
        z[low + FAR] = times(a - b, turned(float(offset) / float(2 * FAR))); \
    }
void sixteen() {
    STAGE(8)
    STAGE(4)
    STAGE(2)
    STAGE(1)
}
void main() {
    int t = int(gl_LocalInvocationID.x), other = int(gl_WorkGroupID.x) % 256,
        field = int(gl_WorkGroupID.x) / 256;
    [[unroll]] for (int k = 0; k < 16; ++k) {
        int along = 16 * k + t, at = AXIS == 0 ? along * 256 + other : other * 256 + along;
        float ky = wave(at / 256), kx = wave(at % 256);
        z[k] = LOADED;
    }
    sixteen();
    [[unroll]] for (int k = 0; k < 16; ++k) line[16 * k + t] = times(SUM(k), turned(float(k * t) / 256.0));
    barrier();
    [[unroll]] for (int k = 0; k < 16; ++k) z[k] = line[16 * t + k];
    sixteen();
    [[unroll]] for (int k = 0; k < 16; ++k) {
        int along = 16 * k + t, at = AXIS == 0 ? along * 256 + other : other * 256 + along;
        vec2 sum = SUM(k);
        STORED;
    }
}
)";
constexpr const char* kSpectralDerivative = R"(
vec2 derivative(int field, vec2 w, float ky, float kx) {
    vec2 stream = w / max(ky * ky + kx * kx, 1.0), of = field < 2 ? stream : w;
    float by = field == 0 || field == 3 ? ky : field == 1 ? -kx : kx;
    return by * vec2(-of.y, of.x);
}
)";
constexpr const char* kSpectralNext = R"(
vec2 next(vec2 w, vec2 advection, float ky, float kx) {
    float kept = abs(kx) < 85.0 && abs(ky) < 85.0 ? 0.01 : 0.0;
    return (w - kept * advection) / (1.0 + 1e-3 * 0.01 * (ky * ky + kx * kx));
}
)";

HandProgram spectral_plain() {
    constexpr int kW = kSpectralOwn, kFields = kW + 2, kAdvection = kFields + 2, kScratch = kW + 6;
    struct Pass {
        int axis, sign, fields;
        const char *helper, *loaded, *stored;
        std::vector<std::pair<std::string, int>> read, written;
    };
    const char* complex = "out_re[at] = sum.x, out_im[at] = sum.y";
    const std::vector<std::pair<std::string, int>> w{{"re", kW}, {"im", kW + 1}};
    auto to = [](int buffer) {
        return std::vector<std::pair<std::string, int>>{{"out_re", buffer}, {"out_im", buffer + 1}};
    };
    auto from = [](int buffer) {
        return std::vector<std::pair<std::string, int>>{{"re", buffer}, {"im", buffer + 1}};
    };
    const std::vector<Pass> passes{
        {1, -1, 1, "", "vec2(x[at], 0.0)", complex, {{"x", kSpectralIn}}, to(kScratch)},
        {0, -1, 1, "", "vec2(re[at], im[at])", complex, from(kScratch), to(kW)},
        {0, 1, 4, kSpectralDerivative, "derivative(field, vec2(re[at], im[at]), ky, kx)",
         "out_re[at + 65536 * field] = sum.x, out_im[at + 65536 * field] = sum.y", w, to(kFields)},
        {1,
         1,
         4,
         "",
         "vec2(re[at + 65536 * field], im[at + 65536 * field])",
         "y[at + 65536 * field] = sum.x / 65536.0",
         from(kFields),
         {{"y", kScratch}}},
        {1,
         -1,
         1,
         "",
         "vec2(x[at] * x[at + 131072] + x[at + 65536] * x[at + 196608], 0.0)",
         complex,
         {{"x", kScratch}},
         to(kFields)},
        {0, -1, 1, "", "vec2(re[at], im[at])", complex, from(kFields), to(kAdvection)},
        {0,
         1,
         1,
         kSpectralNext,
         "next(vec2(re[at], im[at]), vec2(advection_re[at], advection_im[at]), ky, kx)",
         complex,
         {{"re", kW},
          {"im", kW + 1},
          {"advection_re", kAdvection},
          {"advection_im", kAdvection + 1}},
         to(kFields)},
        {1,
         1,
         1,
         "",
         "vec2(re[at], im[at])",
         "y[at] = sum.x / 65536.0",
         from(kFields),
         {{"y", kSpectralOut}}}};
    HandProgram program;
    program.temporaries = {kSpectralCells, kSpectralCells, 4 * kSpectralCells, 4 * kSpectralCells,
                           kSpectralCells, kSpectralCells, 4 * kSpectralCells, kSpectralCells};
    for (const Pass& pass : passes) {
        std::vector<HandBinding> bindings;
        for (const auto& [name, buffer] : pass.read) bindings.push_back({name, As::Floats, buffer});
        for (const auto& [name, buffer] : pass.written)
            bindings.push_back({name, As::Floats, buffer, true});
        const std::string text = std::string(pass.helper) + "#define LOADED " + pass.loaded +
                                 "\n#define STORED " + pass.stored + "\n" + kSpectralLine;
        program.kernels.push_back(spectral_kernel("line", text, 16, 256 * pass.fields, bindings));
        program.kernels.back().constants = {{"AXIS", pass.axis}, {"SIGN", pass.sign}};
    }
    return program;
}

// An invocation transforms a whole line in its registers, four stages of four, so that nothing is
// exchanged; on the way back the parts of a number change places. Two rows of real numbers are one
// of complex ones, and 129 columns of their spectrum are enough: a vec4 is a column's elements of
// two rows.
constexpr const char* kSpectralLanes = R"(
vec2 z[256];
#define SUM(k) z[((k) & 3) << 6 | ((k) & 12) << 2 | ((k) & 48) >> 2 | ((k) & 192) >> 6]
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
vec2 turned(float angle) { return vec2(cos(angle), sin(angle)); }
#define STAGE(FAR)                                                                            \
    [[unroll]] for (int k = 0; k < 64; ++k) {                                                 \
        int low = k / FAR * 4 * FAR + k % FAR;                                                \
        float angle = -1.5707963267948966 * float(k % FAR) / float(FAR);                      \
        vec2 a = z[low] + z[low + 2 * FAR], b = z[low] - z[low + 2 * FAR];                    \
        vec2 c = z[low + FAR] + z[low + 3 * FAR], d = z[low + FAR] - z[low + 3 * FAR];        \
        d = vec2(d.y, -d.x);                                                                  \
        z[low] = a + c;                                                                       \
        z[low + FAR] = times(b + d, turned(angle));                                           \
        z[low + 2 * FAR] = times(a - c, turned(2.0 * angle));                                 \
        z[low + 3 * FAR] = times(b - d, turned(3.0 * angle));                                 \
    }
void transform() {
    STAGE(64)
    STAGE(16)
    STAGE(4)
    STAGE(1)
}
int own = int(gl_GlobalInvocationID.x);
const int pitch = 136;
)";
constexpr const char* kSpectralRows = R"(
void main() {
    LOAD
    transform();
    [[unroll]] for (int k = 0; k <= 128; ++k) {
        vec2 a = SUM(k), b = SUM((256 - k) & 255) * vec2(1, -1);
        vec2 sum = 0.5 * (a + b), rest = 0.5 * (a - b);
        out_of[own * pitch + k] = vec4(sum, rest.y, -rest.x);
    }
}
)";
constexpr const char* kSpectralLoadRows = R"(
[[unroll]] for (int k = 0; k < 64; ++k) {
    vec4 first = x_at(own * 128 + k), second = x_at(own * 128 + 64 + k);
    [[unroll]] for (int m = 0; m < 4; ++m) z[4 * k + m] = vec2(first[m], second[m]);
}
)";
constexpr const char* kSpectralLoadProducts = R"(
[[unroll]] for (int k = 0; k < 128; ++k) {
    int at = k * 256 + 2 * own;
    vec4 first = x_at(at) * x_at(at + 32768), second = x_at(at + 1) * x_at(at + 32769);
    z[2 * k] = vec2(first.x + first.y, second.x + second.y);
    z[2 * k + 1] = vec2(first.z + first.w, second.z + second.w);
}
)";
constexpr const char* kSpectralColumns = R"(
void main() {
    [[unroll]] for (int k = 0; k < 128; ++k) {
        vec4 two = x_at(k * pitch + own);
        z[2 * k] = LOADED(two.xy), z[2 * k + 1] = LOADED(two.zw);
    }
    transform();
    [[unroll]] for (int k = 0; k < 128; ++k)
        out_of[k * pitch + own] = vec4(STORED(2 * k), STORED(2 * k + 1));
}
)";
// Two fields in one: u + i v, then the derivatives across and down. A column above 128 is the
// mirrored one in reverse order, whose transform differs by signs.
constexpr const char* kSpectralDerivatives = R"(
float wave(int k) { return float(k < 128 ? k : k > 128 ? k - 256 : 0); }
void main() {
    int column = own & 255;
    bool first = own < 256, mirrored = column > 128;
    float kx = wave(column), edge = column == 128 ? 128.0 : kx, way = mirrored ? -1.0 : 1.0;
    [[unroll]] for (int k = 0; k < 256; ++k) {
        vec4 two = x_at(k / 2 * pitch + (mirrored ? 256 - column : column));
        float ky = wave(k), squared = (k == 128 ? 16384.0 : ky * ky) + edge * edge;
        float scale = (first ? 1.0 / max(squared, 1.0) : way) / 65536.0;
        vec2 by = first ? vec2(kx, ky) : vec2(-ky, kx);
        z[k] = times(k % 2 == 0 ? two.xy : two.zw, scale * by).yx;
    }
    transform();
    int to = (own < 256 ? 0 : 128 * 260) + column;
    [[unroll]] for (int k = 0; k < 128; ++k) {
        vec2 a = SUM(2 * k).yx, b = SUM(2 * k + 1).yx;
        out_of[to + 260 * k] = vec4(a.x, way * a.y, b.x, way * b.y);
    }
}
)";
constexpr const char* kSpectralFields = R"(
void main() {
    int row = own & 255, from = (own < 256 ? 0 : 512 * 260) + row / 2 * 1040 + 2 * (row & 1);
    [[unroll]] for (int k = 0; k < 256; ++k) z[k] = vec2(x_at(from + 4 * k + 1), x_at(from + 4 * k));
    transform();
    [[unroll]] for (int k = 0; k < 128; ++k)
        out_of[(own < 256 ? 0 : 32768) + k * 256 + row] = vec4(SUM(2 * k).yx, SUM(2 * k + 1).yx);
}
)";
constexpr const char* kSpectralLast = R"(
void main() {
    [[unroll]] for (int k = 0; k <= 128; ++k) {
        vec4 two = x_at(own * pitch + k) / 65536.0;
        z[k] = vec2(two.y + two.z, two.x - two.w);
        if (k > 0 && k < 128) z[256 - k] = vec2(two.z - two.y, two.x + two.w);
    }
    transform();
    [[unroll]] for (int k = 0; k < 64; ++k) {
        y[own * 128 + k] = vec4(SUM(4 * k).y, SUM(4 * k + 1).y, SUM(4 * k + 2).y, SUM(4 * k + 3).y);
        y[own * 128 + 64 + k] =
            vec4(SUM(4 * k).x, SUM(4 * k + 1).x, SUM(4 * k + 2).x, SUM(4 * k + 3).x);
    }
}
)";
constexpr const char* kSpectralBack = R"(
#define LOADED(two) two.yx
#define STORED(k) SUM(k).yx
)";
constexpr const char* kSpectralForth = R"(
#define LOADED(two) two
#define STORED(k) SUM(k)
)";
constexpr const char* kSpectralStep = R"(
#define LOADED(two) two
vec2 stored(int k, vec2 w, vec2 advection) {
    float column = own, row = k < 128 ? k : k - 256;
    return next(w, advection, row, column);
}
#define STORED(k) stored(k, (k) % 2 == 0 ? w_at((k) / 2 * pitch + own).xy : w_at((k) / 2 * pitch + own).zw, SUM(k))
)";

HandProgram spectral_best() {
    constexpr int kW = kSpectralOwn, kHalf = kW + 1, kLines = kW + 2, kFields = kW + 3,
                  kPitch = 136;
    const std::string head = kSpectralLanes;
    auto kernel = [&](const std::string& name, const std::string& body, int lines, int from, int to,
                      As read = As::Texels4) {
        return spectral_kernel(
            name, head + body, 8, lines / 8,
            {{"x", read, from}, {to == kSpectralOut ? "y" : "out_of", As::Vec4s, to, true}});
    };
    auto rows = [&](const char* load, int from) {
        return kernel(
            "rows",
            std::string("#define LOAD load();\nvoid load() {") + load + "}\n" + kSpectralRows, 128,
            from, kHalf);
    };
    const std::string columns = kSpectralColumns;
    HandKernel step =
        kernel("step", std::string(kSpectralNext) + kSpectralStep + columns, kPitch, kHalf, kLines);
    step.bindings.push_back({"w", As::Texels4, kW});
    return {{rows(kSpectralLoadRows, kSpectralIn),
             kernel("columns", kSpectralForth + columns, kPitch, kHalf, kW),
             kernel("derivatives", kSpectralDerivatives, 512, kW, kLines),
             kernel("fields", kSpectralFields, 512, kLines, kFields, As::Texels),
             rows(kSpectralLoadProducts, kFields), step,
             kernel("back", kSpectralBack + columns, kPitch, kLines, kHalf),
             kernel("last", kSpectralLast, 128, kHalf, kSpectralOut)},
            {512 * kPitch, 512 * kPitch, 2 * 512 * 260, 4 * kSpectralCells},
            {}};
}

Contest navier_stokes() {
    auto step = compile(spectral_step, {f32("n", "m"), f32(), f32()});
    std::vector<float> vorticity;
    for (int i = 0; i < kSpectralSide; ++i)
        for (int j = 0; j < kSpectralSide; ++j) {
            const float y = 2 * float(M_PI) * float(i) / kSpectralSide,
                        x = 2 * float(M_PI) * float(j) / kSpectralSide;
            vorticity.push_back(std::sin(3 * x + 1) * std::cos(5 * y) + std::cos(7 * x - 2 * y) +
                                0.5f * std::sin(11 * y + 4 * x));
        }
    // Seven transforms of real numbers, each half of 5 n log2 n; beside them 60 of an element.
    const double operations = 7 * 2.5 * 16 * kSpectralCells + 60.0 * kSpectralCells;
    return {.least = {4.0 * kSpectralCells, 4.0 * kSpectralCells, operations},
            .arguments = {vorticity},
            .results = {kSpectralCells},
            .firn =
                [step, w = tensor(vorticity, {kSpectralSide, kSpectralSide})] {
                    return std::vector<Tensor>{step(w, kTime, kViscosity)};
                },
            .best = spectral_best(),
            .plain = spectral_plain(),
            .tolerance = 1e-4,
            .expected = [vorticity] { return host_step(vorticity); }};
}

}  // namespace

void add_spectral(std::vector<Case>& cases) {
    cases.push_back({"navier_stokes", navier_stokes, Section::Training,
                     "transforms wait for one another, each of them short"});
}

}  // namespace firn::bench
