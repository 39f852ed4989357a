// Small kernels that do not need each other run in one dispatch.
#include "compiler/mapping/list/side_by_side.h"

#include <algorithm>
#include <set>

#include "compiler/kernel/bindings.h"
#include "compiler/kernel/count.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The only range of the grid, or none.
RangeId grid_range(const KernelCode& code) {
    RangeId found;
    for (RangeId range : code.ranges.ids()) {
        if (code[range].kind != RangeKind::Grid) continue;
        if (found) return {};
        found = range;
    }
    return found;
}

int64_t indices_of(const KernelCode& code) { return code[grid_range(code)].extent.constant(); }

/// Operations, loads and stores of one index.
double work_of(KernelCode code, const DeviceProfile& profile) {
    place(code);
    const Work work = count_work(code);
    double loads = 0, stores = 0;
    for (NodeId id : code[kRoot].order) loads += code[id].op == KernelOp::Load;
    for (NodeId id : code[kRoot].effects) stores += code[id].op == KernelOp::Store;
    return static_cast<double>(work.operations.constant()) /
               static_cast<double>(std::max<int64_t>(1, indices_of(code))) +
           loads * profile.seconds_per_load * profile.operations_per_second +
           stores * rules_of(profile).store_in_runs;
}

/// The distribution of a part's indices to invocations, in whole subgroups.
struct Runs {
    int64_t count = 0, invocations = 0, length = 0;
};
Runs runs_of(int64_t indices, const DeviceProfile& profile) {
    const int64_t lanes = profile.subgroup_size, fair = (indices + lanes - 1) / lanes;
    // A run of one iteration has no loop, and all invocations would load what lies behind the end.
    const int64_t least = indices % kBlockWidth == 0 ? kBlockWidth : 2 * kBlockWidth;
    const int64_t length = std::clamp<int64_t>((fair + kBlockWidth - 1) / kBlockWidth * kBlockWidth,
                                               least, costs::kLongestRun);
    const int64_t count = (indices + length - 1) / length;
    return {count, (count + lanes - 1) / lanes * lanes, length};
}

}  // namespace

bool is_small_kernel(const KernelCode& code, const DeviceProfile& profile) {
    const RangeId range = grid_range(code);
    if (!range) return false;
    const Size& extent = code[range].extent;
    const int64_t most = rules_of(profile).small_kernel;
    if (!extent.is_constant() || extent.constant() < 1 || extent.constant() > most) return false;
    const bool loops = std::any_of(code.nodes.begin(), code.nodes.end(), [](const KernelNode& n) {
        return n.op == KernelOp::For || n.op == KernelOp::Branch || n.op == KernelOp::Atomic ||
               n.op == KernelOp::RowReduce;
    });
    return !loops;
}

bool independent(const KernelCode& a, const KernelCode& b) {
    for (const KernelBuffer& x : a.buffers)
        for (const KernelBuffer& y : b.buffers)
            if (x.buffer == y.buffer && (x.written || y.written)) return false;
    return true;
}

bool may_stand_beside(const std::vector<KernelCode>& parts, const KernelCode& next,
                      const DeviceProfile& profile, const SymbolFacts& facts) {
    if (parts.empty()) return true;
    const bool in_runs = rules_of(profile).subgroups_run_serially;
    std::set<int> read, written;
    BindingCount bound;
    double units = 0, others = 0, own = 0;
    auto count = [&](const KernelCode& code) {
        // Runs that do not end with a whole block bind their buffers as elements too.
        const bool twice = in_runs && indices_of(code) % kBlockWidth != 0;
        for (const KernelBuffer& b : code.buffers)
            for (int form = 0; form <= static_cast<int>(twice); ++form)
                if ((b.written ? written : read).insert(2 * b.buffer + form).second)
                    bound.add(b, profile, facts);
        if (!in_runs) return;
        const double iteration = kBlockWidth * work_of(code, profile) * (twice ? 2 : 1);
        const auto runs = static_cast<double>(runs_of(indices_of(code), profile).invocations);
        units += runs, others += iteration, own += runs * iteration;
    };
    for (const KernelCode& part : parts) count(part);
    count(next);
    if (!bound.fits(profile)) return false;
    const double extra = (units * others - own) / profile.operations_per_second;
    return !in_runs || extra * costs::kLeastGain <
                           static_cast<double>(parts.size()) * profile.seconds_per_launch;
}

