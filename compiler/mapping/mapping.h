// The mapping of a kernel: the list of steps by which its ranges are run, as data and as text.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// A product of matrices by the device's matrix unit (matrix_units.h).
struct MatrixTiles {
    int64_t across = 0, down = 0;  // of the unit's matrices that a subgroup sums up; 0: no unit
    int64_t subgroups_across = 1, subgroups_down = 1;  // of a group

    explicit operator bool() const { return across > 0; }
    int64_t subgroups() const { return subgroups_across * subgroups_down; }
    bool operator==(const MatrixTiles&) const = default;
};

struct GroupShape {
    uint32_t x = 64, y = 1;
    bool operator==(const GroupShape&) const = default;
};

/// A field for each step, which holds its argument; a step whose field has its default is not
/// taken. There is one Mapping for each set of steps: mappings are compared, kept and searched by
/// their text.
struct Mapping {
#define FIRN_STEP(word, Type, field, ...) Type field = __VA_ARGS__;
#include "compiler/mapping/steps.def"

    int64_t tile_of(size_t range) const { return range < tile.size() ? tile[range] : 1; }
    int64_t walk_of(size_t range) const { return range < walk.size() ? walk[range] : 1; }
    /// Returns whether copies of the body are neighbours, which share the blocks that they load.
    bool has_neighbours() const { return tile_of(0) * unroll >= 4 || staged_iterations >= 4; }
    int64_t copies() const;  // of the kernel's body in one invocation
};

/// The question put to a step: a kernel that is Ready, and the whole mapping.
struct MappingCase {
    const KernelCode& ready;
    const Mapping& mapping;
    const DeviceProfile& profile;
    const SymbolFacts& facts;
};

/// The steps that are taken, as `tile 4x8 group 64x4 shuffle 8 unroll 8`: printed by explain,
/// replayed from the tuning cache.
std::string text(const Mapping& mapping);
/// Parses a text of text(); returns nothing for any other.
std::optional<Mapping> parse_mapping(const std::string& words);

/// Chooses the mapping of a Ready kernel, as choose_mapping() does. The table of passes hands it to
/// those that decide by the mapping that a kernel would be given.
using ChooseMapping = Mapping (*)(const KernelCode& ready, const DeviceProfile& profile,
                                  const SymbolFacts& facts);

}  // namespace firn
