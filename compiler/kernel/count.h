// Counts what a kernel does, as sizes.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Arithmetic on values (not on indices) of one dispatch of placed, unmapped code, and the bytes of
/// the buffers it touches, each once: of no more elements than it has loads and stores. A loop
/// whose trips only the data knows counts as one iteration, and touches whole buffers.
Work count_work(const KernelCode& code);
/// Operations of one dispatch of placed, unmapped code that stored values are computed by. Index
/// arithmetic of loads and stores does not count. Loops count as above.
Size value_operations(const KernelCode& code);
/// The arithmetic that count_work() counts, of any code that is placed, each operation as what it
/// costs (operation_cost() of op.h): a division is eight, a function thirty.
Size simple_operations(const KernelCode& code);
/// With the largest values of sizes that only the device knows.
Work largest(const Work& work);

}  // namespace firn
