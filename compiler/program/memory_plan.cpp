// Packs the temporaries of a program into one allocation by their lifetimes.
#include <algorithm>
#include <limits>
#include <random>

#include "compiler/program/error.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// A slot that needs memory, alive from epoch `first` to epoch `last`. An epoch is what runs
/// between two barriers: its steps overlap, so memory changes hands only from one epoch to a later
/// one.
struct Block {
    int slot = 0;
    uint64_t bytes = 0;  // padded to the alignment
    int first = 0, last = 0;
    size_t first_step = 0;
};

bool meet(const Block& a, const Block& b) { return a.first <= b.last && b.first <= a.last; }

std::vector<Block> find_blocks(const Program& program, const FlatProgram& flat,
                               const SizeEnv& env) {
    std::vector<bool> external(program.buffers.size());
    for (size_t slot = 0; slot < program.buffers.size(); ++slot) {
        BufferRole role = program.buffers[slot].role;
        external[slot] = role == BufferRole::Argument || role == BufferRole::Constant;
    }
    for (int slot : flat.result_slots) external[static_cast<size_t>(slot)] = true;

    std::vector<Block> blocks;
    std::vector<int> block_of(program.buffers.size(), -1);
    uint64_t alignment = std::max<uint32_t>(program.profile.buffer_alignment, 16);
    int epoch = 0;
    std::vector<int> epochs;   // by step
    for (const FlatStep& step : flat.steps) {
        epoch += step.barrier_before;
        epochs.push_back(epoch);
        for (int slot : step.slots) {
            auto at = static_cast<size_t>(slot);
            if (external[at]) continue;
            if (block_of[at] < 0) {
                // An empty slot has a place too: a binding must be of something.
                auto bytes = std::max<uint64_t>(
                    1, static_cast<uint64_t>(program.buffers[at].bytes().evaluate(env)));
                block_of[at] = static_cast<int>(blocks.size());
                blocks.push_back(
                    {slot, (bytes + alignment - 1) / alignment * alignment, epoch, epoch, epochs.size() - 1});
            }
            blocks[static_cast<size_t>(block_of[at])].last = epoch;
        }
    }
    // What comes into steps that run again is needed until their last run. Inner loops last: they lie inside.
    for (size_t k = flat.loops.size(); k-- > 0;) {
        const FlatLoop& loop = flat.loops[k];
        if (loop.first == loop.last) continue;
        const int first = epochs[loop.first], last = epochs[loop.last - 1];
        for (Block& block : blocks)
            if (block.first_step < loop.first && block.last >= first) block.last = std::max(block.last, last);
    }
    return blocks;
}

uint64_t largest_live(const std::vector<Block>& blocks) {
    int epochs = 0;
    for (const Block& block : blocks) epochs = std::max(epochs, block.last + 1);
    std::vector<uint64_t> change(static_cast<size_t>(epochs) + 1);
    for (const Block& block : blocks) {
        change[static_cast<size_t>(block.first)] += block.bytes;
        change[static_cast<size_t>(block.last) + 1] -= block.bytes;  // wraps, and wraps back
    }
    uint64_t live = 0, largest = 0;
    for (uint64_t step : change) largest = std::max(largest, live += step);
    return largest;
}

struct Packing {
    std::vector<uint64_t> offsets;  // by block
    uint64_t bytes = kNone;
};

/// Places blocks in `order`, each into the smallest gap that fits between those alive with it, else
/// behind the last of them.
Packing pack(const std::vector<Block>& blocks, const std::vector<size_t>& order) {
    Packing packing{std::vector<uint64_t>(blocks.size(), kNone), 0};
    std::vector<size_t> placed;  // by offset
    for (size_t index : order) {
        const Block& block = blocks[index];
        uint64_t end = 0, best = kNone, best_gap = kNone;
        for (size_t other : placed) {
            if (!meet(block, blocks[other])) continue;
            uint64_t begin = packing.offsets[other];
            if (begin > end && begin - end >= block.bytes && begin - end < best_gap) {
                best = end;
                best_gap = begin - end;
            }
            end = std::max(end, begin + blocks[other].bytes);
        }
        if (best == kNone) best = end;
        packing.offsets[index] = best;
        packing.bytes = std::max(packing.bytes, best + block.bytes);
        auto behind = std::upper_bound(
            placed.begin(), placed.end(), best,
            [&](uint64_t offset, size_t other) { return offset < packing.offsets[other]; });
        placed.insert(behind, index);
    }
    return packing;
}

