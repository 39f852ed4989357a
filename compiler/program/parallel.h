// Independent pieces of work on all cores.
#pragma once
#include <cstddef>
#include <functional>

namespace firn {

/// Calls `work(k)` for every k below `count`, on as many threads as the machine has cores; returns
/// when all are done. Throws what the first of them, by k, that failed threw; others may then not
/// have been called.
void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work);
/// The same, while the calling thread works on nothing of it: it is told by `watch` how many are
/// done, 30 times a second until all are. What `watch` throws ends the work as a failure does.
/// Without `watch` as above.
void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work,
                          const std::function<void(size_t)>& watch);

}  // namespace firn
