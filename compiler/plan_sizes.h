// The sizes of a program that only the device knows: where they lie, and what computes them when.
#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/kernel_code.h"
#include "compiler/program/program.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Collects what the kernels of a program need, so that one invocation computes all of it as soon
/// as the values of the data symbols are there.
class PlannedSizes {
  public:
    PlannedSizes(const Graph& graph, Program& program) : graph_(graph), program_(program) {}

    /// Some of what the item computes is the value of a data symbol.
    bool waits_for(const ScheduleItem& item) const;
    /// `buffers` says where values are after the first `steps` steps of the program.
    void note(const std::unordered_map<const Node*, int>& buffers, size_t steps);
    /// The program's buffer where `sizes` will lie one after the other, and the first one's place
    /// in it.
    std::pair<int, int64_t> place(const std::vector<Size>& sizes);

    /// A kernel to be dispatched, with one group, before step `before`; its target is `buffer`.
    struct Computation {
        size_t before = 0;
        KernelCode code;
        int buffer = -1;
    };
    /// The last first, so that inserting one does not move the next.
    std::vector<Computation> computations();

  private:
    /// Sizes that depend on the same data symbols.
    struct Table {
        int buffer = -1;
        std::vector<Size> sizes;
    };
    const Graph& graph_;
    Program& program_;
    std::map<std::string, int> counts_;    // the buffer of each symbol's value
    std::map<std::string, size_t> ready_;  // steps before it is there
    std::map<std::set<std::string>, Table> tables_;
};

}  // namespace firn
