// Every operation on values that were just converted from another type, on the device against
// evaluate(): a driver that knows the source of a value may compute with it instead.
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/algorithms/compact.h"
#include "compiler/ir/evaluate.h"
#include "compiler/program/spirv_format.h"
#include "tests/device/element_kernel.h"
#include "tests/device/on_device.h"

namespace firn {
namespace {

/// An operation on operands that are converted values, plain values, or literals.
struct Asked {
    KernelOp op;
    DType result;
    std::string glsl;           // of v0 (to be converted) and v1
    std::vector<int> operands;  // 0: v0 converted, 1: v1, -1: the literal
    Scalar literal;
};

/// Small and large values, of both signs, and values that a conversion saturates or truncates.
std::vector<Scalar> values_of(DType dtype) {
    std::vector<Scalar> out;
    if (dtype.is_bool()) return {scalar_bool(false), scalar_bool(true)};
    if (dtype.is_float()) {
        for (double v : {0.0, 1.0, -1.0, 2.5, -5.0, 7.0, -128.5, 255.5, 6e4, -0.25})
            out.push_back(scalar_float(v, dtype));
        if (dtype != f16)
            for (double v : {3e9, -3e9, 9.2e18, -9.2e18}) out.push_back(scalar_float(v, dtype));
        return out;
    }
    const int bits = 8 * dtype.bytes();
    const int64_t low = INT64_MIN >> (64 - bits);
    for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-5}, int64_t{7}, int64_t{100},
                      int64_t{0x5a5a1234deadbeef}, low, low + 1, -(low + 1), int64_t{0x80000000},
                      int64_t{0x100000001}})
        out.push_back(scalar_int(v, dtype));
    return out;
}

std::vector<Asked> questions(DType from, DType to, const DeviceProfile& profile) {
    std::vector<Asked> out;
    const std::string converted = operation_glsl(profile, KernelOp::Cast, to, {from}, {"v0"});
    std::vector<Scalar> literals;
    for (int v : {0, -1, 5})
        if (!to.is_bool() || v == 0)
            literals.push_back(to.is_float() ? scalar_float(v, to) : scalar_int(v, to));
    for (int k = 0; k < kElementwiseCount; ++k) {
        const auto op = static_cast<KernelOp>(k);
        if (op == KernelOp::Cast || op == KernelOp::Bitcast || op == KernelOp::Select ||
            !supported(op, to))
            continue;
        // Functions of floats are tested on their own, and divisions and powers, which drivers take
        // their time to compile, are asked once where they begin with a comparison.
        const bool dear = info(op).properties & (kCostly | kMedium);
        if (dear && !widens(to, from)) continue;
        const DType result = info(op).result == ResultRule::Bool ? boolean : to;
        // All operations in 64 bits; of the others those that depend on signs.
        const bool signs = result.is_bool() || op == KernelOp::Neg || op == KernelOp::Abs ||
                           op == KernelOp::Sign || op == KernelOp::ShiftRight;
        if (to.bytes() < 8 && !signs) continue;
        auto ask = [&](std::vector<int> operands, const Scalar& literal = {}) {
            std::vector<std::string> text;
            for (int each : operands)
                text.push_back(each < 0 ? glsl_literal(literal) : each ? "v1" : converted);
            out.push_back(
                {op, result,
                 operation_glsl(profile, op, result, std::vector<DType>(text.size(), to), text),
                 operands, literal});
        };
        if (info(op).arity == 1) {
            ask({0});
            continue;
        }
        ask({0, 1});
        if (dear) continue;
        ask({1, 0});
        const bool compares = result.is_bool() || op == KernelOp::Min || op == KernelOp::Max;
        for (const Scalar& literal : literals) {
            if (!compares && literal == literals[0]) continue;
            // Kernels compute with a literal 0.0 by functions of their own (literal_zero.h).
            if (literal.dtype.is_float() && literal.f == 0) continue;
            ask({0, -1}, literal);
            ask({-1, 0}, literal);
        }
    }
    return out;
}

