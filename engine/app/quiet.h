// QuietScope silences standard output, for runs that print nothing but errors.
#pragma once

namespace firn {

/// While it lives, all output to standard output is discarded. Only one may exist at a time.
class QuietScope {
  public:
    QuietScope();
    ~QuietScope();
    QuietScope(const QuietScope&) = delete;
    QuietScope& operator=(const QuietScope&) = delete;

  private:
    int before_ = -1;  // the standard output before
};

}  // namespace firn
