// The shared arrays of a loop whose operands a group loads together, and which invocation loads and
// reads which element.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/mapping/walk/stage_loads.h"

namespace firn {

/// The layout of a staged value: the elements of neighbouring invocations lie side by side, for all
/// tiles, with one element each or four neighbours of a tile that are read at once. Larger
/// distances are odd multiples of that, so that few neighbours along a range meet in a bank.
struct StagedLayout {
    struct Axis {
        size_t range = 0;                         // 0 is x
        int64_t members = 1, tile = 1;            // of the group's span
        int64_t block = 1;                        // neighbours of a tile that lie together
        int64_t by_invocation = 1, by_block = 1;  // from one to the next, of a tile's blocks
    };
    std::vector<Axis> axes;
    std::vector<int64_t> by_inside;  // from an iteration to the next of each loop inside
    int64_t by_iteration = 1;

    StagedLayout(const StagedValue& value, DType dtype, const Mapping& mapping);
    /// Elements that an invocation reads at once: of the first axis.
    int64_t block() const { return axes.empty() ? 1 : axes[0].block; }
};

/// The type of memory that holds a value.
DType staged_type(DType value);
/// Returns the bytes of shared memory that `mapping` stages for a lowered kernel.
int64_t staged_bytes(const KernelCode& lowered, const Mapping& mapping);

/// The arrays of one loop, while its kernel is mapped. Effects run in the order in which they are
/// made.
class StagedTile {
  public:
    /// The iterations of a loop that are loaded at a time.
    struct Block {
        NodeId start;         // the first
        NodeId extent;        // of the loop; none: all of them are inside
        int64_t divisor = 1;  // of its extent
        /// Returns the value of a node of the lowered kernel at an index of each Grid range, in
        /// iteration `iteration` of the loop and `inside` of the ranges of inner loops.
        std::function<NodeId(NodeId node, const std::vector<NodeId>& at, NodeId iteration,
                             const std::map<RangeId, NodeId>& inside)>
            value_at;
    };

    StagedTile(KernelBuilder& b, const KernelCode& lowered, const MappedGrid& grid,
               const StagedLoop& loop, RangeId range, const Mapping& mapping);
    /// Returns effects by which all invocations of the group load a block's operands, and wait for
    /// them.
    std::vector<NodeId> fill(const Block& block);
    /// A node as a copy of the body reads it in iteration `iteration` since `start`, with the
    /// effect that reads it. `inside`: the iteration of a loop inside, by its range. None: it is
    /// not staged.
    NodeId read(NodeId node, size_t copy, NodeId iteration,
                const std::function<NodeId(RangeId range)>& inside, std::vector<NodeId>& effects);
    /// Returns the values to read at the begin of an iteration of `range`: those that depend on no
    /// loop inside it.
    std::vector<NodeId> values_of(RangeId range) const;

  private:
    struct Array {
        StagedValue value;
        StagedLayout layout;
        int buffer = -1;
        std::map<NodeId, NodeId> read;  // by place
    };
    struct Element {
        std::vector<NodeId> at;      // in the group's span of each of the array's axes
        std::vector<NodeId> inside;  // iterations of loops inside
        NodeId iteration;            // of the block
        size_t along =
            0;  // which counts neighbours in memory: of `at`, then `inside`, then the iteration
        int64_t ahead = 0;  // of that, in a run of `width`
        int64_t width = 1;
    };
    struct Loaded {
        NodeId place;  // the first's
        std::vector<NodeId> values;
    };
    /// The units that an invocation takes at once. `guarded`: some invocations have none.
    struct Share {
        NodeId unit;
        bool guarded = false;
        std::vector<Loaded> loaded;
    };
    std::vector<Loaded> load(const Array& array, NodeId unit, int64_t width, const Block& block);
    void store(const Array& array, const Share& share, int64_t units, std::vector<NodeId>& effects);
    void fill(const Array& array, const Block& block, std::vector<NodeId>& effects);
    NodeId fill_in_rounds(int64_t shares, const std::function<std::vector<NodeId>(NodeId)>& share);
    std::vector<Element> elements(const Array& array, NodeId unit, int64_t width);
    int64_t width_of(const Array& array, const Block& block);
    NodeId value_of(const Array& array, NodeId node, const Element& element, const Block& block);
    NodeId inside(NodeId first, int64_t divisor, NodeId extent, int64_t ahead, int64_t width);
    NodeId place(const Array& array, const Element& element);

    KernelBuilder& b_;
    const KernelCode& lowered_;
    const MappedGrid& grid_;
    RangeId range_;                 // of the loop
    int64_t iterations_, members_;  // members: of the group
    NodeId member_;                 // this one
    std::vector<Array> arrays_;
};

}  // namespace firn
