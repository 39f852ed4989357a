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
#include "compiler/mapping/mapping_run.h"
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

void reduce_rows(MappingRun& run, std::vector<int>& exchanges);
std::vector<int> live_row_reductions(MappingRun& run);
std::vector<int> open_copies(MappingRun& run);
std::vector<int> with_copies(MappingRun& run, std::vector<int> effects, std::vector<int> stores);
int turn_loop(MappingRun& run, int range, std::vector<int> effects);
int number(MappingRun& run, const char* name, RangeKind kind, int64_t count);
void mark_varying(MappingRun& run);
bool node_varies(MappingRun& run, const KernelNode& n, const std::vector<bool>& range_varies,
                 const std::vector<bool>& region_varies);
std::vector<std::vector<int>> staged_loop(MappingRun& run, int id, const std::vector<size_t>& group,
                                          std::vector<std::vector<int>> values);
void read_staged(MappingRun& run, int range, const std::vector<size_t>& group);
int turn_of(MappingRun& run, int range, size_t lane);
int value_at(MappingRun& run, int node, const std::vector<int>& at,
             const std::map<int, int>& turns);
int lane_value(MappingRun& run, int id, size_t lane);
int map_value(MappingRun& run, int id, size_t lane);
void map_operands(MappingRun& run, int id, size_t lane);
int program_buffer(MappingRun& run, const KernelBuffer& b, bool written, int width);
int load(MappingRun& run, const KernelNode& n, int index, size_t lane);
int dealt_load(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int index, size_t lane);
int dealt_turns(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int index);
int dealt_copies(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int index,
                 size_t lane);
int hand_round(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int mine, int64_t from,
               int index);
int branch(MappingRun& run, const KernelNode& n, size_t lane);
const std::vector<int>& for_results(MappingRun& run, int id, size_t lane);
bool is_split(MappingRun& run, int loop);
int combined(MappingRun& run, const KernelNode& loop, const Combine& by, int init, int part);
std::vector<std::vector<int>> loop(MappingRun& run, int id, const std::vector<size_t>& group,
                                   std::vector<std::vector<int>> values);
std::vector<Part> parts_of_loop(MappingRun& run, int id, size_t lane);
std::vector<int> joined_with(MappingRun& run, int loop, size_t lane);
bool gathers(MappingRun& run, const KernelRegion& body);
Deal deal_of(MappingRun& run, const Range& range, int extent, int64_t copies, bool split);
bool one_row(MappingRun& run);
bool is_innermost(MappingRun& run, const KernelRegion& body);
JoinedTurns joined_turns(MappingRun& run, const std::vector<int>& around, const Range& inner,
                         const Part& part, size_t lane);
std::vector<std::vector<int>> serial(MappingRun& run, const std::vector<int>& around,
                                     const KernelNode& n, const std::vector<size_t>& group,
                                     std::vector<std::vector<int>> values, const Part& part);
void unroll(MappingRun& run, const KernelNode& n, const std::vector<size_t>& group,
            std::vector<std::vector<int>>& values, int start, const Deal& deal);
int tree(MappingRun& run, KernelOp step, DType dtype, std::vector<int> terms);
void bind_turn(MappingRun& run, int region, size_t lane, int index, const std::vector<int>& args);
void forget_turn(MappingRun& run, int region, size_t lane);
void store_all(MappingRun& run, int effect, std::vector<std::vector<int>>& stores);
bool is_row(MappingRun& run, int effect);
int lane_loop(MappingRun& run, const KernelNode& n, size_t lane);
void lane_effect(MappingRun& run, int effect, size_t lane, std::vector<int>& effects);
int drop_into_copy(MappingRun& run, const KernelNode& branch, int condition, size_t lane);
void walk_row(MappingRun& run, int loop, size_t lane, std::vector<int>& effects);
void row_loop(MappingRun& run, const KernelNode& n, size_t lane, const Part& part,
              std::vector<int>& effects);
void store_run(MappingRun& run, const KernelNode& n, const std::vector<int>& index,
               const std::vector<int>& value, std::vector<int>& stores);
std::vector<int> nest_guards(MappingRun& run, const std::vector<std::vector<int>>& stores);
std::vector<int> by_first_lane(MappingRun& run, const std::vector<int>& effects);
void map(MappingRun& run);
int subgroup_lane(MappingRun& run);
int invocation_of_group(MappingRun& run);
int place(MappingRun& run, int begin, int distance, int k);

/// All reductions of rows, where every invocation comes by: what their copies have, then what
/// the group has.
void reduce_rows(MappingRun& run, std::vector<int>& exchanges) {
    const RowGroup group{run.grid.lane, run.grid.subgroup, run.profile.subgroup_size,
                         run.mapping.group_x / run.profile.subgroup_size};
    const auto width = static_cast<size_t>(run.mapping.tile_of(0));
    for (int id : live_row_reductions(run)) {
        const KernelNode& n = run.from.nodes[id];
        std::vector<int> rows;
        for (size_t first = 0; first < run.copies.size(); first += width) {
            std::vector<int> each;
            for (size_t v = 0; v < width; ++v)
                each.push_back(lane_value(run, n.args[0], first + v));
            run.b.set_lines(n.lines);
            int part = each.size() > 1
                           ? tree(run, kernel_op(reduce_step(n.reduce)), n.dtype, std::move(each))
                           : each[0];
            if (run.grid.in_row >= 0)
                part = run.b.select(run.grid.in_row, part,
                                    run.b.constant(reduce_identity(n.reduce, n.dtype)));
            rows.push_back(part);
        }
        run.b.set_lines(n.lines);
        rows = combine_over_group(run.b, group, n.reduce, std::move(rows), exchanges);
        for (size_t l = 0; l < run.copies.size(); ++l) run.memo[l][id] = rows[l / width];
    }
}

/// In the order in which they need one another.
std::vector<int> live_row_reductions(MappingRun& run) {
    KernelCode placed = run.from;
    firn::place(placed);
    std::vector<int> out;
    for (const KernelRegion& region : placed.regions)
        for (int id : region.order)
            if (placed.nodes[id].op == KernelOp::RowReduce) out.push_back(id);
    std::sort(out.begin(), out.end());
    return out;
}

// --- copies of targets near the cores

