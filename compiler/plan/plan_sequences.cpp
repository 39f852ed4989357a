// Small steps of a Program that need one another, in one dispatch.
#include "compiler/plan/plan_sequences.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/in_sequence.h"
#include "compiler/mapping/one_group.h"

namespace firn {
namespace {

constexpr int64_t kMostTurns = 4096;       // of a loop of steps
constexpr int kMostPeriod = 3;             // of a rotation that turns are written out for
constexpr int64_t kWorthNames = 1024;      // elements that are dearer to copy than to write out
constexpr int64_t kMostBackEdges = 65535;  // one group is to end before long on any device

/// What is run in order: a kernel, a loop, or what stands in `body`.
struct Piece {
    std::optional<KernelCode> kernel;  // mapped to one group
    std::vector<Piece> body;
    bool is_loop = false;  // of `trips` turns
    Size trips;
    int64_t most_trips = 0;
    std::string induction;
    std::optional<Size> turn;  // what `induction` stands for in the body, where it is no loop
};

struct Access {
    std::set<int> loads, stores;
};

Access access_of(const KernelCode& code) {
    Access out;
    for (const KernelNode& n : code.nodes) {
        if (n.op == KernelOp::Load || n.op == KernelOp::Atomic)
            out.loads.insert(code.buffers[static_cast<size_t>(n.buffer)].buffer);
        if (n.op == KernelOp::Store || n.op == KernelOp::Atomic)
            out.stores.insert(code.buffers[static_cast<size_t>(n.buffer)].buffer);
    }
    return out;
}

/// The buffers whose values from before the pieces are asked for: loaded before they are stored to.
void find_live(const std::vector<Piece>& pieces, std::set<int>& live, std::set<int>& stored) {
    for (const Piece& piece : pieces) {
        if (!piece.kernel) {
            std::set<int> inside = stored;
            find_live(piece.body, live, inside);
            // A loop may have no turns.
            if (!piece.is_loop || piece.trips.lower_bound() > 0) stored = std::move(inside);
            continue;
        }
        const Access access = access_of(*piece.kernel);
        for (int b : access.loads)
            if (!stored.contains(b)) live.insert(b);
        stored.insert(access.stores.begin(), access.stores.end());
    }
}

/// What of the pieces changes with the turn can be computed in the kernel.
bool can_loop(const std::vector<Piece>& pieces, const std::string& induction,
              const Program& program) {
    const auto is_bad = [&](const Size& size) { return !linear_in(size, induction); };
    const auto is_good = [&](const ParamInfo& p) {
        const int computed = p.scalar - static_cast<int>(program.arguments.size());
        if (p.scalar < 0) return !is_bad(p.size);
        return computed < 0 || !any_size(program.host_scalars, computed, is_bad);
    };
    return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        if (!piece.kernel)
            return !(piece.is_loop && mentions(piece.trips, induction)) &&
                   can_loop(piece.body, induction, program);
        const KernelCode& code = *piece.kernel;
        return std::all_of(code.params.begin(), code.params.end(), is_good) &&
               std::none_of(
                   code.buffers.begin(), code.buffers.end(),
                   [&](const KernelBuffer& b) { return mentions(b.elements, induction); }) &&
               std::none_of(code.ranges.begin(), code.ranges.end(), [&](const Range& r) {
                   return r.extent_node < 0 && mentions(r.extent, induction);
               });
    });
}

/// After as many turns every buffer of the rotation has its name again.
int period_of(const std::map<int, int>& rotation) {
    int period = 1;
    for (const auto& [start, next] : rotation) {
        int length = 1;
        for (int at = next; at != start; at = rotation.at(at)) ++length;
        period = std::lcm(period, length);
    }
    return period;
}

/// The pieces on the buffers that have their names after one more turn.
void rotate(std::vector<Piece>& pieces, const std::map<int, int>& rotation) {
    for (Piece& piece : pieces) {
        rotate(piece.body, rotation);
        if (!piece.kernel) continue;
        for (KernelBuffer& b : piece.kernel->buffers)
            if (const auto to = rotation.find(b.buffer); to != rotation.end())
                b.buffer = to->second;
    }
}

class Sequencer {
  public:
    Sequencer(Program& program, const DeviceProfile& profile, const SymbolFacts& facts,
              const AddSequence& add)
        : program_(program), profile_(profile), facts_(facts), add_(add) {
        count_uses(program.steps, uses_);
        for (const ResultInfo& r : program.results) ++uses_[r.buffer];
    }

    std::vector<Step> run(std::vector<Step> steps) {
        std::vector<Step> out, waiting;
        std::vector<Piece> pieces;
        Needs needs;
        const auto flush = [&] {
            finish(waiting, pieces, needs, out);
            waiting.clear(), pieces.clear(), needs = {};
        };
        for (Step& step : steps) {
            std::optional<Piece> piece = piece_of(step);
            if (!piece) {
                flush();
                if (auto* repeat = std::get_if<RepeatStep>(&step.step))
                    repeat->body = run(std::move(repeat->body));
                out.push_back(std::move(step));
                continue;
            }
            Needs all = needs;
            add_needs(*piece, 1, all);
            if (!pieces.empty() && !fits(all)) {
                flush();
                add_needs(*piece, 1, all = {});
            }
            needs = std::move(all);
            waiting.push_back(std::move(step));
            pieces.push_back(std::move(*piece));
        }
        flush();
        return out;
    }

