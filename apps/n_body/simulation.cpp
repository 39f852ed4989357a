// The compiled step and what is kept between steps.
#include "apps/n_body/simulation.h"

namespace firn::n_body {

StepFunction compile_step() {
    ArgSpec each = f32("n"), number = f32();
    return compile(leapfrog, {each, each, each, each, each, each, each, each, each, each, each,
                              each, number, number});
}

EnergyFunction compile_energy() {
    ArgSpec each = f32("n");
    return compile(energy, {each, each, each, each, each, each, each, f32()});
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
    simulation.bodies = simulation.step(simulation.bodies, settings.dt, settings.softening);
}

EnergyNow energy_now(const Simulation& simulation, const Settings& settings) {
    const Bodies& bodies = simulation.bodies;
    const Energy now =
        simulation.energy(bodies.position, bodies.velocity, bodies.mass, settings.softening);
    return {now.kinetic.item<float>(), now.potential.item<float>()};
}

}  // namespace firn::n_body
