// Stage 5: gives the ranges of a kernel their kinds and expands it accordingly.
#include "compiler/mapping/map.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/deal_loads.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/matrix_units.h"
#include "compiler/mapping/near_copies.h"
#include "compiler/mapping/row_groups.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/mapping/staged_tile.h"
#include "compiler/mapping/turns.h"
#include "compiler/program/error.h"
#include "compiler/program/fresh_stack.h"

namespace firn {
namespace {

constexpr int kDeep = 200;  // operands inside one another, from which on they are mapped first
constexpr int64_t kMostJoined = INT32_MAX;  // turns of loops that run as one: they are counted

/// Rebuilds a kernel with each Grid index replaced by one expression per lane (a copy of the body
/// in the same invocation).
class Mapper {
  public:
    Mapper(const KernelCode& from, KernelCode& to, const Mapping& mapping,
           const DeviceProfile& profile, const SymbolFacts& facts)
        : from_(from),
          b_(to, facts),
          mapping_(mapping),
          profile_(profile),
          symbol_facts_(facts),
          needs_(region_needs(from)) {
        staged_ = staged_loops(from, mapping);
        ensure(mapping.staged_turns == 1 || !staged_.empty(),
               "map: groups cannot stage what this kernel reads");
        if (mapping.lanes == 1) return;
        shared_ = share_loops(from, mapping.lanes);
        ensure(!shared_.empty(), "map: lanes cannot share the work of this kernel");
    }

    void run() {
        KernelCode& to = b_.code();
        to.name = from_.name;
        MappedGrid mapped = map_grid(from_, b_, mapping_, profile_);
        grid_ = mapped.ranges;
        lanes_ = std::move(mapped.copies);
        lane_ = mapped.lane;
        if (mapping_.dealt_loads > 1) {
            ensure(mapping_.lanes == 1 && mapping_.dealt_loads == profile_.subgroup_size &&
                       mapping_.group_x % mapping_.dealt_loads == 0,
                   "map: the lanes of this kernel cannot hand loads round");
            if (lane_ < 0) lane_ = subgroup_lane();
        }
        mark_varying();
        std::vector<std::vector<int>> stores(lanes_.size());
        memo_.assign(lanes_.size(), std::vector<int>(from_.nodes.size(), -1));
        std::vector<int> begin;
        if (mapped.subgroup >= 0) reduce_rows(mapped, begin);
        grid_map_ = &mapped;
        for (const auto& [id, loop] : staged_) for_results(loop.outermost, 0);
        if (!staged_.empty()) begin = std::exchange(effects_, {});
        to.in_order = !begin.empty() || mapping_.near != MemorySpace::Bound;
        if (mapping_.near != MemorySpace::Bound) begin = open_copies();
        for (int effect : from_.regions[0].effects) store_all(effect, stores);
        std::vector<int> effects = nest_guards(stores);
        for (int range : mapped.turns) effects = {turn_loop(range, std::move(effects))};
        if (near_)
            effects = with_copies(std::move(begin), std::move(effects));
        else
            effects.insert(effects.begin(), begin.begin(), begin.end());
        to.regions[0].effects = std::move(effects);
    }

  private:
    /// All reductions of rows, where every invocation comes by: what their copies have, then what
    /// the group has.
    void reduce_rows(const MappedGrid& mapped, std::vector<int>& exchanges) {
        const RowGroup group{mapped.lane, mapped.subgroup, profile_.subgroup_size,
                             mapping_.group_x / profile_.subgroup_size};
        const auto width = static_cast<size_t>(mapping_.tile_of(0));
        for (int id : live_row_reductions()) {
            const KernelNode& n = from_.nodes[id];
            std::vector<int> rows;
            for (size_t first = 0; first < lanes_.size(); first += width) {
                std::vector<int> each;
                for (size_t v = 0; v < width; ++v) each.push_back(lane_value(n.args[0], first + v));
                b_.set_lines(n.lines);
                int part = each.size() > 1
                               ? tree(kernel_op(reduce_step(n.reduce)), n.dtype, std::move(each))
                               : each[0];
                if (mapped.in_row >= 0)
                    part = b_.select(mapped.in_row, part,
                                     b_.constant(reduce_identity(n.reduce, n.dtype)));
                rows.push_back(part);
            }
            b_.set_lines(n.lines);
            rows = combine_over_group(b_, group, n.reduce, std::move(rows), exchanges);
            for (size_t l = 0; l < lanes_.size(); ++l) memo_[l][id] = rows[l / width];
        }
    }

    /// In the order in which they need one another.
    std::vector<int> live_row_reductions() const {
        KernelCode placed = from_;
        firn::place(placed);
        std::vector<int> out;
        for (const KernelRegion& region : placed.regions)
            for (int id : region.order)
                if (placed.nodes[id].op == KernelOp::RowReduce) out.push_back(id);
        std::sort(out.begin(), out.end());
        return out;
    }

    // --- copies of targets near the cores

    std::vector<int> open_copies() {
        ensure(mapping_.lanes == 1 && mapping_.dealt_loads == 1 && mapping_.group_y == 1,
               "map: the invocations of this kernel are not all there for copies of what they "
               "store to");
        near_.emplace(b_, from_, mapping_.near);
        return near_->open();
    }

    std::vector<int> with_copies(std::vector<int> effects, std::vector<int> stores) {
        std::vector<int> bound;
        for (const NearTarget& t : near_->targets())
            bound.push_back(program_buffer(from_.buffers[t.buffer], true, 1));
        const int lane =
            mapping_.near == MemorySpace::Private ? subgroup_lane() : invocation_of_group();
        const std::vector<int> end = near_->close(bound, lane, mapping_.group_x);
        effects.insert(effects.end(), stores.begin(), stores.end());
        effects.insert(effects.end(), end.begin(), end.end());
        return effects;
    }

    int turn_loop(int range, std::vector<int> effects) {
        const int region = b_.add_region();
        b_.code().regions[region].range = range;
        b_.code().regions[region].effects = std::move(effects);
        return b_.close_for(region, {});
    }

