// Replaces a loop by another one that computes the same values besides its own.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

bool has_equal_rules(const LoopAttr& a, const LoopAttr& b) {
    return a.sizes.empty() && b.sizes.empty() && a.active == b.active && a.must_end == b.must_end &&
           a.host == b.host && a.open == b.open && a.grid == b.grid && a.group == b.group &&
           a.rounded == b.rounded;
}

/// Returns whether `whole` has the bounds of `part`, and carries, first, the carried values of
/// `part` from the same initial values. A kernel written by hand must carry nothing else.
bool begins_as(const Node& whole, const Node& part) {
    const LoopAttr &a = whole.as<LoopAttr>(), &b = part.as<LoopAttr>();
    return has_equal_rules(a, b) && whole.inputs.size() >= part.inputs.size() &&
           (!a.by_hand() || whole.inputs.size() == part.inputs.size()) &&
           std::equal(part.inputs.begin(), part.inputs.end(), whole.inputs.begin());
}

bool needs_the_same_args(const Node& a, const Node& b) {
    const std::vector<uint64_t> none;
    return (a.free_args ? *a.free_args : none) == (b.free_args ? *b.free_args : none);
}

bool depends_on(const Ref& node, const Ref& other) {
    const std::vector<Ref> below = topological({node});
    return std::find(below.begin(), below.end(), other) != below.end();
}

/// Compares what nodes compute, if the arguments of one region stand for those of another. Loops
/// and branches have an identity of their own, so those inside the regions are never the same
/// nodes.
class Comparison {
  public:
    /// Lets the first arguments of `b` stand for those of `a`, in order. False if a type or a shape
    /// differs.
    bool pair_args(const Region& a, const Region& b) {
        for (size_t k = 0; k < b.args.size(); ++k) {
            if (a.args[k]->shape != b.args[k]->shape || a.args[k]->dtype != b.args[k]->dtype)
                return false;
            twins_[b.args[k].get()] = a.args[k].get();
        }
        return true;
    }
    /// True if the first results of `a` equal those of `b`.
    bool are_equal(const Region& a, const Region& b) {
        add(a.results, b.results, b.results.size());
        while (!open_.empty()) {
            const auto [x, y] = open_.back();
            open_.pop_back();
            if (!is_equal(*x, *y)) return false;
        }
        return true;
    }

  private:
    void add(const std::vector<Ref>& a, const std::vector<Ref>& b, size_t count) {
        for (size_t k = 0; k < count; ++k) open_.push_back({a[k].get(), b[k].get()});
    }

    bool is_equal(const Node& a, const Node& b) {
        const auto [twin, first] = twins_.try_emplace(&b, &a);
        if (!first) return twin->second == &a;
        if (&a == &b) return true;
        if (a.op != b.op || a.dtype != b.dtype || a.shape != b.shape || a.own != b.own ||
            a.inputs.size() != b.inputs.size() || a.op == Op::RegionArg)
            return false;
        add(a.inputs, b.inputs, b.inputs.size());
        if (a.op == Op::Loop) return is_equal_loop(a.as<LoopAttr>(), b.as<LoopAttr>());
        if (a.op == Op::If)
            return is_equal_body(*a.as<IfAttr>().then_body, *b.as<IfAttr>().then_body) &&
                   is_equal_body(*a.as<IfAttr>().else_body, *b.as<IfAttr>().else_body);
        return equal_attr(a.attr, b.attr);
    }
    bool is_equal_loop(const LoopAttr& a, const LoopAttr& b) {
        return has_equal_rules(a, b) && a.checkpoint == b.checkpoint &&
               is_equal_body(*a.body, *b.body);
    }
    bool is_equal_body(const Region& a, const Region& b) {
        if (a.args.size() != b.args.size() || a.results.size() != b.results.size()) return false;
        add(a.results, b.results, b.results.size());
        return pair_args(a, b);
    }

    std::unordered_map<const Node*, const Node*> twins_;  // of nodes of `b`
    std::vector<std::pair<const Node*, const Node*>> open_;
};

