// Tiles of registers, as large as pays.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/mapping/tile_model.h"

namespace firn {

/// Iterations of the longest innermost loop that is written out where an iteration is short enough:
/// of at most `longest`; 1: there is none.
int64_t short_iterations(KernelCode ready, int64_t longest);
/// A body with so many iterations of innermost loops written out is none that is too long.
bool fits_written_out(const TileModel& model, const std::vector<int64_t>& tile, int64_t iterations,
                      double most_operations);
/// Times as much as is asked for that tiles along a range compute: more, where they do not divide
/// it.
double padding(const Size& extent, int64_t tile);
/// What the model says of a tile, with what is computed for nothing: behind the ends of ranges, and
/// by invocations that have no tile, of `width` along the first range that run at once.
double padded_time(const TileModel& model, const std::vector<int64_t>& tile,
                   const std::vector<Size>& grid, int64_t width);
/// The register tile of a kernel with loops: grown step by step along the range where that saves
/// most, from `tile` on. `total`: indices of the grid, of which every core must keep some;
/// `iterations` of a loop are written out, which saves more than what does not fit then.
/// `most_operations`: of a body. `width`: see padded_time(). `pads`: a tile may reach behind the
/// end of a range whose extent is known. `most_nodes`: of all copies, each iteration once; of
/// loops alone where `loops_alone` and there are loops.
std::vector<int64_t> grow_tile(const TileModel& model, std::vector<int64_t> tile,
                               const std::vector<Size>& grid, int64_t total, int64_t busy,
                               bool lanes_share, double most_operations, int64_t width,
                               int64_t iterations = 1, bool pads = false,
                               int64_t most_nodes = costs::kTileBudget, bool loops_alone = false);

}  // namespace firn
