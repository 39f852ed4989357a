// Formats of one tensor or several, between the host and tensors.
#include "compiler/files/tensor_files.h"

#include <filesystem>
#include <memory>
#include <string_view>

#include "compiler/base/whole_file.h"
#include "compiler/files/file.h"
#include "compiler/files/npy.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/host_view.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/program/executor.h"

namespace firn {

namespace {

/// The elements of a file where the tensor keeps them, without a copy on the way where the host can
/// write there.
Tensor tensor_of_part(const std::string& path, const NpyHeader& header, SourceLine line) {
    Executor& executor = executor_of(*current_state(), line);
    const std::shared_ptr<Memory> memory =
        executor.allocate(padded_bytes(header.size), "tensor " + text(line));
    std::vector<std::byte> bytes;
    std::byte* to = executor.map_for_writing(*memory);
    if (!to) {
        bytes.resize(header.size);
        to = bytes.data();
    }
    if (read_file_part(path, header.begin, to, header.size) < header.size)
        refuse("file " + path + ": became shorter while it was read");
    if (!bytes.empty()) executor.write(*memory, 0, bytes);
    return tensor_over(memory, header.dtype, Shape(header.shape.begin(), header.shape.end()), line);
}

}  // namespace

Tensor load_npy(const std::string& path, SourceLine line) {
    LineScope at(line);
    constexpr uint64_t kWorthIt = uint64_t{1} << 20;  // the header is read twice
    const uint64_t size = std::filesystem::is_regular_file(path) ? size_of_file(path) : 0;
    if (size < kWorthIt) return from_stored(read_npy(path));
    std::string front(kNpyFront, '\0');
    read_file_part(path, 0, reinterpret_cast<std::byte*>(front.data()), front.size());
    // Headers of other versions may be longer.
    if (front[6] != 1) return from_stored(read_npy(path));
    const NpyHeader header = npy_header(front, size, path);
    const bool as_it_is = !header.is_fortran && !header.dtype.is_bool();
    return as_it_is ? tensor_of_part(path, header, line) : from_stored(read_npy(path));
}

void save_npy(const std::string& path, const Tensor& x, SourceLine line) {
    LineScope at(line);
    if (x.dtype().is_bool()) return write_npy(path, stored("", x));
    const HostBytes view = host_bytes(x, x.dtype(), line);
    const auto size =
        static_cast<size_t>(elements_of(view.shape)) * static_cast<size_t>(file_bytes(x.dtype()));
    write_file(
        path, {npy_front(x.dtype(), view.shape), {reinterpret_cast<const char*>(view.data), size}});
}

namespace {

std::vector<NamedTensor> named(const std::vector<StoredTensor>& tensors) {
    std::vector<NamedTensor> out;
    for (const StoredTensor& each : tensors) out.push_back({each.name, from_stored(each)});
    return out;
}

std::vector<StoredTensor> stored_by_name(const std::string& path,
                                         const std::vector<NamedTensor>& tensors) {
    std::vector<StoredTensor> out;
    for (const NamedTensor& each : tensors) {
        for (const StoredTensor& before : out)
            if (before.name == each.name)
                refuse("file " + path + ": two tensors have the name '" + each.name +
                       "'; give each its own");
        out.push_back(stored(each.name, each.value));
    }
    return out;
}

}  // namespace

std::vector<NamedTensor> load_npz(const std::string& path, SourceLine line) {
    LineScope at(line);
    return named(read_npz(path));
}

Tensor load_npz(const std::string& path, const std::string& name, SourceLine line) {
    LineScope at(line);
    return from_stored(read_npz(path, name));
}

void save_npz(const std::string& path, const std::vector<NamedTensor>& tensors, SourceLine line) {
    LineScope at(line);
    write_npz(path, stored_by_name(path, tensors));
}

std::vector<NamedTensor> load_safetensors(const std::string& path, SourceLine line) {
    LineScope at(line);
    return named(read_safetensors(path));
}

Tensor load_safetensors(const std::string& path, const std::string& name, SourceLine line) {
    LineScope at(line);
    return from_stored(read_safetensors(path, name));
}

void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      SourceLine line) {
    LineScope at(line);
    write_safetensors(path, stored_by_name(path, tensors));
}

Tensor load_idx(const std::string& path, SourceLine line) {
    LineScope at(line);
    return from_stored(read_idx(path));
}

void save_idx(const std::string& path, const Tensor& x, SourceLine line) {
    LineScope at(line);
    write_idx(path, stored("", x));
}

Tensor load_raw(const std::string& path, const Shape& shape, DType dtype, SourceLine line) {
    LineScope at(line);
    StoredTensor out{"", dtype, {}, read_file(path)};
    const int64_t elements = static_cast<int64_t>(out.bytes.size()) / file_bytes(dtype);
    int64_t* open = nullptr;
    for (const Size& size : shape) {
        if (!size.is_constant() || size.constant() < -1)
            refuse("load_raw: the shape " + text(shape) +
                   "; sizes are numbers, one of them may be -1");
        out.shape.push_back(size.constant());
    }
    int64_t others = 1;
    for (int64_t& size : out.shape) {
        if (size != -1)
            others *= size;
        else if (open)
            refuse("load_raw: the shape " + text(shape) + " has more than one -1");
        else
            open = &size;
    }
    if (open) *open = others == 0 ? 0 : elements / others;
    if (elements_of(out.shape) < 0 ||
        uint64_t(elements_of(out.shape)) * uint64_t(file_bytes(dtype)) != out.bytes.size())
        refuse("file " + path + ": " + std::to_string(out.bytes.size()) +
               " bytes are not the elements of " + dtype.name() + text(shape));
    return from_stored(out);
}

void save_raw(const std::string& path, const Tensor& x, SourceLine line) {
    LineScope at(line);
    const StoredTensor out = stored("", x);
    write_file(path, {std::string_view(reinterpret_cast<const char*>(out.bytes.data()),
                                       out.bytes.size())});
}

}  // namespace firn
