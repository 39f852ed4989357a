// Stores of neighbours, one block at a time.
#include "compiler/mapping/behind/store_in_blocks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/bindings.h"

namespace firn {
namespace {

/// A flat index as a node and a constant.
struct Place {
    NodeId base;
    int64_t offset = 0;
};

Place place_of(const KernelCode& code, NodeId index) {
    const KernelNode& n = code[index];
    if (n.op != KernelOp::Add) return {index, 0};
    for (size_t k = 0; k < 2; ++k) {
        const KernelNode& other = code[n.args[1 - k]];
        if (other.op == KernelOp::Constant) return {n.args[k], other.as<Scalar>().i};
    }
    return {index, 0};
}

/// Stores to one buffer that follow one another in a run of stores and never meet, by the constant
/// in their place.
struct Stores {
    NodeId base;
    std::map<int64_t, int> singles;  // by offset: the place of the effect in the run
    std::set<int64_t> all;           // offsets, those of blocks too
};

using Effects = std::vector<NodeId>;

/// Adds the store at place `k` of the run; returns false if it may meet one of these.
bool add(const KernelCode& code, const Effects& run, size_t k, Stores& to) {
    const KernelNode& n = code[run[k]];
    const Place place = place_of(code, n.args[0]);
    if (to.base && to.base != place.base) return false;
    for (int64_t e = 0; e < width(n); ++e)
        if (to.all.contains(place.offset + e)) return false;
    to.base = place.base;
    for (int64_t e = 0; e < width(n); ++e) to.all.insert(place.offset + e);
    if (width(n) == 1) to.singles[place.offset] = static_cast<int>(k);
    return true;
}

/// The stores of a run, as many together as never meet.
std::vector<Stores> stores_of(const KernelCode& code, const Effects& run) {
    std::map<int, std::vector<Stores>> found;  // by buffer of the program
    for (size_t k = 0; k < run.size(); ++k) {
        const KernelNode& n = code[run[k]];
        auto& of_buffer =
            found[code.buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)].buffer];
        if (!of_buffer.empty() && add(code, run, k, of_buffer.back())) continue;
        add(code, run, k, of_buffer.emplace_back());
    }
    std::vector<Stores> out;
    for (auto& [buffer, of_buffer] : found)
        std::move(of_buffer.begin(), of_buffer.end(), std::back_inserter(out));
    return out;
}

int wide_buffer(KernelCode& code, int narrow, const DeviceProfile& profile,
                const SymbolFacts& facts) {
    KernelBuffer wide = code.buffers[static_cast<size_t>(narrow)];
    wide.width = kBlockWidth;
    wide.form = binding_form(wide, profile, facts);
    for (size_t k = 0; k < code.buffers.size(); ++k) {
        const KernelBuffer& b = code.buffers[k];
        if (b.buffer == wide.buffer && b.width == wide.width && b.written && b.form == wide.form &&
            b.space == wide.space && b.dtype == wide.dtype)
            return static_cast<int>(k);
    }
    return add_bound_buffer(code, wide);
}

class Joiner {
  public:
    Joiner(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts)
        : code_(code), profile_(profile), facts_(facts) {
        for (const KernelNode& n : code.nodes)
            if (n.op == KernelOp::Atomic) combined_.insert(buffer_of(n).buffer);
        for (const KernelRegion& region : code.regions)
            for (NodeId effect : region.effects) {
                const KernelNode& n = code[effect];
                if (n.op == KernelOp::Load) loaded_.insert(buffer_of(n).buffer);
                if (n.op == KernelOp::Store) ++stores_[buffer_of(n).buffer];
            }
    }

    Effects joined(const Effects& effects) {
        Effects out, run;
        for (NodeId effect : effects) {
            if (code_[effect].op == KernelOp::Store) {
                run.push_back(effect);
                continue;
            }
            close(run, out);
            out.push_back(effect);
        }
        close(run, out);
        return out;
    }

  private:
    const KernelBuffer& buffer_of(const KernelNode& n) const {
        return code_.buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)];
    }

    bool may_join(const KernelNode& store) const {
        const KernelBuffer& buffer = buffer_of(store);
        return buffer.space == MemorySpace::Bound && buffer.dtype.bytes() == 4 &&
               buffer.dtype != boolean && !combined_.contains(buffer.buffer);
    }

    /// The stores of `run`, as blocks where they make some.
    void close(Effects& run, Effects& out) {
        for (const Stores& stores : stores_of(code_, run)) {
            if (stores.singles.size() < kBlockWidth) continue;
            if (code_.in_order && !are_all(run, stores)) continue;
            const Congruence base = code_[stores.base].congruence;
            const int64_t rest = remainder(base, kBlockWidth);
            if (rest < 0) continue;
            for (const auto& [offset, first] : stores.singles)
                if ((rest + offset) % kBlockWidth == 0) join(run, stores, offset);
        }
        for (NodeId effect : run)
            if (effect) out.push_back(effect);
        run.clear();
    }

    /// Returns whether nothing else touches the buffer: ordered effects never go through two
    /// bindings of one memory.
    bool are_all(const Effects& run, const Stores& stores) const {
        const NodeId first = run[static_cast<size_t>(stores.singles.begin()->second)];
        const int buffer = buffer_of(code_[first]).buffer;
        return !loaded_.contains(buffer) && stores.singles.size() == stores.all.size() &&
               stores.singles.size() == stores_.at(buffer) &&
               stores.singles.size() % kBlockWidth == 0;
    }

    void join(Effects& run, const Stores& stores, int64_t offset) {
        std::vector<int> at;
        for (int64_t e = 0; e < kBlockWidth; ++e) {
            const auto found = stores.singles.find(offset + e);
            if (found == stores.singles.end()) return;
            at.push_back(found->second);
        }
        KernelNode block = code_[run[static_cast<size_t>(at[0])]];
        if (!may_join(block)) return;
        for (size_t e = 1; e < at.size(); ++e)
            block.args.push_back(code_[run[static_cast<size_t>(at[e])]].args[1]);
        auto& access = block.as<AccessAttr>();
        access.buffer = wide_buffer(code_, access.buffer, profile_, facts_);
        access.width = kBlockWidth;
        // The nodes of a region come before the node that owns it: the last of the four stores
        // becomes the block's, the others store nothing.
        const int last = *std::max_element(at.begin(), at.end(), [&](int a, int b) {
            return run[static_cast<size_t>(a)] < run[static_cast<size_t>(b)];
        });
        for (int place : at) {
            NodeId& effect = run[static_cast<size_t>(place)];
            code_[effect] = place == last ? block : constant_node({});
            if (place != last) effect = {};
        }
    }

    KernelCode& code_;
    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    std::set<int> combined_;        // buffers of the program, as the next
    std::set<int> loaded_;          // by an effect
    std::map<int, size_t> stores_;  // how many effects store to each
};

}  // namespace

void store_in_blocks(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts) {
    Joiner joiner(code, profile, facts);
    for (RegionId r : code.regions.ids()) {
        std::vector<NodeId> effects = joiner.joined(code[r].effects);
        code[r].effects = std::move(effects);
    }
}

}  // namespace firn
