// Random programs against a check: as many as the environment says, and a failure is shown small.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/ir/shrink.h"

namespace firn {

struct RandomSeeds {
    uint64_t first = 0, count = 0;
};

/// `count` seeds from `first` on, where FIRN_RANDOM_COUNT and FIRN_RANDOM_SEED say nothing else.
inline RandomSeeds random_seeds(uint64_t first, uint64_t count) {
    const char *seed = std::getenv("FIRN_RANDOM_SEED"), *many = std::getenv("FIRN_RANDOM_COUNT");
    return {seed ? std::strtoull(seed, nullptr, 10) : first,
            many ? std::strtoull(many, nullptr, 10) : count};
}

/// The program as text that parses back, with its arguments.
inline std::string shown(const RandomProgram& program) {
    std::string out = print(program.graph);
    for (const auto& [symbol, value] : program.env)
        out += symbol + " = " + std::to_string(value) + "\n";
    for (size_t k = 0; k < program.args.size(); ++k) {
        out += "argument " + std::to_string(k) + ":";
        for (int64_t e = 0; e < std::min<int64_t>(64, program.args[k].elements()); ++e)
            out += " " + text(program.args[k].at(e));
        out += "\n";
    }
    return out;
}

/// Fails with the first program that fails, shrunk. Few may be refused.
inline void expect_random(const RandomSeeds& seeds, const RandomGraphOptions& options,
                          const RandomCheck& check) {
    uint64_t refusals = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        NodeTable table;
        const RandomProgram program = RandomGraphs(table, seed, options).make();
        bool refused = false;
        if (failure_of(check, table, program, &refused).empty()) {
            refusals += refused;
            continue;
        }
        const RandomProgram small = Shrinker(table, program, check).run();
        FAIL() << "seed " << seed << " (FIRN_RANDOM_SEED=" << seed
               << " FIRN_RANDOM_COUNT=1): " << failure_of(check, table, small) << "\n"
               << shown(small);
    }
    EXPECT_LE(refusals * 20, seeds.count + 19);
}

/// Equal bits, or both nan.
inline bool same_bits(const Scalar& a, const Scalar& b) {
    return a == b || (a.dtype == b.dtype && std::isnan(a.f) && std::isnan(b.f));
}

/// Returns the first difference of results; empty: none. `same` compares the result with the
/// expected one.
template <class Same>
std::string difference(const std::vector<HostTensor>& got, const std::vector<HostTensor>& expected,
                       const Same& same) {
    for (size_t r = 0; r < expected.size(); ++r) {
        if (got[r].shape != expected[r].shape)
            return "result " + std::to_string(r) + " has another shape";
        for (int64_t k = 0; k < expected[r].elements(); ++k)
            if (!same(got[r].at(k), expected[r].at(k)))
                return "result " + std::to_string(r) + ", element " + std::to_string(k) + ": " +
                       text(got[r].at(k)) + " instead of " + text(expected[r].at(k));
    }
    return "";
}

}  // namespace firn
