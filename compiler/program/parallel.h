// Independent pieces of work on all cores.
#pragma once
#include <cstddef>
#include <functional>

namespace firn {

/// Calls `work(k)` for every k below `count`, on as many threads as the machine has cores; returns
/// when all are done. Throws what the first of them, by k, that failed threw; others may then not
/// have been called.
void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work);

}  // namespace firn
