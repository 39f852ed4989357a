// Draws the fields of a flow.
#include "apps/fluid/views.h"

namespace firn::fluid {

std::vector<std::string> view_names() {
    return {"dye", "speed", "pressure", "divergence", "divergence_before", "vorticity"};
}

namespace {

/// Maps x to -1 to 1 about 0, with room for small values: three times the root mean square becomes
/// 0.83.
Tensor balanced(const Tensor& x) { return x / sqrt(x * x + 4.0f * mean(x * x) + 1e-20f); }

}  // namespace

void show(Window& window, const Simulation& simulation, View view) {
    const Flow& flow = simulation.flow;
    const Tensor& open = simulation.open;
    constexpr ValueRange kBalanced{-1, 1};
    switch (view) {
        case View::Dye: return window.show(dye_picture(flow, open));
        case View::Speed: return window.show(speed(flow.u, flow.v), colormap::inferno);
        case View::Pressure: {
            Tensor difference = open * (flow.pressure - sum(open * flow.pressure) / sum(open));
            return window.show(balanced(difference), colormap::coolwarm, kBalanced);
        }
        case View::Divergence:
            return window.show(balanced(divergence(flow.u, flow.v)), colormap::icefire, kBalanced);
        case View::DivergenceBefore: {
            Tensor before = divergence(simulation.u_before, simulation.v_before);
            return window.show(balanced(before), colormap::icefire, kBalanced);
        }
        case View::Vorticity:
            return window.show(balanced(vorticity(flow.u, flow.v, open)), colormap::icefire,
                               kBalanced);
    }
}

Tensor dye_picture(const Flow& flow, const Tensor& open) {
    auto [i, j] = indices<2>(open.shape());
    // Edges of obstacles are softened over a cell and lit from the upper left.
    Tensor soft =
        0.4f * open + 0.15f * (open(i - 1, j) + open(i + 1, j) + open(i, j - 1) + open(i, j + 1));
    Tensor light = 0.5f * (open(i - 2, j - 2) - open(i + 2, j + 2));
    const float stone[] = {0.20f, 0.21f, 0.23f};
    std::vector<Tensor> channels;
    for (size_t c = 0; c < 3; ++c)
        channels.push_back(mix(stone[c] + 0.12f * light, flow.dye[c], soft));
    return stack(channels, {.axis = 2});
}

DivergenceStats divergence_stats(const Simulation& simulation) {
    Tensor before = rms(divergence(simulation.u_before, simulation.v_before)),
           after = rms(divergence(simulation.flow.u, simulation.flow.v));
    realize(before, after);
    return {before.item<float>(), after.item<float>()};
}

}  // namespace firn::fluid
