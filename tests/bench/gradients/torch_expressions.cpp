// Random functions beside PyTorch: each is recorded in f64 and written down as Python at once.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/bench/gradients/gradients.h"

namespace firn::bench {
namespace {

constexpr const char* kScript = FIRN_SOURCE_DIR "/tests/bench/gradients/torch_expressions.py";
constexpr int kRows = 3, kColumns = 4;

/// A value of [rows, columns], and its name in Python.
struct Named {
    Tensor value;
    std::string name;
};

class RandomFunction {
  public:
    RandomFunction(uint64_t seed, const std::vector<Tensor>& x) : random_(seed) {
        for (size_t k = 0; k < x.size(); ++k) values_.push_back({x[k], "x" + std::to_string(k)});
    }

    /// A scalar that depends on some of the last values.
    Tensor run() {
        const int steps = 3 + below(9);
        for (int k = 0; k < steps; ++k) step();
        const Named &a = values_.back(), &b = some();
        python_ << "y = (" << a.name << " * torch.cos(" << b.name << ")).sum()\n";
        return sum(a.value * cos(b.value));
    }
    std::string python() const { return python_.str(); }

  private:
    int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
    const Named& some() { return values_[static_cast<size_t>(below(int(values_.size())))]; }

    void add(const Tensor& value, const std::string& python) {
        const std::string name = "v" + std::to_string(values_.size());
        python_ << name << " = " << python << "\n";
        values_.push_back({value, name});
    }

    void step() {
        const Named a = some(), b = some();
        const Tensor &x = a.value, &y = b.value;
        const std::string &p = a.name, &q = b.name;
        switch (below(6)) {
            case 0: return smooth(x, p);
            case 1: return of_two(x, p, y, q);
            case 2: return reduced(x, p);
            case 3: return moved(x, p, y, q);
            case 4: return products_and_reads(x, p, y, q);
            default: return loops(x, p, y, q);
        }
    }

    void smooth(const Tensor& x, const std::string& p) {
        switch (below(11)) {
            case 0: return add(sin(x), "torch.sin(" + p + ")");
            case 1: return add(exp(0.3 * x), "torch.exp(0.3 * " + p + ")");
            case 2: return add(tanh(x), "torch.tanh(" + p + ")");
            case 3: return add(sigmoid(x), "torch.sigmoid(" + p + ")");
            case 4: return add(sqrt(x * x + 1.0), "torch.sqrt(" + p + " * " + p + " + 1)");
            case 5: return add(log(x * x + 0.5), "torch.log(" + p + " * " + p + " + 0.5)");
            case 6: return add(abs(x), "torch.abs(" + p + ")");
            case 7: return add(max(x, 0.1), "torch.clamp(" + p + ", min=0.1)");
            case 8: return add(rcp(x * x + 1.0), "1 / (" + p + " * " + p + " + 1)");
            case 9: return add(atan(x), "torch.atan(" + p + ")");
            default: return add(erf(x), "torch.erf(" + p + ")");
        }
    }

    void of_two(const Tensor& x, const std::string& p, const Tensor& y, const std::string& q) {
        switch (below(8)) {
            case 0: return add(x + y, p + " + " + q);
            case 1: return add(x - y, p + " - " + q);
            case 2: return add(x * y, p + " * " + q);
            case 3: return add(x / (y * y + 1.0), p + " / (" + q + " * " + q + " + 1)");
            case 4: return add(max(x, y + 0.01), "torch.maximum(" + p + ", " + q + " + 0.01)");
            case 5: return add(min(x, y - 0.01), "torch.minimum(" + p + ", " + q + " - 0.01)");
            case 6:
                return add(pow(abs(x) + 0.5, 0.3 * y),
                           "torch.pow(torch.abs(" + p + ") + 0.5, 0.3 * " + q + ")");
            default:
                return add(
                    select(x > 0.2, x * y, sin(y)),
                    "torch.where(" + p + " > 0.2, " + p + " * " + q + ", torch.sin(" + q + "))");
        }
    }

    void reduced(const Tensor& x, const std::string& p) {
        const int axis = below(2);
        const std::string along = ", " + std::to_string(axis);
        switch (below(6)) {
            case 0:
                return add(x + sum(x, {.axis = axis, .keep_dims = true}),
                           p + " + " + p + ".sum(" + std::to_string(axis) + ", keepdim=True)");
            case 1:
                return add(x * mean(x, {.axis = axis, .keep_dims = true}),
                           p + " * " + p + ".mean(" + std::to_string(axis) + ", keepdim=True)");
            case 2:
                return add(x - max(x, {.axis = axis, .keep_dims = true}),
                           p + " - " + p + ".amax(" + std::to_string(axis) + ", keepdim=True)");
            case 3: return add(softmax(x, {.axis = axis}), "torch.softmax(" + p + along + ")");
            case 4: return add(cumsum(x, {.axis = axis}), "torch.cumsum(" + p + along + ")");
            default:
                return add(x - logsumexp(x, {.axis = axis, .keep_dims = true}),
                           p + " - torch.logsumexp(" + p + along + ", keepdim=True)");
        }
    }

