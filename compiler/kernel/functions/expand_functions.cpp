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
        : from_(from), is_basic_(is_basic), to_(from), made_(from.nodes.size()) {
        to_.nodes.clear();
    }

    KernelCode run() {
        find_functions();
        for (NodeId id : from_.nodes.ids()) {
            if (const KernelFunction* function = functions_[id])
                expand(id, *function);
            else
                made_[id] = copy(from_[id], made_);
        }
        for (RegionId id : from_.regions.ids()) to_[id] = copy(from_[id], made_);
        for (Range& range : to_.ranges)
            if (range.extent_node) range.extent_node = made_[range.extent_node];
        return std::move(to_);
    }

  private:
    void find_functions() {
        functions_.resize(from_.nodes.size());
        for (const KernelRegion& region : from_.regions)
            for (NodeId id : region.order) {
                const KernelNode& n = from_[id];
                const DType computed = n.dtype.is_half() ? f32 : n.dtype;
                if (const KernelFunction* function = find_kernel_function(n.op, computed);
                    function && !is_basic_(n.op, n.dtype))
                    functions_[id] = function;
            }
    }

    NodeId add(KernelNode node) {
        const NodeId id = to_.nodes.end_id();
        to_.nodes.push_back(std::move(node));
        return id;
    }

    NodeId copy(KernelNode node, const ByNode<NodeId>& made) {
        for (NodeId& arg : node.args) arg = made[arg];
        return add(std::move(node));
    }

    std::vector<NodeId> copied(const std::vector<NodeId>& ids, const ByNode<NodeId>& made) const {
        std::vector<NodeId> out;
        for (NodeId id : ids) {
            // Only nodes of the kernel are functions, and only they have an order of their own.
            const auto inside = &made == &made_ ? orders_.find(id) : orders_.end();
            if (inside != orders_.end())
                out.insert(out.end(), inside->second.begin(), inside->second.end());
            else
                out.push_back(made[id]);
        }
        return out;
    }

    /// `order` alone may name functions as statements: elsewhere they are values.
    KernelRegion copy(KernelRegion region, const ByNode<NodeId>& made) const {
        region.order = copied(region.order, made);
        for (std::vector<NodeId>* ids : {&region.args, &region.effects, &region.yields})
            for (NodeId& id : *ids) id = made[id];
        if (region.alive) region.alive = made[region.alive];
        return region;
    }

    NodeId cast(NodeId value, DType dtype, const KernelNode& of, std::vector<NodeId>& order) {
        KernelNode n;
        n.op = KernelOp::Cast, n.dtype = dtype, n.args = {value}, n.lines = of.lines;
        order.push_back(add(std::move(n)));
        return order.back();
    }

    /// Returns the value of a function whose arguments are `args`; `order` gets its nodes.
    NodeId append(const KernelCode& body, const KernelNode& call, const std::vector<NodeId>& args,
                  std::vector<NodeId>& order) {
        ByNode<NodeId> made(body.nodes.size());
        const size_t before = to_.regions.size() - 1;  // the body's root is none
        const NodeId store = body[kRoot].effects[0];
        for (NodeId id : body.nodes.ids()) {
            KernelNode n = body[id];
            if (id == store) continue;
            if (n.op == KernelOp::Param) {
                made[id] = args[static_cast<size_t>(n.as<ParamAttr>().param)];
                continue;
            }
            if (auto* own = n.get_if<BodyAttr>())
                for (RegionId* region : {&own->region, &own->else_region})
                    if (*region) *region = RegionId(before + region->place());
            n.lines = call.lines;
            made[id] = copy(std::move(n), made);
        }
        for (RegionId id : Ids<RegionId>{kRoot.next(), body.regions.end_id()}) {
            ensure(!body[id].range, "a function has a loop");
            to_.regions.push_back(copy(body[id], made));
        }
        for (NodeId id : body[kRoot].order) order.push_back(made[id]);
        return made[body[store].args[1]];
    }

    void expand(NodeId id, const KernelFunction& function) {
        const KernelNode& n = from_[id];
        std::vector<NodeId> args, order;
        for (NodeId arg : n.args) {
            args.push_back(made_[arg]);
            if (n.dtype.is_half()) args.back() = cast(args.back(), f32, n, order);
        }
        const NodeId value = append(function_code(function), n, args, order);
        made_[id] = n.dtype.is_half() ? cast(value, n.dtype, n, order) : value;
        orders_[id] = std::move(order);
    }

    const KernelCode& from_;
    const std::function<bool(KernelOp, DType)>& is_basic_;
    KernelCode to_;
    ByNode<NodeId> made_;  // by node: its copy, or its value
    ByNode<const KernelFunction*> functions_;
    std::map<NodeId, std::vector<NodeId>> orders_;  // by function node: its definition
};

}  // namespace

void expand_functions(KernelCode& code, const std::function<bool(KernelOp, DType)>& is_basic) {
    code = Expansion(code, is_basic).run();
}

}  // namespace firn
