// The sizes of a program that only the device knows: where they lie, and what computes them when.
#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/program.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Collects what the kernels of a program need, so that one invocation computes all of it as soon
/// as the values of the data symbols are there. The steps of a loop are a region: sizes that begin
/// in its iterations, or depend on which iteration it is, are computed in it.
class PlannedSizes {
  public:
    PlannedSizes(const Graph& graph, Program& program);

    /// Some of what the item computes is the value of a data symbol.
    bool waits_for(const ScheduleItem& item) const;

    /// From here on the steps of the body of `loop` are planned, in which the symbol `induction`
    /// counts the iterations.
    void open(const Node& loop, const std::string& induction);
    /// `buffers` says where values are after the first `steps` steps of the innermost region.
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
    /// Those of the innermost region, which ends: the last first, so that inserting one does not
    /// move the next.
    std::vector<Computation> close();

  private:
    /// Sizes that depend on the same data symbols and inductions.
    struct Table {
        int buffer = -1;
        std::vector<Size> sizes;
    };
    struct Region {
        std::string induction;
        std::map<std::string, const Node*> symbols;  // that begin here, and their values
        std::map<std::string, size_t> ready;         // steps before they are there
        std::map<std::set<std::string>, Table> tables;
    };
    void enter(const std::vector<Size>& sizes, const std::vector<Ref>& counts,
               const std::string& induction);
    Region& region_of(const std::set<std::string>& symbols);

    Program& program_;
    std::vector<Region> regions_;             // the program's own first
    std::map<std::string, int> counts_;       // the buffer of each symbol's value
    std::unordered_set<const Node*> values_;  // of all data symbols
};

}  // namespace firn