  private:
    // --- what may be a piece

    std::optional<Piece> piece_of(const Step& step) {
        if (const auto* dispatch = std::get_if<DispatchStep>(&step.step)) {
            if (!dispatch->lowered || dispatch->sizes_binding >= 0) return std::nullopt;
            return kernel_piece(*dispatch->lowered);
        }
        if (const auto* copy = std::get_if<CopyStep>(&step.step))
            return copy_piece({{copy->target, copy->source}});
        return loop_piece(std::get<RepeatStep>(step.step));
    }

    std::optional<Piece> loop_piece(const RepeatStep& repeat) {
        if (repeat.alive >= 0 || !repeat.never_ended.empty()) return std::nullopt;
        Piece out;
        out.is_loop = true;
        out.trips = repeat.trips;
        out.most_trips = std::max<int64_t>(0, repeat.trips.upper_bound(facts_.largest));
        out.induction = repeat.induction;
        if (out.most_trips > kMostTurns) return std::nullopt;
        for (const Step& step : repeat.body) {
            std::optional<Piece> piece = piece_of(step);
            if (!piece) return std::nullopt;
            out.body.push_back(std::move(*piece));
        }
        std::set<int> live, stored;
        find_live(out.body, live, stored);
        std::map<int, int> inside;
        count_uses(repeat.body, inside);
        if (!can_loop(out.body, out.induction, program_)) return std::nullopt;
        // What is new in every turn needs no value from the turn before.
        std::vector<std::pair<int, int>> moved;
        for (const auto& [first, second] : repeat.rotation)
            if (live.contains(first) || uses_[first] > inside[first])
                moved.emplace_back(first, second);
        if (moved.empty()) return out;
        std::optional<Piece> copies = copy_piece(moved);
        if (!copies) return std::nullopt;
        if (is_worth_writing_out(repeat, out, moved)) return written_out(repeat, out, *copies);
        out.body.push_back(std::move(*copies));
        return out;
    }

    bool is_worth_writing_out(const RepeatStep& repeat, const Piece& loop,
                              const std::vector<std::pair<int, int>>& moved) const {
        const int period = period_of({repeat.rotation.begin(), repeat.rotation.end()});
        const bool plain = std::all_of(
            repeat.body.begin(), repeat.body.end(),
            [](const Step& step) { return std::holds_alternative<DispatchStep>(step.step); });
        const Size& elements = program_.buffers[static_cast<size_t>(moved[0].first)].elements;
        return plain && elements.upper_bound(facts_.largest) >= kWorthNames &&
               period <= kMostPeriod && period <= loop.most_trips;
    }

    /// As many turns as it takes until all buffers have their names again, each on those that have
    /// them then; what turns are left copy.
    static Piece written_out(const RepeatStep& repeat, const Piece& loop, const Piece& copies) {
        const std::map<int, int> rotation(repeat.rotation.begin(), repeat.rotation.end());
        const Size period(period_of(rotation)), trips = max(loop.trips, Size(0)),
                                                left = mod(trips, period),
                                                index = Size::symbol(loop.induction);
        Piece turn = loop;
        turn.is_loop = false;
        Piece whole = loop, rest = loop, out;
        whole.trips = floor_div(trips, period), whole.most_trips /= period.constant();
        whole.body.clear();
        for (int64_t k = 0; k < period.constant(); ++k) {
            turn.turn = index * period + Size(k);
            whole.body.push_back(turn);
            rotate(turn.body, rotation);
        }
        out.body.push_back(std::move(whole));
        if (left.is(0)) return out;
        turn.turn = trips - left + index;
        rest.trips = left, rest.most_trips = period.constant() - 1;
        rest.body = {std::move(turn), copies};
        out.body.push_back(std::move(rest));
        return out;
    }

    /// Each first buffer takes what the second has, all at once.
    std::optional<Piece> copy_piece(const std::vector<std::pair<int, int>>& pairs) {
        const auto info = [&](int buffer) -> const BufferInfo& {
            return program_.buffers[static_cast<size_t>(buffer)];
        };
        const Size elements = info(pairs[0].first).elements;
        KernelCode code;
        code.name = "copy";
        KernelBuilder b(code, facts_);
        Range range;
        range.name = "i";
        range.extent = elements;
        const int at = b.range(b.add_range(range));
        std::vector<int> values;
        for (const auto& [to, from] : pairs) {
            if (!(info(to).elements == elements) || !(info(from).elements == elements) ||
                info(to).dtype != info(from).dtype)
                return std::nullopt;
            values.push_back(b.load(
                b.buffer(from, info(from).dtype, elements, BindingForm::Storage, 1, false), at));
        }
        for (size_t k = 0; k < pairs.size(); ++k) {
            const int to = b.buffer(pairs[k].first, info(pairs[k].first).dtype, elements,
                                    BindingForm::Storage, 1, true);
            const int store = b.store(to, at, std::span(&values[k], 1));
            code.regions[0].effects.push_back(store);
        }
        place(code);
        return kernel_piece(code);
    }

