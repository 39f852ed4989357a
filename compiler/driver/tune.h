// Maps kernels and cuts programs in other ways than the heuristics choose: tuning tries these.
#pragma once
#include <memory>
#include <vector>

#include "compiler/mapping/mapping.h"
#include "compiler/plan/tuned.h"

namespace firn {

/// Returns mappings of a kernel of the program to try beside `mapping`, each one step from it; none
/// if the kernel cannot be mapped in another way.
std::vector<Mapping> other_mappings(const Program& program, int kernel, const Mapping& mapping,
                                    const SymbolFacts& facts);
/// Returns the program, which was compiled with these options, with one kernel in another mapping,
/// without that kernel built. Throws UserError if the device's limits forbid it, and
/// InternalError if the mapping is impossible.
std::shared_ptr<Program> with_mapping(const Program& program, int kernel, const Mapping& mapping,
                                      const CompileOptions& options);

}  // namespace firn
