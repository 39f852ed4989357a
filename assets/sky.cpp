// Makes assets/sky.hdr, the light of apps/path_tracer: sunlight scattered in a round atmosphere.
#include <firn/firn.h>

#include <cmath>
#include <cstdio>

using namespace firn;

namespace {

// Kilometres. The atmosphere's numbers are those of T. Nishita et al., "Display of the Earth Taking
// into Account Atmospheric Scattering", 1993: air scatters blue, haze all colours and forward.
constexpr float kPi = 3.14159265f, kGround = 6360, kTop = 6420, kAirHeight = 7.994f,
                kHazeHeight = 1.2f, kForward = 0.76f;

vec3 air() { return vec3(5.8e-3f, 13.5e-3f, 33.1e-3f); }
vec3 haze() { return vec3(6e-3f); }

/// Returns the distance from p along a direction to the point where it leaves the sphere around the
/// earth's centre.
Tensor way_out(const vec3& p, const vec3& direction, float radius) {
    Tensor along = dot(p, direction);
    return -along + sqrt(max(along * along - dot(p, p) + radius * radius, 0.0f));
}

/// Air and haze: densities relative to those at the ground, or amounts in kilometres of that
/// density.
struct Depth {
    Tensor air, haze;
};
Depth density(const vec3& p) {
    Tensor height = max(length(p) - kGround, 0.0f);
    return {exp(-height / kAirHeight), exp(-height / kHazeHeight)};
}
Depth depth_to_sun(const vec3& p, const vec3& sun) {
    constexpr int kSteps = 16;
    Tensor length = way_out(p, sun, kTop) / float(kSteps);
    Depth sum{0.0f, 0.0f};
    for (Tensor step : loop(kSteps)) {
        Depth here = density(p + sun * ((step + 0.5f) * length));
        sum.air += here.air * length;
        sum.haze += here.haze * length;
    }
    return sum;
}
vec3 passed(const Depth& depth) { return exp(-(air() * depth.air + haze() * (1.1f * depth.haze))); }

/// Light scattered once towards the ground's level, for a sun whose light is 1 outside.
vec3 scattered(const vec3& direction, const vec3& sun) {
    constexpr int kSteps = 48;
    vec3 eye(0, kGround + 0.2f, 0), blue(0), white(0);
    Tensor length = way_out(eye, direction, kTop) / float(kSteps);
    Depth before{0.0f, 0.0f};
    for (Tensor step : loop(kSteps)) {
        vec3 p = eye + direction * ((step + 0.5f) * length);
        Depth here = density(p), beyond = depth_to_sun(p, sun);
        before.air += here.air * length;
        before.haze += here.haze * length;
        vec3 light = passed({before.air + beyond.air, before.haze + beyond.haze}) * length;
        blue += light * here.air;
        white += light * here.haze;
    }
    Tensor c = dot(direction, sun);
    Tensor air_phase = 3 / (16 * kPi) * (1.0f + c * c);
    Tensor haze_phase = (3 * (1 - kForward * kForward)) / (8 * kPi * (2 + kForward * kForward)) *
                        (1.0f + c * c) / pow(1 + kForward * kForward - 2 * kForward * c, 1.5f);
    return blue * air() * air_phase + white * haze() * haze_phase;
}

/// The panorama: rows from the zenith down, columns once around.
Tensor panorama(int h, int w, float sun_height, float sun_around) {
    Tensor down = (index({h, 1}, 0) + 0.5f) * (kPi / float(h)),
           around = (index({1, w}, 1) + 0.5f) * (2 * kPi / float(w));
    vec3 direction(sin(down) * cos(around), cos(down), sin(down) * sin(around));
    vec3 sun(std::cos(sun_height) * std::cos(sun_around), std::sin(sun_height),
             std::cos(sun_height) * std::sin(sun_around));
    constexpr float kSunlight = 20;
    // Below the horizon it is as bright as grey ground under this sky is, hazier far away.
    vec3 up(direction.x, abs(direction.y) + 0.005f, direction.z);
    // Light that was scattered more than once is bluish and even, and about as much again.
    vec3 sky = scattered(normalize(up), sun) * (1.5f * kSunlight) +
               vec3(0.16f, 0.22f, 0.34f) * mix(0.6f, 1.6f, exp(-4.0f * up.y));
    Tensor below = smoothstep(0.0f, 0.12f, -direction.y);
    sky = mix(sky, vec3(0.62f, 0.58f, 0.52f), below);
    // A disc a few texels wide gives the light of the real one, which is smaller than a texel.
    constexpr float kDisc = 0.03f;
    vec3 eye(0, kGround + 0.2f, 0);
    vec3 disc = passed(depth_to_sun(eye, sun)) * (kSunlight / (kPi * kDisc * kDisc));
    Tensor away = acos(clamp(dot(direction, sun), -1.0f, 1.0f));
    sky += disc * smoothstep(kDisc * 1.25f, kDisc * 0.75f, away);
    return stack(sky);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s OUT.hdr\n", argv[0]);
        return 2;
    }
    try {
        constexpr int kHeight = 256, kWidth = 512;
        save_image(argv[1], panorama(kHeight, kWidth, 0.6f, 0.9f));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
