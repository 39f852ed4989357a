// A sample of the path tracer's sponge, with five bounces.
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "apps/path_tracer/trace.h"
#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

using namespace path_tracer;

constexpr int kSkyHeight = 256, kSkyWidth = 512;

struct Picture {
    int height, width;
    int64_t pixels() const { return int64_t{height} * width; }
};

// The straightforward version: the algorithm of apps/path_tracer for its first sample. Plain and
// best differ in how tensors are bound.
constexpr const char* kBody = R"(
const float kPi = 3.14159265, kFar = 1e4;
uint pcg(uint x) {
    uint s = x * 747796405u + 2891336453u;
    uint word = ((s >> ((s >> 28) + 4u)) ^ s) * 277803737u;
    return (word >> 22) ^ word;
}
float number(uint key, uint use) { return float(pcg(key + use) >> 8) / 16777216.0; }

#ifdef COUNTED
int distances = 0;
#endif
float sponge(vec3 p) {
#ifdef COUNTED
    ++distances;
#endif
    vec3 o = abs(p) - 1.0;
    float d = min(max(o.x, max(o.y, o.z)), 0.0) + length(max(o, 0.0));
    float scale = 1.0;
    for (int level = 0; level < 4; ++level) {
        vec3 a = mod(p * scale, 2.0) - 1.0;
        scale *= 3.0;
        vec3 r = abs(1.0 - 3.0 * abs(a));
        d = max(d, (min(max(r.x, r.y), min(max(r.y, r.z), max(r.z, r.x))) - 1.0) / scale);
    }
    return d;
}
float nearest(vec3 o, vec3 d, out bool ground) {
    float below = (-1.0 - o.y) / d.y;
    below = below > 0.0 ? below : kFar;
    vec3 inverse = 1.0 / mix(d, vec3(1e-9), lessThan(abs(d), vec3(1e-9)));
    vec3 a = (-1.001 - o) * inverse, b = (1.001 - o) * inverse, low = min(a, b), high = max(a, b);
    float t = max(max(low.x, max(low.y, low.z)), 0.0);
    float end = min(min(high.x, min(high.y, high.z)), below);
    for (int turn = 0; turn < 192 && t <= end; ++turn) {
        float room = sponge(o + d * t);
        if (room < 1e-4 + 3e-4 * t) break;
        t += room;
    }
    t = t > end ? kFar : t;
    ground = t >= below;
    return min(t, below);
}
vec3 gradient(vec3 p) {
    const float e = 2e-4;
    vec3 a = vec3(-1, -1, 1), b = vec3(1, -1, -1), c = vec3(-1, 1, -1), f = vec3(1, 1, 1);
    return normalize(a * sponge(p + a * e) + b * sponge(p + b * e) + c * sponge(p + c * e) +
                     f * sponge(p + f * e));
}

vec2 place(vec3 d) {
    return vec2(fract(atan(d.z, d.x) / (2.0 * kPi) + TURN) * 512.0,
                acos(clamp(d.y, -1.0, 1.0)) / kPi * 256.0);
}
vec3 sky(vec3 d) {
    vec2 at = place(d) - 0.5, corner = floor(at), t = at - corner;
    int i = clamp(int(corner.y), 0, 255), k = clamp(int(corner.y) + 1, 0, 255);
    int left = (int(corner.x) + 512) % 512, right = (left + 1) % 512;
    return mix(mix(radiance_at(i * 512 + left).rgb, radiance_at(i * 512 + right).rgb, t.x),
               mix(radiance_at(k * 512 + left).rgb, radiance_at(k * 512 + right).rgb, t.x), t.y);
}
float sky_chance(vec3 d) {
    vec2 at = place(d);
    float density = density_at(min(int(at.y), 255) * 512 + min(int(at.x), 511));
    return density / (2.0 * kPi * kPi * sqrt(max(1.0 - d.y * d.y, 1e-8)));
}
vec3 draw(float u, float v) {
    int row = 0, column = 0;
    for (int half_ = 128; half_ > 0; half_ /= 2) row += rows_at(row + half_ - 1) <= u ? half_ : 0;
    float before = row > 0 ? rows_at(row - 1) : 0.0;
    float y = float(row) + clamp((u - before) / max(rows_at(row) - before, 1e-20), 0.0, 0.99999);
    int base = row * 512;
    for (int half_ = 256; half_ > 0; half_ /= 2)
        column += columns_at(base + column + half_ - 1) <= v ? half_ : 0;
    before = column > 0 ? columns_at(base + column - 1) : 0.0;
    float x = float(column) +
              clamp((v - before) / max(columns_at(base + column) - before, 1e-20), 0.0, 0.99999);
    float down = y * kPi / 256.0, around = (x / 512.0 - TURN) * 2.0 * kPi;
    return vec3(sin(down) * cos(around), cos(down), sin(down) * sin(around));
}

