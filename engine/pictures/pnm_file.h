// PNM files (PBM, PGM and PPM): pixels as text or bytes behind three numbers.
#pragma once
#include <string>
#include <string_view>

#include "engine/pictures/samples.h"

namespace firn {

/// True if the bytes begin as a PNM file.
bool is_pnm(std::string_view bytes);

/// Reads P1 to P6 of netpbm, with numbers up to any maximum below 65536, which becomes 1; numbers
/// of 16 bits have the high byte first. Throws UserError that names `path`: damaged, cut short,
/// more than kMostPixels.
Samples read_pnm(const std::string& path, std::string_view bytes);

}  // namespace firn
