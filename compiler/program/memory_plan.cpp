// Packs the temporaries of a program into one allocation by their lifetimes.
#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "compiler/base/error.h"
#include "compiler/program/walk_steps.h"

namespace firn {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// A slot that needs memory, alive from epoch `first` to epoch `last`. An epoch is the work between
/// two barriers: its steps overlap, so memory changes hands only from one epoch to a later one.
struct Block {
    int slot = 0;
    uint64_t bytes = 0;  // padded to the alignment
    int first = 0, last = 0;
    size_t first_step = 0;
};

bool meet(const Block& a, const Block& b) { return a.first <= b.last && b.first <= a.last; }

/// When each slot is touched; slots that nothing touches have no block.
std::vector<Block> find_lifetimes(const Program& program, const FlatProgram& flat,
                                  const SizeEnv& env) {
    std::vector<Block> blocks;
    std::vector<int> block_of(program.buffers.size(), -1);
    uint64_t alignment = std::max<uint32_t>(program.profile.buffer_alignment, 16);
    int epoch = 0;
    for (size_t step = 0; step < flat.steps.size(); ++step) {
        epoch += flat.steps[step].barrier_before;
        for (int slot : flat.steps[step].slots) {
            auto at = static_cast<size_t>(slot);
            if (block_of[at] < 0) {
                // An empty slot has a place too: a binding must be of something.
                auto bytes = std::max<uint64_t>(
                    1, static_cast<uint64_t>(program.buffers[at].bytes().evaluate(env)));
                block_of[at] = static_cast<int>(blocks.size());
                blocks.push_back(
                    {slot, (bytes + alignment - 1) / alignment * alignment, epoch, epoch, step});
            }
            blocks[static_cast<size_t>(block_of[at])].last = epoch;
        }
    }
    return blocks;
}

/// Slots that take one another's memory are there while any of them is, and to the end where a
/// result may be in them.
void join_lifetimes(const Program& program, const std::vector<int>& classes,
                    std::vector<Block>& blocks) {
    std::vector<int> life_of(classes.size(), -1);  // by class: index into lives
    std::vector<Block> lives;
    int end = 0;
    for (const Block& block : blocks) {
        end = std::max(end, block.last);
        int& at = life_of[static_cast<size_t>(classes[static_cast<size_t>(block.slot)])];
        if (at < 0) {
            at = static_cast<int>(lives.size());
            lives.push_back(block);
            continue;
        }
        Block& life = lives[static_cast<size_t>(at)];
        life.first = std::min(life.first, block.first), life.last = std::max(life.last, block.last);
        life.first_step = std::min(life.first_step, block.first_step);
    }
    for (const ResultInfo& result : program.results)
        if (const int at =
                life_of[static_cast<size_t>(classes[static_cast<size_t>(result.buffer)])];
            at >= 0)
            lives[static_cast<size_t>(at)].last = end;
    blocks.clear();
    for (size_t slot = 0; slot < classes.size(); ++slot) {
        const int at = life_of[static_cast<size_t>(classes[slot])];
        if (at < 0) continue;
        blocks.push_back(lives[static_cast<size_t>(at)]);
        blocks.back().slot = static_cast<int>(slot);
    }
}

/// Keeps values that enter repeated steps alive until their last run. Handles inner loops first,
/// because they lie inside.
void live_through_loops(const FlatProgram& flat, std::vector<Block>& blocks) {
    std::vector<int> epochs;  // by step
    for (const FlatStep& step : flat.steps)
        epochs.push_back((epochs.empty() ? 0 : epochs.back()) + step.barrier_before);
    for (size_t k = flat.loops.size(); k-- > 0;) {
        const FlatLoop& loop = flat.loops[k];
        if (loop.first == loop.last) continue;
        const int first = epochs[loop.first], last = epochs[loop.last - 1];
        for (Block& block : blocks)
            if (block.first_step < loop.first && block.last >= first)
                block.last = std::max(block.last, last);
    }
}

/// Leaves those that the caller binds out.
void drop_external(const Program& program, const FlatProgram& flat, std::vector<Block>& blocks) {
    std::erase_if(blocks, [&](const Block& block) {
        const BufferRole role = program.buffers[static_cast<size_t>(block.slot)].role;
        return role == BufferRole::Argument || role == BufferRole::Constant ||
               std::find(flat.result_slots.begin(), flat.result_slots.end(), block.slot) !=
                   flat.result_slots.end();
    });
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
    size_t iterations = std::min<size_t>(400, kComparisons / (blocks.size() * blocks.size() + 1));
    std::mt19937 random(1);  // always the same numbers: equal programs get equal plans
    for (size_t iteration = 0; iteration < iterations && !tight(best.bytes, least); ++iteration) {
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

MemoryPlan packed(const Program& program, const std::vector<Block>& blocks) {
    MemoryPlan plan;
    plan.offsets.assign(program.buffers.size(), kNone);
    if (blocks.empty()) return plan;
    plan.largest_live = largest_live(blocks);
    Packing packing = best_packing(blocks, plan.largest_live);
    plan.bytes = packing.bytes;
    for (size_t index = 0; index < blocks.size(); ++index)
        plan.offsets[static_cast<size_t>(blocks[index].slot)] = packing.offsets[index];
    return plan;
}

/// Returns by slot the slots of other classes that lie in the memory of one of its class.
SlotSets find_shared(const std::vector<Block>& blocks, const MemoryPlan& plan,
                     const std::vector<int>& classes) {
    const auto class_of = [&](const Block& block) {
        return static_cast<size_t>(classes[static_cast<size_t>(block.slot)]);
    };
    const auto offset = [&](const Block& block) {
        return plan.offsets[static_cast<size_t>(block.slot)];
    };
    std::vector<std::set<size_t>> meeting(classes.size());
    for (const Block& a : blocks)
        for (const Block& b : blocks)
            if (class_of(a) != class_of(b) && offset(a) < offset(b) + b.bytes &&
                offset(b) < offset(a) + a.bytes)
                meeting[class_of(a)].insert(class_of(b));
    std::vector<std::vector<int>> members(classes.size());
    for (size_t slot = 0; slot < classes.size(); ++slot)
        members[static_cast<size_t>(classes[slot])].push_back(static_cast<int>(slot));
    SlotSets shared(classes.size());
    for (size_t slot = 0; slot < classes.size(); ++slot)
        for (size_t other : meeting[static_cast<size_t>(classes[slot])])
            shared[slot].insert(shared[slot].end(), members[other].begin(), members[other].end());
    return shared;
}

}  // namespace

MemoryPlan plan_memory(const Program& program, const FlatProgram& flat, const SizeEnv& env) {
    std::vector<Block> blocks = find_lifetimes(program, flat, env);
    drop_external(program, flat, blocks);
    return packed(program, blocks);
}

RotatingMemory plan_rotating_memory(const Program& program, const SizeEnv& env) {
    RotatingMemory memory;
    memory.classes = rotation_classes(program);
    const FlatProgram once = outline(program);
    std::vector<Block> blocks = find_lifetimes(program, once, env);
    join_lifetimes(program, memory.classes, blocks);
    live_through_loops(once, blocks);
    drop_external(program, once, blocks);
    memory.plan = packed(program, blocks);
    memory.shared = find_shared(blocks, memory.plan, memory.classes);
    return memory;
}

std::vector<uint64_t> offsets_for(const RotatingMemory& memory, const Program& program,
                                  const std::vector<int>& result_slots) {
    std::set<int> own, bound(result_slots.begin(), result_slots.end());
    for (const ResultInfo& result : program.results) own.insert(result.buffer);
    // In each class, as much memory is free of results now as was reserved for them.
    std::vector<std::vector<uint64_t>> free(program.buffers.size());
    std::vector<uint64_t> offsets = memory.plan.offsets;
    const auto class_of = [&](size_t slot) { return static_cast<size_t>(memory.classes[slot]); };
    for (size_t slot = offsets.size(); slot-- > 0;)
        if (!own.contains(static_cast<int>(slot)) && offsets[slot] != kNone)
            free[class_of(slot)].push_back(offsets[slot]);
    for (size_t slot = 0; slot < offsets.size(); ++slot) {
        std::vector<uint64_t>& places = free[class_of(slot)];
        offsets[slot] = kNone;
        if (bound.contains(static_cast<int>(slot)) || places.empty()) continue;
        offsets[slot] = places.back();
        places.pop_back();
    }
    return offsets;
}

}  // namespace firn
