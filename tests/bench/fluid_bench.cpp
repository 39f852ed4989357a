// A step of apps/fluid at 512 x 512 with its own settings, driven by its scripted stroke. Nobody
// has written it by hand: TensorFrost's two backends take 21 and 53 ms for theirs at that size.
#include <firn/firn.h>

#include <memory>

#include "apps/fluid/simulation.h"
#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

Contest fluid_step() {
    using namespace fluid;
    constexpr int kSide = 512;
    auto simulation = std::make_shared<Simulation>(make_simulation(
        tensor(numbers(64 * 64 * 3, 0, 1), {64, 64, 3}), default_obstacles(kSide, kSide)));
    auto frame = std::make_shared<int>(0);
    const Settings settings;
    // Seven fields are read and eight written. Of a cell: three pairs of bilinear speeds 78 and the
    // ways of four steps 16, two speeds (80 each) and a colour (176) by bicubic reads of 16
    // numbers, two cycles of the finest level alone (what is left 12, what is corrected 9, three
    // sweeps of 14) 126, forces and what is taken away 40.
    constexpr double kCells = double(kSide) * kSide;
    return {.least = {28 * kCells, 32 * kCells, 596 * kCells, (24 + 5 * 16) * kCells},
            .arguments = {},
            .results = {kSide * kSide, kSide * kSide},
            .firn =
                [=] {
                    advance(*simulation, settings,
                            scripted_stroke((*frame)++, kSide, kSide, settings));
                    return std::vector<Tensor>{simulation->flow.u, simulation->flow.v};
                },
            .best = {},
            .plain = {}};
}

}  // namespace

void add_fluid(std::vector<Case>& cases) {
    cases.push_back({"fluid", fluid_step, Section::Own,
                     "sweeps and levels of its pressure wait for one another, the small ones are "
                     "launches alone"});
}

}  // namespace firn::bench
