// Finds other mappings of a kernel, one step from a given one, for tuning.
#pragma once
#include <functional>
#include <vector>

#include "compiler/mapping/choice/tile_model.h"
#include "compiler/mapping/map.h"

namespace firn {

/// Collects variations that are possible and new, where each step's file offers its own.
struct Variations {
    Variations(const KernelCode& ready, const Mapping& from, const DeviceProfile& profile,
               const SymbolFacts& facts);

    /// The mapping after a change, unless the kernel or the device do not allow it, it is too long
    /// to compile, or the model of tiles holds it to be far slower.
    void with(const std::function<void(Mapping&)>& change);
    /// Any other mapping that is legal.
    void add(Mapping m);
    bool is_legal(const Mapping& m) const;

    const KernelCode& ready;
    Mapping from;  // with a number for each range in its tile
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    std::vector<Size> extents;  // of the grid, x first
    bool loops = false;         // the kernel has some
    std::vector<Mapping> found;

  private:
    TileModel model_;
};

/// Mappings that differ from `mapping` in one of their steps. `ready` is placed.
std::vector<Mapping> vary_mapping(const KernelCode& ready, const Mapping& mapping,
                                  const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
