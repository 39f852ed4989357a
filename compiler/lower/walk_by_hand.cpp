// Kernels by hand: what an invocation reads and stores, in an order that the versions of arrays
// allow.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/ir/regions.h"
#include "compiler/lower/order_steps.h"
#include "compiler/lower/walk_state.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

class HandWalk : public Walk {
  public:
    HandWalk(const KernelRequest& request, const LowerContext& context,
             const DeviceProfile& profile, KernelCode& code)
        : Walk(request, context, code),
          kernel_(*request.by_hand),
          attr_(kernel_.as<LoopAttr>()),
          profile_(profile),
          placement_(place_by_hand(request.outputs)),
          arrays_(kernel_, placement_, kept_apart(context)) {}

    void lower() {
        b_.code().in_order = true;
        note_fetched();
        self_ = grid_index();
        const int inside = inside_grid();
        remember({attr_.body->args[0].get(), {}}, b_.integer(0));
        const int level = placement_.first_region.at(&kernel_);
        if (b_.is_constant(inside)) return run_level(level);
        region_ = b_.add_region();
        run_level(level);
        b_.code().regions[0].effects.push_back(b_.branch(inside, region_, -1, true));
    }

  private:
    /// Arguments whose versions at entry live elsewhere than what becomes of them.
    std::unordered_set<const Node*> kept_apart(const LowerContext& context) const {
        std::unordered_set<const Node*> out;
        for (const Ref& arg : attr_.body->args)
            if (context.buffers.contains(arg.get())) out.insert(arg.get());
        return out;
    }

    // --- the grid

    /// Groups are whole, or the grid ends inside one and the rest of it does nothing.
    int inside_grid() {
        int inside = b_.boolean_value(true);
        for (size_t axis = 0; axis < self_.size(); ++axis) {
            const Size& n = attr_.grid[axis];
            const Size width(attr_.group[axis]);
            if (b_.code().groups[self_.size() - 1 - axis] * width == n) continue;
            const int below = b_.make(KernelOp::Less, boolean, {self_[axis], b_.size(n)});
            inside = b_.make(KernelOp::And, boolean, {inside, below});
            b_.assume(self_[axis], Size(0), n - Size(1));
        }
        return inside;
    }

    /// A range of the groups and one of the invocations in a group, for each axis.
    Indices grid_index() {
        KernelCode& code = b_.code();
        const size_t rank = attr_.grid.size();
        if (arrays_.uses_subgroups) deal_lanes();
        Indices at(rank);
        for (size_t axis = 0; axis < rank; ++axis) {
            const size_t dim = rank - 1 - axis;
            const int64_t width = attr_.group[axis];
            code.group_size[dim] = attr_.group[axis];
            code.groups[dim] = floor_div(attr_.grid[axis] + Size(width - 1), Size(width));
            const int group = new_range("g", RangeKind::Group, code.groups[dim], dim);
            const int local = arrays_.uses_subgroups
                                  ? local_of_place(axis)
                                  : new_range("l", RangeKind::Invocation, Size(width), dim);
            at[axis] = b_.add(b_.mul(group, b_.integer(width)), local);
        }
        return at;
    }

    int new_range(const char* name, RangeKind kind, const Size& extent, size_t dim) {
        Range range;
        range.name = name;
        range.kind = kind;
        range.extent = extent;
        range.dim = static_cast<int>(dim);
        return b_.range(b_.add_range(range));
    }

    /// Subgroups are made of neighbours by their own numbers, not by those of invocations, which
    /// nobody promises.
    void deal_lanes() {
        int64_t members = 1;
        for (uint32_t g : attr_.group) members *= g;
        const int64_t lanes = profile_.subgroup_size;
        const int subgroup = new_range("s", RangeKind::Subgroup, Size(members / lanes), 1);
        const int lane = new_range("t", RangeKind::Subgroup, Size(lanes), 0);
        place_ = b_.add(b_.mul(subgroup, b_.integer(lanes)), lane);
    }