bool is_larger(const KernelCode& code, const std::vector<KernelCode>& parts) {
    int64_t total = 0;
    for (const KernelCode& part : parts) total += indices_of(part);
    return indices_of(code) > total;
}

namespace {

/// Every index belongs to one part: the others are passed by.
class Beside {
  public:
    Beside(const std::vector<KernelCode>& parts, const DeviceProfile& profile,
           const SymbolFacts& facts)
        : parts_(parts), profile_(profile), b_(out_, facts) {
        out_.name = parts[0].name;
    }

    KernelCode run() {
        const bool in_runs = rules_of(profile_).subgroups_run_serially;
        int64_t total = 0;
        for (const KernelCode& part : parts_)
            total += in_runs ? runs_of(indices_of(part), profile_).invocations : indices_of(part);
        Range range;
        range.name = "i";
        range.extent = Size(total);
        index_ = b_.range(b_.add_range(range));
        std::vector<NodeId> effects;
        for (const KernelCode& part : parts_)
            effects.push_back(in_runs ? add_runs(part) : add_indices(part));
        out_[kRoot].effects = std::move(effects);
        return std::move(out_);
    }

  private:
    struct Place {
        NodeId at, inside;  // outside it is the nearest inside
    };
    /// Returns the place of the index among the next `count` ones; they are padded to `all`.
    Place next(int64_t count, int64_t all) {
        const NodeId own = b_.sub(index_, b_.integer(begin_));
        begin_ += all;
        const NodeId at =
            b_.make(KernelOp::Max, i32,
                    {b_.make(KernelOp::Min, i32, {own, b_.integer(count - 1)}), b_.integer(0)});
        return {at, b_.make(KernelOp::Equal, boolean, {own, at})};
    }

    std::vector<NodeId> copy(const KernelCode& part, NodeId at) {
        Rebuild rebuild(part, b_);
        rebuild.bind_grid(grid_range(part), at);
        return rebuild.effects(kRoot);
    }

    /// Outside it reads where it may, and stores nothing.
    NodeId add_indices(const KernelCode& part) {
        const Place place = next(indices_of(part), indices_of(part));
        std::vector<NodeId> effects = copy(part, place.at);
        const RegionId region = b_.add_region();
        out_[region].effects = std::move(effects);
        return b_.branch(place.inside, region, {}, true);
    }

    /// Where subgroups run serially, a branch runs under a mask: if every index computes a run, the
    /// other parts cost it one iteration each.
    NodeId add_runs(const KernelCode& part) {
        const int64_t count = indices_of(part);
        const Runs runs = runs_of(count, profile_);
        const Place place = next(runs.count, runs.invocations);
        // Whole blocks are known to be whole.
        const int64_t unit = count % kBlockWidth == 0 ? kBlockWidth : 1;
        const NodeId begin = b_.mul(place.at, b_.integer(runs.length));
        const NodeId left =
            b_.sub(b_.integer(count / unit), b_.mul(place.at, b_.integer(runs.length / unit)));
        NodeId iterations = b_.make(KernelOp::Min, i32, {left, b_.integer(runs.length / unit)});
        iterations = b_.select(place.inside, iterations, b_.integer(0));
        Range range;
        range.name = "w";
        range.kind = RangeKind::Serial;
        range.extent = Size(0);
        range.extent_node = b_.mul(iterations, b_.integer(unit));
        range.max_trips = runs.length;
        const RangeId range_id = b_.add_range(range);
        const RegionId region = b_.add_region();
        out_[region].range = range_id;
        const NodeId at = b_.add(begin, b_.range(range_id));
        b_.assume(at, Size(0), Size(count - 1));
        std::vector<NodeId> effects = copy(part, at);
        out_[region].effects = std::move(effects);
        return b_.close_for(region, {});
    }

    const std::vector<KernelCode>& parts_;
    const DeviceProfile& profile_;
    KernelCode out_;
    KernelBuilder b_;
    NodeId index_;
    int64_t begin_ = 0;
};

}  // namespace

KernelCode side_by_side(const std::vector<KernelCode>& parts, const DeviceProfile& profile,
                        const SymbolFacts& facts) {
    KernelCode out = Beside(parts, profile, facts).run();
    place(out);
    return out;
}

}  // namespace firn