    int subgroup_lane() { return number("l", RangeKind::Subgroup, profile_.subgroup_size); }

    /// Of all invocations of the group. What the grid calls an index along x is held to be inside
    /// of the grid, which behind its end is not so.
    int invocation_of_group() { return number("i", RangeKind::Invocation, mapping_.group_x); }

    int number(const char* name, RangeKind kind, int64_t count) {
        Range range;
        range.name = name;
        range.kind = kind;
        range.extent = Size(count);
        return b_.range(b_.add_range(range));
    }

    /// Which nodes differ between lanes: they depend on a Grid range whose index does, or on the
    /// index or a carried value of a loop that does.
    void mark_varying() {
        std::vector<bool> range_varies(from_.ranges.size(), false);
        for (size_t d = 0; d < grid_.size(); ++d)
            for (const GridCopy& lane : lanes_)
                if (lane.index[d] != lanes_[0].index[d]) range_varies[grid_[d]] = true;
        std::vector<bool> region_varies(from_.regions.size(), false);
        varies_.assign(from_.nodes.size(), false);
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t id = 0; id < from_.nodes.size(); ++id) {
                if (varies_[id] || !node_varies(from_.nodes[id], range_varies, region_varies))
                    continue;
                varies_[id] = changed = true;
                const KernelNode& n = from_.nodes[id];
                if (n.op != KernelOp::For) continue;
                region_varies[n.region] = true;
                range_varies[from_.regions[n.region].range] = true;
            }
        }
    }

    bool node_varies(const KernelNode& n, const std::vector<bool>& range_varies,
                     const std::vector<bool>& region_varies) const {
        if (n.op == KernelOp::Range) return range_varies[n.range];
        if (n.op == KernelOp::RegionArg) return region_varies[n.region];
        auto any = [&](const std::vector<int>& ids) {
            return std::any_of(ids.begin(), ids.end(), [&](int id) { return varies_[id]; });
        };
        if (any(n.args)) return true;
        if (n.op != KernelOp::For && n.op != KernelOp::Branch) return false;
        for (int body : {n.region, n.else_region}) {
            if (body < 0) continue;
            const KernelRegion& r = from_.regions[body];
            if (any(r.yields) || any(r.effects) || (r.alive >= 0 && varies_[r.alive])) return true;
            if (r.range >= 0 && varies_[from_.ranges[r.range].extent_node]) return true;
        }
        return false;
    }

    // --- operands in shared memory

    /// Blocks of a loop's turns: before each the group loads what it reads in them.
    std::vector<std::vector<int>> staged_loop(int id, const std::vector<size_t>& group,
                                              std::vector<std::vector<int>> values) {
        const KernelNode& n = from_.nodes[id];
        const KernelRegion& old = from_.regions[n.region];
        const Range& range = from_.ranges[old.range];
        const int64_t most = mapping_.staged_turns;
        const int extent = lane_value(range.extent_node, group[0]), all = b_.integer(most);
        const Size size = b_.is_constant(extent) ? Size(b_.node(extent).constant.i) : range.extent;
        const bool whole = !size.is(0) && size.divisor() % most == 0;
        Range blocks = range;
        blocks.extent_node =
            b_.make(KernelOp::Div, i32, {b_.add(extent, b_.integer(most - 1)), all});
        blocks.extent = size.is(0) ? size : ceil_div(size, Size(most));
        if (range.max_trips >= 0) blocks.max_trips = (range.max_trips + most - 1) / most;
        const int blocks_id = b_.add_range(blocks), region = b_.add_region();
        b_.code().regions[region].range = blocks_id;
        std::vector<int> inits, yields;
        for (auto& lane : values)
            for (int& value : lane) {
                inits.push_back(value);
                value = b_.region_arg(region, b_.node(value).dtype);
            }
        std::vector<int> around = std::exchange(effects_, {});
        const int start = b_.mul(b_.range(blocks_id), all);
        StagedTile tile(b_, from_, *grid_map_, staged_.at(id), old.range, mapping_);
        effects_ = tile.fill(
            {start, whole ? -1 : extent, size.is(0) ? 1 : size.divisor(),
             [&](int node, const std::vector<int>& at, int turn, std::map<int, int> inside) {
                 inside[old.range] = turn;
                 return value_at(node, at, inside);
             }});
        Range inner = range;
        inner.extent = whole ? Size(most) : Size(0);
        inner.extent_node = whole ? all : b_.make(KernelOp::Min, i32, {all, b_.sub(extent, start)});
        const Deal deal{1, is_innermost(old) ? std::gcd(most, mapping_.serial_unroll) : 1, 1};
        tile_ = &tile, tile_region_ = n.region, tile_start_ = start;
        for (Part part : parts_of(b_, inner, inner.extent_node, deal, -1)) {
            if (part.max_trips < 0) part.max_trips = most / part.deal.copies;
            part.start = b_.add(start, part.start);
            values = serial({}, n, group, std::move(values), part);
        }
        tile_ = nullptr;
        effects_.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
        for (const auto& lane : values) yields.insert(yields.end(), lane.begin(), lane.end());
        b_.code().regions[region].yields = std::move(yields);
        b_.code().regions[region].effects = std::exchange(effects_, std::move(around));
        b_.set_lines(n.lines);
        effects_.push_back(b_.close_for(region, std::move(inits)));
        int next = 0;
        for (auto& lane : values)
            for (int& value : lane) value = b_.result(effects_.back(), next++);
        return values;
    }

    /// Where the turns of a loop begin all that is staged and changes with them is read: once,
    /// whoever needs it.
    void read_staged(int range, const std::vector<size_t>& group) {
        if (!tile_) return;
        for (int id : tile_->values_of(range))
            for (size_t lane : group) lane_value(id, lane);
    }

    int turn_of(int range, size_t lane) const {
        for (size_t id = 0; id < from_.nodes.size(); ++id)
            if (from_.nodes[id].op == KernelOp::Range && from_.nodes[id].range == range)
                return memo_[lane][id];
        return -1;
    }

