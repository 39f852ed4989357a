// Recording a path: bounces are a loop, and what each does is a branch.
#include "apps/path_tracer/trace.h"

#include <cmath>

#include "apps/path_tracer/reflection.h"

namespace firn::path_tracer {
namespace {

/// The most surfaces that a path meets; drivers that stop long loops accept one whose end the
/// compiler knows.
constexpr int kMostBounces = 12;

/// The numbers of one bounce of one path: a function of pixel, sample, bounce and use alone.
struct Numbers {
    Tensor key;  // u32
    Tensor operator()(uint32_t use) const { return pcgf(key + use); }
};

/// Inputs that change between samples without a new program.
struct Inputs {
    vec3 eye, forward, right, up;  // right and up reach the edges of the picture
    Tensor lens, focus;
    Material material;
    Tensor sky_turn, sky_strength;
    Tensor bounces, sample, seed;  // i32, u32, u32
};

std::vector<ArgSpec> input_specs() {
    std::vector<ArgSpec> specs(12 + 2 + 3 + 4 + 2, f32());
    specs.push_back(i32());
    specs.push_back(u32());
    specs.push_back(u32());
    return specs;
}

Inputs inputs_from(const std::vector<Tensor>& all, size_t next) {
    auto one = [&] { return all[next++]; };
    auto three = [&] {
        vec3 v(all[next], all[next + 1], all[next + 2]);
        next += 3;
        return v;
    };
    Inputs in;
    in.eye = three(), in.forward = three(), in.right = three(), in.up = three();
    in.lens = one(), in.focus = one();
    in.material.colour = three();
    in.material.roughness = one(), in.material.metal = one(), in.material.coat = one(),
    in.material.ground = one();
    in.sky_turn = one(), in.sky_strength = one();
    in.bounces = one(), in.sample = one(), in.seed = one();
    return in;
}

using Vector = std::array<float, 3>;
Vector normalized(Vector v) {
    float size = std::hypot(v[0], v[1], v[2]);
    return {v[0] / size, v[1] / size, v[2] / size};
}
Vector crossed(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Appends the inputs in the order of inputs_from.
void append_inputs(std::vector<Arg>& args, const Settings& s, float aspect, int sample,
                   uint32_t seed) {
    auto three = [&](const Vector& v) {
        for (float x : v) args.emplace_back(x);
    };
    const Camera& camera = s.camera;
    View view = view_of(camera, aspect);
    three(view.eye), three(view.forward), three(view.right), three(view.up);
    args.emplace_back(0.5f * camera.aperture), args.emplace_back(camera.distance);
    three(s.colour);
    for (float x : {s.roughness, s.metal, s.coat, s.ground, s.sky_turn, s.sky_strength})
        args.emplace_back(x);
    args.emplace_back(s.bounces), args.emplace_back(static_cast<uint32_t>(sample)),
        args.emplace_back(seed);
}

/// A ray through a pixel: somewhere in it, and from somewhere on the lens.
Ray eye_ray(const Inputs& in, const Tensor& y, const Tensor& x, const Shape& size,
            const Numbers& numbers) {
    Tensor across = (x + numbers(0)) * (2.0f / Tensor(size[1])) - 1.0f;
    Tensor down = (y + numbers(1)) * (2.0f / Tensor(size[0])) - 1.0f;
    vec3 through = (in.forward + in.right * across - in.up * down) * in.focus;
    Tensor radius = in.lens * sqrt(numbers(2)), angle = numbers(3) * 6.2831853f;
    vec3 off =
        normalize(in.right) * (radius * cos(angle)) + normalize(in.up) * (radius * sin(angle));
    return {in.eye + off, normalize(through - off)};
}

/// Returns the weight of one way of drawing a direction if another one draws it too: the power
/// heuristic of Eric Veach, with light drawn from the sky and by following the reflection.
Tensor weight(const Tensor& own, const Tensor& other) {
    return own * own / max(own * own + other * other, 1e-20f);
}

/// A path on its way.
struct Path {
    Ray ray;
    vec3 light, kept;  // seen so far; the share of what comes that still reaches the eye
    Tensor chance;     // of its direction, per steradian; negative where it had no choice
};

void meet_sky(Path& path, const Sky& sky, const Inputs& in) {
    const vec3& direction = path.ray.direction;
    Tensor drawn = sky_chance(sky, direction, in.sky_turn);
    Tensor counts = select(path.chance < 0.0f, 1.0f, weight(path.chance, drawn));
    path.light +=
        path.kept * sky_radiance(sky, direction, in.sky_turn) * (counts * in.sky_strength);
}

/// The sky's light at a point, by one direction drawn from the sky itself.
void add_sky_light(Path& path, const vec3& from, const Shading& at, const Scene& scene,
                   const Sky& sky, const Inputs& in, const Numbers& numbers) {
    vec3 direction = draw_direction(sky, numbers(4), numbers(5), in.sky_turn);
    Reflected back = reflected(at, direction);
    if_(back.chance > 0.0f, [&] {
        Hit hit = scene.nearest({from, direction});
        if_(hit.distance >= kFar, [&] {
            Tensor drawn = sky_chance(sky, direction, in.sky_turn);
            Tensor counts = weight(drawn, back.chance) / drawn * in.sky_strength;
            path.light +=
                path.kept * back.light * sky_radiance(sky, direction, in.sky_turn) * counts;
        });
    });
}

void bounce(Path& path, const Hit& hit, const Tensor& index, const Scene& scene, const Sky& sky,
            const Inputs& in, const Numbers& numbers) {
    vec3 point = path.ray.at(hit.distance);
    Shading at = shading(scene.surface(point, hit.object), -path.ray.direction);
    vec3 from = point + at.surface.normal * (1e-3f + 6e-4f * hit.distance);
    add_sky_light(path, from, at, scene, sky, in, numbers);
    vec3 direction = follow(at, numbers(6), numbers(7), numbers(8));
    Reflected on = reflected(at, direction);
    path.kept *= select(on.chance > 0.0f, on.light / max(on.chance, 1e-20f), 0.0f);
    path.ray = {from, direction};
    path.chance = on.chance;
    // Russian roulette: dim paths end, and those that go on count for them.
    Tensor going_on =
        select(index < 2, 1.0f, min(max(path.kept.x, path.kept.y, path.kept.z), 0.95f));
    if_(numbers(9) >= going_on, [&] { break_(); });
    path.kept /= max(going_on, 1e-6f);
}

vec3 traced(const Scene& scene, const Sky& sky, const Inputs& in, const Shape& size) {
    auto [y, x] = indices<2>(size);
    Tensor pixel = (y * Tensor(size[1]) + x).as(u32);
    Tensor key = pcg(pixel + pcg(in.sample + pcg(in.seed)));
    Path path{eye_ray(in, y, x, size, {key}), vec3(0), vec3(1), -1.0f};
    for (Tensor index : loop(min(in.bounces, kMostBounces))) {
        Numbers numbers{pcg(key + (index + 1).as(u32))};
        Hit hit = scene.nearest(path.ray);
        if_(
            hit.distance < kFar, [&] { bounce(path, hit, index, scene, sky, in, numbers); },
            [&] {
                meet_sky(path, sky, in);
                break_();
            });
    }
    // If a normal cannot be computed, the light is not a number: such a sample would stay in the
    // sum.
    return select(lessThan(path.light, 1e6f), path.light, 0.0f);
}

}  // namespace

View view_of(const Camera& camera, float aspect) {
    Vector back{std::cos(camera.above) * std::sin(camera.around), std::sin(camera.above),
                std::cos(camera.above) * std::cos(camera.around)};
    View view;
    view.forward = {-back[0], -back[1], -back[2]};
    view.right = normalized(crossed(view.forward, {0, 1, 0}));
    view.up = crossed(view.right, view.forward);
    float high = std::tan(0.5f * camera.view);
    for (size_t k = 0; k < 3; ++k) {
        view.eye[k] = camera.at[k] + back[k] * camera.distance;
        view.right[k] *= high * aspect;
        view.up[k] *= high;
    }
    return view;
}

Film make_film(int height, int width) {
    Tensor dark = zeros({height, width});
    return {{dark, dark, dark}, 0};
}

Tracer::Tracer(SceneName name, const Sky& sky)
    : function_(compile(
          [&](const std::vector<Tensor>& args) {
              Inputs in = inputs_from(args, 3);
              vec3 light = traced(make_scene(name, in.material), sky, in, args[0].shape());
              std::array<Tensor, 3> sum;
              for (size_t c = 0; c < 3; ++c) sum[c] = args[c] + light[c];
              return sum;
          },
          [] {
              std::vector<ArgSpec> specs(3, f32("h", "w"));
              for (const ArgSpec& spec : input_specs()) specs.push_back(spec);
              return specs;
          }())) {}

void Tracer::add_sample(Film& film, const Settings& settings, uint32_t seed) const {
    int h = film.sum[0].size(0), w = film.sum[0].size(1);
    std::vector<Arg> args(film.sum.begin(), film.sum.end());
    append_inputs(args, settings, float(w) / float(h), film.samples, seed);
    std::vector<Tensor> sum = function_.call(args);
    for (size_t c = 0; c < 3; ++c) film.sum[c] = sum[c];
    ++film.samples;
}

Tensor linear_picture(const Film& film) {
    float share = 1.0f / float(std::max(film.samples, 1));
    return stack(vec3(film.sum[0], film.sum[1], film.sum[2]) * share);
}

Tensor developed(const Film& film, float exposure) {
    float scale = 0.3f * std::exp2(exposure) / float(std::max(film.samples, 1));
    vec3 c = vec3(film.sum[0], film.sum[1], film.sum[2]) * scale;
    vec3 pressed = clamp(c * (2.51f * c + 0.03f) / (c * (2.43f * c + 0.59f) + 0.14f), 0.0f, 1.0f);
    return stack(pow(pressed, 1 / 2.2f));
}

}  // namespace firn::path_tracer