    std::optional<Piece> kernel_piece(const KernelCode& lowered) {
        Piece out;
        out.kernel = map_to_one_group(lowered, profile_, facts_);
        if (!out.kernel) return std::nullopt;
        return out;
    }

    // --- what fits into one kernel

    struct Needs {
        std::set<std::tuple<int, int, int>> texels, storage;  // buffer, type, width
        double operations = 0;                                // simple ones, of the body
        int64_t back_edges = 0;
    };

    void add_needs(const Piece& piece, int64_t turns, Needs& needs) const {
        if (!piece.kernel) {
            if (piece.is_loop) needs.back_edges += turns *= piece.most_trips;
            for (const Piece& inner : piece.body) add_needs(inner, turns, needs);
            return;
        }
        for (const KernelBuffer& b : piece.kernel->buffers)
            if (b.form != BindingForm::Address)
                (b.form == BindingForm::Texel ? needs.texels : needs.storage)
                    .emplace(b.buffer, static_cast<int>(b.dtype.type), b.width);
        for (const KernelNode& n : piece.kernel->nodes) needs.operations += operations_of(n);
        needs.back_edges += turns * piece.kernel->back_edges;
    }

    bool fits(const Needs& needs) const {
        const int64_t edges = profile_.max_back_edges
                                  ? std::min<int64_t>(profile_.max_back_edges, kMostBackEdges)
                                  : kMostBackEdges;
        return needs.texels.size() <= profile_.max_texel_buffers &&
               needs.storage.size() <= profile_.max_storage_buffers &&
               needs.operations <= profile_.max_body_operations && needs.back_edges <= edges;
    }

    // --- the kernel

    void finish(std::vector<Step>& waiting, const std::vector<Piece>& pieces, const Needs& needs,
                std::vector<Step>& out) {
        const bool several = pieces.size() > 1 || (pieces.size() == 1 && !pieces[0].kernel);
        if (!several || !fits(needs)) {
            for (Step& step : waiting) {
                if (auto* repeat = std::get_if<RepeatStep>(&step.step))
                    repeat->body = run(std::move(repeat->body));
                out.push_back(std::move(step));
            }
            return;
        }
        InSequence sequence(one_group_size(profile_), program_);
        add_pieces(pieces, sequence);
        std::vector<std::string> lines;
        Work work;
        describe(waiting, Size(1), lines, work);
        out.push_back(add_(sequence.finish(), lines, work));
    }

    void add_pieces(const std::vector<Piece>& pieces, InSequence& sequence) const {
        for (const Piece& piece : pieces) {
            if (piece.kernel) {
                sequence.add(*piece.kernel);
                continue;
            }
            if (piece.is_loop) sequence.open_loop(piece.trips, piece.most_trips, piece.induction);
            if (piece.turn) sequence.set_turn(piece.induction, *piece.turn);
            add_pieces(piece.body, sequence);
            if (piece.turn) sequence.forget_turn(piece.induction);
            if (piece.is_loop) sequence.close_loop();
        }
    }

    void describe(const std::vector<Step>& steps, const Size& turns,
                  std::vector<std::string>& lines, Work& work) const {
        for (const Step& step : steps) {
            if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
                Work all;
                const Size trips = max(repeat->trips, Size(0));
                describe(repeat->body, turns * trips, lines, all);
                // Where turns differ, as the last.
                for (auto [sum, more] : {std::pair{&work.operations, &all.operations},
                                         {&work.bytes_read, &all.bytes_read},
                                         {&work.bytes_written, &all.bytes_written}})
                    *sum += more->substitute({{repeat->induction, trips}});
            }
            const auto* dispatch = std::get_if<DispatchStep>(&step.step);
            if (!dispatch) continue;
            work.operations += turns * dispatch->work.operations;
            work.bytes_read += turns * dispatch->work.bytes_read;
            work.bytes_written += turns * dispatch->work.bytes_written;
            for (const std::string& line :
                 program_.kernels[static_cast<size_t>(dispatch->kernel)].lines)
                if (std::find(lines.begin(), lines.end(), line) == lines.end())
                    lines.push_back(line);
        }
    }

    static void count_uses(const std::vector<Step>& steps, std::map<int, int>& uses) {
        for (const Step& step : steps) {
            if (const auto* dispatch = std::get_if<DispatchStep>(&step.step))
                for (int b : dispatch->buffers) ++uses[b];
            if (const auto* copy = std::get_if<CopyStep>(&step.step))
                ++uses[copy->source], ++uses[copy->target];
            if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
                count_uses(repeat->body, uses);
        }
    }

    Program& program_;
    std::map<int, int> uses_;  // by buffer: bindings and copies in the program, and results
    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    const AddSequence& add_;
};

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
    program.steps = Sequencer(program, profile, facts, add).run(std::move(program.steps));
    drop_unused_kernels(program);
}

}  // namespace firn