    /// A node at other indices than those of this invocation's copies.
    int value_at(int node, const std::vector<int>& at, const std::map<int, int>& turns) {
        std::vector<int> bound(from_.nodes.size(), -1);
        for (size_t id = 0; id < from_.nodes.size(); ++id) {
            const KernelNode& n = from_.nodes[id];
            if (n.op != KernelOp::Range || from_.ranges[n.range].kind != RangeKind::Serial)
                continue;
            const auto turn = turns.find(n.range);
            bound[id] = turn == turns.end() ? memo_[0][id] : turn->second;
        }
        std::vector<std::vector<int>> memo{std::move(bound)};
        std::vector<GridCopy> copies{{at, -1}};
        memo_.swap(memo), lanes_.swap(copies);
        const int made = lane_value(node, 0);
        memo_.swap(memo), lanes_.swap(copies);
        return made;
    }

    int lane_value(int id, size_t lane) {
        if (memo_[lane][id] >= 0) return memo_[lane][id];
        return nested_([&] { return map_value(id, lane); });
    }

    int map_value(int id, size_t lane) {
        const KernelNode& n = from_.nodes[id];
        int made = tile_ ? tile_->read(
                               id, lane, tile_turn_,
                               [&](int range) { return turn_of(range, lane); }, effects_)
                         : -1;
        if (made >= 0) return memo_[lane][id] = made;
        switch (n.op) {
            case KernelOp::Range: {
                const auto it = std::find(grid_.begin(), grid_.end(), n.range);
                ensure(it != grid_.end(), "map: the index of a loop is asked outside it");
                made = lanes_[lane].index[static_cast<size_t>(it - grid_.begin())];
                break;
            }
            case KernelOp::Constant: made = b_.constant(n.constant); break;
            case KernelOp::Param: {
                const ParamInfo& p = from_.params[n.param];
                made = p.scalar >= 0 ? b_.scalar_argument(p.scalar, p.dtype) : b_.size(p.size);
                break;
            }
            case KernelOp::Load:
                made = load(n, lane_value(n.args[0], lane), lane);
                if (n.interval.lo > INT32_MIN || n.interval.hi < INT32_MAX)
                    b_.assume(made, Size(n.interval.lo), Size(n.interval.hi));
                break;
            case KernelOp::Result: {
                const KernelNode& owner = from_.nodes[n.args[0]];
                if (owner.op == KernelOp::For)
                    return for_results(n.args[0], lane)[static_cast<size_t>(n.position)];
                made = b_.result(lane_value(n.args[0], lane), n.position);
                break;
            }
            case KernelOp::Branch: made = branch(n, lane); break;
            default: {
                ensure(is_elementwise(n.op), "map: an operation that it does not know");
                std::vector<int> args;
                if (nested_.depth() > kDeep) map_operands(id, lane);
                for (int arg : n.args) args.push_back(lane_value(arg, lane));
                b_.set_lines(n.lines);
                made = b_.make(n.op, n.dtype, std::move(args));
            }
        }
        memo_[lane][id] = made;
        return made;
    }

    /// What an elementwise node is made of, innermost first: a chain of any length takes no stack.
    void map_operands(int id, size_t lane) {
        auto is_open = [&](int arg) {
            return memo_[lane][arg] < 0 && is_elementwise(from_.nodes[arg].op);
        };
        std::vector<int> chain{id};
        while (!chain.empty()) {
            const std::vector<int>& args = from_.nodes[chain.back()].args;
            const auto open = std::find_if(args.begin(), args.end(), is_open);
            if (open != args.end()) {
                chain.push_back(*open);
                continue;
            }
            const int last = chain.back();
            chain.pop_back();
            if (!chain.empty()) lane_value(last, lane);
        }
    }

    int program_buffer(const KernelBuffer& b, bool written, int width) {
        KernelBuffer bound = b;
        bound.width = width, bound.written = written;
        const BindingForm form = binding_form(bound, profile_, symbol_facts_);
        return b_.buffer(b.buffer, b.dtype, b.elements, form, width, written);
    }

    /// Loads of 4-byte elements whose place in an aligned block of four is known go through the
    /// block; split_lonely_blocks() undoes it where few of the four are used. The lane keeps the
    /// plain index.
    int load(const KernelNode& n, int index, size_t lane) {
        const KernelBuffer& b = from_.buffers[n.buffer];
        if (const int dealt = dealt_load(n, b, index, lane); dealt >= 0) return dealt;
        b_.set_lines(n.lines);
        const Interval& at = b_.node(index).interval;
        const bool several =
            mapping_.tile_of(0) * mapping_.serial_unroll >= 4 || mapping_.staged_turns >= 4;
        const bool aligned =
            b.dtype.bytes() == 4 && several && at.mod % 4 == 0 && !b_.is_constant(index);
        if (!aligned) return b_.load(program_buffer(b, false, 1), index);
        const int64_t rest = ((at.rem % 4) + 4) % 4;
        const int block = b_.load(program_buffer(b, false, 4), b_.sub(index, b_.integer(rest)), 4);
        return b_.lane(block, static_cast<int>(rest), index);
    }

    /// An element that all lanes read, one of as many in a row as there are lanes: each loads one,
    /// and they hand them round. undo_lonely_shuffles() undoes it where few of them are used. -1:
    /// not so.
    int dealt_load(const KernelNode& n, const KernelBuffer& b, int index, size_t lane) {
        if (mapping_.dealt_loads == 1 || !together_ || b.dtype.bytes() != 4 || b.dtype.is_bool() ||
            b_.is_constant(index) || !same_in_subgroup_(index))
            return -1;
        const int dealt = dealt_turns(n, b, index);
        return dealt >= 0 ? dealt : dealt_copies(n, b, index, lane);
    }

    /// Neighbours in memory that the copies of one turn read.
    int dealt_turns(const KernelNode& n, const KernelBuffer& b, int index) {
        const auto lanes = static_cast<int64_t>(mapping_.dealt_loads);
        const Interval& at = b_.node(index).interval;
        if (copies_ % lanes != 0 || at.mod <= 0 || at.mod % lanes != 0) return -1;
        const int64_t rest = ((at.rem % lanes) + lanes) % lanes;
        return hand_round(n, b, b_.add(b_.sub(index, b_.integer(rest)), lane_), rest, index);
    }

