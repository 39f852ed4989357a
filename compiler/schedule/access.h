// Access maps: at which of its indices a value is asked, as seen from the grid of a kernel.
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
/// base * scale + offset, one that is kept inside of a smaller shape, or opaque: named by the node
/// that computes it and the tuple at which that is asked.
class AccessMaps {
  public:
    explicit AccessMaps(SymbolFacts facts = {}) : facts_(std::move(facts)) {}
    /// The map that asks a value of `shape` at the grid's own indices, right-aligned.
    int identity(const Shape& shape);
    /// Map for input `k` of `node` when the node is asked by `map`; regions are not entered.
    int input_map(const Node& node, int k, int map);
    /// A Pad that is asked by `map` gives nothing of its input.
    bool in_padding(const Node& pad, int map) const;
    /// Map for a value of shape `to` that broadcasts to one of shape `from` asked by `map`.
    int projected(int map, const Shape& from, const Shape& to);
    /// How often per grid index a value asked by `map` is evaluated: the trip counts of the ranges
    /// it uses.
    double trips(int map) const;
    /// How many leading axes of a grid of `rank` axes the indices of `map` use.
    int prefix(int map, int rank) const;
    /// Its indices are the first ones of `whole`.
    bool begins(int map, int whole) const;
    /// The axis along which they ask for neighbours, no more than kNear apart, counted from the
    /// right; none where the maps differ otherwise.
    std::optional<int> beside(int a, int b) const;
    /// They ask along the same row: their indices differ in the last one at most.
    bool same_row(int a, int b) const;
    /// Marks everything asked inside a loop's body: an opaque index computed by `node` depends on
    /// the loops in `loops`, with their trip counts.
    void set_loop_dependencies(
        std::function<std::vector<std::pair<const Node*, double>>(const Node&)> f) {
        loops_of_ = std::move(f);
    }

  private:
    static constexpr uint64_t kNoAxis = UINT64_MAX;
    /// Ids and trip counts of the loops that an index changes in, and of the loops around these,
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
    /// The loops in which `node` is evaluated when it is asked by `map`.
    Ranges ranges_of(const Node& node, int map) const;
    /// The range of the reduction `node` along `axis`, which runs anew wherever `map` asks for the
    /// reduction: an index of other trips for every set of loops around it.
    int range(const Node& node, size_t axis, int map);
    int affine(int base, int64_t scale, const Size& offset);
    std::optional<int64_t> distance(int a, int b) const;
    int constant(const Size& value);
    /// `index`, as the mode of a Gather keeps it inside of its source along an axis; `asked`: the
    /// axis of the Gather.
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
