// What pieces that one group runs in order need of its kernel.
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

/// Grows by steps that follow one another.
class SequenceNeeds {
  public:
    explicit SequenceNeeds(const SequenceContext& context) : context_(context) {}
    /// `piece` is what `step` is in a sequence.
    void add(const ListedStep& step, const SequencePiece& piece);
    void add(const ListedLoop& loop, const SequencePiece& piece);

    /// The device takes them as one kernel.
    bool fits() const;
    /// More steps may fit, though these alone do not: what is used by them alone needs no binding.
    bool may_grow() const;
    int64_t back_edges() const { return back_edges_; }
    /// Buffers that no other step sees, in the memory of the group: the smallest first, as many as
    /// there is room for; where such memory is slower, as many as leave bindings that fit. Groups
    /// for bands have none.
    std::set<int> own_buffers() const;

  private:
    using Binding = std::tuple<int, bool, int, int>;  // buffer, a texel buffer, type, width
    void add(const SequencePiece& piece);
    bool binds_without(const std::set<int>& own) const;
    bool may_be_own(int buffer) const;

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
