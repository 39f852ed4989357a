// Small steps of a list that need one another, in one kernel.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "compiler/mapping/in_sequence.h"
#include "compiler/mapping/list_passes.h"
#include "compiler/mapping/one_group.h"
#include "compiler/mapping/rotated_pieces.h"
#include "compiler/mapping/sequence_pieces.h"
#include "compiler/program/cost_table.h"
#include "compiler/program/device_class.h"

namespace firn {
namespace {

// --- what fits into one kernel

struct Needs {
    std::set<std::tuple<int, int, int>> texels, storage;  // buffer, type, width
    double operations = 0;                                // simple ones, of the body
    int64_t back_edges = 0;
};

/// Adds what `piece` needs that is run `times` times.
void add_needs(const SequencePiece& piece, int64_t times, Needs& needs) {
    if (!piece.kernel) {
        if (piece.is_loop) {
            needs.back_edges += times;  // of its ends
            needs.back_edges += times *= piece.most_trips;
        }
        for (const SequencePiece& inner : piece.body) add_needs(inner, times, needs);
        return;
    }
    for (const KernelBuffer& b : piece.kernel->buffers)
        if (b.form != BindingForm::Address)
            (b.form == BindingForm::Texel ? needs.texels : needs.storage)
                .emplace(b.buffer, static_cast<int>(b.dtype.type), b.width);
    for (const KernelNode& n : piece.kernel->nodes) needs.operations += operations_of(n);
    const int64_t edges = piece.kernel->back_edges;
    needs.back_edges += times * (edges + (edges > 0));
}

int64_t most_back_edges(const DeviceProfile& profile) {
    return profile.max_back_edges
               ? std::min<int64_t>(profile.max_back_edges, costs::kMostInSequence)
               : costs::kMostInSequence;
}

bool fits(const Needs& needs, const DeviceProfile& profile) {
    return needs.texels.size() <= profile.max_texel_buffers &&
           needs.storage.size() <= profile.max_storage_buffers &&
           needs.operations <= profile.max_body_operations &&
           needs.back_edges <= most_back_edges(profile);
}

// --- the kernel

void add_pieces(const std::vector<SequencePiece>& pieces, InSequence& sequence) {
    for (const SequencePiece& piece : pieces) {
        if (piece.kernel) {
            sequence.add(*piece.kernel);
            continue;
        }
        if (piece.is_loop) sequence.open_loop(piece.trips, piece.most_trips, piece.induction);
        if (piece.iteration) sequence.set_turn(piece.induction, *piece.iteration);
        add_pieces(piece.body, sequence);
        if (piece.iteration) sequence.forget_turn(piece.induction);
        if (piece.is_loop) sequence.close_loop();
    }
}

/// Adds what is known of the steps, which are run `times` times, to what is known of their kernel.
void describe(const std::vector<ListedStep>& steps, const Size& times, ListedKernel& all) {
    for (const ListedStep& step : steps) {
        if (const auto* listed = std::get_if<ListedLoop>(&step.step)) {
            ListedKernel body;
            const Size trips = max(listed->loop.trips, Size(0));
            describe(listed->body, times * trips, body);
            // Where iterations differ, as the last.
            for (Size Work::*part : {&Work::operations, &Work::bytes_read, &Work::bytes_written})
                body.work.*part = (body.work.*part).substitute({{listed->loop.induction, trips}});
            add_part(all, body);
        }
        if (const auto* kernel = std::get_if<ListedKernel>(&step.step))
            add_part(all, *kernel, times);
    }
}

// --- the steps

/// Steps that may become one kernel, with their pieces.
struct OpenSequence {
    std::vector<ListedStep> steps;
    std::vector<SequencePiece> pieces;
    Needs needs;
};

struct SequenceRun {
    SequenceContext context;
    const ListTarget& target;
};

/// `steps` as the kernel of these pieces.
ListedKernel in_one_kernel(const SequenceRun& run, const std::vector<SequencePiece>& pieces,
                           const std::vector<ListedStep>& steps) {
    const std::optional<Bands>& bands = run.context.bands;
    const DeviceProfile& profile = run.target.profile;
    InSequence sequence(bands ? band_group_size(profile) : one_group_size(profile),
                        run.context.program, bands ? bands->count : Size(1));
    add_pieces(pieces, sequence);
    ListedKernel made;
    describe(steps, Size(1), made);
    made.code = sequence.finish();
    made.mapping =
        bands ? "a group for each band, kernels in sequence" : "one group, kernels in sequence";
    verify(made.code, KernelStage::Placed, "in_sequence");
    note_pass(made, {"in_sequence"}, made.code, run.target);
    return made;
}

/// A loop that is too long for one kernel as a loop of kernels that take so many iterations each.
std::optional<ListedLoop> in_chunks(const SequenceRun& run, const ListedLoop& listed) {
    const Size trips = max(listed.loop.trips, Size(0));
    const std::string chunk = listed.loop.induction + ".chunk";
    const auto span = [&](int64_t most) -> IterationSpan {
        const Size first = Size::symbol(chunk) * Size(most);
        return {first, min(Size(most), trips - first), most};
    };
    int64_t most =
        std::min<int64_t>(costs::kMostSequenced, trips.upper_bound(run.context.facts.largest));
    std::optional<SequencePiece> piece;
    Needs needs;
    for (bool shortened = false;; shortened = true) {
        // Buffers have their names again after each.
        most -= most % kCommonPeriod;
        if (most < kCommonPeriod || !(piece = piece_of(run.context, listed, span(most))))
            return std::nullopt;
        add_needs(*piece, 1, needs = {});
        if (fits(needs, run.target.profile)) break;
        if (shortened || needs.back_edges == 0) return std::nullopt;
        most = std::min(most - 1, most * most_back_edges(run.target.profile) / needs.back_edges);
    }
    ListedLoop part = listed, out;
    part.loop.trips = span(most).trips;
    out.loop.induction = chunk;
    out.loop.trips = ceil_div(trips, Size(most));
    out.loop.line = listed.loop.line;
    out.body.push_back({in_one_kernel(run, {std::move(*piece)}, {{std::move(part)}})});
    return out;
}

/// A loop as one kernel of a group for each of its bands, or as a loop of such kernels.
std::optional<ListedStep> in_bands(const SequenceRun& run, const ListedLoop& listed) {
    SequenceRun banded = run;
    banded.context.bands =
        bands_of(run.context.program, listed, run.target.profile, run.context.facts);
    if (!banded.context.bands) return std::nullopt;
    const std::optional<SequencePiece> piece = piece_of(banded.context, {{listed}});
    Needs needs;
    if (piece) add_needs(*piece, 1, needs);
    if (piece && fits(needs, run.target.profile))
        return {{in_one_kernel(banded, {*piece}, {{listed}})}};
    if (auto chunks = in_chunks(banded, listed)) return {{std::move(*chunks)}};
    return std::nullopt;
}

std::vector<ListedStep> sequenced(const SequenceRun& run, std::vector<ListedStep> steps);

void add_as_it_is(const SequenceRun& run, ListedStep step, std::vector<ListedStep>& out) {
    if (auto* loop = std::get_if<ListedLoop>(&step.step)) {
        if (auto chunks = in_chunks(run, *loop)) {
            *loop = std::move(*chunks);
        } else if (auto banded = in_bands(run, *loop)) {
            step = std::move(*banded);
        } else {
            loop->body = sequenced(run, std::move(loop->body));
        }
    }
    out.push_back(std::move(step));
}

/// One kernel where there are several steps and they fit, else the steps.
void close(const SequenceRun& run, OpenSequence open, std::vector<ListedStep>& out) {
    const bool several =
        open.pieces.size() > 1 || (open.pieces.size() == 1 && !open.pieces[0].kernel);
    if (!several || !fits(open.needs, run.target.profile)) {
        for (ListedStep& step : open.steps) add_as_it_is(run, std::move(step), out);
        return;
    }
    out.push_back({in_one_kernel(run, open.pieces, open.steps)});
}

std::vector<ListedStep> sequenced(const SequenceRun& run, std::vector<ListedStep> steps) {
    std::vector<ListedStep> out;
    OpenSequence open;
    for (ListedStep& step : steps) {
        check_stop(run.target.stop);
        std::optional<SequencePiece> piece = piece_of(run.context, step);
        if (!piece) {
            close(run, std::exchange(open, {}), out);
            add_as_it_is(run, std::move(step), out);
            continue;
        }
        Needs all = open.needs;
        add_needs(*piece, 1, all);
        if (!open.pieces.empty() && !fits(all, run.target.profile)) {
            close(run, std::exchange(open, {}), out);
            add_needs(*piece, 1, all = {});
        }
        open.needs = std::move(all);
        open.steps.push_back(std::move(step));
        open.pieces.push_back(std::move(*piece));
    }
    close(run, std::move(open), out);
    return out;
}

}  // namespace

void put_in_sequence(KernelList& list, const ListTarget& target) {
    const SequenceRun run{sequence_context(list, target.profile, target.facts), target};
    list.steps = sequenced(run, std::move(list.steps));
}

}  // namespace firn