    void moved(const Tensor& x, const std::string& p, const Tensor& y, const std::string& q) {
        switch (below(5)) {
            case 0: return add(roll(x, 1, {.axis = 1}), "torch.roll(" + p + ", 1, 1)");
            case 1: return add(flip(x, {.axis = {0}}), "torch.flip(" + p + ", [0])");
            case 2:
                return add(reshape(transpose(x), {kRows, kColumns}),
                           p + ".t().reshape(" + std::to_string(kRows) + ", " +
                               std::to_string(kColumns) + ")");
            case 3:
                return add(
                    concat({slice(x, {.axis = 1, .end = 2}), slice(y, {.axis = 1, .begin = 2})},
                           {.axis = 1}),
                    "torch.cat([" + p + "[:, :2], " + q + "[:, 2:]], 1)");
            default: return add(sort(x, {.axis = 1}), "torch.sort(" + p + ", 1).values");
        }
    }

    void products_and_reads(const Tensor& x, const std::string& p, const Tensor& y,
                            const std::string& q) {
        switch (below(3)) {
            case 0:
                return add(matmul(matmul(x, transpose(y)), x) * 0.1,
                           p + " @ " + q + ".t() @ " + p + " * 0.1");
            case 1: {
                const Tensor rows = tensor({2, 0, 2});
                return add(take(x, rows, {.axis = 0}), p + "[torch.tensor([2, 0, 2])]");
            }
            default: {
                Tensor out = x;
                scatter_add(out(tensor({0, 2, 0})), y);
                return add(out, p + ".index_add(0, torch.tensor([0, 2, 0]), " + q + ")");
            }
        }
    }

    void loops(const Tensor& x, const std::string& p, const Tensor& y, const std::string& q) {
        Tensor at = x;
        for (Tensor k : loop(3)) at = 0.9 * at + sin(at * y) * (cast<double>(k) * 0.5 + 0.2);
        const std::string name = "l" + std::to_string(values_.size());
        python_ << name << " = " << p << "\nfor k in range(3): " << name << " = 0.9 * " << name
                << " + torch.sin(" << name << " * " << q << ") * (k * 0.5 + 0.2)\n";
        add(at, name);
    }

    std::mt19937_64 random_;
    std::vector<Named> values_;
    std::ostringstream python_;
};

void write_numbers(std::ostream& out, const char* what, const Tensor& x) {
    out << what;
    char text[40];
    for (double value : x.to_vector<double>()) {
        std::snprintf(text, sizeof text, " %.17g", value);
        out << text;
    }
    out << "\n";
}

}  // namespace

int compare_expressions(int count, uint64_t first_seed) {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("firn_expressions_" + std::to_string(getpid()) + ".txt"))
                                 .string();
    {
        SessionScope scope(Session::oracle());
        std::ofstream out(path);
        for (int k = 0; k < count; ++k) {
            const uint64_t seed = first_seed + static_cast<uint64_t>(k);
            std::vector<Tensor> x;
            for (uint32_t arg = 0; arg < 2; ++arg)
                x.push_back(cast<double>(tensor(numbers(kRows * kColumns, -1.3f, 1.6f,
                                                        static_cast<uint32_t>(seed) * 2 + arg + 1),
                                                {kRows, kColumns})));
            RandomFunction function(seed, x);
            const Tensor y = function.run();
            const std::vector<Tensor> first = grad(y, x, {.allow_unused = true});
            const Tensor again = sum(first[0] * sin(first[1])) + sum(first[1] * first[1]);
            const std::vector<Tensor> second = grad(again, x, {.allow_unused = true});
            out << "function " << seed << "\n" << function.python() << "end\n";
            for (const Tensor& each : x) write_numbers(out, "x", each);
            write_numbers(out, "y", y);
            for (const Tensor& each : first) write_numbers(out, "first", each);
            for (const Tensor& each : second) write_numbers(out, "second", each);
        }
    }
    std::fflush(stdout);
    const int status =
        std::system((std::string("python3 '") + kScript + "' '" + path + "'").c_str());
    std::filesystem::remove(path);
    return status;
}

}  // namespace firn::bench
