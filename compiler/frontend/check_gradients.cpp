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
using Function = Callback<Tensor(const std::vector<Tensor>&)>;

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

}  // namespace

GradientCheck check_gradients(const Function& f, const std::vector<Tensor>& xs,
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
    GradientCheck out;
    const double step = options.step * largest;
    for (const Values& direction : directions_at(point, options.directions, random)) {
        const double up = value(tensors_at(moved(point, direction, step))).item<double>(line),
                     down = value(tensors_at(moved(point, direction, -step))).item<double>(line);
        const double difference = (up - down) / (2 * step);
        double derivative = 0;
        std::string where;
        for (size_t k = 0; k < direction.size(); ++k)
            for (size_t i = 0; i < direction[k].size(); ++i) {
                if (direction[k][i] == 0) continue;
                derivative += direction[k][i] * gradients[k][i];
                where = "tensor " + std::to_string(k + 1) + ", element " + std::to_string(i);
            }
        const double off = std::fabs(derivative - difference) /
                           std::max({1.0, std::fabs(derivative), std::fabs(difference)});
        const bool good = off <= options.tolerance;  // nan is not
        if (good && off <= out.worst) continue;
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
