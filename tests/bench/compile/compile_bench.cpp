// The firn_bench_compile program: what compiling costs, by kind and size of the program and by
// stage.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/stage_timer.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"

namespace {

using namespace firn;
using Tensors = std::vector<Tensor>;

constexpr const char* kUsage =
    R"(usage: firn_bench_compile [--only KIND] [--most NODES] [--rounds N] [--spirv]

Milliseconds of one core from recording a program to the GLSL of its kernels, without the shader
compiler: medians. `growth` is the time per node over that of the size before, so 1.00 is linear.

  --only KIND   elementwise, wide, mixed, control or stepped
  --most NODES  no larger program (20000)
  --rounds N    as many rounds; 0, the default: fewer for larger programs
  --spirv       the shader compiler too, on all cores, without its cache
)";

/// Sizes by the nodes of the recorded graph, before unused nodes are removed.
constexpr int kSizes[] = {100, 1000, 5000, 20000};

class Writer {
  public:
    explicit Writer(int nodes) : nodes_(nodes) {}

    /// Sums, products and functions of recent values, one after the other.
    Tensors elementwise(const Tensors& args) {
        Tensors recent = args;
        while (grows()) recent[any(recent)] = one(recent);
        return recent;
    }

    /// Stencils, movement and reductions between elementwise steps.
    Tensors mixed(const Tensors& args) {
        Tensors recent = args;
        for (int turn = 0; grows(); ++turn) {
            Tensor& u = recent[any(recent)];
            switch (turn % 5) {
                case 0: {
                    auto [i, j] = indices<2>(u.shape());
                    u = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
                    break;
                }
                case 1: u = u - sum(u * u, {.axis = 1, .keep_dims = true}); break;
                case 2: u = transpose(transpose(u) * 0.5f); break;
                case 3: u = exp(u - max(u, {.axis = 1, .keep_dims = true})); break;
                default: u = u + sum(recent[any(recent)], {.axis = 0, .keep_dims = true}); break;
            }
            for (int k = 0; k < 15; ++k) recent[any(recent)] = one(recent);
        }
        return recent;
    }

    /// Loops and branches around elementwise steps.
    Tensors control(const Tensors& args) {
        Tensors recent = args;
        for (int turn = 0; grows(); ++turn) {
            const size_t at = any(recent), other = any(recent);
            if (turn % 2 == 0) {
                for (Tensor i : loop(8)) {
                    Tensor& x = recent[at];
                    for (int k = 0; k < 8; ++k) x = x * 0.5f + sin(recent[other]) * cast(i, f32);
                    if_(x > 10.0f, [&] { break_(); });
                }
            } else {
                if_(
                    sum(recent[at]) > 0.0f,
                    [&] {
                        for (int k = 0; k < 8; ++k) recent[other] = one(recent);
                    },
                    [&] { recent[other] = recent[other] + 1.0f; });
            }
            for (int k = 0; k < 4; ++k) recent[any(recent)] = one(recent);
        }
        return recent;
    }

    /// One loop of kernels around it all, as simulations have it.
    Tensors stepped(const Tensors& args) {
        Tensors recent = args;
        for (Tensor step : loop(100)) {
            Tensors inside;
            for (const Tensor& each : recent) inside.push_back(each * cast(step, f32));
            inside = mixed(inside);
            for (size_t k = 0; k < recent.size(); ++k) recent[k] = inside[k];
        }
        return recent;
    }

    /// Many small independent updates, each with results of its own.
    Tensors wide(const Tensors& args) {
        Tensors out;
        while (grows()) {
            Tensors recent = args;
            recent[0] = recent[0] + static_cast<float>(out.size());
            for (int k = 0; k < 24; ++k) recent[static_cast<size_t>(k) % 4] = one(recent);
            out.insert(out.end(), recent.begin(), recent.end());
        }
        return out;
    }

  private:
    bool grows() const { return current_session().node_count() < static_cast<size_t>(nodes_); }

    size_t any(const Tensors& list) { return random_() % list.size(); }

