// Objectives beside their gradients.
#pragma once
#include <firn/firn.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

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
    double most = 0;     // times the objective that the gradient may take; 0: nobody says
    int iterations = 1;  // of the loop that both spend their time in
};
struct GradientCase {
    std::string name;
    std::function<GradientContest()> make;
};

/// The cases of each file.
void add_simulations(std::vector<GradientCase>& cases);

}  // namespace firn::bench
