// Elementwise operations over the lanes of a workgroup: fast for 32-bit types, by `evaluate`
// otherwise.
#include "compiler/kernel/interpret/interpret_lanes.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "compiler/base/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/program/extremes.h"

namespace firn {
namespace {

// Optimisers turn blocks of constant length into vector instructions.
template <class Out, class In, class F>
void map(Out* __restrict out, const In* __restrict a, int lanes, F f) {
    for (int begin = 0; begin < lanes; begin += kLaneBlock)
        for (int k = 0; k < kLaneBlock; ++k) out[begin + k] = static_cast<Out>(f(a[begin + k]));
}
template <class Out, class In, class F>
void map(Out* __restrict out, const In* a, const In* b, int lanes, F f) {
    for (int begin = 0; begin < lanes; begin += kLaneBlock)
        for (int k = 0; k < kLaneBlock; ++k)
            out[begin + k] = static_cast<Out>(f(a[begin + k], b[begin + k]));
}

/// f32 operations are exact to round in f32.
bool float_unary(KernelOp op, float* out, const float* a, int lanes) {
    auto by = [&](auto f) {
        map(out, a, lanes, f);
        return true;
    };
    switch (op) {
        case KernelOp::Neg: return by([](float x) { return -x; });
        case KernelOp::Abs: return by([](float x) { return std::fabs(x); });
        case KernelOp::Floor: return by([](float x) { return std::floor(x); });
        case KernelOp::Ceil: return by([](float x) { return std::ceil(x); });
        case KernelOp::Round: return by([](float x) { return std::nearbyint(x); });
        case KernelOp::Trunc: return by([](float x) { return std::trunc(x); });
        case KernelOp::Frac: return by([](float x) { return x - std::floor(x); });
        case KernelOp::Sqrt: return by([](float x) { return std::sqrt(x); });
        case KernelOp::Rcp: return by([](float x) { return 1.0f / x; });
        default: return false;
    }
}

bool float_binary(KernelOp op, float* out, const float* a, const float* b, int lanes) {
    auto by = [&](auto f) {
        map(out, a, b, lanes, f);
        return true;
    };
    switch (op) {
        case KernelOp::Add: return by([](float x, float y) { return x + y; });
        case KernelOp::Sub: return by([](float x, float y) { return x - y; });
        case KernelOp::Mul: return by([](float x, float y) { return x * y; });
        case KernelOp::Div: return by([](float x, float y) { return x / y; });
        case KernelOp::Mod:
            return by([](float x, float y) {
                const float rest = std::fmod(x, y);  // as in evaluate()
                if (rest == 0) return std::copysign(0.0f, y);
                return (rest < 0) != (y < 0) ? rest + y : rest;
            });
        case KernelOp::Min: return by([](float x, float y) { return smaller(x, y); });
        case KernelOp::Max: return by([](float x, float y) { return larger(x, y); });
        default: return false;
    }
}

template <class T>
bool comparison(KernelOp op, int32_t* out, const T* a, const T* b, int lanes) {
    auto by = [&](auto f) {
        map(out, a, b, lanes, f);
        return true;
    };
    switch (op) {
        case KernelOp::Less: return by([](T x, T y) { return x < y; });
        case KernelOp::LessEqual: return by([](T x, T y) { return x <= y; });
        case KernelOp::Equal: return by([](T x, T y) { return x == y; });
        case KernelOp::NotEqual: return by([](T x, T y) { return x != y; });
        default: return false;
    }
}

int32_t wrap(uint32_t bits) { return static_cast<int32_t>(bits); }
uint32_t bits(int32_t value) { return static_cast<uint32_t>(value); }

int32_t quotient(int32_t x, int32_t y) {
    if (y == 0) return 0;
    return y == -1 ? wrap(0u - bits(x)) : x / y;
}
int32_t remainder(int32_t x, int32_t y) { return y == 0 || y == -1 ? 0 : x % y; }

/// i32 alone.
bool signed_binary(KernelOp op, int32_t* out, const int32_t* a, const int32_t* b, int lanes) {
    auto by = [&](auto f) {
        map(out, a, b, lanes, f);
        return true;
    };
    switch (op) {
        case KernelOp::Div: return by(quotient);
        case KernelOp::Mod: return by(remainder);
        case KernelOp::Min: return by([](int32_t x, int32_t y) { return y < x ? y : x; });
        case KernelOp::Max: return by([](int32_t x, int32_t y) { return x < y ? y : x; });
        case KernelOp::ShiftRight: return by([](int32_t x, int32_t y) { return x >> (y & 31); });
        default: return false;
    }
}

/// u32 alone.
bool unsigned_binary(KernelOp op, int32_t* out, const int32_t* a, const int32_t* b, int lanes) {
    auto by = [&](auto f) {
        map(out, a, b, lanes, [f](int32_t x, int32_t y) { return wrap(f(bits(x), bits(y))); });
        return true;
    };
    switch (op) {
        case KernelOp::Div: return by([](uint32_t x, uint32_t y) { return y ? x / y : 0u; });
        case KernelOp::Mod: return by([](uint32_t x, uint32_t y) { return y ? x % y : 0u; });
        case KernelOp::Min: return by([](uint32_t x, uint32_t y) { return y < x ? y : x; });
        case KernelOp::Max: return by([](uint32_t x, uint32_t y) { return x < y ? y : x; });
        case KernelOp::ShiftRight: return by([](uint32_t x, uint32_t y) { return x >> (y & 31); });
        default: return false;
    }
}

/// The operations that i32 and u32 share.
bool word_binary(KernelOp op, int32_t* out, const int32_t* a, const int32_t* b, int lanes) {
    auto by = [&](auto f) {
        map(out, a, b, lanes, [f](int32_t x, int32_t y) { return wrap(f(bits(x), bits(y))); });
        return true;
    };
    switch (op) {
        case KernelOp::Add: return by([](uint32_t x, uint32_t y) { return x + y; });
        case KernelOp::Sub: return by([](uint32_t x, uint32_t y) { return x - y; });
        case KernelOp::Mul: return by([](uint32_t x, uint32_t y) { return x * y; });
        case KernelOp::And: return by([](uint32_t x, uint32_t y) { return x & y; });
        case KernelOp::Or: return by([](uint32_t x, uint32_t y) { return x | y; });
        case KernelOp::Xor: return by([](uint32_t x, uint32_t y) { return x ^ y; });
        case KernelOp::ShiftLeft: return by([](uint32_t x, uint32_t y) { return x << (y & 31); });
        default: return false;
    }
}

bool word_unary(KernelOp op, DType dtype, int32_t* out, const int32_t* a, int lanes) {
    if (op == KernelOp::Not) {
        map(out, a, lanes, [](int32_t x) { return x == 0; });
        return true;
    }
    if (dtype.is_bool()) return false;
    if (op == KernelOp::Neg) {
        map(out, a, lanes, [](int32_t x) { return wrap(0u - bits(x)); });
        return true;
    }
    if (op == KernelOp::BitNot) {
        map(out, a, lanes, [](int32_t x) { return ~x; });
        return true;
    }
    return false;
}

bool convert(const Lanes& target, const Lanes& source, int lanes) {
    Type from = source.dtype.type, to = target.dtype.type;
    if (from == Type::I32 && to == Type::F32)
        map(target.floats(), source.words(), lanes, [](int32_t x) { return x; });
    else if (from == Type::Bool && to == Type::F32)
        map(target.floats(), source.words(), lanes, [](int32_t x) { return x; });
    else if (from == Type::U32 && to == Type::F32)
        map(target.floats(), source.words(), lanes, [](int32_t x) { return bits(x); });
    else if (from == Type::F32 && to == Type::I32)
        map(target.words(), source.floats(), lanes, [](float x) {
            // 2^31 as a float; the negated comparison sends nan to 0.
            if (x >= 2147483648.0f) return INT32_MAX;
            if (!(x >= -2147483648.0f)) return x < 0 ? INT32_MIN : 0;
            return static_cast<int32_t>(x);
        });
    else if (from == Type::F32 && to == Type::Bool)
        map(target.words(), source.floats(), lanes, [](float x) { return x != 0; });
    else if (to == Type::Bool && lane_form(source.dtype) == LaneForm::Word)
        map(target.words(), source.words(), lanes, [](int32_t x) { return x != 0; });
    else if (lane_form(source.dtype) == LaneForm::Word && lane_form(target.dtype) == LaneForm::Word)
        map(target.words(), source.words(), lanes, [](int32_t x) { return x; });
    else
        return false;
    return true;
}

template <class F>
bool each_scalar(const Lanes& target, std::span<const Lanes> args, int lanes, F f) {
    const Scalar *a = args[0].scalars(), *b = args.back().scalars();
    for (int lane = 0; lane < lanes; ++lane) target.scalars()[lane] = f(a[lane], b[lane]);
    return true;
}

/// f64 alone; an operation on one value sees it twice.
bool wide_float(KernelOp op, const Lanes& target, std::span<const Lanes> args, int lanes) {
    const auto by = [&](auto f) {
        return each_scalar(target, args, lanes, [f](const Scalar& x, const Scalar& y) {
            return Scalar{f64, f(x.f, y.f), 0};
        });
    };
    switch (op) {
        case KernelOp::Neg: return by([](double x, double) { return -x; });
        case KernelOp::Abs: return by([](double x, double) { return std::fabs(x); });
        case KernelOp::Floor: return by([](double x, double) { return std::floor(x); });
        case KernelOp::Round: return by([](double x, double) { return std::nearbyint(x); });
        case KernelOp::Sqrt: return by([](double x, double) { return std::sqrt(x); });
        case KernelOp::Add: return by([](double x, double y) { return x + y; });
        case KernelOp::Sub: return by([](double x, double y) { return x - y; });
        case KernelOp::Mul: return by([](double x, double y) { return x * y; });
        case KernelOp::Div: return by([](double x, double y) { return x / y; });
        case KernelOp::Min: return by([](double x, double y) { return smaller(x, y); });
        case KernelOp::Max: return by([](double x, double y) { return larger(x, y); });
        default: return false;
    }
}

/// u64 alone.
bool wide_word(KernelOp op, const Lanes& target, std::span<const Lanes> args, int lanes) {
    const auto by = [&](auto f) {
        return each_scalar(target, args, lanes, [f](const Scalar& x, const Scalar& y) {
            const uint64_t value = f(static_cast<uint64_t>(x.i), static_cast<uint64_t>(y.i));
            return Scalar{u64, 0, static_cast<int64_t>(value)};
        });
    };
    switch (op) {
        case KernelOp::Add: return by([](uint64_t x, uint64_t y) { return x + y; });
        case KernelOp::Sub: return by([](uint64_t x, uint64_t y) { return x - y; });
        case KernelOp::Mul: return by([](uint64_t x, uint64_t y) { return x * y; });
        case KernelOp::And: return by([](uint64_t x, uint64_t y) { return x & y; });
        case KernelOp::Or: return by([](uint64_t x, uint64_t y) { return x | y; });
        case KernelOp::Xor: return by([](uint64_t x, uint64_t y) { return x ^ y; });
        case KernelOp::ShiftLeft: return by([](uint64_t x, uint64_t y) { return x << (y & 63); });
        case KernelOp::ShiftRight: return by([](uint64_t x, uint64_t y) { return x >> (y & 63); });
        default: return false;
    }
}

bool wide_comparison(KernelOp op, int32_t* out, std::span<const Lanes> args, int lanes) {
    const auto by = [&](auto f) {
        const Scalar *a = args[0].scalars(), *b = args[1].scalars();
        for (int lane = 0; lane < lanes; ++lane) out[lane] = f(a[lane].f, b[lane].f);
        return true;
    };
    switch (op) {
        case KernelOp::Less: return by([](double x, double y) { return x < y; });
        case KernelOp::LessEqual: return by([](double x, double y) { return x <= y; });
        case KernelOp::Equal: return by([](double x, double y) { return x == y; });
        case KernelOp::NotEqual: return by([](double x, double y) { return x != y; });
        default: return false;
    }
}

/// The operations on f64 and u64 that functions are made of. False where there is no fast way.
bool evaluate_wide(KernelOp op, const Lanes& target, std::span<const Lanes> args, int lanes) {
    const DType from = args[0].dtype, to = target.dtype;
    if (op == KernelOp::Bitcast && from == f64 && to == u64)
        return each_scalar(target, args, lanes, [](const Scalar& x, const Scalar&) {
            return Scalar{u64, 0, std::bit_cast<int64_t>(x.f)};
        });
    if (op == KernelOp::Bitcast && from == u64 && to == f64)
        return each_scalar(target, args, lanes, [](const Scalar& x, const Scalar&) {
            return Scalar{f64, std::bit_cast<double>(x.i), 0};
        });
    if (args.size() == 2 && from == f64 && to.is_bool())
        return wide_comparison(op, target.words(), args, lanes);
    if (from != to) return false;
    if (from == f64) return wide_float(op, target, args, lanes);
    return from == u64 && wide_word(op, target, args, lanes);
}

/// The common operations on 32-bit types, and on 64-bit ones. False where there is no fast way.
bool evaluate_fast(KernelOp op, const Lanes& target, std::span<const Lanes> args, int lanes) {
    const Lanes& a = args[0];
    LaneForm form = lane_form(a.dtype);
    if (form == LaneForm::Scalar) return evaluate_wide(op, target, args, lanes);
    if (op == KernelOp::Cast) return convert(target, a, lanes);
    if (op == KernelOp::Bitcast && a.dtype.type != Type::Bool && target.dtype.type != Type::Bool &&
        lane_form(target.dtype) != LaneForm::Scalar) {
        std::memcpy(target.data, a.data, static_cast<size_t>(lanes) * 4);
        return true;
    }
    if (args.size() == 1)
        return form == LaneForm::Float
                   ? target.dtype == f32 && float_unary(op, target.floats(), a.floats(), lanes)
                   : word_unary(op, a.dtype, target.words(), a.words(), lanes);
    const Lanes& b = args[1];
    if (args.size() != 2 || a.dtype != b.dtype) return false;
    if (form == LaneForm::Float)
        return target.dtype.is_bool()
                   ? comparison(op, target.words(), a.floats(), b.floats(), lanes)
                   : float_binary(op, target.floats(), a.floats(), b.floats(), lanes);
    if (target.dtype.is_bool() &&
        (a.dtype == u32
             ? comparison(op, target.words(), a.unsigned_words(), b.unsigned_words(), lanes)
             : comparison(op, target.words(), a.words(), b.words(), lanes)))
        return true;
    if (target.dtype.is_bool())
        return a.dtype.is_bool() &&
               (op == KernelOp::And || op == KernelOp::Or || op == KernelOp::Xor) &&
               word_binary(op, target.words(), a.words(), b.words(), lanes);
    if (a.dtype.is_bool()) return false;
    if (word_binary(op, target.words(), a.words(), b.words(), lanes)) return true;
    return a.dtype == i32 ? signed_binary(op, target.words(), a.words(), b.words(), lanes)
                          : unsigned_binary(op, target.words(), a.words(), b.words(), lanes);
}

void evaluate_each(KernelOp op, const Lanes& target, std::span<const Lanes> args,
                   const LaneMask& mask) {
    ensure(args.size() <= 3, "an elementwise operation has more than three operands");
    std::array<Scalar, 3> inputs;
    for (int lane = 0; lane < static_cast<int>(mask.on.size()); ++lane) {
        if (!mask.on[static_cast<size_t>(lane)]) continue;
        for (size_t k = 0; k < args.size(); ++k) inputs[k] = get_lane(args[k], lane);
        set_lane(target, lane,
                 evaluate(graph_op(op), target.dtype, std::span(inputs).first(args.size())));
    }
}

template <class T>
void select(T* out, const uint8_t* condition, const T* a, const T* b, int lanes) {
    for (int lane = 0; lane < lanes; ++lane) out[lane] = condition[lane] ? a[lane] : b[lane];
}

}  // namespace

LaneForm lane_form(DType dtype) {
    switch (dtype.type) {
        case Type::F32: return LaneForm::Float;
        case Type::I32:
        case Type::U32:
        case Type::Bool: return LaneForm::Word;
        case Type::F16:
        case Type::BF16:
        case Type::F64:
        case Type::I64:
        case Type::U64:
        case Type::I16:
        case Type::U16:
        case Type::I8:
        case Type::U8: return LaneForm::Scalar;
    }
    throw InternalError("internal error: unknown type of a lane");
}

size_t lane_bytes(DType dtype) { return lane_form(dtype) == LaneForm::Scalar ? sizeof(Scalar) : 4; }

Scalar get_lane(const Lanes& value, int lane) {
    switch (lane_form(value.dtype)) {
        case LaneForm::Float: return {value.dtype, value.floats()[lane], 0};
        case LaneForm::Word: return load_scalar(value.dtype, value.words() + lane);
        case LaneForm::Scalar: return value.scalars()[lane];
    }
    throw InternalError("internal error: unknown form of lanes");
}

void set_lane(const Lanes& value, int lane, const Scalar& scalar) {
    switch (lane_form(value.dtype)) {
        case LaneForm::Float: value.floats()[lane] = static_cast<float>(scalar.f); return;
        case LaneForm::Word: value.words()[lane] = static_cast<int32_t>(scalar.i); return;
        case LaneForm::Scalar: value.scalars()[lane] = scalar; return;
    }
}

void fill_lanes(const Lanes& value, int lanes, const Scalar& scalar) {
    switch (lane_form(value.dtype)) {
        case LaneForm::Float:
            std::fill_n(value.floats(), lanes, static_cast<float>(scalar.f));
            return;
        case LaneForm::Word:
            std::fill_n(value.words(), lanes, static_cast<int32_t>(scalar.i));
            return;
        case LaneForm::Scalar: std::fill_n(value.scalars(), lanes, scalar); return;
    }
}

void copy_lanes(const Lanes& target, const Lanes& source, const LaneMask& mask) {
    if (mask.all())
        std::memcpy(target.data, source.data, mask.on.size() * lane_bytes(target.dtype));
    else
        select_lanes(target, mask.on.data(), source, target, static_cast<int>(mask.on.size()));
}

void select_lanes(const Lanes& target, const uint8_t* condition, const Lanes& a, const Lanes& b,
                  int lanes) {
    switch (lane_form(target.dtype)) {
        case LaneForm::Float:
            return select(target.floats(), condition, a.floats(), b.floats(), lanes);
        case LaneForm::Word: return select(target.words(), condition, a.words(), b.words(), lanes);
        case LaneForm::Scalar:
            return select(target.scalars(), condition, a.scalars(), b.scalars(), lanes);
    }
}

void evaluate_lanes(KernelOp op, const Lanes& target, std::span<const Lanes> args,
                    const LaneMask& mask) {
    int lanes = static_cast<int>(mask.on.size());
    if (op == KernelOp::Select && lane_form(target.dtype) == LaneForm::Scalar) {
        const int32_t* condition = args[0].words();
        const Scalar *a = args[1].scalars(), *b = args[2].scalars();
        Scalar* out = target.scalars();
        for (int lane = 0; lane < lanes; ++lane) out[lane] = condition[lane] ? a[lane] : b[lane];
        return;
    }
    if (op == KernelOp::Select) {
        // Both forms of 4 bytes are moved as words.
        const int32_t* condition = args[0].words();
        const int32_t *a = args[1].words(), *b = args[2].words();
        int32_t* out = target.words();
        for (int lane = 0; lane < lanes; ++lane) out[lane] = condition[lane] ? a[lane] : b[lane];
        return;
    }
    if (!evaluate_fast(op, target, args, lanes)) evaluate_each(op, target, args, mask);
}

}  // namespace firn
