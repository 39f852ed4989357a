// The fields of a flow as pictures and as numbers.
#pragma once
#include <string>
#include <vector>

#include "apps/fluid/simulation.h"

namespace firn::fluid {

/// The fields that can be shown. The first divergence is that of the present flow, the other one
/// that which the pressure had to remove in the newest step.
enum class View : int { Dye, Speed, Pressure, Divergence, DivergenceBefore, Vorticity };
/// Their names, in order.
std::vector<std::string> view_names();

void show(Window& window, const Simulation& simulation, View view);

/// The dye with the obstacles on it, f32[n, m, 3] from 0 to 1.
Tensor dye_picture(const Flow& flow, const Tensor& open);

/// Root mean squares of the divergence, in 1 / second, of the newest step.
struct DivergenceStats {
    float before = 0, after = 0;
};
DivergenceStats divergence_stats(const Simulation& simulation);

}  // namespace firn::fluid
