// HDF5 by its library, which a build may lack.
#include "compiler/interchange/hdf5.h"

#include "compiler/frontend/line_scope.h"

#ifdef FIRN_WITH_HDF5
#include <hdf5.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#endif

namespace firn {

#ifdef FIRN_WITH_HDF5
namespace {

/// The library keeps global state and is not made for threads. While it lives, a thread has the
/// library for itself, and the library prints nothing.
class Hdf5Lock {
  public:
    Hdf5Lock() : held_(mutex()) {
        H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Hdf5Lock() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
    Hdf5Lock(const Hdf5Lock&) = delete;
    Hdf5Lock& operator=(const Hdf5Lock&) = delete;

  private:
    static std::mutex& mutex() {
        static std::mutex all;
        return all;
    }
    std::lock_guard<std::mutex> held_;
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// The first reason that the library gives for its last failure.
std::string hdf5_reason() {
    std::string out = "the library gives no reason";
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned n, const H5E_error2_t* error, void* text) {
            if (n == 0 && error->desc) *static_cast<std::string*>(text) = error->desc;
            return herr_t{0};
        },
        &out);
    return out;
}

[[noreturn]] void hdf5_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": " + why);
}

/// Something that the library opened, closed at the end.
class Opened {
  public:
    using Close = herr_t (*)(hid_t);
    Opened(const std::string& path, const std::string& what, hid_t id, Close close)
        : id_(id), close_(close) {
        if (id < 0) hdf5_fault(path, what + ": " + hdf5_reason());
    }
    Opened(Opened&& from) noexcept : id_(std::exchange(from.id_, -1)), close_(from.close_) {}
    ~Opened() {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }

  private:
    hid_t id_;
    Close close_;
};

void check(const std::string& path, const std::string& what, herr_t status) {
    if (status < 0) hdf5_fault(path, what + ": " + hdf5_reason());
}

struct Hdf5Type {
    DType dtype;
    hid_t (*in_file)();
};
const Hdf5Type kHdf5Types[] = {
    {f32, [] { return H5T_IEEE_F32LE; }}, {f64, [] { return H5T_IEEE_F64LE; }},
    {i8, [] { return H5T_STD_I8LE; }},    {u8, [] { return H5T_STD_U8LE; }},
    {i16, [] { return H5T_STD_I16LE; }},  {u16, [] { return H5T_STD_U16LE; }},
    {i32, [] { return H5T_STD_I32LE; }},  {u32, [] { return H5T_STD_U32LE; }},
    {i64, [] { return H5T_STD_I64LE; }},  {u64, [] { return H5T_STD_U64LE; }}};

/// The type that a data set of `dtype` has, as h5py writes it too; negative where there is none.
hid_t new_type(DType dtype) {
    for (const Hdf5Type& each : kHdf5Types)
        if (each.dtype == dtype) return H5Tcopy(each.in_file());
    if (dtype == f16) {
        const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
        // Sign, 5 bits of exponent and 10 of mantissa; their places before the size shrinks.
        H5Tset_fields(half, 15, 10, 5, 0, 10);
        H5Tset_size(half, 2);
        H5Tset_ebias(half, 15);
        return half;
    }
    if (dtype.is_bool()) {
        const hid_t truth = H5Tenum_create(H5T_STD_I8LE);
        for (const int8_t value : {int8_t{0}, int8_t{1}})
            H5Tenum_insert(truth, value ? "TRUE" : "FALSE", &value);
        return truth;
    }
    return -1;
}

/// The type of elements that a data set has.
DType dtype_of(const std::string& path, const std::string& name, hid_t type) {
    const size_t bytes = H5Tget_size(type);
    switch (H5Tget_class(type)) {
        case H5T_FLOAT:
            if (bytes == 2 && H5Tget_ebias(type) == 15) return f16;
            if (bytes == 4) return f32;
            if (bytes == 8) return f64;
            break;
        case H5T_INTEGER: {
            const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
            for (const Hdf5Type& each : kHdf5Types)
                if (each.dtype.is_integer() && each.dtype.is_signed() == is_signed &&
                    static_cast<size_t>(each.dtype.bytes()) == bytes)
                    return each.dtype;
            break;
        }
        case H5T_ENUM: {
            const Opened truth(path, "a type cannot be made", new_type(boolean), H5Tclose);
            if (H5Tequal(type, truth) > 0) return boolean;
            break;
        }
        default: break;
    }
    hdf5_fault(path, "'" + name +
                         "' has elements that Firn has not; write it as integers of 8 to 64 bits "
                         "or floats of 16 to 64");
}