    Tensor one(const Tensors& recent) {
        // Two of the same would fold: x > x is false.
        const size_t at = any(recent);
        const Tensor &a = recent[at],
                     &b = recent[(at + 1 + random_() % (recent.size() - 1)) % recent.size()];
        const float literal = 0.25f + static_cast<float>(random_() % 64) / 64;
        switch (random_() % 6) {
            case 0: return a + b * literal;
            case 1: return a - b;
            case 2: return a * literal;
            case 3: return max(a, b * literal);
            case 4: return sin(a);
            default: return where(a > b, a, literal);
        }
    }

    int nodes_;
    std::mt19937 random_{1};
};

struct Kind {
    const char* name;
    Tensors (Writer::*write)(const Tensors&);
};
constexpr Kind kKinds[] = {{"elementwise", &Writer::elementwise},
                           {"wide", &Writer::wide},
                           {"mixed", &Writer::mixed},
                           {"control", &Writer::control},
                           {"stepped", &Writer::stepped}};

struct Row {
    size_t nodes = 0, kernels = 0;
    double record = 0;
    CompileTimes times;
    double to_glsl() const {
        return record + times.passes + times.schedule + times.lower + times.map + times.emit +
               times.plan;
    }
};

Row measure(const Kind& kind, int nodes, Emission emission) {
    SessionScope scope(Session::interpreter());
    const std::vector<ArgSpec> specs(4, f32(512, 512));
    Row row;
    const double start = thread_milliseconds();
    const auto function =
        compile([&](const Tensors& args) { return (Writer(nodes).*kind.write)(args); }, specs);
    row.record = thread_milliseconds() - start;
    row.nodes = topological(function.graph().results).size();
    CompileOptions options;
    options.emission = emission;
    options.times = &row.times;
    row.kernels =
        compile_graph(current_session().state()->nodes, function.graph(), cpu_profile(), options)
            ->kernels.size();
    return row;
}

struct Options {
    std::string only;
    int most = kSizes[3], rounds = 0;
    Emission emission = Emission::Text;
    bool help = false;
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--help" || name == "-h")
            options.help = true;
        else if (name == "--spirv")
            options.emission = Emission::Binary;
        else if (name != "--only" && name != "--most" && name != "--rounds")
            throw UserError("there is no option '" + name + "'; see --help");
        else if (++i == argc)
            throw UserError(name + " needs a value; see --help");
        else if (name == "--only")
            options.only = argv[i];
        else
            (name == "--most" ? options.most : options.rounds) = std::atoi(argv[i]);
    }
    return options;
}

void report(const Kind& kind, const Options& options) {
    double before = 0;
    for (const int size : kSizes) {
        if (size > options.most) break;
        std::vector<Row> rows(static_cast<size_t>(
            options.rounds > 0 ? options.rounds : std::clamp(5000 / size, 1, 9)));
        for (Row& row : rows) row = measure(kind, size, options.emission);
        std::nth_element(rows.begin(), rows.begin() + static_cast<long>(rows.size() / 2),
                         rows.end(),
                         [](const Row& a, const Row& b) { return a.to_glsl() < b.to_glsl(); });
        const Row& row = rows[rows.size() / 2];
        const double each = row.to_glsl() / static_cast<double>(row.nodes);
        std::printf("%-12s %6zu %8zu %8.1f %8.1f %9.1f %8.1f %8.1f %8.1f %8.1f %9.1f %8.2f",
                    kind.name, row.nodes, row.kernels, row.record, row.times.passes,
                    row.times.schedule, row.times.lower, row.times.map, row.times.emit,
                    row.times.plan, row.to_glsl(), before > 0 ? each / before : 1);
        if (options.emission == Emission::Binary) std::printf(" %9.1f", row.times.build);
        std::printf("\n");
        std::fflush(stdout);
        before = each;
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        if (options.help) return std::fputs(kUsage, stdout) < 0;
        std::printf("%-12s %6s %8s %8s %8s %9s %8s %8s %8s %8s %9s %8s%s\n", "ms", "nodes",
                    "kernels", "record", "passes", "schedule", "lower", "map", "emit", "plan",
                    "to GLSL", "growth", options.emission == Emission::Binary ? "     SPIR-V" : "");
        bool found = false;
        for (const Kind& kind : kKinds) {
            if (!options.only.empty() && options.only != kind.name) continue;
            found = true;
            report(kind, options);
        }
        if (!found) throw UserError("there is no kind '" + options.only + "'; see --help");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_bench_compile: %s\n", error.what());
        return 1;
    }
    return 0;
}
