// Products of f16 matrices by a matrix unit, on a GPU's profile with one of 16 x 16 x 16.
#include "compiler/mapping/walk/matrix_units.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "compiler/driver/compile.h"
#include "compiler/driver/explain.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/language.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/target/glsl/spirv.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;
using ProductFunction = Tensors (*)(const Tensors&);

DeviceProfile unit_profile() {
    DeviceProfile profile = gpu_profile();
    profile.matrix_unit = {16, 16, 16};
    return profile;
}

struct Product {
    const char* name;
    ProductFunction function;
    std::vector<ArgSpec> specs;
    std::vector<Shape> shapes;  // of a call
};

Tensors plain(const Tensors& a) { return {matmul(a[0], a[1])}; }
Tensors wide(const Tensors& a) { return {matmul(a[0].as(f32), a[1].as(f32))}; }
Tensors by_rows(const Tensors& a) { return {matmul(a[0].as(f32), transpose(a[1].as(f32)))}; }
Tensors by_columns(const Tensors& a) { return {matmul(transpose(a[0].as(f32)), a[1].as(f32))}; }
Tensors turned_product(const Tensors& a) { return {transpose(matmul(a[0].as(f32), a[1].as(f32)))}; }
Tensors biased(const Tensors& a) {
    return {max(matmul(a[0].as(f32), a[1].as(f32)) * 0.5f + a[2], 0.0f)};
}
Tensors two(const Tensors& a) {
    Tensor c = matmul(a[0].as(f32), a[1].as(f32));
    return {c + a[2], tanh(c).as(f16)};
}
/// Queries by keys of several heads, which lie between rows.
Tensors heads(const Tensors& a) { return {einsum("bqhd,bkhd->bhqk", {a[0], a[1]})}; }

const Product kProducts[] = {
    {"plain", plain, {f16(64, 48), f16(48, 80)}, {{64, 48}, {48, 80}}},
    {"wide", wide, {f16(128, 32), f16(32, 256)}, {{128, 32}, {32, 256}}},
    {"one_matrix", wide, {f16(16, 16), f16(16, 16)}, {{16, 16}, {16, 16}}},
    {"tails", wide, {f16(80, 32), f16(32, 112)}, {{80, 32}, {32, 112}}},
    {"by_rows", by_rows, {f16(64, 32), f16(96, 32)}, {{64, 32}, {96, 32}}},
    {"by_columns", by_columns, {f16(32, 64), f16(32, 48)}, {{32, 64}, {32, 48}}},
    {"turned", turned_product, {f16(64, 32), f16(32, 96)}, {{64, 32}, {32, 96}}},
    {"batch", wide, {f16(3, 32, 64), f16(3, 64, 48)}, {{3, 32, 64}, {3, 64, 48}}},
    {"one_right", wide, {f16(3, 32, 64), f16(64, 48)}, {{3, 32, 64}, {64, 48}}},
    {"one_left", wide, {f16(32, 64), f16(2, 2, 64, 48)}, {{32, 64}, {2, 2, 64, 48}}},
    {"biased", biased, {f16(80, 64), f16(64, 112), f32(112)}, {{80, 64}, {64, 112}, {112}}},
    {"two",
     two,
     {f16(3, 48, 32), f16(3, 32, 80), f32(3, 48, 1)},
     {{3, 48, 32}, {3, 32, 80}, {3, 48, 1}}},
    {"heads", heads, {f16(2, 48, 3, 16), f16(2, 32, 3, 16)}, {{2, 48, 3, 16}, {2, 32, 3, 16}}},
};

auto compiled(const Product& p) {
    return compile([f = p.function](const Tensors& x) { return f(x); }, p.specs);
}

Tensors arguments(const Product& p) {
    Tensors out;
    for (size_t k = 0; k < p.shapes.size(); ++k)
        out.push_back((rand(p.shapes[k], {.seed = static_cast<uint32_t>(k) + 3}) - 0.5f)
                          .as(p.specs[k].dtype));
    return out;
}

