// How the fields of a flow are drawn.
#include "apps/fluid/views.h"

namespace firn::fluid {

std::vector<std::string> view_names() {
    return {"dye", "speed", "pressure", "divergence", "divergence_before", "vorticity"};
}

void show(Window& window, const Simulation& simulation, View view) {
    const Flow& flow = simulation.flow;
    switch (view) {
        case View::Dye: return window.show(dye_picture(flow, simulation.open));
        case View::Speed: return window.show(speed(flow.u, flow.v), colormap::inferno);
        case View::Pressure: return window.show(flow.pressure, colormap::coolwarm);
        case View::Divergence: return window.show(divergence(flow.u, flow.v), colormap::icefire);
        case View::DivergenceBefore: return window.show(divergence(simulation.u_before, simulation.v_before), colormap::icefire);
        case View::Vorticity: return window.show(vorticity(flow.u, flow.v, simulation.open), colormap::icefire);
    }
}

Tensor dye_picture(const Flow& flow, const Tensor& open) {
    std::vector<Tensor> channels;
    const float obstacle[] = {0.13f, 0.14f, 0.16f};
    for (size_t c = 0; c < 3; ++c) channels.push_back(mix(obstacle[c], flow.dye[c], open));
    return stack(channels, {.axis = 2});
}

DivergenceStats divergence_stats(const Simulation& simulation) {
    Tensor before = rms(divergence(simulation.u_before, simulation.v_before)), after = rms(divergence(simulation.flow.u, simulation.flow.v));
    realize(before, after);
    return {before.item<float>(), after.item<float>()};
}

}  // namespace firn::fluid
