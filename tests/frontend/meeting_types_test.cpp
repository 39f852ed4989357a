// Functions of several operands compute in the type that all of them meet in, wherever a C++ scalar
// stands; functions of real numbers take integers of every type as floats.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// An operand: a tensor of a type, or a C++ scalar.
struct ScalarKind {
    DType dtype = f32;
    bool scalar = false;
    std::string name() const { return std::string(scalar ? "scalar " : "") + dtype.name(); }
};

std::vector<ScalarKind> kinds() {
    std::vector<ScalarKind> out;
    for (DType dtype : kAllTypes) out.push_back({dtype, false});
    out.push_back({i32, true});
    out.push_back({f64, true});  // a double
    return out;
}

/// The numpy-like rule of the contract, with weak scalars.
DType meeting(const std::vector<ScalarKind>& operands) {
    auto rank = [](DType type) {  // a wider one wins; of equal width the signed one
        return type == f64      ? 9
               : type == f32    ? 8
               : type.is_half() ? 7
               : type == i64    ? 6
               : type == u64    ? 5
               : type == i32    ? 4
               : type == u32    ? 3
                                : 2;
    };
    DType best = boolean;
    bool weak_float = false;
    bool halves[2] = {};
    for (const ScalarKind& each : operands) {
        if (!each.scalar && each.dtype.is_half()) halves[each.dtype == f16] = true;
        if (each.scalar)
            weak_float |= each.dtype.is_float();
        else if (rank(each.dtype) > rank(best) || best.is_bool())
            best = each.dtype;
    }
    if (weak_float && !best.is_float()) return f32;
    if (best.is_half() && halves[0] && halves[1]) return f32;
    return rank(best) == 2 ? i32 : best;  // small integers and bools are computed in i32
}

struct Function {
    const char* name;
    size_t arity;
    bool real;  // gives floats
    std::function<Tensor(const std::vector<Arg>&)> record;
    std::function<double(const std::vector<double>&)> exact;
    bool chooses = false;  // gives one of its operands, in the type that they have
};

/// Every value of `other` is one of `type`.
bool holds(DType type, DType other) {
    if (type == other || other.is_bool()) return true;
    if (type.is_bool()) return false;
    return type.is_signed() == other.is_signed() ? type.bytes() >= other.bytes()
                                                 : type.is_signed() && type.bytes() > other.bytes();
}

/// Returns the type of a select among operands whose common type is i32: the one of theirs that
/// holds all others, which the small C++ numbers here fit unless it is bool.
DType chosen_type(const std::vector<ScalarKind>& operands) {
    for (const ScalarKind& each : operands)
        if (!each.scalar &&
            std::all_of(operands.begin(), operands.end(), [&](const ScalarKind& other) {
                return other.scalar ? !each.dtype.is_bool() : holds(each.dtype, other.dtype);
            }))
            return each.dtype;
    return i32;
}

using Args = std::vector<Arg>;
using Numbers = std::vector<double>;

double whole(double x, bool real) { return real ? x : std::trunc(x); }

