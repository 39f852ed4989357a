// Every case, in the order of the report.
#include "tests/bench/bench.h"

namespace firn::bench {

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (auto add : {add_stencils, add_streams, add_reductions, add_matmuls, add_n_bodies,
                     add_mandelbrot, add_path, add_fluid, add_scatters, add_convolutions, add_sorts,
                     add_transforms, add_ported, add_holdout})
        add(all);
    return all;
}

}  // namespace firn::bench
