// Makes functions written with tensors carry the line of their caller.
#pragma once
#include <string>

#include "compiler/ir/source_line.h"
#include "compiler/program/size.h"

namespace firn {

struct SessionState;

/// Makes all nodes carry `line` while it lives, so that errors and reports of a function written
/// with tensors name its caller. Of nested scopes the outermost decides.
///
/// Example: after `auto twice = [](const Tensor& x, SourceLine line = here()) {`
/// `LineScope at(line); return x + x; };` `twice(tensor({1, 2}))` is `{2, 4}`.
class LineScope {
  public:
    /// Begins; ends where it is destroyed, on the same thread.
    explicit LineScope(SourceLine line);
    ~LineScope();
    LineScope(const LineScope&) = delete;
    LineScope& operator=(const LineScope&) = delete;

  private:
    SharedPtr<SessionState> session_;
    bool outermost_ = false;
};

/// Throws a UserError that ends with the line of the outermost LineScope.
///
/// Example: after `bool refused = false;`
/// `try { refuse("half: an odd number"); } catch (const UserError&) { refused = true; }`
/// `refused` is `true`.
[[noreturn]] void refuse(const std::string& message);

/// `axis` of a tensor with this shape, counted from the front. `what` names the function in the
/// UserError where there is no such axis.
///
/// Example: `checked_axis("half", -1, {2, 3})` is `1`.
int checked_axis(const char* what, int axis, const Shape& shape);

}  // namespace firn
