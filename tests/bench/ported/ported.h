// Programs ported from the examples of another tensor compiler.
#pragma once
#include "tests/bench/bench.h"

namespace firn::bench {

/// The cases of each file.
void add_ported_pictures(std::vector<Case>& cases);
void add_ported_blurs(std::vector<Case>& cases);
void add_ported_sorts(std::vector<Case>& cases);
void add_ported_spectra(std::vector<Case>& cases);
void add_ported_small(std::vector<Case>& cases);
void add_ported_rays(std::vector<Case>& cases);
void add_ported_fractals(std::vector<Case>& cases);

}  // namespace firn::bench
