// Kernels mapped, and programs cut, otherwise than the heuristics say: what tuning tries, keeps and finds again.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/mapping/map.h"

namespace firn {

/// What a tuned mapping is kept under: the kernel as the heuristics map it (its GLSL), what was assumed of its
/// sizes, the device with its driver and rates.
std::string tuning_key(const std::string& glsl, const DeviceProfile& profile, const SymbolFacts& facts);

/// The mapping that was kept under `key`, in the options' table or on disk; a damaged entry is none.
std::optional<Mapping> find_tuned(const std::string& key, const CompileOptions& options);
/// Keeps one on disk, where `directory` is not empty.
void keep_tuned(const std::string& key, const Mapping& mapping, const std::string& directory);

/// What tuned cuts are kept under: the kernels of the program as the profile alone cuts it.
std::string cuts_key(const Program& program, const SymbolFacts& facts);
/// The same for cuts; nothing where they are those of the profile.
std::optional<CutWeights> find_tuned_cuts(const std::string& key, const CompileOptions& options);
void keep_tuned_cuts(const std::string& key, const CutWeights& cuts, const std::string& directory);

/// A lowered kernel in another mapping; nothing where that is not possible.
std::optional<KernelCode> remap(const KernelCode& lowered, const Mapping& mapping, const DeviceProfile& profile,
                                const SymbolFacts& facts);

/// Mappings of a kernel of the program to try beside `mapping`, each one step from it. Empty where its steps cannot
/// be mapped otherwise.
std::vector<Mapping> other_mappings(const Program& program, int kernel, const Mapping& mapping,
                                    const SymbolFacts& facts);
/// The program with one kernel in another mapping, without that kernel's SPIR-V. UserError where the device's limits
/// forbid it, InternalError where the mapping cannot be.
std::shared_ptr<Program> with_mapping(const Program& program, int kernel, const Mapping& mapping,
                                      const SymbolFacts& facts);

}  // namespace firn
