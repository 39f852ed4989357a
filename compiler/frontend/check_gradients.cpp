// Gradients against differences.
#include "compiler/frontend/check_gradients.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/session.h"
#include "compiler/ir/graph.h"

namespace firn {
namespace {

using Values = std::vector<std::vector<double>>;  // by tensor
using CheckedFunction = Callback<Tensor(const std::vector<Tensor>&)>;

struct Point {
    std::vector<Shape> shapes;
    Values values;
};

std::vector<Tensor> tensors_at(const Point& point) {
    std::vector<Tensor> out;
    for (size_t k = 0; k < point.values.size(); ++k)
        out.push_back(tensor(point.values[k], point.shapes[k]).as(f64));
    return out;
}

Tensor weighted(const Tensor& y, std::vector<double>& weights, std::mt19937_64& random) {
    const size_t count = static_cast<size_t>(element_count(y.node()->shape).constant());
    std::uniform_real_distribution<double> some(0.5, 1.5);
    while (weights.size() < count) weights.push_back(some(random));
    return sum(y * tensor(weights, y.node()->shape).as(f64));
}

/// Directions in which all elements are moved: along each where they are few.
std::vector<Values> directions_at(const Point& point, int most, std::mt19937_64& random) {
    size_t count = 0;
    for (const auto& x : point.values) count += x.size();
    const Values still = [&] {
        Values out;
        for (const auto& x : point.values) out.emplace_back(x.size(), 0.0);
        return out;
    }();
    std::vector<Values> out;
    if (count <= static_cast<size_t>(most)) {
        for (size_t k = 0; k < point.values.size(); ++k)
            for (size_t i = 0; i < point.values[k].size(); ++i)
                out.push_back(still), out.back()[k][i] = 1;
        return out;
    }
    std::normal_distribution<double> any;
    for (int n = 0; n < most; ++n) {
        out.push_back(still);
        for (auto& x : out.back())
            for (double& element : x) element = any(random);
    }
    return out;
}

Point moved(Point point, const Values& direction, double by) {
    for (size_t k = 0; k < point.values.size(); ++k)
        for (size_t i = 0; i < point.values[k].size(); ++i)
            point.values[k][i] += by * direction[k][i];
    return point;
}

double off_by(double a, double b) {
    return std::fabs(a - b) / std::max({1.0, std::fabs(a), std::fabs(b)});
}

/// Forward mode in one random direction against the gradients: where there is no derivative, too,
/// they take the same.
GradientCheck forward_against(const Tensor& y, const std::vector<Tensor>& at,
                              const Values& gradients, const CheckGradientsOptions& options,
                              std::mt19937_64& random, SourceLine line) {
    std::normal_distribution<double> any;
    std::vector<Tensor> tangents;
    double derivative = 0, size = 0;
    for (size_t k = 0; k < at.size(); ++k) {
        std::vector<double> direction;
        for (double gradient : gradients[k]) {
            direction.push_back(any(random));
            derivative += gradient * direction.back();
            size += std::fabs(gradient * direction.back());
        }
        tangents.push_back(tensor(direction, at[k].node()->shape).as(f64));
    }
    const double forward = jvp(y, at, tangents, {.allow_unused = true}, line).item<double>(line);
    GradientCheck out;
    out.worst = std::fabs(forward - derivative) / std::max(1.0, size);
    out.agree = out.worst <= options.tolerance;
    out.where = "in a random direction: " + std::to_string(derivative) + " by grad, " +
                std::to_string(forward) + " by jvp";
    return out;
}

/// Values of f along a line: at 0, and to both sides by a step and by half of it.
struct Line {
    double step, at, up, down, up_half, down_half;
    double central() const { return (up - down) / (2 * step); }
    double central_half() const { return (up_half - down_half) / step; }
    /// Returns how far the slopes to both sides are apart: for a smooth function half as far for
    /// half the step.
    double gap() const { return std::fabs(up - 2 * at + down) / step; }
    double gap_half() const { return std::fabs(up_half - 2 * at + down_half) * 2 / step; }
};

/// Returns whether the differences agree with one another, so that they give the derivative.
bool is_smooth(const Line& line, double tolerance) {
    const double noise = 1e-13 * std::max(1.0, std::fabs(line.at)) / line.step;
    return off_by(line.central(), line.central_half()) <= tolerance / 2 &&
           line.gap_half() <= 0.75 * line.gap() + noise + tolerance / 8;
}

constexpr int kSteps = 3;  // that are tried, each an eighth of the one before

}  // namespace

GradientCheck check_gradients(const CheckedFunction& f, const std::vector<Tensor>& xs,
                              const CheckGradientsOptions& options, SourceLine line) {
    Point point;
    double largest = 1;
    for (const Tensor& x : xs) {
        point.values.push_back(x.to_vector<double>(line));
        point.shapes.push_back(x.node(line)->shape);
        for (double element : point.values.back()) largest = std::max(largest, std::fabs(element));
    }
    const SessionScope scope(Session::oracle());
    std::mt19937_64 random(options.seed);
    std::vector<double> weights;
    const auto value = [&](const std::vector<Tensor>& at) {
        return weighted(f(at), weights, random);
    };
    const std::vector<Tensor> here = tensors_at(point);
    Values gradients;
    for (const Tensor& each : grad(value(here), here, {.allow_unused = true}, line))
        gradients.push_back(each.to_vector<double>(line));
    GradientCheck out = forward_against(value(here), here, gradients, options, random, line);
    const double step = options.step * largest;
    const auto value_at = [&](const Values& direction, double by) {
        return value(tensors_at(moved(point, direction, by))).item<double>(line);
    };
    for (const Values& direction : directions_at(point, options.directions, random)) {
        ++out.directions;
        double derivative = 0;
        std::string where;
        for (size_t k = 0; k < direction.size(); ++k)
            for (size_t i = 0; i < direction[k].size(); ++i) {
                if (direction[k][i] == 0) continue;
                derivative += direction[k][i] * gradients[k][i];
                where = "tensor " + std::to_string(k + 1) + ", element " + std::to_string(i);
            }
        double difference = (value_at(direction, step) - value_at(direction, -step)) / (2 * step);
        double off = off_by(derivative, difference);
        bool good = off <= options.tolerance;  // nan is not
        bool smooth = good || !std::isfinite(derivative);
        double by = step;
        for (int tries = 0; !good && !smooth && tries < kSteps; ++tries, by /= 8) {
            const Line along{by,
                             value_at(direction, 0),
                             value_at(direction, by),
                             value_at(direction, -by),
                             value_at(direction, by / 2),
                             value_at(direction, -by / 2)};
            smooth = is_smooth(along, options.tolerance);
            difference = along.central_half();
            off = off_by(derivative, difference);
            good = smooth && off <= options.tolerance;
        }
        if (!smooth) ++out.not_smooth;
        if (!smooth || (good && off <= out.worst)) continue;
        if (out.agree || !good) {
            out.worst = off;
            out.where = where + ": " + std::to_string(derivative) + " by grad, " +
                        std::to_string(difference) + " by differences";
        }
        out.agree = out.agree && good;
    }
    return out;
}

}  // namespace firn
