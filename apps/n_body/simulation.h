// A run of n bodies: its compiled step, called with C++ numbers.
#pragma once
#include "apps/n_body/bodies.h"

namespace firn::n_body {

struct Settings {
    float dt = 0.01f;
    float softening = 0.05f;  // in radii of a galaxy
};

/// A program for every number of bodies; dt and softening are scalar arguments.
using StepFunction = Compiled<Bodies(Bodies, Tensor, Tensor)>;
using EnergyFunction = Compiled<Energy(vec3, vec3, Tensor, Tensor)>;

struct Simulation {
    Bodies bodies;
    StepFunction step;
    EnergyFunction energy;
};

StepFunction compile_step();
EnergyFunction compile_energy();

/// A simulation of these bodies, whose accelerations are made to fit them.
Simulation make_simulation(const Bodies& bodies, const Settings& settings);
/// Starts again with other bodies, perhaps of another number: compiles nothing.
void restart(Simulation& simulation, const Bodies& bodies, const Settings& settings);
/// Makes a step of settings.dt.
void advance(Simulation& simulation, const Settings& settings);

struct EnergyNow {
    double kinetic = 0, potential = 0;
    double total() const { return kinetic + potential; }
};
EnergyNow energy_now(const Simulation& simulation, const Settings& settings);

}  // namespace firn::n_body
