// Makes graphs for gradients: replaces computed values by their histories.
#include "compiler/frontend/with_history.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/frontend/data_size.h"
#include "compiler/frontend/float_paths.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/ir/node_map.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// The form of a value that all of its nodes have in common: its Buffer, once there is one.
const Ref& form_of(const Ref& node) {
    const Ref& buffer = known_buffer(node);
    return buffer && buffer->shape == node->shape && buffer->dtype == node->dtype ? buffer : node;
}

/// Adds the nodes that computing a value again needs: the node, or the arguments of the call.
void add_roots(const Past& past, std::vector<Ref>& out) {
    if (past.node) out.push_back(past.node);
    if (!past.call) return;
    for (const PastArgument& argument : past.call->arguments) {
        if (argument.node) out.push_back(argument.node);
        if (argument.past) add_roots(*argument.past, out);
    }
    out.insert(out.end(), past.call->captured.begin(), past.call->captured.end());
}

/// Returns whether `is_one` holds for `values` or a node below them.
bool any_below(const std::vector<Ref>& values, const std::function<bool(const Node&)>& is_one) {
    std::vector<const Node*> left;
    NodeMap<char> seen;
    const auto meet = [&](const Ref& node) {
        if (seen.insert(node.get(), 1)) left.push_back(node.get());
    };
    for (const Ref& value : values) meet(value);
    while (!left.empty()) {
        const Node& node = *left.back();
        left.pop_back();
        if (is_one(node)) return true;
        for_smooth_inputs(node, meet);
    }
    return false;
}

class Expansion {
  public:
    Expansion(SessionState& session, const std::vector<Ref>& xs, SourceLine line)
        : session_(session), line_(line) {
        for (const Ref& x : xs) {
            const Node& form = *form_of(x);
            targets_.insert(&form);
            oldest_ = std::min({oldest_, x->serial, form.serial, form.oldest_form});
        }
    }

    std::vector<Ref> expand(const std::vector<Ref>& values, const std::vector<Ref>& xs) {
        Behind all;
        all.roots = values;
        std::vector<Behind*> next{&all};
        for (const Ref& x : xs) add_past(form_of(x), next);
        while (!next.empty()) next = look(next);
        for (const auto& [serial, found] : behind_)
            if (found.target || std::any_of(found.buffers.begin(), found.buffers.end(), reaches()))
                reaching_.insert(found.buffer.get());
        for (const auto& [serial, found] : behind_) now(found.buffer);
        take_forms(all);
        return map_.empty() ? values : substitute(session_.nodes, values, map_);
    }

    /// False only if expand would return `values` unchanged, and each of `xs` stands for itself:
    /// `values` depend on no other form of a target, and on no history that is as new as a target.
    bool may_change(const std::vector<Ref>& values, const std::vector<Ref>& xs) const {
        const auto changes = [&](const Node& node) {
            return (node.computed && is_form(node)) ||
                   (node.history && is_new_enough(*node.history));
        };
        return std::any_of(xs.begin(), xs.end(),
                           [&](const Ref& x) { return x->computed || changes(*x); }) ||
               any_below(values, changes);
    }

    /// Returns the node that stands for a value.
    Ref now(const Ref& form) {
        if (!reaching_.contains(form.get())) return form;
        const auto at = map_.find(form.get());
        return at == map_.end() ? replaced(behind_.at(form->serial)) : at->second;
    }

  private:
    /// The dependencies of a value: whether it changes with a target, with Buffers that have a
    /// history, and with nodes that are other forms of a target.
    struct Behind {
        Ref buffer;
        std::vector<Ref> roots, buffers, others;
        bool target = false;
    };

    std::function<bool(const Ref&)> reaches() const {
        return [this](const Ref& buffer) { return reaching_.contains(buffer.get()); };
    }

    bool is_past(const Node& node) const {
        if (node.op != Op::Buffer) return false;
        const History* history = node.history;
        return history && (node.serial > oldest_ || !history->past);
    }

    /// A target may be behind it: one of its sources is as new as the oldest target.
    bool is_new_enough(const History& history) const {
        return std::any_of(history.sources->all.begin(), history.sources->all.end(),
                           [&](const HistorySource& source) {
                               const Ref node = source.node.lock();
                               return node && node->serial >= oldest_;
                           });
    }

    void add_past(const Ref& buffer, std::vector<Behind*>& next) {
        const History* history = buffer->history;
        if (!history || behind_.contains(buffer->serial)) return;
        if (!history->past) return refuse_forgotten(*history, buffer);
        if (!is_new_enough(*history)) return;
        Behind& found = behind_[buffer->serial];
        found.buffer = buffer;
        add_roots(*history->past, found.roots);
        next.push_back(&found);
    }

