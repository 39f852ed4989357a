// The search for a least or largest element, and for where it stands, in one loop.
#include "compiler/mapping/before/find_extremes.h"

#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/map.h"

namespace firn {
namespace {

/// Nodes of two loops that compute the same in equal iterations.
class Alike {
  public:
    explicit Alike(const KernelCode& code) : code_(code) {}

    bool operator()(int a, int b) {
        if (a == b || same_.contains({a, b})) return true;
        const KernelNode &x = code_.nodes[a], &y = code_.nodes[b];
        if (x.op != y.op || x.dtype != y.dtype || x.args.size() != y.args.size() ||
            x.buffer != y.buffer || x.position != y.position || x.lane != y.lane ||
            x.width != y.width || x.param != y.param || x.reduce != y.reduce || x.pinned)
            return false;
        if (x.op == KernelOp::For) {
            if (!same_loop(x, y)) return false;
        } else if (x.op != KernelOp::Load && x.op != KernelOp::Result && !is_elementwise(x.op)) {
            return false;
        }
        if (!same_operands(x.args, y.args) && !((info(x.op).properties & kCommutative) &&
                                                same_operands(x.args, {y.args[1], y.args[0]})))
            return false;
        same_.insert({a, b});
        return true;
    }

    /// Returns whether the ranges of two loops have as many iterations.
    bool same_range(int a, int b) {
        const Range &x = code_.ranges[a], &y = code_.ranges[b];
        return x.kind == y.kind && (*this)(x.extent_node, y.extent_node);
    }

    /// Returns whether the iterations and carried values of two bodies are the same.
    void pair_bodies(const KernelRegion& a, const KernelRegion& b) {
        for (size_t k = 0; k < a.args.size(); ++k) same_.insert({a.args[k], b.args[k]});
        const int i = index_of(a.range), j = index_of(b.range);
        if (i >= 0 && j >= 0) same_.insert({i, j});
    }
    /// Returns the node of a range's index; -1 if it is not used.
    int index_of(int range) const {
        for (size_t id = 0; id < code_.nodes.size(); ++id)
            if (code_.nodes[id].op == KernelOp::Range && code_.nodes[id].range == range)
                return static_cast<int>(id);
        return -1;
    }

  private:
    bool same_loop(const KernelNode& x, const KernelNode& y) {
        const KernelRegion &a = code_.regions[x.region], &b = code_.regions[y.region];
        if (a.alive >= 0 || b.alive >= 0 || !a.effects.empty() || !b.effects.empty() ||
            a.yields.size() != b.yields.size() || !same_range(a.range, b.range))
            return false;
        pair_bodies(a, b);
        for (size_t k = 0; k < a.yields.size(); ++k)
            if (!(*this)(a.yields[k], b.yields[k])) return false;
        return true;
    }

    bool same_operands(const std::vector<int>& x, const std::vector<int>& y) {
        for (size_t k = 0; k < x.size(); ++k)
            if (!(*this)(x[k], y[k])) return false;
        return true;
    }

    const KernelCode& code_;
    std::set<std::pair<int, int>> same_;
};

/// A loop that carries nothing but the least (or largest) of the values of its iterations.
struct Extreme {
    int loop, value;  // nodes
    KernelOp op;      // Min or Max
};

std::optional<Extreme> extreme(const KernelCode& code, int loop) {
    const KernelNode& n = code.nodes[loop];
    if (n.op != KernelOp::For || n.args.size() != 1) return std::nullopt;
    const KernelRegion& body = code.regions[n.region];
    if (body.alive >= 0 || !body.effects.empty()) return std::nullopt;
    const KernelNode& next = code.nodes[body.yields[0]];
    const KernelNode& init = code.nodes[n.args[0]];
    if ((next.op != KernelOp::Min && next.op != KernelOp::Max) || init.op != KernelOp::Constant ||
        !(init.constant ==
          reduce_identity(next.op == KernelOp::Min ? ReduceOp::Min : ReduceOp::Max, next.dtype)))
        return std::nullopt;
    for (size_t side = 0; side < 2; ++side)
        if (next.args[side] == body.args[0]) return Extreme{loop, next.args[1 - side], next.op};
    return std::nullopt;
}

/// A loop that searches for the position of an extreme: it finds the first iteration whose value is
/// the extreme that `search` found, or the first whose value is nan, less the number of iterations.
struct Place {
    Extreme search;
    int where;            // the loop, a node
    int behind_nan = -1;  // the value for an iteration with a nan; -1: values are integers
};

class Places {
  public:
    explicit Places(const KernelCode& code) : code_(code) {}

    std::optional<Place> place(int loop) const {
        const std::optional<Extreme> first = extreme(code_, loop);
        if (!first || first->op != KernelOp::Min ||
            code_.nodes[code_.regions[code_.nodes[loop].region].yields[0]].dtype != i32)
            return std::nullopt;
        const KernelRegion& body = code_.regions[code_.nodes[loop].region];
        const Alike alike(code_);
        const int index = alike.index_of(body.range), extent = code_.ranges[body.range].extent_node;
        const KernelNode* choice = &code_.nodes[first->value];
        int value_with_nan = -1, behind = -1;
        if (choice->op == KernelOp::Select && code_.nodes[choice->args[0]].op == KernelOp::IsNan) {
            value_with_nan = code_.nodes[choice->args[0]].args[0];
            behind = choice->args[1];
            if (!is_behind(behind, index, extent)) return std::nullopt;
            choice = &code_.nodes[choice->args[2]];
        }
        if (choice->op != KernelOp::Select || choice->args[1] != index ||
            choice->args[2] != extent || code_.nodes[choice->args[0]].op != KernelOp::Equal)
            return std::nullopt;
        const KernelNode& equal = code_.nodes[choice->args[0]];
        for (size_t side = 0; side < 2; ++side) {
            const KernelNode& found = code_.nodes[equal.args[side]];
            if (found.op != KernelOp::Result || found.position != 0) continue;
            const std::optional<Extreme> search = extreme(code_, found.args[0]);
            const int value = equal.args[1 - side];
            if (!search || (value_with_nan >= 0 && value_with_nan != value) ||
                (value_with_nan < 0 && code_.nodes[value].dtype.is_float()))
                continue;
            const KernelRegion& other = code_.regions[code_.nodes[search->loop].region];
            Alike same(code_);
            if (!same.same_range(other.range, body.range)) continue;
            same.pair_bodies(other, body);
            if (same(search->value, value)) return Place{*search, loop, behind};
        }
        return std::nullopt;
    }