struct Result {
    DType dtype;
    std::vector<float> values;
};

std::vector<Result> results(const Session& session, const Product& p) {
    SessionScope scope(session);
    std::vector<Arg> args;
    for (const Tensor& x : arguments(p)) args.push_back(x);
    std::vector<Result> out;
    for (const Tensor& result : compiled(p).call(args))
        out.push_back({result.dtype(), result.as(f32).to_vector<float>()});
    return out;
}

/// Returns the largest allowed difference of an element: n roundings of the n terms of a sum, each
/// a product of two numbers below a half (the unit chooses the order of a sum; Higham 2002, 4.2),
/// and one rounding to the type of the result.
double allowed(DType dtype, double wanted) {
    constexpr double kTerms = 64, kUnit = 0x1p-24;
    return kTerms * kUnit * kTerms / 4 + (dtype == f16 ? 0x1p-10 : kUnit) * std::abs(wanted);
}

std::shared_ptr<const Program> program_of(const DeviceProfile& profile, const Product& p) {
    SessionScope scope(emitting(profile));
    return compiled(p).program();
}

std::string mappings(const Program& program) {
    std::string out;
    for (const KernelInfo& kernel : program.kernels) out += kernel.mapping + "\n";
    return out;
}

void expect_oracle(const Product& p, const DeviceProfile& profile = unit_profile()) {
    const auto got = results(Session::interpreter(profile), p);
    const auto wanted = results(Session::oracle(), p);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t r = 0; r < got.size(); ++r) {
        ASSERT_EQ(got[r].values.size(), wanted[r].values.size());
        for (size_t k = 0; k < got[r].values.size(); ++k)
            ASSERT_NEAR(got[r].values[k], wanted[r].values[k],
                        allowed(got[r].dtype, wanted[r].values[k]))
                << r << " at " << k;
    }
}

void PrintTo(const Product& p, std::ostream* out) { *out << p.name; }

class ByMatrixUnit : public testing::TestWithParam<Product> {};

TEST_P(ByMatrixUnit, GivesWhatTheOracleGives) { expect_oracle(GetParam()); }

TEST_P(ByMatrixUnit, ComputesTheProductInOneKernel) {
    const auto program = program_of(unit_profile(), GetParam());
    EXPECT_EQ(program->kernels.size(), 1u) << mappings(*program);
    EXPECT_NE(program->kernels[0].mapping.find("matrix"), std::string::npos) << mappings(*program);
}

TEST_P(ByMatrixUnit, KernelsAreValidSpirv) {
    const auto program = program_of(unit_profile(), GetParam());
    for (const KernelInfo& kernel : program->kernels)
        EXPECT_NO_THROW(
            validate_spirv(glsl_to_spirv(kernel.artefact.text, kernel.name), kernel.name))
            << kernel.artefact.text;
}

INSTANTIATE_TEST_SUITE_P(Products, ByMatrixUnit, testing::ValuesIn(kProducts),
                         [](const auto& info) { return std::string(info.param.name); });

// --- kernels that are no product for the unit

Tensors scaled_before(const Tensors& a) { return {matmul(a[0].as(f32) * 2.0f, a[1].as(f32))}; }
Tensors rounded_products(const Tensors& a) {
    return {sum(unsqueeze(a[0], -1) * unsqueeze(a[1], 0), {.axis = 1})};
}
Tensors sliced(const Tensors& a) {
    return {matmul(slice(a[0], {.axis = 1, .begin = 3, .end = 35}).as(f32), a[1].as(f32))};
}
Tensors masked(const Tensors& a) {
    Tensor x = unsqueeze(a[0].as(f32), -1) * unsqueeze(a[1].as(f32), 0);
    return {sum(select(index(x, 0) <= index(x, 1), x, 0.0f), {.axis = 1})};
}
Tensors gated(const Tensors& a) {
    auto [i, j] = indices<2>(a[0].shape());
    return {matmul(select(i <= j, a[0], 0.0f).as(f32), a[1].as(f32))};
}
Tensors largest_product(const Tensors& a) {
    return {max(unsqueeze(a[0].as(f32), -1) * unsqueeze(a[1].as(f32), 0), {.axis = 1})};
}
Tensors soft_rows(const Tensors& a) { return {softmax(matmul(a[0].as(f32), a[1].as(f32)))}; }
Tensors by_itself(const Tensors& a) { return {sum(a[0].as(f32) * a[0].as(f32), {.axis = 1})}; }

