// The arguments of a call from the command line, and results as files.
#include "apps/tool/values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <set>
#include <span>

#include "compiler/base/error.h"
#include "engine/parameters/program_parameters.h"

namespace firn::tool {
namespace {

int64_t count_of(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    return count;
}

/// The bytes that kernels may touch: a binding is padded to whole units of 16.
size_t padded(size_t bytes) { return std::max<size_t>(16, (bytes + 15) / 16 * 16); }

/// Reads a file for an argument of this type: a file has f32 where numpy lacks the type.
StoredTensor read_tensor(const Program& program, size_t argument, const std::string& path) {
    const ArgumentInfo& info = program.arguments[argument];
    StoredTensor read = read_npy(path);
    if (info.dtype == bf16 && read.dtype == f32) {
        StoredTensor rounded{"", bf16, read.shape, {}};
        rounded.bytes.resize(read.bytes.size() / 2);
        for (size_t k = 0; 4 * k < read.bytes.size(); ++k) {
            float value = 0;
            std::memcpy(&value, &read.bytes[4 * k], 4);
            const uint16_t bits = f32_to_bf16_bits(value);
            std::memcpy(&rounded.bytes[2 * k], &bits, 2);
        }
        return rounded;
    }
    const DType wanted = info.dtype == bf16 ? f32 : info.dtype;
    bool fits = read.dtype == wanted && read.shape.size() == info.shape.size();
    for (size_t axis = 0; fits && axis < read.shape.size(); ++axis)
        fits = !info.shape[axis].is_constant() || info.shape[axis].constant() == read.shape[axis];
    if (!fits)
        throw UserError("--arg: " + argument_text(program, argument) + " does not fit " + path +
                        ", which has " + type_text(read.dtype, read.shape) +
                        "; write an array of that type and shape" +
                        (read.dtype == wanted ? "" : ", as by x.astype in numpy"));
    return read;
}

Scalar read_scalar(const Program& program, size_t argument, const std::string& text) {
    const DType dtype = program.arguments[argument].dtype;
    try {
        return parse_scalar(text, dtype);
    } catch (const UserError&) {
        throw UserError("--arg: " + argument_text(program, argument) + " is a number of type " +
                        dtype.name() + ", and '" + text + "' is none");
    }
}

StoredTensor zeros_of(DType dtype, const std::vector<int64_t>& shape) {
    if (elements_of(shape) < 0)
        throw UserError("--size: a tensor " + type_text(dtype, shape) +
                        " has more elements than any memory holds; give smaller sizes");
    StoredTensor out{"", dtype, shape, {}};
    out.bytes.resize(static_cast<size_t>(count_of(shape)) * static_cast<size_t>(file_bytes(dtype)));
    return out;
}

/// The parameter that feeds an argument; empty: none.
std::string parameter_of(const SavedProgram& saved, size_t argument) {
    for (const ProgramParameter& parameter : saved.parameters)
        for (int fed : parameter.arguments)
            if (fed == static_cast<int>(argument)) return parameter.name;
    return "";
}

/// Calls `visit` with each element as a double.
template <class Visit>
void each_element(const StoredTensor& tensor, const Visit& visit) {
    const auto width = static_cast<size_t>(file_bytes(tensor.dtype));
    for (size_t at = 0; at + width <= tensor.bytes.size(); at += width)
        visit(tensor.dtype.is_bool() ? double(tensor.bytes[at] != std::byte{0})
                                     : load_scalar(tensor.dtype, &tensor.bytes[at]).as_double());
}

}  // namespace

HostArguments read_arguments(const SavedProgram& saved, const std::vector<Named>& args,
                             const std::vector<Named>& sets,
                             const std::vector<std::vector<int64_t>>& shapes) {
    const Program& program = *saved.program;
    Parameters parameters;
    add_parameters(parameters, saved);
    for (const auto& [name, value] : sets) parameters.set(name, value);
    HostArguments out;
    out.scalars = scalars_now(saved, parameters);
    out.tensors.resize(program.arguments.size());
    out.shapes.resize(program.arguments.size());
    std::set<size_t> given;
    for (const auto& [name, value] : args) {
        const size_t k = argument_named(program, name, "--arg");
        if (!given.insert(k).second)
            throw UserError("--arg: " + argument_text(program, k) +
                            " is given twice; give it once");
        if (!program.arguments[k].scalar)
            out.tensors[k] = read_tensor(program, k, value);
        else if (const std::string parameter = parameter_of(saved, k); !parameter.empty())
            throw UserError("--arg: " + argument_text(program, k) + " has its value from the " +
                            "parameter " + parameter + "; give --set " + parameter + "=" + value);
        else
            out.scalars[k] = read_scalar(program, k, value);
    }
    std::string missing;
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        if (program.arguments[k].scalar) continue;
        if (!given.count(k)) {
            if (shapes.empty()) {
                missing += (missing.empty() ? "" : ", ") + argument_text(program, k);
                continue;
            }
            out.tensors[k] = zeros_of(program.arguments[k].dtype, shapes[k]);
        }
        out.shapes[k] = out.tensors[k].shape;
    }
    if (!missing.empty())
        throw UserError("no file was given for " + missing +
                        "; give each by --arg NUMBER=FILE.npy, or give --size for zeros");
    return out;
}

