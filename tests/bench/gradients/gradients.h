// Objectives beside their gradients.
#pragma once
#include <firn/firn.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace firn::bench {

/// A compiled function with the arguments that it is timed with.
struct Timed {
    Function function;
    std::vector<Tensor> args;
    std::vector<Tensor> run() const {
        return function.call(std::vector<Arg>(args.begin(), args.end()));
    }
};

struct GradientContest {
    Timed objective, gradient;
    double most = 0;          // times the objective that the gradient may take; 0: not stated
    int iterations = 1;       // of the loop that both spend their time in
    LeastWork least;          // of the gradient, with the objective; operations 0: not counted
    double tolerance = 1e-3;  // of the gradient beside PyTorch's, see relative_difference()
};
struct GradientCase {
    std::string name;
    std::function<GradientContest()> make;
};

using Objective = std::function<Tensor(const std::vector<Tensor>& x)>;
/// f of all arguments, and its gradients by the first `by` of them.
GradientContest by_first(const Objective& f, const std::vector<Tensor>& args, size_t by,
                         double most);

/// Every case of the files below.
std::vector<GradientCase> gradient_cases();
void add_simulations(std::vector<GradientCase>& cases);
void add_adbench(std::vector<GradientCase>& cases);
void add_training(std::vector<GradientCase>& cases);

/// PyTorch's milliseconds for the same arguments; 0 where there are none.
struct TorchGradient {
    double value = 0, gradient = 0;
    double peak_bytes = 0;  // memory that the gradient allocates, its results included
    double difference = 0;  // of its gradients from `results`, the largest of all
};
TorchGradient torch_gradient(const std::string& name, const std::vector<Tensor>& args,
                             const std::vector<Tensor>& results);

/// Compares as many random functions, their gradients and the gradients of these in f64 with
/// PyTorch's: prints differences, and returns 0 if they agree.
int compare_expressions(int count, uint64_t first_seed);

}  // namespace firn::bench
