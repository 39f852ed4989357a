// Random programs of loops, branches, breaks and marks: recorded over tensors, and run natively
// element by element.
#include <algorithm>
#include <memory>
#include <random>

#include "tests/frontend/oracle_session.h"
#include "tests/ir/random_check.h"

namespace firn {
namespace {

constexpr int kVariables = 4;
constexpr int kElements = 5;
constexpr int kMarks = 8;

enum class Kind { Assign, If, Loop, While, Break, Continue, Mark };

struct Statement {
    Kind kind = Kind::Assign;
    int target = 0, a = 0, b = 0, operation = 0, number = 0;
    std::vector<Statement> body, otherwise;
};

class ProgramGenerator {
  public:
    explicit ProgramGenerator(unsigned seed) : random_(seed) {}

    std::vector<Statement> block(int depth, bool in_loop) {
        std::vector<Statement> out;
        for (int count = pick(1, 4); count > 0; --count) out.push_back(statement(depth, in_loop));
        return out;
    }

  private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

    Statement statement(int depth, bool in_loop) {
        Statement s;
        s.target = pick(0, kVariables - 1);
        s.a = pick(0, kVariables - 1);
        s.b = pick(0, kVariables - 1);
        s.operation = pick(0, 4);
        s.number = pick(0, 5);
        int choice = pick(0, 9);
        if (depth > 0 && choice < 3) {
            s.kind = Kind::If;
            s.body = block(depth - 1, in_loop);
            if (in_loop && pick(0, 2) == 0)
                s.body.insert(s.body.begin() + pick(0, 1), leaving(Kind::Break));
            else if (in_loop && pick(0, 2) == 0)
                s.body.insert(s.body.begin() + pick(0, 1), leaving(Kind::Continue));
            if (pick(0, 1)) s.otherwise = block(depth - 1, in_loop);
        } else if (depth > 0 && choice < 6) {
            s.kind = pick(0, 2) ? Kind::Loop : Kind::While;
            s.body = block(depth - 1, true);
        } else if (choice == 6) {
            s.kind = Kind::Mark;
        }
        return s;
    }

    static Statement leaving(Kind kind) {
        Statement s;
        s.kind = kind;
        return s;
    }

    std::mt19937 random_;
};

// --- natively ------------------------------------------------------------------------------------

int apply_natively(const Statement& s, int a, int b) {
    switch (s.operation) {
        case 0: return (a + b) % 1000;
        case 1: return a - b + s.number;
        case 2: return (a * b) % 97;
        case 3: return std::min(a, b) + 1;
        default: return std::max(a, s.number);
    }
}

struct Native {
    std::array<int, kVariables> x{};
    std::array<int, kMarks> marks{};
};

int mark_of(int x) { return std::abs(x % kMarks); }

/// Runs natively; returns Break or Continue on its way to its loop, or Assign.
Kind run_natively(const std::vector<Statement>& block, Native& native) {
    auto at = [&](int k) -> int& { return native.x[static_cast<size_t>(k)]; };
    for (const Statement& s : block) switch (s.kind) {
            case Kind::Assign: at(s.target) = apply_natively(s, at(s.a), at(s.b)); break;
            case Kind::Mark:
                native.marks[static_cast<size_t>(mark_of(at(s.a)))] += s.number + 1;
                break;
            case Kind::If: {
                const Kind left =
                    run_natively(at(s.a) % 3 == s.number % 3 ? s.body : s.otherwise, native);
                if (left != Kind::Assign) return left;
                break;
            }
            case Kind::Loop:
                for (int i = 0; i < s.number; ++i) {
                    at(s.target) += i;
                    if (run_natively(s.body, native) == Kind::Break) break;
                }
                break;
            case Kind::While:
                for (int i = 0; i < s.number && at(s.a) % 3 != 1; ++i)
                    if (run_natively(s.body, native) == Kind::Break) break;
                break;
            case Kind::Break:
            case Kind::Continue: return s.kind;
        }
    return Kind::Assign;
}

// --- recorded ------------------------------------------------------------------------------------

Tensor apply_recorded(const Statement& s, const Tensor& a, const Tensor& b) {
    switch (s.operation) {
        case 0: return (a + b) % 1000;
        case 1: return a - b + s.number;
        case 2: return (a * b) % 97;
        case 3: return min(a, b) + 1;
        default: return max(a, s.number);
    }
}

struct Recorded {
    std::vector<Tensor> x;
    Tensor marks, lanes;  // lanes: 0 for every element
};

void record(const std::vector<Statement>& block, Recorded& recorded) {
    auto at = [&](int k) -> Tensor& { return recorded.x[static_cast<size_t>(k)]; };
    for (const Statement& s : block) switch (s.kind) {
            case Kind::Assign: at(s.target) = apply_recorded(s, at(s.a), at(s.b)); break;
            case Kind::Mark:
                scatter_add(recorded.marks(abs(at(s.a) % kMarks) + recorded.lanes), s.number + 1);
                break;
            case Kind::If:
                if_(
                    at(s.a) % 3 == s.number % 3, [&] { record(s.body, recorded); },
                    [&] { record(s.otherwise, recorded); });
                break;
            case Kind::Loop:
                for (Tensor i : loop(s.number)) {
                    at(s.target) += i;
                    record(s.body, recorded);
                }
                break;
            case Kind::While:
                while_([&] { return at(s.a) % 3 != 1; }, [&] { record(s.body, recorded); },
                       {.max_steps = s.number});
                break;
            case Kind::Break: break_(); break;
            case Kind::Continue: continue_(); break;
        }
}

class RandomControl : public ::testing::TestWithParam<bool> {
  protected:
    static void each_seed(uint64_t count) {
        const RandomSeeds seeds = random_seeds(0, count);
        for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count && !HasFatalFailure();
             ++seed)
            check(static_cast<unsigned>(seed), GetParam());
    }

    static void check(unsigned seed, bool shaped) {
        std::vector<Statement> program = ProgramGenerator(seed).block(3, false);
        Tensor first = shaped ? arange(kElements) * 7 : Tensor(sum(tensor({3, 4})));
        Recorded recorded{
            {first, Tensor(1), Tensor(2), Tensor(3)}, zeros({kMarks}, i32), first * 0};
        record(program, recorded);
        std::vector<std::vector<int>> got;
        for (Tensor& each : recorded.x)
            got.push_back((each + zeros({kElements}, i32)).to_vector<int>());
        Ints marks(kMarks);
        for (int element = 0; element < kElements; ++element) {
            Native native{{shaped ? element * 7 : 7, 1, 2, 3}, {}};
            run_natively(program, native);
            for (size_t k = 0; k < kVariables; ++k)
                ASSERT_EQ(got[k][static_cast<size_t>(element)], native.x[k])
                    << "seed " << seed << ", variable " << k << ", element " << element;
            for (size_t k = 0; (shaped || element == 0) && k < kMarks; ++k)
                marks[k] += native.marks[k];
        }
        ASSERT_EQ(recorded.marks.to_vector<int>(), marks) << "seed " << seed;
    }
};

TEST_P(RandomControl, OracleAgreesWithCpp) {
    SessionScope scope(Session::oracle());
    each_seed(300);
}

TEST_P(RandomControl, CompiledAgreesWithCpp) {
    SessionScope scope(Session::interpreter());
    each_seed(150);
}

INSTANTIATE_TEST_SUITE_P(Conditions, RandomControl, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "shaped" : "scalar"; });

}  // namespace
}  // namespace firn
