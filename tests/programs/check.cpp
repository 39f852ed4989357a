// Random programs against the reference.
#include "tests/programs/check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "compiler/base/error.h"
#include "tests/ir/random_check.h"
#include "tests/programs/generate.h"
#include "tests/programs/isolate.h"
#include "tests/programs/reference.h"
#include "tests/programs/shrink.h"

namespace firn::programs {
namespace {

/// So long may one program take.
constexpr int kSeconds = 30;
/// Candidates that one process tries.
constexpr size_t kTogether = 24;
/// So long may shrinking take, and one of its candidates.
constexpr auto kShrinking = std::chrono::seconds(40);
constexpr int kCandidateSeconds = 8;

std::string shape_text(const Shape& shape) {
    std::string out = "[";
    for (size_t k = 0; k < shape.size(); ++k) out += (k ? ", " : "") + std::to_string(shape[k]);
    return out + "]";
}

std::string difference(const std::vector<Array>& got, const std::vector<Array>& expected,
                       const std::string& what) {
    for (size_t r = 0; r < expected.size(); ++r) {
        const Array &g = got.at(r), &e = expected[r];
        const std::string where = what + std::to_string(r);
        if (g.dtype != e.dtype)
            return "differs: " + where + " is " + g.dtype.name() + " instead of " + e.dtype.name();
        if (g.shape != e.shape)
            return "differs: " + where + " is " + shape_text(g.shape) + " instead of " +
                   shape_text(e.shape);
        for (size_t k = 0; k < e.elements.size(); ++k)
            if (!equal(g.elements[k], e.elements[k], e.dtype))
                return "differs: " + where + ", element " + std::to_string(k) + ": " +
                       text(g.elements[k], e.dtype) + " instead of " + text(e.elements[k], e.dtype);
    }
    return "";
}

/// A program that does not end is an error that says so.
std::string refused(const Program& program, Way way, const Session& session) {
    Call call{.sizes = program.sizes, .arguments = argument_values(program, program.sizes)};
    call.fed.assign(call.arguments.size(), -1);
    call.given.resize(call.arguments.size());
    try {
        record(program, way, {call}, session);
    } catch (const UserError& error) {
        if (std::string(error.what()).starts_with("while_")) return "";
        throw;
    }
    return "differs: a while_ that never ends is no error";
}

std::string differences(const std::vector<Call>& calls, const std::vector<Outcome>& got) {
    for (size_t k = 0; k < calls.size(); ++k) {
        const std::string call = "call " + std::to_string(k + 1) + ", ";
        std::string found = difference(got[k].outputs, calls[k].outputs, call + "output ");
        std::vector<Array> kept;
        for (size_t a = 0; a < calls[k].arguments.size(); ++a)
            if (!calls[k].given[a]) kept.push_back(calls[k].arguments[a]);
        if (found.empty()) found = difference(got[k].kept, kept, call + "kept argument ");
        if (!found.empty()) return found;
    }
    return "";
}

std::string compared(const Program& program, Way way, const Session& session) {
    std::vector<Call> calls;
    try {
        calls = calls_of(program, way);
    } catch (const Endless&) {
        return program.endless ? refused(program, way, session) : "";
    }
    // Programs that do not know the sizes, and those that do.
    if (way == Way::Symbolic) {
        session.specialise(false);
        const std::string found = differences(calls, record(program, way, calls, session));
        if (!found.empty()) return found;
    }
    session.specialise(true);
    return differences(calls, record(program, way, calls, session));
}

/// Returns whether a refusal is a documented one, as long as they concern few programs: at most 1
/// %.
bool is_stated(const std::string& failure) {
    return failure.starts_with("refused: a loop inside one kernel takes up to");
}

/// The kind of failure: shrinking stays with it. Messages are compared up to their first numbers.
std::string kind_of(const std::string& failure) {
    if (failure.starts_with("does not end")) return "does not end";
    const size_t colon = failure.find(':');
    if (colon == std::string::npos) return failure;
    const size_t number = failure.find_first_of("0123456789[", colon);
    return failure.starts_with("differs") ? "differs"
                                          : failure.substr(0, std::min(number, colon + 40));
}

struct Found {
    uint64_t seed;
    Way way;
    Program program;
    std::string failure;
};

std::string title(const Found& found) {
    return "seed " + std::to_string(found.seed) +
           " (FIRN_RANDOM_SEED=" + std::to_string(found.seed) + " FIRN_RANDOM_COUNT=1), " +
           name(found.way) + ": " + found.failure;
}
std::string shown(const Found& found) { return title(found) + "\n" + text(found.program); }

/// The smallest program that fails alike, and the simplest way in which it does.
Found smallest(Found found, const MakeSession& make_session) {
    const auto end = std::chrono::steady_clock::now() + kShrinking;
    auto fails = [&](const std::vector<Program>& all, Way way, std::string* failure) {
        for (size_t first = 0; first < all.size() && std::chrono::steady_clock::now() < end;
             first += kTogether) {
            std::unique_ptr<Session> session;
            const Tasks tasks{[&] { session = std::make_unique<Session>(make_session()); },
                              [&](size_t k) { return failure_of(all[first + k], way, *session); }};
            const std::vector<std::string> failures =
                isolated(tasks, std::min(kTogether, all.size() - first), kCandidateSeconds);
            for (size_t k = 0; k < failures.size(); ++k)
                if (kind_of(failures[k]) == kind_of(found.failure)) {
                    if (failure) *failure = failures[k];
                    return static_cast<int>(first + k);
                }
        }
        return -1;
    };
    if (fails({found.program}, Way::Lazy, nullptr) == 0) found.way = Way::Lazy;
    found.program = shrunk(found.program, [&](const std::vector<Program>& all) {
        return fails(all, found.way, &found.failure);
    });
    return found;
}

/// The program was refused because it holds a type that the device does not have.
bool lacks_a_type(const UserError& error, const DeviceProfile& profile) {
    const auto is_why = [&](DType type) {
        const std::string why = why_lacks(type, profile);
        return !why.empty() && std::string(error.what()).find(why) != std::string::npos;
    };
    return is_why(f64) || is_why(i64) || is_why(u64);
}

}  // namespace

std::string failure_of(const Program& program, Way way, const Session& session) {
    try {
        return compared(program, way, session);
    } catch (const Unsuitable&) {
        return "";
    } catch (const UserError& error) {
        if (lacks_a_type(error, session.executor().profile())) return "";
        return std::string("refused: ") + error.what();
    } catch (const std::exception& error) {
        return std::string("throws: ") + error.what();
    }
}

void expect_programs(const MakeSession& make_session, uint64_t first, uint64_t count,
                     const Grammar& grammar) {
    const RandomSeeds seeds = random_seeds(first, count);
    const char* all = std::getenv("FIRN_RANDOM_ALL");
    std::unique_ptr<Session> session;
    auto way_of = [](uint64_t seed) { return static_cast<Way>(seed % kWays); };
    const Tasks tasks{[&] { session = std::make_unique<Session>(make_session()); },
                      [&](size_t k) {
                          const uint64_t seed = seeds.first + k;
                          return failure_of(generate(seed, grammar), way_of(seed), *session);
                      }};
    const std::vector<std::string> failures = isolated(tasks, seeds.count, kSeconds);
    uint64_t failed = 0, refusals = 0, shrinks = all ? std::strtoull(all, nullptr, 10) : 1;
    for (size_t k = 0; k < failures.size(); ++k) {
        if (is_stated(failures[k])) ++refusals;
        if (failures[k].empty() || is_stated(failures[k])) continue;
        const uint64_t seed = seeds.first + k;
        Found found{seed, way_of(seed), generate(seed, grammar), failures[k]};
        if (failed++ < shrinks) found = smallest(std::move(found), make_session);
        if (!all) FAIL() << shown(found);
        std::cout << (failed <= shrinks ? shown(found) : title(found)) << std::endl;
    }
    if (all)
        std::cout << seeds.count << " programs from seed " << seeds.first << " on: " << failed
                  << " fail, " << refusals << " are refused as stated" << std::endl;
    EXPECT_EQ(failed, 0u);
    EXPECT_LE(refusals * 100, seeds.count + 99);
}

}  // namespace firn::programs
