// Tiles of registers, as large as pays.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/mapping/choice/tile_model.h"

namespace firn {

/// Returns the iterations, at most `longest`, of the longest innermost loop whose iteration is
/// short enough to be written out; 1: there is none.
int64_t short_iterations(KernelCode ready, int64_t longest);
/// Returns whether a body with so many iterations of innermost loops written out is short enough.
bool fits_written_out(const TileModel& model, const std::vector<int64_t>& tile, int64_t iterations,
                      double most_operations);
/// Returns the work of tiles along a range as a multiple of the needed work: more than 1 if they do
/// not divide it.
double padding(const Size& extent, int64_t tile);
/// Returns the model's time for a tile, with the work that is wasted: behind the ends of ranges,
/// and in invocations without a tile, since `width` along the first range run at once.
double padded_time(const TileModel& model, const std::vector<int64_t>& tile,
                   const std::vector<Size>& grid, int64_t width);
/// The factors by which tiles grow: powers of two keep blocks of four whole; lanes that share an
/// index have no blocks.
inline constexpr int64_t kTwos[] = {2}, kSmallPrimes[] = {3, 5, 2};

/// Returns the register tile of a kernel with loops: it grows from `tile` step by step, each time
/// along the range that saves most. `total`: indices of the grid, of which every core must keep
/// some. `factors`: by which a step may grow it. `iterations` of a loop are written out, which
/// saves more than the larger tiles that no longer fit then. `most_operations`: the limit of a
/// body. `most_carried`: the limit of values that loops carry. `width`: see padded_time(). `pads`:
/// a tile may reach behind the end of a range whose extent is known. `most_nodes`: the limit of all
/// copies, each iteration counted once; of loops alone if `loops_alone` and there are loops.
std::vector<int64_t> grow_tile(const TileModel& model, std::vector<int64_t> tile,
                               const std::vector<Size>& grid, int64_t total, int64_t busy,
                               std::span<const int64_t> factors, double most_operations,
                               int64_t most_carried, int64_t width, int64_t iterations = 1,
                               bool pads = false, int64_t most_nodes = costs::kTileBudget,
                               bool loops_alone = false);

}  // namespace firn