const std::vector<Function>& functions() {
    static const std::vector<Function> all = {
        {"pow", 2, false, [](const Args& a) { return pow_of(a[0], a[1]); },
         [](const Numbers& v) { return std::pow(v[0], v[1]); }},
        {"atan2", 2, true, [](const Args& a) { return atan2_of(a[0], a[1]); },
         [](const Numbers& v) { return std::atan2(v[0], v[1]); }},
        {"min", 2, false, [](const Args& a) { return min_of(a[0], a[1]); },
         [](const Numbers& v) { return std::min(v[0], v[1]); }, true},
        {"max", 2, false, [](const Args& a) { return max_of(a[0], a[1]); },
         [](const Numbers& v) { return std::max(v[0], v[1]); }, true},
        {"hypot", 2, true, [](const Args& a) { return hypot_of(a[0], a[1]); },
         [](const Numbers& v) { return std::hypot(v[0], v[1]); }},
        {"logaddexp", 2, true, [](const Args& a) { return logaddexp_of(a[0], a[1]); },
         [](const Numbers& v) { return std::log(std::exp(v[0]) + std::exp(v[1])); }},
        {"floor_div", 2, false, [](const Args& a) { return floor_div_of(a[0], a[1]); },
         [](const Numbers& v) { return std::floor(v[0] / v[1]); }},
        {"remainder", 2, false, [](const Args& a) { return remainder_of(a[0], a[1]); },
         [](const Numbers& v) { return v[0] - v[1] * std::floor(v[0] / v[1]); }},
        {"min of three", 3, false, [](const Args& a) { return min_of(a[0], a[1], a[2]); },
         [](const Numbers& v) {
             return std::min({v[0], v[1], v[2]});
         },
         true},
        {"max of three", 3, false, [](const Args& a) { return max_of(a[0], a[1], a[2]); },
         [](const Numbers& v) {
             return std::max({v[0], v[1], v[2]});
         },
         true},
        {"clamp", 3, false, [](const Args& a) { return clamp_of(a[0], a[1], a[2]); },
         [](const Numbers& v) { return std::min(std::max(v[0], v[1]), v[2]); }, true},
        {"clip", 3, false, [](const Args& a) { return clip_of(a[0], a[1], a[2]); },
         [](const Numbers& v) { return std::min(std::max(v[0], v[1]), v[2]); }, true},
        {"mix", 3, false, [](const Args& a) { return mix_of(a[0], a[1], a[2]); },
         [](const Numbers& v) { return v[0] + (v[1] - v[0]) * v[2]; }},
        {"fma", 3, false, [](const Args& a) { return fma_of(a[0], a[1], a[2]); },
         [](const Numbers& v) { return v[0] * v[1] + v[2]; }},
        {"smoothstep", 3, true, [](const Args& a) { return smoothstep_of(a[0], a[1], a[2]); },
         [](const Numbers& v) {
             const double t = std::clamp((v[2] - v[0]) / (v[1] - v[0]), 0.0, 1.0);
             return t * t * (3 - 2 * t);
         }},
    };
    return all;
}

double tolerance(DType type) {
    return type == bf16 ? 5e-2 : type == f16 ? 6e-3 : type == f32 ? 1e-6 : type == f64 ? 1e-14 : 0;
}

/// Returns the value of the operand of this kind at place k: whole numbers of every type, fractions
/// if the type has them.
Scalar value_of(const ScalarKind& kind, size_t k) {
    const double values[] = {5.3, 2.7, 3.1};
    if (kind.dtype.is_bool()) return scalar_bool(k > 0);
    return scalar_float(values[k], f64).to(kind.dtype);
}

Arg operand(const ScalarKind& kind, const Scalar& value) {
    if (kind.scalar) return kind.dtype.is_float() ? Arg(value.f) : Arg(static_cast<int>(value.i));
    std::vector<std::byte> bytes(static_cast<size_t>(kind.dtype.bytes()));
    store_scalar(value, bytes.data());
    return Arg(tensor_from_bytes(bytes, {Size(1)}, kind.dtype, here()));
}

void check(const Function& function, const std::vector<ScalarKind>& operands) {
    // Scalars alone are the host's to compute.
    if (std::all_of(operands.begin(), operands.end(),
                    [](const ScalarKind& each) { return each.scalar; }))
        return;
    DType type = meeting(operands);
    if (function.chooses && type == i32) type = chosen_type(operands);
    if (function.real && !type.is_float()) type = f32;
    Args args;
    Numbers numbers;
    std::string asked = function.name;
    for (size_t k = 0; k < operands.size(); ++k) {
        const Scalar value = value_of(operands[k], k);
        args.push_back(operand(operands[k], value));
        numbers.push_back(value.to(type).as_double());
        asked += (k ? ", " : "(") + operands[k].name();
    }
    asked += ")";
    Tensor result = function.record(args);
    ASSERT_STREQ(result.dtype().name(), type.name()) << asked;
    double expected = whole(function.exact(numbers), type.is_float());
    if (expected < 0 && !type.is_signed()) expected += std::ldexp(1.0, 8 * type.bytes());
    const double got = result.to_vector<double>()[0];
    ASSERT_NEAR(got, expected, tolerance(type) * std::max(1.0, std::abs(expected))) << asked;
}

class MeetingTypes : public OracleTest, public testing::WithParamInterface<size_t> {};

