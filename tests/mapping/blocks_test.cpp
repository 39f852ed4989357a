// Loads and stores of neighbours that become accesses to blocks of four.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/kernel/bindings.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/behind/store_in_blocks.h"

namespace firn {
namespace {

/// A kernel whose invocations have blocks at %1 and at %11, which may or may not overlap; %2 to %4
/// and %12 to %14 follow them.
KernelCode with_effects(const std::string& effects) {
    std::string text =
        "kernel\n  group_size 64 1 1\n  groups 1; 1; 1\n  b0 f32x4[1024] view of 0\n"
        "  b1 f32[1024] storage written of 1\n  b2 f32[1024] storage written of 2\n"
        "  p0 i32 = n\n  t0 invocation < 64\n{\n  %1 = Mul i32 t0 4 in 0 252 mod 4 0\n"
        "  %10 = Mul i32 p0 4 mod 4 0\n  %11 = Add i32 %1 %10 mod 4 0\n";
    for (int k = 1; k < 4; ++k) {
        const std::string more = std::to_string(k);
        text += "  %" + std::to_string(1 + k) + " = Add i32 %1 " + more + "\n  %" +
                std::to_string(11 + k) + " = Add i32 %11 " + more + "\n";
    }
    return parse_kernel(text + effects + "}\n");
}

/// The widths of the effects, in order, of single stores to these places.
std::string stored(const std::string& places) {
    std::string effects;
    for (size_t at = 0, number = 20; at < places.size(); ++number) {
        const size_t end = std::min(places.find(' ', at), places.size());
        const std::string place = places.substr(at, end - at);
        const std::string buffer = place[0] == 'o' ? "b2" : "b1";
        effects += "  ! %" + std::to_string(number) + " = Store f32 " + buffer + " %" +
                   (place[0] == 'o' ? place.substr(1) : place) + " " + std::to_string(number) +
                   ".0\n";
        at = end + 1;
    }
    KernelCode code = with_effects(effects);
    store_in_blocks(code, cpu_profile(), {});
    std::string out;
    for (NodeId id : code[kRoot].effects) out += std::to_string(width(code[id]));
    return out;
}

TEST(StoreInBlocks, FourNeighboursAreOneStore) {
    EXPECT_EQ(stored("1 2 3 4"), "4");
    EXPECT_EQ(stored("4 2 3 1"), "4");
    EXPECT_EQ(stored("1 2 3"), "111");
    EXPECT_EQ(stored("1 o1 2 o2 3 4"), "114") << "others are to another tensor";
}

TEST(StoreInBlocks, SetsThatMayMeetAreJoinedWhereEachFollowsTheOther) {
    EXPECT_EQ(stored("1 2 3 4 11 12 13 14"), "44");
    EXPECT_EQ(stored("1 2 3 4 4"), "41");
    EXPECT_EQ(stored("1 2 11 3 4"), "11111") << "which may be stored to between";
    EXPECT_EQ(stored("1 11 2 12 3 13 4 14"), "11111111");
}

/// Elements that are still read from the block, of so many, where `least` are worth it.
size_t from_block(int elements, size_t least) {
    std::string effects = "  %20 = Load f32x4 b0 %1\n";
    for (int k = 0; k < elements; ++k) {
        const std::string value = std::to_string(21 + k), place = std::to_string(1 + k);
        effects += "  %" + value + " = Lane f32" + (k ? " #" + std::to_string(k) : "") + " %20 %" +
                   place + "\n";
    }
    for (int k = 0; k < elements; ++k)
        effects += "  ! %" + std::to_string(30 + k) + " = Store f32 b1 %" + std::to_string(1 + k) +
                   " %" + std::to_string(21 + k) + "\n";
    KernelCode code = with_effects(effects);
    scalarise_underused_vectors(code, least, cpu_profile(), {});
    return static_cast<size_t>(
        std::count_if(code.nodes.begin(), code.nodes.end(),
                      [](const KernelNode& n) { return n.op == KernelOp::Lane; }));
}

TEST(SplitLonelyBlocks, ABlockIsKeptForAsManyElementsAsAreWorthIt) {
    EXPECT_EQ(from_block(1, 2), 0u);
    EXPECT_EQ(from_block(2, 2), 2u);
    EXPECT_EQ(from_block(3, 4), 0u);
    EXPECT_EQ(from_block(4, 4), 4u);
}

}  // namespace
}  // namespace firn
