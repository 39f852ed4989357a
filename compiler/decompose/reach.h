// Finds the positions of its inputs that a value needs, along axes that processes share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// An axis of a grid: every dimension of `symbol` plus a number lies along it.
struct GridAxis {
    std::string symbol;
    bool periodic = false;  // the last position is beside the first
};

/// The place of a value's axis in the grid: element i stands at position i + offset, and `cut`
/// positions are left behind the last one. `grid` -1: the axis is whole in every process. `free`:
/// it has no data of its own, such as an index or a repeated number, and stands wherever its users
/// do.
struct AxisPlace {
    int grid = -1;
    int64_t offset = 0, cut = 0;
    bool free = false;
};

/// The positions that are read, before and behind one's own: from `lo`, at most 0, to `hi`, at
/// least 0.
struct Reach {
    int64_t lo = 0, hi = 0;
    friend bool operator==(const Reach&, const Reach&) = default;
};

/// The positions of a leaf that a value reads, by axis of the grid. `diagonal`: some read moves
/// along two axes.
struct LeafReach {
    std::vector<Reach> axes;
    bool diagonal = false;
};

/// The place of a value, and the positions of each leaf that it reads. The null leaf stands for the
/// ends of the grid: its reach says how far from an end the function may treat positions otherwise
/// than inside, such as by a frame of zeros.
struct GridPlacement {
    std::vector<AxisPlace> axes;
    std::unordered_map<const Node*, LeafReach> leaves;
};

/// Finds places and reaches of the values of a graph whose leaves are given: inputs, and values
/// that every process has computed for its own positions.
class Reaches {
  public:
    explicit Reaches(std::vector<GridAxis> grid) : grid_(std::move(grid)) {}
    const std::vector<GridAxis>& grid() const { return grid_; }
    /// Makes a value one of the leaves. UserError where it has not all positions of its axes.
    void add_leaf(const Ref& node);
    /// The place of a leaf.
    const GridPlacement& of_leaf(const Node& leaf) const { return known_.at(&leaf); }
    bool is_leaf(const Node& node) const { return leaves_.contains(&node); }
    /// Throws UserError with the user's line where the value cannot be computed from parts: it
    /// reads positions that no number of neighbours bounds, has an axis of another size, or is made
    /// by a kernel by hand.
    const GridPlacement& of(const Ref& node);
    /// True if a Reduce combines positions along an axis of the grid.
    bool reduces_grid(const Ref& reduce);
    /// True for a Loop whose iterations read what it carries at other positions, or reduce along
    /// the grid: it must be a loop of all processes.
    bool is_joint(const Ref& loop);

  private:
    GridPlacement found(const Ref& node);
    GridPlacement of_elementwise(const Node& node);
    GridPlacement of_movement(const Node& node);
    GridPlacement of_reshape(const Node& node);
    GridPlacement of_gather(const Node& node);
    GridPlacement of_scatter(const Node& node);
    GridPlacement of_result(const Node& node);
    GridPlacement of_loop(const Node& loop, const Node& result);
    AxisPlace place_of(const Node& node, size_t axis) const;
    void add(GridPlacement& out, const Ref& input, const std::vector<Reach>& moved);
    void add_ends(GridPlacement& out, int grid, int64_t below, int64_t above) const;

    std::vector<GridAxis> grid_;
    std::unordered_set<const Node*> leaves_;
    std::unordered_map<const Node*, GridPlacement> known_;
    std::unordered_map<const Node*, bool> joint_;
    std::vector<Ref> kept_;  // what the maps name
};

/// The range of an index less the position along `axis` of its own: an i32 value that is the
/// position moved by no more than that. `symbol`: of that axis. Nothing where no numbers bound it.
std::optional<Reach> displacement(const Node& index, int axis, const std::string& symbol);

}  // namespace firn
