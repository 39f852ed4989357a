// Counts what the kernel of pieces that one group runs in order needs.
#include "compiler/mapping/list/sequence_needs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/kernel/back_edges.h"
#include "compiler/mapping/list/in_sequence.h"
#include "compiler/target/cost_table.h"

namespace firn {

int64_t most_back_edges(const DeviceProfile& profile) {
    return profile.max_back_edges
               ? std::min<int64_t>(profile.max_back_edges, costs::kMostInSequence)
               : costs::kMostInSequence;
}

namespace {

int64_t loops_of(const SequencePiece& piece) {
    int64_t loops = piece.kernel ? count_loops(*piece.kernel, kRoot) : piece.is_loop;
    for (const SequencePiece& inner : piece.body) loops += loops_of(inner);
    return loops;
}

/// Counts as a target does in their kernel (kernel/back_edges.h).
int64_t back_edges_of(const SequencePiece& piece) {
    if (piece.kernel) return piece.kernel->back_edges + (piece.kernel->back_edges > 0);
    int64_t edges = 0;
    for (const SequencePiece& inner : piece.body) edges += back_edges_of(inner);
    return piece.is_loop ? piece.most_trips * (edges + 1) + loops_of(piece) : edges;
}

}  // namespace

void SequenceNeeds::add(const ListedStep& step, const SequencePiece& piece) {
    count_uses({&step, 1}, uses_);
    find_live({&piece, 1}, live_, stored_);
    back_edges_ += back_edges_of(piece);
    add(piece);
}

void SequenceNeeds::add(const ListedLoop& loop, const SequencePiece& piece) {
    count_uses(loop, uses_);
    find_live({&piece, 1}, live_, stored_);
    back_edges_ += back_edges_of(piece);
    add(piece);
}

void SequenceNeeds::add(const SequencePiece& piece) {
    repeats_ = repeats_ || piece.is_loop;
    for (const SequencePiece& inner : piece.body) add(inner);
    if (!piece.kernel) return;
    for (const KernelBuffer& b : piece.kernel->buffers) {
        const int type = static_cast<int>(b.dtype.type);
        types_[b.buffer].insert(type);
        if (b.form == BindingForm::Address ||
            !bound_.emplace(b.buffer, b.form, type, b.width).second)
            continue;
        ++all_bound_[b.form], ++bound_by_buffer_[b.buffer][b.form];
    }
    for (const KernelNode& n : piece.kernel->nodes) operations_ += operations_of(n);
}

bool SequenceNeeds::may_grow() const {
    const double bodies = repeats_ ? costs::kBodiesInLoop : 1;
    const double body =
        std::min<double>(context_.profile.max_body_operations, costs::kSequenceBody);
    return operations_ <= bodies * body && back_edges_ <= most_back_edges(context_.profile);
}

bool SequenceNeeds::fits() const { return may_grow() && may_bind(unseen_buffers().left); }

bool SequenceNeeds::may_be_own(int buffer) const {
    if (!uses_.contains(buffer) || types_.at(buffer).size() > 1) return false;
    const BufferInfo& info = context_.program.buffers[static_cast<size_t>(buffer)];
    // Shorter types are packed in memory that is bound alone.
    const bool plain = info.dtype == boolean || info.dtype.bytes() >= 4;
    return info.elements.is_constant() && plain;
}

bool SequenceNeeds::is_seen(int buffer) const {
    const auto all = context_.uses.find(buffer);
    return all->second > uses_.at(buffer) || live_.contains(buffer) ||
           context_.program.buffers[static_cast<size_t>(buffer)].role != BufferRole::Temporary;
}

void SequenceNeeds::add_smallest(const std::vector<int>& buffers, bool no_more, Own& own) const {
    std::vector<std::pair<int64_t, int>> sizes;  // bytes, buffer
    for (int buffer : buffers) {
        const BufferInfo& info = context_.program.buffers[static_cast<size_t>(buffer)];
        const int64_t each = std::max<int64_t>(4, info.dtype.bytes());
        sizes.emplace_back(own_elements(info.elements).constant() * each, buffer);
    }
    std::sort(sizes.begin(), sizes.end());
    for (const auto& [size, buffer] : sizes) {
        if (own.bytes + size > context_.profile.shared_bytes || (no_more && may_bind(own.left)))
            break;
        own.bytes += size;
        own.buffers.insert(buffer);
        if (const auto bound = bound_by_buffer_.find(buffer); bound != bound_by_buffer_.end())
            for (size_t form = 0; form < kBindingForms; ++form)
                own.left.of[form] -= bound->second.of[form];
    }
}

SequenceNeeds::Own SequenceNeeds::unseen_buffers() const {
    Own out{{}, 0, all_bound_};
    const bool no_more = context_.profile.shared_loads > 1;
    if (context_.bands || (no_more && may_bind(out.left))) return out;
    std::vector<int> unseen;
    for (const auto& [buffer, types] : types_)
        if (may_be_own(buffer) && !is_seen(buffer)) unseen.push_back(buffer);
    add_smallest(unseen, no_more, out);
    return out;
}

OwnMemory SequenceNeeds::own_memory() const {
    Own own = unseen_buffers();
    // Each iteration would wait for the stores of the one before it if they were in bound memory.
    if (context_.bands || !repeats_ || context_.profile.shared_loads > 1)
        return {std::move(own.buffers), {}};
    std::vector<int> seen;
    for (int buffer : stored_)
        if (may_be_own(buffer) && is_seen(buffer)) seen.push_back(buffer);
    Own copied{{}, own.bytes, own.left};
    add_smallest(seen, false, copied);
    own.buffers.insert(copied.buffers.begin(), copied.buffers.end());
    return {std::move(own.buffers), {copied.buffers.begin(), copied.buffers.end()}};
}

}  // namespace firn
