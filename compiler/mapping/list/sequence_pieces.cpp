// Steps as pieces of a kernel that one group runs in order.
#include "compiler/mapping/list/sequence_pieces.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <variant>

#include "compiler/kernel/bindings.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/list/in_sequence.h"
#include "compiler/mapping/list/one_group.h"
#include "compiler/mapping/list/rotated_pieces.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

struct Accessed {
    std::set<int> loads, stores;
};

Accessed accessed_by(const KernelCode& code) {
    Accessed out;
    for (const KernelNode& n : code.nodes) {
        if (n.op == KernelOp::Load || n.op == KernelOp::Atomic)
            out.loads.insert(code.buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)].buffer);
        if (n.op == KernelOp::Store || n.op == KernelOp::Atomic)
            out.stores.insert(code.buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)].buffer);
    }
    return out;
}

/// Returns whether the kernel can compute everything in the pieces that changes with the iteration.
bool can_loop(const std::vector<SequencePiece>& pieces, const std::string& induction,
              const Program& program) {
    const auto is_bad = [&](const Size& size) { return !linear_in(size, induction); };
    const auto is_good = [&](const ParamInfo& p) {
        const int computed = p.scalar - static_cast<int>(program.arguments.size());
        if (p.scalar < 0) return !is_bad(p.size);
        return computed < 0 || !any_size(program.host_scalars, computed, is_bad);
    };
    return std::all_of(pieces.begin(), pieces.end(), [&](const SequencePiece& piece) {
        if (!piece.kernel)
            return !(piece.is_loop && mentions(piece.trips, induction)) &&
                   can_loop(piece.body, induction, program);
        const KernelCode& code = *piece.kernel;
        return std::all_of(code.params.begin(), code.params.end(), is_good) &&
               std::none_of(
                   code.buffers.begin(), code.buffers.end(),
                   [&](const KernelBuffer& b) { return mentions(b.elements, induction); }) &&
               std::none_of(code.ranges.begin(), code.ranges.end(), [&](const Range& r) {
                   return !r.extent_node && mentions(r.extent, induction);
               });
    });
}

std::optional<SequencePiece> kernel_piece(const SequenceContext& context, const KernelCode& lowered,
                                          size_t launches) {
    SequencePiece out;
    if (context.bands) {
        if (stays_in_bands(lowered, *context.bands))
            out.kernel = map_to_bands(lowered, context.profile, context.facts, context.passes);
    } else {
        const double most = static_cast<double>(launches) * context.profile.seconds_per_launch;
        auto made = map_to_one_group(lowered, context.group, most, context.profile, context.facts,
                                     context.passes);
        if (made) out.kernel = std::move(made->code), out.excess = made->excess;
    }
    if (!out.kernel) return std::nullopt;
    return out;
}

/// Returns a piece that copies the second buffer of each pair to the first, all at once.
std::optional<SequencePiece> copy_piece(const SequenceContext& context,
                                        const std::vector<std::pair<int, int>>& pairs) {
    const auto info = [&](int buffer) -> const BufferInfo& {
        return context.program.buffers[static_cast<size_t>(buffer)];
    };
    const Size elements = info(pairs[0].first).elements;
    KernelCode code;
    code.name = "copy";
    KernelBuilder b(code, context.facts);
    const auto index = [&](const Size& extent) {
        Range range;
        range.name = "i";
        range.extent = extent;
        return b.range(b.add_range(range));
    };
    NodeId at;
    if (context.bands) {
        const auto each = band_elements(*context.bands, elements);
        if (!each) return std::nullopt;
        const NodeId band = index(context.bands->count);
        at = b.add(b.mul(band, b.integer(*each)), index(Size(*each)));
    } else {
        at = index(elements);
    }
    std::vector<NodeId> values;
    for (const auto& [to, from] : pairs) {
        if (!(info(to).elements == elements) || !(info(from).elements == elements) ||
            info(to).dtype != info(from).dtype)
            return std::nullopt;
        values.push_back(
            b.load(b.buffer(from, info(from).dtype, elements, BindingForm::Storage, 1, false), at));
    }
    for (size_t k = 0; k < pairs.size(); ++k) {
        const int to = b.buffer(pairs[k].first, info(pairs[k].first).dtype, elements,
                                BindingForm::Storage, 1, true);
        code[kRoot].effects.push_back(b.store(to, at, std::span(&values[k], 1)));
    }
    place(code);
    return kernel_piece(context, code, 1);
}

/// The same of pairs of any size and type: no buffer of one size is the other of a pair of another.
std::optional<std::vector<SequencePiece>> copy_pieces(const SequenceContext& context,
                                                      std::vector<std::pair<int, int>> pairs) {
    std::vector<SequencePiece> out;
    const auto info = [&](int buffer) -> const BufferInfo& {
        return context.program.buffers[static_cast<size_t>(buffer)];
    };
    while (!pairs.empty()) {
        const BufferInfo& first = info(pairs[0].first);
        const auto others =
            std::stable_partition(pairs.begin(), pairs.end(), [&](const std::pair<int, int>& pair) {
                const BufferInfo& to = info(pair.first);
                return to.elements == first.elements && to.dtype == first.dtype;
            });
        std::optional<SequencePiece> made = copy_piece(context, {pairs.begin(), others});
        if (!made) return std::nullopt;
        out.push_back(std::move(*made));
        pairs.erase(pairs.begin(), others);
    }
    return out;
}

