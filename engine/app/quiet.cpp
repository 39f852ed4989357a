// A run that prints nothing but errors.
#include "engine/app/quiet.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace firn {

QuietScope::QuietScope() {
    std::fflush(stdout);
    before_ = dup(STDOUT_FILENO);
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (before_ >= 0 && nothing >= 0) dup2(nothing, STDOUT_FILENO);
    if (nothing >= 0) close(nothing);
}

QuietScope::~QuietScope() {
    std::fflush(stdout);
    if (before_ < 0) return;
    dup2(before_, STDOUT_FILENO);
    close(before_);
}

}  // namespace firn
