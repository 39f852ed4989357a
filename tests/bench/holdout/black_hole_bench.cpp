// A black hole before a checkered sky, and the glowing disc that falls into it.
#include <firn/firn.h>
#include <firn/shading.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kHoleRows = 256, kHoleColumns = 384, kHoleSteps = 200;
constexpr int64_t kHolePixels = int64_t(kHoleRows) * kHoleColumns;
constexpr float kHoleStep = 0.15f, kHoleSky = 256;  // of the sky's radius the square
constexpr float kHoleInner = 3, kHoleOuter = 8, kHoleClear = 0.35f;
constexpr float kHoleEyeY = 2.5f, kHoleEyeZ = -13.5f;

/// Light's way around a black hole of radius 1 as that of a particle with angular momentum h and
/// acceleration -3/2 h^2 x / r^5, which solves u'' = -u + 3/2 u^2: J.-P. Luminet, "Image of a
/// Spherical Black Hole with Thin Accretion Disk", 1979. Steps are leapfrog's.
struct HoleRay {
    vec3 x, v;
    Tensor pull;
};
vec3 hole_push(const vec3& x, const Tensor& pull) {
    Tensor squared = dot(x, x);
    return x * (pull / (squared * squared * sqrt(squared)));
}
HoleRay hole_ray(const Tensor& i, const Tensor& j, const Tensor& eye_y, const Tensor& eye_z) {
    vec3 eye(0.0f, eye_y, eye_z);
    vec3 ahead = normalize(-eye), right = normalize(cross(vec3(0, 1, 0), ahead)),
         up = cross(ahead, right);
    Tensor across = (j + 0.5f - 0.5f * kHoleColumns) / (0.5f * kHoleRows);
    Tensor above = (0.5f * kHoleRows - i - 0.5f) / (0.5f * kHoleRows);
    vec3 v = normalize(ahead * 1.4f + right * across + up * above), turn = cross(eye, v);
    Tensor pull = -1.5f * dot(turn, turn);
    v += 0.5f * kHoleStep * hole_push(eye, pull);
    return {eye, v, pull};
}
/// The light of the disc at a point towards the eye: hotter within, brighter where it approaches.
Tensor hole_glow(const vec3& at, const vec3& v) {
    Tensor radius = sqrt(at.x * at.x + at.z * at.z);
    Tensor speed = sqrt(0.5f / radius);
    Tensor along = speed * (at.x * v.z - at.z * v.x) / (radius * length(v));
    Tensor shift = 1.0f / (1.0f + along);
    Tensor rings = 0.75f + 0.25f * sin(5.0f * radius);
    Tensor glow = 2.0f * rings * shift * shift * shift / radius;
    return where((radius > kHoleInner) & (radius < kHoleOuter), glow, 0.0f);
}
Tensor hole_clear(const vec3& at) {
    Tensor squared = at.x * at.x + at.z * at.z;
    Tensor inside = (squared > kHoleInner * kHoleInner) & (squared < kHoleOuter * kHoleOuter);
    return where(inside, kHoleClear, 1.0f);
}
Tensor hole_sky(const vec3& v) {
    Tensor longitude = floor(atan2(v.z, v.x) * float(12 / 3.14159265358979)),
           latitude = floor(asin(v.y / length(v)) * float(12 / 3.14159265358979));
    return where((longitude + latitude) % 2.0f < 1.0f, 0.1f, 0.3f);
}
/// The disc is yellow, and the sky is blue.
vec3 hole_colour(const Tensor& glow, const Tensor& sky) {
    return glow * vec3(1.0f, 0.6f, 0.25f) + sky * vec3(0.5f, 0.7f, 1.0f);
}

