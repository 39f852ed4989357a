// Replaces functions of a kernel by their definitions.
#include "compiler/kernel/functions/expand_functions.h"

#include <map>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/kernel/functions/functions.h"

namespace firn {
namespace {

class Expansion {
  public:
    Expansion(const KernelCode& from, const std::function<bool(KernelOp, DType)>& is_basic)
        : from_(from), is_basic_(is_basic), to_(from), made_(from.nodes.size(), -1) {
        to_.nodes.clear();
    }

    KernelCode run() {
        find_functions();
        for (size_t id = 0; id < from_.nodes.size(); ++id) {
            if (const KernelFunction* function = functions_[id])
                expand(static_cast<int>(id), *function);
            else
                made_[id] = copy(from_.nodes[id], made_);
        }
        for (size_t k = 0; k < from_.regions.size(); ++k)
            to_.regions[k] = copy(from_.regions[k], made_, 0);
        for (Range& range : to_.ranges)
            if (range.extent_node >= 0)
                range.extent_node = made_[static_cast<size_t>(range.extent_node)];
        return std::move(to_);
    }

  private:
    void find_functions() {
        functions_.resize(from_.nodes.size());
        for (const KernelRegion& region : from_.regions)
            for (int id : region.order) {
                const KernelNode& n = from_.nodes[static_cast<size_t>(id)];
                const DType computed = n.dtype.is_half() ? f32 : n.dtype;
                if (const KernelFunction* function = find_kernel_function(n.op, computed);
                    function && !is_basic_(n.op, n.dtype))
                    functions_[static_cast<size_t>(id)] = function;
            }
    }

    int add(KernelNode node) {
        to_.nodes.push_back(std::move(node));
        return static_cast<int>(to_.nodes.size()) - 1;
    }

    int copy(KernelNode node, const std::vector<int>& made) {
        for (int& arg : node.args) arg = made[static_cast<size_t>(arg)];
        return add(std::move(node));
    }

    std::vector<int> copied(const std::vector<int>& ids, const std::vector<int>& made) const {
        std::vector<int> out;
        for (int id : ids) {
            // Only nodes of the kernel are functions, and only they have an order of their own.
            const auto inside = &made == &made_ ? orders_.find(id) : orders_.end();
            if (inside != orders_.end())
                out.insert(out.end(), inside->second.begin(), inside->second.end());
            else
                out.push_back(made[static_cast<size_t>(id)]);
        }
        return out;
    }

    /// `order` alone may name functions as statements: elsewhere they are values.
    KernelRegion copy(KernelRegion region, const std::vector<int>& made, int shift) const {
        region.order = copied(region.order, made);
        for (std::vector<int>* ids : {&region.args, &region.effects, &region.yields})
            for (int& id : *ids) id = made[static_cast<size_t>(id)];
        if (region.alive >= 0) region.alive = made[static_cast<size_t>(region.alive)];
        ensure(shift == 0 || region.range < 0, "a function has a loop");
        return region;
    }

    int cast(int value, DType dtype, const KernelNode& of, std::vector<int>& order) {
        KernelNode n;
        n.op = KernelOp::Cast, n.dtype = dtype, n.args = {value}, n.lines = of.lines;
        order.push_back(add(std::move(n)));
        return order.back();
    }

    /// Returns the value of a function whose arguments are `args`; `order` gets its nodes.
    int append(const KernelCode& body, const KernelNode& call, const std::vector<int>& args,
               std::vector<int>& order) {
        std::vector<int> made(body.nodes.size(), -1);
        const int regions = static_cast<int>(to_.regions.size()) - 1;  // the body's root is none
        const int store = body.regions[0].effects[0];
        for (size_t id = 0; id < body.nodes.size(); ++id) {
            KernelNode n = body.nodes[id];
            if (static_cast<int>(id) == store) continue;
            if (n.op == KernelOp::Param) {
                made[id] = args[static_cast<size_t>(n.param)];
                continue;
            }
            if (n.region >= 0) n.region += regions;
            if (n.else_region >= 0) n.else_region += regions;
            n.lines = call.lines;
            made[id] = copy(std::move(n), made);
        }
        for (size_t k = 1; k < body.regions.size(); ++k)
            to_.regions.push_back(copy(body.regions[k], made, regions));
        for (int id : body.regions[0].order) order.push_back(made[static_cast<size_t>(id)]);
        return made[static_cast<size_t>(body.nodes[static_cast<size_t>(store)].args[1])];
    }

    void expand(int id, const KernelFunction& function) {
        const KernelNode& n = from_.nodes[static_cast<size_t>(id)];
        std::vector<int> args, order;
        for (int arg : n.args) {
            args.push_back(made_[static_cast<size_t>(arg)]);
            if (n.dtype.is_half()) args.back() = cast(args.back(), f32, n, order);
        }
        const int value = append(function_code(function), n, args, order);
        made_[static_cast<size_t>(id)] = n.dtype.is_half() ? cast(value, n.dtype, n, order) : value;
        orders_[id] = std::move(order);
    }

    const KernelCode& from_;
    const std::function<bool(KernelOp, DType)>& is_basic_;
    KernelCode to_;
    std::vector<int> made_;                         // by node: its copy, or its value
    std::vector<const KernelFunction*> functions_;  // by node
    std::map<int, std::vector<int>> orders_;        // by function node: its definition
};

}  // namespace

void expand_functions(KernelCode& code, const std::function<bool(KernelOp, DType)>& is_basic) {
    code = Expansion(code, is_basic).run();
}

}  // namespace firn
