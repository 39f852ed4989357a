// Programs whose kernels are GLSL written by hand, run by the same executor as compiled ones.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/executor.h"

namespace firn::bench {

/// One dispatch: the kernel's text and what it is bound to.
struct HandKernel {
    std::string name;
    std::string glsl;
    std::array<uint32_t, 3> group_size{1, 1, 1};
    std::vector<BindingInfo> bindings;
    std::vector<int> buffers;  // one per binding: index into HandWritten::buffers
    std::array<int, 3> groups{1, 1, 1};
};
struct HandBuffer {
    int64_t elements = 0;  // of f32
    BufferRole role = BufferRole::Argument;
};

/// A texel view with `width` floats a load, and a storage buffer.
BindingInfo texel(int width);
BindingInfo storage(bool written);

/// A hand-written program with memory of its own for arguments and results.
class HandWritten {
  public:
    HandWritten(Executor& executor, const std::string& name, const std::vector<HandBuffer>& buffers,
                const std::vector<HandKernel>& kernels);
    void write(int argument, std::span<const float> values);
    std::vector<float> read(int result) const;
    void run();
    /// Exchanges the memory of an argument and a result of equal size: a time step.
    void swap(int argument, int result);

  private:
    Executor& executor_;
    std::shared_ptr<const Program> program_;
    Call call_;
};

}  // namespace firn::bench
