// Programs walked through step by step: their iterations, and memory that holds for any number of
// them.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <random>

#include "compiler/base/error.h"
#include "compiler/program/step_counts.h"
#include "compiler/program/walk_steps.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

/// Counts steps and looks; loops go on while `alive` says so.
struct Steps : StepVisitor {
    int64_t steps = 0, looks = 0;
    std::function<bool(int64_t iterations)> alive = [](int64_t) { return true; };
    void step(const FlatStep&) override { ++steps; }
    bool goes_on(int, int64_t iterations) override { return ++looks, alive(iterations); }
};

/// A loop that goes on while the buffer `alive` holds true.
Step while_alive(const Size& trips, int alive, std::vector<Step> body, const std::string& induction,
                 std::vector<std::pair<int, int>> rotation = {}) {
    Step step = repeat(trips, std::move(body), std::move(rotation), induction);
    std::get<RepeatStep>(step.step).alive = alive;
    return step;
}

TEST(Walk, AnInnerLoopIsAsLongAsTheIterationOfALoopThatTheDataEnds) {
    Program p;
    int a = add_buffer(p, 4), flag = add_buffer(p, 1);
    p.steps = {
        while_alive(1'000'000, flag, {repeat(Size::symbol("k"), {dispatch(p, {}, {a})})}, "k")};
    Steps steps;
    steps.alive = [](int64_t iterations) { return iterations < 32; };
    walk_steps(p, {}, steps);
    EXPECT_EQ(steps.steps, 31 * 32 / 2);
    EXPECT_EQ(steps.looks, 2);
}
TEST(Walk, ALoopAroundOneThatIsAskedTakesNoIterationAfterItsEnd) {
    Program p;
    int a = add_buffer(p, 4), outer = add_buffer(p, 1), inner = add_buffer(p, 1);
    p.steps = {
        while_alive(100, outer, {while_alive(100, inner, {dispatch(p, {}, {a})}, "j")}, "k")};
    struct : Steps {
        int outer_slot = 0;
        bool goes_on(int slot, int64_t iterations) override {
            return slot == outer_slot ? iterations < 3 : iterations < 32;
        }
    } steps;
    steps.outer_slot = outer;
    walk_steps(p, {}, steps);
    EXPECT_EQ(steps.steps, 3 * 32);
}
TEST(Walk, NoIterationHasANumberBeyondTheTripCount) {
    Program p;
    int a = add_buffer(p, 4), flag = add_buffer(p, 1);
    p.steps = {while_alive(17, flag, {dispatch(p, {}, {a})}, "k")};
    struct : Steps {
        std::vector<int64_t> iterations;
        void step(const FlatStep& step) override { iterations.push_back(step.env.at("k")); }
    } steps;
    walk_steps(p, {}, steps);
    ASSERT_EQ(steps.iterations.size(), 17u);  // 16 before the first look
    for (int64_t k = 0; k < 17; ++k) EXPECT_EQ(steps.iterations[static_cast<size_t>(k)], k);
}
TEST(Walk, DearIterationsAreNotTakenInVain) {
    Program p;
    p.profile.operations_per_second = 1e9, p.profile.seconds_per_launch = 1e-5;
    int a = add_buffer(p, 4), flag = add_buffer(p, 1);
    Step dear = dispatch(p, {}, {a}), cheap = dear;
    std::get<DispatchStep>(dear.step).work.operations = Size(1'000'000);
    auto taken = [&](const Step& step) {
        p.steps = {while_alive(1000, flag, {step}, "k")};
        Steps steps;
        steps.alive = [](int64_t) { return false; };
        walk_steps(p, {}, steps);
        return steps.steps;
    };
    EXPECT_EQ(taken(dear), 1);
    EXPECT_EQ(taken(cheap), 16);
    p.kernels[0].back_edges = 32767;  // as a chunk of a loop has
    EXPECT_EQ(taken(cheap), 1);
}
TEST(Walk, ALoopThatShouldHaveEndedSaysSo) {
    Program p;
    int a = add_buffer(p, 4), flag = add_buffer(p, 1);
    Step loop = while_alive(100, flag, {dispatch(p, {}, {a})}, "k");
    std::get<RepeatStep>(loop.step).never_ended = "it goes on";
    p.steps = {loop};
    Steps steps;
    EXPECT_EQ(message<UserError>([&] { walk_steps(p, {}, steps); }), "it goes on");
    EXPECT_GE(steps.steps, 100);
}
TEST(Walk, AMillionIterationsAreVisitedOneByOne) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {repeat(1'000'000, {dispatch(p, {a}, {b})}, {{a, b}, {b, a}})};
    Steps steps;
    walk_steps(p, {}, steps);
    EXPECT_EQ(steps.steps, 1'000'000);
    EXPECT_FALSE(can_be_flat(p, {}));
}

