// Tiles of registers.
#include "compiler/mapping/grow_tile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "compiler/kernel/place.h"
#include "compiler/program/cost_table.h"

namespace firn {

int64_t short_iterations(KernelCode code) {
    place(code);
    int64_t most = 1;
    for (const KernelRegion& region : code.regions) {
        const bool inside = std::any_of(region.order.begin(), region.order.end(),
                                        [&](int id) { return code.nodes[id].op == KernelOp::For; });
        if (region.range < 0 || inside) continue;
        const int64_t iterations = code.ranges[region.range].max_trips;
        if (iterations <= costs::kShortLoop) most = std::max(most, iterations);
    }
    return most;
}

std::vector<int64_t> grow_tile(const TileModel& model, std::vector<int64_t> tile,
                               const std::vector<Size>& grid, int64_t total, int64_t busy,
                               bool lanes_share, int64_t most_nodes, int64_t iterations) {
    const std::vector<int64_t> factors =
        lanes_share ? std::vector<int64_t>{3, 5, 2} : std::vector<int64_t>{2};
    for (bool grown = true; grown;) {
        grown = false;
        double best = model.time(tile) * costs::kLeastSaving;
        std::vector<int64_t> next = tile;
        for (size_t d = 0; d < grid.size(); ++d) {
            const int64_t divisor = grid[d].divisor();
            for (int64_t factor : factors) {
                std::vector<int64_t> larger = tile;
                larger[d] *= factor;
                const int64_t copies =
                    std::accumulate(larger.begin(), larger.end(), int64_t{1}, std::multiplies<>());
                if (larger[d] > costs::kLongestTile || divisor % larger[d] != 0 || grid[d].is(0) ||
                    total / copies < busy || model.carried(larger) > costs::kMostCarried ||
                    model.nodes(larger) > std::min(costs::kTileBudget, most_nodes) ||
                    model.loop_nodes(larger) * iterations >
                        std::min(costs::kWholeBudget, most_nodes))
                    continue;
                // A step of three is worth more than one of two.
                const double time =
                    std::pow(model.time(larger) / model.time(tile), 1 / std::log2(factor)) *
                    model.time(tile);
                if (time >= best) continue;
                best = time;
                next = larger;
                grown = true;
            }
        }
        tile = next;
    }
    return tile;
}

}  // namespace firn
