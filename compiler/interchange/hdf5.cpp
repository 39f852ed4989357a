// HDF5 by its library, which a build may lack.
#include "compiler/interchange/hdf5.h"

#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/interchange/hdf5_reader.h"

#ifdef FIRN_WITH_HDF5
#include <set>

#include "compiler/files/file.h"
#include "compiler/interchange/hdf5_library.h"
#endif

namespace firn {

#ifdef FIRN_WITH_HDF5
namespace {

/// Returns the layout of a data set in the file.
Hdf5Object layout_of(const std::string& path, const StoredTensor& x,
                     const SaveHdf5Options& options) {
    Hdf5Object out(path, "no layout can be made", H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
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
    check_hdf5(path, "the chunks of '" + x.name + "' cannot be made",
               H5Pset_chunk(out, static_cast<int>(chunk.size()), chunk.data()));
    if (options.deflate > 0)
        check_hdf5(path, "'" + x.name + "' cannot be deflated",
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
    const Hdf5Object type(path, what, new_one, H5Tclose);
    const std::vector<hsize_t> sizes(x.shape.begin(), x.shape.end());
    const Hdf5Object space(
        path, what,
        sizes.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        H5Sclose);
    const Hdf5Object links(path, what, H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    check_hdf5(path, what, H5Pset_create_intermediate_group(links, 1));
    check_hdf5(path, what, H5Pset_char_encoding(links, H5T_CSET_UTF8));
    const Hdf5Object layout = layout_of(path, x, options);
    const Hdf5Object set(path, what,
                         H5Dcreate2(file, x.name.c_str(), type, space, links, layout, H5P_DEFAULT),
                         H5Dclose);
    if (!x.bytes.empty())
        check_hdf5(path, what, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.bytes.data()));
}

/// The library opens and reads the file that has the name of a new one in memory: here none has.
constexpr char kNoFile[] = "/dev/null/new.h5";

/// The bytes of a file with these data sets.
std::string hdf5_bytes(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const SaveHdf5Options& options) {
    const std::string what = "no file can be put together";
    const Hdf5Object access(path, what, H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check_hdf5(path, what, H5Pset_fapl_core(access, size_t{1} << 20, false));  // in memory alone
    const Hdf5Object file(path, what, H5Fcreate(kNoFile, H5F_ACC_TRUNC, H5P_DEFAULT, access),
                          H5Fclose);
    for (const StoredTensor& each : tensors) write_data_set(path, each, file, options);
    check_hdf5(path, what, H5Fflush(file, H5F_SCOPE_GLOBAL));
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    if (size < 0) hdf5_fault(path, what + ": " + hdf5_reason());
    std::string out(static_cast<size_t>(size), '\0');
    if (H5Fget_file_image(file, out.data(), out.size()) < 0)
        hdf5_fault(path, what + ": " + hdf5_reason());
    return out;
}

/// The same of tensors, whose names and options are checked.
std::string hdf5_bytes(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const SaveHdf5Options& options) {
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
    const Hdf5Lock lock;
    return hdf5_bytes(path, all, options);
}

}  // namespace

bool has_hdf5() { return true; }

void save_hdf5(const std::string& path, const std::vector<NamedTensor>& tensors,
               const SaveHdf5Options& options, SourceLine line) {
    LineScope at(line);
    std::string bytes;
    try {
        bytes = hdf5_bytes(path, tensors, options);
    } catch (const Hdf5Fault& fault) {
        refuse(fault.what());
    }
    write_file(path, {bytes});
}

#else
bool has_hdf5() { return false; }

void save_hdf5(const std::string& path, const std::vector<NamedTensor>&, const SaveHdf5Options&,
               SourceLine line) {
    LineScope at(line);
    refuse_without_hdf5(path);
}
#endif

Tensor load_hdf5(const std::string& path, const std::string& name, SourceLine line) {
    LineScope at(line);
    Tensor out;
    Hdf5Reader().read(path, name, [&](const Hdf5Set& set) {
        out = from_stored(set.bytes, set.shape, set.dtype);
    });
    return out;
}

std::vector<NamedTensor> load_hdf5(const std::string& path, SourceLine line) {
    LineScope at(line);
    std::vector<NamedTensor> out;
    Hdf5Reader().read(path, std::nullopt, [&](const Hdf5Set& set) {
        out.push_back({set.name, from_stored(set.bytes, set.shape, set.dtype)});
    });
    return out;
}

}  // namespace firn