    /// Elements at equal distances that the copies along one range read.
    int dealt_copies(const KernelNode& n, const KernelBuffer& b, int index, size_t lane) {
        if (!all_copies_ || !varies_[n.args[0]]) return -1;
        const size_t lanes = mapping_.dealt_loads;
        size_t step = static_cast<size_t>(
            mapping_.tile_of(0));  // from a copy to its neighbour along the range
        for (size_t d = 1; d < grid_.size(); step *= static_cast<size_t>(mapping_.tile_of(d++))) {
            const auto tile = static_cast<size_t>(mapping_.tile_of(d));
            if (tile % lanes != 0) continue;
            const size_t rest = lane / step % lanes, first = lane - rest * step;
            const int begin = lane_value(n.args[0], first);
            const int distance = b_.sub(lane_value(n.args[0], first + step), begin);
            if (b_.is_constant(distance) && b_.node(distance).constant.i == 0) continue;
            bool even = true;
            for (size_t k = 0; k < lanes && even; ++k)
                even = lane_value(n.args[0], first + k * step) ==
                       place(begin, distance, b_.integer(static_cast<int64_t>(k)));
            if (even)
                return hand_round(n, b, place(begin, distance, lane_), static_cast<int64_t>(rest),
                                  index);
        }
        return -1;
    }
    int place(int begin, int distance, int k) { return b_.add(begin, b_.mul(distance, k)); }

    /// The element at `mine`, as lane `from` has it.
    int hand_round(const KernelNode& n, const KernelBuffer& b, int mine, int64_t from, int index) {
        b_.set_lines(n.lines);
        const int last = b_.sub(b_.size(b.elements), b_.integer(1));
        const int value =
            b_.load(program_buffer(b, false, 1), b_.make(KernelOp::Min, i32, {mine, last}));
        return b_.shuffle(value, static_cast<int>(from), index);
    }

    /// Remembers how it was before something that not all lanes may do, or that has other copies.
    struct Turns {
        Turns(Mapper& mapper, bool together, int64_t copies, bool all_copies)
            : mapper_(mapper),
              together_(mapper.together_),
              all_copies_(mapper.all_copies_),
              copies_(mapper.copies_) {
            mapper.together_ = together_ && together;
            mapper.all_copies_ = all_copies_ && all_copies;
            mapper.copies_ = copies;
        }
        ~Turns() {
            mapper_.together_ = together_, mapper_.all_copies_ = all_copies_,
            mapper_.copies_ = copies_;
        }
        Mapper& mapper_;
        bool together_, all_copies_;
        int64_t copies_;
    };

    int branch(const KernelNode& n, size_t lane) {
        const int condition = lane_value(n.args[0], lane);
        const Turns apart(*this, false, 1, false);
        const bool around = std::exchange(in_branch_, true);
        int regions[2] = {-1, -1};
        const int sources[2] = {n.region, n.else_region};
        for (int k = 0; k < 2; ++k) {
            if (sources[k] < 0) continue;
            std::vector<int> yields;
            for (int y : from_.regions[sources[k]].yields) yields.push_back(lane_value(y, lane));
            regions[k] = b_.add_region();
            b_.code().regions[regions[k]].yields = std::move(yields);
        }
        in_branch_ = around;
        b_.set_lines(n.lines);
        return b_.branch(condition, regions[0], regions[1], n.guard);
    }

    /// New results of a loop for a lane. Loops that differ between lanes only in their values are
    /// jammed: one loop carries the values of all lanes.
    const std::vector<int>& for_results(int id, size_t lane) {
        auto key = [&](size_t l) { return std::make_pair(id, l); };
        if (auto it = for_results_.find(key(lane)); it != for_results_.end()) return it->second;
        const KernelNode& n = from_.nodes[id];
        const KernelRegion& body = from_.regions[n.region];
        const int extent_node = from_.ranges[body.range].extent_node;
        const bool jam = body.alive < 0 && !varies_[extent_node] && !in_branch_;
        std::vector<size_t> group;
        if (!varies_[id])
            group = {0};
        else if (jam)
            for (size_t l = 0; l < lanes_.size(); ++l) group.push_back(l);
        else
            group = {lane};
        const auto shared = shared_.find(id);
        const std::vector<Combine> combine =
            shared == shared_.end() ? std::vector<Combine>() : shared->second.combine;
        std::vector<std::vector<int>> inits(group.size());
        for (size_t g = 0; g < group.size(); ++g)
            for (int init : n.args) inits[g].push_back(lane_value(init, group[g]));
        std::vector<std::vector<int>> starts = inits;
        for (auto& lane : starts)
            for (size_t k = 0; k < combine.size(); ++k)
                lane[k] =
                    b_.constant(reduce_identity(combine[k].reduce, from_.nodes[n.args[k]].dtype));
        std::vector<std::vector<int>> values = loop(id, group, std::move(starts));
        for (size_t g = 0; g < group.size(); ++g)
            for (size_t k = 0; k < combine.size(); ++k)
                values[g][k] = combined(n, combine[k], inits[g][k], values[g][k]);
        for (size_t l = 0; l < lanes_.size(); ++l) {
            if (!varies_[id])
                for_results_[key(l)] = values[0];
            else if (auto it = std::find(group.begin(), group.end(), l); it != group.end())
                for_results_[key(l)] = values[static_cast<size_t>(it - group.begin())];
        }
        return for_results_.at(key(lane));
    }

    bool is_split(int loop) const {
        const auto it = shared_.find(loop);
        return it != shared_.end() && it->second.split;
    }

    /// The lanes' parts of a reduction that began at `init`.
    int combined(const KernelNode& loop, const Combine& by, int init, int part) {
        b_.set_lines(loop.lines);
        const DType dtype = b_.node(part).dtype;
        const int all = b_.subgroup_reduce(by.reduce, part);
        if (init == b_.constant(reduce_identity(by.reduce, dtype))) return all;
        return b_.make(by.step, dtype, {init, all});
    }

