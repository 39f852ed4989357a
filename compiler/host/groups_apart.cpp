// Groups of a kernel on fibers, which the thread sanitizer takes for threads.
#include "compiler/host/groups_apart.h"

#include "compiler/base/error.h"
#include "compiler/base/thread_sanitizer.h"

#ifdef FIRN_FINDS_RACES
extern "C" {
// These functions are part of the sanitizer's interface. A switch of fibers orders what came before
// it and what comes behind, unless its flag is set.
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

namespace firn {

#ifdef FIRN_FINDS_RACES

namespace {

/// The number of fibers of a thread, to which its groups are dealt in turns.
constexpr uint64_t kFibers = 4;
constexpr unsigned kOrdered = 0, kUnordered = 1;

struct Fibers {
    void* own[kFibers];
    Fibers() {
        for (void*& fiber : own) fiber = __tsan_create_fiber(0);
    }
    ~Fibers() {
        for (void* fiber : own) __tsan_destroy_fiber(fiber);
    }
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;
};

/// Runs on the thread's own stack: the kernel keeps nothing there that another group sees.
[[gnu::noinline, gnu::no_sanitize_thread]] void run_on(void* fiber, void* thread,
                                                       NativeKernel kernel, const NativeCall& call,
                                                       uint64_t first, uint64_t last) {
    __tsan_switch_to_fiber(fiber, kOrdered);
    for (uint64_t group = first; group < last; group += kFibers) kernel(&call, group, group + 1);
    __tsan_switch_to_fiber(thread, kUnordered);
}

[[gnu::noinline, gnu::no_sanitize_thread]] void join(void* fiber, void* thread) {
    __tsan_switch_to_fiber(fiber, kUnordered);
    __tsan_switch_to_fiber(thread, kOrdered);
}

}  // namespace

void run_groups_apart(NativeKernel kernel, const NativeCall& call, uint64_t first, uint64_t last) {
    thread_local const Fibers fibers;
    void* const thread = __tsan_get_current_fiber();
    for (uint64_t k = 0; k < kFibers; ++k)
        run_on(fibers.own[k], thread, kernel, call, first + k, last);
    for (void* fiber : fibers.own) join(fiber, thread);
}

#else

void run_groups_apart(NativeKernel, const NativeCall&, uint64_t, uint64_t) {
    throw InternalError("internal error: this build finds no races");
}

#endif

}  // namespace firn
