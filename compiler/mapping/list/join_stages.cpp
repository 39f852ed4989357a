// Several stages of butterflies as one kernel.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <variant>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/list/band_sums.h"
#include "compiler/mapping/list/radix_stages.h"

namespace firn {
namespace {

class BandWriter {
  public:
    BandWriter(const RadixStages& stages, int count, const Size& first, BandDistance distance,
               const SymbolFacts& facts)
        : from_(*stages.code),
          stages_(stages),
          count_(count),
          elements_(int64_t(1) << count),
          points_(elements_ / stages.per_point),
          copies_(distance == BandDistance::Blocks ? kBandsInBlock : 1),
          distance_(distance),
          b_(out_, facts),
          exponent_(least_exponent(stages, count, first)),
          algebra_(b_, points_, stages.axes[stages.axis].extent) {
        out_.name = from_.name;
        const SizeMap at_first{{stages.induction, first}};
        for (const ParamInfo& p : from_.params) first_.push_back(p.size.substitute(at_first));
        const SizeMap next{{stages.induction, Size::symbol(stages.induction) + Size(1)}};
        for (const ParamInfo& p : from_.params) grows_.push_back(p.size.substitute(next) - p.size);
    }

    std::optional<JoinedStages> run() {
        if (points_ < 1) return std::nullopt;
        open_grid();
        for (int copy = 0; copy < copies_ && !refused_; ++copy) run_band(copy);
        if (refused_) return std::nullopt;
        std::vector<NodeId> stores;
        for (auto& [to, bands] : stored_)
            for (int64_t slot = 0; slot < elements_; ++slot)
                for (int copy = 0; copy < copies_; ++copy)
                    stores.push_back(store(to, bands[static_cast<size_t>(copy)], slot, copy));
        if (refused_) return std::nullopt;
        out_[kRoot].effects = std::move(stores);
        place(out_);
        return JoinedStages{std::move(out_), scale_};
    }

  private:
    using Held = std::vector<NodeId>;  // by element: its value, or none yet

    void refuse() { refused_ = true; }
    /// Stands in the place of any node once it has refused.
    static constexpr NodeId kRefused{0};

    // --- the points

    void open_grid() {
        std::map<RangeId, Size> extents;
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            Size& all = extents.emplace(range_of(k), Size(1)).first->second;
            all = all * extent_of(k);
        }
        std::map<RangeId, NodeId> ranges;
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            if (!ranges.contains(range_of(k))) {
                Range range;
                range.name =
                    std::string(1, static_cast<char>('x' + (extents.size() - 1 - ranges.size())));
                range.extent = extents.at(range_of(k));
                ranges[range_of(k)] = b_.range(b_.add_range(range));
            }
            point_.push_back(ranges.at(range_of(k)));
        }
        // The last dimension in a range is the fastest.
        for (size_t k = stages_.axes.size(); k-- > 0;) {
            NodeId& rest = ranges.at(range_of(k));
            const NodeId extent = b_.size(extent_of(k));
            const bool first = k == 0 || range_of(k - 1) != range_of(k);
            point_[k] = first ? rest : b_.make(KernelOp::Mod, i32, {rest, extent});
            if (!first) rest = b_.make(KernelOp::Div, i32, {rest, extent});
        }
        const NodeId at = point_[stages_.axis];
        if (distance_ == BandDistance::One) {
            high_ = at, high_far_ = at;
            far_ = b_.integer(1), low_ = shift_ = b_.integer(0);
            return;
        }
        const Size most = extent_of(stages_.axis) - Size(1);
        shift_ =
            b_.size(exponent_ - Size(copies_ == 1 ? 0 : std::countr_zero(unsigned(kBandsInBlock))));
        b_.assume(shift_, Size(0), Size(30));
        far_ = b_.make(KernelOp::ShiftLeft, i32, {b_.integer(1), shift_});
        high_ = b_.make(KernelOp::ShiftRight, i32, {at, shift_});
        b_.assume(high_, Size(0), most);
        low_ = b_.make(KernelOp::And, i32, {at, b_.sub(far_, b_.integer(1))});
        b_.assume(low_, Size(0), most);
        high_far_ = b_.make(KernelOp::ShiftLeft, i32, {high_, shift_});
        b_.assume(high_far_, Size(0), most);
    }

