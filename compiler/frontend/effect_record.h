// The records of printed values and checked conditions in a graph; internal.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

struct Slot;

/// One print_value or assert_value. While its scope is open it holds nodes, or slots where it lies
/// in loops or branches; then `results` counts the hidden results that it takes.
struct Effect {
    bool print = true;  // else: an assertion
    SourceLine line;
    std::string text;         // label, or the start of an error message
    DType dtype;              // print: of the value
    Shape shape;              // of the value or the condition
    int edge = 0;             // print
    int iterations = 0;       // print, `inside`: rows that are kept
    bool inside = false;      // a loop or branch is around it
    size_t loops = 0;         // around it
    bool told = false;        // assertion: its text says all there is to say
    std::string compared;     // assertion: `<` and its like; empty: it has no operands
    std::vector<Ref> values;  // the value; or the condition and its operands
    std::vector<std::shared_ptr<Slot>> slots;  // `inside`; see effects.cpp
    size_t results = 0, sources = 0;
};

/// The nodes of effects whose scope ends.
struct EffectNodes {
    /// A print has the shown elements as its results; `inside` it has the count of rows, the rows
    /// (for a 64-bit type as low and high words), and for every loop the iteration of each element
    /// (-1: it was skipped). An assertion has the number of elements that fail and, of the first
    /// one, the iteration of every loop, the flat index and the operands.
    std::vector<Ref> results;
    /// The nodes that another recording needs which contains this one: the value, or the failures
    /// and their operands.
    std::vector<Ref> sources;
};

}  // namespace firn
