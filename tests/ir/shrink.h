// Makes a random program that fails small: as few nodes, elements and numbers as still fail.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "compiler/ir/regions.h"
#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/ir/random_graph.h"

namespace firn {

/// Why a program fails, empty where it does not. May throw: a UserError is a program that is
/// refused, which is no failure, any other exception is one.
using RandomCheck = std::function<std::string(NodeTable&, const RandomProgram&)>;

/// Returns how a process of its own that ran `work` died; empty: it lived. Only with
/// FIRN_RANDOM_FORK=1, which makes crashes shrink: else empty.
template <class Work>
std::string crash_of(const Work& work) {
    if (!std::getenv("FIRN_RANDOM_FORK")) return "";
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        work();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? std::string("it dies: ") + strsignal(WTERMSIG(status)) : "";
}

/// The failure, or the exception, of a check.
inline std::string failure_of(const RandomCheck& check, NodeTable& table,
                              const RandomProgram& program, bool* refused = nullptr) {
    const std::string crash = crash_of([&] {
        try {
            check(table, program);
        } catch (const std::exception&) {
        }
    });
    if (!crash.empty()) return crash;
    try {
        return check(table, program);
    } catch (const UserError&) {
        if (refused) *refused = true;
        return "";
    } catch (const std::exception& error) {
        return std::string("it throws: ") + error.what();
    }
}

class Shrinker {
  public:
    Shrinker(NodeTable& table, RandomProgram program, const RandomCheck& check)
        : table_(table), best_(std::move(program)), check_(check) {}

    RandomProgram run() {
        while (take(without_dead_values(best_)) || results() || nodes() || sizes() || numbers()) {
        }
        return best_;
    }

  private:
    using Cost = std::tuple<size_t, int64_t,
                            int64_t>;  // nodes; elements of the arguments; those that are not 0

    static Cost cost(const RandomProgram& program) {
        int64_t elements = 0, numbers = 0;
        for (const HostTensor& arg : program.args) {
            elements += arg.elements();
            for (int64_t k = 0; k < arg.elements(); ++k)
                numbers += !(arg.at(k) == Scalar{}.to(arg.dtype));
        }
        for (const auto& [symbol, value] : program.env) elements += value;
        return {topological(program.graph.results).size(), elements, numbers};
    }

    RandomProgram without_dead_values(RandomProgram program) const {
        program.graph = dead_loop_values(table_, program.graph);
        return program;
    }

    /// The arguments that are used, in order.
    RandomProgram packed(RandomProgram program) const {
        std::unordered_set<const Node*> used;
        for (const Ref& node : topological(program.graph.results)) used.insert(node.get());
        RandomProgram out{{}, program.env, {}};
        std::unordered_map<const Node*, Ref> replace;
        for (size_t k = 0; k < program.graph.args.size(); ++k) {
            const Ref& arg = program.graph.args[k];
            if (!used.contains(arg.get())) continue;
            out.graph.args.push_back(input({table_}, static_cast<int>(out.args.size()), arg->dtype,
                                           arg->shape, arg->as<InputAttr>().scalar));
            out.args.push_back(program.args[k]);
            replace.emplace(arg.get(), out.graph.args.back());
        }
        out.graph.results = substitute(table_, program.graph.results, replace);
        return out;
    }

    /// Keeps the candidate where it is smaller and still fails.
    bool take(RandomProgram candidate) {
        if (tries_-- <= 0) return false;
        try {
            candidate = packed(std::move(candidate));
            if (cost(candidate) >= cost(best_)) return false;
            verify(candidate.graph, "shrink");
        } catch (const std::exception&) {
            return false;  // shapes that do not meet
        }
        if (failure_of(check_, table_, candidate).empty()) return false;
        best_ = std::move(candidate);
        return true;
    }

    bool take_results(std::vector<Ref> results) {
        std::erase_if(results, [](const Ref& r) {
            return info(r->op).result == ResultRule::None || r->free_args;
        });
        if (results.empty()) return false;
        RandomProgram candidate = best_;
        candidate.graph.results = std::move(results);
        return take(std::move(candidate));
    }

    /// Keeps one result alone; or the inputs of a result.
    bool results() {
        const std::vector<Ref> all = best_.graph.results;
        for (size_t k = 0; all.size() > 1 && k < all.size(); ++k)
            if (take_results({all[k]})) return true;
        for (size_t k = 0; k < all.size(); ++k) {
            std::vector<Ref> inside = all[k]->inputs;
            if (all[k]->op == Op::Result) inside = unrolled(*all[k]->inputs[0]);
            for (const Ref& each : inside) {
                std::vector<Ref> next = all;
                next[k] = each;
                if (take_results(next)) return true;
            }
        }
        return false;
    }

