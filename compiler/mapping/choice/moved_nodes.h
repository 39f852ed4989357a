// Nodes of a kernel that are the same, but for a constant step along a range of the grid.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Returns whether no loop is in the region, which is placed.
bool is_innermost(const KernelCode& code, const KernelRegion& region);

/// Finds nodes that compute at x what another node computes at x + step. Compares their texts, in
/// which indices are sums of ranges, and not their values.
class MovedNodes {
  public:
    /// `code` is placed. Innermost loops of at most `written_out` iterations count as written out:
    /// those that stand in one region, and take as many iterations, are one another's.
    MovedNodes(const KernelCode& code, int64_t written_out);

    /// A text, and where it is computed.
    using Family = std::pair<int, std::pair<RegionId, int64_t>>;
    /// Loads and elementwise nodes that depend on the Grid range, by family and step.
    std::map<Family, std::map<int64_t, std::vector<NodeId>>> along(RangeId range);

  private:
    /// A node's text without its steps. Texts with other steps inside are other texts.
    struct Moved {
        int text = -1;
        int64_t step = 0;
        bool moves = false;
    };
    int text_of(std::vector<int64_t> words);
    int64_t word_of(const Size& size);
    int64_t word_of(RangeId range);
    std::pair<RegionId, int64_t> place_of(RegionId region) const;
    std::optional<Moved> sum(NodeId id, RangeId range);
    Moved node(NodeId id);
    std::vector<int64_t> carried(NodeId id) const;
    std::vector<int64_t> looped(NodeId id, Moved& whole) const;
    void write(std::vector<NodeId> parts, bool in_order, std::vector<int64_t>& words,
               Moved& whole) const;

    const KernelCode& code_;
    int64_t written_out_;
    IndexForms forms_;
    ByNode<RegionId> region_;     // of a node; none: it is a leaf
    ByRegion<RegionId> parents_;  // of a region
    ByRange<RegionId> body_;      // of a Serial range: its region
    ByRegion<NodeId> loop_;       // of a region: its For node
    std::map<std::vector<int64_t>, int> texts_;
    std::vector<Size> sizes_;
    ByNode<Moved> moved_;  // along the range that is looked at
};

}  // namespace firn
