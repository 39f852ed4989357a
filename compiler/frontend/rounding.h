// What rounding may change in the results of a program: by how much two programs for the same graph
// may differ; internal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// The most terms of which one float of the graph is the sum at these sizes, in one reduction or
/// scatter. Programs for one graph differ in the order in which they add them, and else round
/// alike.
double most_terms(const Graph& graph, const SizeEnv& symbols);

/// Unit of rounding relative to a value: 2^-23 for f32.
double rounding_unit(DType dtype);

/// How many units every float of the arguments is moved by, to see what one unit does to the
/// results: more than one, so that what the results round by themselves is little beside it.
inline constexpr double kMovedUnits = 16;
/// `bytes` with every float moved by up to kMovedUnits of its own, up or down at random; the same
/// for the same seed. Other types stay.
std::vector<std::byte> moved(std::vector<std::byte> bytes, DType dtype, uint64_t seed);

/// One result of a program, and by how much rounding explains that another program gives something
/// else.
struct Reference {
    DType dtype = f32;
    std::vector<std::byte> bytes;
    /// By float: how far the moved arguments took it. What cancels moves by the size of its terms,
    /// not by its own.
    std::vector<double> moves;
};
/// Notes what a run with moved arguments gave.
void note_moves(Reference& reference, const std::vector<std::byte>& bytes);

/// How far a result is off, element by element.
struct Deviation {
    /// Of the element that is off most: its difference over what one rounding of each of its terms
    /// explains, infinite where nothing does (integers, nan, infinities).
    double roundings = -std::numeric_limits<double>::infinity();
    std::string text;  // "element 7 is 0 instead of 1e-06"
};
Deviation deviation(const Reference& reference, const std::vector<std::byte>& bytes, double terms);

}  // namespace firn