    std::vector<std::vector<int>> loop(int id, const std::vector<size_t>& group,
                                       std::vector<std::vector<int>> values) {
        if (staged_.contains(id) && !in_branch_) return staged_loop(id, group, std::move(values));
        std::vector<int> nest = joined_with(id, group[0]);
        const int last = nest.back();
        nest.pop_back();
        for (const Part& part : parts_of_loop(last, group[0]))
            values = serial(nest, from_.nodes[last], group, std::move(values), part);
        return values;
    }

    std::vector<Part> parts_of_loop(int id, size_t lane) {
        const KernelRegion& body = from_.regions[from_.nodes[id].region];
        const Range& range = from_.ranges[body.range];
        const int extent = lane_value(range.extent_node, lane);
        const bool innermost = is_innermost(body), split = is_split(id);
        int64_t copies = body.alive < 0 && innermost ? mapping_.serial_unroll : 1;
        if (body.alive < 0 && innermost && !split && b_.is_constant(extent) &&
            b_.node(extent).constant.i <= mapping_.whole_loops)
            copies = std::max(copies, b_.node(extent).constant.i);
        return parts_of(b_, range, extent, deal_of(range, extent, copies, split), lane_);
    }

    /// A loop and those inside that run as one with it, outermost first. What is written out stays
    /// inside.
    std::vector<int> joined_with(int loop, size_t lane) {
        std::vector<int> out{loop};
        auto most_turns = [&](int id) {
            const int64_t most =
                from_.ranges[from_.regions[from_.nodes[id].region].range].max_trips;
            return most < 0 ? kMostJoined : std::max<int64_t>(most, 1);
        };
        int64_t turns = most_turns(loop);
        while (mapping_.joined_loops && !is_split(out.back())) {
            const int inner = handed_through(from_, out.back());
            if (inner < 0 || staged_.contains(inner) ||
                from_.regions[from_.nodes[inner].region].alive >= 0)
                break;
            const KernelRegion& body = from_.regions[from_.nodes[inner].region];
            const int extent = from_.ranges[body.range].extent_node;
            auto knows = [&](int around) {
                const std::vector<int>& needs = needs_[extent];
                return std::find(needs.begin(), needs.end(), from_.nodes[around].region) !=
                       needs.end();
            };
            if (varies_[extent] || std::any_of(out.begin(), out.end(), knows)) break;
            const std::vector<Part> parts = parts_of_loop(inner, lane);
            const bool written_out =
                b_.is_constant(parts[0].turns) && b_.node(parts[0].turns).constant.i <= 1;
            if (written_out || (parts.size() > 1 && !gathers(body))) break;
            if (most_turns(inner) > kMostJoined / turns) break;
            turns *= most_turns(inner);
            out.push_back(inner);
        }
        return out;
    }

    /// The order of its turns does not matter.
    bool gathers(const KernelRegion& body) const {
        for (size_t k = 0; k < body.yields.size(); ++k)
            if (!gathered_term(from_, body, k)) return false;
        return true;
    }

    Deal deal_of(const Range& range, int extent, int64_t copies, bool split) const {
        return deal_turns(b_, range, extent, copies, split ? mapping_.lanes : 1, one_row());
    }

    /// Rows begin at multiples of their length: a kernel of one row begins at 0.
    bool one_row() const {
        return std::all_of(grid_.begin(), grid_.end(),
                           [&](int r) { return from_.ranges[r].extent.is(1); });
    }

    bool is_innermost(const KernelRegion& body) const {
        // A body that holds another loop depends on it through a Result.
        std::vector<int> queue = body.yields;
        std::vector<bool> seen(from_.nodes.size(), false);
        const int self = static_cast<int>(&body - from_.regions.data());
        while (!queue.empty()) {
            const int id = queue.back();
            queue.pop_back();
            if (seen[id] ||
                std::find(needs_[id].begin(), needs_[id].end(), self) == needs_[id].end())
                continue;
            seen[id] = true;
            if (from_.nodes[id].op == KernelOp::For) return false;
            for (int arg : from_.nodes[id].args) queue.push_back(arg);
        }
        return true;
    }

    /// The turns of a nest whose innermost loop takes `part`; empty where there is no other.
    JoinedTurns joined_turns(const std::vector<int>& around, const Range& inner, const Part& part,
                             size_t lane) {
        JoinedTurns out;
        for (int loop : around) {
            const Range& range = from_.ranges[from_.regions[from_.nodes[loop].region].range];
            out.add(lane_value(range.extent_node, lane), range.extent, range.max_trips);
        }
        if (!around.empty()) out.add(part.turns, part.extent, inner.max_trips);
        return out;
    }