/// Orders worth trying: large first, long-lived first, their product, and as they come to life.
std::vector<std::vector<size_t>> candidate_orders(const std::vector<Block>& blocks) {
    using Key = double (*)(const Block&);
    const Key keys[] = {
        [](const Block& block) { return -static_cast<double>(block.bytes); },
        [](const Block& block) {
            return -static_cast<double>(block.bytes) * (block.last - block.first + 1);
        },
        [](const Block& block) { return -static_cast<double>(block.last - block.first); },
        [](const Block& block) { return static_cast<double>(block.first); },
        [](const Block& block) { return -static_cast<double>(block.last); },
    };
    std::vector<size_t> order(blocks.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::vector<std::vector<size_t>> orders;
    for (Key key : keys) {
        // Stable from the order before it: ties are broken by the other keys.
        std::vector<size_t> sorted = orders.empty() ? order : orders.front();
        std::stable_sort(sorted.begin(), sorted.end(),
                         [&](size_t a, size_t b) { return key(blocks[a]) < key(blocks[b]); });
        orders.push_back(std::move(sorted));
    }
    return orders;
}

/// A plan this close to the lower bound is not worth a search.
bool tight(uint64_t bytes, uint64_t least) { return bytes - least <= least / 50; }

/// Moves one block to the front of the order while that makes the packing smaller.
Packing improve(const std::vector<Block>& blocks, std::vector<size_t> order, Packing best,
                uint64_t least) {
    constexpr size_t kComparisons = 4'000'000;
    size_t turns = std::min<size_t>(400, kComparisons / (blocks.size() * blocks.size() + 1));
    std::mt19937 random(1);  // always the same numbers: equal programs get equal plans
    for (size_t turn = 0; turn < turns && !tight(best.bytes, least); ++turn) {
        std::vector<size_t> changed = order;
        size_t from = random() % changed.size(), to = random() % changed.size();
        if (from < to) std::swap(from, to);
        std::rotate(changed.begin() + static_cast<ptrdiff_t>(to),
                    changed.begin() + static_cast<ptrdiff_t>(from),
                    changed.begin() + static_cast<ptrdiff_t>(from) + 1);
        Packing packing = pack(blocks, changed);
        if (packing.bytes > best.bytes) continue;
        order = std::move(changed);
        best = std::move(packing);
    }
    return best;
}

Packing best_packing(const std::vector<Block>& blocks, uint64_t least) {
    Packing best;
    std::vector<size_t> best_order;
    for (std::vector<size_t>& order : candidate_orders(blocks)) {
        Packing packing = pack(blocks, order);
        if (packing.bytes >= best.bytes) continue;
        best = std::move(packing);
        best_order = std::move(order);
        if (tight(best.bytes, least)) return best;
    }
    return improve(blocks, std::move(best_order), std::move(best), least);
}

}  // namespace

MemoryPlan plan_memory(const Program& program, const FlatProgram& flat, const SizeEnv& env) {
    MemoryPlan plan;
    plan.offsets.assign(program.buffers.size(), kNone);
    std::vector<Block> blocks = find_blocks(program, flat, env);
    if (blocks.empty()) return plan;
    plan.largest_live = largest_live(blocks);
    Packing packing = best_packing(blocks, plan.largest_live);
    plan.bytes = packing.bytes;
    for (size_t index = 0; index < blocks.size(); ++index)
        plan.offsets[static_cast<size_t>(blocks[index].slot)] = packing.offsets[index];
    return plan;
}

}  // namespace firn
