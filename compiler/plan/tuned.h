// Mappings of kernels and cuts of programs that tuning found: where they are kept and found again.
#pragma once
#include <optional>
#include <string>

#include "compiler/mapping/map.h"
#include "compiler/plan/compile_options.h"
#include "compiler/program/program.h"

namespace firn {

/// Returns the key of a tuned mapping: the kernel as the heuristics map it (KernelInfo::identity),
/// the assumptions about its sizes, the passes that are left out, the device with its driver and
/// rates.
std::string tuning_key(const std::string& kernel, const DeviceProfile& profile,
                       const CompileOptions& options);

/// The mapping that was kept under `key`, in the options' table or on disk; nothing if there is
/// none, or a damaged one.
std::optional<Mapping> find_tuned(const std::string& key, const CompileOptions& options);
/// Keeps a mapping on disk, unless `directory` is empty.
void keep_tuned(const std::string& key, const Mapping& mapping, const std::string& directory);

/// Returns the key of tuned cuts: the kernels of the program as the profile alone cuts it.
std::string cuts_key(const Program& program, const CompileOptions& options);
/// The same for cuts; nothing where they are those of the profile.
std::optional<CutWeights> find_tuned_cuts(const std::string& key, const CompileOptions& options);
void keep_tuned_cuts(const std::string& key, const CutWeights& cuts, const std::string& directory);

}  // namespace firn
