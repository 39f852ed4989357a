// Elements of tensors in the memory of the host, without a copy if the device shares that memory.
#pragma once
#include <cstddef>

#include "compiler/frontend/tensor.h"

namespace firn {

/// A tensor's elements as bytes that the host sees, for as long as `owner` is held.
struct HostBytes {
    SharedPtr<const void> owner;
    const std::byte* data = nullptr;
    std::vector<int64_t> shape;
    bool copied = false;
};

/// @cond
HostBytes host_bytes(const Tensor& x, std::optional<DType> dtype, SourceLine line);
size_t checked_offset(const std::vector<int64_t>& shape, const int64_t* indices, size_t count,
                      SourceLine line);
/// @endcond

/// The elements of a tensor, row-major, for reading on the host by spans, `Eigen::Map` and
/// algorithms of std. The view keeps the memory; its contents stay the same when another value is
/// assigned to the tensor.
template <Arithmetic T>
class HostView {
  public:
    /// See `host_view`.
    explicit HostView(HostBytes bytes, SourceLine line) : bytes_(std::move(bytes)), line_(line) {
        for (int64_t size : bytes_.shape) size_ *= static_cast<size_t>(size);
    }

    /// The elements, contiguous: `size()` of them.
    /// @{
    const T* data() const { return reinterpret_cast<const T*>(bytes_.data); }
    size_t size() const { return size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    const T& operator[](size_t k) const { return data()[k]; }
    /// @}

    /// The sizes of the axes.
    const std::vector<int64_t>& shape() const { return bytes_.shape; }
    /// Returns whether the elements had to be copied, because the device has memory of its own.
    bool is_copy() const { return bytes_.copied; }
    /// The element at these indices, one for each axis. UserError where one is outside.
    template <std::integral... Index>
    const T& operator()(Index... index) const {
        const int64_t indices[] = {static_cast<int64_t>(index)..., 0};
        return data()[checked_offset(bytes_.shape, indices, sizeof...(index), line_)];
    }

  private:
    HostBytes bytes_;
    size_t size_ = 1;
    SourceLine line_;
};

/// The elements of x where the host can read them; computes and waits. On a device that shares its
/// memory with the host (a CPU driver, an integrated GPU), and by the interpreters, nothing is
/// copied. T must be the type that x is stored in (f32 is float, i32 int32_t, u8 uint8_t ..):
/// anything else is a UserError, for which `to_vector` converts.
///
/// Example: `host_view<int>(tensor({1, 2, 3, 4}, {2, 2}))(1, 0)` is `3`.
template <Arithmetic T>
HostView<T> host_view(const Operand& x, SourceLine line = here()) {
    return HostView<T>(host_bytes(x.tensor(), stored_as<T>(), line), line);
}

/// Elements that the host is to write, row-major.
template <Arithmetic T>
class HostSpan {
  public:
    /// See `host_tensor`.
    HostSpan(T* data, size_t size) : data_(data), size_(size) {}

    /// The elements, contiguous: `size()` of them.
    /// @{
    T* data() const { return data_; }
    size_t size() const { return size_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    T& operator[](size_t k) const { return data_[k]; }
    /// @}

  private:
    T* data_;
    size_t size_;
};

/// @cond
/// Memory of a tensor that is being written by the host.
class HostWriting {
  public:
    /// Unset leaves the elements uninitialised; then the caller writes all of them.
    enum Start { Zeros, Unset };
    HostWriting(const Shape& shape, std::optional<DType> dtype, SourceLine line,
                Start start = Zeros);
    std::byte* data();
    size_t count() const { return count_; }
    Tensor finish();

  private:
    struct State;
    SharedPtr<State> state_;
    size_t count_ = 0;
};
/// @endcond

/// A tensor of `shape` whose elements `fill` writes: it is called once, with a `HostSpan<T>` of
/// them, all 0. On a device that shares its memory with the host they are written in place, else
/// they are copied to it. An exception of `fill` passes through, and no memory is leaked.
///
/// Example: `host_tensor<float>({4}, [](HostSpan<float> to) { to[1] = 2.0f; })` is `{0, 2, 0, 0}`.
template <Arithmetic T, class Fill>
requires std::invocable<Fill&, HostSpan<T>> Tensor host_tensor(const Shape& shape, Fill&& fill,
                                                               SourceLine line = here()) {
    HostWriting writing(shape, stored_as<T>(), line);
    fill(HostSpan<T>(reinterpret_cast<T*>(writing.data()), writing.count()));
    return writing.finish();
}

}  // namespace firn
