// Kernels that compute much more than the values they are made of.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/kernel/kernel_list.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// No kernel may take more than this many operations for each that its values take if each of them
/// is computed once, whatever rule decided that they are computed where they are asked. A kernel is
/// exempt that takes no longer than a launch whatever the call's sizes are, such as one in which
/// each of 50 elements computes the same sum of 50 again: to keep the sum would cost a launch.
inline constexpr double kMostExcess = 16;

/// Statistics of find_excess(): the number of kernels, of those that it cut, and of those that take
/// more and are exempt; and of the kernels that stayed, of those that were cut and of those that
/// are exempt the largest ratio of a kernel's operations to those of its values computed once, with
/// the user's line.
struct ExcessCensus {
    struct Worst {
        double factor = 0;
        std::string line;
    };
    int64_t kernels = 0, cut = 0, exempt = 0;
    Worst kept, worst_cut, worst_exempt;
};
/// Adds other statistics.
void add(ExcessCensus& sum, const ExcessCensus& one);
/// Forgets the kernels that were not cut: another round of cuts makes them anew.
void begin_round(ExcessCensus& census);

/// Finds kernels that take more (the list is Ready), and gives the values of theirs to keep in
/// memory: the reductions and loops that other reductions and loops run again in every iteration;
/// where there are none, the values that are asked more often than they have elements. Gives
/// nothing where no kernel takes so much and longer than a launch, or where nothing can be kept.
/// Adds the list's kernels to `census`.
NodeSet find_excess(const KernelList& list, const Graph& graph, const Schedule& schedule,
                    const DeviceProfile& profile, const SymbolFacts& facts, ExcessCensus& census);

/// A function that receives the statistics of each compile of the process behind it, on the thread
/// that compiled, for those who write reports over many. Null: none.
using ExcessReport = void (*)(const ExcessCensus&);
void set_excess_report(ExcessReport report);
void report_excess(const ExcessCensus& of_one_compile);
/// `12 kernels, at most 2.1 times the operations of their values (a.cpp:7); 1 cut, of 40.5 times
/// (a.cpp:9); 2 shorter than a launch, of at most 30 times (a.cpp:8)`.
std::string text(const ExcessCensus& census);

/// The reductions and loops that kernels compute on the way to their outputs, to keep in memory: of
/// the kernels in which an invocation takes more iterations than the driver allows.
NodeSet find_overlong_parts(const KernelList& list, const Graph& graph, const Schedule& schedule,
                            const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
