// Carried values that loops of kernels write over.
#include "compiler/plan/update_in_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "compiler/mapping/list/sequence_pieces.h"
#include "compiler/plan/write_over.h"

namespace firn {
namespace {

using Rotation = std::vector<std::pair<int, int>>;

/// Returns whether the step stores to the buffer before it reads it.
bool begins_with_a_store(const ListedStep& step, int buffer) {
    if (const auto* copy = std::get_if<CopyStep>(&step.step))
        return copy->target == buffer && copy->source != buffer;
    if (const auto* call = std::get_if<CallStep>(&step.step))
        return call->output == buffer && call->input != buffer;
    const auto* kernel = std::get_if<ListedKernel>(&step.step);
    if (!kernel) return false;
    const KernelCode& code = kernel->code;
    return std::all_of(code.nodes.begin(), code.nodes.end(), [&](const KernelNode& n) {
        const auto* access = n.get_if<AccessAttr>();
        const bool named =
            access && code.buffers[static_cast<size_t>(access->buffer)].buffer == buffer;
        return !named || n.op == KernelOp::Store;
    });
}

/// A step beside those of `loop` names the buffer.
bool is_seen_outside(const KernelList& list, const ListedLoop& loop, int buffer) {
    std::map<int, int> all, here;
    count_uses(list.steps, all);
    count_uses(loop, here);
    return all[buffer] > here[buffer];
}

/// `made` is new in every iteration, and takes over the memory of `old`, which is then done with:
/// the last that reads the one is no later than the first that writes the other.
bool may_be_one(const KernelList& list, const ListedLoop& loop, int old, int made) {
    const BufferInfo &a = list.program->buffers[static_cast<size_t>(old)],
                     &b = list.program->buffers[static_cast<size_t>(made)];
    const bool writable = a.role == BufferRole::Temporary || a.role == BufferRole::Result;
    if (!writable || b.role != BufferRole::Temporary || a.dtype != b.dtype ||
        !(a.elements == b.elements) || loop.loop.alive == made || in_rotation(loop.body, old) ||
        in_rotation(loop.body, made))
        return false;
    const std::vector<ListedStep>& body = loop.body;
    std::optional<size_t> last, first;
    for (size_t k = 0; k < body.size(); ++k) {
        if (uses(body[k], old)) last = k;
        if (!first && uses(body[k], made)) first = k;
    }
    if (!first || !begins_with_a_store(body[*first], made)) return false;
    const bool over =
        !last || *last < *first || (*last == *first && may_write_over(body[*last], old, made));
    return over && !is_seen_outside(list, loop, made);
}

/// Makes the buffers one: a buffer that took the name `made` after an iteration takes `old`.
void join(Rotation& rotation, int old, int made) {
    std::erase(rotation, std::pair(made, old));
    for (auto& [first, second] : rotation)
        if (second == made) second = old;
    std::erase_if(rotation, [](const auto& pair) { return pair.first == pair.second; });
}

void update_in(const KernelList& list, std::vector<ListedStep>& steps) {
    for (ListedStep& step : steps) {
        auto* loop = std::get_if<ListedLoop>(&step.step);
        if (!loop) continue;
        update_in(list, loop->body);
        const Rotation pairs = loop->loop.rotation;
        for (const auto& [made, old] : pairs) {
            const auto& now = loop->loop.rotation;
            if (std::find(now.begin(), now.end(), std::pair(made, old)) == now.end() ||
                !may_be_one(list, *loop, old, made))
                continue;
            rename(loop->body, made, old);
            join(loop->loop.rotation, old, made);
        }
    }
}

}  // namespace

void update_in_place(KernelList& list) { update_in(list, list.steps); }

}  // namespace firn
