// Small steps of a list that need one another, in one kernel.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "compiler/mapping/list/in_sequence.h"
#include "compiler/mapping/list/list_passes.h"
#include "compiler/mapping/list/one_group.h"
#include "compiler/mapping/list/rotated_pieces.h"
#include "compiler/mapping/list/sequence_needs.h"
#include "compiler/mapping/list/sequence_pieces.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Launches that a kernel saves in the kernel of its neighbours: its own, and where it stands
/// between them, that of those behind it.
constexpr size_t kMostSaved = 2;

// --- the kernel

void add_pieces(std::span<const SequencePiece> pieces, InSequence& sequence) {
    for (const SequencePiece& piece : pieces) {
        if (piece.kernel) {
            sequence.add(*piece.kernel);
            continue;
        }
        if (piece.is_loop) sequence.open_loop(piece.trips, piece.most_trips, piece.induction);
        if (piece.iteration) sequence.set_iteration(piece.induction, *piece.iteration);
        add_pieces(piece.body, sequence);
        if (piece.iteration) sequence.forget_iteration(piece.induction);
        if (piece.is_loop) sequence.close_loop();
    }
}

/// Adds the records of the steps, which are run `times` times, to those of their kernel.
void describe(std::span<const ListedStep> steps, const Size& times, ListedKernel& all) {
    for (const ListedStep& step : steps) {
        if (const auto* listed = std::get_if<ListedLoop>(&step.step)) {
            ListedKernel body;
            const Size trips = max(listed->loop.trips, Size(0));
            describe(listed->body, times * trips, body);
            // Iterations that differ count as the last one.
            for (Size Work::*part : {&Work::operations, &Work::bytes_read, &Work::bytes_written})
                body.work.*part = (body.work.*part).substitute({{listed->loop.induction, trips}});
            add_part(all, body);
        }
        if (const auto* kernel = std::get_if<ListedKernel>(&step.step))
            add_part(all, *kernel, times);
    }
}

struct SequenceRun {
    std::vector<SequenceContext> groups;  // by the size of the one group, the best first
    const ListTarget& target;
};

/// Returns the buffers in the group's memory, and kernels that copy those that other steps see.
/// They are copied before all as well, because elements that are not stored to keep their values.
std::pair<std::set<int>, std::vector<KernelCode>> own_memory(const SequenceContext& context,
                                                             const SequenceNeeds& needs) {
    OwnMemory own = needs.own_memory();
    std::vector<KernelCode> copies;
    for (int buffer : own.copied) {
        if (std::optional<KernelCode> copy = copied_in_place(context, buffer))
            copies.push_back(std::move(*copy));
        else
            own.buffers.erase(buffer);
    }
    return {std::move(own.buffers), std::move(copies)};
}

/// Returns `steps` as the kernel of these pieces, with their needs.
ListedKernel in_one_kernel(const ListTarget& target, const SequenceContext& context,
                           std::span<const SequencePiece> pieces, std::span<const ListedStep> steps,
                           const SequenceNeeds& needs) {
    const std::optional<Bands>& bands = context.bands;
    const auto [own, copies] = own_memory(context, needs);
    InSequence sequence(context.group, context.program, bands ? bands->count : Size(1), own);
    for (const KernelCode& copy : copies) sequence.add_copy(copy, true);
    add_pieces(pieces, sequence);
    for (const KernelCode& copy : copies) sequence.add_copy(copy, false);
    ListedKernel made;
    describe(steps, Size(1), made);
    made.code = sequence.finish(target.profile);
    made.mapping =
        bands ? "a group for each band, kernels in sequence" : "one group, kernels in sequence";
    verify(made.code, KernelStage::Placed, "in_sequence");
    note_pass(made, {"in_sequence"}, made.code, target);
    return made;
}

// --- loops that are too long for one kernel

/// Returns how many iterations of a loop fit into one kernel.
struct Chunk {
    int64_t most = 0;
    SequencePiece piece;
    SequenceNeeds needs;
};

