// Stage 5: gives the ranges of a kernel their kinds and expands it accordingly.
#pragma once
#include "compiler/mapping/mapping.h"

namespace firn {

/// Returns the schedule template of the profile's class, sized by the kernel's work.
Mapping choose_mapping(const KernelCode& lowered, const DeviceProfile& profile,
                       const SymbolFacts& facts);

/// The row `map` of the pipeline (passes.h). Post-condition: ranges are Group, Invocation, Subgroup
/// and Serial; copies along Vector and Unroll are expanded and jammed into shared loops; where
/// lanes share an index, reductions end in SubgroupReduce and the first lane stores; where operands
/// are staged, loops read what their group has loaded into shared memory; neighbouring loads and
/// stores are merged; read-only buffers have the profile's form; one guard per tail; group_size,
/// groups and guards are set. The result is not placed.
KernelCode map_ranges(const KernelCode& ready, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts);

}  // namespace firn
