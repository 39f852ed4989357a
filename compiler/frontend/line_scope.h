// Functions written with tensors carry the line of whoever called them.
#pragma once
#include <string>

#include "compiler/ir/source_line.h"
#include "compiler/program/size.h"

namespace firn {

struct SessionState;

/// While it lives, everything that is recorded carries `line`: a function that is written with
/// tensors names its caller in errors and reports, not itself. Of nested ones the outermost counts.
class LineScope {
  public:
    explicit LineScope(SourceLine line);
    ~LineScope();
    LineScope(const LineScope&) = delete;
    LineScope& operator=(const LineScope&) = delete;

  private:
    SharedPtr<SessionState> session_;
    bool outermost_ = false;
};

/// Throws a UserError that ends with the line of the outermost LineScope.
[[noreturn]] void refuse(const std::string& message);

/// `axis` of a tensor with this shape, counted from the front. `what` names the function in the
/// UserError where there is no such axis.
int checked_axis(const char* what, int axis, const Shape& shape);

}  // namespace firn