Tensor black_hole_of(Tensor eye_y, Tensor eye_z) {
    auto [i, j] = indices<2>({kHoleRows, kHoleColumns});
    auto [x, v, pull] = hole_ray(i, j, eye_y, eye_z);
    Tensor glow = 0.0f, clear = 1.0f, open = full({kHoleRows, kHoleColumns}, true);
    for (Tensor step : loop(kHoleSteps)) {
        vec3 faster = v + kHoleStep * hole_push(x, pull), next = x + kHoleStep * faster;
        Tensor crosses = open & (x.y * next.y < 0.0f);
        vec3 at = mix(x, next, x.y / (x.y - next.y));
        glow = where(crosses, glow + clear * hole_glow(at, faster), glow);
        clear = where(crosses, clear * hole_clear(at), clear);
        x = select(open, next, x);
        v = select(open, faster, v);
        Tensor squared = dot(x, x);
        open = open & (squared > 1.0f) & (squared < kHoleSky);
    }
    Tensor sky = where(dot(x, x) > 1.0f, clear * hole_sky(v), 0.0f);
    return stack(hole_colour(glow, sky));
}
Tensor black_hole_kernel(Tensor eye_y, Tensor eye_z) {
    Tensor picture = zeros({kHoleRows, kHoleColumns, 3});
    kernel({kHoleRows, kHoleColumns}, [&](Tensor i, Tensor j) {
        auto [x, v, pull] = hole_ray(i, j, eye_y, eye_z);
        Tensor glow = 0.0f, clear = 1.0f;
        for (Tensor step : loop(kHoleSteps)) {
            v += kHoleStep * hole_push(x, pull);
            vec3 next = x + kHoleStep * v;
            if_(x.y * next.y < 0.0f, [&] {
                vec3 at = mix(x, next, x.y / (x.y - next.y));
                glow += clear * hole_glow(at, v);
                clear *= hole_clear(at);
            });
            x = next;
            Tensor squared = dot(x, x);
            if_((squared <= 1.0f) | (squared >= kHoleSky), [&] { break_(); });
        }
        Tensor sky = 0.0f;
        if_(dot(x, x) > 1.0f, [&] { sky = clear * hole_sky(v); });
        vec3 colour = hole_colour(glow, sky);
        for (int c = 0; c < 3; ++c) picture(i, j, c) = colour[size_t(c)];
    });
    return picture;
}

struct HoleVec {
    double x, y, z;
};
HoleVec operator+(HoleVec a, HoleVec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
HoleVec operator*(HoleVec a, double b) { return {a.x * b, a.y * b, a.z * b}; }
double dot(HoleVec a, HoleVec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HoleVec cross(HoleVec a, HoleVec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
HoleVec normalize(HoleVec a) { return a * (1 / std::sqrt(dot(a, a))); }

/// The picture, and how many steps it took.
std::pair<std::vector<float>, double> host_black_hole() {
    constexpr double kPi = 3.14159265358979, kStep = double(kHoleStep);
    std::vector<float> out;
    double steps = 0;
    const HoleVec eye{0, double(kHoleEyeY), double(kHoleEyeZ)},
        ahead = normalize(eye * -1), right = normalize(cross({0, 1, 0}, ahead)),
        up = cross(ahead, right);
    for (int i = 0; i < kHoleRows; ++i)
        for (int j = 0; j < kHoleColumns; ++j) {
            const double across = (j + 0.5 - 0.5 * kHoleColumns) / (0.5 * kHoleRows),
                         above = (0.5 * kHoleRows - i - 0.5) / (0.5 * kHoleRows);
            HoleVec x = eye, v = normalize(ahead * 1.4 + right * across + up * above);
            const HoleVec turn = cross(eye, v);
            const auto push = [pull = -1.5 * dot(turn, turn)](HoleVec at) {
                return at * (pull / (dot(at, at) * dot(at, at) * std::sqrt(dot(at, at))));
            };
            v = v + push(x) * (0.5 * kStep);
            double glow = 0, clear = 1;
            for (int step = 0; step < kHoleSteps; ++step) {
                ++steps;
                v = v + push(x) * kStep;
                const HoleVec next = x + v * kStep;
                if (x.y * next.y < 0) {
                    const HoleVec at = x + (next + x * -1) * (x.y / (x.y - next.y));
                    const double radius = std::hypot(at.x, at.z);
                    if (radius > double(kHoleInner) && radius < double(kHoleOuter)) {
                        const double shift =
                            1 / (1 + std::sqrt(0.5 / radius) * (at.x * v.z - at.z * v.x) /
                                         (radius * std::sqrt(dot(v, v))));
                        glow += clear * 2 * (0.75 + 0.25 * std::sin(5 * radius)) *
                                std::pow(shift, 3) / radius;
                        clear *= double(kHoleClear);
                    }
                }
                x = next;
                if (dot(x, x) <= 1 || dot(x, x) >= double(kHoleSky)) break;
            }
            const int tile = int(std::floor(std::atan2(v.z, v.x) * 12 / kPi)) +
                             int(std::floor(std::asin(v.y / std::sqrt(dot(v, v))) * 12 / kPi));
            const double sky = dot(x, x) > 1 ? clear * ((tile & 1) == 0 ? 0.1 : 0.3) : 0;
            for (const auto& [disc, blue] : {std::pair{1.0, 0.5}, {0.6, 0.7}, {0.25, 1.0}})
                out.push_back(float(disc * glow + blue * sky));
        }
    return {out, steps};
}

constexpr const char* kPlainHole = R"(
vec3 push(vec3 x, float pull) {
    float squared = dot(x, x);
    return x * (pull / (squared * squared * sqrt(squared)));
}
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x);
    vec3 x = vec3(0.0, 2.5, -13.5), ahead = normalize(-x);
    vec3 right = normalize(cross(vec3(0, 1, 0), ahead)), up = cross(ahead, right);
    float across = (float(j) + 0.5 - 192.0) / 128.0, above = (128.0 - float(i) - 0.5) / 128.0;
    vec3 v = normalize(1.4 * ahead + across * right + above * up), turn = cross(x, v);
    float pull = -1.5 * dot(turn, turn), glow = 0.0, clear = 1.0;
    v += 0.075 * push(x, pull);
    for (int step = 0; step < 200; ++step) {
        v += 0.15 * push(x, pull);
        vec3 next = x + 0.15 * v;
        if (x.y * next.y < 0.0) {
            vec3 at = mix(x, next, x.y / (x.y - next.y));
            float radius = length(at.xz);
            if (radius > 3.0 && radius < 8.0) {
                float along = sqrt(0.5 / radius) * (at.x * v.z - at.z * v.x) / (radius * length(v));
                float shift = 1.0 / (1.0 + along);
                float rings = 0.75 + 0.25 * sin(5.0 * radius);
                glow += clear * 2.0 * rings * shift * shift * shift / radius;
                clear *= 0.35;
            }
        }
        x = next;
        float squared = dot(x, x);
        if (squared <= 1.0 || squared >= 256.0) break;
    }
    float sky = 0.0;
    if (dot(x, x) > 1.0) {
        float longitude = floor(atan(v.z, v.x) * 3.8197186);
        float latitude = floor(asin(v.y / length(v)) * 3.8197186);
        sky = clear * (mod(longitude + latitude, 2.0) < 1.0 ? 0.1 : 0.3);
    }
    vec3 colour = glow * vec3(1.0, 0.6, 0.25) + sky * vec3(0.5, 0.7, 1.0);
    int place = (i * 384 + j) * 3;
    picture[place] = colour.x;
    picture[place + 1] = colour.y;
    picture[place + 2] = colour.z;
}
)";