std::vector<int> open_copies(MappingRun& run) {
    ensure(run.mapping.lanes == 1 && run.mapping.dealt_loads == 1 && run.mapping.group_y == 1,
           "map: the invocations of this kernel are not all there for copies of what they "
           "store to");
    run.near.emplace(run.b, run.from, run.mapping.near);
    return run.near->open();
}

std::vector<int> with_copies(MappingRun& run, std::vector<int> effects, std::vector<int> stores) {
    std::vector<int> bound;
    for (const NearTarget& t : run.near->targets())
        bound.push_back(program_buffer(run, run.from.buffers[t.buffer], true, 1));
    const int lane =
        run.mapping.near == MemorySpace::Private ? subgroup_lane(run) : invocation_of_group(run);
    const std::vector<int> end = run.near->close(bound, lane, run.mapping.group_x);
    effects.insert(effects.end(), stores.begin(), stores.end());
    effects.insert(effects.end(), end.begin(), end.end());
    return effects;
}

int turn_loop(MappingRun& run, int range, std::vector<int> effects) {
    const int region = run.b.add_region();
    run.b.code().regions[region].range = range;
    run.b.code().regions[region].effects = std::move(effects);
    return run.b.close_for(region, {});
}

int subgroup_lane(MappingRun& run) {
    return number(run, "l", RangeKind::Subgroup, run.profile.subgroup_size);
}

/// Of all invocations of the group. What the grid calls an index along x is held to be inside
/// of the grid, which behind its end is not so.
int invocation_of_group(MappingRun& run) {
    return number(run, "i", RangeKind::Invocation, run.mapping.group_x);
}

int number(MappingRun& run, const char* name, RangeKind kind, int64_t count) {
    Range range;
    range.name = name;
    range.kind = kind;
    range.extent = Size(count);
    return run.b.range(run.b.add_range(range));
}

/// Which nodes differ between lanes: they depend on a Grid range whose index does, or on the
/// index or a carried value of a loop that does.
void mark_varying(MappingRun& run) {
    std::vector<bool> range_varies(run.from.ranges.size(), false);
    for (size_t d = 0; d < run.grid.ranges.size(); ++d)
        for (const GridCopy& lane : run.copies)
            if (lane.index[d] != run.copies[0].index[d]) range_varies[run.grid.ranges[d]] = true;
    std::vector<bool> region_varies(run.from.regions.size(), false);
    run.varies.assign(run.from.nodes.size(), false);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t id = 0; id < run.from.nodes.size(); ++id) {
            if (run.varies[id] ||
                !node_varies(run, run.from.nodes[id], range_varies, region_varies))
                continue;
            run.varies[id] = changed = true;
            const KernelNode& n = run.from.nodes[id];
            if (n.op != KernelOp::For) continue;
            region_varies[n.region] = true;
            range_varies[run.from.regions[n.region].range] = true;
        }
    }
}

bool node_varies(MappingRun& run, const KernelNode& n, const std::vector<bool>& range_varies,
                 const std::vector<bool>& region_varies) {
    if (n.op == KernelOp::Range) return range_varies[n.range];
    if (n.op == KernelOp::RegionArg) return region_varies[n.region];
    auto any = [&](const std::vector<int>& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](int id) { return run.varies[id]; });
    };
    if (any(n.args)) return true;
    if (n.op != KernelOp::For && n.op != KernelOp::Branch) return false;
    for (int body : {n.region, n.else_region}) {
        if (body < 0) continue;
        const KernelRegion& r = run.from.regions[body];
        if (any(r.yields) || any(r.effects) || (r.alive >= 0 && run.varies[r.alive])) return true;
        if (r.range >= 0 && run.varies[run.from.ranges[r.range].extent_node]) return true;
    }
    return false;
}

// --- operands in shared memory

/// Blocks of a loop's turns: before each the group loads what it reads in them.
std::vector<std::vector<int>> staged_loop(MappingRun& run, int id, const std::vector<size_t>& group,
                                          std::vector<std::vector<int>> values) {
    const KernelNode& n = run.from.nodes[id];
    const KernelRegion& old = run.from.regions[n.region];
    const Range& range = run.from.ranges[old.range];
    const int64_t most = run.mapping.staged_turns;
    const int extent = lane_value(run, range.extent_node, group[0]), all = run.b.integer(most);
    const Size size =
        run.b.is_constant(extent) ? Size(run.b.node(extent).constant.i) : range.extent;
    const bool whole = !size.is(0) && size.divisor() % most == 0;
    Range blocks = range;
    blocks.extent_node =
        run.b.make(KernelOp::Div, i32, {run.b.add(extent, run.b.integer(most - 1)), all});
    blocks.extent = size.is(0) ? size : ceil_div(size, Size(most));
    if (range.max_trips >= 0) blocks.max_trips = (range.max_trips + most - 1) / most;
    const int blocks_id = run.b.add_range(blocks), region = run.b.add_region();
    run.b.code().regions[region].range = blocks_id;
    std::vector<int> inits, yields;
    for (auto& lane : values)
        for (int& value : lane) {
            inits.push_back(value);
            value = run.b.region_arg(region, run.b.node(value).dtype);
        }
    std::vector<int> around = std::exchange(run.effects, {});
    const int start = run.b.mul(run.b.range(blocks_id), all);
    StagedTile tile(run.b, run.from, run.grid, run.staged.at(id), old.range, run.mapping);
    run.effects =
        tile.fill({start, whole ? -1 : extent, size.is(0) ? 1 : size.divisor(),
                   [&](int node, const std::vector<int>& at, int turn, std::map<int, int> inside) {
                       inside[old.range] = turn;
                       return value_at(run, node, at, inside);
                   }});
    Range inner = range;
    inner.extent = whole ? Size(most) : Size(0);
    inner.extent_node =
        whole ? all : run.b.make(KernelOp::Min, i32, {all, run.b.sub(extent, start)});
    const Deal deal{1, is_innermost(run, old) ? std::gcd(most, run.mapping.serial_unroll) : 1, 1};
    Scoped<OpenTile> open(run.tile, {&tile, n.region, start, -1});
    for (Part part : parts_of(run.b, inner, inner.extent_node, deal, -1)) {
        if (part.max_trips < 0) part.max_trips = most / part.deal.copies;
        part.start = run.b.add(start, part.start);
        values = serial(run, {}, n, group, std::move(values), part);
    }
    open.end();
    run.effects.push_back(run.b.pinned(KernelOp::Barrier, i32, {}));
    for (const auto& lane : values) yields.insert(yields.end(), lane.begin(), lane.end());
    run.b.code().regions[region].yields = std::move(yields);
    run.b.code().regions[region].effects = std::exchange(run.effects, std::move(around));
    run.b.set_lines(n.lines);
    run.effects.push_back(run.b.close_for(region, std::move(inits)));
    int next = 0;
    for (auto& lane : values)
        for (int& value : lane) value = run.b.result(run.effects.back(), next++);
    return values;
}

