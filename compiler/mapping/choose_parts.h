// The parts of choose_mapping().
#pragma once
#include <vector>

#include "compiler/mapping/kernel_traits.h"
#include "compiler/mapping/mapping.h"
#include "compiler/mapping/tile_model.h"

namespace firn {

/// Lanes that share one index, where that is faster. On a CPU driver the gain is in loads of whole
/// blocks of long rows, on a GPU in neighbouring lanes that read neighbours; on both it is in
/// filling a device that the grid alone leaves idle, unless neighbouring indices read neighbours as
/// they are. Products of matrices, whose neighbouring indices read the same rows again and again,
/// are better tiled; `staged`: in shared memory.
uint32_t choose_lanes(const KernelCode& ready, const DeviceProfile& profile, int64_t total,
                      bool staged);
/// Unrolling and groups of a kernel whose indices are shared by `lanes` each.
Mapping shared_mapping(const KernelCode& ready, const KernelTraits& traits,
                       const DeviceProfile& profile, uint32_t lanes, int64_t total);

/// Iterations of the longest innermost loop that is written out where an iteration is short enough;
/// 1: there is none.
int64_t short_iterations(KernelCode ready);
/// The register tile of a kernel with loops: grown step by step along the range where that saves
/// most, from `tile` on. `total`: indices of the grid, of which every core must keep some;
/// `iterations` of a loop are written out, which saves more than what does not fit then.
/// `most_nodes`: of a body.
std::vector<int64_t> grow_tile(const TileModel& model, std::vector<int64_t> tile,
                               const std::vector<Size>& grid, int64_t total, int64_t busy,
                               bool lanes_share, int64_t most_nodes, int64_t iterations = 1);

}  // namespace firn
