// Long straight bodies in parts that a driver's compiler looks at one by one.
#include "compiler/mapping/cut_bodies.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/mapping/core_work.h"
#include "compiler/program/cost_table.h"

namespace firn {
namespace {

/// Nodes [begin, end) of a region's order, and those of them that stand for what comes behind.
struct Piece {
    size_t begin = 0, end = 0;
    std::vector<int> handed;
};

/// What it takes of registers: loads wait in memory.
double operations(const KernelNode& n) {
    return is_elementwise(n.op) ? std::max(1.0, operation_cost(n.op)) : 1;
}

/// Where the values of a straight region are used for the last time.
class Uses {
  public:
    Uses(const KernelCode& code, const KernelRegion& region)
        : code_(code), region_(region), last_(code.nodes.size(), kNever) {
        for (size_t k = 0; k < region.order.size(); ++k)
            for (int arg : code.nodes[region.order[k]].args) last_[arg] = k;
        const size_t end = region.order.size();
        for (int id : region.yields) last_[id] = end;
        if (region.alive >= 0) last_[region.alive] = end;
        for (int id : region.effects) use_inside(id, end);
        for (const Range& range : code.ranges)
            if (range.extent_node >= 0) last_[range.extent_node] = end;
    }

    bool behind(int id, size_t place) const { return last_[id] != kNever && last_[id] >= place; }

    /// Values that are handed on at each place of the order, or too many where one is a block.
    std::vector<size_t> handed_on() const {
        const size_t end = region_.order.size();
        std::vector<int64_t> change(end + 2);
        std::vector<int64_t> blocks(end + 2);
        for (size_t k = 0; k < end; ++k) {
            const int id = region_.order[k];
            if (!behind(id, k + 1)) continue;
            std::vector<int64_t>& of = code_.nodes[id].width > 1 ? blocks : change;
            ++of[k + 1], --of[last_[id] + 1];
        }
        std::vector<size_t> out(end + 1);
        int64_t now = 0, wide = 0;
        for (size_t k = 0; k <= end; ++k) {
            now += change[k], wide += blocks[k];
            out[k] = wide > 0 ? SIZE_MAX : static_cast<size_t>(now);
        }
        return out;
    }

  private:
    static constexpr size_t kNever = SIZE_MAX;

    void use_inside(int id, size_t end) {
        const KernelNode& n = code_.nodes[id];
        for (int arg : n.args) last_[arg] = end;
        for (int inside : {n.region, n.else_region}) {
            if (inside < 0) continue;
            const KernelRegion& region = code_.regions[inside];
            for (const std::vector<int>* list : {&region.order, &region.effects})
                for (int inner : *list) use_inside(inner, end);
            for (int value : region.yields) last_[value] = end;
            if (region.alive >= 0) last_[region.alive] = end;
        }
    }

    const KernelCode& code_;
    const KernelRegion& region_;
    std::vector<size_t> last_;
};

std::vector<Piece> pieces_of(const KernelCode& code, const KernelRegion& region) {
    const std::vector<int>& order = region.order;
    const auto node = [&](size_t k) -> const KernelNode& { return code.nodes[order[k]]; };
    double left = 0;
    for (size_t k = 0; k < order.size(); ++k) {
        if (!may_move(node(k))) return {};
        left += operations(node(k));
    }
    if (left < costs::kStraightBody) return {};
    const Uses uses(code, region);
    const std::vector<size_t> handed = uses.handed_on();
    std::vector<Piece> out;
    for (size_t begin = 0; left >= 2 * costs::kStraightPiece;) {
        size_t best = begin, k = begin;
        for (double inside = 0; k < order.size(); ++k) {
            inside += operations(node(k));
            if (inside < costs::kStraightPiece) continue;
            if (left - inside < costs::kStraightPiece) break;
            const bool late = inside > 2 * costs::kStraightPiece;
            if (late && best > begin && handed[best] <= costs::kMostHandedOn) break;
            if (best == begin || handed[k + 1] < handed[best]) best = k + 1;
        }
        if (best == begin || handed[best] > costs::kMostHandedOn) break;
        Piece& piece = out.emplace_back(Piece{begin, best, {}});
        for (; begin < best; ++begin) {
            left -= operations(node(begin));
            if (uses.behind(order[begin], best)) piece.handed.push_back(order[begin]);
        }
    }
    return out;
}

/// Writes the kernel again, its nodes in the order in which they are evaluated.
class Cutter {
  public:
    explicit Cutter(KernelCode& code) : code_(code), from_(std::move(code.nodes)) {
        map_.assign(from_.size(), -1);
    }

