// State in files: parameters, and what optimizers keep, for a run that goes on.
#pragma once
#include <string>

#include "compiler/learning/variable.h"

namespace firn {

/// Writes variables and numbers by their names, as `.safetensors` or `.npz` by the path's end: of a
/// module alone the file is one of a PyTorch state_dict. `save_state("run.safetensors", {net,
/// optimizer})` is all that a run needs to go on with the same bits. UserError where it cannot be
/// written (what was there is as it was), or two have one name.
void save_state(const std::string& path, const State& state, SourceLine line = here());

struct LoadOptions {
    /// What the file has not stays as it is.
    bool allow_missing = false;
    /// What only the file has is left out.
    bool allow_extra = false;
};
/// Reads what save_state wrote, or PyTorch or numpy. A file that is damaged, or of which names,
/// shapes or types differ, is a UserError that lists what differs, and changes nothing.
void load_state(const std::string& path, const State& state, const LoadOptions& options = {},
                SourceLine line = here());

/// The state with `prefix` and a dot before every name: for two models in one file.
State prefixed(const std::string& prefix, const State& state);

}  // namespace firn
