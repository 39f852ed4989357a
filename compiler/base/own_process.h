// The process that something was made in: a child of fork() has a copy of it and none of the
// threads that work for it.
#pragma once
#include <sys/types.h>

#include <string>

namespace firn {

/// Returns the id of this process, as getpid() does, without a system call: one call of a program
/// needs it several times.
pid_t this_process();

/// The process in which it was made.
class OwnProcess {
  public:
    /// False in a child that fork() has made since.
    bool is_here() const { return id_ == this_process(); }
    /// Why it cannot be used in such a child, and the way out; empty elsewhere. `what` needs
    /// threads: "device 'x' was opened".
    std::string why_not_here(const std::string& what) const;

  private:
    pid_t id_ = this_process();
};

/// Deletes in the process in which it was made alone: in a child of fork() ends would wait for
/// threads that are not there, or for locks that these hold.
struct DeleteInOwnProcess {
    OwnProcess process = {};
    template <class T>
    void operator()(T* object) const {
        if (process.is_here()) delete object;
    }
};

}  // namespace firn