const Product kOthers[] = {
    {"odd_rows", wide, {f16(60, 32), f16(32, 64)}, {{60, 32}, {32, 64}}},
    {"odd_columns", wide, {f16(64, 32), f16(32, 40)}, {{64, 32}, {32, 40}}},
    {"odd_depth", wide, {f16(64, 40), f16(40, 64)}, {{64, 40}, {40, 64}}},
    {"f32", plain, {f32(64, 32), f32(32, 64)}, {{64, 32}, {32, 64}}},
    {"f32_left", wide, {f32(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}},
    {"i8", wide, {i8(64, 32), i8(32, 64)}, {{64, 32}, {32, 64}}},
    {"scaled_before", scaled_before, {f16(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}},
    {"rounded_products", rounded_products, {f16(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}},
    {"sliced", sliced, {f16(64, 48), f16(32, 64)}, {{64, 48}, {32, 64}}},
    {"masked", masked, {f16(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}},
    {"gated", gated, {f16(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}},
    {"largest_product", largest_product, {f16(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}},
    {"by_itself", by_itself, {f16(64, 32)}, {{64, 32}}},
    {"column", wide, {f16(64, 32), f16(32)}, {{64, 32}, {32}}},
};

class NoMatrixUnit : public testing::TestWithParam<Product> {};

TEST_P(NoMatrixUnit, IsMappedOtherwise) {
    EXPECT_EQ(mappings(*program_of(unit_profile(), GetParam())).find("matrix"), std::string::npos);
    expect_oracle(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Others, NoMatrixUnit, testing::ValuesIn(kOthers),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MatrixUnits, ACallOfWholeMatricesGetsTheUnit) {
    for (const int64_t rows : {80, 64, 60}) {
        const Product p{
            "", biased, {f16("n", "k"), f16("k", "m"), f32("m")}, {{rows, 32}, {32, 112}, {112}}};
        expect_oracle(p);
        SessionScope scope(emitting(unit_profile()));
        std::vector<Arg> args;
        for (const Tensor& x : arguments(p)) args.push_back(x);
        EXPECT_EQ(compiled(p).explain(args).find("matrix ") != std::string::npos, rows % 16 == 0);
    }
}

/// If a dimension has few groups, all stand in a row that is folded.
TEST(MatrixUnits, FoldedGroupsComputeTheSame) {
    DeviceProfile profile = unit_profile();
    profile.max_groups[1] = 1;
    for (const Product& p : kProducts)
        if (p.function == two || p.shapes[0] == Shape{80, 32}) expect_oracle(p, profile);
}

TEST(MatrixUnits, ADeviceWithoutOneIsSentNone) {
    for (const Product& p : kProducts)
        EXPECT_EQ(mappings(*program_of(gpu_profile(), p)).find("matrix"), std::string::npos)
            << p.name;
}

TEST(MatrixUnits, ASoftmaxOfAProductGivesWhatTheOracleGives) {
    expect_oracle({"soft_rows", soft_rows, {f16(64, 32), f16(32, 64)}, {{64, 32}, {32, 64}}});
}

// --- one kernel at a time

struct Lowered {
    std::shared_ptr<const Program> program;
    const KernelCode& code;
    Mapping mapping;
};

Lowered lowered(const Product& p) {
    auto program = program_of(unit_profile(), p);
    const KernelCode& code = *std::get<DispatchStep>(program->steps.at(0).step).lowered;
    return {program, code, choose_mapping(code, unit_profile(), {})};
}

/// Runs a kernel without parameters on memory that it may leave: whole numbers, which sum up
/// exactly.
KernelCounts run(const KernelCode& code, std::vector<std::vector<std::byte>>& memory) {
    std::vector<std::span<std::byte>> spans;
    memory.clear();
    for (const KernelBuffer& b : code.buffers) {
        if (b.space != MemorySpace::Bound) continue;
        memory.emplace_back(static_cast<size_t>(b.elements.constant() * b.dtype.bytes() + 16));
        for (int64_t k = 0; k < b.elements.constant() && !b.written; ++k)
            store_scalar(scalar_int((k * 7 + k / 5) % 11 - 5).to(b.dtype),
                         memory.back().data() + k * b.dtype.bytes());
    }
    for (auto& bytes : memory) spans.emplace_back(bytes);
    return interpret_kernel(code, spans, {}, {}, unit_profile().subgroup_size);
}

TEST(MatrixUnits, TheLoopDoesNothingButProductsOfTheUnit) {
    const Lowered kernel = lowered({"", wide, {f16(128, 64), f16(64, 96)}, {}});
    const KernelCode code = map_kernel(kernel.code, kernel.mapping, unit_profile(), {});
    std::vector<std::vector<std::byte>> memory;
    const KernelCounts counts = run(code, memory);
    EXPECT_EQ(counts.matrix_products, 128 / 16 * 96 / 16 * 64 / 16);
    EXPECT_EQ(counts.bytes_written, 128 * 96 * 4);
    EXPECT_EQ(counts.back_edges, 64 / 16);
    EXPECT_EQ(counts.bound_bytes_read, counts.bytes_read);
    for (const KernelNode& n : code.nodes) EXPECT_FALSE(n.op == KernelOp::Mul && n.dtype == f32);
}

/// Bytes of the result, and of sums on their way to the lanes: every subgroup's, also behind the
/// end.
int64_t stored_once(const KernelCode& code, const Mapping& m) {
    int64_t result = 0, groups = 1;
    bool shared = false;
    for (const KernelBuffer& b : code.buffers) {
        shared |= b.space == MemorySpace::Shared;
        if (b.space == MemorySpace::Bound && b.written) result += b.elements.constant() * 4;
    }
    for (const Size& along : code.groups) groups *= along.constant();
    return result +
           (shared ? groups * m.matrix.subgroups() * m.matrix.across * m.matrix.down * 16 * 16 * 4
                   : 0);
}

TEST(MatrixUnits, LargerBlocksReadTheirOperandsLessOften) {
    const Lowered kernel = lowered({"", wide, {f16(128, 64), f16(64, 128)}, {}});
    for (const int64_t block : {1, 2, 4}) {
        Mapping m;
        m.matrix = {block, block, 1, 1};
        m.group.x = unit_profile().subgroup_size;
        std::vector<std::vector<std::byte>> memory;
        const KernelCounts counts = run(map_kernel(kernel.code, m, unit_profile(), {}), memory);
        EXPECT_EQ(counts.bound_bytes_read, 2 * 128 * 64 * (128 / 16 / block) * 2);
    }
}

TEST(MatrixUnits, EveryOtherMappingComputesTheSame) {
    const DeviceProfile profile = unit_profile();
    for (const Product& p : {Product{"", biased, {f16(80, 64), f16(64, 112), f32(112)}, {}},
                             Product{"", turned_product, {f16(80, 32), f16(32, 96)}, {}}}) {
        const Lowered kernel = lowered(p);
        const std::vector<Mapping> others = vary_mapping(kernel.code, kernel.mapping, profile, {});
        EXPECT_GE(others.size(), 8u);
        std::vector<std::vector<std::byte>> expected, got;
        run(map_kernel(kernel.code, kernel.mapping, profile, {}), expected);
        for (const Mapping& m : others) {
            const KernelCode code = map_kernel(kernel.code, m, profile, {});
            verify(code, KernelStage::Mapped, "map");
            const KernelCounts counts = run(code, got);
            EXPECT_EQ(got.back(), expected.back()) << text(m);
            if (m.matrix) {
                EXPECT_EQ(counts.bytes_written, stored_once(code, m)) << text(m);
            }
        }
    }
}

TEST(MatrixUnits, TuningFindsTheWayBackToTheUnit) {
    const Lowered kernel = lowered(kProducts[1]);
    DeviceProfile without = unit_profile();
    without.matrix_unit = {};
    const Mapping plain_mapping = choose_mapping(kernel.code, without, {});
    ASSERT_FALSE(plain_mapping.matrix);
    const auto others = vary_mapping(kernel.code, plain_mapping, unit_profile(), {});
    EXPECT_TRUE(
        std::any_of(others.begin(), others.end(), [](const Mapping& m) { return bool(m.matrix); }));
}

TEST(MatrixUnits, AGroupHasNoMoreSharedMemoryThanTheDevice) {
    const Product p{"", biased, {f16(1024, 64), f16(64, 1024), f32(1024)}, {}};
    DeviceProfile profile = unit_profile();
    profile.shared_bytes = 4096;
    const auto program = program_of(profile, p);
    EXPECT_NE(mappings(*program).find("matrix"), std::string::npos);
    EXPECT_LE(program->kernels[0].shared_bytes, 4096u);
}

TEST(MatrixUnits, AKernelSaysWhichUnitItNeeds) {
    EXPECT_EQ(program_of(unit_profile(), kProducts[0])->kernels[0].matrix_unit,
              (MatrixUnit{16, 16, 16}));
    EXPECT_FALSE(program_of(unit_profile(), kOthers[0])->kernels[0].matrix_unit);
}

TEST(MatrixUnits, TheTextOfAMappingParses) {
    const Mapping m = lowered(kProducts[0]).mapping;
    const auto parsed = parse_mapping(text(m));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(text(*parsed), text(m));
    EXPECT_EQ(parsed->matrix.subgroups(), m.matrix.subgroups());
    for (const char* words : {"matrix 2x2x1 ", "matrix 2x2x0x1 ", "matrix 1x1x1x1x1 ", "matrix "})
        EXPECT_FALSE(parse_mapping(words + text(Mapping()))) << words;
}

TEST(MatrixUnits, AnExplanationNamesTheUnit) {
    const auto program = program_of(unit_profile(), kProducts[0]);
    EXPECT_NE(explain(*program).find("matrix 1x1x2x2"), std::string::npos) << explain(*program);
}

TEST(MatrixUnits, AKernelThatIsNoProductIsNotMappedToThem) {
    const auto program = program_of(unit_profile(), kOthers[0]);
    const KernelCode& code = *std::get<DispatchStep>(program->steps.at(0).step).lowered;
    Mapping m;
    m.matrix = {1, 1, 1, 1};
    m.group.x = unit_profile().subgroup_size;
    EXPECT_EQ(why_illegal({code, m, unit_profile(), {}}),
              "matrix: the device has no matrix unit that computes this kernel");
    EXPECT_THROW(map_kernel(code, m, unit_profile(), {}), InternalError);
}

TEST(MatrixUnits, LanesThatAskForDifferentMatricesAreAnError) {
    const Lowered kernel = lowered(kProducts[1]);
    KernelCode code = map_kernel(kernel.code, kernel.mapping, unit_profile(), {});
    Range lane;
    lane.kind = RangeKind::Subgroup;
    lane.extent = Size(unit_profile().subgroup_size);
    for (KernelNode& n : code.nodes)
        if (n.op == KernelOp::Range && code[n.as<RangeId>()].kind == RangeKind::Subgroup) {
            n.attr = code.ranges.end_id();
            code.ranges.push_back(lane);
            break;
        }
    std::vector<std::vector<std::byte>> memory;
    EXPECT_THROW(run(code, memory), InternalError);
}

}  // namespace
}  // namespace firn
