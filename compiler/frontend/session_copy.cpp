// Tensors that are copied from one session to another.
#include "compiler/frontend/session_copy.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

void check_not_recording(const SessionState& session, SourceLine line) {
    if (!is_recording(session)) return;
    const Scope& scope = session.scopes.back();
    fail_at(line,
            "to: it copies a tensor once, and the " +
                std::string(scope.kind == ScopeKind::Function ? "function" : "loop or branch") +
                " at " + text(scope.line) +
                " is being recorded to run many times; copy the tensor before or after, or "
                "run a part of it in the other session by on(session, f)(x)");
}

std::string device_name(const Executor& executor) { return "'" + executor.profile().name + "'"; }

/// Allocates the memory of a copy; the error says where from and where to.
std::shared_ptr<Memory> memory_of_copy(SessionState& target, const Executor& from,
                                       const TensorMemory& held, uint64_t bytes, SourceLine line) {
    Executor& to = executor_of(target, line);
    try {
        return allocate_memory(target, to, padded_bytes(bytes), "copy " + text(line));
    } catch (const DeviceError& error) {
        const Shape shape(held.shape.begin(), held.shape.end());
        throw DeviceError("to: " + std::string(held.dtype.name()) + text(shape) + " of " +
                          device_name(from) + " finds no room on " + device_name(to) + ": " +
                          error.what() + " (" + text(line) + ")");
    }
}

}  // namespace

void copy_between(Executor& from, const Memory& source, Executor& to, Memory& target,
                  uint64_t bytes) {
    if (bytes == 0) return;
    if (const std::byte* seen = from.mapped(source)) return to.write(target, 0, {seen, bytes});
    if (std::byte* seen = to.map_for_writing(target)) return from.read(source, 0, {seen, bytes});
    std::vector<std::byte> piece(std::min(bytes, kCopiedPiece));
    for (uint64_t done = 0; done < bytes; done += piece.size()) {
        CancelScope::end_if_asked("copying to", to.profile().name);
        piece.resize(std::min<uint64_t>(bytes - done, piece.size()));
        from.read(source, done, piece);
        to.write(target, done, piece);
    }
}

Tensor Tensor::to(const Session& session, SourceLine line) const {
    const std::shared_ptr<SessionState>&source = slot_->session, &target = session.state();
    if (source == target) return *this;
    check_not_recording(*source, line);
    check_not_recording(*target, line);
    TensorMemory held;
    Origins origins;
    {
        const SessionScope scope{Session(source)};
        const Inside inside(source->nodes.thread(), line);
        held = memory_of(*this, line);
        if (held.dtype.is_float()) origins = origins_of(source, slot_->node);
    }
    const SessionScope scope(session);
    const Inside inside(target->nodes.thread(), line);
    prune_histories(*target);
    const Shape shape(held.shape.begin(), held.shape.end());
    const uint64_t bytes = storage_bytes(held.dtype, shape);
    Executor &from = executor_of(*source, line), &to = executor_of(*target, line);
    std::shared_ptr<Memory> memory = memory_of_copy(*target, from, held, bytes, line);
    copy_between(from, *held.memory, to, *memory, bytes);
    const Ref buffer = buffer_node(*target, std::move(memory), held.dtype, shape, line);
    if (!origins.empty()) keep_copy(*target, buffer, std::move(origins), line);
    return tensor_of(buffer);
}

Tensor& Tensor::add_from(const Tensor& y, SourceLine line) & {
    const SessionScope scope{session()};
    // Only the session of y knows its shape.
    const auto described = [&](const Tensor& x) {
        const SessionScope of_x{x.session()};
        return std::string(x.dtype(line).name()) + text(x.shape(line));
    };
    const std::string own = described(*this), given = described(y);
    if (own != given)
        fail_at(line, "add_from: the tensor is " + own + " and the one that is added is " + given +
                          "; give one of the same type and shape");
    return *this += Arg(y.to(session(), line), line);
}

Session Tensor::session() const { return Session(slot_->session); }

}  // namespace firn