/// True if the iterations of `whole` compute the same next values as those of `part`.
bool goes_on_as(const Node& whole, const Node& part) {
    const Region &a = *whole.as<LoopAttr>().body, &b = *part.as<LoopAttr>().body;
    Comparison comparison;
    return comparison.pair_args(a, b) && comparison.are_equal(a, b);
}

/// A loop, and another one that computes the same values among others.
struct Pair {
    Ref part, whole;
};

/// Returns the loops whose values another loop computes: of equal loops the first stays.
std::vector<Pair> loops_done_by_others(const std::vector<Ref>& order) {
    std::vector<Ref> loops;
    for (const Ref& node : order)
        if (node->op == Op::Loop) loops.push_back(node);
    std::vector<Pair> out;
    std::unordered_set<const Node*> parts;
    for (size_t p = 0; p < loops.size(); ++p)
        for (size_t w = 0; w < loops.size(); ++w) {
            const Ref &part = loops[p], &whole = loops[w];
            const bool comes_first = w < p || whole->inputs.size() > part->inputs.size();
            if (w == p || !comes_first || !begins_as(*whole, *part) ||
                !needs_the_same_args(*whole, *part) || parts.contains(whole.get()) ||
                !goes_on_as(*whole, *part) || depends_on(whole, part))
                continue;
            parts.insert(part.get());
            out.push_back({part, whole});
            break;
        }
    return out;
}

/// Returns the pairs whose whole loop depends only on parts of earlier pairs.
std::vector<Pair> in_order(const std::vector<Pair>& pairs) {
    std::vector<std::vector<size_t>> waits(pairs.size());
    for (size_t k = 0; k < pairs.size(); ++k) {
        std::unordered_set<const Node*> below;
        for (const Ref& node : topological({pairs[k].whole})) below.insert(node.get());
        for (size_t other = 0; other < pairs.size(); ++other)
            if (below.contains(pairs[other].part.get())) waits[k].push_back(other);
    }
    std::vector<Pair> out;
    std::vector<bool> placed(pairs.size());
    for (bool found = true; found;) {
        found = false;
        for (size_t k = 0; k < pairs.size(); ++k) {
            if (placed[k] || !std::all_of(waits[k].begin(), waits[k].end(),
                                          [&](size_t other) { return placed[other]; }))
                continue;
            placed[k] = found = true;
            out.push_back(pairs[k]);
        }
    }
    return out;
}

/// Takes the results of each part from its whole loop. The whole loops are rebuilt first: one that
/// uses results of another part stands for its own part in its rebuilt form, so that no loop is
/// there twice, before and after.
std::vector<Ref> with_wholes(NodeTable& table, const std::vector<Ref>& results,
                             const std::vector<Pair>& pairs) {
    std::vector<Ref> roots;
    std::unordered_map<const Node*, const Node*> wholes;
    for (const Pair& pair : pairs) {
        roots.push_back(pair.whole);
        wholes.emplace(pair.part.get(), pair.whole.get());
    }
    roots.insert(roots.end(), results.begin(), results.end());
    std::unordered_map<const Node*, Ref> rebuilt;
    const auto from_whole = [&](const Node& node, const std::vector<Ref>&) -> Ref {
        if (node.op != Op::Result) return nullptr;
        const auto whole = wholes.find(node.inputs[0].get());
        if (whole == wholes.end()) return nullptr;
        return result(Builder{table, first_line(node.lines)}, rebuilt.at(whole->second),
                      node.as<ResultAttr>().index);
    };
    const auto keep = [&](const Node& before, const Ref& made) -> Ref {
        rebuilt[&before] = made;
        return nullptr;
    };
    std::vector<Ref> out = rewrite(table, roots, from_whole, {}, keep);
    out.erase(out.begin(), out.begin() + static_cast<long>(pairs.size()));
    return out;
}

}  // namespace

Graph share_loops(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    Graph out = graph;
    // Loops that use equal loops may be equal themselves afterwards.
    for (;;) {
        const std::vector<Pair> pairs = in_order(loops_done_by_others(topological(out.results)));
        if (pairs.empty()) return out;
        if (fired) (*fired)["a loop that does more"] += static_cast<int>(pairs.size());
        out.results = with_wholes(table, out.results, pairs);
    }
}

}  // namespace firn