HandProgram plain_hole() {
    return {{{"black_hole",
              kPlainHole,
              {16, 16, 1},
              {kHoleColumns / 16, kHoleRows / 16, 1},
              {{"picture", As::Floats, 0, true}},
              {}}},
            {},
            {}};
}

// A ray stays in a plane, where it is p and q: q = 0 is where the plane meets the disc. Four rays
// of an invocation are marched until each has come to the disc or to its end; then the disc is
// shaded. A subgroup has BLOCK invocations beside one another.
constexpr const char* kBestHole = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x);
    int i = int(gl_WorkGroupID.y) * (64 / BLOCK) + lane / BLOCK;
    int j = (int(gl_WorkGroupID.x) * BLOCK + lane % BLOCK) * 4;
    const vec3 eye = vec3(0.0, 2.5, -13.5);
    vec3 ahead = normalize(-eye), up = cross(ahead, vec3(1, 0, 0));
    vec4 across = (vec4(j, j + 1, j + 2, j + 3) - 191.5) / 128.0;
    float above = (127.5 - float(i)) / 128.0;
    vec4 scale = inversesqrt(1.96 + across * across + above * above);
    vec4 vx = across * scale;
    vec4 vy = (1.4 * ahead.y + above * up.y) * scale, vz = (1.4 * ahead.z + above * up.z) * scale;
    // The angular momentum h is at right angles to the plane, p lies also in that of the disc.
    vec4 hx = eye.y * vz - eye.z * vy, hy = eye.z * vx, hz = -eye.y * vx;
    vec4 level = hx * hx + hz * hz, momentum = level + hy * hy;
    vec4 pull = -0.225 * momentum, flat_ = inversesqrt(level), whole = inversesqrt(momentum);
    vec4 px = -hz * flat_, pz = hx * flat_;
    vec4 qx = hy * pz * whole, qy = (hz * px - hx * pz) * whole, qz = -hy * px * whole;
    vec4 p = eye.z * pz, q = eye.y * qy + eye.z * qz;
    vec4 vp = vx * px + vz * pz, vq = vx * qx + vy * qy + vz * qz;
    vec4 squared = p * p + q * q, push = 0.5 * pull / (squared * squared * sqrt(squared));
    vp += p * push, vq += q * push;

    vec4 glow = vec4(0.0), clear = vec4(1.0), open = vec4(1.0), left = vec4(200.0);
    do {
        vec4 marched = open, go = open;
        do {
            vec4 before = q, far = 0.15 * go;
            push = go * pull / (squared * squared * sqrt(squared));
            vp += p * push, vq += q * push;
            p += far * vp, q += far * vq;
            squared = p * p + q * q;
            left -= go;
            open = mix(open, vec4(0.0), lessThanEqual(squared, vec4(1.0)));
            open = mix(open, vec4(0.0), greaterThanEqual(squared, vec4(256.0)));
            open = mix(open, vec4(0.0), lessThan(left, vec4(0.5)));
            go = min(go, open);
            go = mix(go, vec4(0.0), lessThan(q * before, vec4(0.0)));
        } while (go != vec4(0.0));
        vec4 before = q - 0.15 * vq, at = p - 0.15 * vp * (q / (q - before)), radius = abs(at);
        vec4 shift = 1.0 / (1.0 + sqrt(0.5 / radius) * sign(at) * vq * (px * qz - pz * qx) *
                                      inversesqrt(vp * vp + vq * vq));
        vec4 more = (1.5 + 0.5 * sin(5.0 * radius)) * shift * shift * shift / radius;
        vec4 seen = mix(vec4(0.0), marched, lessThan(q * before, vec4(0.0)));
        seen = mix(vec4(0.0), seen, lessThan(abs(radius - 5.5), vec4(2.5)));
        glow += mix(vec4(0.0), clear * more, greaterThan(seen, vec4(0.0)));
        clear *= 1.0 - 0.65 * seen;
    } while (open != vec4(0.0));

    vec4 wx = vp * px + vq * qx, wy = vq * qy, wz = vp * pz + vq * qz;
    vec4 longitude = floor(atan(wz, wx) * 3.8197186);
    vec4 latitude = floor(asin(wy * inversesqrt(vp * vp + vq * vq)) * 3.8197186);
    bvec4 even = lessThan(mod(longitude + latitude, 2.0), vec4(1.0));
    vec4 sky = clear * mix(vec4(0.3), vec4(0.1), even);
    sky = mix(vec4(0.0), sky, greaterThan(squared, vec4(1.0)));
    vec4 red = glow + 0.5 * sky, green = 0.6 * glow + 0.7 * sky, blue = 0.25 * glow + sky;
    int place = (i * 384 + j) / 4 * 3;
    picture[place] = vec4(red.x, green.x, blue.x, red.y);
    picture[place + 1] = vec4(green.y, blue.y, red.z, green.z);
    picture[place + 2] = vec4(blue.z, red.w, green.w, blue.w);
}
)";

