// Orders values by how much work still waits for them, as an instruction scheduler does.
#include "compiler/mapping/behind/order_values.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Nodes that become one statement: a value, and values that only it uses.
struct Block {
    std::vector<NodeId> nodes;      // in their order
    std::vector<int> needs, users;  // blocks
    double work = 0, latency = 0;   // operations; cycles from its first operand to its value
    double rest = 0;                // cycles from its begin to the end of the longest chain
};

double work(const KernelNode& n) {
    if (n.op == KernelOp::Load) return costs::kLoadWork * width(n);
    if (n.op == KernelOp::Cast) return costs::kCastWork;
    return std::max(1.0, operation_cost(n.op));
}

double latency(const KernelNode& n) {
    if (n.op == KernelOp::Load) return costs::kLoadCycles;
    if (n.op == KernelOp::Cast) return costs::kCastCycles;
    const double cost = operation_cost(n.op);
    return cost > 8 ? costs::kDearCycles : cost > 1 ? costs::kMediumCycles : costs::kSimpleCycles;
}

bool is_plain(const KernelNode& n) {
    return !n.pinned && (n.op == KernelOp::Load || n.op == KernelOp::Lane ||
                         n.op == KernelOp::SubgroupShuffle || is_elementwise(n.op));
}

class BlockNesting {
  public:
    BlockNesting(const KernelCode& code, const KernelRegion& region)
        : code_(code), block_of_(code.nodes.size(), -1) {
        find_blocks(region.order, uses_in(code));
        find_chains();
    }

    size_t size() const { return blocks_.size(); }

    /// Cycles that a core takes for the blocks in this order, of which it sees a part at a time.
    double cycles(const std::vector<int>& order) const {
        std::vector<double> done(blocks_.size()),
            left(order.size());  // left: when all before it are done, too
        double begun = 0, end = 0, in_flight = 0;
        size_t oldest = 0;
        for (size_t k = 0; k < order.size(); ++k) {
            const Block& block = blocks_[static_cast<size_t>(order[k])];
            for (in_flight += block.work; in_flight > costs::kLookAhead && oldest < k; ++oldest) {
                begun = std::max(begun, left[oldest]);
                in_flight -= blocks_[static_cast<size_t>(order[oldest])].work;
            }
            begun += block.work / costs::kPerCycle;
            double ready = begun;
            for (int need : block.needs) ready = std::max(ready, done[static_cast<size_t>(need)]);
            done[static_cast<size_t>(order[k])] = ready + block.latency;
            left[k] = end = std::max(end, ready + block.latency);
        }
        return end;
    }

    std::vector<int> as_they_stand() const {
        std::vector<int> order(blocks_.size());
        for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
        return order;
    }

    /// Returns by block the first lane of the region's stores of blocks that needs it. All are 0 if
    /// the work of one lane is less than what a core has in flight: then the lanes are computed
    /// side by side.
    std::vector<int> lanes(const KernelRegion& region) const {
        std::vector<int> out(blocks_.size(), kBlockWidth);
        double last = 0;  // work that only the last lane needs
        for (int lane = kBlockWidth; lane-- > 0;)
            for (NodeId id : region.effects) {
                const KernelNode& n = code_[id];
                if (n.op != KernelOp::Store || width(n) != kBlockWidth)
                    return std::vector<int>(blocks_.size(), 0);
                mark(n.args[static_cast<size_t>(lane) + 1], lane, out);
            }
        for (size_t k = 0; k < out.size(); ++k)
            if (out[k] == kBlockWidth - 1) last += blocks_[k].work;
        if (last < costs::kLookAhead) out.assign(blocks_.size(), 0);
        return out;
    }

    /// Orders the blocks lane by lane. Among the blocks whose operands are ready it takes the one
    /// for which most work waits; while many values wait for a use, one that frees most of them.
    std::vector<int> side_by_side(const std::vector<int>& lanes) const {
        std::vector<int> order, ready;
        std::vector<size_t> left(*std::max_element(lanes.begin(), lanes.end()) + 1);
        for (int lane : lanes) ++left[static_cast<size_t>(lane)];
        int current = 0;
        std::vector<size_t> waits(blocks_.size()), unused(blocks_.size());
        std::vector<double> from(blocks_.size());  // when the operands are there
        for (size_t k = 0; k < blocks_.size(); ++k) {
            waits[k] = blocks_[k].needs.size(), unused[k] = blocks_[k].users.size();
            if (waits[k] == 0) ready.push_back(static_cast<int>(k));
        }
        double now = 0;
        for (int live = 0; !ready.empty();) {
            while (left[static_cast<size_t>(current)] == 0) ++current;
            const auto better = [&](int a, int b) {
                const Block &x = blocks_[static_cast<size_t>(a)],
                            &y = blocks_[static_cast<size_t>(b)];
                if (live > costs::kLiveValues) {
                    const int p = released(x, unused), q = released(y, unused);
                    if (p != q) return p > q;
                }
                return x.rest != y.rest ? x.rest > y.rest : a < b;
            };
            auto next = ready.end();
            double soonest = now;
            for (auto it = ready.begin(); it != ready.end(); ++it) {
                if (lanes[static_cast<size_t>(*it)] != current) continue;
                const double at = from[static_cast<size_t>(*it)];
                if (at <= now && (next == ready.end() || better(*it, *next))) next = it;
                soonest = soonest > now ? std::min(soonest, at) : at;
            }
            if (next == ready.end()) {
                now = soonest;
                continue;
            }
            const int at = *next;
            const Block& block = blocks_[static_cast<size_t>(at)];
            ready.erase(next);
            order.push_back(at);
            --left[static_cast<size_t>(current)];
            for (int need : block.needs) live -= --unused[static_cast<size_t>(need)] == 0;
            live += !block.users.empty();
            for (int user : block.users) {
                double& there = from[static_cast<size_t>(user)];
                there = std::max(there, now + block.latency);
                if (--waits[static_cast<size_t>(user)] == 0) ready.push_back(user);
            }
            now += block.work / costs::kPerCycle;
        }
        return order;
    }

