// The firn_changes program: the programs whose kernels change with another value of a constant of
// compiler/target/cost_table.h. Only tests/bench/sweep builds it, with a table of variables.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "compiler/target/cost_table.h"
#include "tests/bench/snapshot/texts.h"

namespace {

using namespace firn;

constexpr const char* kUsage = R"(usage: firn_changes CLASS CASE [NAME=VALUE...]
       firn_changes CLASS FIRST END [NAME=VALUE...]
       firn_changes --list

Compiles a case of firn_bench or of firn_bench_gradients (--list names them), or the random programs of the seeds FIRST to
END - 1, for the reference profile of a class of device (cpu or gpu). Then compiles each again with another value of a constant
of the compiler, for every value that is given; without any, for half and twice of each constant that the first compilation
read. Prints CLASS, CASE, NAME and `read` for each constant that the first compilation read, and CLASS, CASE, NAME and VALUE
for each value that changes a kernel, with `fails` behind that if there is an error then.
)";

struct Change {
    costs::Swept* constant;
    double value;
};

costs::Swept* find_constant(const std::string& name) {
    for (costs::Swept& one : costs::all_swept())
        if (name == one.name) return &one;
    throw UserError("compiler/target/cost_table.h has no constant '" + name + "'");
}

/// Half and twice of each constant that was read. Whole numbers stay whole.
std::vector<Change> changes_of_read() {
    std::vector<Change> out;
    for (costs::Swept& one : costs::all_swept()) {
        if (!one.read) continue;
        const double half = one.as_it_is / 2;
        out.push_back({&one, one.whole ? std::floor(half) : half});
        out.push_back({&one, one.as_it_is * 2});
    }
    return out;
}

void print_changes(const std::string& device, const RecordedProgram& program,
                   const DeviceProfile& profile, const std::vector<Change>& given) {
    for (costs::Swept& one : costs::all_swept()) one.read = false;
    const std::string before = text_of(program, profile, false).code;
    const auto fails = [](const std::string& code) {
        return code.find("==== error: ") != std::string::npos;
    };
    const bool failed = fails(before);
    for (const costs::Swept& one : costs::all_swept())
        if (one.read)
            std::printf("%s %s %s read\n", device.c_str(), program.name.c_str(), one.name);
    for (const auto& [constant, value] : given.empty() ? changes_of_read() : given) {
        constant->value = value;
        std::fprintf(stderr, "%s=%.15g\n", constant->name, value);
        const std::string after = text_of(program, profile, false).code;
        constant->value = constant->as_it_is;
        if (after == before) continue;
        std::printf("%s %s %s %.15g%s\n", device.c_str(), program.name.c_str(), constant->name,
                    value, fails(after) && !failed ? " fails" : "");
    }
    if (text_of(program, profile, false).code != before)
        throw InternalError("the kernels of " + program.name +
                            " are others when it is compiled again");
}

int run(const std::vector<std::string>& words) {
    if (words.size() == 1 && words[0] == "--list") {
        for (const RecordedProgram& program : bench_programs())
            std::printf("%s\n", program.name.c_str());
        return 0;
    }
    std::vector<std::string> names;
    std::vector<Change> given;
    for (const std::string& word : words) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos)
            names.push_back(word);
        else
            given.push_back({find_constant(word.substr(0, equals)),
                             std::strtod(word.c_str() + equals + 1, nullptr)});
    }
    if (names.size() < 2 || names.size() > 3 || (names[0] != "cpu" && names[0] != "gpu")) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    const DeviceProfile profile = names[0] == "cpu" ? cpu_profile() : gpu_profile();
    if (names.size() == 2) {
        for (const RecordedProgram& program : bench_programs())
            if (program.name == names[1]) print_changes(names[0], program, profile, given);
        return 0;
    }
    const uint64_t end = std::strtoull(names[2].c_str(), nullptr, 10);
    for (uint64_t seed = std::strtoull(names[1].c_str(), nullptr, 10); seed < end; ++seed)
        if (const auto program = random_program(seed))
            print_changes(names[0], *program, profile, given);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_changes: %s\n", error.what());
        return 1;
    }
}
