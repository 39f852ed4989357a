// Several stages of butterflies as one kernel.
#include "compiler/mapping/radix_stages.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <variant>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/grid_dimensions.h"
#include "compiler/program/affine.h"

namespace firn {
namespace {

// --- what a loop may be

bool is_swap(const ListedLoop& loop, std::map<int, int>& next) {
    for (const auto& [first, second] : loop.loop.rotation) next[first] = second;
    return !next.empty() && std::all_of(next.begin(), next.end(), [&](const auto& pair) {
        const auto back = next.find(pair.second);
        return back != next.end() && back->second == pair.first && pair.first != pair.second;
    });
}

bool is_whole_word(DType t) {
    return t == f32 || t == i32 || t == u32 || t == f64 || t == i64 || t == u64;
}

/// Leaves of `next` what is read, with what is written for it; false where the kernel does
/// otherwise.
bool keep_read(const KernelCode& code, std::map<int, int>& next) {
    std::set<int> read, written;
    for (const KernelNode& n : code.nodes) {
        if (n.buffer < 0 || !names_buffer(n.op)) continue;
        const KernelBuffer& b = code.buffers[static_cast<size_t>(n.buffer)];
        if (b.space != MemorySpace::Bound || (n.op != KernelOp::Load && n.op != KernelOp::Store))
            return false;
        (n.op == KernelOp::Store ? written : read).insert(b.buffer);
        if (next.contains(b.buffer) && !is_whole_word(b.dtype)) return false;
    }
    for (int buffer : written)
        if (!next.contains(buffer) || read.contains(buffer)) return false;
    std::erase_if(next, [&](const auto& pair) { return written.contains(pair.first); });
    return std::all_of(next.begin(), next.end(),
                       [&](const auto& pair) { return written.contains(pair.second); });
}

/// Parameters, sizes of ranges and of buffers: only integers follow the induction, and no size.
bool follows_by_numbers(const Program& program, const KernelCode& code,
                        const std::string& induction) {
    const auto fixed = [&](const Size& size) { return !mentions(size, induction); };
    const auto moves = [&](const Size& size) { return !fixed(size); };
    for (const ParamInfo& p : code.params) {
        const int host = p.scalar - static_cast<int>(program.arguments.size());
        if (host >= 0 && any_size(program.host_scalars, host, moves)) return false;
        if (!data_symbols(p.size).empty()) return false;
    }
    return std::all_of(code.ranges.begin(), code.ranges.end(),
                       [&](const Range& r) { return fixed(r.extent); }) &&
           std::all_of(code.buffers.begin(), code.buffers.end(),
                       [&](const KernelBuffer& b) { return fixed(b.elements); }) &&
           std::all_of(code.groups.begin(), code.groups.end(), fixed);
}

/// Where a kernel by hand keeps its points below a size, that is how many there are.
std::optional<Size> guarded(const KernelCode& code, IndexForms& forms, const PointAxis& axis) {
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::Less) continue;
        const auto& point = forms.of(n.args[0]);
        const auto& bound = forms.of(n.args[1]);
        const bool is_point = point.is_sum() && point.sum.offset.is(0) &&
                              point.sum.terms.size() == 2 &&
                              coefficient_of(point.sum, axis.group).is(axis.group_size) &&
                              coefficient_of(point.sum, axis.lane).is(1);
        if (is_point && bound.is_size()) return bound.sum.offset;
    }
    return std::nullopt;
}

/// Adds the dimensions that a range of the grid is known to have.
void add_dimensions(const KernelCode& code, int range, std::vector<PointAxis>& axes) {
    const Size& all = code.ranges[static_cast<size_t>(range)].extent;
    std::vector<int64_t> extents;  // x first
    if (all.is_constant() && range == last_grid_range(code)) extents = dimensions_in(code, range);
    if (extents.size() < 2) return axes.push_back({.grid = range, .extent = all});
    int64_t stride = all.constant();
    for (size_t k = extents.size(); k-- > 0;) {
        stride /= extents[k];
        axes.push_back({.grid = range, .extent = Size(extents[k]), .stride = stride});
    }
}

