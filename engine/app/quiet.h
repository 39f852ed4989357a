// A run that prints nothing but errors.
#pragma once

namespace firn {

/// While it lives, nothing that is printed to standard output arrives anywhere. One at a time.
class QuietScope {
  public:
    QuietScope();
    ~QuietScope();
    QuietScope(const QuietScope&) = delete;
    QuietScope& operator=(const QuietScope&) = delete;

  private:
    int before_ = -1;  // what standard output was
};

}  // namespace firn
