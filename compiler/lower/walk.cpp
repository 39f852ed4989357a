// The demand walk: asks every output for its value at the grid's indices, and inputs at theirs.
#include "compiler/lower/walk.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/walk_index.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

using Indices = std::vector<int>;

struct KeyHash {
    size_t operator()(const std::pair<const Node*, Indices>& key) const {
        size_t h = std::hash<const Node*>()(key.first);
        for (int i : key.second) h = (h ^ static_cast<size_t>(i)) * 0x9E3779B97F4A7C15ull;
        return h ^ (h >> 31);
    }
};

/// Cast that sums of a storage type need before they accumulate.
DType accumulator_type(DType dtype) { return dtype == f16 ? f32 : dtype; }

class Walk {
  public:
    Walk(const KernelRequest& request, const LowerContext& context, KernelCode& code)
        : request_(request), context_(context), b_(code, context.facts) {}

    void run() {
        const Written by_position = written(*request_.outputs[0], {});
        const bool flat = !request_.inner && !by_position && is_flat_kernel(request_.outputs, request_.shape, context_);
        const Shape outer(request_.shape.begin(), request_.shape.end() - request_.inner);
        const Grid grid = make_grid(b_, outer, flat);
        if (by_position) return write_position(by_position.loop, grid.indices);
        if (request_.inner) return run_rows(grid.indices);
        KernelCode& code = b_.code();
        for (size_t k = 0; k < request_.outputs.size(); ++k) own_[request_.outputs[k].get()] = normal(request_.outputs[k]->shape, grid.indices);
        for (size_t k = 0; k < request_.outputs.size(); ++k) {
            const Ref& output = request_.outputs[k];
            int value = ask(*output, grid.indices);
            b_.set_lines(output->lines);
            const int target = b_.buffer(request_.targets[k], output->dtype, element_count(output->shape),
                                         BindingForm::Storage, 1, true);
            code.regions[0].effects.push_back(b_.store(target, grid.flat, std::span(&value, 1)));
        }
    }

  private:
    /// The invocation of each position stores or combines at the position's own index, in every turn of the
    /// `loop` where there is one.
    void write_position(const Node* loop, const Indices& at) {
        if (!loop) {
            const std::vector<int> effects = position_effects(at);
            b_.code().regions[0].effects = effects;
            return;
        }
        std::set<int> needed;
        for (const Ref& output : request_.outputs)
            for (const Node* scatter : written(*output, {}).scatters)
                for (size_t k = 1; k < scatter->inputs.size(); ++k) add_needed(*loop, *scatter->inputs[k], needed);
        const OpenLoop open = open_loop(*loop, members_of(*loop, needed), request_.shape, at);
        const std::vector<int> effects = position_effects(at);
        if (effects.empty()) return;   // no position is ever inside
        b_.code().regions[open.region].effects = effects;
        const int made = close_loop(*loop, open, request_.shape, at);
        b_.code().regions[0].effects.push_back(made);
    }

    std::vector<int> position_effects(const Indices& at) {
        std::vector<int> effects;
        for (size_t k = 0; k < request_.outputs.size(); ++k) {
            const Written w = written(*request_.outputs[k], {});
            for (size_t s = w.scatters.size(); s-- > 0;) store_position(*w.scatters[s], request_.targets[k], at, effects);
        }
        return effects;
    }

