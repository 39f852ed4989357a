// Gravity between all pairs, and the galaxies that they start as.
#include "apps/n_body/bodies.h"

#include <array>
#include <cmath>

namespace firn::n_body {
namespace {

constexpr float kPi = 3.14159265f;

// A galaxy of mass 1. Its disc is thin and exponential, its halo a Plummer sphere.
constexpr float kDiscMass = 0.3f, kDiscShare = 0.75f;  // of the mass, of the bodies
constexpr float kDiscScale = 0.32f, kDiscHeight = 0.02f, kDiscEdge = 5 * kDiscScale;
constexpr float kHaloScale = 0.45f;

/// The place of a galaxy in space: its mass, its centre, its velocity, and the tilt of its disc.
struct Frame {
    float mass;
    std::array<float, 3> place, velocity;
    float inclination, turn;
};

/// Two galaxies that fall towards each other on a parabola whose nearest point is `nearest`.
std::array<Frame, 2> parabola(float mass_a, float mass_b, float distance, float nearest) {
    float mass = mass_a + mass_b, speed = std::sqrt(2 * mass / distance);
    float across = std::sqrt(2 * mass * nearest) / distance;
    float inward = std::sqrt(std::max(speed * speed - across * across, 0.0f));
    float a = mass_b / mass, b = -mass_a / mass;
    auto frame = [&](float own, float share, float inclination, float turn) {
        return Frame{
            own, {share * distance, 0, 0}, {-share * inward, share * across, 0}, inclination, turn};
    };
    return {frame(mass_a, a, 0.35f, 0.4f), frame(mass_b, b, 1.1f, -0.7f)};
}

/// Numbers of one kind for every body; each call gives a stream of its own.
struct Streams {
    int count;
    uint32_t seed, next = 0;
    Tensor uniform() { return rand({count}, {.seed = seed, .stream = next++}); }
    Tensor normal() { return randn({count}, {.seed = seed, .stream = next++}); }
    vec3 normals() { return {normal(), normal(), normal()}; }
};

/// Mass of the disc inside a radius, and that of the halo.
Tensor disc_inside(const Tensor& radius) {
    Tensor scaled = radius / kDiscScale;
    return kDiscMass * (1.0f - (1.0f + scaled) * exp(-scaled));
}
Tensor halo_inside(const Tensor& radius) {
    Tensor ratio = radius * rsqrt(square(radius) + kHaloScale * kHaloScale);
    return (1 - kDiscMass) * ratio * ratio * ratio;
}

struct Phase {
    vec3 position, velocity;
};

/// Stars that circle where the pull of what is inside holds them, a little warm.
Phase disc(Streams& random) {
    Tensor radius = -kDiscScale * log((1.0f - random.uniform()) * (1.0f - random.uniform()));
    radius = min(radius, kDiscEdge);
    Tensor angle = 2 * kPi * random.uniform(), c = cos(angle), s = sin(angle);
    Tensor speed = sqrt((disc_inside(radius) + halo_inside(radius)) / max(radius, 0.02f));
    vec3 warmth = 0.06f * speed * random.normals();
    return {{radius * c, radius * s, kDiscHeight * random.normal()},
            vec3{-speed * s, speed * c, zeros({random.count})} + warmth};
}

/// A Plummer sphere, with the velocities' spread that its stars need against all mass inside.
Phase halo(Streams& random) {
    Tensor inside = 0.02f + 0.93f * random.uniform();
    Tensor radius = kHaloScale * rsqrt(pow(inside, -2.0f / 3) - 1.0f);
    Tensor height = 2.0f * random.uniform() - 1.0f, angle = 2 * kPi * random.uniform();
    Tensor flat = sqrt(1.0f - height * height);
    Tensor mass = 1 - kDiscMass + disc_inside(radius);
    Tensor spread = sqrt(mass / 6.0f * rsqrt(square(radius) + kHaloScale * kHaloScale));
    return {radius * vec3{flat * cos(angle), flat * sin(angle), height}, spread * random.normals()};
}

/// Turned about x by the inclination, then about z.
vec3 tilted(const vec3& a, const Tensor& inclination, const Tensor& turn) {
    Tensor y = cos(inclination) * a.y - sin(inclination) * a.z,
           z = sin(inclination) * a.y + cos(inclination) * a.z;
    return {cos(turn) * a.x - sin(turn) * y, sin(turn) * a.x + cos(turn) * y, z};
}

}  // namespace

Bodies colliding_galaxies(int count, uint32_t seed) {
    Streams random{count, seed};
    std::array<Frame, 2> frames = parabola(1.0f, 0.6f, 3.6f, 0.55f);
    Tensor body = arange(count), first = body % 2 == 0;
    auto each = [&](auto member) { return select(first, member(frames[0]), member(frames[1])); };

    Tensor in_disc = random.uniform() < kDiscShare;
    Phase stars = disc(random), round = halo(random);
    Tensor inclination = each([](const Frame&f) { return f.inclination; }),
           turn = each([](const Frame&f) { return f.turn; }),
           total = each([](const Frame&f) { return f.mass; });
    auto placed = [&](const vec3& a, auto member) {
        auto part = [&](size_t c) { return each([&](const Frame& f) { return (f.*member)[c]; }); };
        return tilted(a, inclination, turn) + vec3{part(0), part(1), part(2)};
    };

    Bodies bodies;
    bodies.position = placed(select(in_disc, stars.position, round.position), &Frame::place);
    // A galaxy of less mass and equal size rotates more slowly.
    bodies.velocity =
        placed(sqrt(total) * select(in_disc, stars.velocity, round.velocity), &Frame::velocity);
    Tensor still = zeros({count});
    bodies.acceleration = {still, still, still};
    float half = 0.5f * float(count);
    bodies.mass = total * select(in_disc, kDiscMass / (kDiscShare * half),
                                 (1 - kDiscMass) / ((1 - kDiscShare) * half));
    bodies.light = select(in_disc, 0.6f + 0.8f * random.uniform(), 0.25f);
    bodies.galaxy = select(first, 0.0f, 1.0f);
    auto& [p, v, a, mass, light, galaxy] = bodies;
    realize(p.x, p.y, p.z, v.x, v.y, v.z, mass, light, galaxy);  // by one program
    return bodies;
}

vec3 gravity(const vec3& position, const Tensor& mass, const Tensor& softening) {
    Size count = mass.size(0);
    vec3 pull{zeros({count}), zeros({count}), zeros({count})};
    for (Tensor j : loop(count)) {
        vec3 away{position.x(j) - position.x, position.y(j) - position.y,
                  position.z(j) - position.z};
        Tensor square = dot(away, away) + softening * softening;
        pull = pull + mass(j) / (square * sqrt(square)) * away;
    }
    return pull;
}

Bodies leapfrog(Bodies bodies, const Tensor& dt, const Tensor& softening) {
    vec3 halfway = bodies.velocity + 0.5f * dt * bodies.acceleration;
    bodies.position = bodies.position + dt * halfway;
    bodies.acceleration = gravity(bodies.position, bodies.mass, softening);
    bodies.velocity = halfway + 0.5f * dt * bodies.acceleration;
    return bodies;
}

Energy energy(const vec3& position, const vec3& velocity, const Tensor& mass,
              const Tensor& softening) {
    Size count = mass.size(0);
    Tensor body = arange(count), depth = zeros({count});
    for (Tensor j : loop(count)) {
        vec3 away{position.x(j) - position.x, position.y(j) - position.y,
                  position.z(j) - position.z};
        Tensor inverse = mass(j) / sqrt(dot(away, away) + softening * softening);
        depth += select(body == j, 0.0f, inverse);
    }
    return {0.5f * sum(mass * dot(velocity, velocity)), -0.5f * sum(mass * depth)};
}

}  // namespace firn::n_body
