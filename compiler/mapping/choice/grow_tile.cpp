// Tiles of registers.
#include "compiler/mapping/choice/grow_tile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "compiler/kernel/place.h"
#include "compiler/target/cost_table.h"

namespace firn {

int64_t short_iterations(KernelCode code, int64_t longest) {
    place(code);
    int64_t most = 1;
    for (const KernelRegion& region : code.regions) {
        const bool inside = std::any_of(region.order.begin(), region.order.end(),
                                        [&](NodeId id) { return code[id].op == KernelOp::For; });
        if (!region.range || inside) continue;
        const int64_t iterations = code[region.range].max_trips;
        if (iterations <= longest) most = std::max(most, iterations);
    }
    return most;
}

bool fits_written_out(const TileModel& model, const std::vector<int64_t>& tile, int64_t iterations,
                      double most_operations) {
    const TileModel::Body body = model.body(tile, iterations);
    return body.nodes <= costs::kWholeBudget && body.operations <= most_operations;
}

double padding(const Size& extent, int64_t tile) {
    if (!extent.is_constant() || extent.is(0)) return 1;
    const int64_t indices = extent.constant();
    return static_cast<double>((indices + tile - 1) / tile * tile) / static_cast<double>(indices);
}

double padded_time(const TileModel& model, const std::vector<int64_t>& tile,
                   const std::vector<Size>& grid, int64_t width) {
    double time = model.time(tile);
    for (size_t d = 0; d < grid.size(); ++d)
        time *= padding(grid[d], tile[d] * (d == 0 ? width : 1));
    return time;
}

std::vector<int64_t> grow_tile(const TileModel& model, std::vector<int64_t> tile,
                               const std::vector<Size>& grid, int64_t total, int64_t busy,
                               std::span<const int64_t> factors, double most_operations,
                               int64_t most_carried, int64_t width, int64_t iterations, bool pads,
                               int64_t most_nodes, bool loops_alone) {
    const auto time_of = [&](const std::vector<int64_t>& of) {
        return padded_time(model, of, grid, width);
    };
    const auto nodes_of = [&](const std::vector<int64_t>& of) {
        const int64_t in_loops = loops_alone ? model.loop_nodes(of) : 0;
        return in_loops > 0 ? in_loops : model.nodes(of);
    };
    for (bool grown = true; grown;) {
        grown = false;
        const double now = time_of(tile);
        double best = now * costs::kLeastSaving;
        std::vector<int64_t> next = tile;
        for (size_t d = 0; d < grid.size(); ++d) {
            for (int64_t factor : factors) {
                std::vector<int64_t> larger = tile;
                larger[d] *= factor;
                const int64_t copies =
                    std::accumulate(larger.begin(), larger.end(), int64_t{1}, std::multiplies<>());
                const bool divides = grid[d].divisor() % larger[d] == 0;
                if (larger[d] > costs::kLongestTile || grid[d].is(0) ||
                    (!divides && !(pads && grid[d].is_constant())) || total / copies < busy ||
                    model.carried(larger) > most_carried || nodes_of(larger) > most_nodes ||
                    !fits_written_out(model, larger, iterations, most_operations))
                    continue;
                // Times are compared per doubling: a factor of three grows the tile more than a
                // factor of two.
                const double time = std::pow(time_of(larger) / now, 1 / std::log2(factor)) * now;
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
