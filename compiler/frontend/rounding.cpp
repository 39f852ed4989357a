// Bounds the effect of rounding on the results of a program.
#include "compiler/frontend/rounding.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "compiler/ir/regions.h"

namespace firn {
namespace {

/// Elements of a shape; 0 where a symbol has no value outside of its loop.
double elements(const Shape& shape, const SizeEnv& symbols) {
    const Size count = element_count(largest(shape));
    for (const std::string& symbol : count.symbols())
        if (!symbols.contains(symbol)) return 0;
    return static_cast<double>(count.evaluate(symbols));
}

/// The terms of one element of a node.
double terms_of(const Node& node, const SizeEnv& symbols) {
    if (!node.dtype.is_float()) return 1;
    if (node.op == Op::Reduce)
        return elements(node.inputs[0]->shape, symbols) /
               std::max(1.0, elements(node.shape, symbols));
    if (node.op == Op::Scatter && node.as<ScatterAttr>().op == ScatterOp::Add)
        return elements(node.inputs[1]->shape, symbols);  // all may meet in one place
    return 1;
}

/// Bits that look random, of a number (SplitMix64).
uint64_t scrambled(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

double float_at(DType dtype, const std::vector<std::byte>& bytes, size_t element) {
    return load_scalar(dtype, bytes.data() + element * static_cast<size_t>(dtype.bytes())).f;
}

size_t count_of(DType dtype, const std::vector<std::byte>& bytes) {
    return bytes.size() / static_cast<size_t>(dtype.bytes());
}

}  // namespace

double most_terms(const Graph& graph, const SizeEnv& symbols) {
    double most = 1;
    for (const PlacedRegion& region : place(graph.results).regions)
        for (const Ref& node : region.order) most = std::max(most, terms_of(*node, symbols));
    return most;
}

double rounding_unit(DType dtype) {
    return dtype == f64    ? std::ldexp(1.0, -52)
           : dtype == f16  ? std::ldexp(1.0, -10)
           : dtype == bf16 ? std::ldexp(1.0, -7)
                           : std::ldexp(1.0, -23);
}

std::vector<std::byte> moved(std::vector<std::byte> bytes, DType dtype, uint64_t seed) {
    if (!dtype.is_float()) return bytes;
    const size_t step = static_cast<size_t>(dtype.bytes());
    for (size_t k = 0; k < count_of(dtype, bytes); ++k) {
        const double part =
            std::ldexp(static_cast<double>(scrambled(seed + k) >> 11), -52) - 1;  // -1 to 1
        Scalar value = load_scalar(dtype, bytes.data() + k * step);
        value.f *= 1 + part * kMovedUnits * rounding_unit(dtype);
        store_scalar(value, bytes.data() + k * step);
    }
    return bytes;
}

void note_moves(Reference& reference, const std::vector<std::byte>& bytes) {
    if (!reference.dtype.is_float()) return;
    reference.moves.resize(count_of(reference.dtype, bytes));
    for (size_t k = 0; k < reference.moves.size(); ++k) {
        const double move = std::abs(float_at(reference.dtype, bytes, k) -
                                     float_at(reference.dtype, reference.bytes, k));
        if (std::isfinite(move)) reference.moves[k] = std::max(reference.moves[k], move);
    }
}

Deviation deviation(const Reference& reference, const std::vector<std::byte>& bytes, double terms) {
    Deviation worst;
    const DType dtype = reference.dtype;
    auto note = [&](size_t element, double roundings, const auto& got, const auto& want) {
        if (!(roundings > worst.roundings)) return;
        std::ostringstream out;
        out << "element " << element << " is " << got << " instead of " << want;
        worst = {roundings, out.str()};
    };
    if (!dtype.is_float()) {
        const size_t step = static_cast<size_t>(dtype.bytes());
        for (size_t at = 0; at < bytes.size(); at += step) {
            if (std::equal(bytes.begin() + static_cast<long>(at),
                           bytes.begin() + static_cast<long>(at + step),
                           reference.bytes.begin() + static_cast<long>(at)))
                continue;
            note(at / step, HUGE_VAL, load_scalar(dtype, bytes.data() + at).to(i64).i,
                 load_scalar(dtype, reference.bytes.data() + at).to(i64).i);
        }
        return worst;
    }
    // The order of a sum changes it by as many roundings as a walk of that many steps goes far.
    const double unit = rounding_unit(dtype), growth = std::sqrt(std::max(1.0, terms));
    for (size_t k = 0; k < count_of(dtype, bytes); ++k) {
        const double got = float_at(dtype, bytes, k), want = float_at(dtype, reference.bytes, k);
        if (got == want || (std::isnan(got) && std::isnan(want))) continue;
        const double move = reference.moves.empty() ? 0 : reference.moves[k] / kMovedUnits;
        const double explained = growth * (unit * std::abs(want) + move),
                     off = std::abs(got - want);
        note(k, std::isfinite(off) && explained > 0 ? off / explained : HUGE_VAL, got, want);
    }
    return worst;
}

}  // namespace firn
