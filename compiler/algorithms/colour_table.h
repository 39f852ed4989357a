// Colours by a table, as grading programs make them (.cube files).
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// A colour for each of n values of every channel, or for each of n x n x n colours.
///
/// Example: after `ColourTable t{.values = tensor({1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f}, {2, 3})};`
/// `colours_from_table(tensor({0.25f, 1.0f, 2.0f}), t)` is `{0.75, 0, 0}`.
struct ColourTable {
    /// f32 [n, 3]: each channel by itself; f32 [n, n, n, 3]: blue, green, red, as files have them,
    /// where red changes first.
    Tensor values;
    Tensor lower = 0.0f;  ///< the colour of the first element: one number, or [3]
    Tensor upper = 1.0f;  ///< the colour of the last
};

/// The colours [..., 3] as the table has them: between its elements linear, in a table of three
/// axes by the tetrahedra around the grey diagonal, so that greys stay as grey as the table has
/// them. Colours beyond `lower` and `upper` are taken to the nearest of these; nan to `lower`.
/// UserError: colours or a table of another shape.
///
/// J. Kasson, S. Nin, W. Plouffe, J. Hafner, Performing color space conversions with
/// three-dimensional linear interpolation (1995).
///
/// Example: after `ColourTable t{.values = zeros({2, 2, 2, 3})}; t.values(all, all, 1, 0) = 1.0f;`
/// `colours_from_table(tensor({0.25f, 0.5f, 0.75f}), t)` is `{0.25, 0, 0}`.
Tensor colours_from_table(const Tensor& colours, const ColourTable& table,
                          SourceLine line = here());

}  // namespace firn
