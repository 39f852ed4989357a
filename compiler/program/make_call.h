// Calls a Program without the compiler: binds and checks sizes, allocates memory for the results.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/program/executor.h"

namespace firn {

/// Returns a call of the program with these arguments, one each: memory and shape of a tensor, or
/// the value of a number (of the declared type). The executor allocates the results: `results[k]`
/// has the elements of Program::results[k], whose sizes are those of its shape under `symbols`;
/// sizes that only the device knows get room for the largest, and the first results are their
/// values (Program::data_sizes). A result that is an argument, or another result, shares its
/// memory. Throws UserError if the sizes contradict one another, or are larger than the program can
/// bind.
Call make_call(Executor& executor, const Program& program,
               std::vector<std::shared_ptr<Memory>> arguments,
               const std::vector<std::vector<int64_t>>& shapes, std::vector<Scalar> scalars);

/// The memory of the argument or earlier result that result k of `call` shares; null where it has
/// its own.
std::shared_ptr<Memory> shared_memory(const Program& program, const Call& call, size_t k);

}  // namespace firn