    /// One loop for a part of the old one's turns, and for all turns of those `around` it.
    std::vector<std::vector<int>> serial(const std::vector<int>& around, const KernelNode& n,
                                         const std::vector<size_t>& group,
                                         std::vector<std::vector<int>> values, const Part& part) {
        const Deal& deal = part.deal;
        const int extent_node = part.turns, start = part.start;
        const int64_t copies = deal.copies;
        const KernelRegion& old = from_.regions[n.region];
        const Range& old_range = from_.ranges[old.range];
        const int64_t known_turns =
            b_.is_constant(extent_node) ? b_.node(extent_node).constant.i : -1;
        if (old.alive < 0 && (known_turns == 0 || (known_turns == 1 && around.empty()))) {
            if (known_turns == 1) unroll(n, group, values, start, deal);
            return values;
        }
        Range range = old_range;
        range.extent_node = extent_node;
        range.extent = part.extent;
        range.rest = part.rest && !b_.is_constant(part.turns);
        if (part.max_trips >= 0)
            range.max_trips = part.max_trips;
        else if (range.max_trips >= 0)
            range.max_trips /= copies * deal.lanes;
        if (known_turns >= 0) range.max_trips = known_turns;
        JoinedTurns joined = joined_turns(around, range, part, group[0]);
        if (!joined.empty()) joined.count(b_, range);
        const int range_id = b_.add_range(range);
        const int region = b_.add_region();
        b_.code().regions[region].range = range_id;
        std::vector<int> outside = std::exchange(effects_, {});
        std::vector<std::vector<int>> current(group.size());
        for (size_t g = 0; g < group.size(); ++g)
            for (int arg : old.args)
                current[g].push_back(b_.region_arg(region, from_.nodes[arg].dtype));
        const std::vector<std::vector<int>> args = current;
        const bool together = old.alive < 0 && same_in_subgroup_(range.extent_node);
        joined.open(b_, region);
        for (size_t k = 0; k < joined.size(); ++k)
            same_in_subgroup_.mark(joined.index(k), together);
        const int turn = joined.empty() ? b_.range(range_id) : joined.innermost();
        const int base = first_index(b_, turn, start, deal, old_range.extent, lane_);
        const Turns turns(*this, together, copies, group.size() == lanes_.size());
        for (size_t k = 0; k < around.size(); ++k)
            for (size_t g = 0; g < group.size(); ++g)
                bind_turn(from_.nodes[around[k]].region, group[g], joined.index(k), current[g]);
        std::vector<std::vector<std::vector<int>>> terms(
            group.size(), std::vector<std::vector<int>>(old.args.size()));
        int alive = -1;
        for (int64_t c = 0; c < copies; ++c) {
            const int index = b_.add(base, b_.integer(deal.at(c)));
            for (size_t g = 0; g < group.size(); ++g)
                bind_turn(n.region, group[g], index, current[g]);
            read_staged(old.range, group);
            for (size_t g = 0; g < group.size(); ++g) {
                std::vector<int> next;
                for (size_t k = 0; k < old.yields.size(); ++k) {
                    // What is staged has many chains already; a product and a sum are one operation
                    // in each.
                    const auto gathered =
                        copies > 1 && !tile_ ? gathered_term(from_, old, k) : std::nullopt;
                    if (gathered) {
                        terms[g][k].push_back(lane_value(gathered->term, group[g]));
                        next.push_back(current[g][k]);
                    } else {
                        next.push_back(lane_value(old.yields[k], group[g]));
                    }
                }
                if (old.alive >= 0) alive = lane_value(old.alive, group[g]);
                current[g] = std::move(next);
            }
            for (size_t l : group) forget_turn(n.region, l);
        }
        std::vector<int> yields, inits;
        for (size_t g = 0; g < group.size(); ++g)
            for (size_t k = 0; k < old.args.size(); ++k) {
                int y = current[g][k];
                if (!terms[g][k].empty()) {
                    const KernelNode& step = from_.nodes[old.yields[k]];
                    b_.set_lines(step.lines);
                    y = b_.make(step.op, step.dtype,
                                {args[g][k], tree(step.op, step.dtype, terms[g][k])});
                }
                yields.push_back(y);
                inits.push_back(values[g][k]);
            }
        for (int index : joined.next(b_)) {
            yields.push_back(index);
            inits.push_back(b_.integer(0));
        }
        for (int loop : around)
            for (size_t l : group) forget_turn(from_.nodes[loop].region, l);
        b_.code().regions[region].yields = std::move(yields);
        b_.code().regions[region].alive = alive;
        b_.code().regions[region].effects = std::exchange(effects_, std::move(outside));
        b_.set_lines(n.lines);
        const int made = b_.close_for(region, std::move(inits));
        if (!b_.code().regions[region].effects.empty()) effects_.push_back(made);
        int next = 0;
        for (auto& lane : values)
            for (int& v : lane) v = b_.result(made, next++);
        return values;
    }

    /// The turns without a loop.
    void unroll(const KernelNode& n, const std::vector<size_t>& group,
                std::vector<std::vector<int>>& values, int start, const Deal& deal) {
        const KernelRegion& old = from_.regions[n.region];
        const int base = first_index(b_, b_.integer(0), start, deal, Size(0), lane_);
        for (int64_t c = 0; c < deal.copies; ++c) {
            const int index = b_.add(base, b_.integer(deal.at(c)));
            for (size_t g = 0; g < group.size(); ++g)
                bind_turn(n.region, group[g], index, values[g]);
            read_staged(old.range, group);
            for (size_t g = 0; g < group.size(); ++g) {
                std::vector<int> next;
                for (int y : old.yields) next.push_back(lane_value(y, group[g]));
                values[g] = std::move(next);
            }
            for (size_t l : group) forget_turn(n.region, l);
        }
    }

    int tree(KernelOp step, DType dtype, std::vector<int> terms) {
        while (terms.size() > 1) {
            std::vector<int> half;
            for (size_t k = 0; k + 1 < terms.size(); k += 2)
                half.push_back(b_.make(step, dtype, {terms[k], terms[k + 1]}));
            if (terms.size() % 2) half.push_back(terms.back());
            terms = std::move(half);
        }
        return terms[0];
    }

    void bind_turn(int region, size_t lane, int index, const std::vector<int>& args) {
        const KernelRegion& body = from_.regions[region];
        for (size_t id = 0; id < from_.nodes.size(); ++id)
            if (from_.nodes[id].op == KernelOp::Range && from_.nodes[id].range == body.range)
                memo_[lane][id] = index;
        if (tile_ && region == tile_region_) tile_turn_ = b_.sub(index, tile_start_);
        for (size_t k = 0; k < body.args.size(); ++k) memo_[lane][body.args[k]] = args[k];
    }

    void forget_turn(int region, size_t lane) {
        for (size_t id = 0; id < from_.nodes.size(); ++id)
            if (std::find(needs_[id].begin(), needs_[id].end(), region) != needs_[id].end()) {
                memo_[lane][id] = -1;
                if (from_.nodes[id].op == KernelOp::For)
                    for_results_.erase({static_cast<int>(id), lane});
            }
    }