StoredTensor read_data_set(const std::string& path, const std::string& name, hid_t file) {
    const std::string what = "'" + name + "' cannot be read";
    const Opened set(path, what, H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Opened space(path, what, H5Dget_space(set), H5Sclose);
    const Opened type(path, what, H5Dget_type(set), H5Tclose);
    StoredTensor out{name, dtype_of(path, name, type), {}, {}};
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        hdf5_fault(path, "'" + name + "' has no elements and no shape");
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0) hdf5_fault(path, what + ": " + hdf5_reason());
    std::vector<hsize_t> sizes(static_cast<size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
        hdf5_fault(path, what + ": " + hdf5_reason());
    for (hsize_t each : sizes) out.shape.push_back(static_cast<int64_t>(each));
    const int64_t elements = elements_of(out.shape);
    try {
        if (elements < 0) throw std::bad_alloc();
        out.bytes.resize(static_cast<size_t>(elements) *
                         static_cast<size_t>(file_bytes(out.dtype)));
    } catch (const std::exception&) {  // no memory, or more than a vector can hold
        hdf5_fault(path, what + ": its " + text(Shape(out.shape.begin(), out.shape.end())) +
                             " elements do not fit into memory");
    }
    const Opened memory(path, what, new_type(out.dtype), H5Tclose);
    if (elements > 0)
        check(path, what, H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.bytes.data()));
    return out;
}

/// The names of all data sets, in alphabetical order.
std::vector<std::string> names_of_data_sets(const std::string& path, hid_t file) {
    std::vector<std::string> out;
    check(path, "its data sets cannot be listed",
          H5Ovisit2(
              file, H5_INDEX_NAME, H5_ITER_INC,
              [](hid_t, const char* name, const H5O_info_t* info, void* names) {
                  if (info->type == H5O_TYPE_DATASET)
                      static_cast<std::vector<std::string>*>(names)->emplace_back(name);
                  return herr_t{0};
              },
              &out, H5O_INFO_BASIC));
    return out;
}

Opened opened_file(const std::string& path) {
    if (H5Fis_hdf5(path.c_str()) <= 0) {
        read_file(path);  // its refusal where the file cannot be read
        hdf5_fault(path, "is no HDF5 file");
    }
    return {path, "is no whole HDF5 file", H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
            H5Fclose};
}

/// How a data set lies in the file.
Opened layout_of(const std::string& path, const StoredTensor& x, const SaveHdf5Options& options) {
    Opened out(path, "no layout can be made", H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    std::vector<hsize_t> chunk;
    if (x.shape.empty() || elements_of(x.shape) == 0) return out;
    if (options.chunks.size() == x.shape.size()) {
        for (size_t axis = 0; axis < x.shape.size(); ++axis) {
            if (options.chunks[axis] < 1 || options.chunks[axis] > x.shape[axis])
                hdf5_fault(path, "the chunks of '" + x.name + "' have " +
                                     std::to_string(options.chunks[axis]) + " of " +
                                     std::to_string(x.shape[axis]) + " elements along axis " +
                                     std::to_string(axis));
            chunk.push_back(static_cast<hsize_t>(options.chunks[axis]));
        }
    } else if (options.deflate > 0) {
        for (int64_t size : x.shape) chunk.push_back(static_cast<hsize_t>(size));
        if (chunk.size() > 1) chunk[0] = 1;
    }
    if (chunk.empty()) return out;
    check(path, "the chunks of '" + x.name + "' cannot be made",
          H5Pset_chunk(out, static_cast<int>(chunk.size()), chunk.data()));
    if (options.deflate > 0)
        check(path, "'" + x.name + "' cannot be deflated",
              H5Pset_deflate(out, static_cast<unsigned>(options.deflate)));
    return out;
}

void write_data_set(const std::string& path, const StoredTensor& x, hid_t file,
                    const SaveHdf5Options& options) {
    const std::string what = "'" + x.name + "' cannot be written";
    const hid_t new_one = new_type(x.dtype);
    if (new_one < 0)
        hdf5_fault(path,
                   what + ": HDF5 has no elements of type " + x.dtype.name() + "; write .as(f32)");
    const Opened type(path, what, new_one, H5Tclose);
    const std::vector<hsize_t> sizes(x.shape.begin(), x.shape.end());
    const Opened space(
        path, what,
        sizes.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        H5Sclose);
    const Opened links(path, what, H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    check(path, what, H5Pset_create_intermediate_group(links, 1));
    check(path, what, H5Pset_char_encoding(links, H5T_CSET_UTF8));
    const Opened layout = layout_of(path, x, options);
    const Opened set(path, what,
                     H5Dcreate2(file, x.name.c_str(), type, space, links, layout, H5P_DEFAULT),
                     H5Dclose);
    if (!x.bytes.empty())
        check(path, what, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.bytes.data()));
}

/// The bytes of a file with these data sets.
std::string hdf5_bytes(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const SaveHdf5Options& options) {
    const std::string what = "no file can be put together";
    const Opened access(path, what, H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(path, what, H5Pset_fapl_core(access, size_t{1} << 20, false));  // in memory alone
    const Opened file(path, what, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access),
                      H5Fclose);
    for (const StoredTensor& each : tensors) write_data_set(path, each, file, options);
    check(path, what, H5Fflush(file, H5F_SCOPE_GLOBAL));
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    if (size < 0) hdf5_fault(path, what + ": " + hdf5_reason());
    std::string out(static_cast<size_t>(size), '\0');
    if (H5Fget_file_image(file, out.data(), out.size()) < 0)
        hdf5_fault(path, what + ": " + hdf5_reason());
    return out;
}

}  // namespace

