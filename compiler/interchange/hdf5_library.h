// Calls of the HDF5 library that reading and writing share; internal, for builds that have it.
#pragma once
#ifdef FIRN_WITH_HDF5
#include <hdf5.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "compiler/program/dtype.h"

namespace firn {

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
inline std::string hdf5_reason() {
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

/// A refusal without the line of the user, which the public functions add.
struct Hdf5Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] inline void hdf5_fault(const std::string& path, const std::string& why) {
    throw Hdf5Fault("file " + path + ": " + why);
}

/// Something that the library opened, closed at the end.
class Hdf5Object {
  public:
    using Close = herr_t (*)(hid_t);
    Hdf5Object(const std::string& path, const std::string& what, hid_t id, Close close)
        : id_(id), close_(close) {
        if (id < 0) hdf5_fault(path, what + ": " + hdf5_reason());
    }
    Hdf5Object(Hdf5Object&& from) noexcept
        : id_(std::exchange(from.id_, -1)), close_(from.close_) {}
    ~Hdf5Object() {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }

  private:
    hid_t id_;
    Close close_;
};

inline void check_hdf5(const std::string& path, const std::string& what, herr_t status) {
    if (status < 0) hdf5_fault(path, what + ": " + hdf5_reason());
}

struct Hdf5Type {
    DType dtype;
    hid_t (*in_file)();
};
inline const Hdf5Type kHdf5Types[] = {
    {f32, [] { return H5T_IEEE_F32LE; }}, {f64, [] { return H5T_IEEE_F64LE; }},
    {i8, [] { return H5T_STD_I8LE; }},    {u8, [] { return H5T_STD_U8LE; }},
    {i16, [] { return H5T_STD_I16LE; }},  {u16, [] { return H5T_STD_U16LE; }},
    {i32, [] { return H5T_STD_I32LE; }},  {u32, [] { return H5T_STD_U32LE; }},
    {i64, [] { return H5T_STD_I64LE; }},  {u64, [] { return H5T_STD_U64LE; }}};

/// The type that a data set of `dtype` has, as h5py writes it too; negative where there is none.
inline hid_t new_type(DType dtype) {
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

}  // namespace firn
#endif