    /// The range of the grid, or of groups, in which the axis lies.
    RangeId range_of(size_t axis) const {
        const PointAxis& own = stages_.axes[axis];
        return own.grid ? own.grid : own.group;
    }
    /// Returns the extent of the axis in the kernel that is made.
    Size extent_of(size_t axis) const {
        const Size& extent = stages_.axes[axis].extent;
        return axis == stages_.axis ? floor_div(extent, Size(points_ * copies_)) : extent;
    }

    /// Runs the iterations on one band. The band's elements are kept by the buffer they are stored
    /// to.
    void run_band(int copy) {
        copy_ = copy;
        held_.clear();
        for (stage_ = 0; stage_ < count_ && !refused_; ++stage_) {
            made_.clear();
            for (const auto& [from, to] : stages_.next) made_[to].assign(size_t(elements_), {});
            for (place_ = 0; place_ < points_ && !refused_; ++place_) {
                nodes_.assign(from_.nodes.size(), {});
                sums_.assign(from_.nodes.size(), std::nullopt);
                run_effects(kRoot);
            }
            for (const auto& [from, to] : stages_.next) {
                held_[from] = made_[to];
                if (std::find(made_[to].begin(), made_[to].end(), NodeId()) != made_[to].end())
                    refuse();
            }
        }
        for (const auto& [from, to] : stages_.next) stored_[to].push_back(held_[from]);
    }

    void run_effects(RegionId region) {
        for (NodeId id : from_[region].effects) {
            const KernelNode& n = from_[id];
            if (n.op == KernelOp::Branch) {
                if (const RegionId side = side_of(n)) run_effects(side);
            } else if (n.op == KernelOp::Store && width(n) == 1) {
                const int bound = n.as<AccessAttr>().buffer;
                const int buffer = from_.buffers[static_cast<size_t>(bound)].buffer;
                const int slot = slot_of(sum(n.args[0]));
                const NodeId made = node(n.args[1]);
                if (refused_) return;
                buffer_of_[buffer] = bound;
                NodeId& place = made_.at(buffer)[static_cast<size_t>(slot)];
                if (place || b_.node(made).dtype != out_type(n)) return refuse();
                place = made;
            } else {
                return refuse();
            }
        }
    }

    DType out_type(const KernelNode& access) const {
        return from_.buffers[static_cast<size_t>(access.as<AccessAttr>().buffer)].dtype;
    }

    /// The region that a branch takes; none: that has no region, or is not known, which refuses.
    RegionId side_of(const KernelNode& branch) {
        const KernelNode& condition = b_.node(node(branch.args[0]));
        if (condition.op != KernelOp::Constant) {
            refuse();
            return {};
        }
        const auto& sides = branch.as<BodyAttr>();
        return condition.as<Scalar>().i ? sides.region : sides.else_region;
    }

    NodeId store(int buffer, const Held& band, int64_t slot, int copy) {
        copy_ = copy;
        const int bound = bind(buffer_of_.at(buffer), true);
        const NodeId index = element(slot, bound);
        const NodeId value = band[static_cast<size_t>(slot)];
        return b_.store(bound, index, std::span(&value, 1));
    }

    int bind(int buffer, bool written) {
        const KernelBuffer& b = from_.buffers[static_cast<size_t>(buffer)];
        return b_.buffer(b.buffer, b.dtype, b.elements, b.form, b.width, written);
    }

    /// The index of an element of the band.
    NodeId element(int64_t slot, int bound) {
        BandSum index = plus(*rest_, atom(kHighFar, scale_ * elements_), 1);
        index = plus(index, atom(kFar, scale_ * slot), 1);
        index = plus(index, atom(kLow, scale_), 1);
        const NodeId made = node_of(index);
        if (!refused_)
            b_.assume(made, Size(0), out_.buffers[static_cast<size_t>(bound)].elements - Size(1));
        return made;
    }

    /// Returns which element of the band an access is to. All accesses must have the same scale and
    /// the same rest, to which every other axis contributes; then no band contains another point's
    /// elements.
    int slot_of(const BandSum& index) {
        const int64_t scale = coefficient_of(index, kLow), far = coefficient_of(index, kFar);
        BandSum rest = index;
        std::erase_if(rest.terms, [](const auto& term) {
            const auto* part = std::get_if<BandPart>(&term.first);
            return part && (*part == kHighFar || *part == kFar || *part == kLow);
        });
        if (refused_ || scale < 1 || coefficient_of(index, kHighFar) != scale * elements_ ||
            far % scale != 0 || far < 0 || far / scale >= elements_ ||
            std::any_of(rest.terms.begin(), rest.terms.end(),
                        [](const auto& term) { return !std::get_if<NodeId>(&term.first); })) {
            refuse();
            return 0;
        }
        for (size_t k = 0; k < point_.size() && !rest_; ++k)
            if (k != stages_.axis && coefficient_of(rest, point_[k]) == 0) refuse();
        if (!rest_) rest_ = rest, scale_ = scale;
        if (scale != scale_ || rest.terms != rest_->terms || rest.offset != rest_->offset) refuse();
        return static_cast<int>(far / scale);
    }