    void store_position(const Node& scatter, int program_buffer, const Indices& at, std::vector<int>& effects) {
        const Shape& shape = scatter.shape;
        int inside = b_.boolean_value(true);
        Indices to;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            to.push_back(ask(*scatter.inputs[axis + 2], at));
            b_.set_lines(scatter.lines);
            inside = b_.make(Op::And, boolean, {inside, bounded(b_, to[axis], shape[axis], Bounds::Constant).inside});
        }
        const int value = ask(*scatter.inputs[1], at);
        b_.set_lines(scatter.lines);
        const ScatterOp op = scatter.as<ScatterAttr>().op;
        // What the device cannot do to floats is done by exchanging their bits.
        const bool own = op == ScatterOp::Last || (op == ScatterOp::Add && context_.float_atomic_add);
        const DType stored = scatter.dtype == f32 && !own ? u32 : scatter.dtype;
        const int target = b_.buffer(program_buffer, stored, element_count(shape), BindingForm::Storage, 1, true);
        const int place = flat_index(b_, to, shape);
        const int effect = op == ScatterOp::Last ? b_.store(target, place, std::span(&value, 1))
                                                 : b_.atomic(target, op, place, value);
        if (b_.is_constant(inside)) {
            if (b_.node(inside).constant.i) effects.push_back(effect);
            return;
        }
        const int region = b_.add_region();
        b_.code().regions[region].effects = {effect};
        effects.push_back(b_.branch(inside, region, -1, true));
    }

    /// Every invocation walks the inner dimensions of its own row.
    void run_rows(const Indices& row) {
        for (size_t k = 0; k < request_.outputs.size(); ++k) {
            Indices at = row;
            const int effect = walk_row(k, at);
            b_.code().regions[0].effects.push_back(effect);
        }
    }

    int walk_row(size_t output, Indices& at) {
        const Ref& node = request_.outputs[output];
        if (at.size() == request_.shape.size()) {
            const int value = evaluate_own(*node, at);
            b_.set_lines(node->lines);
            const int target = b_.buffer(request_.targets[output], node->dtype, element_count(node->shape),
                                         BindingForm::Storage, 1, true);
            return b_.store(target, flat_index(b_, at, node->shape), std::span(&value, 1));
        }
        const int region = b_.add_region();
        const int range = serial_range(b_, request_.shape[at.size()], "j");
        b_.code().regions[region].range = range;
        at.push_back(b_.range(range));
        const int effect = walk_row(output, at);
        b_.code().regions[region].effects = {effect};
        b_.set_lines(node->lines);
        return b_.close_for(region, {});
    }

    int evaluate_own(const Node& node, const Indices& at) {
        own_[&node] = normal(node.shape, at);
        return ask(node, at);
    }

    /// Value of `node` at `at` as a Kernel code node.
    int ask(const Node& node, const Indices& asked) {
        const Indices at = normal(node.shape, asked);
        const auto key = std::make_pair(&node, at);
        if (auto it = memo_.find(key); it != memo_.end()) return it->second;
        const int value = evaluate(node, at);
        remember(key, value);
        return value;
    }

    /// The index along a dimension of 1 is 0: equal places have equal indices.
    Indices normal(const Shape& shape, Indices at) {
        if (at.size() == shape.size())
            for (size_t k = 0; k < at.size(); ++k)
                if (shape[k].is(1)) at[k] = b_.integer(0);
        return at;
    }

    void remember(const std::pair<const Node*, Indices>& key, int value) {
        memo_[key] = value;
        log_.push_back(key);
    }

    /// Forgets what was computed since `mark` from the turn of a loop that is closed now: the same body
    /// asked at another index gets a loop of its own.
    void forget_turn(size_t mark, int range) {
        auto depends = [&](int value) {
            const std::vector<int>& ranges = b_.dependencies(value);
            return std::binary_search(ranges.begin(), ranges.end(), range);
        };
        for (size_t k = mark; k < log_.size(); ++k) {
            auto it = memo_.find(log_[k]);
            if (it != memo_.end() && depends(it->second)) memo_.erase(it);
        }
        std::erase_if(loop_results_, [&](const auto& entry) { return depends(entry.second); });
    }

    int evaluate(const Node& node, const Indices& at) {
        auto own = own_.find(&node);
        const bool in_memory = context_.buffers.contains(&node);
        ensure(own == own_.end() || own->second == at, "a kernel reads an output of its own at another index");
        // A number that is also a result is no reason to load it.
        const bool number = node.op == Op::Constant || node.op == Op::SizeValue || node.op == Op::Index ||
                            context_.host_values.contains(&node);
        if (in_memory && own == own_.end() && !number) return load(node, at);
        if (auto it = context_.host_values.find(&node); it != context_.host_values.end())
            return b_.size(it->second);
        b_.set_lines(node.lines);
        if (is_elementwise(node.op)) {
            std::vector<int> args;
            for (const Ref& input : node.inputs) args.push_back(ask(*input, at));
            b_.set_lines(node.lines);
            return b_.make(node.op, node.dtype, std::move(args));
        }
        switch (node.op) {
            case Op::Constant: return b_.constant(node.as<ConstantAttr>().value);
            case Op::SizeValue: return b_.size(node.as<SizeAttr>().size);
            case Op::Input: {
                // Parameters are 4 or 8 bytes: narrow types travel wide.
                const DType wide = node.dtype == f16 ? f32 : node.dtype.bytes() == 1 ? i32 : node.dtype;
                return b_.make(Op::Cast, node.dtype, {b_.scalar_argument(node.as<InputAttr>().index, wide)});
            }
            case Op::Index: return at[node.as<IndexAttr>().axis];
            case Op::Reshape:
                return ask(*node.inputs[0], reshape_index(b_, at, node.shape, node.inputs[0]->shape));
            case Op::Permute: {
                Indices in(at.size());
                for (size_t k = 0; k < at.size(); ++k) in[node.as<PermuteAttr>().axes[k]] = at[k];
                return ask(*node.inputs[0], in);
            }
            case Op::Expand: return ask(*node.inputs[0], project(b_, at, node.shape, node.inputs[0]->shape));
            case Op::Slice: {
                const auto& slice = node.as<SliceAttr>();
                Indices in;
                for (size_t k = 0; k < at.size(); ++k)
                    in.push_back(b_.add(b_.size(slice.begin[k]), b_.mul(at[k], b_.integer(slice.step[k]))));
                return ask(*node.inputs[0], in);
            }
            case Op::Pad: return pad(node, at);
            case Op::Gather: return gather(node, at);
            case Op::Scatter: return store_as_read(node, at);
            case Op::Reduce: return reduce(node, at);
            case Op::Result:
                return node.inputs[0]->op == Op::Loop ? loop_result(node, at) : branch_result(node, at);
            default: throw InternalError(std::string("lower: cannot ask a value of ") + info(node.op).name);
        }
    }

    int load(const Node& node, const Indices& at) {
        b_.set_lines(node.lines);
        const int buffer = b_.buffer(context_.buffers.at(&node), node.dtype, element_count(node.shape),
                                     BindingForm::Storage, 1, false);
        return b_.load(buffer, flat_index(b_, at, node.shape));
    }

    int pad(const Node& node, const Indices& at) {
        const auto& pad = node.as<PadAttr>();
        const Shape& in_shape = node.inputs[0]->shape;
        int inside = b_.boolean_value(true);
        Indices in;
        for (size_t k = 0; k < at.size(); ++k) {
            const int i = b_.sub(at[k], b_.size(pad.before[k]));
            const Read read = bounded(b_, i, in_shape[k], Bounds::Constant);
            inside = b_.make(Op::And, boolean, {inside, read.inside});
            in.push_back(read.index);
        }
        const int value = ask(*node.inputs[0], in);
        b_.set_lines(node.lines);
        return b_.select(inside, value, b_.constant(pad.value.to(node.dtype)));
    }

    int gather(const Node& node, const Indices& at) {
        const auto& gather = node.as<GatherAttr>();
        const Node& source = *node.inputs[0];
        int inside = b_.boolean_value(true);
        Indices in;
        for (size_t k = 0; k < gather.modes.size(); ++k) {
            const int i = ask(*node.inputs[k + 1], at);
            b_.set_lines(node.lines);
            const Read read = bounded(b_, i, source.shape[k], gather.modes[k]);
            inside = b_.make(Op::And, boolean, {inside, read.inside});
            in.push_back(read.index);
        }
        const int value = ask(source, in);
        b_.set_lines(node.lines);
        return b_.select(inside, value, b_.constant(gather.fill.to(node.dtype)));
    }

    /// Result index o was written by position p with index_k(p) = o_k: solved for p, axis by axis.
    int store_as_read(const Node& node, const Indices& at) {
        const Shape& positions = node.inputs[1]->shape;
        std::vector<int> p(positions.size(), -1);
        int written = b_.boolean_value(true);
        auto require = [&](int condition) { written = b_.make(Op::And, boolean, {written, condition}); };
        std::vector<const Node*> guards;
        for (size_t k = 0; k < at.size(); ++k) {
            const std::optional<StoreIndex> stored = store_index(*node.inputs[k + 2]);
            ensure(stored.has_value(), "a store that is not affine reached the walk");
            const AffineIndex& index = stored->index;
            if (stored->guard) guards.push_back(stored->guard);
            const int offset = b_.size(index.offset);
            if (index.axis < 0) {
                require(b_.make(Op::Equal, boolean, {at[k], offset}));
            } else if (const int solved = b_.sub(at[k], offset); p[index.axis] < 0) {
                p[index.axis] = solved;
            } else {
                require(b_.make(Op::Equal, boolean, {p[index.axis], solved}));
            }
        }
        for (size_t axis = 0; axis < p.size(); ++axis) {
            // An axis that no index uses writes one place over and over: its last turn wins.
            if (p[axis] < 0) p[axis] = b_.size(positions[axis] - Size(1));
            const Read read = bounded(b_, p[axis], positions[axis], Bounds::Constant);
            require(read.inside);
            p[axis] = read.index;
        }
        for (const Node* guard : guards) require(ask(*guard, project(b_, p, positions, guard->shape)));
        const int value = ask(*node.inputs[1], p);
        const int old = ask(*node.inputs[0], at);
        b_.set_lines(node.lines);
        return b_.select(written, value, old);
    }

    int reduce(const Node& node, const Indices& at) {
        const auto& reduce = node.as<ReduceAttr>();
        const Node& input = *node.inputs[0];
        Indices in(input.shape.size(), -1);
        size_t kept = 0;
        for (size_t axis = 0; axis < in.size(); ++axis)
            if (std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(axis)) ==
                reduce.axes.end())
                in[axis] = at[kept++];
        const DType type = accumulator_type(node.dtype);
        const int start = b_.constant(reduce_identity(reduce.op, type));
        const int total = reduce_axis(node, in, 0, start, type);
        b_.set_lines(node.lines);
        return b_.make(Op::Cast, node.dtype, {total});
    }

    int reduce_axis(const Node& node, Indices in, size_t depth, int accumulator, DType type) {
        const auto& attr = node.as<ReduceAttr>();
        if (depth == attr.axes.size()) {
            const int value = ask(*node.inputs[0], in);
            b_.set_lines(node.lines);
            return b_.make(reduce_step(attr.op), type, {accumulator, b_.make(Op::Cast, type, {value})});
        }
        const Size& extent = node.inputs[0]->shape[attr.axes[depth]];
        const int region = b_.add_region();
        const int range = serial_range(b_, extent, "k");
        b_.code().regions[region].range = range;
        const int arg = b_.region_arg(region, type);
        in[attr.axes[depth]] = b_.range(range);
        const int next = reduce_axis(node, in, depth + 1, arg, type);
        b_.code().regions[region].yields = {next};
        b_.set_lines(node.lines);
        return b_.result(b_.close_for(region, {accumulator}), 0);
    }

    /// A Loop whose For is being built.
    struct OpenLoop {
        std::vector<int> carried;   // carried values that run together
        std::vector<int> inits;
        int region = -1, range = -1;
        size_t mark = 0;            // what was remembered before
    };

    /// All results of a loop at one index share one For: carried values that have the asked shape, and
    /// those they need.
    int loop_result(const Node& node, const Indices& at) {
        const Node& loop = *node.inputs[0];
        const int wanted = node.as<ResultAttr>().index;
        if (auto it = loop_results_.find({&loop, wanted, at}); it != loop_results_.end()) return it->second;
        const OpenLoop open = open_loop(loop, loop_members(loop, wanted), node.shape, at);
        const int for_node = close_loop(loop, open, node.shape, at);
        int mine = -1;
        for (size_t i = 0; i < open.carried.size(); ++i) {
            const int k = open.carried[i];
            const int value = b_.result(for_node, static_cast<int>(i));
            if (k == wanted) mine = value;
            loop_results_[{&loop, k, carried_index(loop, k, node.shape, at)}] = value;
        }
        return mine;
    }

    Indices carried_index(const Node& loop, int k, const Shape& shape, const Indices& at) {
        return project(b_, at, shape, loop.as<LoopAttr>().body->results[k]->shape);
    }

    OpenLoop open_loop(const Node& loop, const std::vector<int>& carried, const Shape& shape, const Indices& at) {
        const LoopAttr& attr = loop.as<LoopAttr>();
        const Region& body = *attr.body;
        auto project_to = [&](int k) { return carried_index(loop, k, shape, at); };
        OpenLoop open;
        open.carried = carried;
        const int begin = ask(*loop.inputs[0], {}), end = ask(*loop.inputs[1], {}),
                  step = ask(*loop.inputs[2], {});
        for (int k : carried) {
            const Node& init = *loop.inputs[k + 3];
            open.inits.push_back(ask(init, project(b_, project_to(k), body.results[k]->shape, init.shape)));
        }
        b_.set_lines(loop.lines);
        open.region = b_.add_region();
        open.range = loop_range(b_, begin, end, step, may_start(loop, project_to));
        b_.code().regions[open.region].range = open.range;
        open.mark = log_.size();
        remember({body.args[0].get(), {}}, b_.add(begin, b_.mul(b_.range(open.range), step)));
        for (int k : carried) {
            const int arg = b_.region_arg(open.region, body.results[k]->dtype);
            remember({body.args[k + 1].get(), normal(body.results[k]->shape, project_to(k))},
                     k == attr.active ? b_.boolean_value(true) : arg);
        }
        return open;
    }

    int close_loop(const Node& loop, const OpenLoop& open, const Shape& shape, const Indices& at) {
        const LoopAttr& attr = loop.as<LoopAttr>();
        const Region& body = *attr.body;
        auto project_to = [&](int k) { return carried_index(loop, k, shape, at); };
        std::vector<int> yields;
        for (int k : open.carried) yields.push_back(ask(*body.results[k], project_to(k)));
        if (attr.active >= 0) {
            auto it = std::find(open.carried.begin(), open.carried.end(), attr.active);
            const int alive = it != open.carried.end() ? yields[it - open.carried.begin()]
                                                       : ask(*body.results[attr.active], project_to(attr.active));
            const bool always = b_.is_constant(alive) && b_.node(alive).constant.i;
            if (!always) b_.code().regions[open.region].alive = alive;
        }
        b_.code().regions[open.region].yields = std::move(yields);
        b_.set_lines(loop.lines);
        const int for_node = b_.close_for(open.region, open.inits);
        forget_turn(open.mark, open.range);
        return for_node;
    }

    /// Whether the loop takes any turn: an element that broke off before does not go on.
    template <class Project>
    int may_start(const Node& loop, Project project_to) {
        const int active = loop.as<LoopAttr>().active;
        if (active < 0) return b_.boolean_value(true);
        const Node& init = *loop.inputs[active + 3];
        return ask(init, project(b_, project_to(active), loop.as<LoopAttr>().body->results[active]->shape,
                                 init.shape));
    }

    /// The carried values to run together when result `wanted` is asked: the active flag, those of the
    /// same shape, and what they depend on.
    const std::vector<int>& loop_members(const Node& loop, int wanted) {
        const auto key = std::make_pair(&loop, wanted);
        if (auto it = members_.find(key); it != members_.end()) return it->second;
        const Region& body = *loop.as<LoopAttr>().body;
        std::set<int> needed{wanted};
        for (size_t k = 0; k < body.results.size(); ++k)
            if (body.results[k]->shape == body.results[wanted]->shape && accumulation(loop, k).empty())
                needed.insert(static_cast<int>(k));
        return members_.emplace(key, members_of(loop, needed)).first->second;
    }

    /// `needed`, the active flag, and what they depend on.
    std::vector<int> members_of(const Node& loop, std::set<int> needed) {
        const LoopAttr& attr = loop.as<LoopAttr>();
        if (attr.active >= 0) needed.insert(attr.active);
        std::vector<int> queue(needed.begin(), needed.end());
        while (!queue.empty()) {
            const int k = queue.back();
            queue.pop_back();
            std::set<int> more;
            add_needed(loop, *attr.body->results[k], more);
            for (int m : more)
                if (needed.insert(m).second) queue.push_back(m);
        }
        return {needed.begin(), needed.end()};
    }

    /// The carried values of the loop that `value` depends on.
    void add_needed(const Node& loop, const Node& value, std::set<int>& needed) {
        const Region& body = *loop.as<LoopAttr>().body;
        const std::unordered_set<const Node*> asked = needed_by(value);
        for (size_t a = 1; a < body.args.size(); ++a)
            if (asked.contains(body.args[a].get())) needed.insert(static_cast<int>(a) - 1);
    }

    /// Every node whose value is asked on the way to `root`; of a loop inside, only the carried values that
    /// run together with the one that is asked.
    std::unordered_set<const Node*> needed_by(const Node& root) {
        std::unordered_set<const Node*> seen;
        std::vector<const Node*> queue{&root};
        while (!queue.empty()) {
            const Node& node = *queue.back();
            queue.pop_back();
            if (!seen.insert(&node).second || context_.buffers.contains(&node)) continue;
            if (node.op != Op::Result) {
                for (const Ref& input : node.inputs) queue.push_back(input.get());
                continue;
            }
            const Node& owner = *node.inputs[0];
            const int k = node.as<ResultAttr>().index;
            if (owner.op == Op::If) {
                queue.push_back(owner.inputs[0].get());
                queue.push_back(owner.as<IfAttr>().then_body->results[k].get());
                queue.push_back(owner.as<IfAttr>().else_body->results[k].get());
                continue;
            }
            for (int bound = 0; bound < 3; ++bound) queue.push_back(owner.inputs[bound].get());
            for (int member : loop_members(owner, k)) {
                queue.push_back(owner.inputs[member + 3].get());
                queue.push_back(owner.as<LoopAttr>().body->results[member].get());
            }
        }
        return seen;
    }

    int branch_result(const Node& node, const Indices& at) {
        const Node& branch = *node.inputs[0];
        const IfAttr& attr = branch.as<IfAttr>();
        const int k = node.as<ResultAttr>().index;
        const int condition = ask(*branch.inputs[0], project(b_, at, node.shape, branch.inputs[0]->shape));
        if (b_.is_constant(condition)) {
            const Region& taken = b_.node(condition).constant.i ? *attr.then_body : *attr.else_body;
            return ask(*taken.results[k], project(b_, at, node.shape, taken.results[k]->shape));
        }
        auto fill = [&](const Region& body) {
            const int region = b_.add_region();
            const int value = ask(*body.results[k], project(b_, at, node.shape, body.results[k]->shape));
            b_.code().regions[region].yields = {value};
            return region;
        };
        const int then_region = fill(*attr.then_body);
        const int else_region = fill(*attr.else_body);
        b_.set_lines(branch.lines);
        return b_.result(b_.branch(condition, then_region, else_region, false), 0);
    }

    const KernelRequest& request_;
    const LowerContext& context_;
    KernelBuilder b_;
    std::unordered_map<std::pair<const Node*, Indices>, int, KeyHash> memo_;
    std::vector<std::pair<const Node*, Indices>> log_;   // keys in the order they were remembered
    std::map<std::pair<const Node*, int>, std::vector<int>> members_;
    std::unordered_map<const Node*, Indices> own_;
    std::map<std::tuple<const Node*, int, Indices>, int> loop_results_;
};

}  // namespace

KernelCode lower_kernel(const KernelRequest& request, const LowerContext& context) {
    KernelCode code;
    code.name = request.name;
    Walk(request, context, code).run();
    return code;
}

}  // namespace firn
