// A step of apps/fluid with its own settings, driven by its scripted stroke. There is no
// hand-written version: TensorFrost's two backends take 21 and 53 ms for theirs at 512 x 512.
#include <firn/firn.h>

#include <memory>

#include "apps/fluid/simulation.h"
#include "tests/bench/bench.h"

namespace firn::bench {

Contest fluid_contest(int side) {
    using namespace fluid;
    auto simulation = std::make_shared<Simulation>(make_simulation(
        tensor(numbers(64 * 64 * 3, 0, 1), {64, 64, 3}), default_obstacles(side, side)));
    auto frame = std::make_shared<int>(0);
    const Settings settings;
    // Seven fields are read and eight written. Operations per cell: three pairs of bilinear speeds
    // 78 and the ways of four steps 16, two speeds (80 each) and a colour (176) by bicubic reads of
    // 16 numbers, two cycles of the finest level alone (residual 12, correction 9, three sweeps of
    // 14) 126, forces and subtracted gradients 40.
    const double cells = double(side) * side;
    return {.least = {28 * cells, 32 * cells, 596 * cells, (24 + 5 * 16) * cells},
            .arguments = {},
            .results = {int64_t{side} * side, int64_t{side} * side},
            .firn =
                [=] {
                    advance(*simulation, settings,
                            scripted_stroke((*frame)++, side, side, settings));
                    return std::vector<Tensor>{simulation->flow.u, simulation->flow.v};
                },
            .best = {},
            .plain = {},
            // The confinement divides by the slope of the vorticity, where that is nearly 0 too:
            // native code whose functions round products with their sums differs by 1.1e-5.
            .tolerance = 3e-5};
}

void add_fluid(std::vector<Case>& cases) {
    cases.push_back({"fluid", [] { return fluid_contest(512); }, Section::Own,
                     "sweeps and levels of its pressure wait for one another, the small ones are "
                     "launches alone"});
}

}  // namespace firn::bench
