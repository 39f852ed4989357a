// The process that something was made in.
#include "compiler/program/own_process.h"

namespace firn {

std::string OwnProcess::why_not_here(const std::string& what) const {
    if (is_here()) return "";
    return what + " by process " + std::to_string(id_) + ", and this is process " +
           std::to_string(getpid()) +
           ", which fork() made of it without the threads that do its work; make the session in "
           "the child, after fork(), as by SessionScope scope(device_session()), or start the "
           "child by exec()";
}

}  // namespace firn
