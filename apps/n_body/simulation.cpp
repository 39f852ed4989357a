// The compiled step and what is kept between steps.
#include "apps/n_body/simulation.h"

namespace firn::n_body {

StepFunction compile_step() {
    ArgSpec each = f32("n"), number = f32();
    return compile(
        [](Tensor x, Tensor y, Tensor z, Tensor u, Tensor v, Tensor w, Tensor ax, Tensor ay,
           Tensor az, Tensor mass, Tensor dt, Tensor softening) {
            auto [p, q, a, m, light, galaxy] =
                leapfrog({{x, y, z}, {u, v, w}, {ax, ay, az}, mass, mass, mass}, dt, softening);
            return std::array{p.x, p.y, p.z, q.x, q.y, q.z, a.x, a.y, a.z};
        },
        {each, each, each, each, each, each, each, each, each, each, number, number});
}

EnergyFunction compile_energy() {
    ArgSpec each = f32("n");
    return compile(
        [](Tensor x, Tensor y, Tensor z, Tensor u, Tensor v, Tensor w, Tensor mass,
           Tensor softening) {
            Energy now = energy({x, y, z}, {u, v, w}, mass, softening);
            return std::pair{now.kinetic, now.potential};
        },
        {each, each, each, each, each, each, each, f32()});
}

Simulation make_simulation(const Bodies& bodies, const Settings& settings) {
    Simulation simulation{{}, compile_step(), compile_energy()};
    restart(simulation, bodies, settings);
    return simulation;
}

void restart(Simulation& simulation, const Bodies& bodies, const Settings& settings) {
    simulation.bodies = bodies;
    advance(simulation, {0.0f, settings.softening});  // a step of no time finds the accelerations
}

void advance(Simulation& simulation, const Settings& settings) {
    auto& [p, q, a, mass, light, galaxy] = simulation.bodies;
    std::array<Tensor, 9> next = simulation.step(p.x, p.y, p.z, q.x, q.y, q.z, a.x, a.y, a.z, mass,
                                                 settings.dt, settings.softening);
    p = {next[0], next[1], next[2]};
    q = {next[3], next[4], next[5]};
    a = {next[6], next[7], next[8]};
}

EnergyNow energy_now(const Simulation& simulation, const Settings& settings) {
    const auto& [p, q, a, mass, light, galaxy] = simulation.bodies;
    auto [kinetic, potential] =
        simulation.energy(p.x, p.y, p.z, q.x, q.y, q.z, mass, settings.softening);
    return {kinetic.item<float>(), potential.item<float>()};
}

}  // namespace firn::n_body