/// The axes of the kernel's points, the slowest first; none where it has other ranges.
std::vector<PointAxis> axes_of(const KernelCode& code, IndexForms& forms) {
    std::vector<PointAxis> grid, mapped(3);
    for (size_t r = 0; r < code.ranges.size(); ++r) {
        const Range& range = code.ranges[r];
        const int id = static_cast<int>(r);
        PointAxis& axis = mapped[static_cast<size_t>(2 - std::clamp(range.dim, 0, 2))];
        switch (range.kind) {
            case RangeKind::Grid: add_dimensions(code, id, grid); break;
            case RangeKind::Group: axis.group = id, axis.extent = range.extent; break;
            case RangeKind::Invocation:
                if (!range.extent.is_constant()) return {};
                axis.lane = id, axis.group_size = range.extent.constant();
                break;
            default: return {};
        }
    }
    std::erase_if(mapped, [](const PointAxis& axis) { return axis.group < 0 && axis.lane < 0; });
    for (PointAxis& axis : mapped) {
        if (axis.group < 0 || axis.lane < 0) return {};
        const auto guard = guarded(code, forms, axis);
        axis.extent = guard ? *guard : axis.extent * Size(axis.group_size);
    }
    return grid.empty() ? mapped : mapped.empty() ? grid : std::vector<PointAxis>{};
}

/// Exponents of powers of two that grow or fall by 1 with the induction.
std::vector<Size> exponents_of(const KernelCode& code, IndexForms& forms,
                               const std::string& induction) {
    std::vector<Size> out;
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::ShiftLeft || n.dtype != i32) continue;
        const KernelNode& one = code.nodes[static_cast<size_t>(n.args[0])];
        const IndexForm& by = forms.of(n.args[1]);
        if (one.op != KernelOp::Constant || !by.is_size()) continue;
        const Size& exponent = by.sum.offset;
        const Size grows =
            exponent.substitute({{induction, Size::symbol(induction) + Size(1)}}) - exponent;
        if ((grows.is(1) || grows.is(-1)) &&
            std::find(out.begin(), out.end(), exponent) == out.end())
            out.push_back(exponent);
    }
    return out;
}

// --- the kernel

/// What an index of a point is a sum of, beside nodes of the kernel that is made (their numbers).
/// The index along the axis is (points * high + u) * 2^exponent + low, u being the point's place in
/// its band.
enum Atom : int {
    kHighFar = -1,   // high * 2^exponent
    kFar = -2,       // 2^exponent
    kLow = -3,       // low
    kHigh = -4,      // high
    kExponent = -5,  // exponent
    kFirstGroup = -8,
    kFirstLane = -11,  // the number of a group along axis k is kFirstGroup + k
};
using Sum = Affine<int, int64_t, int64_t>;
constexpr int64_t kMostCoefficient = int64_t(1) << 40;  // of numbers of 32 bits

Sum number(int64_t value) { return {{}, value}; }
Sum atom(int id, int64_t times = 1) { return times ? Sum{{{id, times}}, 0} : Sum{}; }
bool is_number(const Sum& s) { return s.terms.empty(); }
bool is_power(int64_t value) { return value > 0 && std::has_single_bit(uint64_t(value)); }

/// A sum of these atoms alone.
bool is_made_of(const Sum& s, std::initializer_list<int> atoms) {
    return std::all_of(s.terms.begin(), s.terms.end(), [&](const auto& term) {
        return std::find(atoms.begin(), atoms.end(), term.first) != atoms.end();
    });
}