/// Where the turns of a loop begin all that is staged and changes with them is read: once,
/// whoever needs it.
void read_staged(MappingRun& run, int range, const std::vector<size_t>& group) {
    if (!run.tile.arrays) return;
    for (int id : run.tile.arrays->values_of(range))
        for (size_t lane : group) lane_value(run, id, lane);
}

int turn_of(MappingRun& run, int range, size_t lane) {
    for (size_t id = 0; id < run.from.nodes.size(); ++id)
        if (run.from.nodes[id].op == KernelOp::Range && run.from.nodes[id].range == range)
            return run.memo[lane][id];
    return -1;
}

/// A node at other indices than those of this invocation's copies.
int value_at(MappingRun& run, int node, const std::vector<int>& at,
             const std::map<int, int>& turns) {
    std::vector<int> bound(run.from.nodes.size(), -1);
    for (size_t id = 0; id < run.from.nodes.size(); ++id) {
        const KernelNode& n = run.from.nodes[id];
        if (n.op != KernelOp::Range || run.from.ranges[n.range].kind != RangeKind::Serial) continue;
        const auto turn = turns.find(n.range);
        bound[id] = turn == turns.end() ? run.memo[0][id] : turn->second;
    }
    std::vector<std::vector<int>> memo{std::move(bound)};
    std::vector<GridCopy> copies{{at, -1}};
    run.memo.swap(memo), run.copies.swap(copies);
    const int made = lane_value(run, node, 0);
    run.memo.swap(memo), run.copies.swap(copies);
    return made;
}

int lane_value(MappingRun& run, int id, size_t lane) {
    if (run.memo[lane][id] >= 0) return run.memo[lane][id];
    return run.recursion([&] { return map_value(run, id, lane); });
}

int map_value(MappingRun& run, int id, size_t lane) {
    const KernelNode& n = run.from.nodes[id];
    int made = run.tile.arrays
                   ? run.tile.arrays->read(
                         id, lane, run.tile.iteration,
                         [&](int range) { return turn_of(run, range, lane); }, run.effects)
                   : -1;
    if (made >= 0) return run.memo[lane][id] = made;
    switch (n.op) {
        case KernelOp::Range: {
            const auto it = std::find(run.grid.ranges.begin(), run.grid.ranges.end(), n.range);
            ensure(it != run.grid.ranges.end(), "map: the index of a loop is asked outside it");
            made = run.copies[lane].index[static_cast<size_t>(it - run.grid.ranges.begin())];
            break;
        }
        case KernelOp::Constant: made = run.b.constant(n.constant); break;
        case KernelOp::Param: {
            const ParamInfo& p = run.from.params[n.param];
            made = p.scalar >= 0 ? run.b.scalar_argument(p.scalar, p.dtype) : run.b.size(p.size);
            break;
        }
        case KernelOp::Load:
            made = load(run, n, lane_value(run, n.args[0], lane), lane);
            if (n.interval.lo > INT32_MIN || n.interval.hi < INT32_MAX)
                run.b.assume(made, Size(n.interval.lo), Size(n.interval.hi));
            break;
        case KernelOp::Result: {
            const KernelNode& owner = run.from.nodes[n.args[0]];
            if (owner.op == KernelOp::For)
                return for_results(run, n.args[0], lane)[static_cast<size_t>(n.position)];
            made = run.b.result(lane_value(run, n.args[0], lane), n.position);
            break;
        }
        case KernelOp::Branch: made = branch(run, n, lane); break;
        default: {
            ensure(is_elementwise(n.op), "map: an operation that it does not know");
            std::vector<int> args;
            if (run.recursion.depth() > kDeep) map_operands(run, id, lane);
            for (int arg : n.args) args.push_back(lane_value(run, arg, lane));
            run.b.set_lines(n.lines);
            made = run.b.make(n.op, n.dtype, std::move(args));
        }
    }
    run.memo[lane][id] = made;
    return made;
}

/// What an elementwise node is made of, innermost first: a chain of any length takes no stack.
void map_operands(MappingRun& run, int id, size_t lane) {
    auto is_open = [&](int arg) {
        return run.memo[lane][arg] < 0 && is_elementwise(run.from.nodes[arg].op);
    };
    std::vector<int> chain{id};
    while (!chain.empty()) {
        const std::vector<int>& args = run.from.nodes[chain.back()].args;
        const auto open = std::find_if(args.begin(), args.end(), is_open);
        if (open != args.end()) {
            chain.push_back(*open);
            continue;
        }
        const int last = chain.back();
        chain.pop_back();
        if (!chain.empty()) lane_value(run, last, lane);
    }
}

int program_buffer(MappingRun& run, const KernelBuffer& b, bool written, int width) {
    KernelBuffer bound = b;
    bound.width = width, bound.written = written;
    const BindingForm form = binding_form(bound, run.profile, run.facts);
    return run.b.buffer(b.buffer, b.dtype, b.elements, form, width, written);
}

/// Loads of 4-byte elements whose place in an aligned block of four is known go through the
/// block; split_lonely_blocks() undoes it where few of the four are used. The lane keeps the
/// plain index.
int load(MappingRun& run, const KernelNode& n, int index, size_t lane) {
    const KernelBuffer& b = run.from.buffers[n.buffer];
    if (const int dealt = dealt_load(run, n, b, index, lane); dealt >= 0) return dealt;
    run.b.set_lines(n.lines);
    const Interval& at = run.b.node(index).interval;
    const bool several =
        run.mapping.tile_of(0) * run.mapping.serial_unroll >= 4 || run.mapping.staged_turns >= 4;
    const bool aligned =
        b.dtype.bytes() == 4 && several && at.mod % 4 == 0 && !run.b.is_constant(index);
    if (!aligned) return run.b.load(program_buffer(run, b, false, 1), index);
    const int64_t rest = ((at.rem % 4) + 4) % 4;
    const int block =
        run.b.load(program_buffer(run, b, false, 4), run.b.sub(index, run.b.integer(rest)), 4);
    return run.b.lane(block, static_cast<int>(rest), index);
}

