// Operands that are packed: which, and where they stay as they are.
#include <gtest/gtest.h>

#include "compiler/language.h"
#include "compiler/program/program.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// The names of the packed tensors of a function, for a processor with vectors of 512 bits.
template <class F, size_t Arity>
std::vector<std::string> packed_in(F function, const ArgSpec (&arguments)[Arity],
                                   const DeviceProfile& profile = native_profile(512)) {
    SessionScope scope(emitting(profile));
    std::vector<std::string> out;
    const auto program = compile(function, arguments).program();
    for (const BufferInfo& buffer : program->buffers)
        if (buffer.name.starts_with("packed ")) out.push_back(buffer.name);
    return out;
}
Tensor plain_product(Tensor a, Tensor b) { return matmul(a, b); }
Tensor by_transposed(Tensor a, Tensor b) { return matmul(a, transpose(b)); }
Tensor of_transposed(Tensor a, Tensor b) { return matmul(transpose(a), b); }

TEST(PackOperands, LongRowsThatManyRowsReadAgain) {
    EXPECT_EQ(packed_in(plain_product, {f32(512, 512), f32(512, 512)}).size(), 1U);
    EXPECT_EQ(packed_in(plain_product, {f32(1000, 777), f32(777, 333)}).size(), 1U);
    EXPECT_EQ(packed_in(plain_product, {f32(100, 512), f32(512, 512)}).size(), 0U) << "few rows";
    EXPECT_EQ(packed_in(plain_product, {f32(512, 128), f32(128, 512)}).size(), 0U)
        << "a core holds so short columns";
}

TEST(PackOperands, LanesThatWouldReadFarApart) {
    EXPECT_EQ(packed_in(by_transposed, {f32(32, 8), f32(16, 8)}).size(), 1U);
    EXPECT_EQ(packed_in(by_transposed, {f32(31, 8), f32(16, 8)}).size(), 0U) << "few rows";
    EXPECT_EQ(packed_in(by_transposed, {f32(32, 8), f32(15, 8)}).size(), 0U)
        << "less than a vector";
}

TEST(PackOperands, BothFactorsWhereTheFirstIsTransposed) {
    EXPECT_EQ(packed_in(of_transposed, {f32(512, 512), f32(512, 512)}).size(), 2U);
}

TEST(PackOperands, ScoresWhoseRowsAreNormalisedBehindThem) {
    const auto attention = [](Tensor q, Tensor k) { return softmax(matmul(q, transpose(k))); };
    EXPECT_EQ(packed_in(attention, {f32(256, 64), f32(256, 64)}).size(), 1U);
}

TEST(PackOperands, SizesThatOnlyTheCallKnows) {
    EXPECT_EQ(packed_in(by_transposed, {f32("m", 8), f32(16, 8)}).size(), 0U)
        << "there may be few rows";
    EXPECT_EQ(packed_in(by_transposed, {f32(32, "k"), f32(16, "k")}).size(), 0U)
        << "32 bits may not count the packed elements";
}

TEST(PackOperands, WindowsThatOverlapAreReadWhereTheyAre) {
    const auto windows = [](Tensor x, Tensor w) {
        auto [o, i, j, c, p, q] =
            indices<6>({Size(32), Size(60), Size(64), Size(64), Size(3), Size(3)});
        return sum(x(c, i + p, j + q) * w(o, c, p, q), {3, 4, 5});
    };
    EXPECT_EQ(packed_in(windows, {f32(64, 62, 66), f32(32, 64, 3, 3)}).size(), 0U);
}

TEST(PackOperands, OtherDevicesReadOperandsWhereTheyAre) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(packed_in(plain_product, {f32(512, 512), f32(512, 512)}, profile).size(), 0U);
}

}  // namespace
}  // namespace firn
