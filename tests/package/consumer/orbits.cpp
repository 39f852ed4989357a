// Particles of one's own with an energy plot: 20,000 bodies that circle two suns.
#include <firn/firn.h>
using namespace firn;

int main(int argc, char** argv) {
    App app({.name = "orbits", .help = "Bodies circle two suns; drag to look around."});
    Param<float> dt{app, "dt", 0.01f, {.min = 0, .max = 0.05}};
    Param<float> apart{app, "apart", 0.8f, {.min = 0, .max = 2, .help = "between the suns"}};
    return app.run(argc, argv, [&](Window& window) {
        const auto leapfrog = [](vec3 p, vec3 v, Tensor dt, Tensor apart) {
            const vec3 half(0.5f * apart, 0.0f, 0.0f);
            const auto pull = [&](const vec3& from) {
                return -from / pow(dot(from, from) + 0.01f, 1.5f);
            };
            v += 0.5f * dt * (pull(p - half) + pull(p + half));
            p += dt * v;
            v += 0.5f * dt * (pull(p - half) + pull(p + half));
            const auto depth = [&](const vec3& from) {
                return 1.0f / sqrt(dot(from, from) + 0.01f);
            };
            Tensor energy = mean(0.5f * dot(v, v) - depth(p - half) - depth(p + half));
            return std::tuple(p, v, energy);
        };
        auto step = compile(
            leapfrog, {f32("n"), f32("n"), f32("n"), f32("n"), f32("n"), f32("n"), f32(), f32()});
        const Tensor angle = 6.2832f * rand({20000}), radius = 1.0f + rand({20000}, {.stream = 1});
        vec3 p(radius * cos(angle), 0.1f * radius, radius * sin(angle));
        vec3 v = vec3(-sin(angle), 0.0f * angle, cos(angle)) * sqrt(2.0f / radius);
        for (Tensor energy; window.open();
             window.show(Drawing().points(p, {.colour = {1, 0.8f, 0.5f}}))) {
            std::tie(p, v, energy) = step(p, v, dt, apart);
            window.plot("energy", energy);
        }
    });
}
