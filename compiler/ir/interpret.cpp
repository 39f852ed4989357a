// Evaluates nodes in placement order, releasing each value after its last use.
#include "compiler/ir/interpret.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/base/error.h"
#include "compiler/base/physical_memory.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/interpret_elementwise.h"
#include "compiler/ir/interpret_tensor.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/too_large.h"
#include "compiler/program/index_limits.h"

namespace firn {
namespace {

using Value = std::shared_ptr<const HostTensor>;
using HostShape = std::vector<int64_t>;

Value make_value(HostTensor tensor) {
    return std::make_shared<const HostTensor>(std::move(tensor));
}

std::string shape_text(const HostShape& shape) { return text(Shape(shape.begin(), shape.end())); }

HostShape broadcast(const HostShape& a, const HostShape& b) {
    HostShape out = a.size() >= b.size() ? a : b;
    const HostShape& shorter = a.size() >= b.size() ? b : a;
    size_t offset = out.size() - shorter.size();
    for (size_t k = 0; k < shorter.size(); ++k)
        if (out[offset + k] == 1) out[offset + k] = shorter[k];
    return out;
}

Value fitted(const Value& x, const HostShape& shape) {
    return x->shape == shape ? x : make_value(expanded(*x, shape));
}

bool any_true(const HostTensor& mask) {
    for (int64_t k = 0, n = mask.elements(); k < n; ++k)
        if (mask.at(k).i) return true;
    return false;
}

Value selected(const Value& condition, const Value& yes, const Value& no, const HostShape& shape) {
    Value c = fitted(condition, shape), a = fitted(yes, shape), b = fitted(no, shape);
    const HostTensor* inputs[] = {c.get(), a.get(), b.get()};
    return make_value(interpret_elementwise(Op::Select, yes->dtype, shape, inputs));
}

class Interpreter {
  public:
    using Seen = std::function<void(const Evaluated&)>;

    Interpreter(const Graph& graph, const std::vector<HostTensor>& args, const SizeEnv& env,
                const Seen& seen)
        : graph_(graph), args_(args), env_(env), seen_(seen), placement_(place(graph.results)) {
        find_last_uses();
        note_sizes(graph.data_sizes, graph.results);
        for (const PlacedRegion& region : placement_.regions)
            if (region.owner && region.owner->op == Op::Loop)
                note_sizes(region.owner->as<LoopAttr>().sizes, region.region->results);
        for (const auto& [count, sizes] : sized_by_)
            if (const auto* given = std::get_if<InputAttr>(&count->attr))
                learn_sizes(*count, args.at(static_cast<size_t>(given->index)));
    }

    std::vector<HostTensor> run() {
        check_call();
        run_region(0);
        std::vector<HostTensor> out;
        for (const Ref& result : graph_.results) out.push_back(*values_.at(result.get()));
        return out;
    }

  private:
    HostShape concrete(const std::vector<Size>& sizes) const {
        HostShape out;
        for (const Size& size : sizes) out.push_back(size.evaluate(env_));
        return out;
    }

    void note_sizes(const std::vector<Size>& sizes, const std::vector<Ref>& counts) {
        for (size_t k = 0; k < sizes.size(); ++k)
            sized_by_[counts[k].get()].push_back(data_symbols(sizes[k]).at(0));
    }

    /// The value of a data symbol is known from here on: it comes before everything that mentions
    /// it.
    void learn_sizes(const Node& node, const HostTensor& value) {
        const auto at = sized_by_.find(&node);
        if (at == sized_by_.end()) return;
        for (const SizeAtom& symbol : at->second)
            env_[symbol.name] =
                std::clamp<int64_t>(value.at(0).i, 0, symbol.args[0].evaluate(env_));
    }