/// w of w * 2^exponent, a power of two; 0: it is no such distance.
int64_t distance_of(const Sum& s) {
    if (s.offset != 0 || !is_made_of(s, {kFar})) return 0;
    const int64_t times = coefficient_of(s, kFar);
    return is_power(times) ? times : 0;
}

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
          extent_(stages.axes[stages.axis].extent) {
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
        std::vector<int> stores;
        for (auto& [to, bands] : stored_)
            for (int64_t slot = 0; slot < elements_; ++slot)
                for (int copy = 0; copy < copies_; ++copy)
                    stores.push_back(store(to, bands[static_cast<size_t>(copy)], slot, copy));
        if (refused_) return std::nullopt;
        out_.regions[0].effects = std::move(stores);
        place(out_);
        return JoinedStages{std::move(out_), scale_};
    }

  private:
    using Band = std::vector<int>;  // by element: its value, -1: none yet

    void refuse() { refused_ = true; }

    // --- the points

    void open_grid() {
        std::map<int, Size> extents;  // by range of the grid
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            Size& all = extents.emplace(range_of(k), Size(1)).first->second;
            all = all * extent_of(k);
        }
        std::map<int, int> ranges;
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
        // Of dimensions in one range the last is the fastest.
        for (size_t k = stages_.axes.size(); k-- > 0;) {
            int& rest = ranges.at(range_of(k));
            const int extent = b_.size(extent_of(k));
            const bool first = k == 0 || range_of(k - 1) != range_of(k);
            point_[k] = first ? rest : b_.make(KernelOp::Mod, i32, {rest, extent});
            if (!first) rest = b_.make(KernelOp::Div, i32, {rest, extent});
        }
        const int at = point_[stages_.axis];
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

    /// A number for each range of the grid.
    int range_of(size_t axis) const {
        const int grid = stages_.axes[axis].grid;
        return grid >= 0 ? grid : -1 - static_cast<int>(axis);
    }
    /// Of the axis in the kernel that is made.
    Size extent_of(size_t axis) const {
        const Size& extent = stages_.axes[axis].extent;
        return axis == stages_.axis ? floor_div(extent, Size(points_ * copies_)) : extent;
    }

    /// The iterations on one band, whose elements are kept by the buffer they are stored to.
    void run_band(int copy) {
        copy_ = copy;
        held_.clear();
        for (stage_ = 0; stage_ < count_ && !refused_; ++stage_) {
            made_.clear();
            for (const auto& [from, to] : stages_.next) made_[to].assign(size_t(elements_), -1);
            for (place_ = 0; place_ < points_ && !refused_; ++place_) {
                nodes_.assign(from_.nodes.size(), -1);
                sums_.assign(from_.nodes.size(), std::nullopt);
                run_effects(0);
            }
            for (const auto& [from, to] : stages_.next) {
                held_[from] = made_[to];
                if (std::find(made_[to].begin(), made_[to].end(), -1) != made_[to].end()) refuse();
            }
        }
        for (const auto& [from, to] : stages_.next) stored_[to].push_back(held_[from]);
    }

    void run_effects(int region) {
        for (int id : from_.regions[static_cast<size_t>(region)].effects) {
            const KernelNode& n = from_.nodes[static_cast<size_t>(id)];
            if (n.op == KernelOp::Branch) {
                const int side = side_of(n);
                if (side >= 0) run_effects(side);
            } else if (n.op == KernelOp::Store && n.width == 1) {
                const int buffer = from_.buffers[static_cast<size_t>(n.buffer)].buffer;
                const int slot = slot_of(sum(n.args[0]));
                const int made = node(n.args[1]);
                if (refused_) return;
                buffer_of_[buffer] = n.buffer;
                int& place = made_.at(buffer)[static_cast<size_t>(slot)];
                if (place >= 0 || b_.node(made).dtype != out_type(n)) return refuse();
                place = made;
            } else {
                return refuse();
            }
        }
    }

    DType out_type(const KernelNode& access) const {
        return from_.buffers[static_cast<size_t>(access.buffer)].dtype;
    }

    /// The region that a branch takes; -1: that has no region, or is not known, which refuses.
    int side_of(const KernelNode& branch) {
        const KernelNode& condition = b_.node(node(branch.args[0]));
        if (condition.op != KernelOp::Constant) {
            refuse();
            return -1;
        }
        return condition.constant.i ? branch.region : branch.else_region;
    }

    int store(int buffer, const Band& band, int64_t slot, int copy) {
        copy_ = copy;
        const int bound = bind(buffer_of_.at(buffer), true);
        const int index = element(slot, bound);
        const int value = band[static_cast<size_t>(slot)];
        return b_.store(bound, index, std::span(&value, 1));
    }

    int bind(int buffer, bool written) {
        const KernelBuffer& b = from_.buffers[static_cast<size_t>(buffer)];
        return b_.buffer(b.buffer, b.dtype, b.elements, b.form, b.width, written);
    }

    /// The index of an element of the band.
    int element(int64_t slot, int bound) {
        Sum index = plus(*rest_, atom(kHighFar, scale_ * elements_), 1);
        index = plus(index, atom(kFar, scale_ * slot), 1);
        index = plus(index, atom(kLow, scale_), 1);
        const int made = node_of(index);
        if (!refused_)
            b_.assume(made, Size(0), out_.buffers[static_cast<size_t>(bound)].elements - Size(1));
        return made;
    }

    /// Which element of the band an access is to; all have the same scale, and the same rest, in
    /// which every other axis takes part: so no band is another point's.
    int slot_of(const Sum& index) {
        const int64_t scale = coefficient_of(index, kLow), far = coefficient_of(index, kFar);
        Sum rest = index;
        std::erase_if(rest.terms, [](const auto& term) {
            return term.first == kHighFar || term.first == kFar || term.first == kLow;
        });
        if (refused_ || scale < 1 || coefficient_of(index, kHighFar) != scale * elements_ ||
            far % scale != 0 || far < 0 || far / scale >= elements_ ||
            std::any_of(rest.terms.begin(), rest.terms.end(),
                        [](const auto& term) { return term.first < 0; })) {
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
    int node(int id) {
        int& made = nodes_[static_cast<size_t>(id)];
        if (made >= 0 || refused_) return std::max(made, 0);
        const KernelNode& n = from_.nodes[static_cast<size_t>(id)];
        const int now = n.dtype == i32 && n.op != KernelOp::Load && n.op != KernelOp::Result
                            ? node_of(sum(id))
                            : value(n);
        return nodes_[static_cast<size_t>(id)] = now;
    }

    int value(const KernelNode& n) {
        b_.set_lines(n.lines);
        switch (n.op) {
            case KernelOp::Constant: return b_.constant(n.constant);
            case KernelOp::Param: {
                const ParamInfo& p = from_.params[static_cast<size_t>(n.param)];
                return b_.scalar_argument(p.scalar, p.dtype);
            }
            case KernelOp::Load: return load(n);
            case KernelOp::Result: {
                const KernelNode& owner = from_.nodes[static_cast<size_t>(n.args[0])];
                if (owner.op != KernelOp::Branch) break;
                const int side = side_of(owner);
                if (refused_ || side < 0) break;
                return node(from_.regions[static_cast<size_t>(side)]
                                .yields[static_cast<size_t>(n.position)]);
            }
            default:
                if (is_elementwise(n.op)) return elementwise(n);
        }
        refuse();
        return 0;
    }

    int elementwise(const KernelNode& n) {
        const bool compares = n.op == KernelOp::Less || n.op == KernelOp::LessEqual ||
                              n.op == KernelOp::Equal || n.op == KernelOp::NotEqual;
        if (compares && from_.nodes[static_cast<size_t>(n.args[0])].dtype == i32)
            if (const auto known = compared(n.op, sum(n.args[0]), sum(n.args[1])))
                return b_.boolean_value(*known);
        std::vector<int> args;
        for (int arg : n.args) args.push_back(node(arg));
        if (refused_) return 0;
        b_.set_lines(n.lines);
        const int made = b_.make(n.op, n.dtype, std::move(args));
        if (n.dtype == i32 && n.interval != kAnyI32)
            b_.assume(made, Size(n.interval.lo), Size(n.interval.hi));
        return made;
    }

    int load(const KernelNode& n) {
        const int buffer = from_.buffers[static_cast<size_t>(n.buffer)].buffer;
        if (n.width != 1 || n.pinned) refuse();
        if (!stages_.next.contains(buffer)) {
            const int index = node(n.args[0]);
            return refused_ ? 0 : b_.load(bind(n.buffer, false), index);
        }
        const int slot = slot_of(sum(n.args[0]));
        if (refused_ || n.dtype != out_type(n)) {
            refuse();
            return 0;
        }
        Band& band = held_[buffer];
        band.resize(size_t(elements_), -1);
        int& known = band[static_cast<size_t>(slot)];
        if (known >= 0) return known;
        const int bound = bind(n.buffer, false);
        const int index = element(slot, bound);
        return refused_ ? 0 : known = b_.load(bound, index);
    }

    // --- integers

    const Sum& sum(int id) {
        auto& known = sums_[static_cast<size_t>(id)];
        if (!known) {
            Sum made = find_sum(from_.nodes[static_cast<size_t>(id)]);
            settle(made);
            sums_[static_cast<size_t>(id)] = std::move(made);
        }
        return *sums_[static_cast<size_t>(id)];
    }

    Sum of_node(int made) const {
        const KernelNode& n = b_.node(made);
        return n.op == KernelOp::Constant ? number(n.constant.i) : atom(made);
    }

    Sum find_sum(const KernelNode& n) {
        if (refused_) return {};
        switch (n.op) {
            case KernelOp::Constant: return number(n.constant.i);
            case KernelOp::Param: return parameter(n.param);
            case KernelOp::Range: return index_of(n.range);
            case KernelOp::Load:
            case KernelOp::Result: return of_node(value(n));
            default: break;
        }
        if (n.dtype == i32 && n.args.size() == 2 &&
            from_.nodes[static_cast<size_t>(n.args[0])].dtype == i32)
            if (auto known = combined(n.op, sum(n.args[0]), sum(n.args[1]))) return *known;
        return of_node(value(n));
    }

    Sum parameter(int param) {
        const auto p = static_cast<size_t>(param);
        const ParamInfo& info = from_.params[p];
        if (info.scalar >= 0) return of_node(b_.scalar_argument(info.scalar, info.dtype));
        if (!grows_[p].is_constant()) {
            refuse();
            return {};
        }
        return plus(of_node(b_.size(first_[p])), number(grows_[p].constant() * stage_), 1);
    }

    Sum index_of(int range) {
        Sum dimensions;
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            const PointAxis& axis = stages_.axes[k];
            if (axis.grid == range) dimensions = plus(dimensions, point_sum(k), axis.stride);
            if (axis.group == range) return atom(kFirstGroup + static_cast<int>(k));
            if (axis.lane == range) return atom(kFirstLane + static_cast<int>(k));
        }
        if (is_number(dimensions)) refuse();
        return dimensions;
    }

    /// The index of the point along an axis.
    Sum point_sum(size_t k) const {
        if (k != stages_.axis) return atom(point_[k]);
        Sum out = plus(atom(kHighFar, points_), atom(kFar, place_), 1);
        return plus(out, atom(kLow), 1);
    }

    /// Indices of points from those of groups and of their invocations, exponents from sizes.
    void settle(Sum& s) {
        for (size_t k = 0; k < stages_.axes.size(); ++k) {
            const int group = kFirstGroup + static_cast<int>(k),
                      lane = kFirstLane + static_cast<int>(k);
            const int64_t times = coefficient_of(s, group), size = stages_.axes[k].group_size;
            if (times == 0 || times % size != 0) continue;
            s = plus(s, atom(group), -times);
            s = plus(s, point_sum(k), times / size);
            s = plus(s, atom(lane), -times / size);
        }
        if (is_number(s)) return;
        if (const auto size = size_of(s)) {
            const Size above = *size - exponent_;
            if (above.is_constant()) s = plus(atom(kExponent), number(above.constant()), 1);
        }
        for (const auto& [id, times] : s.terms)
            if (std::abs(times) > kMostCoefficient) refuse();
    }

    /// Of parameters from the host alone.
    std::optional<Size> size_of(const Sum& s) const {
        Size out(s.offset);
        for (const auto& [id, times] : s.terms) {
            if (id < 0 || b_.node(id).op != KernelOp::Param) return std::nullopt;
            const ParamInfo& p = out_.params[static_cast<size_t>(b_.node(id).param)];
            if (p.scalar >= 0) return std::nullopt;
            out += p.size * Size(times);
        }
        return out;
    }

    /// What an index along the axis, or a part of it, stays below; nothing where it may be negative
    /// or is no such index.
    std::optional<Size> limit_of(const Sum& s) const {
        const int64_t high = coefficient_of(s, kHighFar), far = coefficient_of(s, kFar),
                      low = coefficient_of(s, kLow);
        if (!is_made_of(s, {kHighFar, kFar, kLow}) || s.offset != 0 || low < 0 || low > 1 ||
            far < 0 || high < 0 || high % points_ != 0 || far >= (high ? high : points_))
            return std::nullopt;
        const Size limit = extent_ * Size(high ? high / points_ : 1);
        if (limit.upper_bound(b_.symbol_facts().largest) > int64_t(INT32_MAX) + 1)
            return std::nullopt;
        return limit;
    }

    /// By what of the table of operations keeps indices apart in high, far and low. Nothing: it is
    /// computed.
    std::optional<Sum> combined(KernelOp op, const Sum& a, const Sum& b) {
        switch (op) {
            case KernelOp::Add: return plus(a, b, 1);
            case KernelOp::Sub: return plus(a, b, -1);
            case KernelOp::Mul: return product(a, b);
            case KernelOp::ShiftLeft: return shifted(a, b);
            case KernelOp::Div:
                if (is_number(b)) return parts(a, b.offset).first;
                return quotient(a, distance_of(b));
            case KernelOp::Mod:
                if (is_number(b)) return parts(a, b.offset).second;
                return remainder(a, distance_of(b));
            case KernelOp::ShiftRight: return quotient(a, power_of(b));
            case KernelOp::And:
                if (const auto masked = bits_of(a, b)) return masked;
                return bits_of(b, a);
            case KernelOp::Xor:
            case KernelOp::Or:
                if (are_apart(a, b) || are_apart(b, a)) return plus(a, b, 1);
                if (const auto changed = bit_changed(op, a, b)) return changed;
                return bit_changed(op, b, a);
            case KernelOp::Min:
                if (stays_below(a, b, 1)) return a;
                if (stays_below(b, a, 1)) return b;
                return std::nullopt;
            case KernelOp::Max:
                if (is_number(a) && a.offset <= 0 && limit_of(b)) return b;
                if (is_number(b) && b.offset <= 0 && limit_of(a)) return a;
                return std::nullopt;
            default: return std::nullopt;
        }
    }

    static std::optional<Sum> product(const Sum& a, const Sum& b) {
        if (is_number(a)) return scaled(b, a.offset);
        if (is_number(b)) return scaled(a, b.offset);
        for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
            const int64_t times = coefficient_of(*x, kFar);
            if (x->offset != 0 || !is_made_of(*x, {kFar}) || !is_made_of(*y, {kHigh})) continue;
            return plus(atom(kHighFar, times * coefficient_of(*y, kHigh)),
                        atom(kFar, times * y->offset), 1);
        }
        return std::nullopt;
    }

    /// w where 2^s is w * 2^exponent; 0: it is not.
    static int64_t power_of(const Sum& s) {
        const bool is_exponent = is_made_of(s, {kExponent}) && coefficient_of(s, kExponent) == 1;
        return is_exponent && s.offset >= 0 && s.offset < 31 ? int64_t(1) << s.offset : 0;
    }

    static std::optional<Sum> shifted(const Sum& a, const Sum& by) {
        if (is_number(by)) {
            if (by.offset < 0 || by.offset > 30) return std::nullopt;
            return scaled(a, int64_t(1) << by.offset);
        }
        const bool is_exponent = is_made_of(by, {kExponent}) && coefficient_of(by, kExponent) == 1;
        if (!is_exponent || !is_made_of(a, {kHigh}) || std::abs(by.offset) > 30)
            return std::nullopt;
        int64_t high = coefficient_of(a, kHigh), one = a.offset;
        const int64_t times = int64_t(1) << std::abs(by.offset);
        if (by.offset < 0 && (high % times != 0 || one % times != 0)) return std::nullopt;
        high = by.offset < 0 ? high / times : high * times;
        one = by.offset < 0 ? one / times : one * times;
        return plus(atom(kHighFar, high), atom(kFar, one), 1);
    }

    /// The quotient by a number, and the remainder, where each is a part of the sum.
    std::pair<std::optional<Sum>, std::optional<Sum>> parts(const Sum& a, int64_t by) const {
        Sum whole = number(a.offset / by), rest = number(a.offset % by);
        Interval between{rest.offset, rest.offset};
        for (const auto& [id, times] : a.terms) {
            const bool divides = times % by == 0;
            if (divides)
                whole = plus(whole, atom(id), times / by);
            else
                rest = plus(rest, atom(id), times);
            const Interval own = id >= 0 ? b_.node(id).interval : Interval{0, INT32_MAX};
            if (times < 0 || own.lo < 0) return {};
            if (!divides) between = between + own * Interval{times, times};
        }
        if (a.offset < 0 || by <= 0 || !contains({0, by - 1}, between)) return {};
        return {whole, rest};
    }

    /// a / (w 2^exponent).
    std::optional<Sum> quotient(const Sum& a, int64_t w) const {
        const int64_t high = coefficient_of(a, kHighFar), far = coefficient_of(a, kFar);
        if (w == 0 || !limit_of(a) || high % w != 0) return std::nullopt;
        return plus(atom(kHigh, high / w), number(far / w), 1);
    }

    std::optional<Sum> remainder(const Sum& a, int64_t w) const {
        if (w == 0 || !limit_of(a) || coefficient_of(a, kHighFar) % w != 0) return std::nullopt;
        return plus(atom(kFar, coefficient_of(a, kFar) % w), atom(kLow, coefficient_of(a, kLow)),
                    1);
    }

    /// The bit of w 2^exponent, or what is below it.
    std::optional<Sum> bits_of(const Sum& a, const Sum& mask) const {
        const Sum above = plus(mask, number(1), 1);
        if (const int64_t w = distance_of(above)) return remainder(a, w);
        const int64_t w = distance_of(mask);
        if (w == 0 || !limit_of(a) || coefficient_of(a, kHighFar) % (2 * w) != 0)
            return std::nullopt;
        return atom(kFar, coefficient_of(a, kFar) & w);
    }

    /// a is a multiple of a power of two that b stays below.
    bool are_apart(const Sum& a, const Sum& b) const {
        const int64_t high = coefficient_of(a, kHighFar), far = coefficient_of(a, kFar);
        const int64_t bits = high | far, least = bits & -bits;  // of 2^exponent
        return limit_of(a) && limit_of(b) && coefficient_of(a, kLow) == 0 &&
               coefficient_of(b, kHighFar) == 0 && coefficient_of(b, kFar) < least;
    }

    std::optional<Sum> bit_changed(KernelOp op, const Sum& a, const Sum& bit) const {
        const int64_t w = distance_of(bit), far = coefficient_of(a, kFar);
        if (w == 0 || !limit_of(a) || coefficient_of(a, kHighFar) % (2 * w) != 0)
            return std::nullopt;
        return plus(a, atom(kFar, (op == KernelOp::Xor ? far ^ w : far | w) - far), 1);
    }

    /// a + 1 - less <= the size b.
    bool stays_below(const Sum& a, const Sum& b, int64_t less) const {
        const auto limit = limit_of(a);
        const auto bound = is_number(b) ? Size(b.offset) : size_of(b);
        return limit && bound && proved_less_equal(*limit - Size(less), *bound);
    }

    /// What is known of a comparison.
    std::optional<bool> compared(KernelOp op, const Sum& a, const Sum& b) {
        if (refused_) return std::nullopt;
        const Sum between = plus(a, b, -1);  // 2^exponent is at least 1
        const bool apart = between.offset == 0 && is_made_of(between, {kFar});
        if (is_number(between) || apart) {
            const int64_t sign =
                is_number(between) ? between.offset : coefficient_of(between, kFar);
            switch (op) {
                case KernelOp::Less: return sign < 0;
                case KernelOp::LessEqual: return sign <= 0;
                case KernelOp::Equal: return sign == 0;
                default: return sign != 0;
            }
        }
        if (op == KernelOp::Less && stays_below(a, b, 0)) return true;
        if (op == KernelOp::LessEqual && stays_below(a, b, 1)) return true;
        if (op == KernelOp::LessEqual && is_number(a) && a.offset <= 0 && limit_of(b)) return true;
        return std::nullopt;
    }

    int node_of(const Sum& s) {
        if (refused_) return 0;
        int made = b_.integer(s.offset);
        for (const auto& [id, times] : s.terms) {
            const int part = atom_node(id);
            if (refused_) return 0;
            made = b_.add(made, b_.mul(part, b_.integer(times)));
        }
        return made;
    }

    int atom_node(int id) {
        const auto blocks = [&](int made) { return b_.mul(made, b_.integer(copies_)); };
        switch (id) {
            case kHighFar: return blocks(high_far_);
            case kFar: return blocks(far_);
            case kLow: return b_.add(blocks(low_), b_.integer(copy_));
            case kHigh: return high_;
            case kExponent: return b_.size(exponent_);
            default: break;
        }
        if (id < 0) refuse();
        return std::max(id, 0);
    }

    const KernelCode& from_;
    const RadixStages& stages_;
    const int count_;
    const int64_t elements_, points_;  // of a band
    const int copies_;
    const BandDistance distance_;
    KernelCode out_;
    KernelBuilder b_;
    const Size exponent_, extent_;
    std::vector<Size> first_, grows_;  // by parameter: its value in the first iteration, and step
    std::vector<int> point_;           // by axis: the index of the grid
    int high_ = -1, far_ = -1, low_ = -1, high_far_ = -1, shift_ = -1;
    bool refused_ = false;
    // What is being run.
    int copy_ = 0, stage_ = 0;
    int64_t place_ = 0;
    std::vector<int> nodes_;
    std::vector<std::optional<Sum>> sums_;
    // Bands: before the iteration by what is read, after it by what is written.
    std::map<int, Band> held_, made_;
    std::map<int, std::vector<Band>> stored_;
    std::map<int, int> buffer_of_;
    std::optional<Sum> rest_;
    int64_t scale_ = 0;
};

}  // namespace

