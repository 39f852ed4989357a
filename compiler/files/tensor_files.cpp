// Formats of one tensor or several, between the host and tensors.
#include "compiler/files/tensor_files.h"

#include <string_view>

#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {

Tensor load_npy(const std::string& path, SourceLine line) {
    LineScope at(line);
    return from_stored(read_npy(path));
}

void save_npy(const std::string& path, const Tensor& x, SourceLine line) {
    LineScope at(line);
    write_npy(path, stored("", x));
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
