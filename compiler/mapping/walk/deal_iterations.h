// The iterations of a loop, as a mapped kernel takes them: several at once, dealt to lanes, nests
// of loops as one.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_builder.h"

namespace firn {

/// Deals the iterations of a loop to lanes: a lane takes `unrolled` of them at once, in runs of
/// `vector` neighbours; the next lane's runs follow.
struct Deal {
    int64_t lanes = 1, unrolled = 1, vector = 1;
    /// Returns the distance from the first old index of a new iteration to that of its unrolled
    /// copy `copy`.
    int64_t at(int64_t copy) const { return copy / vector * lanes * vector + copy % vector; }
};

/// Consecutive iterations of an old loop that run as one new loop.
struct Part {
    Deal deal;
    NodeId trips;            // the new loop's trip count
    Size extent = Size(0);   // the same, where it is a size
    NodeId start;            // the first old iteration
    int64_t max_trips = -1;  // the most new iterations; -1: as the old loop says
    bool rest = false;       // the remainder; if it may be empty, `start` is none
};

/// A loop of which `unrolled` iterations are wanted at once, or fewer where it has not as many.
/// `lanes`: that they are dealt to, in blocks of four neighbours each if `blocks`; `aligned`: rows
/// begin at multiples of four.
Deal deal_iterations(const KernelBuilder& b, const Range& range, NodeId extent, int64_t unrolled,
                     int64_t lanes, bool blocks, bool aligned);
/// Returns the full iterations of the deal, then the remainder in smaller parts, at last one
/// iteration for each lane. `lane`: its number, if there are several.
std::vector<Part> parts_of(KernelBuilder& b, const Range& range, NodeId extent, const Deal& deal,
                           NodeId lane);
/// The range of a new loop that takes a part of an old one's.
Range range_of_part(const KernelBuilder& b, const Range& old, const Part& part);
/// The first old index of iteration `iteration` of a part that begins at `start`. `extent`: of the
/// old loop, 0: not known.
NodeId first_index(KernelBuilder& b, NodeId iteration, NodeId start, const Deal& deal,
                   const Size& extent, NodeId lane);

/// Loops around one another that run as one: each has a carried value that counts its iterations.
class JoinedLoops {
  public:
    /// The next loop, outermost first. `extent`: its trip count, where it is a size.
    void add(NodeId trips, const Size& extent, int64_t max_trips) {
        levels_.push_back({trips, extent, max_trips, {}});
    }
    bool empty() const { return levels_.empty(); }
    /// Makes `range` count the iterations of all loops together.
    void count(KernelBuilder& b, Range& range) const;
    /// Adds the counters to a body's carried values, which begin at 0.
    void open(KernelBuilder& b, RegionId region);
    /// The index of a loop, after open().
    NodeId index(size_t level) const { return levels_[level].index; }
    NodeId innermost() const { return levels_.back().index; }
    size_t size() const { return levels_.size(); }
    /// The counters' next values: the innermost counts on; at its end it begins again, and the next
    /// one does.
    std::vector<NodeId> next(KernelBuilder& b) const;

  private:
    struct Level {
        NodeId trips;
        Size extent = Size(0);
        int64_t max_trips = -1;
        NodeId index;
    };
    std::vector<Level> levels_;
};

}  // namespace firn