TEST_P(MeetingTypes, AreThoseOfAllOperands) {
    const Function& function = functions()[GetParam()];
    const std::vector<ScalarKind> all = kinds();
    for (const ScalarKind& a : all)
        for (const ScalarKind& b : all) {
            if (function.arity == 2) {
                ASSERT_NO_FATAL_FAILURE(check(function, {a, b}));
                continue;
            }
            for (const ScalarKind& c : all) ASSERT_NO_FATAL_FAILURE(check(function, {a, b, c}));
        }
}

std::string function_name(const testing::TestParamInfo<size_t>& test) {
    std::string name = functions()[test.param].name;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Functions, MeetingTypes, testing::Range(size_t{0}, functions().size()),
                         function_name);

struct Real {
    const char* name;
    Tensor (*record)(const Operand&);
};
class RealFunction : public OracleTest, public testing::WithParamInterface<Real> {};

/// For integers and bools the result is that for the same numbers in f32.
TEST_P(RealFunction, TakesIntegersAsFloats) {
    for (DType dtype : kAllTypes) {
        if (dtype.is_float()) continue;
        std::vector<std::byte> bytes(3 * static_cast<size_t>(dtype.bytes()));
        for (size_t k = 0; k < 3; ++k)
            store_scalar(scalar_int(static_cast<int64_t>(k), dtype),
                         &bytes[k * static_cast<size_t>(dtype.bytes())]);
        Tensor x = tensor_from_bytes(bytes, {Size(3)}, dtype, here());
        Tensor got = GetParam().record(x), expected = GetParam().record(x.as(f32));
        EXPECT_STREQ(got.dtype().name(), "f32") << dtype.name();
        const std::vector<float> a = got.to_vector<float>(), b = expected.to_vector<float>();
        ASSERT_EQ(a.size(), b.size()) << dtype.name();
        for (size_t k = 0; k < a.size(); ++k)
            EXPECT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])))
                << dtype.name() << " " << k;
    }
}

std::string real_name(const testing::TestParamInfo<Real>& test) { return test.param.name; }
#define FIRN_REAL(f)                              \
    Real {                                        \
#f, [](const Operand& x) { return f(x); } \
    }
INSTANTIATE_TEST_SUITE_P(
    All, RealFunction,
    testing::Values(FIRN_REAL(exp), FIRN_REAL(exp2), FIRN_REAL(expm1), FIRN_REAL(log),
                    FIRN_REAL(log2), FIRN_REAL(log1p), FIRN_REAL(log10), FIRN_REAL(sqrt),
                    FIRN_REAL(rsqrt), FIRN_REAL(rcp), FIRN_REAL(sin), FIRN_REAL(cos),
                    FIRN_REAL(tan), FIRN_REAL(asin), FIRN_REAL(acos), FIRN_REAL(atan),
                    FIRN_REAL(sinh), FIRN_REAL(cosh), FIRN_REAL(tanh), FIRN_REAL(erf),
                    FIRN_REAL(sigmoid), FIRN_REAL(floor), FIRN_REAL(ceil), FIRN_REAL(round),
                    FIRN_REAL(trunc), FIRN_REAL(frac), FIRN_REAL(mean), FIRN_REAL(var),
                    FIRN_REAL(stddev), FIRN_REAL(norm), FIRN_REAL(softmax), FIRN_REAL(log_softmax),
                    FIRN_REAL(logsumexp)),
    real_name);
#undef FIRN_REAL

class WeakScalars : public OracleTest {};

TEST_F(WeakScalars, AreReadInTheTypeOfTheTensor) {
    Tensor x = tensor(std::vector<double>{0.0});
    EXPECT_EQ(hypot(0.1, x).to_vector<double>()[0], 0.1);
    EXPECT_EQ(mix(0.1, 0.3, x).to_vector<double>()[0], 0.1);
    EXPECT_EQ(linspace(x(0), 1, 11).to_vector<double>()[1], 0.1);
}

TEST_F(WeakScalars, UnsignedDifferencesDoNotWrap) {
    Tensor a = tensor(std::vector<uint32_t>{5}), b = tensor(std::vector<uint32_t>{3});
    EXPECT_EQ(mix(a, b, 0.5f).item<float>(), 4);
    EXPECT_EQ(smoothstep(a, 10u, b).item<float>(), 0);
}

}  // namespace
}  // namespace firn
