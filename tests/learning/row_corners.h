// Functions of rows of four over the whole range of each type: their values and slopes in long
// doubles, and the allowed errors of values and derivatives.
#pragma once
#include <algorithm>
#include <array>

#include "tests/learning/corners.h"

namespace firn {
namespace corners {

/// The cotangent of a result of four; a result of one has 1.
inline const long double kWeights[4] = {1, -0.5L, 0.25L, 2};

struct ExactRow {
    std::array<long double, 4> x;
    int label;

    size_t largest() const { return size_t(std::max_element(x.begin(), x.end()) - x.begin()); }
    /// log(sum(exp(x - max(x)))), without cancellation.
    long double log_of_rest() const {
        long double rest = 0;
        for (size_t k = 0; k < 4; ++k)
            if (k != largest()) rest += expl(x[k] - x[largest()]);
        return log1pl(rest);
    }
    bool has_nan() const {
        return std::any_of(x.begin(), x.end(), [](long double v) { return std::isnan(v); }) ||
               std::isinf(x[largest()]);
    }
    long double log_share(size_t k) const {
        return has_nan() ? NAN : x[k] - x[largest()] - log_of_rest();
    }
    long double share(size_t k) const { return expl(log_share(k)); }
    long double is_label(size_t k) const { return k == size_t(label) ? 1 : 0; }
    /// Returns the sum of `of` over the row.
    template <class Of>
    long double total(const Of& of) const {
        long double out = 0;
        for (size_t k = 0; k < 4; ++k) out += of(k);
        return out;
    }
    long double mean_share() const {
        return total([&](size_t k) { return share(k) * kWeights[k]; });
    }
    long double log_of_sum() const {
        if (std::any_of(x.begin(), x.end(), [](long double v) { return std::isnan(v); }))
            return NAN;
        return std::isinf(x[largest()]) ? x[largest()] : x[largest()] + log_of_rest();
    }
    long double smooth_target(size_t k) const { return 0.75L * is_label(k) + 0.0625L; }
    long double cross_entropy() const { return -log_share(size_t(label)); }
    long double smooth_cross_entropy() const {
        return -total([&](size_t k) { return smooth_target(k) * log_share(k); });
    }
};

/// Result or derivative k of a row; `unit`: the number in whose last places the bound is counted,
/// if that is larger than the result.
using OfRow = long double (*)(const ExactRow& row, size_t k);
struct RowFunction {
    const char* name;
    Tensor (*f)(const Tensor& x, const Tensor& labels);
    bool gives_one;
    OfRow value, value_unit, slope, slope_unit;
    Bounds bounds;
};
inline std::ostream& operator<<(std::ostream& out, const RowFunction& row) {
    return out << row.name;
}

#define FIRN_ROW(text) \
    [](const ExactRow& r, size_t k) -> long double { return (void)r, (void)k, text; }
#define FIRN_OF_LOGITS(text) \
    [](const Tensor& x, const Tensor& labels) -> Tensor { return (void)labels, text; }
const RowFunction kRowFunctions[] = {
    {"softmax", FIRN_OF_LOGITS(softmax(x)), false, FIRN_ROW(r.share(k)), FIRN_ROW(0),
     FIRN_ROW(r.share(k) * (kWeights[k] - r.mean_share())), FIRN_ROW(2 * r.share(k)),
     Bounds{400, 64, 1, 400, 64, 1}},
    {"log_softmax", FIRN_OF_LOGITS(log_softmax(x)), false, FIRN_ROW(r.log_share(k)), FIRN_ROW(1),
     FIRN_ROW(kWeights[k] - 2.75L * r.share(k)), FIRN_ROW(2.75L), Bounds{3, 4, 1, 3, 3, 1}},
    {"logsumexp", FIRN_OF_LOGITS(logsumexp(x, {.axis = 1})), true, FIRN_ROW(r.log_of_sum()),
     FIRN_ROW(fmaxl(1, fabsl(r.x[r.largest()]))), FIRN_ROW(r.share(k)), FIRN_ROW(0),
     Bounds{3, 4, 1, 400, 64, 1}},
    {"cross_entropy", FIRN_OF_LOGITS(cross_entropy(x, labels, {.reduction = Reduction::None})),
     true, FIRN_ROW(r.cross_entropy()), FIRN_ROW(1), FIRN_ROW(r.share(k) - r.is_label(k)),
     FIRN_ROW(r.is_label(k)), Bounds{3, 4, 1, 400, 64, 1}},
    {"smooth_cross_entropy",
     FIRN_OF_LOGITS(
         cross_entropy(x, labels, {.label_smoothing = 0.25f, .reduction = Reduction::None})),
     true, FIRN_ROW(r.smooth_cross_entropy()), FIRN_ROW(1),
     FIRN_ROW(r.share(k) - r.smooth_target(k)), FIRN_ROW(r.smooth_target(k)),
     Bounds{3, 4, 1, 400, 64, 1}},
};
#undef FIRN_ROW
#undef FIRN_OF_LOGITS

/// The points, four of one scale in a row; then rows with one that is larger than all others, all
/// equal, and infinite or no number. row_corners_expected.py makes the same of f64.
inline std::vector<double> row_points(DType type) {
    const std::vector<double> from = points(type);
    const double most = from[9];  // the largest number
    std::vector<double> out;
    for (size_t begin = 5; begin + 16 <= from.size(); begin += 16)
        for (size_t scale = 0; scale < 4; ++scale)
            for (size_t k = 0; k < 4; ++k) out.push_back(from[begin + scale + 4 * k]);
    const auto add = [&](double a, double b, double c, double d) {
        for (double each : {a, b, c, d}) out.push_back(scalar_float(each, type).f);
    };
    for (double v : {0.0, 1.0, -3.0, 100.0, 30000.0, -30000.0, most / 4, -most / 4}) {
        add(v, v, v, v);
        add(v, 0, 1, -1);
        add(0.5, v, v, -1);
        add(2, v, 0.25, v);
    }
    add(-INFINITY, 1, 2, 0.5);
    add(1, -INFINITY, -INFINITY, -2);
    add(INFINITY, 1, 2, 3);
    add(INFINITY, 1, -INFINITY, INFINITY);
    add(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    add(1, NAN, 2, 3);
    return out;
}
inline std::vector<int> row_labels(size_t rows) {
    std::vector<int> out;
    for (size_t r = 0; r < rows; ++r) out.push_back(int(r * 7 % 4));
    return out;
}
inline std::vector<ExactRow> exact_rows(const std::vector<double>& x) {
    const std::vector<int> labels = row_labels(x.size() / 4);
    std::vector<ExactRow> out;
    for (size_t r = 0; r < labels.size(); ++r)
        out.push_back({{x[4 * r], x[4 * r + 1], x[4 * r + 2], x[4 * r + 3]}, labels[r]});
    return out;
}

/// The largest error of `got`, `each` numbers for every row.
inline Worst worst_of_rows(const std::vector<double>& got, size_t each, const RowFunction& f,
                           OfRow exact, OfRow unit, const std::vector<ExactRow>& rows, DType type) {
    const Format format = format_of(type == f16 ? f32 : type);
    const double normal = std::ldexp(1.0, format.least + format.digits - 1);
    Worst out;
    for (size_t i = 0; i < got.size(); ++i) {
        const ExactRow& row = rows[i / each];
        // If the function is nan its derivative may be anything.
        if (exact == f.slope && std::isnan(row.log_share(0))) continue;
        const long double expected = exact(row, i % each);
        if (fabsl(got[i] - expected) <= 4 * normal) continue;
        const double error = error_in_units(got[i], expected, type, double(unit(row, i % each)));
        if (!(error <= out.error)) out = {error, i, got[i]};
    }
    return out;
}

inline Errors errors_of(const RowFunction& f, DType type) {
    const std::vector<double> points = row_points(type);
    const std::vector<ExactRow> rows = exact_rows(points);
    const Tensor x = reshape(tensor_of(points, type), {Size(rows.size()), 4}),
                 labels = tensor(row_labels(rows.size()));
    const Tensor value = f.f(x, labels);
    const size_t each = f.gives_one ? 1 : 4;
    const Tensor weights = f.gives_one ? ones({1}) : tensor({1.0f, -0.5f, 0.25f, 2.0f});
    const Tensor slope = vjp(value, {x}, expand(weights.as(value.dtype()), value.shape()))[0];
    return {worst_of_rows(elements(reshape(value, {Size(-1)})), each, f, f.value, f.value_unit,
                          rows, type),
            worst_of_rows(elements(reshape(slope, {Size(-1)})), 4, f, f.slope, f.slope_unit, rows,
                          type)};
}

inline void expect_within(const RowFunction& f, DType type) {
    const Errors errors = errors_of(f, type);
    const std::vector<double> x = row_points(type);
    const auto where = [&](const Worst& worst, size_t each) {
        const size_t begin = worst.at / each * 4;
        std::string out = std::string(f.name) + " in " + type.name() + " of";
        for (size_t k = 0; k < 4; ++k) out += " " + std::to_string(x[begin + k]);
        return out + ", " + std::to_string(worst.at % each) + ": " + std::to_string(worst.got);
    };
    EXPECT_LE(errors.value.error, f.bounds.value(type)) << where(errors.value, f.gives_one ? 1 : 4);
    EXPECT_LE(errors.slope.error, f.bounds.slope(type)) << "slope of " << where(errors.slope, 4);
    if (std::getenv("FIRN_CORNERS"))
        std::printf("%-24s %-5s %9.4g  %9.4g\n", f.name, type.name(), errors.value.error,
                    errors.slope.error);
}

}  // namespace corners
}  // namespace firn
