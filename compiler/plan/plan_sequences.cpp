// Small steps of a Program that need one another, in one dispatch.
#include "compiler/plan/plan_sequences.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "compiler/mapping/in_sequence.h"
#include "compiler/mapping/one_group.h"
#include "compiler/plan/sequence_pieces.h"

namespace firn {
namespace {

constexpr int64_t kMostBackEdges = 65535;  // one group is to end before long on any device

// --- what fits into one kernel

struct Needs {
    std::set<std::tuple<int, int, int>> texels, storage;  // buffer, type, width
    double operations = 0;                                // simple ones, of the body
    int64_t back_edges = 0;
};

/// Adds what `piece` needs that is run `times` times.
void add_needs(const SequencePiece& piece, int64_t times, Needs& needs) {
    if (!piece.kernel) {
        if (piece.is_loop) needs.back_edges += times *= piece.most_trips;
        for (const SequencePiece& inner : piece.body) add_needs(inner, times, needs);
        return;
    }
    for (const KernelBuffer& b : piece.kernel->buffers)
        if (b.form != BindingForm::Address)
            (b.form == BindingForm::Texel ? needs.texels : needs.storage)
                .emplace(b.buffer, static_cast<int>(b.dtype.type), b.width);
    for (const KernelNode& n : piece.kernel->nodes) needs.operations += operations_of(n);
    needs.back_edges += times * piece.kernel->back_edges;
}

bool fits(const Needs& needs, const DeviceProfile& profile) {
    const int64_t edges = profile.max_back_edges
                              ? std::min<int64_t>(profile.max_back_edges, kMostBackEdges)
                              : kMostBackEdges;
    return needs.texels.size() <= profile.max_texel_buffers &&
           needs.storage.size() <= profile.max_storage_buffers &&
           needs.operations <= profile.max_body_operations && needs.back_edges <= edges;
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

/// The user's lines of the steps, and what they do when they are run `times` times.
void describe(const Program& program, const std::vector<Step>& steps, const Size& times,
              std::vector<std::string>& lines, Work& work) {
    for (const Step& step : steps) {
        if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
            Work all;
            const Size trips = max(repeat->trips, Size(0));
            describe(program, repeat->body, times * trips, lines, all);
            // Where iterations differ, as the last.
            for (auto [sum, more] : {std::pair{&work.operations, &all.operations},
                                     {&work.bytes_read, &all.bytes_read},
                                     {&work.bytes_written, &all.bytes_written}})
                *sum += more->substitute({{repeat->induction, trips}});
        }
        const auto* dispatch = std::get_if<DispatchStep>(&step.step);
        if (!dispatch) continue;
        work.operations += times * dispatch->work.operations;
        work.bytes_read += times * dispatch->work.bytes_read;
        work.bytes_written += times * dispatch->work.bytes_written;
        for (const std::string& line : program.kernels[static_cast<size_t>(dispatch->kernel)].lines)
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
}

// --- the steps

/// Steps that may become one dispatch, with their pieces.
struct OpenSequence {
    std::vector<Step> steps;
    std::vector<SequencePiece> pieces;
    Needs needs;
};

std::vector<Step> sequenced(const SequenceContext& context, const AddSequence& add,
                            std::vector<Step> steps);

void add_as_it_is(const SequenceContext& context, const AddSequence& add, Step step,
                  std::vector<Step>& out) {
    if (auto* repeat = std::get_if<RepeatStep>(&step.step))
        repeat->body = sequenced(context, add, std::move(repeat->body));
    out.push_back(std::move(step));
}

/// One dispatch where there are several steps and they fit, else the steps.
void close(const SequenceContext& context, const AddSequence& add, OpenSequence open,
           std::vector<Step>& out) {
    const bool several =
        open.pieces.size() > 1 || (open.pieces.size() == 1 && !open.pieces[0].kernel);
    if (!several || !fits(open.needs, context.profile)) {
        for (Step& step : open.steps) add_as_it_is(context, add, std::move(step), out);
        return;
    }
    InSequence sequence(one_group_size(context.profile), context.program);
    add_pieces(open.pieces, sequence);
    std::vector<std::string> lines;
    Work work;
    describe(context.program, open.steps, Size(1), lines, work);
    out.push_back(add(sequence.finish(), lines, work));
}

std::vector<Step> sequenced(const SequenceContext& context, const AddSequence& add,
                            std::vector<Step> steps) {
    std::vector<Step> out;
    OpenSequence open;
    for (Step& step : steps) {
        std::optional<SequencePiece> piece = piece_of(context, step);
        if (!piece) {
            close(context, add, std::exchange(open, {}), out);
            add_as_it_is(context, add, std::move(step), out);
            continue;
        }
        Needs all = open.needs;
        add_needs(*piece, 1, all);
        if (!open.pieces.empty() && !fits(all, context.profile)) {
            close(context, add, std::exchange(open, {}), out);
            add_needs(*piece, 1, all = {});
        }
        open.needs = std::move(all);
        open.steps.push_back(std::move(step));
        open.pieces.push_back(std::move(*piece));
    }
    close(context, add, std::move(open), out);
    return out;
}

void drop_unused_kernels(Program& program) {
    std::vector<int> place(program.kernels.size(), -1);
    std::vector<KernelInfo> kept;
    for_dispatches(program.steps, [&](DispatchStep& step) {
        int& at = place[static_cast<size_t>(step.kernel)];
        if (at < 0)
            at = static_cast<int>(kept.size()),
            kept.push_back(std::move(program.kernels[static_cast<size_t>(step.kernel)]));
        step.kernel = at;
    });
    program.kernels = std::move(kept);
}

}  // namespace

void put_in_sequence(Program& program, const DeviceProfile& profile, const SymbolFacts& facts,
                     const AddSequence& add) {
    const SequenceContext context = sequence_context(program, profile, facts);
    program.steps = sequenced(context, add, std::move(program.steps));
    drop_unused_kernels(program);
}

}  // namespace firn
