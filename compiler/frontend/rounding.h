// Bounds the effect of rounding on the results of a program, that is, the difference between two
// programs for the same graph; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// Returns the largest number of terms that one reduction or scatter adds to one float, at these
/// sizes. Programs for one graph differ in the order in which they add them, and round alike
/// otherwise.
double most_terms(const Graph& graph, const SizeEnv& symbols);

/// Unit of rounding relative to a value: 2^-23 for f32.
double rounding_unit(DType dtype);

/// Units in the last place by which every float of the arguments is moved to see the effect of one
/// unit on the results: more than one, so that the rounding of the results themselves is small
/// beside it.
inline constexpr double kMovedUnits = 16;
/// Returns `bytes` with every float moved by up to kMovedUnits of its own, up or down at random;
/// the same seed gives the same. Other types stay.
std::vector<std::byte> moved(std::vector<std::byte> bytes, DType dtype, uint64_t seed);

/// A result of a program, and the differences from it that rounding explains.
struct Reference {
    DType dtype = f32;
    std::vector<std::byte> bytes;
    /// The change of each float when the arguments were moved. A result of cancellation changes in
    /// proportion to its terms, not to itself.
    std::vector<double> moves;
};
/// Notes the results of a run with moved arguments.
void note_moves(Reference& reference, const std::vector<std::byte>& bytes);

/// The deviation of a result, element by element.
struct Deviation {
    /// The largest deviation of an element: its difference divided by the effect of one rounding of
    /// each of its terms; infinite if no rounding explains it (integers, nan, infinities).
    double roundings = -std::numeric_limits<double>::infinity();
    std::string text;  // "element 7 is 0 instead of 1e-06"
};
Deviation deviation(const Reference& reference, const std::vector<std::byte>& bytes, double terms);

}  // namespace firn
