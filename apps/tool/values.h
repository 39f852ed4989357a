// The arguments of a call from the command line, and results as files.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "apps/tool/saved_file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/program/executor.h"

namespace firn::tool {

/// The arguments as they are on the host, one entry for each.
struct HostArguments {
    std::vector<std::vector<int64_t>> shapes;
    std::vector<StoredTensor> tensors;  // empty where the argument is a scalar
    std::vector<Scalar> scalars;
};

/// Reads the arguments: `args` are names or numbers with a .npy file (a tensor) or a number (a
/// scalar), `sets` values of parameters. A scalar that is not given has the value with which the
/// program was saved. A tensor that is not given is filled with zeros of the shape in `shapes`; if
/// that is empty, it is refused. Throws UserError that lists the arguments or the parameters, or
/// says how type and shape differ.
HostArguments read_arguments(const SavedProgram& saved, const std::vector<Named>& args,
                             const std::vector<Named>& sets,
                             const std::vector<std::vector<int64_t>>& shapes);

/// Memory with the elements of a tensor, padded as kernels may touch it.
std::shared_ptr<Memory> upload(Executor& executor, const StoredTensor& tensor);
/// Reads a tensor of this shape.
StoredTensor download(Executor& executor, const Memory& memory, DType dtype,
                      const std::vector<int64_t>& shape);

/// `from -0.5 to 1, mean 0.25`, and how many elements are nan.
std::string summary(const StoredTensor& tensor);
/// Writes a .npy file; elements of bf16, which numpy lacks, become f32.
void write_result(const std::string& path, const StoredTensor& tensor);

}  // namespace firn::tool
