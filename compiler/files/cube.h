// Tables of colours as .cube files, by which grading programs exchange looks.
#pragma once
#include <string>

#include "compiler/algorithms/colour_table.h"

namespace firn {

/// A `.cube` file with a table of one or of three axes: colours_from_table applies it. Adobe, Cube
/// LUT Specification 1.0 (2013); DOMAIN_MIN and DOMAIN_MAX, or LUT_1D_INPUT_RANGE and
/// LUT_3D_INPUT_RANGE, become `lower` and `upper`. UserError with the line: a number that is none,
/// a row without three numbers, more or fewer rows than the table has, a size beyond 2 to 65536
/// (256 where it has three axes), a file with a table of both kinds.
///
/// Example: after `save_cube("x.cube", {.values = tensor({0.0f, 0.0f, 0.0f, 1.0f, 0.5f, 2.0f}, {2,
/// 3})});` `load_cube("x.cube").values` is `{{0, 0, 0}, {1, 0.5, 2}}`.
ColourTable load_cube(const std::string& path, SourceLine line = here());
/// Writes a table, [n, 3] or [n, n, n, 3], each number with as many digits as give it back; whole
/// or not at all. UserError: another shape, a size beyond those above, `upper` not above `lower`.
///
/// Example: after `save_cube("y.cube", {.values = zeros({2, 2, 2, 3}), .upper = 4.0f});`
/// `load_cube("y.cube").upper` is `{4, 4, 4}`.
void save_cube(const std::string& path, const ColourTable& table, SourceLine line = here());

}  // namespace firn