std::string chunk_symbol(const ListedLoop& listed) { return listed.loop.induction + ".chunk"; }

IterationSpan span_of_chunk(const ListedLoop& listed, int64_t most) {
    const Size first = Size::symbol(chunk_symbol(listed)) * Size(most);
    return {first, min(Size(most), max(listed.loop.trips, Size(0)) - first), most};
}

std::optional<Chunk> longest_chunk(const SequenceContext& context, const ListedLoop& listed) {
    int64_t most = std::min<int64_t>(
        costs::kMostSequenced, max(listed.loop.trips, Size(0)).upper_bound(context.facts.largest));
    // The work beside the iterations is in no proportion to their number.
    constexpr int kTries = 4;
    for (int tries = 0; tries < kTries; ++tries) {
        // Buffers have their names again after each.
        most -= most % kCommonPeriod;
        if (most < kCommonPeriod) return std::nullopt;
        auto piece = piece_of(context, listed, span_of_chunk(listed, most));
        if (!piece) return std::nullopt;
        SequenceNeeds needs(context);
        needs.add(listed, *piece);
        if (needs.fits()) return Chunk{most, std::move(*piece), std::move(needs)};
        const int64_t allowed = most_back_edges(context.profile);
        if (needs.back_edges() <= allowed) return std::nullopt;  // something else exceeds its limit
        most = std::min(most - 1, most * allowed / needs.back_edges());
    }
    return std::nullopt;
}

/// Returns a loop as a loop of kernels that take several iterations each: as many as fit.
std::optional<ListedLoop> in_chunks(const ListTarget& target,
                                    std::span<const SequenceContext> groups,
                                    const ListedLoop& listed) {
    std::optional<Chunk> best;
    const SequenceContext* group = nullptr;
    for (const SequenceContext& context : groups) {
        auto chunk = longest_chunk(context, listed);
        if (!chunk || (best && best->most >= chunk->most)) continue;
        best.emplace(std::move(*chunk));
        group = &context;
    }
    if (!best) return std::nullopt;
    ListedLoop part = listed, out;
    part.loop.trips = span_of_chunk(listed, best->most).trips;
    out.loop.induction = chunk_symbol(listed);
    out.loop.trips = ceil_div(max(listed.loop.trips, Size(0)), Size(best->most));
    out.loop.line = listed.loop.line;
    const ListedStep whole{std::move(part)};
    out.body.push_back(
        {in_one_kernel(target, *group, {&best->piece, 1}, {&whole, 1}, best->needs)});
    return out;
}

/// A loop as one kernel of a group for each of its bands, or as a loop of such kernels.
std::optional<ListedStep> in_bands(const SequenceRun& run, const ListedLoop& listed) {
    SequenceContext banded = run.groups[0];
    banded.bands = bands_of(banded.program, listed, banded.profile, banded.facts);
    if (!banded.bands) return std::nullopt;
    banded.group = band_group_size(banded.profile);
    const ListedStep whole{listed};
    const std::optional<SequencePiece> piece = piece_of(banded, whole, kMostSaved);
    SequenceNeeds needs(banded);
    if (piece) needs.add(whole, *piece);
    if (piece && needs.fits())
        return {{in_one_kernel(run.target, banded, {&*piece, 1}, {&whole, 1}, needs)}};
    if (auto chunks = in_chunks(run.target, {&banded, 1}, listed)) return {{std::move(*chunks)}};
    return std::nullopt;
}

// --- steps that follow one another

std::vector<ListedStep> sequenced(const SequenceRun& run, std::vector<ListedStep> steps);

void add_as_it_is(const SequenceRun& run, ListedStep step, std::vector<ListedStep>& out) {
    if (auto* loop = std::get_if<ListedLoop>(&step.step)) {
        if (auto chunks = in_chunks(run.target, run.groups, *loop)) {
            *loop = std::move(*chunks);
        } else if (auto banded = in_bands(run, *loop)) {
            step = std::move(*banded);
        } else {
            loop->body = sequenced(run, std::move(loop->body));
        }
    }
    out.push_back(std::move(step));
}

