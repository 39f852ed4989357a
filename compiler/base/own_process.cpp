// The process that something was made in.
#include "compiler/base/own_process.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace firn {
namespace {

using KnownId = std::atomic<pid_t>;

/// Memory that is 0 in a child of fork(), however that was called; null where the system has none.
KnownId* cleared_by_fork() {
    const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return nullptr;
    if (madvise(page, bytes, MADV_WIPEONFORK) == 0) return new (page) KnownId(0);
    munmap(page, bytes);
    return nullptr;
}

}  // namespace

pid_t this_process() {
    static KnownId* const known = cleared_by_fork();
    if (!known) return getpid();
    pid_t id = known->load(std::memory_order_relaxed);
    if (id == 0) known->store(id = getpid(), std::memory_order_relaxed);
    return id;
}

std::string OwnProcess::why_not_here(const std::string& what) const {
    if (is_here()) return "";
    return what + " by process " + std::to_string(id_) + ", and this is process " +
           std::to_string(this_process()) +
           ", which fork() made of it without the threads that do its work; make the session in "
           "the child, after fork(), as by SessionScope scope(device_session()), or start the "
           "child by exec()";
}

}  // namespace firn
