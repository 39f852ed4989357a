// Counts what the kernel of pieces that one group runs in order needs.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "compiler/mapping/sequence_pieces.h"

namespace firn {

/// Loop back edges that one group takes.
int64_t most_back_edges(const DeviceProfile& profile);

/// Buffers that lie in the memory of the group.
struct OwnMemory {
    std::set<int> buffers;
    /// Those of `buffers` that other steps see too: stored to in loops, copied before and behind
    /// all. No other step sees the others.
    std::vector<int> copied;
};

/// Grows by steps that follow one another.
class SequenceNeeds {
  public:
    explicit SequenceNeeds(const SequenceContext& context) : context_(context) {}
    /// `piece` is the part of the sequence for `step`.
    void add(const ListedStep& step, const SequencePiece& piece);
    void add(const ListedLoop& loop, const SequencePiece& piece);

    /// The device takes them as one kernel.
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
    using Binding = std::tuple<int, bool, int, int>;  // buffer, a texel buffer, type, width
    void add(const SequencePiece& piece);
    bool binds_without(const std::set<int>& own) const;
    bool may_be_own(int buffer) const;
    bool is_seen(int buffer) const;
    /// Adds buffers of `buffers`, the smallest first, until they fill the memory (`bytes`) or
    /// `enough` returns true.
    template <class Enough>
    void add_smallest(std::vector<int> buffers, int64_t& bytes, std::set<int>& own,
                      const Enough& enough) const;
    std::set<int> unseen_buffers(int64_t& bytes) const;

    const SequenceContext& context_;
    std::set<Binding> bound_;
    std::map<int, std::set<int>> types_;  // by buffer, addressed ones too
    std::map<int, int> uses_;
    std::set<int> live_, stored_;  // see find_live
    double operations_ = 0;        // simple ones
    bool repeats_ = false;         // there is a loop
    int64_t back_edges_ = 0;
};

}  // namespace firn
