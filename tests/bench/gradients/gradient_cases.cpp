// The list of all gradient cases.
#include "tests/bench/gradients/gradients.h"

namespace firn::bench {

GradientContest by_first(const Objective& f, const std::vector<Tensor>& args, size_t by,
                         double most) {
    const std::vector<ArgSpec> specs = specs_of(std::vector<Arg>(args.begin(), args.end()));
    const auto objective = compile([&](const std::vector<Tensor>& x) { return f(x); }, specs);
    const auto gradient = compile(
        [&](const std::vector<Tensor>& x) {
            return grad(f(x), std::vector<Tensor>(x.begin(), x.begin() + static_cast<long>(by)));
        },
        specs);
    return {{objective, args}, {gradient, args}, most};
}

std::vector<GradientCase> gradient_cases() {
    std::vector<GradientCase> cases;
    add_simulations(cases);
    add_adbench(cases);
    add_training(cases);
    return cases;
}

}  // namespace firn::bench
