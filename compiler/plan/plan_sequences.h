// Small steps of a Program that need one another, in one dispatch.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/program.h"

namespace firn {

/// Takes the kernel of a sequence into the program. `lines`: the user's, of all its parts; `work`:
/// what they do together.
using AddSequence =
    std::function<Step(KernelCode code, const std::vector<std::string>& lines, const Work& work)>;

/// Dispatches that follow one another, and loops of them, become one dispatch of one group that
/// runs them in order, where that takes no longer than launching them. What a dispatch does on all
/// cores one group does on one: so each must be small, as far as the facts bound its sizes. Where
/// buffers rotate in a loop its iterations are written out until they have their names again, or
/// the buffers are copied. Kernels that no step needs any more leave the program.
void put_in_sequence(Program& program, const DeviceProfile& profile, const SymbolFacts& facts,
                     const AddSequence& add);

}  // namespace firn