    void check_call() const {
        if (args_.size() != graph_.args.size())
            throw UserError("interpret: " + std::to_string(args_.size()) +
                            " arguments are given, the graph takes " +
                            std::to_string(graph_.args.size()));
        for (size_t k = 0; k < args_.size(); ++k) {
            const Node& arg = *graph_.args[k];
            HostShape wanted = concrete(arg.shape);
            if (args_[k].dtype != arg.dtype || args_[k].shape != wanted)
                throw UserError("interpret: argument " + std::to_string(k) + " is " +
                                args_[k].dtype.name() + shape_text(args_[k].shape) +
                                ", the graph takes " + arg.dtype.name() + text(arg.shape) +
                                ", here " + shape_text(wanted));
        }
        for (const Guard& guard : graph_.guards)
            if (guard.left.evaluate(env_) != guard.right.evaluate(env_))
                throw UserError(guard.message + "; at this call " + guard.left.text() + " is " +
                                std::to_string(guard.left.evaluate(env_)) + " and " +
                                guard.right.text() + " is " +
                                std::to_string(guard.right.evaluate(env_)));
    }

    /// dies_[region][k]: nodes of the region whose last use is its k-th node (or that have no use).
    void find_last_uses() {
        std::unordered_map<const Node*, size_t> position, last;
        for (const PlacedRegion& region : placement_.regions)
            for (size_t k = 0; k < region.order.size(); ++k) position[region.order[k].get()] = k;
        auto use = [&](const Node* node, int region, size_t at) {
            int home = placement_.region_of.at(node);
            for (; region != home; region = placement_.regions[region].parent)
                at = position.at(placement_.regions[region].owner);
            size_t& entry = last[node];
            entry = std::max(entry, at);
        };
        dies_.resize(placement_.regions.size());
        for (size_t r = 0; r < placement_.regions.size(); ++r) {
            const auto& order = placement_.regions[r].order;
            dies_[r].resize(order.size() + 1);
            for (size_t k = 0; k < order.size(); ++k) {
                use(order[k].get(), static_cast<int>(r), k);
                for (const Ref& input : order[k]->inputs) use(input.get(), static_cast<int>(r), k);
            }
            const Region* region = placement_.regions[r].region;
            for (const Ref& result : region ? region->results : graph_.results)
                use(result.get(), static_cast<int>(r), order.size());
        }
        for (size_t r = 0; r < placement_.regions.size(); ++r)
            for (const Ref& node : placement_.regions[r].order)
                dies_[r][last.at(node.get())].push_back(node.get());
    }

    void run_region(int region) {
        const auto& order = placement_.regions[static_cast<size_t>(region)].order;
        const auto& dies = dies_[static_cast<size_t>(region)];
        for (size_t k = 0; k < order.size(); ++k) {
            const Node& node = *order[k];
            if (node.op == Op::Loop)
                run_loop(node);
            else if (node.op == Op::If)
                run_if(node);
            else
                learn_sizes(node, *(values_[&node] = value(node)));
            if (seen_ && values_.contains(&node)) show(node);
            for (const Node* dead : dies[k]) {
                values_.erase(dead);
                region_results_.erase(dead);
            }
        }
    }

    void show(const Node& node) const {
        const std::vector<const HostTensor*> of =
            node.op == Op::Result ? std::vector<const HostTensor*>() : inputs(node);
        seen_({node, *values_.at(&node), of, iterations_});
    }

    const HostTensor& input(const Node& node, size_t k) const {
        return *values_.at(node.inputs[k].get());
    }

    std::vector<const HostTensor*> inputs(const Node& node, size_t first = 0) const {
        std::vector<const HostTensor*> out;
        for (size_t k = first; k < node.inputs.size(); ++k) out.push_back(&input(node, k));
        return out;
    }

    std::vector<Value> run_body(int region, const std::vector<Ref>& results) {
        run_region(region);
        std::vector<Value> out;
        for (const Ref& result : results) out.push_back(values_.at(result.get()));
        return out;
    }

    void enter(const Node& arg, const Value& value) {
        values_[&arg] = value;
        learn_sizes(arg, *value);
    }