/// An element that all lanes read, one of as many in a row as there are lanes: each loads one,
/// and they hand them round. undo_lonely_shuffles() undoes it where few of them are used. -1:
/// not so.
int dealt_load(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int index,
               size_t lane) {
    if (run.mapping.dealt_loads == 1 || !run.around.together || b.dtype.bytes() != 4 ||
        b.dtype.is_bool() || run.b.is_constant(index) || !run.same_in_subgroup(index))
        return -1;
    const int dealt = dealt_turns(run, n, b, index);
    return dealt >= 0 ? dealt : dealt_copies(run, n, b, index, lane);
}

/// Neighbours in memory that the copies of one turn read.
int dealt_turns(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int index) {
    const auto lanes = static_cast<int64_t>(run.mapping.dealt_loads);
    const Interval& at = run.b.node(index).interval;
    if (run.around.unrolled % lanes != 0 || at.mod <= 0 || at.mod % lanes != 0) return -1;
    const int64_t rest = ((at.rem % lanes) + lanes) % lanes;
    return hand_round(run, n, b, run.b.add(run.b.sub(index, run.b.integer(rest)), run.lane), rest,
                      index);
}

/// Elements at equal distances that the copies along one range read.
int dealt_copies(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int index,
                 size_t lane) {
    if (!run.around.all_copies || !run.varies[n.args[0]]) return -1;
    const size_t lanes = run.mapping.dealt_loads;
    size_t step = static_cast<size_t>(
        run.mapping.tile_of(0));  // from a copy to its neighbour along the range
    for (size_t d = 1; d < run.grid.ranges.size();
         step *= static_cast<size_t>(run.mapping.tile_of(d++))) {
        const auto tile = static_cast<size_t>(run.mapping.tile_of(d));
        if (tile % lanes != 0) continue;
        const size_t rest = lane / step % lanes, first = lane - rest * step;
        const int begin = lane_value(run, n.args[0], first);
        const int distance = run.b.sub(lane_value(run, n.args[0], first + step), begin);
        if (run.b.is_constant(distance) && run.b.node(distance).constant.i == 0) continue;
        bool even = true;
        for (size_t k = 0; k < lanes && even; ++k)
            even = lane_value(run, n.args[0], first + k * step) ==
                   place(run, begin, distance, run.b.integer(static_cast<int64_t>(k)));
        if (even)
            return hand_round(run, n, b, place(run, begin, distance, run.lane),
                              static_cast<int64_t>(rest), index);
    }
    return -1;
}
int place(MappingRun& run, int begin, int distance, int k) {
    return run.b.add(begin, run.b.mul(distance, k));
}

/// The element at `mine`, as lane `from` has it.
int hand_round(MappingRun& run, const KernelNode& n, const KernelBuffer& b, int mine, int64_t from,
               int index) {
    run.b.set_lines(n.lines);
    const int last = run.b.sub(run.b.size(b.elements), run.b.integer(1));
    const int value =
        run.b.load(program_buffer(run, b, false, 1), run.b.make(KernelOp::Min, i32, {mine, last}));
    return run.b.shuffle(value, static_cast<int>(from), index);
}

int branch(MappingRun& run, const KernelNode& n, size_t lane) {
    const int condition = lane_value(run, n.args[0], lane);
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    run.around.in_branch = true;
    int regions[2] = {-1, -1};
    const int sources[2] = {n.region, n.else_region};
    for (int k = 0; k < 2; ++k) {
        if (sources[k] < 0) continue;
        std::vector<int> yields;
        for (int y : run.from.regions[sources[k]].yields)
            yields.push_back(lane_value(run, y, lane));
        regions[k] = run.b.add_region();
        run.b.code().regions[regions[k]].yields = std::move(yields);
    }
    run.b.set_lines(n.lines);
    return run.b.branch(condition, regions[0], regions[1], n.guard);
}

/// New results of a loop for a lane. Loops that differ between lanes only in their values are
/// jammed: one loop carries the values of all lanes.
const std::vector<int>& for_results(MappingRun& run, int id, size_t lane) {
    auto key = [&](size_t l) { return std::make_pair(id, l); };
    if (auto it = run.results.find(key(lane)); it != run.results.end()) return it->second;
    const KernelNode& n = run.from.nodes[id];
    const KernelRegion& body = run.from.regions[n.region];
    const int extent_node = run.from.ranges[body.range].extent_node;
    const bool jam = body.alive < 0 && !run.varies[extent_node] && !run.around.in_branch;
    std::vector<size_t> group;
    if (!run.varies[id])
        group = {0};
    else if (jam)
        for (size_t l = 0; l < run.copies.size(); ++l) group.push_back(l);
    else
        group = {lane};
    const auto shared = run.shared.find(id);
    const std::vector<Combine> combine =
        shared == run.shared.end() ? std::vector<Combine>() : shared->second.combine;
    std::vector<std::vector<int>> inits(group.size());
    for (size_t g = 0; g < group.size(); ++g)
        for (int init : n.args) inits[g].push_back(lane_value(run, init, group[g]));
    std::vector<std::vector<int>> starts = inits;
    for (auto& lane : starts)
        for (size_t k = 0; k < combine.size(); ++k)
            lane[k] =
                run.b.constant(reduce_identity(combine[k].reduce, run.from.nodes[n.args[k]].dtype));
    std::vector<std::vector<int>> values = loop(run, id, group, std::move(starts));
    for (size_t g = 0; g < group.size(); ++g)
        for (size_t k = 0; k < combine.size(); ++k)
            values[g][k] = combined(run, n, combine[k], inits[g][k], values[g][k]);
    for (size_t l = 0; l < run.copies.size(); ++l) {
        if (!run.varies[id])
            run.results[key(l)] = values[0];
        else if (auto it = std::find(group.begin(), group.end(), l); it != group.end())
            run.results[key(l)] = values[static_cast<size_t>(it - group.begin())];
    }
    return run.results.at(key(lane));
}

bool is_split(MappingRun& run, int loop) {
    const auto it = run.shared.find(loop);
    return it != run.shared.end() && it->second.split;
}

