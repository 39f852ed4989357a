// Adds the user's source line to errors of the engine, which knows no lines; internal.
#pragma once
#include "compiler/base/error.h"
#include "compiler/frontend/line_scope.h"

namespace firn {

/// Returns f(); adds the source line to its UserErrors.
template <class F>
auto at_line(SourceLine line, const F& f) {
    try {
        return f();
    } catch (const UserError& error) {
        throw UserError(error.what() + (" (" + text(line) + ")"));
    }
}

}  // namespace firn
