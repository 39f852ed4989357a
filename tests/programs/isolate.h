// Runs tasks in processes of their own, so that what crashes or does not end is a result like
// another.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace firn::programs {

/// The work of a process: `begin` once, then task after task.
struct Tasks {
    std::function<void()> begin;
    std::function<std::string(size_t)> run;
};

/// Returns the result of `run` for each of `count` tasks, or that it died, or that it did not end
/// in `seconds`. No thread of the caller runs in the processes, so it should have none.
std::vector<std::string> isolated(const Tasks& tasks, size_t count, int seconds);

}  // namespace firn::programs
