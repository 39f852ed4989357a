// The oracle: evaluates a Graph slowly and obviously, node by node, on host memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// A concrete tensor on the host, row-major, in storage form.
struct HostTensor {
    DType dtype = f32;
    std::vector<int64_t> shape;
    std::vector<std::byte> data;

    int64_t elements() const;
    Scalar at(int64_t flat) const;
    void set(int64_t flat, const Scalar& value);
    static HostTensor make(DType dtype, std::vector<int64_t> shape);  // zeros
};

/// A value as the oracle has computed it.
struct Evaluated {
    const Node& node;
    const HostTensor& value;
    std::span<const HostTensor* const> inputs;  // empty for results of a loop or branch
    std::span<const int64_t> iterations;        // of the loops around it, outermost first, from 0
};

/// Evaluates `graph` on its arguments (a scalar argument has rank 0). `env` gives the symbols; a
/// Buffer leaf is an error here. Loops and branches run as their regions say: masked lockstep where
/// the condition is shaped. Sums accumulate in f32 (f64 for f64) in row-major order.
/// `seen`, where it is given, is called with every value.
std::vector<HostTensor> interpret(const Graph& graph, const std::vector<HostTensor>& args,
                                  const SizeEnv& env,
                                  const std::function<void(const Evaluated&)>& seen = {});

}  // namespace firn
