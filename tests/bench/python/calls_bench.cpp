// The C++ half of against_cpp.py: measures what Python asks for on stdin, a line each, so that both
// take turns. `call SIZE COUNT`: the median seconds of COUNT calls of a compiled function; `record
// COUNT`: seconds of recording so many operations in a function; `lazy COUNT`: of recording them
// outside of one.
#include <firn/firn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace firn;

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double median(std::vector<double> of) {
    std::nth_element(of.begin(), of.begin() + static_cast<ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
}

/// Three tensors and a scalar, as against_cpp.py has them.
Compiled<Tensor(Tensor, Tensor, Tensor, Tensor)> called_function() {
    return compile([](Tensor a, Tensor b, Tensor c, Tensor s) { return a * b + s * c; },
                   {f32("n", "m"), f32("n", "m"), f32("n", "m"), f32()});
}

/// The median of `count` calls; each result replaces the one before it.
double call_seconds(const Compiled<Tensor(Tensor, Tensor, Tensor, Tensor)>& function, int64_t size,
                    int count) {
    Tensor a = ones({size, size}), b = a * 2, c = a * 3;
    realize(a, b, c);
    Tensor out;
    for (int k = 0; k < 100; ++k) out = function(a, b, c, 0.5f);
    function.finish_compiling();
    std::vector<double> taken;
    for (int k = 0; k < count; ++k) {
        const double begin = now();
        out = function(a, b, c, 0.5f);
        taken.push_back(now() - begin);
    }
    return median(std::move(taken));
}

Tensor operations(Tensor x, const Tensor& y, int count) {
    for (int k = 0; k < count; k += 2) x = x * y + 1.0f;
    return x;
}

double record_seconds(int count) {
    const double begin = now();
    auto made =
        compile([&](Tensor x, Tensor y) { return operations(x, y, count); }, {f32("n"), f32("n")});
    return now() - begin;
}

double lazy_seconds(int count) {
    Tensor x = ones({16}), y = x * 2;
    realize(x, y);
    const double begin = now();
    const Tensor out = operations(x, y, count);
    return now() - begin;
}

}  // namespace

int main() {
    const auto function = called_function();
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        double seconds = 0;
        if (what == "call") {
            int64_t size = 0;
            int count = 0;
            words >> size >> count;
            seconds = call_seconds(function, size, count);
        } else {
            int count = 0;
            words >> count;
            seconds = what == "record" ? record_seconds(count) : lazy_seconds(count);
        }
        std::printf("%.9f\n", seconds);
        std::fflush(stdout);
    }
}
