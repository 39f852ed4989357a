// Operations of processes that other parts of firn::mpi make programs of.
#pragma once
#include <cstdint>
#include <memory>

#include "compiler/ir/graph.h"
#include "engine/mpi/group.h"

namespace firn {

/// A neighbour, and the elements that go to it and come from it; rank -1: there is none.
struct Neighbour {
    int rank = -1;
    int64_t to = 0, from = 0;
};
/// Takes elements in a row, those for `below` first, and gives what comes from below, then from
/// above. `number` tells the exchanges of a program apart; all processes number them alike. Its
/// adjoint sends cotangents back.
std::shared_ptr<const HostOperation> exchange_with(std::shared_ptr<MpiGroup> group, int number,
                                                   Neighbour below, Neighbour above);
/// Combines equal shapes of all processes.
std::shared_ptr<const HostOperation> combine_all(std::shared_ptr<MpiGroup> group, ReduceOp op);

}  // namespace firn
