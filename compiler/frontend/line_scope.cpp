// The caller's line, kept in the session while a library function records.
#include "compiler/frontend/line_scope.h"

#include "compiler/frontend/record.h"

namespace firn {

LineScope::LineScope(SourceLine line) : session_(current_state()) {
    session_->nodes.thread().enter(line);
    outermost_ = !session_->caller.line;
    if (outermost_) session_->caller = line;
}

LineScope::~LineScope() {
    if (outermost_) session_->caller = {};
    session_->nodes.thread().leave();
}

void refuse(const std::string& message) { fail_at(current_state()->caller, message); }

int checked_axis(const char* what, int axis, const Shape& shape) {
    int rank = static_cast<int>(shape.size());
    if (axis < -rank || axis >= rank)
        refuse(std::string(what) + ": axis " + std::to_string(axis) + " does not exist in shape " +
               text(shape) +
               (rank
                    ? "; give one from " + std::to_string(-rank) + " to " + std::to_string(rank - 1)
                    : "; a scalar has no axes"));
    return axis < 0 ? axis + rank : axis;
}

}  // namespace firn
