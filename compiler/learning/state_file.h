// State in files: parameters, and the state of optimizers, to continue a run.
#pragma once
#include <string>

#include "compiler/learning/variable.h"

namespace firn {

/// Writes variables and numbers by their names, as `.safetensors` or `.npz` by the path's end: for
/// a module alone the file is that of a PyTorch state_dict. `save_state("run.safetensors", {net,
/// optimizer})` is all that a run needs to go on with the same bits. UserError if it cannot be
/// written (an old file stays as it was), or if two have one name.
///
/// Example: after `Linear net(2, 1, {.bias = false, .init = constant_init(2)});`
/// `save_state("net.npz", net);` `load_npz("net.npz", "weight")` is `{{2, 2}}`.
void save_state(const std::string& path, const State& state, SourceLine line = here());

/// The allowed differences between a file and a state.
struct LoadOptions {
    /// Variables that the file lacks keep their values.
    bool allow_missing = false;
    /// Entries that only the file has are ignored.
    bool allow_extra = false;
};
/// Reads a file of save_state, PyTorch or numpy. A file that is damaged, or whose names, shapes or
/// types differ, is a UserError that lists what differs, and changes nothing.
///
/// Example: after `Linear old(2, 1, {.init = constant_init(2)}), net(2, 1);`
/// `save_state("run.safetensors", old); load_state("run.safetensors", net);` `net.weight.value()`
/// is `{{2, 2}}`.
void load_state(const std::string& path, const State& state, const LoadOptions& options = {},
                SourceLine line = here());

/// The state with `prefix` and a dot before every name: for two models in one file.
///
/// Example: `prefixed("encoder", Linear(2, 1)).variables[0].name` is `"encoder.weight"`.
State prefixed(const std::string& prefix, const State& state);

}  // namespace firn