/// The lanes' parts of a reduction that began at `init`.
int combined(MappingRun& run, const KernelNode& loop, const Combine& by, int init, int part) {
    run.b.set_lines(loop.lines);
    const DType dtype = run.b.node(part).dtype;
    const int all = run.b.subgroup_reduce(by.reduce, part);
    if (init == run.b.constant(reduce_identity(by.reduce, dtype))) return all;
    return run.b.make(by.step, dtype, {init, all});
}

std::vector<std::vector<int>> loop(MappingRun& run, int id, const std::vector<size_t>& group,
                                   std::vector<std::vector<int>> values) {
    if (run.staged.contains(id) && !run.around.in_branch)
        return staged_loop(run, id, group, std::move(values));
    std::vector<int> nest = joined_with(run, id, group[0]);
    const int last = nest.back();
    nest.pop_back();
    for (const Part& part : parts_of_loop(run, last, group[0]))
        values = serial(run, nest, run.from.nodes[last], group, std::move(values), part);
    return values;
}

std::vector<Part> parts_of_loop(MappingRun& run, int id, size_t lane) {
    const KernelRegion& body = run.from.regions[run.from.nodes[id].region];
    const Range& range = run.from.ranges[body.range];
    const int extent = lane_value(run, range.extent_node, lane);
    const bool innermost = is_innermost(run, body), split = is_split(run, id);
    int64_t copies = body.alive < 0 && innermost ? run.mapping.serial_unroll : 1;
    if (body.alive < 0 && innermost && !split && run.b.is_constant(extent) &&
        run.b.node(extent).constant.i <= run.mapping.whole_loops)
        copies = std::max(copies, run.b.node(extent).constant.i);
    return parts_of(run.b, range, extent, deal_of(run, range, extent, copies, split), run.lane);
}

/// A loop and those inside that run as one with it, outermost first. What is written out stays
/// inside.
std::vector<int> joined_with(MappingRun& run, int loop, size_t lane) {
    std::vector<int> out{loop};
    auto most_turns = [&](int id) {
        const int64_t most =
            run.from.ranges[run.from.regions[run.from.nodes[id].region].range].max_trips;
        return most < 0 ? kMostJoined : std::max<int64_t>(most, 1);
    };
    int64_t turns = most_turns(loop);
    while (run.mapping.joined_loops && !is_split(run, out.back())) {
        const int inner = handed_through(run.from, out.back());
        if (inner < 0 || run.staged.contains(inner) ||
            run.from.regions[run.from.nodes[inner].region].alive >= 0)
            break;
        const KernelRegion& body = run.from.regions[run.from.nodes[inner].region];
        const int extent = run.from.ranges[body.range].extent_node;
        auto knows = [&](int around) {
            const std::vector<int>& needs = run.needs[extent];
            return std::find(needs.begin(), needs.end(), run.from.nodes[around].region) !=
                   needs.end();
        };
        if (run.varies[extent] || std::any_of(out.begin(), out.end(), knows)) break;
        const std::vector<Part> parts = parts_of_loop(run, inner, lane);
        const bool written_out =
            run.b.is_constant(parts[0].turns) && run.b.node(parts[0].turns).constant.i <= 1;
        if (written_out || (parts.size() > 1 && !gathers(run, body))) break;
        if (most_turns(inner) > kMostJoined / turns) break;
        turns *= most_turns(inner);
        out.push_back(inner);
    }
    return out;
}

/// The order of its turns does not matter.
bool gathers(MappingRun& run, const KernelRegion& body) {
    for (size_t k = 0; k < body.yields.size(); ++k)
        if (!gathered_term(run.from, body, k)) return false;
    return true;
}

Deal deal_of(MappingRun& run, const Range& range, int extent, int64_t copies, bool split) {
    return deal_turns(run.b, range, extent, copies, split ? run.mapping.lanes : 1, one_row(run));
}

/// Rows begin at multiples of their length: a kernel of one row begins at 0.
bool one_row(MappingRun& run) {
    return std::all_of(run.grid.ranges.begin(), run.grid.ranges.end(),
                       [&](int r) { return run.from.ranges[r].extent.is(1); });
}

bool is_innermost(MappingRun& run, const KernelRegion& body) {
    // A body that holds another loop depends on it through a Result.
    std::vector<int> queue = body.yields;
    std::vector<bool> seen(run.from.nodes.size(), false);
    const int self = static_cast<int>(&body - run.from.regions.data());
    while (!queue.empty()) {
        const int id = queue.back();
        queue.pop_back();
        if (seen[id] ||
            std::find(run.needs[id].begin(), run.needs[id].end(), self) == run.needs[id].end())
            continue;
        seen[id] = true;
        if (run.from.nodes[id].op == KernelOp::For) return false;
        for (int arg : run.from.nodes[id].args) queue.push_back(arg);
    }
    return true;
}

/// The turns of a nest whose innermost loop takes `part`; empty where there is no other.
JoinedTurns joined_turns(MappingRun& run, const std::vector<int>& around, const Range& inner,
                         const Part& part, size_t lane) {
    JoinedTurns out;
    for (int loop : around) {
        const Range& range = run.from.ranges[run.from.regions[run.from.nodes[loop].region].range];
        out.add(lane_value(run, range.extent_node, lane), range.extent, range.max_trips);
    }
    if (!around.empty()) out.add(part.turns, part.extent, inner.max_trips);
    return out;
}