    int local_of_place(size_t axis) {
        int64_t stride = 1;
        for (size_t k = axis + 1; k < attr_.group.size(); ++k) stride *= attr_.group[k];
        const int rows = b_.make(KernelOp::Div, i32, {place_, b_.integer(stride)});
        return b_.make(KernelOp::Mod, i32, {rows, b_.integer(attr_.group[axis])});
    }

    /// The invocation's own index into a value of a shape that broadcasts to the grid.
    Indices own_at(const Shape& shape) {
        return normal(shape, project(b_, self_, attr_.grid, shape));
    }

    // --- order

    void note_fetched() {
        for (const PlacedRegion& region : placement_.regions)
            for (const Ref& node : region.order)
                if (node->op == Op::Fetched) fetched_[node->inputs[0].get()] = node.get();
    }

    void effect(int node) { b_.code().regions[region_].effects.push_back(node); }

    /// Everything that stands in a region and has its place there, in an order that keeps versions
    /// apart.
    void run_level(int level) {
        bool cleared = false;  // shared arrays, which nobody may read before all are
        for (const HandStep& step : order_steps(arrays_, placement_, level)) {
            const Node& node = *step.nodes[0];
            if (cleared && node.op != Op::Array && node.op != Op::Barrier)
                effect(b_.pinned(KernelOp::Barrier, i32, {}));
            cleared = node.op == Op::Array && (cleared || node.as<ArrayAttr>().shared);
            run_step(node);
        }
    }

    void run_step(const Node& node) {
        b_.set_lines(node.lines);
        switch (node.op) {
            case Op::Array: return start_array(node);
            case Op::Barrier: return effect(b_.pinned(KernelOp::Barrier, i32, {}));
            case Op::Gather: return read(node);
            case Op::Scatter: return store(node);
            case Op::Subgroup: return exchange(node);
            case Op::Loop: return run_loop(node);
            case Op::If: return run_branch(node);
            default:
                throw InternalError(std::string("a kernel by hand has no step for ") +
                                    info(node.op).name);
        }
    }

    void give(const Node& node, int value) { remember({&node, own_at(node.shape)}, value); }

    // --- memory

    /// The kernel's buffer of an array or of a tensor that is stored to.
    int memory_of(const Node& array) {
        if (auto it = memory_.find(&array); it != memory_.end()) return it->second;
        // What the device cannot add to a float is done by exchanging its bits.
        const bool bits =
            array.dtype == f32 && arrays_.exchanged.contains(&array) &&
            (array.op == Op::Array || !context_.float_atomic_add || arrays_.exchanged.at(&array));
        const DType stored = bits ? u32 : array.dtype;
        int buffer;
        if (array.op == Op::Array) {
            const bool shared = array.as<ArrayAttr>().shared;
            buffer = b_.own_memory(shared ? MemorySpace::Shared : MemorySpace::Private, stored,
                                   own_elements(array));
        } else {
            const int target = request_.targets[static_cast<size_t>(arrays_.carried.at(&array))];
            buffer = b_.buffer(target, stored, element_count(array.shape), BindingForm::Storage, 1,
                               true);
        }
        return memory_[&array] = buffer;
    }

    /// The dimensions of an array behind those of the grid, or of its groups.
    Shape own_shape(const Node& array) const {
        const auto skip = static_cast<long>(array.op == Op::Array ? attr_.grid.size() : 0);
        return Shape(array.shape.begin() + skip, array.shape.end());
    }
    Size own_elements(const Node& array) const { return element_count(own_shape(array)); }

