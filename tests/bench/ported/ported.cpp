// Programs ported from the examples of another tensor compiler: all of them.
#include "tests/bench/ported/ported.h"

namespace firn::bench {

void add_ported(std::vector<Case>& cases) {
    for (auto add : {add_ported_pictures, add_ported_blurs, add_ported_spectra, add_ported_sorts,
                     add_ported_small, add_ported_rays, add_ported_fractals})
        add(cases);
}

}  // namespace firn::bench
