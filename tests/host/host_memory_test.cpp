// Blocks of memory: their alignment, their margins, and what is kept.
#include "compiler/host/host_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/base/physical_memory.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

TEST(HostMemory, BlocksAreAlignedAndHaveMargins) {
    const auto pool = std::make_shared<HostPool>(std::nullopt);
    for (const uint64_t bytes : {0u, 1u, 64u, 65u, 4095u, 262144u, 5000000u}) {
        const HostBlock block(pool, bytes, "test");
        EXPECT_EQ(block.bytes().size(), bytes);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block.bytes().data()) % 64, 0u);
        volatile std::byte* data = block.bytes().data();
        const uint64_t line = std::max<uint64_t>(64, bytes);
        for (uint64_t k = 0; k < line; k += 61) data[k] = std::byte{1};
        for (int64_t k = -64; k < 0; ++k) (void)data[k];
        for (uint64_t k = 0; k < 64; ++k) (void)data[line + k];
    }
    EXPECT_EQ(pool->held(), 0u);
}
TEST(HostMemory, FreshBytesHaveTheValueOfThePool) {
    const auto pool = std::make_shared<HostPool>(std::byte{7});
    for (int k = 0; k < 2; ++k) {
        const HostBlock block(pool, 1 << 20, "test");
        const std::span<std::byte> bytes = block.bytes();
        EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(),
                                [](std::byte byte) { return byte == std::byte{7}; }));
        std::fill(bytes.begin(), bytes.end(), std::byte{9});
    }
}
TEST(HostMemory, LargeBlocksAreTakenAgain) {
    const auto pool = std::make_shared<HostPool>(std::nullopt);
    const auto place = [&](uint64_t bytes) {
        return HostBlock(pool, bytes, "test").bytes().data();
    };
    const std::byte* first = place(3 << 20);
    EXPECT_EQ(place((3 << 20) - 100), first);
    EXPECT_EQ(place(3 << 20), first);
    const HostBlock holds(pool, 3 << 20, "test");
    EXPECT_EQ(holds.bytes().data(), first);
    EXPECT_NE(place(3 << 20), first);
    EXPECT_EQ(pool->held(), 3u << 20);
}
TEST(HostMemory, WhatIsKeptCanBeGivenToOthers) {
    const auto pool = std::make_shared<HostPool>(std::nullopt);
    EXPECT_TRUE(HostBlock(pool, 40 << 20, "test").bytes().data());
    EXPECT_TRUE(HostBlock(pool, 30 << 20, "test").bytes().data());
    EXPECT_TRUE(HostBlock(pool, 20 << 20, "test").bytes().data());
    const uint64_t all = pool->free();
    EXPECT_EQ(all, physical_memory()) << "what is kept counts as free";
}
TEST(HostMemory, MovedBlocksAreGivenBackOnce) {
    const auto pool = std::make_shared<HostPool>(std::nullopt);
    HostBlock a(pool, 100, "a"), b(pool, 200, "b");
    const std::byte* data = a.bytes().data();
    b = std::move(a);
    EXPECT_EQ(b.bytes().data(), data);
    a = HostBlock();
    EXPECT_EQ(pool->held(), 100u);
}
TEST(HostMemory, ImpossibleSizesSayWhatIsHeld) {
    const auto pool = std::make_shared<HostPool>(std::nullopt);
    const HostBlock holds(pool, 4096, "test");
    for (const uint64_t bytes : {UINT64_MAX, UINT64_MAX - 200, uint64_t{1} << 62})
        EXPECT_NE(message<DeviceError>([&] { HostBlock(pool, bytes, "huge"); })
                      .find("were asked for 'huge', 4096 bytes are held by this executor and at "
                            "most " +
                            std::to_string(physical_memory() - 4096) + " are free"),
                  std::string::npos);
}

}  // namespace
}  // namespace firn
