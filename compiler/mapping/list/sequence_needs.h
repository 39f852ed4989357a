// Counts what the kernel of pieces that one group runs in order needs.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "compiler/kernel/bindings.h"
#include "compiler/mapping/list/sequence_pieces.h"

namespace firn {

/// Returns the loop back edges that one group takes.
int64_t most_back_edges(const DeviceProfile& profile);

/// Buffers that lie in the memory of the group.
struct OwnMemory {
    std::set<int> buffers;
    /// The `buffers` that other steps see too: they are stored to in loops, and copied before and
    /// after all pieces. No other step sees the others.
    std::vector<int> copied;
};

/// Grows by steps that follow one another.
class SequenceNeeds {
  public:
    explicit SequenceNeeds(const SequenceContext& context) : context_(context) {}
    /// `piece` is the part of the sequence for `step`.
    void add(const ListedStep& step, const SequencePiece& piece);
    void add(const ListedLoop& loop, const SequencePiece& piece);

    /// Returns whether the device can run them as one kernel.
    bool fits() const;
    /// Returns whether more steps may fit although these alone do not: a buffer that only these
    /// steps use needs no binding.
    bool may_grow() const;
    int64_t back_edges() const { return back_edges_; }
    /// Returns the buffers for the group's memory, the smallest first: as many as there is room
    /// for; if such memory is slower, only as many as leave bindings that fit. Groups for bands
    /// have none.
    OwnMemory own_memory() const;

  private:
    using Binding = std::tuple<int, BindingForm, int, int>;  // buffer, form, type, width
    /// Buffers in the group's memory, and what is left to bind beside them.
    struct Own {
        std::set<int> buffers;
        int64_t bytes = 0;
        BindingCount left;
    };
    void add(const SequencePiece& piece);
    bool may_bind(const BindingCount& bound) const { return bound.fits(context_.profile); }
    bool may_be_own(int buffer) const;
    bool is_seen(int buffer) const;
    /// Adds buffers of `buffers`, the smallest first, until they fill the memory; if `no_more` than
    /// needed, until the others may be bound.
    void add_smallest(const std::vector<int>& buffers, bool no_more, Own& own) const;
    Own unseen_buffers() const;

    const SequenceContext& context_;
    std::set<Binding> bound_;
    std::map<int, BindingCount> bound_by_buffer_;
    BindingCount all_bound_;
    std::map<int, std::set<int>> types_;  // by buffer, addressed ones too
    std::map<int, int> uses_;
    std::set<int> live_, stored_;  // see find_live
    double operations_ = 0;        // simple ones
    bool repeats_ = false;         // whether there is a loop
    int64_t back_edges_ = 0;
};

}  // namespace firn
