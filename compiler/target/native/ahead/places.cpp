// The places of a program's buffers in the workspace of a call.
#include "compiler/target/native/ahead/places.h"

#include <algorithm>
#include <numeric>

#include "compiler/program/walk_steps.h"

namespace firn::ahead {
namespace {

constexpr int64_t kPadding = 16;

struct Block {
    int slot = 0;
    uint64_t begin = 0, end = 0;  // in a plan of the memory
};

bool meet(const Block& a, const Block& b) { return a.begin < b.end && b.begin < a.end; }

/// Temporaries whose memory overlaps in a plan do not live at the same time.
std::vector<std::vector<int>> sharing_temporaries(const Program& program, const SizeEnv& env) {
    const MemoryPlan plan = plan_rotating_memory(program, env).plan;
    std::vector<Block> blocks;
    for (size_t slot = 0; slot < program.buffers.size(); ++slot) {
        const BufferInfo& buffer = program.buffers[slot];
        if (buffer.role != BufferRole::Temporary) continue;
        Block block{static_cast<int>(slot), 0, 0};
        if (plan.offsets[slot] != UINT64_MAX) {
            block.begin = plan.offsets[slot];
            block.end = block.begin + static_cast<uint64_t>(buffer.bytes().evaluate(env));
        }
        blocks.push_back(block);
    }
    std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
        return a.end - a.begin > b.end - b.begin;
    });
    std::vector<std::vector<Block>> groups;
    for (const Block& block : blocks) {
        const auto takes = [&](const std::vector<Block>& group) {
            return std::all_of(group.begin(), group.end(),
                               [&](const Block& other) { return meet(block, other); });
        };
        const auto found = std::find_if(groups.begin(), groups.end(), takes);
        if (found == groups.end())
            groups.push_back({block});
        else
            found->push_back(block);
    }
    std::vector<std::vector<int>> out;
    for (const std::vector<Block>& group : groups) {
        std::vector<int>& slots = out.emplace_back();
        for (const Block& block : group) slots.push_back(block.slot);
    }
    return out;
}

}  // namespace

Size element_bytes(const BufferInfo& buffer) {
    return buffer.elements * Size(buffer.dtype.bytes());
}

Places find_places(const Program& program, const SizeEnv& env) {
    Places places;
    places.of.assign(program.buffers.size(), -1);
    const auto add = [&](std::vector<int> buffers) {
        places.all.push_back({std::move(buffers)});
        return static_cast<int>(places.all.size()) - 1;
    };
    for (std::vector<int>& group : sharing_temporaries(program, env)) {
        const std::vector<int> members = group;
        const int place = add(std::move(group));
        for (int slot : members) places.of[static_cast<size_t>(slot)] = place;
    }
    for (size_t slot = 0; slot < program.buffers.size(); ++slot) {
        const BufferInfo& buffer = program.buffers[slot];
        if (buffer.role != BufferRole::Argument && buffer.role != BufferRole::Result) continue;
        if (element_bytes(buffer).divisor() % kPadding != 0)
            places.of[slot] = add({static_cast<int>(slot)});
    }
    const std::vector<int> classes = rotation_classes(program);
    std::vector<int> count(classes.size());
    const auto class_of = [&](const ResultInfo& result) {
        return static_cast<size_t>(classes[static_cast<size_t>(result.buffer)]);
    };
    std::vector<int> members(classes.size());
    for (int at : classes) ++members[static_cast<size_t>(at)];
    for (const ResultInfo& result : program.results)
        if (members[class_of(result)] > 1) ++count[class_of(result)];
    for (const ResultInfo& result : program.results)
        places.exchange.push_back(count[class_of(result)] > 1 ? add({result.buffer}) : -1);
    return places;
}

}  // namespace firn::ahead
