// Values that are the same for every invocation of a group.
#include "compiler/ir/uniform.h"

#include <unordered_map>

namespace firn {
namespace {

class Uniform {
  public:
    Uniform(const std::vector<uint32_t>& group, const std::unordered_set<const Node*>& known)
        : group_(group) {
        for (const Node* node : known) memo_[node] = true;
    }

    /// Operands before users, without recursion: bodies are long.
    bool of(const Node& root) {
        std::vector<const Node*> queue{&root};
        while (!queue.empty()) {
            const Node& node = *queue.back();
            if (memo_.contains(&node)) {
                queue.pop_back();
                continue;
            }
            bool ready = true;
            if (!element_count(node.shape).is(1) && depends_on_inputs(node))
                for (const Ref& input : node.inputs)
                    if (!memo_.contains(input.get())) queue.push_back(input.get()), ready = false;
            if (!ready) continue;
            memo_[&node] = judge(node);
            queue.pop_back();
        }
        return memo_.at(&root);
    }

  private:
    static bool depends_on_inputs(const Node& node) {
        return is_elementwise(node.op) || node.op == Op::Expand || node.op == Op::Reshape ||
               node.op == Op::Gather;
    }

    bool is_group_index(const Node& node) const {
        if (node.op != Op::Div || node.inputs[0]->op != Op::Invocation) return false;
        const Node* width = node.inputs[1].get();
        while (width->op == Op::Expand) width = width->inputs[0].get();
        const int axis = node.inputs[0]->as<IndexAttr>().axis;
        return width->op == Op::Constant &&
               width->as<ConstantAttr>().value.i % group_[static_cast<size_t>(axis)] == 0;
    }

    bool judge(const Node& node) const {
        if (element_count(node.shape).is(1) || is_group_index(node)) return true;
        if (!depends_on_inputs(node)) return false;
        // All invocations read one memory, and one index has one value.
        for (size_t k = node.op == Op::Gather ? 1 : 0; k < node.inputs.size(); ++k)
            if (!memo_.at(node.inputs[k].get())) return false;
        return true;
    }

    const std::vector<uint32_t>& group_;
    std::unordered_map<const Node*, bool> memo_;
};

}  // namespace

bool is_uniform(const Node& node, const std::vector<uint32_t>& group,
                const std::unordered_set<const Node*>& known) {
    return Uniform(group, known).of(node);
}

}  // namespace firn