vec3 fresnel(vec3 head_on, float cosine) {
    float away = clamp(1.0 - cosine, 0.0, 1.0), squared = away * away;
    float grazing = min(head_on.y * 50.0, 1.0);
    return head_on + (max(vec3(grazing), head_on) - head_on) * (squared * squared * away);
}
float seen(float c, float a) { return 2.0 * c / (c + sqrt(a * a + (1.0 - a * a) * c * c)); }
float bright(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }

/// l in the surface's frame; the chance comes last.
vec4 reflected(vec3 eye, vec3 l, vec3 head_on, vec3 diffuse, float share, float alpha) {
    if (l.z <= 0.0) return vec4(0.0);
    float c = max(eye.z, 1e-4), a2 = alpha * alpha;
    vec3 h = normalize(eye + l + vec3(0, 0, 1e-7));
    float spread = h.x * h.x + h.y * h.y + h.z * h.z * a2;
    float coat_chance = a2 / (kPi * spread * spread) * seen(c, alpha) / (4.0 * c);
    vec3 coat = fresnel(head_on, dot(h, l)) * (coat_chance * seen(l.z, alpha));
    return vec4(coat + diffuse * (l.z / kPi), mix(l.z / kPi, coat_chance, share));
}
vec3 follow(vec3 eye, float which, float u, float v, float share, float alpha) {
    float radius = sqrt(u), angle = v * 2.0 * kPi;
    if (which >= share) return vec3(radius * cos(angle), radius * sin(angle), sqrt(1.0 - u));
    eye.z = max(eye.z, 1e-4);
    vec3 s = normalize(vec3(eye.xy * alpha, eye.z));
    float flat_ = dot(s.xy, s.xy);
    vec3 across = flat_ > 1e-12 ? vec3(-s.y, s.x, 0) * inversesqrt(flat_) : vec3(1, 0, 0);
    vec3 along = cross(s, across);
    float a = radius * cos(angle), part = 0.5 * (1.0 + s.z);
    float b = mix(sqrt(max(1.0 - a * a, 0.0)), radius * sin(angle), part);
    vec3 h = across * a + along * b + s * sqrt(max(1.0 - a * a - b * b, 0.0));
    return reflect(-eye, normalize(vec3(h.xy * alpha, max(h.z, 1e-6))));
}

