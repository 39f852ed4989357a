// Kernels that compute much more than the values they are made of.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/kernel/kernel_list.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// No kernel may take more than this many operations for each that its values take if each of them
/// is computed once, whatever rule decided that they are computed where they are asked. Of 28,000
/// kernels of random programs 39 would take more, such as one in which each element computes the
/// same sum again.
inline constexpr double kMostExcess = 16;

/// Finds kernels that take more (the list is Ready), and gives the values of theirs to keep in
/// memory: the reductions and loops that other reductions and loops run again in every iteration;
/// where there are none, the values that are asked more often than they have elements. Gives
/// nothing where no kernel takes so much, or where nothing can be kept.
NodeSet find_excess(const KernelList& list, const Graph& graph, const Schedule& schedule,
                    const SymbolFacts& facts);

/// Statistics of find_excess() over all kernels that the process has compiled: their number, the
/// number of those that it cut, and, of the kernels that stayed and of those that were cut, the
/// largest ratio of a kernel's operations to those of its values computed once, with the user's
/// line.
struct ExcessCensus {
    struct Worst {
        double factor = 0;
        std::string line;
    };
    int64_t kernels = 0, cut = 0;
    Worst kept, worst_cut;
};
ExcessCensus excess_census();
/// `12 kernels, at most 2.1 times the operations of their values (a.cpp:7); 1 cut, of 40.5 times
/// (a.cpp:9)`.
std::string text(const ExcessCensus& census);

/// The reductions and loops that kernels compute on the way to their outputs, to keep in memory: of
/// the kernels in which an invocation takes more iterations than the driver allows.
NodeSet find_overlong_parts(const KernelList& list, const Graph& graph, const Schedule& schedule,
                            const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
