// The records of printed values and checked conditions in a graph; internal.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

struct Slot;

/// A print_value or assert_value. While its scope is open it holds nodes, or slots if it lies in
/// loops or branches; after that, `results` counts the hidden results that it takes.
struct Effect {
    bool print = true;  // false: an assertion
    SourceLine line;
    std::string text;         // the label, or the start of an error message
    DType dtype;              // print: the type of the value
    Shape shape;              // the shape of the value or the condition
    int edge = 0;             // print: PrintValueOptions::edge
    int iterations = 0;       // print with `inside`: how many rows are kept
    bool inside = false;      // whether a loop or branch is around it
    size_t loops = 0;         // how many loops are around it
    bool told = false;        // assertion: whether `text` is the whole message
    std::string compared;     // assertion: the comparison, such as `<`; empty: it has no operands
    std::vector<Ref> values;  // the value, or the condition and its operands
    std::vector<std::shared_ptr<Slot>> slots;  // with `inside`; see effects.cpp
    size_t results = 0, sources = 0;
};

/// The nodes of effects whose scope ends.
struct EffectNodes {
    /// A print has the shown elements as its results; `inside` it has the count of rows, the rows
    /// (for a 64-bit type as low and high words), and for every loop the iteration of each element
    /// (-1: it was skipped). An assertion has the number of elements that fail and, of the first
    /// one, the iteration of every loop, the flat index and the operands.
    std::vector<Ref> results;
    /// The nodes that an enclosing recording needs: the value, or the failures and their operands.
    std::vector<Ref> sources;
};

}  // namespace firn