/// Returns a kernel that answers all questions: answer k of element i is at k * count + i, and each
/// result type has its own buffer.
std::string glsl_of(const std::vector<Asked>& all, DType from, DType to,
                    const DeviceProfile& profile) {
    std::set<std::string> called;
    std::string body;
    int place[2] = {0, 0};
    for (const Asked& each : all) {
        for (const std::string& name : called_functions(each.glsl)) called.insert(name);
        const bool truth = each.result.is_bool();
        const std::string at = "[" + std::to_string(place[truth]++) + " * count + i] = ";
        body += truth ? "    b3" + at + "(" + each.glsl + " ? 1u : 0u);\n"
                      : "    b2" + at + to_element(to, each.glsl) + ";\n";
    }
    std::string glsl = element_head({from, to}, profile);
    const std::string stored[] = {element_type(from), element_type(to), element_type(to), "uint"};
    for (int k = 0; k < 4; ++k) {
        const std::string number = std::to_string(k);
        glsl += "layout(set = 0, binding = " + number + ", std430) buffer B" + number + " { " +
                stored[k] + " b" + number + "[]; };\n";
    }
    glsl +=
        "layout(push_constant) uniform Params { int count; };\n" + math_library(called) +
        "void main() {\n    int i = int(gl_GlobalInvocationID.x);\n    if (i >= count) return;\n";
    const DType types[] = {from, to};
    for (int k = 0; k < 2; ++k) {
        const std::string number = std::to_string(k), value = "b" + number + "[i]";
        glsl += "    " + glsl_type(types[k]) + " v" + number + " = " +
                from_element(types[k], value) + ";\n";
    }
    return glsl + body + "}\n";
}

struct Row {
    Scalar from, to;
};

bool agree(const Scalar& got, const Scalar& expected) {
    if (!expected.dtype.is_float()) return got == expected;
    if (std::isnan(expected.f)) return std::isnan(got.f);
    return got.f == expected.f || std::abs(got.f - expected.f) <= 1e-6 * std::abs(expected.f);
}

/// Asks one kernel all questions.
void expect_answers(const std::shared_ptr<Device>& device, DType from, DType to,
                    const std::vector<Asked>& all) {
    std::vector<Row> rows;
    for (const Scalar& x : values_of(from))
        for (const Scalar& y : values_of(to)) rows.push_back({x, y});
    const auto count = static_cast<int64_t>(rows.size());
    const int64_t truths = std::count_if(all.begin(), all.end(),
                                         [](const Asked& each) { return each.result.is_bool(); });
    const int64_t counts[] = {
        count, count, std::max<int64_t>(1, (static_cast<int64_t>(all.size()) - truths) * count),
        std::max<int64_t>(1, truths * count)};
    const DType types[] = {from, to, to, boolean};

    auto program = std::make_shared<Program>();
    program->name = "converted";
    program->profile = device->profile();
    KernelInfo kernel;
    kernel.name = std::string(from.name()) + " to " + to.name();
    kernel.artefact.text = glsl_of(all, from, to, device->profile());
    kernel.artefact.format = kSpirvFormat;
    kernel.artefact.words = glsl_to_spirv(kernel.artefact.text, kernel.name);
    kernel.group_size = {64, 1, 1};
    kernel.param_types = {i32};
    DispatchStep dispatch;
    Call call;
    VulkanExecutor executor(device);
    for (int k = 0; k < 4; ++k) {
        const auto width = static_cast<size_t>(types[k].bytes());
        const size_t bytes = (static_cast<size_t>(counts[k]) * width + 15) / 16 * 16;
        program->buffers.push_back({"b" + std::to_string(k),
                                    types[k],
                                    Size(counts[k]),
                                    {Size(counts[k])},
                                    k < 2 ? BufferRole::Argument : BufferRole::Result,
                                    {}});
        kernel.bindings.push_back({BindingForm::Storage, types[k], 1, k > 1});
        dispatch.buffers.push_back(k);
        std::shared_ptr<Memory> memory = executor.allocate(bytes, "column");
        if (k > 1) {
            program->results.push_back({types[k], {Size(counts[k])}, k});
            call.results.push_back(memory);
            continue;
        }
        program->arguments.push_back(
            {"b" + std::to_string(k), types[k], {Size(counts[k])}, false, k});
        std::vector<std::byte> stored(bytes);
        for (size_t i = 0; i < rows.size(); ++i)
            store_scalar(k ? rows[i].to : rows[i].from, stored.data() + i * width);
        executor.write(*memory, 0, stored);
        call.arguments.push_back(memory);
        call.scalars.emplace_back();
    }
    dispatch.params = {{i32, Size(count), -1}};
    dispatch.groups = {Size((count + 63) / 64), Size(1), Size(1)};
    program->kernels = {kernel};
    program->steps = {{dispatch}};
    executor.run(program, call);

    std::vector<std::byte> answers[2];
    for (int k = 0; k < 2; ++k) {
        answers[k].resize(static_cast<size_t>(counts[k + 2]) *
                          static_cast<size_t>(types[k + 2].bytes()));
        executor.read(*call.results[static_cast<size_t>(k)], 0, answers[k]);
    }
    int64_t place[2] = {0, 0};
    for (const Asked& each : all) {
        const bool truth = each.result.is_bool();
        const int64_t at = place[truth]++ * count;
        int wrong = 0;
        for (size_t i = 0; i < rows.size() && wrong < 1; ++i) {
            const Scalar got = load_scalar(
                each.result, answers[truth].data() + (static_cast<size_t>(at) + i) *
                                                         static_cast<size_t>(each.result.bytes()));
            std::vector<Scalar> in;
            for (int operand : each.operands)
                in.push_back(operand < 0 ? each.literal
                             : operand   ? rows[i].to
                                         : rows[i].from.to(to));
            const Scalar expected = evaluate(graph_op(each.op), each.result, in);
            std::string asked = info(each.op).name;
            for (size_t k = 0; k < in.size(); ++k)
                asked += std::string(each.operands[k] == 0  ? " cast "
                                     : each.operands[k] < 0 ? " literal "
                                                            : " ") +
                         text(in[k]);
            wrong += !agree(got, expected);
            EXPECT_TRUE(agree(got, expected))
                << asked << " is " << text(got) << ", expected " << text(expected);
        }
    }
}