/// Returns the pairs of the rotation that a later step sees: a buffer that every iteration writes
/// anew needs no value from the one before.
std::vector<std::pair<int, int>> moved_values(const SequenceContext& context,
                                              const ListedLoop& listed, const SequencePiece& loop) {
    std::set<int> live, stored;
    find_live(loop.body, live, stored);
    std::map<int, int> inside;
    count_uses(listed, inside);
    std::vector<std::pair<int, int>> moved;
    for (const auto& [first, second] : listed.loop.rotation) {
        const auto all = context.uses.find(first);
        if (live.contains(first) || (all != context.uses.end() && all->second > inside[first]))
            moved.emplace_back(first, second);
    }
    return moved;
}

}  // namespace

void count_uses(std::span<const ListedStep> steps, std::map<int, int>& uses) {
    for (const ListedStep& step : steps) {
        if (const auto* kernel = std::get_if<ListedKernel>(&step.step))
            for (size_t k = 0; k < bound_buffers(kernel->code); ++k)
                ++uses[kernel->code.buffers[k].buffer];
        if (const auto* copy = std::get_if<CopyStep>(&step.step))
            ++uses[copy->source], ++uses[copy->target];
        if (const auto* call = std::get_if<CallStep>(&step.step))
            ++uses[call->input], ++uses[call->output];
        if (const auto* loop = std::get_if<ListedLoop>(&step.step)) count_uses(*loop, uses);
    }
}

void count_uses(const ListedLoop& loop, std::map<int, int>& uses) {
    count_uses(loop.body, uses);
    for (const auto& [first, second] : loop.loop.rotation) ++uses[first], ++uses[second];
    if (loop.loop.alive >= 0) ++uses[loop.loop.alive];
}

void find_live(std::span<const SequencePiece> pieces, std::set<int>& live, std::set<int>& stored) {
    for (const SequencePiece& piece : pieces) {
        if (!piece.kernel) {
            std::set<int> inside = stored;
            find_live(piece.body, live, inside);
            // A loop may have no iterations.
            if (!piece.is_loop || piece.trips.lower_bound() > 0) stored = std::move(inside);
            continue;
        }
        const Accessed accessed = accessed_by(*piece.kernel);
        for (int b : accessed.loads)
            if (!stored.contains(b)) live.insert(b);
        stored.insert(accessed.stores.begin(), accessed.stores.end());
    }
}

std::optional<SequencePiece> piece_of(const SequenceContext& context, const ListedLoop& listed,
                                      const IterationSpan& span) {
    const RepeatStep& repeat = listed.loop;
    if (repeat.alive >= 0 || !repeat.never_ended.empty() || span.most > costs::kMostSequenced)
        return std::nullopt;
    SequencePiece out;
    out.is_loop = true;
    out.trips = span.trips, out.most_trips = span.most;
    out.induction = repeat.induction;
    std::vector<CutStep> steps;
    double excess = 0;  // of an iteration
    for (const ListedStep& step : listed.body) {
        std::optional<SequencePiece> piece = piece_of(context, step, listed.body.size());
        if (!piece) return std::nullopt;
        steps.push_back(cut_step(context, piece));
        excess += piece->excess;
        out.body.push_back(std::move(*piece));
    }
    if (excess > cheapest_cuts(steps, context.profile.seconds_per_launch).seconds)
        return std::nullopt;
    out.excess = excess * std::max(0.0, estimate(span.trips, context.facts));
    if (!can_loop(out.body, out.induction, context.program)) return std::nullopt;
    const std::vector<std::pair<int, int>> moved = moved_values(context, listed, out);
    if (!moved.empty()) {
        std::optional<std::vector<SequencePiece>> copies = copy_pieces(context, moved);
        if (!copies) return std::nullopt;
        int64_t elements = 0;
        for (const auto& [to, from] : moved)
            elements = std::max(
                elements, context.program.buffers[static_cast<size_t>(to)].elements.upper_bound(
                              context.facts.largest));
        if (is_worth_writing_out(listed, out, elements))
            return written_out(repeat, out, *copies, span.first);
        std::move(copies->begin(), copies->end(), std::back_inserter(out.body));
    }
    if (span.first.is(0)) return out;
    SequencePiece one;
    one.induction = repeat.induction;
    one.iteration = span.first + Size::symbol(repeat.induction);
    one.body = std::exchange(out.body, {});
    out.body.push_back(std::move(one));
    return out;
}

SequenceContext sequence_context(const KernelList& list, const ListTarget& target) {
    SequenceContext out{*list.program,
                        target.profile,
                        target.facts,
                        {},
                        {},
                        one_group_sizes(target.profile)[0],
                        kernel_options(target)};
    count_uses(list.steps, out.uses);
    for (const ResultInfo& r : list.program->results) ++out.uses[r.buffer];
    return out;
}

std::optional<KernelCode> copied_in_place(const SequenceContext& context, int buffer) {
    std::optional<SequencePiece> piece = copy_piece(context, {{buffer, buffer}});
    if (!piece) return std::nullopt;
    return std::move(piece->kernel);
}

CutStep cut_step(const SequenceContext& context, const std::optional<SequencePiece>& piece) {
    const double launch = context.profile.seconds_per_launch;
    if (!piece) return {false, launch, 0};
    return {true, launch + (piece->kernel ? 0 : piece->excess), piece->excess};
}

std::optional<SequencePiece> piece_of(const SequenceContext& context, const ListedStep& step,
                                      size_t launches) {
    if (const auto* kernel = std::get_if<ListedKernel>(&step.step))
        return kernel->ready ? kernel_piece(context, *kernel->ready, launches) : std::nullopt;
    if (const auto* copy = std::get_if<CopyStep>(&step.step))
        return copy_piece(context, {{copy->target, copy->source}});
    if (std::holds_alternative<CallStep>(step.step)) return std::nullopt;
    const auto& listed = std::get<ListedLoop>(step.step);
    const Size& trips = listed.loop.trips;
    return piece_of(
        context, listed,
        {Size(0), trips, std::max<int64_t>(0, trips.upper_bound(context.facts.largest))});
}

}  // namespace firn
