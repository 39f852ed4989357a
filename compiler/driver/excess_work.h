// Kernels that compute much more than the values they are made of.
#pragma once
#include "compiler/kernel/kernel_list.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Whatever rule decided that values are computed where they are asked, no kernel may take more
/// than this many operations for each that its values take if each of them is computed once. Of
/// 28,000 kernels of random programs 39 would take more: a sum over all that every element would
/// compute again. Where neighbours ask for values, kernels take up to 7. A chain of three products
/// that are computed inside one another takes 45.
inline constexpr double kMostExcess = 16;

/// Of kernels that are Ready, and take more: the values that had better be kept in memory. These
/// are the reductions and loops that other reductions and loops run again in every iteration; where
/// there are none, all that is asked more often than it has elements. Nothing where no kernel takes
/// so much, or nothing can be kept.
NodeSet find_excess(const KernelList& list, const Graph& graph, const Schedule& schedule,
                    const SymbolFacts& facts);

}  // namespace firn
