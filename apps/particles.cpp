// Dwarf galaxies are torn apart by the halo they orbit: 100,000 stars, drawn where they are
// computed.
#include <firn/firn.h>
#include <firn/shading.h>

using namespace firn;

namespace {

enum class View { Galaxy, Speed };

constexpr float kSpeed = 1, kCore = 0.2f;  // of the halo: circular speed, radius of its core
constexpr float kPastStep = 0.02f;         // before the first frame
constexpr int kPastSteps = 800;
const std::array<float, 3> kFlat = {1, 1.4f, 1};  // it is flatter along y

/// Three clusters on orbits of their own, one after the other: places and velocities [n, 3].
std::pair<Tensor, Tensor> three_dwarfs(int count, float size, uint32_t seed) {
    Tensor galaxy = unsqueeze(arange(count) * 3 / count, 1);
    Tensor centres = tensor({1.5f, 0.2f, 0.0f, -0.4f, 1.2f, 0.5f, 0.2f, -0.3f, -1.1f}, {3, 3});
    Tensor flights = tensor({0.0f, 0.35f, 0.55f, 0.55f, 0.0f, -0.35f, -0.7f, 0.3f, 0.1f}, {3, 3});
    Tensor axis = arange(3), spread = randn({count, 3}, {.seed = seed});
    Tensor warmth = randn({count, 3}, {.seed = seed, .stream = 1});
    return {centres(galaxy, axis) + size * spread, flights(galaxy, axis) + 0.4f * size * warmth};
}

/// A logarithmic halo (Binney and Tremaine, Galactic Dynamics, 2.3.2): of w = q * p, kSpeed^2 / 2 *
/// log(core^2 + p . w).
Tensor depth(const Tensor& p) {
    return kCore * kCore + sum(square(p) * tensor(kFlat), {.axis = 1, .keep_dims = true});
}

std::tuple<Tensor, Tensor, Tensor> leapfrog(Tensor p, Tensor v, Tensor dt, Tensor steps) {
    const auto pull = [](const Tensor& at) {
        return -kSpeed * kSpeed * tensor(kFlat) * at / depth(at);
    };
    for (Tensor step : loop(steps)) {
        v += 0.5f * dt * pull(p);
        p += dt * v;
        v += 0.5f * dt * pull(p);
    }
    Tensor energy = 0.5f * mean(square(v)) * 3.0f + 0.5f * kSpeed * kSpeed * mean(log(depth(p)));
    return {p, v, energy};
}

Tensor colours(Tensor v, View view) {
    if (view == View::Speed) return stack(magma(sqrt(sum(square(v), {.axis = 1})) / 2.0f));
    Tensor tints = tensor({1.0f, 0.55f, 0.25f, 0.35f, 0.65f, 1.0f, 0.75f, 0.9f, 0.6f}, {3, 3});
    Tensor galaxy = unsqueeze(arange(v.size(0)) * 3 / v.size(0), 1);
    return tints(galaxy, arange(3));
}

}  // namespace

int main(int argc, char** argv) {
    App app({.name = "particles",
             .help = "Dwarf galaxies are torn apart by the halo they orbit; drag to look around."});
    Param<int> count{app, "bodies", 100'000, {.min = 3, .max = 1'000'000, .log = true}};
    Param<float> spread{
        app, "spread", 0.06f, {.min = 0, .max = 0.3, .help = "radius of each cluster"}};
    Param<float> dt{app, "dt", 0.01f, {.min = 0, .max = 0.05, .help = "time step"}};
    Param<View> view{app, "view", View::Galaxy, {"galaxy", "speed"}, {.group = "Picture"}};
    Param<float> size{app, "size", 1.5f, {.min = 0.5, .max = 10, .unit = "px", .group = "Picture"}};
    Param<float> light{app, "light", 0.2f, {.min = 0, .max = 1, .group = "Picture"}};
    return app.run(argc, argv, [&](Window& window) {
        auto step = compile(leapfrog, {f32("n", 3), f32("n", 3), f32(), i32()});
        const auto start = [&] {
            auto [p, v] = three_dwarfs(count, spread, app.seed());
            return step(p, v, kPastStep, kPastSteps);
        };
        auto [p, v, energy] = start();
        while (window.open()) {
            if (window.reset() || count.changed() || spread.changed())
                std::tie(p, v, energy) = start();
            if (window.playing()) std::tie(p, v, energy) = step(p, v, dt, 1);
            window.plot("energy", energy);
            Drawing sky;
            const Tensor glow = float(light) * colours(v, view);
            sky.points(p, {.colour = glow, .size = float(size), .additive = true});
            window.show(sky.camera({.distance = 4, .yaw = 0.5f, .pitch = 0.5f}));
        }
    });
}