    void store_all(int effect, std::vector<std::vector<int>>& stores) {
        const KernelNode& n = from_.nodes[effect];
        if (is_row(effect)) {
            for (size_t l = 0; l < lanes_.size(); ++l) walk_row(effect, l, stores[l]);
            return;
        }
        if (n.op != KernelOp::Store) {
            for (size_t l = 0; l < lanes_.size(); ++l) lane_effect(effect, l, stores[l]);
            return;
        }
        const size_t width = static_cast<size_t>(mapping_.tile_of(0));
        for (size_t first = 0; first < lanes_.size(); first += width) {
            std::vector<int> index, value;
            for (size_t v = 0; v < width; ++v) {
                index.push_back(lane_value(n.args[0], first + v));
                value.push_back(lane_value(n.args[1], first + v));
            }
            store_run(n, index, value, stores[first]);
        }
    }

    /// A loop of stores and nothing else, each of them to a buffer of its own.
    bool is_row(int effect) const {
        const KernelNode& n = from_.nodes[effect];
        if (n.op != KernelOp::For || !n.args.empty()) return false;
        const KernelRegion& body = from_.regions[n.region];
        std::set<int> stored;
        const bool stores = std::all_of(body.effects.begin(), body.effects.end(), [&](int e) {
            return from_.nodes[e].op == KernelOp::Store &&
                   stored.insert(from_.nodes[e].buffer).second;
        });
        return body.alive < 0 && (stores || (body.effects.size() == 1 && is_row(body.effects[0])));
    }

    /// A loop with effects and values of its own, for one lane.
    int lane_loop(const KernelNode& n, size_t lane) {
        const Turns apart(*this, false, 1, false);
        const KernelRegion& old = from_.regions[n.region];
        std::vector<int> inits, yields, inside, args;
        for (int init : n.args) inits.push_back(lane_value(init, lane));
        Range range = from_.ranges[old.range];
        range.extent_node = lane_value(range.extent_node, lane);
        const int range_id = b_.add_range(range);
        const int region = b_.add_region();
        b_.code().regions[region].range = range_id;
        for (int arg : old.args) args.push_back(b_.region_arg(region, from_.nodes[arg].dtype));
        bind_turn(n.region, lane, b_.range(range_id), args);
        for (int e : old.effects) lane_effect(e, lane, inside);
        for (int y : old.yields) yields.push_back(lane_value(y, lane));
        const int alive = old.alive >= 0 ? lane_value(old.alive, lane) : -1;
        forget_turn(n.region, lane);
        KernelRegion& body = b_.code().regions[region];
        body.effects = std::move(inside);
        body.yields = std::move(yields);
        body.alive = alive;
        b_.set_lines(n.lines);
        return b_.close_for(region, std::move(inits));
    }

    /// An effect at computed indices, possibly in a loop or behind a condition, for one lane.
    void lane_effect(int effect, size_t lane, std::vector<int>& effects) {
        const KernelNode& n = from_.nodes[effect];
        if (n.op == KernelOp::For) {
            effects.push_back(lane_loop(n, lane));
            return;
        }
        if (n.op == KernelOp::Branch) {
            ensure(n.else_region < 0, "map: an effect with two sides");
            const int condition = lane_value(n.args[0], lane);
            if (const int dropped = drop_into_copy(n, condition, lane); dropped >= 0) {
                effects.push_back(dropped);
                return;
            }
            std::vector<int> inside;
            for (int e : from_.regions[n.region].effects) lane_effect(e, lane, inside);
            const int region = b_.add_region();
            b_.code().regions[region].effects = std::move(inside);
            b_.set_lines(n.lines);
            effects.push_back(b_.branch(condition, region, -1, n.guard));
            return;
        }
        const Turns apart(*this, false, 1, false);
        const int index = lane_value(n.args[0], lane), value = lane_value(n.args[1], lane);
        b_.set_lines(n.lines);
        const int near = near_ ? near_->copy_of(n.buffer) : -1;
        const int buffer = near >= 0 ? near : program_buffer(from_.buffers[n.buffer], true, 1);
        effects.push_back(n.op == KernelOp::Atomic ? b_.atomic(buffer, n.combine, index, value)
                                                   : b_.store(buffer, index, std::span(&value, 1)));
    }

    /// A combining store to a copy that is only made inside the target. -1: not so.
    int drop_into_copy(const KernelNode& branch, int condition, size_t lane) {
        const std::vector<int>& inside = from_.regions[branch.region].effects;
        if (!near_ || !branch.guard || inside.size() != 1 ||
            from_.nodes[inside[0]].op != KernelOp::Atomic)
            return -1;
        const KernelNode& n = from_.nodes[inside[0]];
        const int spare = near_->spare_place(n.buffer);
        if (spare < 0) return -1;
        const Turns apart(*this, false, 1, false);
        const int value = lane_value(n.args[1], lane);
        const int index = b_.select(condition, lane_value(n.args[0], lane), spare);
        b_.set_lines(n.lines);
        return b_.atomic(near_->copy_of(n.buffer), n.combine, index, value);
    }

    /// A loop of stores: the row that one invocation walks, in copies of `serial_unroll` turns and
    /// a rest.
    void walk_row(int loop, size_t lane, std::vector<int>& effects) {
        const KernelNode& n = from_.nodes[loop];
        const KernelRegion& body = from_.regions[n.region];
        const Range& range = from_.ranges[body.range];
        const int extent = lane_value(range.extent_node, lane);
        const bool nested = from_.nodes[body.effects[0]].op == KernelOp::For;
        const int64_t copies = nested ? 1 : std::max<int64_t>(1, mapping_.serial_unroll);
        const Deal deal = deal_of(range, extent, copies, is_split(loop));
        for (const Part& part : parts_of(b_, range, extent, deal, lane_))
            row_loop(n, lane, part, effects);
    }

