// The standard library's parallel sort as a contestant, which needs TBB where programs are linked.
#include "tests/bench/libraries.h"

#ifdef FIRN_BENCH_TBB
#include <algorithm>
#include <execution>
#endif

namespace firn::bench {

#ifdef FIRN_BENCH_TBB
Libraries sort_libraries(int64_t count) {
    return {{"std::sort by TBB", [=](const ProcessorMemory& memory, Workers&) {
                 float* y = memory.results[0];
                 std::copy_n(memory.arguments[0], count, y);
                 std::sort(std::execution::par_unseq, y, y + count);
             }}};
}
#else
Libraries sort_libraries(int64_t) { return {}; }
#endif

}  // namespace firn::bench
