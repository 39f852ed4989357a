// Bodies that attract each other: where they start, how they move, and what energy they have.
#pragma once
#include <firn/firn.h>

namespace firn::n_body {

/// The gravitational constant is 1; a galaxy has about mass 1 and radius 1.
struct Bodies {  // one f32[n] for each component
    vec3 position, velocity;
    vec3 acceleration;  // at `position`
    Tensor mass;        // f32[n]
    Tensor light;       // f32[n], how bright each is drawn
    Tensor galaxy;      // f32[n], 0 or 1
};

/// Two galaxies on a parabola towards each other, each a disc of young stars that circle in a
/// round halo which holds most of the mass. The same seed gives the same bodies. Accelerations are
/// zero: see make_simulation.
Bodies colliding_galaxies(int count, uint32_t seed);

/// Returns the gravity of all others on every body, for softened distances sqrt(r^2 + softening^2):
/// all pairs, each body a loop over the others. The softening must not be 0: every body meets
/// itself too.
vec3 gravity(const vec3& position, const Tensor& mass, const Tensor& softening);

/// Makes a step: kick, drift, kick. Second order, and reversible in time, so that the energy swings
/// about its value and does not run away.
Bodies leapfrog(Bodies bodies, const Tensor& dt, const Tensor& softening);

struct Energy {
    Tensor kinetic, potential;  // rank 0
};
Energy energy(const vec3& position, const vec3& velocity, const Tensor& mass,
              const Tensor& softening);

}  // namespace firn::n_body
