// Finds kernels that take many more operations than their values need.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/kernel/kernel_list.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// The most operations that a kernel may take for each operation that its values take if each is
/// computed once, regardless of the rule that decided to recompute them. A kernel is exempt if it
/// takes no longer than a launch for any sizes of a call, such as one in which each of 50 elements
/// computes the same sum of 50 again: keeping the sum would cost a launch. So is one whose values
/// could only be kept if a loop inside it became a loop of kernels, if it takes no longer than
/// their launches.
inline constexpr double kMostExcess = 16;

/// The cuts of kernels that exceed kMostExcess: values to keep in memory, and loops inside kernels
/// that are to become loops of kernels.
struct Excess {
    NodeSet values, loops;
    bool empty() const { return values.empty() && loops.empty(); }
};

/// Statistics of find_excess(): the number of kernels, the number of those that it cut, and the
/// number of those that take more and are exempt. For the kernels that stayed, those that were cut
/// and those that are exempt: the largest ratio of a kernel's operations to those of its values
/// computed once, with the user's line.
struct ExcessCensus {
    struct Worst {
        double factor = 0;
        std::string line;
    };
    int64_t kernels = 0, cut = 0, exempt = 0;
    Worst kept, worst_cut, worst_exempt;
};
/// Adds the statistics of another compilation.
void add(ExcessCensus& sum, const ExcessCensus& one);
/// Forgets the kernels that were not cut, because another round of cuts makes them again.
void begin_round(ExcessCensus& census);

/// Finds the kernels that exceed kMostExcess (the list is Ready), and returns those of their values
/// to keep in memory: the reductions and loops that other reductions and loops run again in every
/// iteration or, if there are none, the values that are evaluated more often than they have
/// elements. Values of an iteration have no memory while their loop is inside a kernel: if only
/// such values are evaluated so often, their loops are returned. The result is empty if no kernel
/// takes so much and is not exempt. Adds the list's kernels to `census`.
Excess find_excess(const KernelList& list, const Graph& graph, const Schedule& schedule,
                   const DeviceProfile& profile, const SymbolFacts& facts, ExcessCensus& census);

/// Appends the statistics of one compilation to a file, as one line of fields with tabs between
/// them: the three numbers, then the three ratios, each with the user's line. Several processes may
/// append to one file. UserError if the file cannot be written.
void append_excess(const std::string& file, const ExcessCensus& of_one_compile);
/// `12 kernels, at most 2.1 times the operations of their values (a.cpp:7); 1 cut, of 40.5 times
/// (a.cpp:9); 2 shorter than the launches of a cut, of at most 30 times (a.cpp:8)`.
std::string text(const ExcessCensus& census);

/// Returns the reductions and loops to keep in memory that kernels compute on the way to their
/// outputs, for the kernels in which an invocation takes more iterations than the driver allows.
NodeSet find_overlong_parts(const KernelList& list, const Graph& graph, const Schedule& schedule,
                            const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
