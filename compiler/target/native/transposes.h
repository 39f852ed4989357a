// Loads and stores of which every lane has a row of its own: whole rows, transposed.
#pragma once
#include <map>
#include <vector>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Loads, or stores, of a region that together give every lane as many neighbours as there are
/// lanes: a square, of which memory has the rows and vectors the columns.
struct Square {
    std::vector<NodeId> accesses;  // in the order of their elements
    NodeId base;                   // the part of their index that is the same
    int64_t offset = 0;            // of the first element from it
    /// The offsets of all stores between which it is written: those of one lane are apart from
    /// those of another one, so that their order is no matter.
    std::vector<int64_t> stored = {};
};

/// The squares among nodes that are written one after the other, each by the first of its nodes. A
/// kernel in order has none of loads, since effects may stand between them; stores of one follow
/// one another.
std::map<NodeId, Square> find_squares(const IrRun& run, const std::vector<NodeId>& nodes);

/// Returns whether a square can be written as rows here: all lanes run, their rows lie apart, and
/// all that it stores is written.
bool is_square(const IrRun& run, const Square& square);
/// Writes one that can.
void write_square(IrRun& run, const Square& square);

}  // namespace firn::native