HandProgram best_hole(int block) {
    return {{{"black_hole",
              kBestHole,
              {64, 1, 1},
              {kHoleColumns / 4 / block, kHoleRows / (64 / block), 1},
              {{"picture", As::Vec4s, 0, true}},
              {{"BLOCK", block}}}},
            {},
            {}};
}

Contest black_hole(Tensor (*program)(Tensor, Tensor)) {
    auto draw = compile(program, {f32(), f32()});
    const auto seen = host_black_hole();
    const std::vector<float> picture = seen.first;
    const double steps = seen.second;
    // Operations per step in the plane of the ray: the squared distance 3, the pull 4, the speed
    // and the place 4 each, and 4 to compare: two distances, the disc, and the number of steps. Per
    // pixel its direction and plane 30, the sky 16, and the colour 9; the disc is not counted.
    return {.least = {0, 12.0 * kHolePixels, 19.0 * steps + 55.0 * kHolePixels},
            .arguments = {},
            .results = {3 * kHolePixels},
            .firn = [=] { return std::vector<Tensor>{draw(kHoleEyeY, kHoleEyeZ)}; },
            .best = best_hole(2),
            .plain = plain_hole(),
            .tolerance = 0.01,
            .difference = share_that_differs,
            .expected = [picture] { return std::vector<std::vector<float>>{picture}; }};
}

constexpr const char* kBlackHoleFar =
    "lanes go on until the last of them has arrived, and a root and a division wait in every step";

}  // namespace

void add_black_hole(std::vector<Case>& cases) {
    cases.push_back(
        {"black_hole", [] { return black_hole(black_hole_of); }, Section::Training, kBlackHoleFar});
    cases.push_back({"black_hole_kernel", [] { return black_hole(black_hole_kernel); },
                     Section::Training, kBlackHoleFar});
}

}  // namespace firn::bench