/// One loop for a part of the old one's turns, and for all turns of those `around` it.
std::vector<std::vector<int>> serial(MappingRun& run, const std::vector<int>& around,
                                     const KernelNode& n, const std::vector<size_t>& group,
                                     std::vector<std::vector<int>> values, const Part& part) {
    const Deal& deal = part.deal;
    const int extent_node = part.turns, start = part.start;
    const int64_t copies = deal.copies;
    const KernelRegion& old = run.from.regions[n.region];
    const Range& old_range = run.from.ranges[old.range];
    const int64_t known_turns =
        run.b.is_constant(extent_node) ? run.b.node(extent_node).constant.i : -1;
    if (old.alive < 0 && (known_turns == 0 || (known_turns == 1 && around.empty()))) {
        if (known_turns == 1) unroll(run, n, group, values, start, deal);
        return values;
    }
    Range range = old_range;
    range.extent_node = extent_node;
    range.extent = part.extent;
    range.rest = part.rest && !run.b.is_constant(part.turns);
    if (part.max_trips >= 0)
        range.max_trips = part.max_trips;
    else if (range.max_trips >= 0)
        range.max_trips /= copies * deal.lanes;
    if (known_turns >= 0) range.max_trips = known_turns;
    JoinedTurns joined = joined_turns(run, around, range, part, group[0]);
    if (!joined.empty()) joined.count(run.b, range);
    const int range_id = run.b.add_range(range);
    const int region = run.b.add_region();
    run.b.code().regions[region].range = range_id;
    std::vector<int> outside = std::exchange(run.effects, {});
    std::vector<std::vector<int>> current(group.size());
    for (size_t g = 0; g < group.size(); ++g)
        for (int arg : old.args)
            current[g].push_back(run.b.region_arg(region, run.from.nodes[arg].dtype));
    const std::vector<std::vector<int>> args = current;
    const bool together = old.alive < 0 && run.same_in_subgroup(range.extent_node);
    joined.open(run.b, region);
    for (size_t k = 0; k < joined.size(); ++k) run.same_in_subgroup.mark(joined.index(k), together);
    const int turn = joined.empty() ? run.b.range(range_id) : joined.innermost();
    const int base = first_index(run.b, turn, start, deal, old_range.extent, run.lane);
    const Scoped<Surroundings> inside(
        run.around, run.around.in_loop(together, group.size() == run.copies.size(), copies));
    for (size_t k = 0; k < around.size(); ++k)
        for (size_t g = 0; g < group.size(); ++g)
            bind_turn(run, run.from.nodes[around[k]].region, group[g], joined.index(k), current[g]);
    std::vector<std::vector<std::vector<int>>> terms(
        group.size(), std::vector<std::vector<int>>(old.args.size()));
    int alive = -1;
    for (int64_t c = 0; c < copies; ++c) {
        const int index = run.b.add(base, run.b.integer(deal.at(c)));
        for (size_t g = 0; g < group.size(); ++g)
            bind_turn(run, n.region, group[g], index, current[g]);
        read_staged(run, old.range, group);
        for (size_t g = 0; g < group.size(); ++g) {
            std::vector<int> next;
            for (size_t k = 0; k < old.yields.size(); ++k) {
                // What is staged has many chains already; a product and a sum are one operation
                // in each.
                const auto gathered =
                    copies > 1 && !run.tile.arrays ? gathered_term(run.from, old, k) : std::nullopt;
                if (gathered) {
                    terms[g][k].push_back(lane_value(run, gathered->term, group[g]));
                    next.push_back(current[g][k]);
                } else {
                    next.push_back(lane_value(run, old.yields[k], group[g]));
                }
            }
            if (old.alive >= 0) alive = lane_value(run, old.alive, group[g]);
            current[g] = std::move(next);
        }
        for (size_t l : group) forget_turn(run, n.region, l);
    }
    std::vector<int> yields, inits;
    for (size_t g = 0; g < group.size(); ++g)
        for (size_t k = 0; k < old.args.size(); ++k) {
            int y = current[g][k];
            if (!terms[g][k].empty()) {
                const KernelNode& step = run.from.nodes[old.yields[k]];
                run.b.set_lines(step.lines);
                y = run.b.make(step.op, step.dtype,
                               {args[g][k], tree(run, step.op, step.dtype, terms[g][k])});
            }
            yields.push_back(y);
            inits.push_back(values[g][k]);
        }
    for (int index : joined.next(run.b)) {
        yields.push_back(index);
        inits.push_back(run.b.integer(0));
    }
    for (int loop : around)
        for (size_t l : group) forget_turn(run, run.from.nodes[loop].region, l);
    run.b.code().regions[region].yields = std::move(yields);
    run.b.code().regions[region].alive = alive;
    run.b.code().regions[region].effects = std::exchange(run.effects, std::move(outside));
    run.b.set_lines(n.lines);
    const int made = run.b.close_for(region, std::move(inits));
    if (!run.b.code().regions[region].effects.empty()) run.effects.push_back(made);
    int next = 0;
    for (auto& lane : values)
        for (int& v : lane) v = run.b.result(made, next++);
    return values;
}

/// The turns without a loop.
void unroll(MappingRun& run, const KernelNode& n, const std::vector<size_t>& group,
            std::vector<std::vector<int>>& values, int start, const Deal& deal) {
    const KernelRegion& old = run.from.regions[n.region];
    const int base = first_index(run.b, run.b.integer(0), start, deal, Size(0), run.lane);
    for (int64_t c = 0; c < deal.copies; ++c) {
        const int index = run.b.add(base, run.b.integer(deal.at(c)));
        for (size_t g = 0; g < group.size(); ++g)
            bind_turn(run, n.region, group[g], index, values[g]);
        read_staged(run, old.range, group);
        for (size_t g = 0; g < group.size(); ++g) {
            std::vector<int> next;
            for (int y : old.yields) next.push_back(lane_value(run, y, group[g]));
            values[g] = std::move(next);
        }
        for (size_t l : group) forget_turn(run, n.region, l);
    }
}

int tree(MappingRun& run, KernelOp step, DType dtype, std::vector<int> terms) {
    while (terms.size() > 1) {
        std::vector<int> half;
        for (size_t k = 0; k + 1 < terms.size(); k += 2)
            half.push_back(run.b.make(step, dtype, {terms[k], terms[k + 1]}));
        if (terms.size() % 2) half.push_back(terms.back());
        terms = std::move(half);
    }
    return terms[0];
}

void bind_turn(MappingRun& run, int region, size_t lane, int index, const std::vector<int>& args) {
    const KernelRegion& body = run.from.regions[region];
    for (size_t id = 0; id < run.from.nodes.size(); ++id)
        if (run.from.nodes[id].op == KernelOp::Range && run.from.nodes[id].range == body.range)
            run.memo[lane][id] = index;
    if (run.tile.arrays && region == run.tile.region)
        run.tile.iteration = run.b.sub(index, run.tile.start);
    for (size_t k = 0; k < body.args.size(); ++k) run.memo[lane][body.args[k]] = args[k];
}

void forget_turn(MappingRun& run, int region, size_t lane) {
    for (size_t id = 0; id < run.from.nodes.size(); ++id)
        if (std::find(run.needs[id].begin(), run.needs[id].end(), region) != run.needs[id].end()) {
            run.memo[lane][id] = -1;
            if (run.from.nodes[id].op == KernelOp::For)
                run.results.erase({static_cast<int>(id), lane});
        }
}

