// Simulations on a grid that several processes hold in parts.
#include "firn/grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/decompose/decompose.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/host_call.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/text.h"
#include "engine/mpi/group.h"
#include "engine/mpi/operations.h"

namespace firn {

struct GridState {
    Communicator all;
    std::vector<GridAxis> axes;
    std::vector<int> along;      // processes, by axis
    std::vector<GridPart> part;  // of this process
    std::vector<int> place;      // of this process
};

namespace {

std::vector<int> place_of(const std::vector<int>& along, int rank) {
    std::vector<int> out(along.size());
    for (size_t a = along.size(); a-- > 0; rank /= along[a]) out[a] = rank % along[a];
    return out;
}

int rank_of(const std::vector<int>& along, const std::vector<int>& place) {
    int out = 0;
    for (size_t a = 0; a < along.size(); ++a) out = out * along[a] + place[a];
    return out;
}

/// The positions at the rims of the largest part, if so many processes share each axis; none: it
/// does not go.
std::optional<double> rim_of(const std::vector<Grid::Axis>& axes, const std::vector<int>& along) {
    double all = 1, rim = 0;
    for (size_t a = 0; a < axes.size(); ++a) {
        if (along[a] > axes[a].second) return std::nullopt;
        all *= std::ceil(static_cast<double>(axes[a].second) / along[a]);
    }
    for (size_t a = 0; a < axes.size(); ++a) {
        if (along[a] == 1) continue;
        // Rows lie in one piece; what is cut along other axes is copied element by element.
        const double each = all / std::ceil(static_cast<double>(axes[a].second) / along[a]);
        rim += each * (a == 0 ? 1 : 2);
    }
    return rim;
}

void try_all(const std::vector<Grid::Axis>& axes, std::vector<int>& along, size_t a, int left,
             double& best, std::vector<int>& found) {
    if (a + 1 == along.size()) {
        along[a] = left;
        const auto rim = rim_of(axes, along);
        if (rim && (found.empty() || *rim < best)) best = *rim, found = along;
        return;
    }
    for (int each = 1; each <= left; ++each)
        if (left % each == 0) {
            along[a] = each;
            try_all(axes, along, a + 1, left / each, best, found);
        }
}

std::vector<int> chosen_processes(const std::vector<Grid::Axis>& axes, int count) {
    std::vector<int> along(axes.size(), 1), found;
    double best = 0;
    try_all(axes, along, 0, count, best, found);
    if (!found.empty()) return found;
    std::string sizes;
    for (const auto& [name, size] : axes)
        sizes += (sizes.empty() ? "" : " x ") + std::to_string(size);
    throw UserError("Grid: " + std::to_string(count) + " processes cannot share " + sizes +
                    " positions; start fewer of them");
}

GridTies ties_of(const GridState& grid) {
    GridTies ties;
    ties.exchange = [&grid, number = 0](size_t axis, int64_t to_below, int64_t to_above,
                                        int64_t from_below, int64_t from_above) mutable {
        const auto beside = [&](int by) {
            std::vector<int> place = grid.place;
            place[axis] += by;
            const int along = grid.along[axis];
            if (grid.axes[axis].periodic) place[axis] = (place[axis] + along) % along;
            return place[axis] < 0 || place[axis] >= along ? -1 : rank_of(grid.along, place);
        };
        return exchange_with(grid.all.group(), number++, {beside(-1), to_below, from_below},
                             {beside(1), to_above, from_above});
    };
    ties.combine = [&grid](ReduceOp op,
                           const std::vector<bool>& axes) -> std::shared_ptr<const HostOperation> {
        // Processes whose places differ along these axes alone.
        const bool all = std::equal(axes.begin(), axes.end(), grid.along.begin(),
                                    [](bool along, int count) { return along || count == 1; });
        if (all) return combine_all(grid.all.group(), op);
        std::vector<int> place = grid.place;
        for (size_t a = 0; a < axes.size(); ++a)
            if (axes[a]) place[a] = 0;
        return combine_all(grid.all.split(rank_of(grid.along, place)).group(), op);
    };
    return ties;
}

}  // namespace

Grid::Grid(const Communicator& all, const std::vector<Axis>& axes, const GridOptions& options) {
    if (axes.empty()) throw UserError("Grid: there is no axis");
    if (options.periodic.size() > axes.size() ||
        (!options.processes.empty() && options.processes.size() != axes.size()))
        throw UserError("Grid: `periodic` and `processes` have one value for each of the " +
                        std::to_string(axes.size()) + " axes");
    std::vector<int> along = options.processes;
    if (along.empty()) along = chosen_processes(axes, all.size());
    int product = 1;
    for (const int each : along) product *= each;
    if (product != all.size())
        throw UserError("Grid: `processes` are " + std::to_string(product) + " together, and " +
                        std::to_string(all.size()) + " have been started");
    state_ =
        std::make_shared<GridState>(GridState{all, {}, along, {}, place_of(along, all.rank())});
    std::string text = "Grid of";
    for (size_t a = 0; a < axes.size(); ++a) {
        const auto& [name, size] = axes[a];
        if (size < along[a])
            throw UserError("Grid: axis " + name + " has " + std::to_string(size) +
                            " positions, and " + std::to_string(along[a]) +
                            " processes share it; start fewer of them");
        Size::symbol(name);  // checks it
        const bool periodic = a < options.periodic.size() && options.periodic[a];
        state_->axes.push_back({name, periodic});
        state_->part.push_back(grid_part(size, along[a], state_->place[a], periodic));
        text += " " + name + " " + std::to_string(size) + (periodic ? " around" : "") + " by " +
                std::to_string(along[a]);
    }
    check_alike(*all.group(), text, "");
}

const Communicator& Grid::communicator() const { return state_->all; }
const std::vector<int>& Grid::processes() const { return state_->along; }

std::vector<int64_t> Grid::first() const {
    std::vector<int64_t> out;
    for (const GridPart& part : state_->part) out.push_back(part.first);
    return out;
}

Shape Grid::part() const {
    Shape out;
    for (const GridPart& part : state_->part) out.emplace_back(part.length);
    return out;
}

Shape Grid::shape() const {
    Shape out;
    for (const GridPart& part : state_->part) out.emplace_back(part.total);
    return out;
}

Tensor Grid::part_of(const Tensor& whole) const {
    const Ref node = whole.node({});
    if (node->shape.size() < state_->part.size())
        throw UserError("Grid::part_of: a tensor of shape " + text(node->shape) +
                        " has fewer axes than the grid");
    std::vector<Size> begin(node->shape.size(), Size(0)), extent = node->shape;
    for (size_t a = 0; a < state_->part.size(); ++a) {
        if (!node->shape[a].is(state_->part[a].total))
            throw UserError("Grid::part_of: axis " + std::to_string(a) + " of " +
                            text(node->shape) + " is not the grid's, which has " +
                            std::to_string(state_->part[a].total) + " positions");
        begin[a] = Size(state_->part[a].first), extent[a] = Size(state_->part[a].length);
    }
    return Tensor::from_node(slice(builder(*current_state(), {}), node, begin, extent,
                                   std::vector<int64_t>(node->shape.size(), 1)));
}

Tensor Grid::gather(const Tensor& part) const {
    const Ref node = part.node({});
    const Builder b = builder(*current_state(), {});
    const Shape own = this->part();
    if (node->shape.size() < own.size() || !std::equal(own.begin(), own.end(), node->shape.begin()))
        throw UserError("Grid::gather: a tensor of shape " + text(node->shape) +
                        " is no part of the grid, which is " + text(own) + " here");
    // Parts of equal shape: the largest.
    Shape most = node->shape;
    std::vector<Size> none(most.size(), Size(0)), after = none;
    for (size_t a = 0; a < own.size(); ++a) {
        most[a] = ceil_div(Size(state_->part[a].total), Size(state_->along[a]));
        after[a] = most[a] - own[a];
    }
    Shape one = most;
    one.insert(one.begin(), Size(1));
    const Ref padded = pad(b, node, none, after, scalar_int(0).to(node->dtype));
    const Tensor all = all_gather(Tensor::from_node(reshape(b, padded, one)), state_->all);
    Shape whole = node->shape;
    for (size_t a = 0; a < own.size(); ++a) whole[a] = Size(state_->part[a].total);
    Ref out = expand(b, constant(b, scalar_int(0).to(node->dtype)), whole);
    for (int rank = 0; rank < state_->all.size(); ++rank) {
        const std::vector<int> place = place_of(state_->along, rank);
        std::vector<Size> begin(whole.size(), Size(0)), extent = node->shape, from{Size(rank)},
                                                        one_extent{Size(1)};
        for (size_t a = 0; a < own.size(); ++a) {
            const GridPart theirs = grid_part(state_->part[a].total, state_->along[a], place[a],
                                              state_->axes[a].periodic);
            begin[a] = Size(theirs.first), extent[a] = Size(theirs.length);
        }
        from.insert(from.end(), whole.size(), Size(0));
        one_extent.insert(one_extent.end(), extent.begin(), extent.end());
        const Ref piece = reshape(
            b, slice(b, all.node({}), from, one_extent, std::vector<int64_t>(from.size(), 1)),
            extent);
        std::vector<Ref> indices;
        for (size_t a = 0; a < whole.size(); ++a) {
            Ref at = index(b, extent, static_cast<int>(a));
            if (!begin[a].is(0))
                at = elementwise(b, Op::Add, {at, constant_int(b, begin[a].constant())},
                                 {false, true});
            indices.push_back(std::move(at));
        }
        out = scatter(b, out, piece, indices, {.op = ScatterOp::Last, .unique = true});
    }
    return Tensor::from_node(out);
}

struct GridFunction::State {
    Grid grid;
    Function whole, part;
    std::vector<Exchange> exchanges;
};

GridFunction::GridFunction(Grid grid, Function whole, std::vector<ArgSpec> specs, SourceLine line) {
    const GridState& state = *grid.state();
    SizeMap sizes;
    for (size_t a = 0; a < state.axes.size(); ++a)
        sizes[state.axes[a].symbol] = Size(state.part[a].length);
    for (ArgSpec& spec : specs)
        for (Size& size : spec.shape) size = size.substitute(sizes);
    std::vector<Exchange> exchanges;
    const GridTies ties = ties_of(state);
    Trace trace(specs, line);
    std::vector<Ref> args;
    for (const Tensor& arg : trace.arguments()) args.push_back(arg.node({}));
    const Builder b = builder(*current_state(), line);
    const Graph& graph = whole.graph();
    if (graph.args.size() != args.size())
        throw UserError("grid: the function takes a tensor that is no argument; give it as one" +
                        in_brackets({line}));
    FlatValue results;
    for (const Ref& result : decomposed(b, graph, state.axes, state.part, ties, args, &exchanges))
        results.tensors.push_back(Tensor::from_node(result));
    results.lengths = whole.result_lengths();
    Function part = trace.finish(results);
    state_ = std::make_shared<State>(
        State{std::move(grid), std::move(whole), std::move(part), std::move(exchanges)});
}

std::vector<Tensor> GridFunction::call(const std::vector<Arg>& args) const {
    if (!state_) throw UserError("call: the function of a grid is empty; compile one");
    return state_->part.call(args);
}

const std::vector<size_t>& GridFunction::result_lengths() const {
    return state_->part.result_lengths();
}

std::string GridFunction::explain() const {
    const GridState& grid = *state_->grid.state();
    std::string out = "parts of a grid, in rank " + std::to_string(grid.all.rank()) + " of " +
                      std::to_string(grid.all.size()) + ":\n";
    for (size_t a = 0; a < grid.axes.size(); ++a)
        out += "  axis " + grid.axes[a].symbol + ": positions " +
               std::to_string(grid.part[a].first) + " to " +
               std::to_string(grid.part[a].first + grid.part[a].length - 1) + " of " +
               std::to_string(grid.part[a].total) + ", " + std::to_string(grid.along[a]) +
               " processes" + (grid.axes[a].periodic ? ", periodic" : "") + "\n";
    for (const Exchange& each : state_->exchanges)
        out += "  " + each.value + ": " + std::to_string(each.below) + " below and " +
               std::to_string(each.above) + " above along " + grid.axes[each.axis].symbol +
               (each.corners ? ", with corners" : "") + in_line(each.line) + "\n";
    if (state_->exchanges.empty()) out += "  nothing is exchanged\n";
    return out + state_->part.explain();
}

}  // namespace firn
