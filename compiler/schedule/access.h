// Access maps: the indices at which a value is asked for, as functions of a kernel's grid indices.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// Interns index expressions and tuples of them (maps), so that equal accesses are equal numbers.
/// An index is a grid axis (counted from the right), the range of a reduction or loop, a constant,
/// base * scale + offset, one that is kept inside a smaller shape, or opaque: named by the node
/// that computes it and the tuple at which that node is asked for.
class AccessMaps {
  public:
    explicit AccessMaps(SymbolFacts facts = {}) : facts_(std::move(facts)) {}
    /// Returns the map that asks for a value of `shape` at the grid's own indices, right-aligned.
    int identity(const Shape& shape);
    /// Returns the map of input `k` of `node` when the node is asked for at `map`; regions are not
    /// entered.
    int input_map(const Node& node, int k, int map);
    /// True if a Pad that is asked for at `map` gives no element of its input.
    bool in_padding(const Node& pad, int map) const;
    /// Returns the map for a value of shape `to` that broadcasts to one of shape `from` asked for
    /// at `map`.
    int projected(int map, const Shape& from, const Shape& to);
    /// Returns how often a value asked for at `map` is evaluated per grid index: the product of the
    /// trip counts of the ranges it uses.
    double trips(int map) const;
    /// Returns how many leading axes of a grid of `rank` axes the indices of `map` use.
    int prefix(int map, int rank) const;
    /// True if the indices of `map` are the first ones of `whole`.
    bool begins(int map, int whole) const;
    /// Returns the axis, counted from the right, along which the two maps ask for neighbours no
    /// further apart than the cells of an invocation (costs::kSharedTile); nothing if they are
    /// equal or differ in another way.
    std::optional<int> beside(int a, int b) const;
    /// True if both maps ask for elements of the same row: their indices differ in the last one at
    /// most.
    bool same_row(int a, int b) const;
    /// Sets the function that gives the loops on which an opaque index computed by `node` depends,
    /// with their trip counts. It applies to everything asked for inside a loop's body.
    void set_loop_dependencies(
        std::function<std::vector<std::pair<const Node*, double>>(const Node&)> f) {
        loops_of_ = std::move(f);
    }

  private:
    static constexpr uint64_t kNoAxis = UINT64_MAX;
    /// Ids and trip counts of the loops in which an index changes and of the loops around these,
    /// sorted.
    using Ranges = std::vector<std::pair<uint64_t, double>>;
    struct Expr {
        std::vector<uint64_t> key;
        Ranges ranges;
        uint64_t innermost = kNoAxis;  // of the grid axes it uses, counted from the right
    };
    struct Map {
        std::vector<int> axes;
        Ranges ranges;
        uint64_t innermost = kNoAxis;
    };
    int expr(std::vector<uint64_t> key, Ranges ranges, uint64_t innermost = kNoAxis);
    /// Returns the loops in which `node` is evaluated when it is asked for at `map`.
    Ranges ranges_of(const Node& node, int map) const;
    /// Returns the range of the reduction `node` along `axis`. It runs anew wherever `map` asks for
    /// the reduction, so it is a different index, with other trips, for each set of loops around
    /// it.
    int range(const Node& node, size_t axis, int map);
    int affine(int base, int64_t scale, const Size& offset);
    std::optional<int64_t> distance(int a, int b) const;
    int constant(const Size& value);
    /// Returns `index` as the mode of a Gather keeps it inside its source along an axis. `asked`:
    /// the axis of the Gather.
    int kept(int index, const Node& gather, size_t axis, int asked);
    int opaque(uint64_t tag, const Node& node, int axis, int map);
    int tuple(std::vector<int> axes);
    uint64_t size_id(const Size& size);
    int reshape_map(const Node& node, int map);

    SymbolFacts facts_;
    std::vector<Expr> exprs_;
    std::vector<Map> maps_;
    std::map<std::vector<uint64_t>, int> expr_table_;
    std::map<std::vector<int>, int> map_table_;
    std::map<std::string, uint64_t> sizes_;
    std::vector<Size> size_of_;  // by id
    std::function<std::vector<std::pair<const Node*, double>>(const Node&)> loops_of_;
};

}  // namespace firn
