// The needs of a module of SPIR-V follow from the capabilities that it declares.
#include "engine/gpu/module_needs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace firn {
namespace {

KernelInfo declaring(const std::vector<uint32_t>& capabilities) {
    KernelInfo kernel;
    kernel.artefact.words = {0x07230203, 0x00010300, 0, 8, 0};
    for (uint32_t each : capabilities)
        for (uint32_t word : {2u << 16 | 17u, each}) kernel.artefact.words.push_back(word);
    return kernel;
}

TEST(ModuleNeeds, EachCapabilityIsOne) {
    const std::pair<uint32_t, bool DeviceNeeds::*> rows[] = {
        {9, &DeviceNeeds::bits_16},            // Float16
        {10, &DeviceNeeds::f64},               // Float64
        {11, &DeviceNeeds::i64},               // Int64
        {12, &DeviceNeeds::wide_atomics},      // Int64Atomics
        {39, &DeviceNeeds::bits_8},            // Int8
        {61, &DeviceNeeds::subgroups},         // GroupNonUniform
        {65, &DeviceNeeds::subgroups},         // GroupNonUniformShuffle
        {68, &DeviceNeeds::subgroups},         // GroupNonUniformQuad
        {4433, &DeviceNeeds::bits_16},         // StorageBuffer16BitAccess
        {4434, &DeviceNeeds::bits_16},         // UniformAndStorageBuffer16BitAccess
        {4448, &DeviceNeeds::bits_8},          // StorageBuffer8BitAccess
        {4449, &DeviceNeeds::bits_8},          // UniformAndStorageBuffer8BitAccess
        {5347, &DeviceNeeds::addresses},       // PhysicalStorageBufferAddresses
        {6033, &DeviceNeeds::float_atomics}};  // AtomicFloat32AddEXT
    for (const auto& [capability, need] : rows) {
        DeviceNeeds only;
        only.known = only.*need = true;
        EXPECT_EQ(needs_of(declaring({1, capability})), only) << capability;
    }
    DeviceNeeds none;
    none.known = true;
    for (uint32_t other : {60u, 69u}) EXPECT_EQ(needs_of(declaring({1, other})), none) << other;
}

TEST(ModuleNeeds, QuotientsAndRootsAreFound) {
    KernelInfo kernel = declaring({1});
    EXPECT_FALSE(needs_of(kernel).exact_division);
    const std::vector<uint32_t> divides{5u << 16 | 136u, 1, 2, 3, 4};
    kernel.artefact.words.insert(kernel.artefact.words.end(), divides.begin(), divides.end());
    EXPECT_TRUE(needs_of(kernel).exact_division);
    kernel = declaring({1});
    const std::vector<uint32_t> roots{6u << 16 | 12u, 1, 2, 3, 31, 4};  // GLSL.std.450's Sqrt
    kernel.artefact.words.insert(kernel.artefact.words.end(), roots.begin(), roots.end());
    EXPECT_TRUE(needs_of(kernel).exact_division);
}

TEST(ModuleNeeds, WhatAKernelStatesHolds) {
    KernelInfo kernel = declaring({1, 10});
    kernel.needs.known = true;
    EXPECT_FALSE(needs_of(kernel).f64);
}

}  // namespace
}  // namespace firn
