// Elements of tensors in the memory of the host.
#include "compiler/frontend/host_view.h"

#include <algorithm>
#include <memory>

#include "compiler/base/error.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/program/executor.h"

namespace firn {
HostBytes host_bytes(const Tensor& x, std::optional<DType> dtype, SourceLine line) {
    if (!dtype || x.dtype(line) != *dtype)
        fail_at(line, std::string("host_view: the elements are ") + x.dtype(line).name() +
                          " and asked for as " +
                          (dtype ? dtype->name() : "a type that none are stored in") +
                          "; ask for their own type, or convert by x.as(..) or to_vector");
    const TensorMemory held = memory_of(x, line);
    const std::shared_ptr<Memory> memory = held.memory;
    HostBytes out{std::shared_ptr<const void>(memory), nullptr, held.shape, false};
    if (const std::byte* shared = executor_of(*x.slot()->session, line).mapped(*memory)) {
        out.data = shared;
    } else {
        const auto copy = std::make_shared<const std::vector<std::byte>>(read_tensor(x, line));
        out.data = copy->data();
        out.owner = copy;
        out.copied = true;
    }
    return out;
}

size_t checked_offset(const std::vector<int64_t>& shape, const int64_t* indices, size_t count,
                      SourceLine line) {
    bool inside = count == shape.size();
    int64_t out = 0;
    for (size_t axis = 0; inside && axis < count; ++axis) {
        inside = indices[axis] >= 0 && indices[axis] < shape[axis];
        out = out * shape[axis] + indices[axis];
    }
    if (!inside)
        fail_at(line, "host_view: there is no element " + text(Shape(indices, indices + count)) +
                          " of shape " + text(Shape(shape.begin(), shape.end())) +
                          "; give an index inside for each axis");
    return static_cast<size_t>(out);
}

struct HostWriting::State {
    SharedPtr<SessionState> session;
    Shape shape;
    DType dtype;
    SourceLine line;
    std::shared_ptr<Memory> memory;
    std::byte* mapped = nullptr;  // null: `bytes` are written, and copied in the end
    std::vector<std::byte> bytes;
};

HostWriting::HostWriting(const Shape& shape, std::optional<DType> dtype, SourceLine line,
                         Start start) {
    if (!dtype)
        fail_at(line, "host_tensor: no tensor has elements of this type; see dtype.h for those");
    for (const Size& size : shape)
        if (!size.is_constant() || size.constant() < 0)
            fail_at(line, "host_tensor: data cannot have shape " + text(shape) +
                              "; give sizes that are numbers from 0 up");
    auto state = std::make_shared<State>();
    state->session = current_state();
    state->shape = shape;
    state->dtype = *dtype;
    state->line = line;
    count_ = static_cast<size_t>(element_count(shape).constant());
    const uint64_t bytes = count_ * static_cast<uint64_t>(dtype->bytes());
    Executor& executor = executor_of(*current_state(), line);
    state->memory = executor.allocate(padded_bytes(bytes), "tensor " + text(line));
    state->mapped = executor.map_for_writing(*state->memory);
    if (!state->mapped)
        state->bytes.resize(bytes);
    else if (start == Zeros)
        std::fill_n(state->mapped, bytes, std::byte{});
    state_ = std::move(state);
}

std::byte* HostWriting::data() { return state_->mapped ? state_->mapped : state_->bytes.data(); }

Tensor HostWriting::finish() {
    if (!state_->mapped && !state_->bytes.empty())
        executor_of(*state_->session).write(*state_->memory, 0, state_->bytes);
    return tensor_over(state_->memory, state_->dtype, state_->shape, state_->line);
}

}  // namespace firn