  private:
    /// index - extent.
    bool is_behind(int id, int index, int extent) const {
        const KernelNode &n = code_.nodes[id], &count = code_.nodes[extent];
        if (n.op == KernelOp::Sub) return n.args[0] == index && n.args[1] == extent;
        if (n.op != KernelOp::Add) return false;
        for (size_t side = 0; side < 2; ++side) {
            const KernelNode& less = code_.nodes[n.args[1 - side]];
            if (n.args[side] != index) continue;
            if (less.op == KernelOp::Constant && count.op == KernelOp::Constant)
                return less.constant.i == -count.constant.i;
            if (less.op == KernelOp::Mul)
                for (size_t k = 0; k < 2; ++k)
                    if (less.args[k] == extent &&
                        code_.nodes[less.args[1 - k]].op == KernelOp::Constant)
                        return code_.nodes[less.args[1 - k]].constant.i == -1;
        }
        return false;
    }

    const KernelCode& code_;
};

int append(KernelCode& code, KernelOp op, DType dtype, std::vector<int> args) {
    KernelNode n;
    n.op = op, n.dtype = dtype, n.args = std::move(args);
    code.nodes.push_back(std::move(n));
    return static_cast<int>(code.nodes.size()) - 1;
}
int append_integer(KernelCode& code, int64_t value) {
    const int id = append(code, KernelOp::Constant, i32, {});
    code.nodes[id].constant = scalar_int(value);
    return id;
}

/// Adds a value that a loop carries, from `init` on. Returns its argument.
int add_carried(KernelCode& code, int loop, int init) {
    const int region = code.nodes[loop].region;
    const int arg = append(code, KernelOp::RegionArg, i32, {});
    code.nodes[arg].region = region;
    code.nodes[arg].position = static_cast<int>(code.regions[region].args.size());
    code.regions[region].args.push_back(arg);
    code.nodes[loop].args.push_back(init);
    return arg;
}
int add_result(KernelCode& code, int loop, int next) {
    KernelRegion& body = code.regions[code.nodes[loop].region];
    body.yields.push_back(next);
    const int id = append(code, KernelOp::Result, i32, {loop});
    code.nodes[id].position = static_cast<int>(body.yields.size()) - 1;
    return id;
}

/// The search notes where it found the extreme. Nodes stand after those that use them.
void note_where(KernelCode& code, const Place& place) {
    const Extreme& search = place.search;
    const KernelRegion& body = code.regions[code.nodes[search.loop].region];
    const int best = body.args[0], range = body.range, extent = code.ranges[range].extent_node,
              none = code.nodes[place.where].args[0];  // the greatest number
    int index = Alike(code).index_of(range);
    if (index < 0) {
        index = append(code, KernelOp::Range, i32, {});
        code.nodes[index].range = range;
    }
    // If no value is better than the initial one, all values equal it, and the first one is the
    // result.
    const int some = append(code, KernelOp::Less, boolean, {append_integer(code, 0), extent});
    const int begin = append(code, KernelOp::Select, i32, {some, append_integer(code, 0), none});
    const int at = add_carried(code, search.loop, begin);
    const bool least = search.op == KernelOp::Min;
    const int better = append(code, KernelOp::Less, boolean,
                              {least ? search.value : best, least ? best : search.value});
    int found =
        add_result(code, search.loop, append(code, KernelOp::Select, i32, {better, index, at}));
    if (place.behind_nan >= 0) {
        const int before = add_carried(code, search.loop, none);
        const int nan = append(code, KernelOp::IsNan, boolean, {search.value});
        const int behind = append(code, KernelOp::Sub, i32, {index, extent});
        const int candidate = append(code, KernelOp::Select, i32, {nan, behind, none});
        const int nans =
            add_result(code, search.loop, append(code, KernelOp::Min, i32, {before, candidate}));
        found = append(code, KernelOp::Min, i32, {found, nans});
    }
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        KernelNode& n = code.nodes[id];
        if (n.op != KernelOp::Result || n.args[0] != place.where) continue;
        n.op = KernelOp::Min, n.args = {found, none}, n.position = -1;
    }
}

}  // namespace

KernelCode find_extremes(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                         ChooseMapping choose) {
    std::vector<Place> places;
    const Places look(code);
    for (size_t id = 0; id < code.nodes.size(); ++id)
        if (const auto place = look.place(static_cast<int>(id))) places.push_back(*place);
    if (places.empty()) return code;
    KernelCode ready = code;
    place(ready);
    if (choose(ready, profile, facts).lanes > 1) return code;
    for (const Place& place : places) note_where(code, place);
    KernelCode out;
    out.name = code.name;
    KernelBuilder b(out, facts);
    Rebuild(code, b).copy_kernel();
    return out;
}

}  // namespace firn