TEST(CountedSteps, OfALoopWhoseIterationsAreAlikeAreMultiplied) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    Step step = dispatch(p, {a}, {b});
    std::get<DispatchStep>(step.step).work.operations = Size(7);
    p.steps = {repeat(2'000'000'000, {step}, {{a, b}, {b, a}})};
    EXPECT_EQ(stats(p, {}).dispatches, 2'000'000'000);
    EXPECT_EQ(stats(p, {}).operations, 14'000'000'000);
}
TEST(CountedSteps, OfALoopWhoseIterationsDifferAreSampled) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {repeat(1'000'000, {repeat(Size::symbol("k"), {dispatch(p, {}, {a})})}, {}, "k")};
    EXPECT_NEAR(static_cast<double>(stats(p, {}).dispatches), 0.5e12, 0.01e12);
}

/// Random nests of loops whose buffers rotate; the lengths of some loops depend on data.
class Nest {
  public:
    explicit Nest(unsigned seed) : random_(seed) {
        for (int k = 0; k < 4; ++k) fresh(0);
        program.steps = steps(0);
        for (size_t k = 0; k < 2; ++k) {
            int result = add_result(program, {sizes_[0]});
            program.steps.push_back(copy(pick(0), result));
        }
        // The last loop rotates, and ends in a result.
        int result = add_result(program, {sizes_[0]}), other = add_buffer(program, sizes_[0]);
        program.steps.push_back(copy(pick(0), result));
        program.steps.push_back(repeat(Size::symbol("$0"), {dispatch(program, {result}, {other})},
                                       {{result, other}, {other, result}}, "last"));
    }

    Program program;

  private:
    int number(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
    /// A buffer that has a value.
    int pick(int size) {
        const std::vector<int>& all = alive_[static_cast<size_t>(size)];
        return all[static_cast<size_t>(number(static_cast<int>(all.size())))];
    }
    int fresh(int size) {
        int made = add_buffer(program, sizes_[size]);
        starts_.push_back(dispatch(program, {}, {made}));
        alive_[static_cast<size_t>(size)].push_back(made);
        return made;
    }
    std::vector<Step> take_starts() { return std::exchange(starts_, {}); }

    std::vector<Step> steps(int depth) {
        std::vector<Step> out = take_starts();
        for (int k = 0; k < 4; ++k) {
            const int size = number(2);
            if (alive_[static_cast<size_t>(size)].empty()) fresh(size);
            if (number(3) == 0 && depth < 3) {
                for (Step& step : loop(depth, size)) out.push_back(std::move(step));
                continue;
            }
            const int from = pick(size), from_too = pick(size);
            int made = add_buffer(program, sizes_[size]);
            for (Step& step : take_starts()) out.push_back(std::move(step));
            out.push_back(dispatch(program, {from, from_too}, {made}));
            alive_[static_cast<size_t>(size)].push_back(made);
        }
        return out;
    }

    /// A loop that carries two buffers; each iteration makes new ones.
    std::vector<Step> loop(int depth, int size) {
        std::vector<Step> out = take_starts();
        const std::string induction = "t" + std::to_string(loops_++);
        const int from = pick(size);
        const int a = add_buffer(program, sizes_[size]), b = add_buffer(program, sizes_[size]);
        out.push_back(copy(from, a)), out.push_back(copy(from, b));
        const auto outside = alive_;
        alive_[static_cast<size_t>(size)].push_back(a),
            alive_[static_cast<size_t>(size)].push_back(b);
        std::vector<Step> body = steps(depth + 1);
        const int next = add_buffer(program, sizes_[size]);
        for (Step& step : take_starts()) body.push_back(std::move(step));
        body.push_back(dispatch(program, {a, b}, {next}));
        alive_ = outside;
        alive_[static_cast<size_t>(size)].push_back(a),
            alive_[static_cast<size_t>(size)].push_back(b);
        // a <- b <- next, as in leapfrog; or next alone.
        const std::vector<std::pair<int, int>> three{{a, b}, {b, next}, {next, a}},
            two{{a, next}, {next, a}};
        const Size trips[] = {Size(1 + number(4)), Size::symbol("$0"), Size(300)};
        const int kind = number(depth == 0 ? 3 : 2);
        Step made = repeat(trips[kind], std::move(body), number(2) ? three : two, induction);
        if (number(3) == 0) {
            flags_.push_back(add_buffer(program, 1));
            out.push_back(dispatch(program, {}, {flags_.back()}));
            auto& loop = std::get<RepeatStep>(made.step);
            loop.alive = flags_.back(), loop.trips = Size(1000), loop.never_ended = "never";
            loop.body.push_back(dispatch(program, {a}, {flags_.back()}));
        }
        out.push_back(std::move(made));
        return out;
    }

    std::mt19937 random_;
    const Size sizes_[2] = {Size(16), Size(64)};
    std::array<std::vector<int>, 2> alive_;  // by size
    std::vector<int> flags_;
    std::vector<Step> starts_;
    int loops_ = 0;
};

/// Runs a program on tags in place of values, in memory of 64 bytes a cell.
class Tags : public StepVisitor {
  public:
    Tags(const Program& program, const std::vector<uint64_t>& offsets)
        : program_(program), cells_(program.buffers.size()) {
        uint64_t apart = 1 << 20;  // cells of those that the plan leaves to the caller
        for (size_t slot = 0; slot < cells_.size(); ++slot) {
            const auto count =
                static_cast<uint64_t>(program.buffers[slot].bytes().constant() + 63) / 64;
            for (uint64_t k = 0; k < count; ++k)
                cells_[slot].push_back((offsets[slot] == UINT64_MAX ? apart : offsets[slot] / 64) +
                                       k);
            apart += count;
        }
    }
    void step(const FlatStep& step) override {
        if (++steps_ > 2'000) throw Long();
        if (step.barrier_before) read_.clear(), written_.clear();
        std::vector<int> reads, writes;
        if (step.copy)
            reads = {step.slots[0]}, writes = {step.slots[1]};
        else
            for (size_t k = 0; k < step.slots.size(); ++k)
                (program_.kernels[static_cast<size_t>(step.dispatch->kernel)].bindings[k].written
                     ? writes
                     : reads)
                    .push_back(step.slots[k]);
        uint64_t tag =
            step.copy ? 0
                      : 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(step.dispatch->kernel + 1);
        for (int slot : reads) tag = step.copy ? value(slot) : tag * 31 + value(slot);
        for (int slot : reads) touch(slot, written_, read_);
        for (int slot : writes) touch(slot, written_, written_), touch(slot, read_, written_);
        for (int slot : writes)
            for (uint64_t cell : cells_[static_cast<size_t>(slot)]) tags_[cell] = tag;
    }
    bool goes_on(int slot, int64_t iterations) override {
        return iterations < 40 && value(slot) % 5 != 0;
    }
    uint64_t value(int slot) {
        uint64_t out = 0;
        for (uint64_t cell : cells_[static_cast<size_t>(slot)]) out = out * 3 + tags_[cell];
        return out;
    }
    struct Long {};

  private:
    void touch(int slot, const std::map<uint64_t, int>& others, std::map<uint64_t, int>& mine) {
        for (uint64_t cell : cells_[static_cast<size_t>(slot)]) {
            if (const auto found = others.find(cell);
                found != others.end() && found->second != steps_)
                ADD_FAILURE() << "no barrier before step " << steps_;
            mine[cell] = steps_;
        }
    }

    const Program& program_;
    std::vector<std::vector<uint64_t>> cells_;  // by slot
    std::map<uint64_t, uint64_t> tags_;
    std::map<uint64_t, int> read_, written_;  // since the last barrier, by which step
    int steps_ = 0;
};

/// The values of the results; empty where the program is too long.
std::vector<uint64_t> results_of(const Program& program, const SizeEnv& env,
                                 const std::vector<uint64_t>& offsets, const SlotSets& shared) {
    Tags tags(program, offsets);
    std::vector<uint64_t> out;
    try {
        for (int slot : walk_steps(program, env, tags, shared)) out.push_back(tags.value(slot));
    } catch (const Tags::Long&) {
        return {};
    } catch (const UserError&) {
        return {1};
    }
    return out;
}

class RandomNest : public testing::TestWithParam<unsigned> {};

TEST_P(RandomNest, KeepsItsValuesInSharedMemory) {
    const Program program = Nest(GetParam()).program;
    const std::vector<uint64_t> apart(program.buffers.size(), UINT64_MAX);
    for (int64_t trips : {0, 1, 2, 5}) {
        const SizeEnv env{{"$0", trips}};
        const std::vector<uint64_t> expected = results_of(program, env, apart, {});
        const RotatingMemory memory = plan_rotating_memory(program, env);
        const std::vector<int> ends = expected_result_slots(program, env);
        EXPECT_EQ(results_of(program, env, offsets_for(memory, program, ends), memory.shared),
                  expected);
        if (!can_be_flat(program, env)) continue;
        const FlatProgram flat = flatten(program, env);
        EXPECT_EQ(flat.result_slots, ends);
        EXPECT_EQ(results_of(program, env, plan_memory(program, flat, env).offsets, {}), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNest, testing::Range(0u, 50u));

}  // namespace
}  // namespace firn