    // --- values

    /// The node of the kernel that is made.
    NodeId node(NodeId id) {
        if (nodes_[id]) return nodes_[id];
        if (refused_) return kRefused;
        const KernelNode& n = from_[id];
        const NodeId now = n.dtype == i32 && n.op != KernelOp::Load && n.op != KernelOp::Result
                               ? node_of(sum(id))
                               : value(n);
        return nodes_[id] = now;
    }

    NodeId value(const KernelNode& n) {
        b_.set_lines(n.lines);
        switch (n.op) {
            case KernelOp::Constant: return b_.constant(n.as<Scalar>());
            case KernelOp::Param: {
                const ParamInfo& p = from_.params[static_cast<size_t>(n.as<ParamAttr>().param)];
                return b_.scalar_argument(p.scalar, p.dtype);
            }
            case KernelOp::Load: return load(n);
            case KernelOp::Result: {
                const KernelNode& owner = from_[n.args[0]];
                if (owner.op != KernelOp::Branch) break;
                const RegionId side = side_of(owner);
                if (refused_ || !side) break;
                return node(from_[side].yields[static_cast<size_t>(n.as<PositionAttr>().position)]);
            }
            default:
                if (is_elementwise(n.op)) return elementwise(n);
        }
        refuse();
        return kRefused;
    }

    NodeId elementwise(const KernelNode& n) {
        const bool compares = n.op == KernelOp::Less || n.op == KernelOp::LessEqual ||
                              n.op == KernelOp::Equal || n.op == KernelOp::NotEqual;
        if (compares && from_[n.args[0]].dtype == i32)
            if (const auto known = algebra_.compared(n.op, sum(n.args[0]), sum(n.args[1])))
                return b_.boolean_value(*known);
        std::vector<NodeId> args;
        for (NodeId arg : n.args) args.push_back(node(arg));
        if (refused_) return kRefused;
        b_.set_lines(n.lines);
        const NodeId made = b_.make(n.op, n.dtype, std::move(args));
        if (n.dtype == i32 && n.interval != kAnyI32)
            b_.assume(made, Size(n.interval.lo), Size(n.interval.hi));
        return made;
    }

    NodeId load(const KernelNode& n) {
        const auto& access = n.as<AccessAttr>();
        const int buffer = from_.buffers[static_cast<size_t>(access.buffer)].buffer;
        if (access.width != 1 || n.pinned) refuse();
        if (!stages_.next.contains(buffer)) {
            const NodeId index = node(n.args[0]);
            return refused_ ? kRefused : b_.load(bind(access.buffer, false), index);
        }
        const int slot = slot_of(sum(n.args[0]));
        if (refused_ || n.dtype != out_type(n)) {
            refuse();
            return kRefused;
        }
        Held& band = held_[buffer];
        band.resize(size_t(elements_));
        NodeId& known = band[static_cast<size_t>(slot)];
        if (known) return known;
        const int bound = bind(access.buffer, false);
        const NodeId index = element(slot, bound);
        return refused_ ? kRefused : known = b_.load(bound, index);
    }

    // --- integers

    const BandSum& sum(NodeId id) {
        auto& known = sums_[id];
        if (!known) {
            BandSum made = find_sum(from_[id]);
            settle(made);
            known = std::move(made);
        }
        return *known;
    }

    BandSum of_node(NodeId made) const {
        const auto* constant = b_.node(made).get_if<Scalar>();
        return constant ? number(constant->i) : atom(made);
    }

    BandSum find_sum(const KernelNode& n) {
        if (refused_) return {};
        switch (n.op) {
            case KernelOp::Constant: return number(n.as<Scalar>().i);
            case KernelOp::Param: return parameter(n.as<ParamAttr>().param);
            case KernelOp::Range: return index_of(n.as<RangeId>());
            case KernelOp::Load:
            case KernelOp::Result: return of_node(value(n));
            default: break;
        }
        if (n.dtype == i32 && n.args.size() == 2 && from_[n.args[0]].dtype == i32)
            if (auto known = algebra_.combined(n.op, sum(n.args[0]), sum(n.args[1]))) return *known;
        return of_node(value(n));
    }

