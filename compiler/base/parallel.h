// Independent pieces of work on all cores.
#pragma once
#include <cstddef>
#include <functional>

namespace firn {

/// Calls `work(k)` for every k below `count`, on as many threads as the machine has cores; returns
/// when all are done. Throws the exception of the first of them, by k, that failed; others may then
/// not have been called.
void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work);
/// Does the same, while the calling thread only calls `watch` with the number that is done, 30
/// times a second until all are. An exception of `watch` ends the work as a failure does. Without
/// `watch`, it works as above.
void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work,
                          const std::function<void(size_t)>& watch);

}  // namespace firn