    struct Place {
        int index, inside;
    };
    Place place_of(const Node& array, std::span<const Ref> indices,
                   const std::vector<Bounds>* modes, const Node& user) {
        const Shape shape = own_shape(array);
        const size_t skip = array.shape.size() - shape.size();
        int inside = b_.boolean_value(true);
        Indices at;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const Node& index = *indices[axis + skip];
            const int asked = ask(index, own_at(index.shape));
            b_.set_lines(user.lines);
            const Read read =
                bounded(b_, asked, shape[axis], modes ? (*modes)[axis + skip] : Bounds::Constant);
            inside = b_.make(KernelOp::And, boolean, {inside, read.inside});
            at.push_back(read.index);
        }
        // A store's condition stands in its first index, which may be one of those that are
        // skipped.
        if (!modes && skip)
            inside = b_.make(KernelOp::And, boolean, {inside, mask_of(*indices[0], user)});
        return {flat_index(b_, at, shape), inside};
    }

    /// Where the first index of a store is not -1.
    int mask_of(const Node& index, const Node& user) {
        const int asked = ask(index, own_at(index.shape));
        b_.set_lines(user.lines);
        return b_.make(KernelOp::LessEqual, boolean, {b_.integer(0), asked});
    }

    void start_array(const Node& node) {
        effect(b_.pinned(KernelOp::Array, node.dtype, {}, memory_of(node)));
    }

    void read(const Node& node) {
        const auto& gather = node.as<GatherAttr>();
        const Node& array = *arrays_.root.at(node.inputs[0].get());
        const Place place = place_of(array, std::span(node.inputs).subspan(1), &gather.modes, node);
        b_.set_lines(node.lines);
        const int value = b_.pinned(KernelOp::Load, node.dtype, {place.index}, memory_of(array));
        effect(value);
        give(node, b_.select(place.inside, value, b_.constant(gather.fill.to(node.dtype))));
    }

    void store(const Node& node) {
        const Node& array = *arrays_.root.at(node.inputs[0].get());
        const ScatterOp op = node.as<ScatterAttr>().op;
        const Place place = place_of(array, std::span(node.inputs).subspan(2), nullptr, node);
        const int value = ask(*node.inputs[1], own_at(node.inputs[1]->shape));
        b_.set_lines(node.lines);
        const auto asked = fetched_.find(&node);
        const bool exchanges = op != ScatterOp::Last || asked != fetched_.end();
        if (exchanges && node.dtype.bytes() != 4 && !node.dtype.is_bool())
            refuse_by_hand(node, std::string("atomics on ") + node.dtype.name() +
                                     " are not available; use i32, u32 or f32");
        const int made = exchanges ? b_.atomic(memory_of(array), op, place.index, value)
                                   : b_.store(memory_of(array), place.index, std::span(&value, 1));
        int old = made;
        if (b_.is_constant(place.inside) && b_.node(place.inside).constant.i) {
            effect(made);
        } else {
            const int taken = b_.add_region(),
                      otherwise = asked == fetched_.end() ? -1 : b_.add_region();
            b_.code().regions[taken].effects = {made};
            if (otherwise >= 0) {
                b_.code().regions[taken].yields = {made};
                b_.code().regions[otherwise].yields = {b_.constant(scalar_int(0).to(node.dtype))};
            }
            const int branch = b_.branch(place.inside, taken, otherwise, true);
            effect(branch);
            if (otherwise >= 0) old = b_.result(branch, 0);
        }
        if (asked != fetched_.end()) give(*asked->second, old);
    }

    void exchange(const Node& node) {
        const auto& attr = node.as<SubgroupAttr>();
        std::vector<int> args;
        for (size_t k = 1; k < node.inputs.size(); ++k)
            args.push_back(ask(*node.inputs[k], own_at(node.inputs[k]->shape)));
        b_.set_lines(node.lines);
        const KernelOp op = attr.op == SubgroupOp::Reduce ? KernelOp::SubgroupReduce
                            : attr.op == SubgroupOp::Scan ? KernelOp::SubgroupScan
                                                          : KernelOp::SubgroupRead;
        const int value = b_.pinned(op, node.dtype, args, -1, attr.combine);
        effect(value);
        give(node, value);
    }

    // --- loops and branches that hold steps

    void run_loop(const Node& loop) {
        const Region& body = *loop.as<LoopAttr>().body;
        std::vector<int> values;  // what it carries beside arrays
        for (size_t k = 0; k < body.results.size(); ++k)
            if (!arrays_.root.contains(body.args[k + 1].get()))
                values.push_back(static_cast<int>(k));
        const OpenLoop open = open_loop(loop, values, attr_.grid, self_);
        const int outer = std::exchange(region_, open.region);
        run_level(placement_.first_region.at(&loop));
        region_ = outer;
        const int made = close_loop(loop, open, attr_.grid, self_);
        effect(made);
        for (size_t i = 0; i < values.size(); ++i)
            results_[{&loop, values[i]}] = b_.result(made, static_cast<int>(i));
    }

    void run_branch(const Node& branch) {
        const IfAttr& attr = branch.as<IfAttr>();
        const int condition = ask(*branch.inputs[0], own_at(branch.inputs[0]->shape));
        const int first = placement_.first_region.at(&branch);
        auto fill = [&](const Region& body, int level) {
            const int region = b_.add_region();
            const int outer = std::exchange(region_, region);
            run_level(level);
            region_ = outer;
            std::vector<int> yields;
            for (const Ref& value : body.results)
                yields.push_back(ask(*value, own_at(value->shape)));
            b_.code().regions[region].yields = std::move(yields);
            return region;
        };
        const int yes = fill(*attr.then_body, first), no = fill(*attr.else_body, first + 1);
        b_.set_lines(branch.lines);
        const int made = b_.branch(condition, yes, no, false);
        effect(made);
        for (size_t k = 0; k < attr.then_body->results.size(); ++k)
            results_[{&branch, static_cast<int>(k)}] = b_.result(made, static_cast<int>(k));
    }

    // --- values

    int evaluate(const Node& node, const Indices& at) override {
        const bool own = node.shape.size() <= attr_.grid.size() && at == own_at(node.shape);
        if (node.op == Op::Invocation) {
            if (own) return self_[static_cast<size_t>(node.as<IndexAttr>().axis)];
            return at[static_cast<size_t>(node.as<IndexAttr>().axis)];
        }
        if (node.op == Op::Result && own)
            if (auto it = results_.find({node.inputs[0].get(), node.as<ResultAttr>().index});
                it != results_.end())
                return it->second;
        const bool of_memory = node.op == Op::Gather && arrays_.is_step(node);
        const bool stored = node.op == Op::Result && arrays_.is_step(*node.inputs[0]);
        const bool carried = node.op == Op::RegionArg && !context_.buffers.contains(&node) &&
                             !context_.host_values.contains(&node) &&
                             !context_.host_numbers.contains(&node);
        if (of_memory || stored || carried || node.op == Op::Fetched || node.op == Op::Subgroup ||
            (arrays_.root.contains(&node) && !context_.buffers.contains(&node)))
            refuse_by_hand(
                node,
                "a value that another invocation computed is read; give it through shared(...) "
                "and a barrier()");
        return Walk::evaluate(node, at);
    }

    const Node& kernel_;
    const LoopAttr& attr_;
    const DeviceProfile& profile_;
    Placement placement_;
    HandArrays arrays_;
    Indices self_;
    int place_ = -1;  // in the group, where subgroups are used
    int region_ = 0;  // that is being filled
    std::unordered_map<const Node*, int> memory_;
    std::unordered_map<const Node*, const Node*> fetched_;  // Scatter -> Fetched
    std::map<std::pair<const Node*, int>, int> results_;    // of loops and branches that are steps
};

}  // namespace

KernelCode lower_by_hand(const KernelRequest& request, const LowerContext& context,
                         const DeviceProfile& profile) {
    KernelCode code;
    code.name = request.name;
    HandWalk(request, context, profile, code).lower();
    return code;
}

}  // namespace firn