    void run_loop(const Node& node) {
        const auto& attr = node.as<LoopAttr>();
        int64_t begin = input(node, 0).at(0).i, end = input(node, 1).at(0).i,
                step = input(node, 2).at(0).i;
        if (step == 0)
            throw UserError("loop: the step is 0 and the loop would never end" +
                            in_brackets(node.lines));
        int64_t distance = step > 0 ? end - begin : begin - end, pace = step > 0 ? step : -step;
        int64_t trips = distance <= 0 ? 0 : (distance + pace - 1) / pace;
        std::vector<Value> carried;
        for (size_t k = 3; k < node.inputs.size(); ++k)
            carried.push_back(values_.at(node.inputs[k].get()));

        int body = placement_.first_region.at(&node);
        auto runs = [&] {
            return attr.active < 0 || any_true(*carried[static_cast<size_t>(attr.active)]);
        };
        for (int64_t trip = 0; trip < trips && runs(); ++trip) {
            // The induction value wraps as i32 arithmetic does.
            enter(*attr.body->args[0], make_value(filled(scalar_int(begin + trip * step), {})));
            for (size_t k = 0; k < carried.size(); ++k) enter(*attr.body->args[k + 1], carried[k]);
            iterations_.push_back(trip);
            carried = run_body(body, attr.body->results);
            iterations_.pop_back();
        }
        if (attr.must_end == MustEnd::Throws && runs()) throw UserError(never_ended(node));
        region_results_[&node] = std::move(carried);
    }

    void run_if(const Node& node) {
        const auto& attr = node.as<IfAttr>();
        Value condition = values_.at(node.inputs[0].get());
        int first = placement_.first_region.at(&node);
        if (condition->shape.empty()) {
            bool taken = condition->at(0).i;
            region_results_[&node] = taken ? run_body(first, attr.then_body->results)
                                           : run_body(first + 1, attr.else_body->results);
            return;
        }
        std::vector<Value> yes = run_body(first, attr.then_body->results);
        std::vector<Value> no = run_body(first + 1, attr.else_body->results);
        for (size_t k = 0; k < yes.size(); ++k) {
            HostShape shape = broadcast(broadcast(yes[k]->shape, no[k]->shape), condition->shape);
            yes[k] = selected(condition, yes[k], no[k], shape);
        }
        region_results_[&node] = std::move(yes);
    }

    /// Every value is kept as a whole, its operands beside it.
    static void check_room(const Node& node, const HostShape& shape) {
        const double count = count_elements(shape);
        if (count > static_cast<double>(kMostElements))
            throw UserError(too_large(node, shape, counted_limit()));
        const uint64_t most = physical_memory() / 2;
        if (count * node.dtype.bytes() > static_cast<double>(most))
            throw UserError(too_large(node, shape,
                                      "the oracle keeps every value in the host's memory, each "
                                      "up to " +
                                          std::to_string(most) + " bytes here"));
    }

    Value value(const Node& node) const {
        if (node.op == Op::Input)
            return make_value(args_[static_cast<size_t>(node.as<InputAttr>().index)]);
        if (node.op == Op::Result) {
            const Value& out = region_results_.at(
                node.inputs[0].get())[static_cast<size_t>(node.as<ResultAttr>().index)];
            return fitted(out, concrete(node.shape));
        }
        HostShape shape = concrete(node.shape);
        check_room(node, shape);
        if (is_elementwise(node.op))
            return make_value(interpret_elementwise(node.op, node.dtype, shape, inputs(node)));
        return make_value(tensor_value(node, shape));
    }

    /// A condition around the store sends some positions outside: the promise of a whole
    /// permutation was the branch's.
    static ScatterAttr promised(const Node& node) {
        ScatterAttr attr = node.as<ScatterAttr>();
        attr.complete &= !leaves_some_out(*node.inputs[2]);
        return attr;
    }