    /// Returns the results of a branch's sides, or of the first iteration of a loop and its initial
    /// values.
    std::vector<Ref> unrolled(const Node& owner) const {
        std::vector<Ref> out;
        if (owner.op == Op::If) {
            out = owner.as<IfAttr>().then_body->results;
            const auto& other = owner.as<IfAttr>().else_body->results;
            out.insert(out.end(), other.begin(), other.end());
        } else {
            out.assign(owner.inputs.begin() + 3, owner.inputs.end());
            if (owner.as<LoopAttr>().by_hand()) return out;
            const Region& body = *owner.as<LoopAttr>().body;
            std::unordered_map<const Node*, Ref> replace{{body.args[0].get(), owner.inputs[0]}};
            for (size_t a = 1; a < body.args.size(); ++a)
                replace.emplace(body.args[a].get(), owner.inputs[a + 2]);
            for (const Ref& made : substitute(table_, body.results, replace)) out.push_back(made);
        }
        return out;
    }

    /// Returns replacements of a node: values of its type from inside it.
    std::vector<Ref> simpler(const Node& node) const {
        std::vector<Ref> out = node.op == Op::Result ? unrolled(*node.inputs[0]) : node.inputs;
        std::erase_if(out, [&](const Ref& made) {
            return made->dtype != node.dtype || made->shape != node.shape;
        });
        return out;
    }

    /// Inside a kernel by hand, where values are versions of arrays.
    bool is_by_hand(const Node& node, const std::vector<Ref>& order) const {
        if (!node.free_args) return false;
        for (const Ref& loop : order) {
            if (loop->op != Op::Loop || !loop->as<LoopAttr>().by_hand()) continue;
            for (const Ref& arg : loop->as<LoopAttr>().body->args)
                if (std::binary_search(node.free_args->begin(), node.free_args->end(),
                                       arg->as<RegionArgAttr>().id))
                    return true;
        }
        return false;
    }

    bool nodes() {
        std::vector<Ref> order = topological(best_.graph.results);
        for (size_t k = order.size(); k-- > 0;) {
            const Ref& node = order[k];
            if (info(node->op).result == ResultRule::None || is_by_hand(*node, order)) continue;
            for (const Ref& made : simpler(*node))
                if (replace(node, made)) return true;
            if (!(info(node->op).properties & kLeaf) && (as_argument(node) || as_number(node)))
                return true;
        }
        return false;
    }

    bool replace(const Ref& node, const Ref& made) {
        RandomProgram candidate = best_;
        try {
            candidate.graph.results = substitute(table_, best_.graph.results, {{node.get(), made}});
        } catch (const std::exception&) {
            return false;
        }
        return take(std::move(candidate));
    }

    /// An argument that has the node's value.
    bool as_argument(const Ref& node) {
        if (node->free_args) return false;
        RandomProgram candidate = best_;
        try {
            Graph alone = best_.graph;
            alone.results = {node};
            candidate.args.push_back(interpret(alone, best_.args, best_.env)[0]);
            const int index = static_cast<int>(candidate.graph.args.size());
            candidate.graph.args.push_back(input({table_}, index, node->dtype, node->shape, false));
            candidate.graph.results = substitute(table_, best_.graph.results,
                                                 {{node.get(), candidate.graph.args.back()}});
        } catch (const std::exception&) {
            return false;
        }
        return take(std::move(candidate));
    }

    bool as_number(const Ref& node) {
        std::vector<Guard> known;
        const Builder b{table_, {}, &known};
        return replace(node, expand(b, constant(b, Scalar{}.to(node->dtype)), node->shape)) ||
               replace(node, expand(b, cast(b, constant_int(b, 1), node->dtype), node->shape));
    }

    /// Smaller symbols; the arguments keep their first elements.
    bool sizes() {
        for (const auto& [symbol, value] : best_.env)
            for (int64_t smaller = 1; smaller < value; ++smaller) {
                RandomProgram candidate = best_;
                candidate.env[symbol] = smaller;
                for (size_t k = 0; k < candidate.args.size(); ++k) {
                    std::vector<int64_t> shape;
                    for (const Size& size : candidate.graph.args[k]->shape)
                        shape.push_back(size.evaluate(candidate.env));
                    HostTensor cut = HostTensor::make(candidate.args[k].dtype, shape);
                    for (int64_t e = 0; e < cut.elements(); ++e)
                        cut.set(e, candidate.args[k].at(e));
                    candidate.args[k] = std::move(cut);
                }
                if (take(std::move(candidate))) return true;
            }
        return false;
    }

    /// Zeros for an argument, or for one of its numbers.
    bool numbers() {
        for (size_t k = 0; k < best_.args.size(); ++k) {
            RandomProgram candidate = best_;
            candidate.args[k] = HostTensor::make(best_.args[k].dtype, best_.args[k].shape);
            if (take(std::move(candidate))) return true;
            for (int64_t e = 0; e < std::min<int64_t>(40, best_.args[k].elements()); ++e) {
                RandomProgram other = best_;
                other.args[k].set(e, Scalar{}.to(other.args[k].dtype));
                if (take(std::move(other))) return true;
            }
        }
        return false;
    }

    NodeTable& table_;
    RandomProgram best_;
    const RandomCheck& check_;
    int tries_ = 4000;
};

}  // namespace firn