void store_all(MappingRun& run, int effect, std::vector<std::vector<int>>& stores) {
    const KernelNode& n = run.from.nodes[effect];
    if (is_row(run, effect)) {
        for (size_t l = 0; l < run.copies.size(); ++l) walk_row(run, effect, l, stores[l]);
        return;
    }
    if (n.op != KernelOp::Store) {
        for (size_t l = 0; l < run.copies.size(); ++l) lane_effect(run, effect, l, stores[l]);
        return;
    }
    const size_t width = static_cast<size_t>(run.mapping.tile_of(0));
    for (size_t first = 0; first < run.copies.size(); first += width) {
        std::vector<int> index, value;
        for (size_t v = 0; v < width; ++v) {
            index.push_back(lane_value(run, n.args[0], first + v));
            value.push_back(lane_value(run, n.args[1], first + v));
        }
        store_run(run, n, index, value, stores[first]);
    }
}

/// A loop of stores and nothing else, each of them to a buffer of its own.
bool is_row(MappingRun& run, int effect) {
    const KernelNode& n = run.from.nodes[effect];
    if (n.op != KernelOp::For || !n.args.empty()) return false;
    const KernelRegion& body = run.from.regions[n.region];
    std::set<int> stored;
    const bool stores = std::all_of(body.effects.begin(), body.effects.end(), [&](int e) {
        return run.from.nodes[e].op == KernelOp::Store &&
               stored.insert(run.from.nodes[e].buffer).second;
    });
    return body.alive < 0 && (stores || (body.effects.size() == 1 && is_row(run, body.effects[0])));
}

/// A loop with effects and values of its own, for one lane.
int lane_loop(MappingRun& run, const KernelNode& n, size_t lane) {
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    const KernelRegion& old = run.from.regions[n.region];
    std::vector<int> inits, yields, inside, args;
    for (int init : n.args) inits.push_back(lane_value(run, init, lane));
    Range range = run.from.ranges[old.range];
    range.extent_node = lane_value(run, range.extent_node, lane);
    const int range_id = run.b.add_range(range);
    const int region = run.b.add_region();
    run.b.code().regions[region].range = range_id;
    for (int arg : old.args) args.push_back(run.b.region_arg(region, run.from.nodes[arg].dtype));
    bind_turn(run, n.region, lane, run.b.range(range_id), args);
    for (int e : old.effects) lane_effect(run, e, lane, inside);
    for (int y : old.yields) yields.push_back(lane_value(run, y, lane));
    const int alive = old.alive >= 0 ? lane_value(run, old.alive, lane) : -1;
    forget_turn(run, n.region, lane);
    KernelRegion& body = run.b.code().regions[region];
    body.effects = std::move(inside);
    body.yields = std::move(yields);
    body.alive = alive;
    run.b.set_lines(n.lines);
    return run.b.close_for(region, std::move(inits));
}

/// An effect at computed indices, possibly in a loop or behind a condition, for one lane.
void lane_effect(MappingRun& run, int effect, size_t lane, std::vector<int>& effects) {
    const KernelNode& n = run.from.nodes[effect];
    if (n.op == KernelOp::For) {
        effects.push_back(lane_loop(run, n, lane));
        return;
    }
    if (n.op == KernelOp::Branch) {
        ensure(n.else_region < 0, "map: an effect with two sides");
        const int condition = lane_value(run, n.args[0], lane);
        if (const int dropped = drop_into_copy(run, n, condition, lane); dropped >= 0) {
            effects.push_back(dropped);
            return;
        }
        std::vector<int> inside;
        for (int e : run.from.regions[n.region].effects) lane_effect(run, e, lane, inside);
        const int region = run.b.add_region();
        run.b.code().regions[region].effects = std::move(inside);
        run.b.set_lines(n.lines);
        effects.push_back(run.b.branch(condition, region, -1, n.guard));
        return;
    }
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    const int index = lane_value(run, n.args[0], lane), value = lane_value(run, n.args[1], lane);
    run.b.set_lines(n.lines);
    const int near = run.near ? run.near->copy_of(n.buffer) : -1;
    const int buffer = near >= 0 ? near : program_buffer(run, run.from.buffers[n.buffer], true, 1);
    effects.push_back(n.op == KernelOp::Atomic ? run.b.atomic(buffer, n.combine, index, value)
                                               : run.b.store(buffer, index, std::span(&value, 1)));
}

/// A combining store to a copy that is only made inside the target. -1: not so.
int drop_into_copy(MappingRun& run, const KernelNode& branch, int condition, size_t lane) {
    const std::vector<int>& inside = run.from.regions[branch.region].effects;
    if (!run.near || !branch.guard || inside.size() != 1 ||
        run.from.nodes[inside[0]].op != KernelOp::Atomic)
        return -1;
    const KernelNode& n = run.from.nodes[inside[0]];
    const int spare = run.near->spare_place(n.buffer);
    if (spare < 0) return -1;
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    const int value = lane_value(run, n.args[1], lane);
    const int index = run.b.select(condition, lane_value(run, n.args[0], lane), spare);
    run.b.set_lines(n.lines);
    return run.b.atomic(run.near->copy_of(n.buffer), n.combine, index, value);
}

/// A loop of stores: the row that one invocation walks, in copies of `serial_unroll` turns and
/// a rest.
void walk_row(MappingRun& run, int loop, size_t lane, std::vector<int>& effects) {
    const KernelNode& n = run.from.nodes[loop];
    const KernelRegion& body = run.from.regions[n.region];
    const Range& range = run.from.ranges[body.range];
    const int extent = lane_value(run, range.extent_node, lane);
    const bool nested = run.from.nodes[body.effects[0]].op == KernelOp::For;
    const int64_t copies = nested ? 1 : std::max<int64_t>(1, run.mapping.serial_unroll);
    const Deal deal = deal_of(run, range, extent, copies, is_split(run, loop));
    for (const Part& part : parts_of(run.b, range, extent, deal, run.lane))
        row_loop(run, n, lane, part, effects);
}

