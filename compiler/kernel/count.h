// Counts a kernel's work, as sizes.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Counts, for one dispatch of placed, unmapped code, the arithmetic on values (not on indices) and
/// the bytes of the buffers that it touches. Each byte counts once, and no more elements than the
/// kernel has loads and stores. A loop whose trip count depends on data counts as one iteration,
/// and touches whole buffers.
Work count_work(const KernelCode& code);
/// Operations of one dispatch of placed, unmapped code that stored values are computed by. Index
/// arithmetic of loads and stores does not count. Loops count as above.
Size value_operations(const KernelCode& code);
/// Returns the arithmetic that count_work() counts, of any placed code, with each operation at its
/// cost (operation_cost() of op.h): a division is eight, a function thirty.
Size simple_operations(const KernelCode& code);
/// Returns the work with the largest values of sizes that only the device knows.
Work largest(const Work& work);

}  // namespace firn
