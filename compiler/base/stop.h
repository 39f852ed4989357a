// A request to end a compile early.
#pragma once
#include <atomic>
#include <stdexcept>

namespace firn {

/// See CompileOptions::stop.
struct Stopped : std::runtime_error {
    Stopped() : std::runtime_error("the compile was stopped") {}
};

/// Throws Stopped where `stop` is there and true: between passes, and between kernels.
inline void check_stop(const std::atomic<bool>* stop) {
    if (stop && *stop) throw Stopped();
}

}  // namespace firn