std::vector<RadixStages> find_stages(const Program& program, const ListedLoop& loop) {
    if (loop.body.size() != 1 || loop.loop.alive >= 0) return {};
    const auto* kernel = std::get_if<ListedKernel>(&loop.body[0].step);
    RadixStages found;
    if (!kernel || !is_swap(loop, found.next) || !keep_read(kernel->code, found.next) ||
        !follows_by_numbers(program, kernel->code, loop.loop.induction))
        return {};
    IndexForms forms(kernel->code);
    found.code = &kernel->code;
    found.induction = loop.loop.induction;
    found.axes = axes_of(kernel->code, forms);
    std::vector<RadixStages> out;
    for (const Size& exponent : exponents_of(kernel->code, forms, found.induction))
        for (size_t axis = 0; axis < found.axes.size(); ++axis)
            for (int64_t per_point : {2, 1}) {
                found.exponent = exponent;
                found.falls = proved_less_equal(
                    exponent.substitute(
                        {{found.induction, Size::symbol(found.induction) + Size(1)}}),
                    exponent);
                found.axis = axis, found.per_point = per_point;
                out.push_back(found);
            }
    return out;
}

Size least_exponent(const RadixStages& stages, int count, const Size& first) {
    const Size at = stages.falls ? first + Size(count - 1) : first;
    return stages.exponent.substitute({{stages.induction, at}});
}

std::optional<JoinedStages> join_stages(const RadixStages& stages, int count, const Size& first,
                                        BandDistance distance, const SymbolFacts& facts) {
    return BandWriter(stages, count, first, distance, facts).run();
}

}  // namespace firn