using Pieces = std::vector<SequencePiece>;

/// Returns how many steps from `first` on fit into one kernel.
size_t longest_fitting(const SequenceContext& context, std::span<const ListedStep> steps,
                       const Pieces& pieces, size_t first) {
    SequenceNeeds needs(context);
    size_t count = 0;
    for (size_t k = first; k < pieces.size() && needs.may_grow(); ++k) {
        needs.add(steps[k], pieces[k]);
        if (needs.fits()) count = k - first + 1;
    }
    return count;
}

/// Empty if one group of the size does not run them all.
Pieces pieces_of(const SequenceContext& context, std::span<const ListedStep> steps) {
    Pieces out;
    for (const ListedStep& step : steps) {
        std::optional<SequencePiece> piece = piece_of(context, step, kMostSaved);
        if (!piece) return {};
        out.push_back(std::move(*piece));
    }
    return out;
}

/// Steps of which each may be a piece of a kernel: one kernel if several follow one another and
/// fit, else unchanged. `pieces` are those of the best group; another one is taken where it runs
/// more of them.
void close(const SequenceRun& run, std::vector<ListedStep> steps, Pieces pieces,
           std::vector<ListedStep>& out) {
    std::vector<Pieces> by_group{std::move(pieces)};
    for (size_t first = 0; first < steps.size();) {
        size_t count = 0, best = 0;
        for (size_t g = 0; g < run.groups.size() && first + count < steps.size(); ++g) {
            if (g == by_group.size()) by_group.push_back(pieces_of(run.groups[g], steps));
            const size_t fitting = longest_fitting(run.groups[g], steps, by_group[g], first);
            if (fitting > count) count = fitting, best = g;
        }
        if (count > 1 || (count == 1 && !by_group[best][first].kernel)) {
            const std::span<const SequencePiece> taken(&by_group[best][first], count);
            const std::span<const ListedStep> whole(&steps[first], count);
            SequenceNeeds needs(run.groups[best]);
            for (size_t k = 0; k < count; ++k) needs.add(whole[k], taken[k]);
            out.push_back({in_one_kernel(run.target, run.groups[best], taken, whole, needs)});
        } else {
            add_as_it_is(run, steps[first], out);
        }
        first += std::max<size_t>(1, count);
    }
}

std::vector<ListedStep> sequenced(const SequenceRun& run, std::vector<ListedStep> steps) {
    const SequenceContext& context = run.groups[0];
    std::vector<std::optional<SequencePiece>> pieces;
    std::vector<CutStep> costs;
    for (const ListedStep& step : steps) {
        check_stop(run.target.stop);
        pieces.push_back(piece_of(context, step, kMostSaved));
        costs.push_back(cut_step(context, pieces.back()));
    }
    std::vector<ListedStep> out;
    size_t first = 0;
    for (size_t end : cheapest_cuts(costs, context.profile.seconds_per_launch).ends) {
        std::vector<ListedStep> open;
        Pieces taken;
        for (; first < end && pieces[first]; ++first) {
            open.push_back(std::move(steps[first]));
            taken.push_back(std::move(*pieces[first]));
        }
        if (!open.empty()) close(run, std::move(open), std::move(taken), out);
        for (; first < end; ++first) add_as_it_is(run, std::move(steps[first]), out);
    }
    return out;
}

}  // namespace

void put_in_sequence(KernelList& list, const ListTarget& target) {
    SequenceRun run{{}, target};
    for (uint32_t size : one_group_sizes(target.profile)) {
        run.groups.push_back(run.groups.empty() ? sequence_context(list, target) : run.groups[0]);
        run.groups.back().group = size;
    }
    list.steps = sequenced(run, std::move(list.steps));
}

}  // namespace firn