std::shared_ptr<Memory> upload(Executor& executor, const StoredTensor& tensor) {
    std::vector<std::byte> bytes;
    if (tensor.dtype.is_bool()) {
        bytes.resize(padded(4 * tensor.bytes.size()));
        for (size_t k = 0; k < tensor.bytes.size(); ++k)
            bytes[4 * k] = std::byte(tensor.bytes[k] != std::byte{0});
    } else {
        bytes = tensor.bytes;
        bytes.resize(padded(bytes.size()));
    }
    std::shared_ptr<Memory> memory = executor.allocate(bytes.size(), "an argument");
    executor.write(*memory, 0, bytes);
    return memory;
}

StoredTensor download(Executor& executor, const Memory& memory, DType dtype,
                      const std::vector<int64_t>& shape) {
    const auto count = static_cast<size_t>(count_of(shape));
    StoredTensor out{"", dtype, shape, {}};
    out.bytes.resize(count * static_cast<size_t>(dtype.bytes()));
    executor.read(memory, 0, out.bytes);
    if (dtype.is_bool()) {
        for (size_t k = 0; k < count; ++k) out.bytes[k] = out.bytes[4 * k];
        out.bytes.resize(count);
    }
    return out;
}

std::string summary(const StoredTensor& tensor) {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    int64_t nans = 0, numbers = 0;
    each_element(tensor, [&](double value) {
        if (std::isnan(value)) {
            ++nans;
            return;
        }
        ++numbers;
        low = std::min(low, value), high = std::max(high, value), sum += value;
    });
    char out[160] = "no elements";
    if (numbers > 0)
        std::snprintf(out, sizeof out, "from %.6g to %.6g, mean %.6g", low, high,
                      sum / double(numbers));
    if (nans == 0) return out;
    return (numbers > 0 ? std::string(out) + ", and " : "") + std::to_string(nans) +
           " elements are nan";
}

void write_result(const std::string& path, const StoredTensor& tensor) {
    if (tensor.dtype != bf16) return write_npy(path, tensor);
    StoredTensor wide{"", f32, tensor.shape, {}};
    wide.bytes.resize(2 * tensor.bytes.size());
    for (size_t k = 0; 2 * k < tensor.bytes.size(); ++k) {
        const auto value = static_cast<float>(load_scalar(bf16, &tensor.bytes[2 * k]).f);
        std::memcpy(&wide.bytes[4 * k], &value, 4);
    }
    write_npy(path, wide);
}

}  // namespace firn::tool
