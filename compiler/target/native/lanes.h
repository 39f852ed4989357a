// Operations by which the lanes of a subgroup exchange values, as LLVM IR.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// A SubgroupReduce, SubgroupScan, SubgroupRead or SubgroupShuffle.
void write_exchange(IrRun& run, NodeId id);

}  // namespace firn::native