void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x >= WIDTH || y >= HEIGHT) return;
    uint key = pcg(uint(y * WIDTH + x) + pcg(pcg(1u)));
    float across = (float(x) + number(key, 0u)) * (2.0 / float(WIDTH)) - 1.0;
    float down = (float(y) + number(key, 1u)) * (2.0 / float(HEIGHT)) - 1.0;
    vec3 o = EYE, d = normalize(FORWARD + RIGHT * across - UP * down);
    vec3 light = vec3(0), kept = vec3(1);
    float chance = -1.0;
    for (int turn = 0; turn < 5; ++turn) {
        bool ground;
        float t = nearest(o, d, ground);
        if (t >= kFar) {
            float drawn = sky_chance(d);
            float counts = chance < 0.0 ? 1.0 : chance * chance / max(chance * chance + drawn * drawn, 1e-20);
            light += kept * sky(d) * counts;
            break;
        }
        uint own = pcg(key + uint(turn + 1));
        vec3 p = o + d * t, n = vec3(0, 1, 0), colour = COLOUR;
        float roughness = 0.3, coat = 1.0;
        if (ground) {
            vec2 seam = abs(fract(p.xz * 0.5) - 0.5);
            colour = vec3(0.82, 0.80, 0.77) * (0.45 * (max(seam.x, seam.y) > 0.493 ? 0.45 : 1.0));
            roughness = 1.0, coat = 0.0;
        } else {
            n = gradient(p);
        }
        float side = n.z < 0.0 ? -1.0 : 1.0, a = -1.0 / (side + n.z), b = n.x * n.y * a;
        vec3 tangent = vec3(1.0 + side * n.x * n.x * a, side * b, -side * n.x);
        vec3 other = vec3(b, side + n.y * n.y * a, -n.y);
        float alpha = max(roughness * roughness, 2e-3);
        vec3 head_on = vec3(0.04 * coat), eye = -vec3(dot(d, tangent), dot(d, other), dot(d, n));
        vec3 over = fresnel(head_on, eye.z), diffuse = colour * (1.0 - over);
        float share = bright(over) / max(bright(over) + bright(diffuse), 1e-6);
        vec3 from = p + n * (1e-3 + 6e-4 * t);

        vec3 l = draw(number(own, 4u), number(own, 5u));
        vec4 back = reflected(eye, vec3(dot(l, tangent), dot(l, other), dot(l, n)), head_on, diffuse,
                              share, alpha);
        bool unused;
        if (back.w > 0.0 && nearest(from, l, unused) >= kFar) {
            float drawn = sky_chance(l);
            light += kept * back.rgb * sky(l) * (drawn / max(drawn * drawn + back.w * back.w, 1e-20));
        }
        l = follow(eye, number(own, 6u), number(own, 7u), number(own, 8u), share, alpha);
        vec4 on = reflected(eye, l, head_on, diffuse, share, alpha);
        kept *= on.w > 0.0 ? on.rgb / on.w : vec3(0);
        o = from;
        d = normalize(tangent * l.x + other * l.y + n * l.z);
        chance = on.w;
        float going_on = turn < 2 ? 1.0 : min(max(kept.x, max(kept.y, kept.z)), 0.95);
        if (number(own, 9u) >= going_on) break;
        kept /= max(going_on, 1e-6);
    }
    int at = y * WIDTH + x;
#ifdef COUNTED
    light = vec3(float(distances), 0.0, 0.0);
#endif
    red[at] = red0_at(at) + light.r;
    green[at] = green0_at(at) + light.g;
    blue[at] = blue0_at(at) + light.b;
}
)";

std::string vector_text(const std::array<float, 3>& v) {
    char text[100];
    std::snprintf(text, sizeof text, "vec3(%.9g, %.9g, %.9g)", double(v[0]), double(v[1]),
                  double(v[2]));
    return text;
}

/// The settings' numbers as the kernel's constants.
std::string constants(const Settings& s, Picture picture) {
    View view = view_of(s.camera, float(picture.width) / float(picture.height));
    char turn[40];
    std::snprintf(turn, sizeof turn, "%.9g", double(s.sky_turn));
    return "#define EYE " + vector_text(view.eye) + "\n#define FORWARD " +
           vector_text(view.forward) + "\n#define RIGHT " + vector_text(view.right) +
           "\n#define UP " + vector_text(view.up) + "\n#define COLOUR " + vector_text(s.colour) +
           "\n#define TURN " + turn + "\n";
}

/// A bright sun in a sky that is lighter above.
Tensor panorama() {
    auto [i, j, c] = indices<3>(Shape{kSkyHeight, kSkyWidth, 3});
    Tensor sun = square(i - 80.0f) + square(j - 90.0f) < 9.0f;
    return select(sun, 2000.0f, 1.0f - 0.003f * i + 0.1f * c);
}

