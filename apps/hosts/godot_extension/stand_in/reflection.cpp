// Reads the bindings and push constants of a compute shader from its SPIR-V.
#include "reflection.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace {

// Numbers of the SPIR-V specification.
enum Op {
    kInt = 21,
    kFloat,
    kVector,
    kArray = 28,
    kRuntimeArray,
    kStruct,
    kPointer = 32,
    kConstant = 43
};
enum OtherOp { kVariable = 59, kDecorate = 71, kMemberDecorate };
enum Decoration {
    kBufferBlock = 3,
    kArrayStride = 6,
    kNonWritable = 24,
    kBinding = 33,
    kDescriptorSet,
    kOffset
};
enum Storage { kUniform = 2, kPushConstant = 9, kStorageBuffer = 12 };

struct Module {
    std::map<uint32_t, std::vector<uint32_t>>
        definitions;  // by id: the operation, and its words behind the id
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> decorations;  // by id and decoration
    std::map<uint32_t, std::map<uint32_t, uint32_t>> offsets;       // of members
    std::map<uint32_t, uint32_t> read_only_members;                 // how many

    bool has(uint32_t id, uint32_t decoration) const {
        return decorations.count({id, decoration}) != 0;
    }
    uint32_t get(uint32_t id, uint32_t decoration) const {
        const auto found = decorations.find({id, decoration});
        return found == decorations.end() ? 0 : found->second;
    }
};

uint32_t size_of(const Module& module, uint32_t type) {
    const auto found = module.definitions.find(type);
    if (found == module.definitions.end()) return 0;
    const std::vector<uint32_t>& words = found->second;
    switch (words[0]) {
        case kInt:
        case kFloat: return words[1] / 8;
        case kVector: return words[2] * size_of(module, words[1]);
        case kArray: return module.definitions.at(words[2])[1] * module.get(type, kArrayStride);
        case kStruct: {
            uint32_t end = 0;
            for (const auto& [member, offset] : module.offsets.count(type)
                                                    ? module.offsets.at(type)
                                                    : std::map<uint32_t, uint32_t>{})
                end = std::max(end, offset + size_of(module, words[1 + member]));
            return end;
        }
        default: return 0;
    }
}

}  // namespace

Reflection reflect(const std::vector<uint32_t>& words) {
    Reflection out;
    Module module;
    struct Variable {
        uint32_t type, id, storage;
    };
    std::vector<Variable> variables;
    out.is_understood = words.size() > 5 && words[0] == 0x07230203;
    for (size_t at = 5; out.is_understood && at < words.size();) {
        const uint32_t op = words[at] & 0xffff, count = words[at] >> 16;
        if (count == 0 || at + count > words.size()) {
            out.is_understood = false;
            break;
        }
        const uint32_t* w = &words[at];
        at += count;
        if (op >= kInt && op <= kPointer && count >= 2) {
            std::vector<uint32_t>& definition = module.definitions[w[1]];
            definition.assign(w + 1, w + count);
            definition[0] = op;
        } else if (op == kConstant) {
            module.definitions[w[2]] = {op, w[3]};
        } else if (op == kVariable) {
            variables.push_back({w[1], w[2], w[3]});
        } else if (op == kDecorate) {
            module.decorations[{w[1], w[2]}] = count > 3 ? w[3] : 1;
        } else if (op == kMemberDecorate && w[3] == kOffset) {
            module.offsets[w[1]][w[2]] = w[4];
        } else if (op == kMemberDecorate && w[3] == kNonWritable) {
            ++module.read_only_members[w[1]];
        }
    }
    for (const Variable& variable : variables) {
        if (variable.storage != kUniform && variable.storage != kPushConstant &&
            variable.storage != kStorageBuffer)
            continue;
        const uint32_t block = module.definitions.at(variable.type)[2];  // of the pointer
        if (variable.storage == kPushConstant) {
            out.push_constant_bytes = size_of(module, block);
            continue;
        }
        if (module.get(variable.id, kDescriptorSet) != 0) out.is_understood = false;
        ReflectedBinding& binding = out.bindings[module.get(variable.id, kBinding)];
        binding.is_uniform = variable.storage == kUniform && !module.has(block, kBufferBlock);
        const size_t members = module.definitions.at(block).size() - 1;
        binding.is_written = !binding.is_uniform && !module.has(variable.id, kNonWritable) &&
                             module.read_only_members[block] < members;
        if (binding.is_uniform) binding.bytes = size_of(module, block);
    }
    return out;
}
