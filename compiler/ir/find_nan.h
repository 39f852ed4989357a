// Finds the origin of a nan.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/interpret.h"

namespace firn {

/// The first value among the sources of a nan result that is nan although all its operands are
/// numbers. Operands that a select does not take are not on the way.
struct NanSource {
    Op op = Op::Constant;
    std::vector<SourceLine> lines;
    int argument = -1;                // the graph's argument that holds nan at the call; -1: none
    std::vector<int64_t> shape, at;   // the value's shape, and the index of the element
    std::vector<double> operands;     // the operands there of an elementwise operation
    std::vector<int64_t> iterations;  // of the loops around it, outermost first, from 0
};
/// Evaluates the graph by the oracle. Returns nothing if no float result holds nan.
std::optional<NanSource> find_nan(const Graph& graph, const std::vector<HostTensor>& args,
                                  const SizeEnv& env);

/// `Log of (-0.2) gives no number (net.cpp:43), at (3, 7) of [128, 10], iteration 5`.
std::string text(const NanSource& source);

/// The first element that is not a number; -1: none.
int64_t first_nan(const HostTensor& value);
/// The indices of an element, by its place in row-major order.
std::vector<int64_t> place_of(int64_t element, const std::vector<int64_t>& shape);

}  // namespace firn