    void row_loop(const KernelNode& n, size_t lane, const Part& part, std::vector<int>& effects) {
        const Deal& deal = part.deal;
        if (b_.is_constant(part.turns) && b_.node(part.turns).constant.i == 0) return;
        const KernelRegion& body = from_.regions[n.region];
        Range range = from_.ranges[body.range];
        if (part.max_trips >= 0)
            range.max_trips = part.max_trips;
        else if (range.max_trips >= 0)
            range.max_trips /= deal.copies * deal.lanes;
        range.extent_node = part.turns;
        const Size whole = range.extent;
        range.extent = part.extent;
        range.rest = part.rest && !b_.is_constant(part.turns);
        const int range_id = b_.add_range(range);
        const int region = b_.add_region();
        b_.code().regions[region].range = range_id;
        const int base = first_index(b_, b_.range(range_id), part.start, deal, whole, lane_);
        std::vector<int> inside;
        std::vector<std::vector<int>> index(body.effects.size()), value(body.effects.size());
        for (int64_t c = 0; c < deal.copies; ++c) {
            bind_turn(n.region, lane, b_.add(base, b_.integer(deal.at(c))), {});
            for (size_t k = 0; k < body.effects.size(); ++k) {
                const KernelNode& effect = from_.nodes[body.effects[k]];
                if (effect.op == KernelOp::For) {
                    walk_row(body.effects[k], lane, inside);
                } else {
                    index[k].push_back(lane_value(effect.args[0], lane));
                    value[k].push_back(lane_value(effect.args[1], lane));
                }
            }
            forget_turn(n.region, lane);
        }
        for (size_t k = 0; k < body.effects.size(); ++k)
            if (!index[k].empty())
                store_run(from_.nodes[body.effects[k]], index[k], value[k], inside);
        b_.code().regions[region].effects = std::move(inside);
        b_.set_lines(n.lines);
        effects.push_back(b_.close_for(region, {}));
    }

    /// Stores of one buffer, four neighbours at a time where they are aligned.
    void store_run(const KernelNode& n, const std::vector<int>& index,
                   const std::vector<int>& value, std::vector<int>& stores) {
        const KernelBuffer& b = from_.buffers[n.buffer];
        b_.set_lines(n.lines);
        for (size_t first = 0; first < index.size();) {
            const Interval& at = b_.node(index[first]).interval;
            bool block = first + 4 <= index.size() && b.dtype.bytes() == 4 && at.mod % 4 == 0 &&
                         at.rem % 4 == 0;
            for (size_t v = 1; v < 4 && block; ++v)
                block =
                    index[first + v] == b_.add(index[first], b_.integer(static_cast<int64_t>(v)));
            const size_t width = block ? 4 : 1;
            stores.push_back(b_.store(program_buffer(b, true, static_cast<int>(width)),
                                      index[first], std::span(value).subspan(first, width)));
            first += width;
        }
    }

    /// The lanes' stores behind their guards, each guard inside the one before: a later lane exists
    /// only where the earlier ones do.
    std::vector<int> nest_guards(const std::vector<std::vector<int>>& stores) {
        KernelCode& to = b_.code();
        std::vector<std::pair<int, std::vector<int>>> levels(1);  // guard condition, stores
        levels[0].first = -1;
        for (size_t l = 0; l < lanes_.size(); ++l) {
            if (lanes_[l].guard >= 0) levels.push_back({lanes_[l].guard, {}});
            const std::vector<int> effects = by_first_lane(stores[l]);
            levels.back().second.insert(levels.back().second.end(), effects.begin(), effects.end());
        }
        int inner = -1;  // the Branch of the next level
        for (size_t k = levels.size(); k-- > 0;) {
            std::vector<int> effects = levels[k].second;
            if (inner >= 0) effects.push_back(inner);
            if (k == 0) return effects;
            const int region = b_.add_region();
            to.regions[region].effects = effects;
            inner = b_.branch(levels[k].first, region, -1, true);
        }
        return {};
    }

    /// What all lanes of a subgroup know is stored by one of them; rows are dealt already.
    std::vector<int> by_first_lane(const std::vector<int>& effects) {
        if (mapping_.lanes == 1) return effects;
        std::vector<int> out, alone;
        for (int e : effects) (b_.node(e).op == KernelOp::For ? out : alone).push_back(e);
        if (alone.empty()) return out;
        const int region = b_.add_region();
        b_.code().regions[region].effects = alone;
        out.push_back(b_.branch(b_.make(KernelOp::Equal, boolean, {lane_, b_.integer(0)}), region,
                                -1, false));
        return out;
    }

    const KernelCode& from_;
    KernelBuilder b_;
    const Mapping& mapping_;
    const DeviceProfile& profile_;
    const SymbolFacts& symbol_facts_;
    std::vector<std::vector<int>> needs_;
    std::vector<int> grid_;             // Grid ranges of from_, x first
    std::map<int, SharedLoop> shared_;  // where lanes > 1: what they share
    int lane_ = -1;                     // where lanes share work or loads: the lane's number
    SameInSubgroup same_in_subgroup_{b_};
    bool together_ = true;    // all lanes of a subgroup do what is built now
    bool all_copies_ = true;  // and all copies: what is asked for one can be asked for another
    bool in_branch_ = false;  // each copy goes its own way: no loop serves several
    const MappedGrid* grid_map_ = nullptr;
    std::map<int, StagedLoop> staged_;  // loops whose operands groups load together
    StagedTile* tile_ = nullptr;  // of the loop that is built now, in which turn since tile_start_
    int tile_region_ = -1, tile_start_ = -1, tile_turn_ = -1;
    std::vector<int> effects_;        // of the region that is built now: what is staged and read
    std::optional<NearCopies> near_;  // of targets that combining stores go to
    int64_t copies_ = 1;              // turns of the loop that is built now in one
    std::vector<GridCopy> lanes_;
    std::vector<bool> varies_;
    std::vector<std::vector<int>> memo_;  // per lane and node
    Recursion nested_;                    // nodes that wait for what they are made of
    std::map<std::pair<int, size_t>, std::vector<int>> for_results_;
};

}  // namespace

int64_t Mapping::copies() const {
    int64_t count = strides;
    for (int64_t t : tile) count *= t;
    return count;
}

KernelCode map_ranges(const KernelCode& ready, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts) {
    if (mapping.matrix) return map_to_matrix_unit(ready, mapping, profile, facts);
    KernelCode code;
    ensure(holds_rows(ready, mapping, profile, facts),
           "map: the groups of this mapping hold no rows");
    Mapper(ready, code, mapping, profile, facts).run();
    return code;
}

}  // namespace firn
