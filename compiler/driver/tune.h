// Kernels mapped, and programs cut, otherwise than the heuristics say: what tuning tries.
#pragma once
#include <memory>
#include <vector>

#include "compiler/mapping/mapping.h"
#include "compiler/plan/tuned.h"

namespace firn {

/// Mappings of a kernel of the program to try beside `mapping`, each one step from it. Empty where
/// its steps cannot be mapped otherwise.
std::vector<Mapping> other_mappings(const Program& program, int kernel, const Mapping& mapping,
                                    const SymbolFacts& facts);
/// The program with one kernel in another mapping, without that kernel's SPIR-V. UserError where
/// the device's limits forbid it, InternalError where the mapping cannot be.
std::shared_ptr<Program> with_mapping(const Program& program, int kernel, const Mapping& mapping,
                                      const SymbolFacts& facts);

}  // namespace firn