    /// Finds the dependencies of all of them, and returns the Buffers whose pasts were not visited
    /// yet.
    std::vector<Behind*> look(const std::vector<Behind*>& all) {
        std::vector<Ref> roots;
        for (const Behind* each : all)
            roots.insert(roots.end(), each->roots.begin(), each->roots.end());
        const auto is_target = [&](const Ref& node) {
            return targets_.contains(form_of(node).get());
        };
        const FloatPaths paths(
            roots,
            [&](const Node& node) {
                return node.op == Op::Buffer ? is_past(node) || targets_.contains(&node)
                                             : is_form(node);
            },
            FloatPaths::Buffers::Left);
        std::vector<Behind*> next;
        for (Behind* each : all)
            for (const Ref& root : each->roots)
                for (const Ref& source : paths.sources_of(*root)) {
                    const Ref form = form_of(source);
                    if (is_target(source) && form != each->buffer) {
                        each->target = true;
                        if (form != source) each->others.push_back(source);
                    }
                    if (!is_past(*source) || source == each->buffer) continue;
                    each->buffers.push_back(source);
                    add_past(source, next);
                }
        return next;
    }

    bool is_form(const Node& node) const {
        if (targets_.contains(&node)) return true;
        if (!node.computed) return false;
        const Node& buffer = *node.computed;
        for (const Node* target : targets_)
            if (target->op == Op::Buffer && target->shape != buffer.shape &&
                equal_attr(target->attr, buffer.attr))
                fail_at(line_, "grad: the tensor " + std::string(buffer.dtype.name()) +
                                   text(target->shape) + " was used when its shape was " +
                                   text(buffer.shape) +
                                   ", a size that only the device knew; ask for its shape() before "
                                   "it is used");
        return targets_.contains(&buffer);
    }

    void refuse_forgotten(const History& history, const Ref& buffer) const {
        for (const HistorySource& source : history.sources->all) {
            const Ref node = source.node.lock();
            if (!node || form_of(node) == buffer) continue;
            const Ref x = form_of(node);
            if (targets_.contains(x.get()))
                fail_at(line_,
                        "grad: the tensor " + std::string(x->dtype.name()) + text(x->shape) +
                            " is behind a value that was computed at " + text(history.line) +
                            ", and the values that it was computed from are no longer kept: " +
                            history.forgotten +
                            "; ask for the gradient before the value is computed, record "
                            "both in one compiled function, or take stop_gradient of the "
                            "value where it does not count");
        }
    }

    /// Replaces nodes that are other forms of a target by its stand-in.
    void take_forms(const Behind& found) {
        for (const Ref& other : found.others)
            if (const Ref form = form_of(other); form != found.buffer)
                map_.emplace(other.get(), now(form));
    }

    Ref node_of(const Past& past) {
        Ref node = past.node ? with_read_sizes(session_, past.node) : nullptr;
        if (past.call) {
            auto& results = calls_[past.call.get()];
            if (results.empty()) results = results_of(*past.call);
            node = results[past.result];
        }
        return substitute(session_.nodes, {node}, map_)[0];
    }

    std::vector<Ref> results_of(const PastCall& call) {
        std::vector<Arg> arguments;
        for (const PastArgument& each : call.arguments) {
            const Tensor argument =
                tensor_of(each.node   ? each.node
                          : each.past ? node_of(*each.past)
                                      : constant(builder(session_, line_), each.number));
            arguments.emplace_back(argument, line_);
        }
        const Graph& graph = call.function->graph;
        const auto first =
            graph.results.begin() + static_cast<std::ptrdiff_t>(graph.data_sizes.size());
        return inlined(session_, *call.function, {first, graph.results.end()}, arguments, line_);
    }

    Ref replaced(const Behind& found) {
        const History& history = *found.buffer->history;
        const Ref& buffer = found.buffer;
        for (const Ref& each : found.buffers) now(each);
        take_forms(found);
        const Ref node = node_of(*history.past);
        if (node->shape != buffer->shape || node->dtype != buffer->dtype)
            fail_at(line_, "grad: a value that was computed at " + text(history.line) +
                               " has the shape " + text(buffer->shape) +
                               ", but was recorded with the shape " + text(node->shape) +
                               ", because only the device knows one of its sizes; ask for the "
                               "gradient "
                               "before the value is computed");
        map_[buffer.get()] = node;
        if (!known_buffer(node)) set_computed(*node, buffer);
        return node;
    }

    SessionState& session_;
    SourceLine line_;
    std::unordered_set<const Node*> targets_;  // forms of xs
    uint64_t oldest_ = UINT64_MAX;             // nothing made before changes with a target
    std::map<uint64_t, Behind> behind_;        // by the Buffer's serial
    std::unordered_set<const Node*> reaching_;
    std::map<const PastCall*, std::vector<Ref>> calls_;
    std::unordered_map<const Node*, Ref> map_;
};

}  // namespace

std::vector<Ref> with_history(SessionState& session, const std::vector<Ref>& values,
                              std::vector<Ref>& xs, SourceLine line) {
    Expansion expansion(session, xs, line);
    if (!expansion.may_change(values, xs)) return values;
    const std::vector<Ref> out = expansion.expand(values, xs);
    for (Ref& x : xs) x = expansion.now(form_of(x));
    return out;
}

}  // namespace firn
