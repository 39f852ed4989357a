// Finds the values, and the memory, that others are computed from; internal.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/node_map.h"

namespace firn {

/// The dependencies of nodes, found for all of them in one walk.
class FloatPaths {
  public:
    using IsSource = std::function<bool(const Node&)>;
    enum class Buffers : uint8_t { Left, Found };
    /// `is_source` is called for floats only.
    FloatPaths(const std::vector<Ref>& roots, const IsSource& is_source, Buffers buffers);

    bool any() const { return !sources_.empty(); }
    /// Returns the sources that a root changes smoothly with: through floats alone, and not through
    /// values that a gradient rule replaces. All results of a loop or a branch change with the
    /// sources of any of them. A root that is a source is among its own.
    std::vector<Ref> sources_of(const Node& root) const;
    /// Returns all Buffers below a root; none if there is no source, or with Buffers::Left.
    std::vector<Ref> buffers_of(const Node& root) const;

  private:
    std::vector<Ref> chosen(const Node& root, size_t first, const std::vector<Ref>& from) const;

    std::vector<Ref> sources_, buffers_;
    size_t source_words_ = 0, words_ = 0;
    NodeMap<uint32_t> rows_;
    std::vector<uint64_t> bits_;  // a row for each node: its sources, then its Buffers
};

/// Visits the nodes whose changes `node` passes on: its operands, and the results of its bodies.
void for_smooth_inputs(const Node& node, const std::function<void(const Ref&)>& visit);

}  // namespace firn
