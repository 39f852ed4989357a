// How a kernel's ranges are run: the steps that are taken, as data and as text.
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
};

/// What each step of steps.h is given; one that has its default is not taken. There is one Mapping
/// for each set of steps, in whatever order they were taken: mappings are compared, kept and
/// searched by their text. Ranges are counted from the innermost, x, on.
struct Mapping {
    /// Neighbours along each range in one invocation, the register tile; ranges behind its end: 1.
    std::vector<int64_t> tile;
    int64_t strides = 1;  // tiles along x of one invocation, the width of a group apart
    uint32_t group_x = 64, group_y = 1;
    int64_t unroll = 1;       // copies of an innermost serial loop's body
    int64_t written_out = 1;  // innermost loops of at most so many iterations are unrolled
    /// Invocations that share one such index: 1, or the lanes of a subgroup, to which the
    /// iterations of its reductions and rows are dealt (share_loops). Divides group_x; group_y
    /// is 1.
    uint32_t lanes = 1;
    /// Elements that all lanes of a subgroup read, as many in a row as there are lanes (unrolled
    /// iterations of a loop, or copies of a tile), are loaded by one lane each and handed round.
    /// Every lane then takes part, also behind the grid's end. Divides group_x.
    uint32_t shuffled_loads = 1;
    /// Nests of loops that do nothing but hand on what they carry run as one loop, with an index
    /// for each.
    bool collapsed_nests = false;
    /// Where combining stores meet first (accumulators.h): Bound, in the target itself; Private, in
    /// a copy for each invocation; Shared, in one for each group. Not where lanes share an index or
    /// loads; group_y is 1.
    MemorySpace accumulators = MemorySpace::Bound;
    /// Blocks of a group along each range that it walks one after the other, with the same copies.
    /// Ranges behind the end: 1.
    std::vector<int64_t> walk;

    /// Iterations of a reduction whose operands a group loads together, into shared memory, where
    /// its invocations would read them again and again (stage_loads.h); 1: each loads for itself.
    /// Every invocation then takes part, also behind the grid's end.
    int64_t staged_iterations = 1;
    /// Where it is set, subgroups compute a product together, and only group_x says more: as many
    /// lanes.
    MatrixTiles matrix;

    int64_t tile_of(size_t range) const { return range < tile.size() ? tile[range] : 1; }
    int64_t walk_of(size_t range) const { return range < walk.size() ? walk[range] : 1; }
    int64_t copies() const;  // of the kernel's body in one invocation
};

/// What a step is asked about: a kernel that is Ready, and all that is done to it.
struct MappingCase {
    const KernelCode& ready;
    const Mapping& mapping;
    const DeviceProfile& profile;
    const SymbolFacts& facts;
};

/// The steps that are taken, as `group 64x4 tile 4x8 unroll 8 shuffle 8`: printed by explain,
/// replayed from the tuning cache.
std::string text(const Mapping& mapping);
/// Nothing where `words` is not what text() writes.
std::optional<Mapping> parse_mapping(const std::string& words);

}  // namespace firn
