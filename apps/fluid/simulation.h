// A flow that runs: its compiled step, called with C++ numbers, and what it starts from.
#pragma once
#include <array>

#include "apps/fluid/step.h"

namespace firn::fluid {

/// The settings that a person may change.
struct Settings {
    float dt = 1.0f / 60;  // seconds
    float confinement = 2.0f;
    float velocity_loss = 0.05f;  // share lost in a second
    float dye_loss = 0.02f;
    int cycles = 2;  // multigrid cycles a step
    int sweeps = 3;  // smoothing sweeps of the finest level in each cycle
};

/// A brush as C++ numbers, in cells, cells per second, and colours from 0 to 1.
struct Stroke {
    float from_y = 0, from_x = 0, to_y = 0, to_x = 0, radius = 1;
    float u = 0, v = 0, strength = 0, ink = 0;
    std::array<float, 3> colour{};
};

/// The step as a compiled function: see compile_step.
using StepFunction = Compiled<FlowStep(Flow, Brush, Constants)>;

/// The step for a fluid between these obstacles, f32[n, m] of known size; what the multigrid makes
/// of them is computed once. Every constant is a scalar argument, so that turning it compiles
/// nothing.
StepFunction compile_step(const Tensor& open);

struct Simulation {
    Flow flow;
    Tensor open;                // 1 where the fluid may be
    Tensor u_before, v_before;  // velocity of the newest step before its projection
    StepFunction step;
};

/// Fluid at rest. `picture` is f32[h, w, 3] of any size: it is scaled so that it covers the n x m
/// cells, and becomes the dye. `open` is f32[n, m].
Simulation make_simulation(const Tensor& picture, const Tensor& open);
/// Makes a step of settings.dt.
void advance(Simulation& simulation, const Settings& settings, const Stroke& stroke);

/// The colour of a brush; it goes through all inks and back from 0 to 1.
std::array<float, 3> ink_colour(float turn);

/// Two round obstacles and a slanted bar between walls, f32[n, m]: 0 inside them.
Tensor default_obstacles(int n, int m);
/// The stroke of a run that drives itself: two loops of different speed and changing colour.
Stroke scripted_stroke(int frame, int n, int m, const Settings& settings);

}  // namespace firn::fluid
