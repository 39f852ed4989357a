// Programs of the schedule tests: written on the frontend, compiled for a profile, and not run.
#pragma once
#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {

/// The program of `function` for `profile`.
template <class F>
std::shared_ptr<const Program> program_for(const DeviceProfile& profile, F function,
                                           const std::vector<ArgSpec>& specs) {
    SessionScope scope(emitting(profile));
    return compile([&](const std::vector<Tensor>& args) { return function(args); }, specs)
        .program();
}

inline std::string verdict_of(const Program& program, const std::string& value) {
    for (const VerdictInfo& v : program.verdicts)
        if (v.value == value) return v.verdict + ": " + v.reason;
    return "none";
}

}  // namespace firn
