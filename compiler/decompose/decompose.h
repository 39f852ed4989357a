// A function of whole tensors as a function of the parts that one process has.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "compiler/decompose/reach.h"
#include "compiler/ir/builder.h"

namespace firn {

/// The positions of this process along an axis of the grid.
struct GridPart {
    int64_t first = 0, length = 0, total = 0;
    bool below = false, above = false;  // other processes have the positions there
    int64_t shortest = 0;               // the least length of any process
};

/// Returns the part of process `place`, from 0, of so many that share an axis. Where the axis
/// cannot be divided the first ones have one position more.
GridPart grid_part(int64_t total, int processes, int place, bool periodic);

/// The operations of the host by which processes work together.
struct GridTies {
    /// Takes numbers of elements in a row: `to_below` of them for the process below along an axis
    /// of the grid, then `to_above`; gives `from_below` of that process's, then `from_above`.
    /// Those for a process that is not there are 0.
    std::function<std::shared_ptr<const HostOperation>(
        size_t axis, int64_t to_below, int64_t to_above, int64_t from_below, int64_t from_above)>
        exchange;
    /// Combines equal shapes of all processes along these axes of the grid.
    std::function<std::shared_ptr<const HostOperation>(ReduceOp op, const std::vector<bool>& axes)>
        combine;
};

/// How wide the rims are that a function exchanges, for people.
struct Exchange {
    std::string value, line;  // `argument 1`; where it is made
    size_t axis = 0;
    int64_t below = 0, above = 0;
    bool corners = false;
};

/// Returns the results of `graph` at the positions of this process, from the parts of its arguments
/// (those without an axis of the grid are whole). Every process computes first what its own
/// positions give, and again the strips beside its neighbours once their positions are there: the
/// same operations on the same numbers as one process makes, but for reductions along the grid,
/// which combine the parts of the processes. `exchanges`, where it is given, gets what is
/// exchanged. Throws UserError, with the user's line, where a value cannot be made of parts (see
/// Reaches::of), and where a rim is wider than the part of a process.
std::vector<Ref> decomposed(const Builder& b, const Graph& graph, const std::vector<GridAxis>& grid,
                            const std::vector<GridPart>& part, const GridTies& ties,
                            const std::vector<Ref>& args, std::vector<Exchange>* exchanges = {});

}  // namespace firn
