// Calls a Program without the compiler: binds and checks sizes, allocates memory for the results.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/executor.h"
#include "compiler/program/saved_program.h"

namespace firn {

/// Returns the form of a saved program that is to serve calls of these shapes and values on this
/// executor: the first variant for certain sizes that runs there and fits them, else the program
/// itself, else a variant for other devices. UserError if none runs there, which says what stands
/// against each, and if the sizes contradict one another.
std::shared_ptr<const Program> program_for(const SavedProgram& saved, const Executor& executor,
                                           const std::vector<std::vector<int64_t>>& shapes,
                                           const std::vector<Scalar>& scalars);

/// The same for a device that is no executor, by its name and what speaks against a program there.
std::shared_ptr<const Program> program_for(
    const SavedProgram& saved, const std::string& device,
    const std::function<std::string(const Program&)>& why_cannot_run,
    const std::vector<std::vector<int64_t>>& shapes, const std::vector<Scalar>& scalars);

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