    BandSum parameter(int param) {
        const auto p = static_cast<size_t>(param);
        const ParamInfo& info = from_.params[p];
        if (info.scalar >= 0) return of_node(b_.scalar_argument(info.scalar, info.dtype));
        if (!grows_[p].is_constant()) {
            refuse();
            return {};
        }
        return plus(of_node(b_.size(first_[p])), number(grows_[p].constant() * stage_), 1);
    }

    BandSum index_of(RangeId range) {
        BandSum dimensions;
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            const PointAxis& axis = stages_.axes[k];
            if (axis.grid == range) dimensions = plus(dimensions, point_sum(k), axis.stride);
            if (axis.group == range) return atom(GroupAlong{k});
            if (axis.lane == range) return atom(LaneAlong{k});
        }
        if (is_number(dimensions)) refuse();
        return dimensions;
    }

    /// The index of the point along an axis.
    BandSum point_sum(size_t k) const {
        if (k != stages_.axis) return atom(point_[k]);
        BandSum out = plus(atom(kHighFar, points_), atom(kFar, place_), 1);
        return plus(out, atom(kLow), 1);
    }

    /// Indices of points from those of groups and of their invocations, exponents from sizes.
    void settle(BandSum& s) {
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            const BandAtom group = GroupAlong{k}, lane = LaneAlong{k};
            const int64_t times = coefficient_of(s, group), size = stages_.axes[k].group_size;
            if (times == 0 || times % size != 0) continue;
            s = plus(s, atom(group), -times);
            s = plus(s, point_sum(k), times / size);
            s = plus(s, atom(lane), -times / size);
        }
        if (const auto size = is_number(s) ? std::nullopt : algebra_.size_of(s)) {
            const Size above = *size - exponent_;
            if (above.is_constant()) s = plus(atom(kExponent), number(above.constant()), 1);
        }
        // Products of two are numbers of 64 bits.
        const auto is_large = [](int64_t x) { return std::abs(x) > INT32_MAX; };
        for (const auto& [part, times] : s.terms)
            if (is_large(times)) refuse();
        if (is_large(s.offset)) refuse();
    }

    NodeId node_of(const BandSum& s) {
        if (refused_) return kRefused;
        NodeId made = b_.integer(s.offset);
        for (const auto& [part, times] : s.terms) {
            const NodeId node = atom_node(part);
            if (refused_) return kRefused;
            made = b_.add(made, b_.mul(node, b_.integer(times)));
        }
        return made;
    }

    NodeId atom_node(const BandAtom& of) {
        if (const auto* made = std::get_if<NodeId>(&of)) return *made;
        const auto blocks = [&](NodeId made) { return b_.mul(made, b_.integer(copies_)); };
        if (const auto* part = std::get_if<BandPart>(&of)) {
            switch (*part) {
                case kHighFar: return blocks(high_far_);
                case kFar: return blocks(far_);
                case kLow: return b_.add(blocks(low_), b_.integer(copy_));
                case kHigh: return high_;
                case kExponent: return b_.size(exponent_);
            }
        }
        refuse();
        return kRefused;
    }

    const KernelCode& from_;
    const RadixStages& stages_;
    const int count_;
    const int64_t elements_, points_;  // of a band
    const int copies_;
    const BandDistance distance_;
    KernelCode out_;
    KernelBuilder b_;
    const Size exponent_;
    const BandAlgebra algebra_;
    std::vector<Size> first_, grows_;  // by parameter: its value in the first iteration, and step
    std::vector<NodeId> point_;        // by axis: the index of the grid
    NodeId high_, far_, low_, high_far_, shift_;
    bool refused_ = false;
    // The copy, stage and kernel nodes that are being run.
    int copy_ = 0, stage_ = 0;
    int64_t place_ = 0;
    ByNode<NodeId> nodes_;
    ByNode<std::optional<BandSum>> sums_;
    // The bands: `held_` before the iteration, by the buffer read; `made_` after it, by the buffer
    // written.
    std::map<int, Held> held_, made_;
    std::map<int, std::vector<Held>> stored_;
    std::map<int, int> buffer_of_;
    std::optional<BandSum> rest_;
    int64_t scale_ = 0;
};

}  // namespace

std::optional<JoinedStages> join_stages(const RadixStages& stages, int count, const Size& first,
                                        BandDistance distance, const SymbolFacts& facts) {
    return BandWriter(stages, count, first, distance, facts).run();
}

}  // namespace firn
