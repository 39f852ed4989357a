// Every algebra row, generated from the table: it fires, and no value changes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "compiler/ir/builder.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/pattern.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rules.h"

namespace firn {
namespace {

struct RowCase {
    AlgebraRow row;
    DType dtype;
};
/// Types in which the operations of a pattern exist: bit operations have no floats, math no
/// integers.
bool exists_in(const Pattern& pattern, DType dtype) {
    for (const Pattern& input : pattern.inputs)
        if (!exists_in(input, dtype)) return false;
    if (pattern.kind != Pattern::Kind::Operation) return true;
    bool keeps_bool = pattern.op == Op::Not || pattern.op == Op::And || pattern.op == Op::Or ||
                      pattern.op == Op::Xor || pattern.op == Op::Select ||
                      pattern.op == Op::Equal || pattern.op == Op::NotEqual;
    if (pattern.op == Op::Not && pattern.inputs[0].kind == Pattern::Kind::Operation)
        return !dtype.is_bool();
    if (dtype.is_bool()) return keeps_bool;
    if (pattern.op == Op::Not || pattern.op == Op::And || pattern.op == Op::Or ||
        pattern.op == Op::Xor)
        return pattern.op != Op::Not && dtype.is_integer();
    return info(pattern.op).result != ResultRule::Float || dtype.is_float();
}

std::vector<RowCase> row_cases() {
    std::vector<RowCase> out;
    for (const AlgebraRow& row : algebra_rows())
        for (DType dtype : {f32, f16, f64, i32, u32, i64, u64, boolean}) {
            Pattern pattern = parse_pattern(row.pattern);
            bool of_bools = row.types == RuleTypes::Bool;
            if (holds_for(row.types, dtype) && (exists_in(pattern, dtype) || of_bools))
                out.push_back({row, dtype});
        }
    return out;
}

const int64_t kIntegers[] = {0, 1, -1, 2, 3, 31, 33, INT32_MIN, INT32_MAX, -7};
const double kFloats[] = {0.0,
                          -0.0,
                          1,
                          -1,
                          0.5,
                          -2.5,
                          1e30,
                          -1e-30,
                          std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};

std::vector<Scalar> ugly_values(DType dtype) {
    std::vector<Scalar> out;
    if (dtype.is_bool()) return {scalar_bool(false), scalar_bool(true)};
    if (dtype.is_float())
        for (double v : kFloats) out.push_back(scalar_float(v, dtype));
    else
        for (int64_t v : kIntegers) out.push_back(scalar_int(v, dtype));
    return out;
}

/// Evaluates a graph over rank-0 inputs, `values` by Input index.
Scalar value_of(const Ref& node, const std::vector<Scalar>& values) {
    if (node->op == Op::Constant) return node->as<ConstantAttr>().value;
    if (node->op == Op::Input) return values[static_cast<size_t>(node->as<InputAttr>().index)];
    std::vector<Scalar> inputs;
    for (const Ref& in : node->inputs) inputs.push_back(value_of(in, values));
    return evaluate(node->op, node->dtype, inputs);
}

class AlgebraRows : public testing::TestWithParam<RowCase> {
  protected:
    NodeTable table_;
    Builder b_{table_};

    DType dtype_of(char variable) const {
        return variable == 'z' ? condition_type() : GetParam().dtype;
    }
    /// `z` is the condition of the Select rows.
    static DType condition_type() { return boolean; }

    Ref build_node(const Pattern& pattern, const std::map<char, Ref>& variables, DType dtype) {
        auto make = [&](Op op, const std::vector<Ref>& in, const std::vector<bool>& weak) {
            return elementwise(b_, op, in, weak);
        };
        auto literal = [&](double value) {
            Scalar scalar = dtype.is_float() ? scalar_float(value, dtype)
                                             : scalar_int(static_cast<int64_t>(value), dtype);
            return constant(b_, scalar);
        };
        Bindings bindings;
        for (auto [variable, node] : variables)
            bindings[static_cast<size_t>(variable - 'a')] = node;
        return build(pattern, bindings, make, literal);
    }
};

TEST_P(AlgebraRows, FiresAndKeepsEveryValue) {
    auto [row, dtype] = GetParam();
    Pattern pattern = parse_pattern(row.pattern);
    std::vector<Scalar> ugly = ugly_values(dtype);
    RuleCounts fired;
    // c and d are constants, the others inputs: x 0, y 1, w 2, z 3 (the condition).
    for (size_t constants = 0;
         constants < (std::string(row.pattern).find('c') != std::string::npos ? ugly.size() : 1);
         ++constants) {
        Scalar c = ugly[constants], d = ugly[(constants * 3 + 1) % ugly.size()];
        std::map<char, Ref> variables = {{'x', input(b_, 0, dtype, {}, true)},
                                         {'y', input(b_, 1, dtype, {}, true)},
                                         {'w', input(b_, 2, dtype, {}, true)},
                                         {'z', input(b_, 3, dtype_of('z'), {}, true)},
                                         {'c', constant(b_, c)},
                                         {'d', constant(b_, d)}};
        Ref before = build_node(pattern, variables, dtype);
        Ref after = simplify(table_, Graph{{}, {before}, {}}, &fired).results[0];
        EXPECT_EQ(after->dtype, before->dtype);
        for (const Scalar& x : ugly)
            for (const Scalar& y : ugly)
                for (bool z : {false, true}) {
                    std::vector<Scalar> values = {x, y, y, scalar_bool(z)};
                    Scalar expected = value_of(before, values), got = value_of(after, values);
                    bool power =
                        std::string(row.name).find('^') != std::string::npos && dtype.is_float();
                    const bool near = power && std::isfinite(expected.f) &&
                                      std::abs(got.f - expected.f) <= 2e-3 * std::abs(expected.f);
                    ASSERT_TRUE(got == expected || (std::isnan(got.f) && std::isnan(expected.f)) ||
                                near)
                        << row.name << " of " << text(x) << ", " << text(y) << ": " << text(got)
                        << ", was " << text(expected);
                }
    }
    // The row does not fire for every choice of constants: in x + 0 + 1 another row comes first.
    EXPECT_GE(fired[row.name], 1);
}

std::string row_name(const testing::TestParamInfo<RowCase>& test) {
    std::string out = std::to_string(test.index) + "_" + test.param.dtype.name() + "_";
    for (const char* c = test.param.row.pattern; *c; ++c)
        if (std::isalnum(static_cast<unsigned char>(*c))) out += *c;
    return out;
}
INSTANTIATE_TEST_SUITE_P(Algebra, AlgebraRows, testing::ValuesIn(row_cases()), row_name);

TEST(Simplify, EveryCastOfCastKeepsItsValues) {
    NodeTable table;
    Builder b{table};
    for (DType from : kAllTypes)
        for (DType between : kAllTypes)
            for (DType to : kAllTypes) {
                Ref x = input(b, 0, from, {}, true);
                Ref before = cast(b, cast(b, x, between), to);
                Ref after = simplify(table, Graph{{x}, {before}, {}}).results[0];
                for (const Scalar& v : ugly_values(from)) {
                    Scalar expected = value_of(before, {v}), got = value_of(after, {v});
                    EXPECT_TRUE(got == expected || (std::isnan(got.f) && std::isnan(expected.f)))
                        << text(v) << " " << from.name() << " " << between.name() << " "
                        << to.name();
                }
            }
}

}  // namespace
}  // namespace firn