    HostTensor accessed(const Node& node, const HostShape& shape) const {
        try {
            if (node.op == Op::Gather)
                return gathered(input(node, 0), inputs(node, 1), shape, node.as<GatherAttr>());
            return scattered(input(node, 0), input(node, 1), inputs(node, 2), promised(node));
        } catch (const UserError& broken_promise) {
            throw UserError(broken_promise.what() + in_brackets(node.lines));
        }
    }

    static std::string line_of(const Node& node) {
        return node.lines.empty() ? std::string() : text(node.lines[0]);
    }

    HostTensor called(const Node& node, const HostShape& shape) const {
        const HostTensor& given = input(node, 0);
        HostTensor out = HostTensor::make(node.dtype, shape);
        const HostCall call{node.dtype, given.shape, shape, given.data, out.data, line_of(node)};
        node.as<HostCallAttr>().operation->begin(call)->finish();
        return out;
    }

    HostTensor tensor_value(const Node& node, const HostShape& shape) const {
        switch (node.op) {
            case Op::Constant: return filled(node.as<ConstantAttr>().value, {});
            case Op::SizeValue:
                return filled(scalar_int(node.as<SizeAttr>().size.evaluate(env_)), {});
            // A read of it shows.
            case Op::Empty:
                return filled(node.dtype.is_float() ? scalar_float(std::nan(""), node.dtype)
                                                    : scalar_int(-77).to(node.dtype),
                              shape);
            case Op::Index: return index_along(shape, node.as<IndexAttr>().axis);
            case Op::Invocation: return index_along(shape, node.as<IndexAttr>().axis);
            case Op::Array: return filled(scalar_int(0).to(node.dtype), shape);
            case Op::Barrier:
            case Op::Ruled: return input(node, 0);
            case Op::Fetched:
                return fetched(input(node, 1), input(node, 2), inputs(node, 3),
                               node.inputs[0]->as<ScatterAttr>());
            case Op::Subgroup:
                return exchanged(input(node, 1), node.inputs.size() > 2 ? &input(node, 2) : nullptr,
                                 node.as<SubgroupAttr>());
            case Op::Reshape: {
                HostTensor out = input(node, 0);
                out.shape = shape;
                ensure(out.elements() == input(node, 0).elements(),
                       "a Reshape changes the number of elements");
                return out;
            }
            case Op::HostCall: return called(node, shape);
            case Op::Permute: return permuted(input(node, 0), node.as<PermuteAttr>().axes);
            case Op::Expand: return expanded(input(node, 0), shape);
            case Op::Slice:
                return sliced(input(node, 0), concrete(node.as<SliceAttr>().begin), shape,
                              node.as<SliceAttr>().step);
            case Op::Pad:
                return padded(input(node, 0), concrete(node.as<PadAttr>().before), shape,
                              node.as<PadAttr>().value);
            case Op::Gather:
            case Op::Scatter: return accessed(node, shape);
            case Op::Reduce:
                return reduced(input(node, 0), node.as<ReduceAttr>().op,
                               node.as<ReduceAttr>().axes);
            case Op::Buffer:
                throw InternalError(
                    "internal error: the interpreter was given a Buffer; make it an argument");
            default:
                throw InternalError(
                    std::string("internal error: the interpreter has no rule for ") +
                    info(node.op).name);
        }
    }

    const Graph& graph_;
    const std::vector<HostTensor>& args_;
    SizeEnv env_;
    const Seen& seen_;
    std::vector<int64_t> iterations_;  // of the loops that run
    Placement placement_;
    std::unordered_map<const Node*, std::vector<SizeAtom>>
        sized_by_;  // counts: the symbols that they give
    std::vector<std::vector<std::vector<const Node*>>> dies_;
    std::unordered_map<const Node*, Value> values_;
    std::unordered_map<const Node*, std::vector<Value>> region_results_;
};

}  // namespace

std::vector<HostTensor> interpret(const Graph& graph, const std::vector<HostTensor>& args,
                                  const SizeEnv& env,
                                  const std::function<void(const Evaluated&)>& seen) {
    return Interpreter(graph, args, env, seen).run();
}

}  // namespace firn
