// PNM files (PBM, PGM and PPM): pixels as text or bytes behind three numbers.
#pragma once
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// The bytes begin as such a file.
bool is_pnm(std::string_view bytes);

/// P1 to P6 of netpbm, with numbers up to any maximum below 65536, which counts as 1; those of 16
/// bits have the high byte first. Throws UserError that names `path`: damaged, cut short, more than
/// kMostPixels.
Samples read_pnm(const std::string& path, std::string_view bytes);

}  // namespace firn