    std::vector<NodeId> nodes(const std::vector<int>& order) const {
        std::vector<NodeId> out;
        for (int block : order)
            out.insert(out.end(), blocks_[static_cast<size_t>(block)].nodes.begin(),
                       blocks_[static_cast<size_t>(block)].nodes.end());
        return out;
    }

  private:
    void mark(NodeId id, int lane, std::vector<int>& lanes) const {
        std::vector<int> todo{block_of_[id]};
        while (!todo.empty()) {
            const int block = todo.back();
            todo.pop_back();
            if (block < 0 || lanes[static_cast<size_t>(block)] == lane) continue;
            lanes[static_cast<size_t>(block)] = lane;
            const std::vector<int>& needs = blocks_[static_cast<size_t>(block)].needs;
            todo.insert(todo.end(), needs.begin(), needs.end());
        }
    }

    /// Returns by node its only user, or none if it has no use or several.
    static ByNode<NodeId> uses_in(const KernelCode& code) {
        ByNode<NodeId> user(code.nodes.size());
        ByNode<bool> used(code.nodes.size());
        auto use = [&](NodeId id, NodeId by) {
            if (!id) return;
            user[id] = used[id] ? NodeId() : by;
            used[id] = true;
        };
        for (const KernelRegion& region : code.regions) {
            for (const std::vector<NodeId>* part : {&region.order, &region.effects})
                for (NodeId id : *part)
                    for (NodeId arg : code[id].args) use(arg, id);
            for (NodeId id : region.yields) use(id, {});
            use(region.alive, {});
        }
        for (const Range& range : code.ranges) use(range.extent_node, {});
        return user;
    }

    void find_blocks(const std::vector<NodeId>& order, const ByNode<NodeId>& user) {
        // Goes from the last node to the first: the user of a value has its block already.
        for (size_t k = order.size(); k-- > 0;) {
            const NodeId id = order[k];
            const double own = work(code_[id]);
            const int by = user[id] ? block_of_[user[id]] : -1;
            const bool joins = by >= 0 && width(code_[id]) == 1 &&
                               blocks_[static_cast<size_t>(by)].work + own <= costs::kOrderedBlock;
            block_of_[id] = joins ? by : static_cast<int>(blocks_.size());
            if (!joins) blocks_.emplace_back();
            blocks_[static_cast<size_t>(block_of_[id])].work += own;
        }
        std::reverse(blocks_.begin(), blocks_.end());
        for (NodeId id : order) {
            int& block = block_of_[id];
            block = static_cast<int>(blocks_.size()) - 1 - block;
            blocks_[static_cast<size_t>(block)].nodes.push_back(id);
        }
    }

    void find_chains() {
        ByNode<double> depth(code_.nodes.size());
        for (size_t k = 0; k < blocks_.size(); ++k) {
            Block& block = blocks_[k];
            for (NodeId id : block.nodes) {
                const KernelNode& n = code_[id];
                double& own = depth[id];
                for (NodeId arg : n.args) {
                    const int other = block_of_[arg];
                    if (other == static_cast<int>(k))
                        own = std::max(own, depth[arg]);
                    else if (other >= 0)
                        block.needs.push_back(other);
                }
                own += latency(n);
                block.latency = std::max(block.latency, own);
            }
            std::sort(block.needs.begin(), block.needs.end());
            block.needs.erase(std::unique(block.needs.begin(), block.needs.end()),
                              block.needs.end());
            for (int need : block.needs)
                blocks_[static_cast<size_t>(need)].users.push_back(static_cast<int>(k));
        }
        for (size_t k = blocks_.size(); k-- > 0;) {
            for (int user : blocks_[k].users)
                blocks_[k].rest =
                    std::max(blocks_[k].rest, blocks_[static_cast<size_t>(user)].rest);
            blocks_[k].rest += blocks_[k].latency;
        }
    }

    /// Returns how many values have their last use in the block, less the block's own value.
    static int released(const Block& block, const std::vector<size_t>& unused) {
        int out = block.users.empty() ? 0 : -1;
        for (int need : block.needs) out += unused[static_cast<size_t>(need)] == 1;
        return out;
    }

    const KernelCode& code_;
    ByNode<int> block_of_;  // in this region; -1: the node stands elsewhere
    std::vector<Block> blocks_;
};

}  // namespace

void order_values(KernelCode& code) {
    for (KernelRegion& region : code.regions) {
        const std::vector<NodeId>& order = region.order;
        const bool plain =
            std::all_of(order.begin(), order.end(), [&](NodeId id) { return is_plain(code[id]); });
        if (!plain || static_cast<double>(order.size()) < costs::kLookAhead) continue;
        const BlockNesting blocks(code, region);
        if (blocks.size() > costs::kMostBlocks) continue;
        const double before = blocks.cycles(blocks.as_they_stand());
        const std::vector<int> other = blocks.side_by_side(blocks.lanes(region));
        if (blocks.cycles(other) < costs::kWorthwhileOrder * before)
            region.order = blocks.nodes(other);
    }
}

}  // namespace firn