    /// `pieces` by region.
    void run(const std::map<int, std::vector<Piece>>& pieces) {
        pieces_ = &pieces;
        for (size_t id = 0; id < from_.size(); ++id)
            if (is_leaf(from_[id])) map_[id] = add(from_[id]);
        KernelNode zero, one, always;
        zero.op = KernelOp::Constant, zero.dtype = i32, zero.constant = scalar_int(0);
        zero.interval = {0, 0};
        one.op = KernelOp::Param, one.dtype = i32, one.interval = {1, 1};
        one.param = static_cast<int>(code_.params.size());
        code_.params.push_back({i32, Size(1), -1});
        always.op = KernelOp::Less, always.dtype = boolean;
        always.args = {add(zero), add(one)};
        always_ = add(always);
        write(0);
        std::vector<int>& order = code_.regions[0].order;
        order.insert(order.begin(), always_);
    }

  private:
    static bool is_leaf(const KernelNode& n) {
        return n.op == KernelOp::Constant || n.op == KernelOp::Param || n.op == KernelOp::Range ||
               n.op == KernelOp::RegionArg;
    }

    int add(KernelNode node) {
        code_.nodes.push_back(std::move(node));
        return static_cast<int>(code_.nodes.size()) - 1;
    }

    void renew(std::vector<int>& ids) const {
        for (int& id : ids) id = map_[id];
    }

    int write_node(int id) {
        KernelNode n = from_[id];
        for (int inside : {n.region, n.else_region})
            if (inside >= 0 && n.op != KernelOp::RegionArg) write(inside);
        renew(n.args);
        return map_[id] = add(std::move(n));
    }

    void write(int id) {
        if (const int range = code_.regions[id].range; range >= 0)
            if (int& extent = code_.ranges[range].extent_node; extent >= 0) extent = map_[extent];
        const std::vector<int> order = std::exchange(code_.regions[id].order, {});
        std::vector<int> made;
        size_t at = 0;
        if (const auto found = pieces_->find(id); found != pieces_->end())
            for (const Piece& piece : found->second) {
                write_piece(order, piece, made);
                at = piece.end;
            }
        for (; at < order.size(); ++at) made.push_back(write_node(order[at]));
        const std::vector<int> effects = code_.regions[id].effects;
        for (int effect : effects) write_node(effect);
        KernelRegion& region = code_.regions[id];
        region.order = std::move(made);
        for (std::vector<int>* ids : {&region.args, &region.effects, &region.yields}) renew(*ids);
        if (region.alive >= 0) region.alive = map_[region.alive];
    }

    void write_piece(const std::vector<int>& order, const Piece& piece, std::vector<int>& around) {
        KernelRegion body;
        for (size_t k = piece.begin; k < piece.end; ++k) body.order.push_back(write_node(order[k]));
        for (int handed : piece.handed) body.yields.push_back(map_[handed]);
        KernelNode branch;
        branch.op = KernelOp::Branch, branch.dtype = boolean, branch.args = {always_};
        branch.region = static_cast<int>(code_.regions.size());
        code_.regions.push_back(std::move(body));
        const int made = add(std::move(branch));
        around.push_back(made);
        for (size_t k = 0; k < piece.handed.size(); ++k) {
            KernelNode result = from_[piece.handed[k]];
            result.op = KernelOp::Result, result.args = {made};
            result.position = static_cast<int>(k);
            result.buffer = result.param = result.range = result.region = -1;
            map_[piece.handed[k]] = add(std::move(result));
            around.push_back(map_[piece.handed[k]]);
        }
    }

    KernelCode& code_;
    const std::vector<KernelNode> from_;
    const std::map<int, std::vector<Piece>>* pieces_ = nullptr;
    std::vector<int> map_;
    int always_ = -1;
};

/// The regions that no loop runs again.
void find_straight(const KernelCode& code, int id, std::vector<int>& out) {
    out.push_back(id);
    for (const std::vector<int>* list : {&code.regions[id].order, &code.regions[id].effects})
        for (int at : *list) {
            const KernelNode& n = code.nodes[at];
            if (n.op != KernelOp::Branch) continue;
            for (int inside : {n.region, n.else_region})
                if (inside >= 0) find_straight(code, inside, out);
        }
}

}  // namespace

void cut_bodies(KernelCode& code) {
    if (code.sizes_buffer >= 0) return;  // its place is the last parameter
    std::vector<int> straight;
    find_straight(code, 0, straight);
    std::map<int, std::vector<Piece>> pieces;
    for (int id : straight)
        if (std::vector<Piece> found = pieces_of(code, code.regions[id]); !found.empty())
            pieces[id] = std::move(found);
    if (!pieces.empty()) Cutter(code).run(pieces);
}

}  // namespace firn
