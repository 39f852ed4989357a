// Errors of the engine, which knows no lines, with the place in the program; internal.
#pragma once
#include "compiler/frontend/line_scope.h"
#include "compiler/program/error.h"

namespace firn {

/// What `f` gives; its UserErrors say where in the program.
template <class F>
auto at_line(SourceLine line, const F& f) {
    try {
        return f();
    } catch (const UserError& error) {
        throw UserError(error.what() + (" (" + text(line) + ")"));
    }
}

}  // namespace firn