// A rounding may change a path: returns the share of pixels that differ.
double share_of_other_paths(const std::vector<float>& a, const std::vector<float>& b) {
    size_t count = 0;
    for (size_t k = 0; k < a.size(); ++k)
        count += !(std::abs(a[k] - b[k]) <= 0.01f * (1 + std::abs(b[k])));
    return double(count) / double(a.size());
}

HandProgram by_hand(const std::string& name, const std::string& constants, Picture picture,
                    bool texels) {
    const As floats = texels ? As::Texels : As::Floats, vectors = texels ? As::Texels4 : As::Vec4s;
    HandKernel kernel{name,      constants + kBody,
                      {8, 8, 1}, {(picture.width + 7) / 8, (picture.height + 7) / 8, 1},
                      {},        {{"WIDTH", picture.width}, {"HEIGHT", picture.height}}};
    int buffer = 0;
    for (const char* read : {"red0", "green0", "blue0", "radiance", "density", "rows", "columns"})
        kernel.bindings.push_back({read, buffer == 3 ? vectors : floats, buffer}), ++buffer;
    for (const char* written : {"red", "green", "blue"})
        kernel.bindings.push_back({written, As::Floats, buffer++, true});
    return {{kernel}, {}, {}};
}

/// Returns the distances of all paths of a sample; 0 in a session of native code, which runs no
/// GLSL and needs no bound of its own.
double count_distances(const std::string& constants, Picture picture,
                       const std::vector<std::vector<float>>& arguments) {
    if (current_session().executor().profile().device_class == DeviceClass::Native) return 0;
    const int64_t pixels = picture.pixels();
    HandWritten counted(current_session().executor(), "distances of paths",
                        by_hand("counted_path", "#define COUNTED\n" + constants, picture, false),
                        arguments, {pixels, pixels, pixels});
    counted.run();
    const std::vector<float> distances = counted.read(0);
    return std::accumulate(distances.begin(), distances.end(), 0.0);
}

}  // namespace

Contest path_contest(int height, int width) {
    const Picture picture{height, width};
    const int64_t pixels = picture.pixels();
    const double count = double(pixels);
    Settings settings;
    Sky sky = make_sky(panorama());
    const std::vector<float> dark(static_cast<size_t>(pixels));
    Tensor padded = pad(sky.radiance, {.before = {}, .after = {0, 0, 1}});
    auto tracer = std::make_shared<Tracer>(SceneName::Sponge, sky);
    Film film = make_film(height, width);
    for (Tensor& sum : film.sum) sum = tensor(dark, {height, width});
    auto sample = [=] {
        Film next = film;
        tracer->add_sample(next, settings, 1);
        return std::vector<Tensor>(next.sum.begin(), next.sum.end());
    };
    const std::vector<std::vector<float>> arguments{dark,
                                                    dark,
                                                    dark,
                                                    padded.to_vector<float>(),
                                                    sky.density.to_vector<float>(),
                                                    sky.rows.to_vector<float>(),
                                                    sky.columns.to_vector<float>()};
    // Operations per distance: the box 20, in each of four levels the fold 18 and the hole 13; a
    // path's other operations are few.
    const std::string numbers = constants(settings, picture);
    const double operations = (20.0 + 4 * 31) * count_distances(numbers, picture, arguments);
    return {.least = {12.0 * count, 12.0 * count, operations},
            .arguments = arguments,
            .results = {pixels, pixels, pixels},
            .firn = sample,
            .best = by_hand("path", numbers, picture, true),
            .plain = by_hand("plain_path", numbers, picture, false),
            .tolerance = 0.05,
            .difference = share_of_other_paths};
}

void add_path(std::vector<Case>& cases) {
    cases.push_back(
        {"path", [] { return path_contest(360, 640); }, Section::Own,
         "lanes take every branch that one of them takes, and go on until the last has arrived"});
}

}  // namespace firn::bench
