// Stage 5: gives the ranges of a kernel their kinds and expands it accordingly.
#pragma once
#include <map>
#include <string>

#include "compiler/lower/kernel_code.h"

namespace firn {

/// What mapping chose for the grid: every field a factor (1: not split). x is the innermost range.
struct Mapping {
    int64_t vector = 1;               // neighbours along x in one invocation
    int64_t unroll = 1;               // rows (y) in one invocation; with one range: strides of the group
    uint32_t group_x = 64, group_y = 1, group_z = 1;
    int64_t serial_unroll = 1;        // copies of an innermost serial loop's body
    /// Invocations that share one such index: 1, or the lanes of a subgroup, which deal the turns of
    /// its reductions and rows among them (share_loops). Divides group_x; group_y and group_z are 1.
    uint32_t lanes = 1;
    /// Elements that all lanes of a subgroup read in turn are loaded by one lane each and handed round. Every
    /// lane then takes part, also behind the grid's end. Divides group_x, and serial_unroll.
    uint32_t dealt_loads = 1;
};

/// The schedule template of the profile's class, sized by what the kernel does.
Mapping choose_mapping(const KernelCode& lowered, const DeviceProfile& profile,
                       const SymbolFacts& facts);

/// Post-condition: ranges are Group, Invocation, Subgroup and Serial; copies along Vector and Unroll are expanded and
/// jammed into shared loops; where lanes share an index, reductions end in SubgroupReduce and the first
/// lane stores; neighbouring loads and stores are merged; read-only buffers have the
/// profile's form; one guard per tail; group_size, groups, guards, back_edges and schedule are set. Placed.
KernelCode map_kernel(const KernelCode& lowered, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts);

/// The same for a kernel by hand, whose mapping its user chose: binding forms and back edges. Placed.
void finish_by_hand(KernelCode& code, const DeviceProfile& profile);

/// Largest number of loop back edges of one invocation; -1 where only the data or the symbols know.
int64_t count_back_edges(const KernelCode& code);

}  // namespace firn