class ConvertedOnDevice : public DeviceTest, public testing::WithParamInterface<DType> {};

TEST_P(ConvertedOnDevice, EveryOperationMeansWhatEvaluateSays) {
    // NVIDIA's compiler gives up where a kernel has very many divisions and powers of 64 bits.
    constexpr size_t kAtOnce = 16;
    const DType from = GetParam();
    if (!has_type(device->profile(), from)) GTEST_SKIP() << "it has no " << from.name();
    for (DType to : kAllTypes) {
        if (to == from || !has_type(device->profile(), to)) continue;
        SCOPED_TRACE(to.name());
        const std::vector<Asked> all = questions(from, to, device->profile());
        for (size_t first = 0; first < all.size(); first += kAtOnce)
            expect_answers(device, from, to,
                           {all.begin() + std::ptrdiff_t(first),
                            all.begin() + std::ptrdiff_t(std::min(first + kAtOnce, all.size()))});
    }
}

std::string converted_type(const testing::TestParamInfo<DType>& test) { return test.param.name(); }
INSTANTIATE_TEST_SUITE_P(Types, ConvertedOnDevice, testing::ValuesIn(kAllTypes), converted_type);

Tensor widened() { return tensor(Ints{-5, 7, 0, -1, 100000}).as(i64); }
INSTANTIATE_TEST_SUITE_P(
    Widened, OnDevice,
    testing::Values(DeviceCase{"Less", [] { return widened() < 0; }},
                    DeviceCase{"NotLess", [] { return widened() >= 0; }},
                    DeviceCase{"Abs", [] { return abs(widened()) * -1; }},
                    DeviceCase{"Sign", [] { return sign(widened()) * 3; }},
                    DeviceCase{"Pow",
                               [] {
                                   return pow(widened(), tensor(Ints{3, -7, 0, 1, 2}).as(i64));
                               }},
                    DeviceCase{"Compact", [] { return compact(widened(), widened() < 0); }},
                    DeviceCase{"ByWayOfUnsigned",
                               [] { return bitcast(widened().as(u64), i64) < 0; }}),
    name_of);

/// Numbers beside the middles between halves, closer than the spacing of floats.
Tensor beside_middles(double step) {
    std::vector<double> out{65519.999999, 65520, 1e300, -1e-300, INFINITY, NAN, -0.0};
    for (double size : {0x1p-25, 1.0, 37.0, 65504.0, 0x1.fep127})
        for (double middle : {1.0, 1 + step, 1 + 3 * step})
            for (double little : {-0x1p-40, 0.0, 0x1p-40}) {
                out.push_back(size * middle * (1 + little));
                out.push_back(-size * middle * (1 + little));
            }
    return tensor(out);
}
Tensor integers_beside_middles() {
    std::vector<int64_t> out{0, 1, -1, INT64_MIN, INT64_MAX};
    for (int bit = 8; bit < 63; ++bit)
        for (int64_t half : {1, 3})
            for (int64_t little : {-1, 0, 1}) {
                out.push_back((int64_t{1} << bit) + (half << (bit - 8)) + little);
                out.push_back(-out.back());
            }
    return tensor(out);
}
INSTANTIATE_TEST_SUITE_P(
    RoundedOnce, OnDevice,
    testing::Values(
        DeviceCase{"f64_to_f16", [] { return beside_middles(0x1p-11).as(f16); }},
        DeviceCase{"f64_to_bf16", [] { return beside_middles(0x1p-8).as(bf16); }},
        DeviceCase{"i64_to_bf16", [] { return integers_beside_middles().as(bf16); }},
        DeviceCase{"u64_to_bf16", [] { return integers_beside_middles().as(u64).as(bf16); }},
        DeviceCase{"i32_to_bf16", [] { return integers_beside_middles().as(i32).as(bf16); }},
        DeviceCase{"u32_to_bf16", [] { return integers_beside_middles().as(u32).as(bf16); }},
        DeviceCase{"i64_to_f16", [] { return integers_beside_middles().as(f16); }}),
    name_of);

}  // namespace
}  // namespace firn
