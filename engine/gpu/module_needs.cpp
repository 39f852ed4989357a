// Finds the features that a module of SPIR-V needs, by the capabilities that it declares.
#include "engine/gpu/module_needs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace firn {
namespace {

constexpr size_t kHeader = 5;  // words before the first instruction

/// A capability by its number in SPIR-V, and the need that it stands for.
struct CapabilityNeed {
    uint32_t capability;
    bool DeviceNeeds::*need;
};
constexpr CapabilityNeed kCapabilityNeeds[] = {
    {9, &DeviceNeeds::bits_16},           // Float16
    {10, &DeviceNeeds::f64},              // Float64
    {11, &DeviceNeeds::i64},              // Int64
    {12, &DeviceNeeds::wide_atomics},     // Int64Atomics
    {39, &DeviceNeeds::bits_8},           // Int8
    {4433, &DeviceNeeds::bits_16},        // StorageBuffer16BitAccess
    {4434, &DeviceNeeds::bits_16},        // UniformAndStorageBuffer16BitAccess
    {4448, &DeviceNeeds::bits_8},         // StorageBuffer8BitAccess
    {4449, &DeviceNeeds::bits_8},         // UniformAndStorageBuffer8BitAccess
    {5347, &DeviceNeeds::addresses},      // PhysicalStorageBufferAddresses
    {6033, &DeviceNeeds::float_atomics},  // AtomicFloat32AddEXT
};

/// GroupNonUniform to GroupNonUniformQuad.
bool is_of_subgroups(uint32_t capability) { return capability >= 61 && capability <= 68; }

/// Returns the needs by the capabilities, which are the first instructions.
DeviceNeeds declared(std::span<const uint32_t> words) {
    constexpr uint32_t kCapability = 2u << 16 | 17u;
    DeviceNeeds needs;
    for (size_t at = kHeader; at + 1 < words.size() && words[at] == kCapability; at += 2) {
        needs.subgroups |= is_of_subgroups(words[at + 1]);
        for (const CapabilityNeed& row : kCapabilityNeeds)
            if (row.capability == words[at + 1]) needs.*row.need = true;
    }
    return needs;
}

bool divides_or_roots(std::span<const uint32_t> words) {
    constexpr uint32_t kDivision = 136, kExtended = 12, kSqrt = 31;
    for (size_t at = kHeader; at < words.size(); at += std::max(1u, words[at] >> 16)) {
        const uint32_t op = words[at] & 0xffffu;
        if (op == kDivision) return true;
        if (op == kExtended && at + 4 < words.size() && words[at + 4] == kSqrt) return true;
    }
    return false;
}

}  // namespace

DeviceNeeds needs_of(const KernelInfo& kernel) {
    if (kernel.needs.known) return kernel.needs;
    DeviceNeeds needs = declared(kernel.artefact.words);
    needs.known = true;
    needs.exact_division = divides_or_roots(kernel.artefact.words);
    return needs;
}

}  // namespace firn
