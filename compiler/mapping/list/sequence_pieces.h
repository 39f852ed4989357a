// Steps as pieces of a kernel that one group runs in order.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/list/bands.h"
#include "compiler/mapping/list/list_passes.h"
#include "compiler/mapping/list/sequence_cuts.h"

namespace firn {

/// A part of a sequence: a kernel, a loop, or the pieces in `body`.
struct SequencePiece {
    std::optional<KernelCode> kernel;  // mapped to one group
    std::vector<SequencePiece> body;
    bool is_loop = false;  // of `trips` iterations
    Size trips;
    int64_t most_trips = 0;
    double excess = 0;  // seconds that one group takes longer than all cores, by estimate
    std::string induction;
    std::optional<Size> iteration;  // the value of `induction` in the body, if it is no loop
};

/// The context that pieces are made for.
struct SequenceContext {
    const Program& program;
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    std::map<int, int> uses;          // by buffer: of the list (count_uses), and results
    std::optional<Bands> bands = {};  // one group for each runs the pieces, else one all
    uint32_t group = 1;               // its invocations
    KernelPassOptions passes = {};    // of the kernels
};

/// Returns the context for one group, of the first size that it may have.
SequenceContext sequence_context(const KernelList& list, const ListTarget& target);

/// Adds, by buffer, how often `steps` name it: as bindings, in copies and rotations, and as the end
/// of a loop.
void count_uses(std::span<const ListedStep> steps, std::map<int, int>& uses);
void count_uses(const ListedLoop& loop, std::map<int, int>& uses);
/// Adds the buffers whose values from before the pieces are needed: they are loaded before they are
/// stored to. `stored`: the buffers that were stored to before; those of the pieces are added.
void find_live(std::span<const SequencePiece> pieces, std::set<int>& live, std::set<int>& stored);

/// Returns the piece of a step; nothing if one group cannot run it, if a kernel takes more than
/// `launches` launches longer than on all cores, if a loop takes longer than its steps with the
/// launches they need at least, or, with bands, if the step leaves them.
std::optional<SequencePiece> piece_of(const SequenceContext& context, const ListedStep& step,
                                      size_t launches);
/// Returns the cost of the step beside others, with its piece if it has one.
CutStep cut_step(const SequenceContext& context, const std::optional<SequencePiece>& piece);

/// Returns a kernel of the group that stores all elements of the buffer in place.
std::optional<KernelCode> copied_in_place(const SequenceContext& context, int buffer);

/// Iterations of a loop: `trips` from `first` on, `most` at most.
struct IterationSpan {
    Size first, trips;
    int64_t most = 0;
};
/// The same of a part of a loop, which begins and ends with all buffers under their own names.
std::optional<SequencePiece> piece_of(const SequenceContext& context, const ListedLoop& listed,
                                      const IterationSpan& span);

}  // namespace firn