bool has_hdf5() { return true; }

Tensor load_hdf5(const std::string& path, const std::string& name, SourceLine line) {
    LineScope at(line);
    StoredTensor out;
    {
        const Hdf5Lock lock;
        const Opened file = opened_file(path);
        const std::vector<std::string> names = names_of_data_sets(path, file);
        const std::string plain = name.starts_with('/') ? name.substr(1) : name;
        if (std::find(names.begin(), names.end(), plain) == names.end())
            refuse_name(path, name, names);
        out = read_data_set(path, plain, file);
    }
    return from_stored(out);
}

std::vector<NamedTensor> load_hdf5(const std::string& path, SourceLine line) {
    LineScope at(line);
    std::vector<StoredTensor> all;
    {
        const Hdf5Lock lock;
        const Opened file = opened_file(path);
        for (const std::string& name : names_of_data_sets(path, file))
            all.push_back(read_data_set(path, name, file));
    }
    std::vector<NamedTensor> out;
    for (const StoredTensor& each : all) out.push_back({each.name, from_stored(each)});
    return out;
}

void save_hdf5(const std::string& path, const std::vector<NamedTensor>& tensors,
               const SaveHdf5Options& options, SourceLine line) {
    LineScope at(line);
    if (options.deflate < 0 || options.deflate > 9)
        hdf5_fault(path,
                   "zlib's levels are 0 to 9, and " + std::to_string(options.deflate) + " is none");
    std::set<std::string> names;
    std::vector<StoredTensor> all;
    for (const NamedTensor& each : tensors) {
        if (each.name.empty() || each.name.find('\0') != each.name.npos)
            hdf5_fault(path, "a data set has no name that HDF5 can hold");
        if (!names.insert(each.name).second)
            hdf5_fault(path, "two tensors have the name '" + each.name + "'; give each its own");
        all.push_back(stored(each.name, each.value));
    }
    std::string bytes;
    {
        const Hdf5Lock lock;
        bytes = hdf5_bytes(path, all, options);
    }
    write_file(path, {bytes});
}

#else
namespace {

[[noreturn]] void refuse_hdf5(const std::string& path) {
    refuse("file " + path +
           ": this build of Firn has no HDF5; install libhdf5-dev, configure and build it again, "
           "or write a .safetensors file");
}

}  // namespace

bool has_hdf5() { return false; }

Tensor load_hdf5(const std::string& path, const std::string&, SourceLine line) {
    LineScope at(line);
    refuse_hdf5(path);
}

std::vector<NamedTensor> load_hdf5(const std::string& path, SourceLine line) {
    LineScope at(line);
    refuse_hdf5(path);
}

void save_hdf5(const std::string& path, const std::vector<NamedTensor>&, const SaveHdf5Options&,
               SourceLine line) {
    LineScope at(line);
    refuse_hdf5(path);
}

#endif

}  // namespace firn