void row_loop(MappingRun& run, const KernelNode& n, size_t lane, const Part& part,
              std::vector<int>& effects) {
    const Deal& deal = part.deal;
    if (run.b.is_constant(part.turns) && run.b.node(part.turns).constant.i == 0) return;
    const KernelRegion& body = run.from.regions[n.region];
    Range range = run.from.ranges[body.range];
    if (part.max_trips >= 0)
        range.max_trips = part.max_trips;
    else if (range.max_trips >= 0)
        range.max_trips /= deal.copies * deal.lanes;
    range.extent_node = part.turns;
    const Size whole = range.extent;
    range.extent = part.extent;
    range.rest = part.rest && !run.b.is_constant(part.turns);
    const int range_id = run.b.add_range(range);
    const int region = run.b.add_region();
    run.b.code().regions[region].range = range_id;
    const int base = first_index(run.b, run.b.range(range_id), part.start, deal, whole, run.lane);
    std::vector<int> inside;
    std::vector<std::vector<int>> index(body.effects.size()), value(body.effects.size());
    for (int64_t c = 0; c < deal.copies; ++c) {
        bind_turn(run, n.region, lane, run.b.add(base, run.b.integer(deal.at(c))), {});
        for (size_t k = 0; k < body.effects.size(); ++k) {
            const KernelNode& effect = run.from.nodes[body.effects[k]];
            if (effect.op == KernelOp::For) {
                walk_row(run, body.effects[k], lane, inside);
            } else {
                index[k].push_back(lane_value(run, effect.args[0], lane));
                value[k].push_back(lane_value(run, effect.args[1], lane));
            }
        }
        forget_turn(run, n.region, lane);
    }
    for (size_t k = 0; k < body.effects.size(); ++k)
        if (!index[k].empty())
            store_run(run, run.from.nodes[body.effects[k]], index[k], value[k], inside);
    run.b.code().regions[region].effects = std::move(inside);
    run.b.set_lines(n.lines);
    effects.push_back(run.b.close_for(region, {}));
}

/// Stores of one buffer, four neighbours at a time where they are aligned.
void store_run(MappingRun& run, const KernelNode& n, const std::vector<int>& index,
               const std::vector<int>& value, std::vector<int>& stores) {
    const KernelBuffer& b = run.from.buffers[n.buffer];
    run.b.set_lines(n.lines);
    for (size_t first = 0; first < index.size();) {
        const Interval& at = run.b.node(index[first]).interval;
        bool block =
            first + 4 <= index.size() && b.dtype.bytes() == 4 && at.mod % 4 == 0 && at.rem % 4 == 0;
        for (size_t v = 1; v < 4 && block; ++v)
            block =
                index[first + v] == run.b.add(index[first], run.b.integer(static_cast<int64_t>(v)));
        const size_t width = block ? 4 : 1;
        stores.push_back(run.b.store(program_buffer(run, b, true, static_cast<int>(width)),
                                     index[first], std::span(value).subspan(first, width)));
        first += width;
    }
}

/// The lanes' stores behind their guards, each guard inside the one before: a later lane exists
/// only where the earlier ones do.
std::vector<int> nest_guards(MappingRun& run, const std::vector<std::vector<int>>& stores) {
    KernelCode& to = run.b.code();
    std::vector<std::pair<int, std::vector<int>>> levels(1);  // guard condition, stores
    levels[0].first = -1;
    for (size_t l = 0; l < run.copies.size(); ++l) {
        if (run.copies[l].guard >= 0) levels.push_back({run.copies[l].guard, {}});
        const std::vector<int> effects = by_first_lane(run, stores[l]);
        levels.back().second.insert(levels.back().second.end(), effects.begin(), effects.end());
    }
    int inner = -1;  // the Branch of the next level
    for (size_t k = levels.size(); k-- > 0;) {
        std::vector<int> effects = levels[k].second;
        if (inner >= 0) effects.push_back(inner);
        if (k == 0) return effects;
        const int region = run.b.add_region();
        to.regions[region].effects = effects;
        inner = run.b.branch(levels[k].first, region, -1, true);
    }
    return {};
}

/// What all lanes of a subgroup know is stored by one of them; rows are dealt already.
std::vector<int> by_first_lane(MappingRun& run, const std::vector<int>& effects) {
    if (run.mapping.lanes == 1) return effects;
    std::vector<int> out, alone;
    for (int e : effects) (run.b.node(e).op == KernelOp::For ? out : alone).push_back(e);
    if (alone.empty()) return out;
    const int region = run.b.add_region();
    run.b.code().regions[region].effects = alone;
    out.push_back(run.b.branch(run.b.make(KernelOp::Equal, boolean, {run.lane, run.b.integer(0)}),
                               region, -1, false));
    return out;
}

void map(MappingRun& run) {
    KernelCode& to = run.b.code();
    to.name = run.from.name;
    run.grid = map_grid(run.from, run.b, run.mapping, run.profile);
    run.copies = std::move(run.grid.copies);
    run.lane = run.grid.lane;
    if (run.mapping.dealt_loads > 1) {
        ensure(run.mapping.lanes == 1 && run.mapping.dealt_loads == run.profile.subgroup_size &&
                   run.mapping.group_x % run.mapping.dealt_loads == 0,
               "map: the lanes of this kernel cannot hand loads round");
        if (run.lane < 0) run.lane = subgroup_lane(run);
    }
    mark_varying(run);
    std::vector<std::vector<int>> stores(run.copies.size());
    run.memo.assign(run.copies.size(), std::vector<int>(run.from.nodes.size(), -1));
    std::vector<int> begin;
    if (run.grid.subgroup >= 0) reduce_rows(run, begin);
    for (const auto& [id, loop] : run.staged) for_results(run, loop.outermost, 0);
    if (!run.staged.empty()) begin = std::exchange(run.effects, {});
    to.in_order = !begin.empty() || run.mapping.near != MemorySpace::Bound;
    if (run.mapping.near != MemorySpace::Bound) begin = open_copies(run);
    for (int effect : run.from.regions[0].effects) store_all(run, effect, stores);
    std::vector<int> effects = nest_guards(run, stores);
    for (int range : run.grid.turns) effects = {turn_loop(run, range, std::move(effects))};
    if (run.near)
        effects = with_copies(run, std::move(begin), std::move(effects));
    else
        effects.insert(effects.begin(), begin.begin(), begin.end());
    to.regions[0].effects = std::move(effects);
}

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
    MappingRun run(ready, code, mapping, profile, facts);
    map(run);
    return code;
}

}  // namespace firn
