// Scenes of signed distances, which rays march through, and of spheres.
#include "apps/path_tracer/scene.h"

#include <cmath>

namespace firn::path_tracer {
namespace {

constexpr float kGroundHeight = -1.0f;
constexpr float kBall = 1.25f;  // the bulb is inside a ball of this radius

/// Stretches of a ray that a march need not leave.
struct Range {
    Tensor begin, end;
};

Range cube_range(const Ray& ray) {
    vec3 inverse = 1.0f / select(lessThan(abs(ray.direction), 1e-9f), 1e-9f, ray.direction);
    vec3 a = (-1.001f - ray.origin) * inverse, b = (1.001f - ray.origin) * inverse;
    vec3 low = min(a, b), high = max(a, b);
    return {max(max(low.x, low.y, low.z), 0.0f), min(high.x, high.y, high.z)};
}

Range ball_range(const Ray& ray, float radius) {
    Tensor along = dot(ray.origin, ray.direction);
    Tensor inside = along * along - dot(ray.origin, ray.origin) + radius * radius;
    Tensor half = sqrt(max(inside, 0.0f));
    return {max(-along - half, 0.0f), select(inside > 0.0f, half - along, -1.0f)};
}

Tensor ground_distance(const Ray& ray) {
    Tensor t = (kGroundHeight - ray.origin.y) / ray.direction.y;
    return select(t > 0.0f, t, kFar);
}

/// Returns the distance that counts as touching, at distance t from the ray's origin.
Tensor touching(const Tensor& t) { return 1e-4f + 3e-4f * t; }

/// Steps as long as the distance to the surface, which cannot be overstepped.
Tensor march(const std::function<Tensor(const vec3&)>& distance, const Ray& ray,
             const Range& range) {
    Tensor t = range.begin;
    for (Tensor step : loop(192)) {
        if_(t > range.end, [&] { break_(); });
        Tensor free = distance(ray.at(t));
        if_(free < touching(t), [&] { break_(); });
        t += free;
    }
    return select(t > range.end, kFar, t);
}

/// The method that computes the gradient of a distance: by one sweep backwards, or by three
/// forwards, which keep nothing of the iterations of loops.
enum class Sweep : int { Backwards, Forwards };

/// The gradient of the distance, of length 1.
vec3 normal(const std::function<Tensor(const vec3&)>& distance, const vec3& p, Sweep sweep) {
    Tensor d = distance(p);
    std::vector<Tensor> by;
    if (sweep == Sweep::Backwards) {
        by = grad(d, {p.x, p.y, p.z});
    } else {
        Tensor no = zeros(p.x.shape()), one = ones(p.x.shape());
        for (const std::vector<Tensor>& along :
             {std::vector{one, no, no}, {no, one, no}, {no, no, one}})
            by.push_back(jvp(d, {p.x, p.y, p.z}, along));
    }
    return normalize(vec3(by[0], by[1], by[2]));
}

/// Tiles with thin seams.
Surface ground(const vec3& p, const Material& material) {
    vec2 seam = abs(fract(p.xz() * 0.5f) - 0.5f);
    Tensor dark = select(max(seam.x, seam.y) > 0.493f, 0.45f, 1.0f);
    return {vec3(0, 1, 0), vec3(0.82f, 0.80f, 0.77f) * (material.ground * dark), 1.0f, 0.0f, 0.0f};
}

Surface choose(const Tensor& condition, const Surface& a, const Surface& b) {
    return {select(condition, a.normal, b.normal), select(condition, a.colour, b.colour),
            select(condition, a.roughness, b.roughness), select(condition, a.metal, b.metal),
            select(condition, a.coat, b.coat)};
}

/// Makes a scene of an object, given by its distances, above the ground. `tint` colours its points.
Scene distance_scene(std::function<Tensor(const vec3&)> distance, Sweep sweep,
                     std::function<Range(const Ray&)> range, std::function<vec3(const vec3&)> tint,
                     const Material& material) {
    auto nearest = [=](const Ray& ray) {
        Tensor below = ground_distance(ray);
        Range inside = range(ray);
        Tensor t = march(distance, ray, {inside.begin, min(inside.end, below)});
        return Hit{min(t, below), select(t < below, 1, 0)};
    };
    auto surface = [=](const vec3& p, const Tensor& object) {
        Surface own{vec3(0, 1, 0), material.colour * tint(p), material.roughness, material.metal,
                    material.coat};
        if_(object == 1, [&] { own.normal = normal(distance, p, sweep); });
        return choose(object == 1, own, ground(p, material));
    };
    return {nearest, surface};
}

// --- spheres -------------------------------------------------------------------------------------

/// The spheres, a row of each tensor for every one.
struct Spheres {
    Tensor centre, radius, colour, roughness, metal;
    int count = 0;
};

/// A large ball with rings of smaller ones around it, from mirrors to chalk.
Spheres arranged_spheres() {
    std::vector<float> centre{0, 0, 0}, radius{1}, colour{0.9f, 0.9f, 0.9f}, roughness{0}, metal{1};
    for (int ring = 0; ring < 3; ++ring) {
        int count = 7 + 5 * ring;
        for (int k = 0; k < count; ++k) {
            float turn = 6.2831853f * (float(k) / float(count) + 0.13f * float(ring));
            float away = 1.75f + 1.15f * float(ring), hue = float(k) / float(count);
            float size = 0.22f + 0.13f * std::abs(std::sin(2.3f * float(k) + float(ring)));
            centre.insert(centre.end(),
                          {away * std::cos(turn), kGroundHeight + size, away * std::sin(turn)});
            radius.push_back(size);
            for (float shift : {0.0f, 0.33f, 0.67f})
                colour.push_back(0.5f + 0.42f * std::cos(6.2831853f * (hue + shift)));
            roughness.push_back(0.05f + 0.5f * std::fmod(0.37f * float(k), 1.0f));
            metal.push_back(k % 3 == 0 ? 1.0f : 0.0f);
        }
    }
    int count = static_cast<int>(radius.size());
    return {tensor(centre, {count, 3}), tensor(radius), tensor(colour, {count, 3}),
            tensor(roughness),          tensor(metal),  count};
}

vec3 row(const Tensor& table, const Tensor& k) {
    return vec3(table(k, 0), table(k, 1), table(k, 2));
}

Scene sphere_scene(const Material& material) {
    Spheres all = arranged_spheres();
    auto nearest = [=](const Ray& ray) {
        Hit hit{ground_distance(ray), 0};
        for (Tensor k : loop(all.count)) {
            Tensor t = sphere_distance(ray, row(all.centre, k), all.radius(k));
            hit.object = select(t < hit.distance, k + 1, hit.object);
            hit.distance = min(t, hit.distance);
        }
        return hit;
    };
    auto surface = [=](const vec3& p, const Tensor& object) {
        Tensor k = max(object - 1, 0);
        Surface small{(p - row(all.centre, k)) / all.radius(k), row(all.colour, k),
                      all.roughness(k), all.metal(k), 1.0f};
        Surface middle{small.normal, material.colour, material.roughness, material.metal,
                       material.coat};
        return choose(object == 0, ground(p, material), choose(object == 1, middle, small));
    };
    return {nearest, surface};
}

Scene furnace_scene(const Material& material) {
    auto nearest = [=](const Ray& ray) { return Hit{sphere_distance(ray, vec3(0), 1.0f), 1}; };
    auto surface = [=](const vec3& p, const Tensor&) {
        return Surface{normalize(p), material.colour, material.roughness, material.metal,
                       material.coat};
    };
    return {nearest, surface};
}

}  // namespace

Tensor sphere_distance(const Ray& ray, const vec3& centre, const Tensor& radius) {
    vec3 from = ray.origin - centre;
    Tensor along = dot(from, ray.direction);
    // The nearest point of the line, rather than the discriminant: exact for small far spheres.
    vec3 off = from - ray.direction * along;
    Tensor inside = radius * radius - dot(off, off);
    Tensor half = sqrt(max(inside, 0.0f));
    Tensor t = select(-along - half > 1e-4f, -along - half, half - along);
    return select((inside > 0.0f) & (t > 1e-4f), t, kFar);
}

Tensor sponge_distance(const vec3& p) {
    vec3 out = abs(p) - 1.0f;
    Tensor d = min(max(out.x, out.y, out.z), 0.0f) + length(max(out, 0.0f));
    float scale = 1;
    for (int level = 0; level < 4; ++level) {
        vec3 a = mod(p * scale, 2.0f) - 1.0f;
        scale *= 3;
        vec3 r = abs(1.0f - 3.0f * abs(a));
        Tensor cross = min(max(r.x, r.y), max(r.y, r.z), max(r.z, r.x)) - 1.0f;
        d = max(d, cross / scale);
    }
    return d;
}

Tensor bulb_distance(const vec3& p) {
    vec3 w = p;
    Tensor m = dot(w, w), derivative = 1.0f;
    for (Tensor iteration : loop(4)) {
        if_(m > 256.0f, [&] { break_(); });
        Tensor cube = m * m * m;
        derivative = 8.0f * cube * sqrt(m) * derivative + 1.0f;
        Tensor x2 = w.x * w.x, y2 = w.y * w.y, z2 = w.z * w.z;
        Tensor x4 = x2 * x2, y4 = y2 * y2, z4 = z2 * z2;
        Tensor k3 = max(x2 + z2, 1e-8f), k4 = x2 - y2 + z2;
        Tensor k2 = rsqrt(k3 * k3 * k3 * k3 * k3 * k3 * k3);
        Tensor k1 = x4 + y4 + z4 - 6.0f * y2 * z2 - 6.0f * x2 * y2 + 2.0f * z2 * x2;
        Tensor even =
            x4 * x4 - 28.0f * x4 * x2 * z2 + 70.0f * x4 * z4 - 28.0f * x2 * z2 * z4 + z4 * z4;
        w = p +
            vec3(64.0f * w.x * w.y * w.z * (x2 - z2) * k4 * (x4 - 6.0f * x2 * z2 + z4) * k1 * k2,
                 -16.0f * y2 * k3 * k4 * k4 + k1 * k1, -8.0f * w.y * k4 * even * k1 * k2);
        m = dot(w, w);
    }
    return 0.25f * log(max(m, 1e-12f)) * sqrt(m) / derivative;
}

std::vector<std::string> scene_names() { return {"sponge", "bulb", "spheres", "furnace"}; }

Scene make_scene(SceneName name, const Material& material) {
    auto plain = [](const vec3&) { return vec3(1); };
    switch (name) {
        case SceneName::Sponge:
            return distance_scene(sponge_distance, Sweep::Backwards, cube_range, plain, material);
        case SceneName::Bulb:
            return distance_scene(
                bulb_distance, Sweep::Forwards,
                [](const Ray& ray) { return ball_range(ray, kBall); },
                [](const vec3& p) {
                    return mix(vec3(1.0f, 0.55f, 0.35f), vec3(1),
                               smoothstep(0.75f, 1.1f, length(p)));
                },
                material);
        case SceneName::Spheres: return sphere_scene(material);
        case SceneName::Furnace: return furnace_scene(material);
    }
    return {};
}

}  // namespace firn::path_tracer
