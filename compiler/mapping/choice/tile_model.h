// Models what a register tile saves: copies of a body share the values that do not differ between
// them.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/target/cost_table.h"

namespace firn {

struct IndexForm;

/// The work of a lowered kernel by the Grid ranges that it depends on. A node that does not depend
/// on a range is evaluated once for all copies along it. One that depends on the sum of the range
/// and an iteration, such as a convolution's read, is evaluated once for all copies and iterations
/// of equal sum. Nodes that are copies of one another moved by constants, such as those of a
/// stencil, are evaluated once for all copies that coincide.
class TileModel {
  public:
    /// `lanes_share`: the lanes of a subgroup have the same indices; else neighbours along x.
    /// `written_out`: innermost loops of at most so many iterations are.
    TileModel(KernelCode lowered, bool lanes_share, int64_t written_out = costs::kShortLoop);

    /// Nanoseconds of a subgroup per index, in a tile of `tile` neighbours along each range (x
    /// first).
    double time(const std::vector<int64_t>& tile) const;
    /// Nodes of the body in such a tile.
    int64_t nodes(const std::vector<int64_t>& tile) const;
    /// Returns how many of them stand in loops or branches.
    int64_t loop_nodes(const std::vector<int64_t>& tile) const;
    /// Values that its outermost loops carry.
    int64_t carried(const std::vector<int64_t>& tile) const;
    /// The body with so many iterations of innermost loops written out: its nodes in loops, and all
    /// its simple operations.
    struct Body {
        int64_t nodes = 0;
        double operations = 0;
    };
    Body body(const std::vector<int64_t>& tile, int64_t iterations) const;
    /// Returns whether neighbours along some range read what an innermost loop reads in another
    /// iteration.
    bool has_windows() const { return has_windows_; }
    /// Some load in a loop is the same for all indices along x, and differs along the range.
    bool same_along_x(size_t range) const {
        return range < 64 && (repeated_ & (uint64_t{1} << range)) != 0;
    }

  private:
    struct Share {
        double time = 0, operations = 0, inner_operations = 0;
        int64_t nodes = 0, loop_nodes = 0, inner_nodes = 0, carried = 0;
    };
    /// A value that depends on ranges and on the iteration of an innermost loop only by their sums:
    /// neighbours along such a range share it with other iterations that are computed at once.
    struct Window {
        uint64_t along = 0;
        RegionId region;  // the loop's body
    };
    /// So many that stand within `span` steps of one another along a range.
    struct Meeting {
        int range = 0;  // x is 0
        int64_t members = 1, span = 0;
        auto operator<=>(const Meeting&) const = default;
    };
    /// The Grid ranges of which every copy has its own, and those along which copies meet.
    struct Part {
        uint64_t mask = 0;
        std::vector<Meeting> meetings;
        auto operator<=>(const Part&) const = default;
        double copies(const std::vector<int64_t>& tile) const;
    };
    template <class Number>
    double total(Number Share::*what, const std::vector<int64_t>& tile) const;
    int64_t iterations_at_once(const KernelCode& code, RegionId region) const;
    uint64_t mask_of(const KernelCode& code, const KernelNode& n) const;
    void find_masks(const KernelCode& code);
    void find_windows(const KernelCode& code);
    void find_meetings(const KernelCode& code);
    void meet(const std::map<int64_t, std::vector<NodeId>>& nodes, int range);
    Window window_of_sum(const KernelCode& code, const IndexForm& form) const;
    Part part_of(const KernelCode& code, NodeId id) const;
    void visit(const KernelCode& code, RegionId region, double runs, bool in_loop);

    std::vector<RangeId> grid_;  // Grid ranges, x first
    ByNode<uint64_t> node_;      // the Grid ranges that a node depends on
    ByRegion<uint64_t> region_;  // those that the values of a region depend on
    ByNode<Window> windows_;
    std::map<NodeId, std::vector<Meeting>> meetings_;
    std::map<Part, Share> shares_;
    uint64_t repeated_ = 0;  // ranges along which loads differ that are the same along x
    bool lanes_share_, has_windows_ = false;
    int64_t written_out_;
};

}  // namespace firn
