// The object files and headers of save_native: programs in C that link them, and the oracle.
#include <firn/firn.h>
#include <firn/saved_programs.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/whole_file.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/target/native/llvm.h"
#include "tests/machines.h"

namespace firn {
namespace {

/// An argument of a call: a tensor, or a number with its text in C.
struct Value {
    Value(const Tensor& given) : arg(given), tensor(given) {}
    template <class Number>
    Value(Number number, std::string text) : arg(number), text(std::move(text)) {}
    Arg arg;
    std::optional<Tensor> tensor;
    std::string text;
};

std::vector<std::byte> elements_of(const Tensor& x) { return read_tensor(x, here()); }

/// In C: arrays that end, or begin, at memory that may not be touched; threads of the program.
constexpr const char* kHelpers = R"(
static char *guarded(size_t bytes, int behind, const char *from) {
    const size_t page = 4096, inside = (bytes + page - 1) / page * page;
    char *all = mmap(0, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = all + page + (behind ? inside - bytes : 0);
    if (bytes == 0) return 0;
    if (all == MAP_FAILED || mprotect(all + page, inside, PROT_READ | PROT_WRITE)) exit(90);
    memset(all + page, 0x5a, inside);
    if (from) {
        FILE *file = fopen(from, "rb");
        const size_t count = fread(at, 1, bytes, file);
        if (count == 0) exit(91);
        fclose(file);
    }
    return at;
}
static size_t padded(size_t bytes, int pads) { return pads ? (bytes + 15) / 16 * 16 : bytes; }

typedef struct { void (*part)(void *, int64_t, int64_t); void *data; int64_t first, last; } piece;
static int used;
static void *run_piece(void *given) {
    piece *p = (piece *)given;
    p->part(p->data, p->first, p->last);
    return 0;
}
static void parallel(void *context, int64_t count, void (*part)(void *, int64_t, int64_t), void *data) {
    pthread_t threads[3];
    piece pieces[3];
    int k;
    ++*(int *)context;
    for (k = 0; k < 3; ++k) {
        pieces[k].part = part, pieces[k].data = data;
        pieces[k].first = count * k / 3, pieces[k].last = count * (k + 1) / 3;
        if (pthread_create(&threads[k], 0, run_piece, &pieces[k])) exit(92);
    }
    for (k = 0; k < 3; ++k) pthread_join(threads[k], 0);
}
)";
constexpr const char* kIncludes = R"(#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
)";

class SavedNative : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_llvm(); !why.empty()) GTEST_SKIP() << why;
        if (const std::string why = why_no_machine(machine()); !why.empty()) GTEST_SKIP() << why;
        std::filesystem::create_directories(folder);
    }
    ~SavedNative() override { std::filesystem::remove_all(folder); }

    /// That programs are built for.
    virtual const Machine& machine() const { return kThisMachine; }
    NativeFiles files(const std::string& name) const {
        return {.object = folder + "/" + name + ".o",
                .header = folder + "/" + name + ".h",
                .processor = processor.empty() ? machine().processor : processor};
    }
    void write(const std::string& name, const std::string& text) const {
        write_whole_file(folder + "/" + name, {text});
    }
    /// Compiles `text` as a program and runs it in the folder. `compiler`: empty for that of C.
    Outcome run_c(const std::string& text, const std::string& objects,
                  const std::string& compiler = "") const {
        write("main.c", text);
        const Outcome built =
            run("cd " + folder + " && " +
                (compiler.empty() ? machine().compiler + std::string(" -std=c99") : compiler) +
                " -Wall -Wextra -Werror -pedantic -o main main.c " + objects + " -pthread -lm");
        EXPECT_EQ(built.status, 0) << built.output;
        EXPECT_EQ(built.output, "");
        return built.status == 0 ? run("cd " + folder + " && " + machine().runner + " ./main")
                                 : built;
    }
    /// The names of an object's symbols, one a line.
    std::string symbols_of(const std::string& object, const std::string& which) const {
        return run(machine().symbols + std::string(" --format=just-symbols ") + which + ' ' +
                   folder + '/' + object)
            .output;
    }
    static std::string message_of(const Callback<void()>& action) {
        try {
            action();
        } catch (const UserError& error) {
            return error.what();
        }
        return "no error";
    }

    /// The lines of C that set one argument.
    std::string set_argument(size_t k, const Value& value) const {
        const std::string field = "call.argument_" + std::to_string(k);
        if (!value.tensor) return "        " + field + " = " + value.text + ";\n";
        const std::vector<std::byte> bytes = elements_of(*value.tensor);
        const std::string file = "in" + std::to_string(k);
        write(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return "        " + field + " = (const void *)guarded(padded(" +
               std::to_string(bytes.size()) + ", mode & 2), mode & 1, \"" + file + "\");\n";
    }

    /// A call by a program in C, without and with padding and threads, gives what the oracle gives.
    /// `sizes` are lines of C.
    void expect_same(const Function& function, const std::vector<Value>& values,
                     const std::string& sizes, double tolerance = 1e-5, int least_threads = 0,
                     int most_threads = 1000) {
        std::vector<Arg> args;
        for (const Value& value : values) args.push_back(value.arg);
        NativeFiles made = files("f");
        save_native(made, function, args);
        const std::vector<Tensor> expected = function.call(args);
        std::string text =
            kIncludes + std::string("#include \"f.h\"\n") + kHelpers +
            "int main(void) {\n    FILE *out = fopen(\"out\", \"wb\");\n    int mode;\n"
            "    for (mode = 0; mode < 8; ++mode) {\n        f_call call = {0};\n"
            "        firn_host host = {&used, parallel, mode == 7 ? 1 : 0};\n"
            "        void *workspace;\n        int code;\n        " +
            sizes + "\n        call.padded = mode & 2;\n";
        for (size_t k = 0; k < values.size(); ++k) text += set_argument(k, values[k]);
        std::string written;
        for (size_t k = 0; k < expected.size(); ++k) {
            const std::string field = "call.result_" + std::to_string(k),
                              bytes = std::to_string(elements_of(expected[k]).size());
            text += "        " + field + " = (void *)guarded(padded(" + bytes +
                    ", mode & 2), mode & 1, 0);\n";
            written += "        if (" + bytes + ") fwrite(" + field + ", 1, " + bytes + ", out);\n";
        }
        text +=
            "        workspace = guarded(f_workspace_bytes(&call), mode & 1, 0);\n"
            "        code = f(&call, workspace, mode & 4 ? &host : 0);\n"
            "        if (code) return puts(f_message(code)), code;\n" +
            written + "    }\n    fclose(out);\n    printf(\"%d\", used);\n    return 0;\n}\n";
        const Outcome outcome = run_c(text, "f.o");
        ASSERT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_GE(std::stoi(outcome.output), least_threads);
        EXPECT_LE(std::stoi(outcome.output), most_threads);
        const std::vector<std::byte> out = read_whole_file(folder + "/out");
        size_t at = 0;
        for (int mode = 0; mode < 8; ++mode)
            for (size_t k = 0; k < expected.size(); ++k) {
                const std::vector<std::byte> wanted = elements_of(expected[k]);
                const DType dtype = expected[k].dtype();
                const auto size = static_cast<size_t>(dtype.bytes());
                ASSERT_LE(at + wanted.size(), out.size());
                for (size_t byte = 0; byte < wanted.size(); byte += size) {
                    const double x = load_scalar(dtype, wanted.data() + byte).as_double(),
                                 y = load_scalar(dtype, out.data() + at + byte).as_double();
                    ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::abs(x)))
                        << "mode " << mode << ", result " << k << ", element " << byte / size;
                }
                at += wanted.size();
            }
        EXPECT_EQ(at, out.size());
    }

    const std::string folder = testing::TempDir() + "/firn_save_native_" + std::to_string(getpid());
    std::string processor;  // empty: the machine's
    SessionScope scope{Session::oracle()};
};

/// The same on each machine for which programs can be built and run.
class SavedNativeOn : public SavedNative, public testing::WithParamInterface<Machine> {
  protected:
    const Machine& machine() const override { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Machines, SavedNativeOn, testing::Values(kThisMachine, kArmMachine),
                         [](const auto& of) { return of.param.name; });

Tensor numbers(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    Shape dims(shape.begin(), shape.end());
    return reshape(sin(arange(static_cast<int>(count)).as(f32) * 0.7f) * 1.5f, dims);
}
std::string sizes_of(int n, int m) {
    return "call.n = " + std::to_string(n) + ", call.m = " + std::to_string(m) + ";";
}

auto wave() {
    return compile(
        [](Tensor u, Tensor v, Tensor dt, Tensor steps) {
            for (Tensor k : loop(steps)) {
                Tensor i = index(u, 0), j = index(u, 1);
                Tensor around = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
                v = v + dt * around;
                u = u + dt * v;
            }
            return std::tuple{u, v};
        },
        {f32("n", "m"), f32("n", "m"), f32(), i32()});
}

TEST_P(SavedNativeOn, StencilsInALoopWithRotations) {
    const auto f = wave();
    const std::pair<int, int> sizes[] = {{33, 17}, {1, 1}, {64, 64}, {0, 5}, {5, 2}};
    for (const auto& [n, m] : sizes)
        for (int steps : {0, 1, 4, 7})
            expect_same(f,
                        {numbers({n, m}),
                         numbers({n, m}) * 0.5f,
                         {0.1f, "0.1f"},
                         {steps, std::to_string(steps)}},
                        sizes_of(n, m));
}

TEST_P(SavedNativeOn, ReductionsProductsAndSoftmax) {
    const auto f = compile(
        [](Tensor x, Tensor w) {
            Tensor y = matmul(x, w);
            Tensor e = exp(y - max(y, {.axis = 1, .keep_dims = true}));
            return std::tuple{sum(x), y, e / sum(e, {.axis = 1, .keep_dims = true}), max(x)};
        },
        {f32("n", "m"), f32("m", "k")});
    for (const auto& [n, m, k] :
         {std::tuple{31, 70, 9}, std::tuple{1, 1, 1}, std::tuple{128, 64, 32}})
        expect_same(f, {numbers({n, m}), numbers({m, k})},
                    sizes_of(n, m) + " call.k = " + std::to_string(k) + ";");
}

TEST_F(SavedNative, RunsOnTheLowestProcessor) {
    processor = "x86-64-v2";
    expect_same(wave(), {numbers({33, 17}), numbers({33, 17}), {0.1f, "0.1f"}, {3, "3"}},
                sizes_of(33, 17));
}

TEST_P(SavedNativeOn, EveryTypeOfElements) {
    for (DType dtype : {f16, bf16, f64, i32, u32, i64, u64, i16, u16, i8, u8, boolean}) {
        SCOPED_TRACE(dtype.name());
        const auto f = compile(
            [](Tensor x, Tensor y) {
                if (x.dtype().is_bool()) return std::tuple{x ^ y, !x};
                return std::tuple{(x + y).as(x.dtype()), x < y};
            },
            {dtype("n"), dtype("n")});
        const Tensor x = (arange(13) % 5).as(dtype), y = (arange(13) % 3).as(dtype);
        expect_same(f, {x, y}, "call.n = 13;");
    }
}

TEST_P(SavedNativeOn, NumbersOfEveryType) {
    const auto f = compile(
        [](Tensor x, Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor g, Tensor h) {
            Tensor y = x * sin(a * a) + pow(a, 1.5f) + b.as(f32) * c.as(f32);
            return std::tuple{select(d, y, -y) + e.as(f32), x + g.as(f32) + h.as(f32)};
        },
        {f32("n"), f32(), f64(), i32(), boolean(), f16(), u8(), i64()});
    expect_same(f,
                {numbers({9}),
                 {0.75f, "0.75f"},
                 {2.5, "2.5"},
                 {-3, "-3"},
                 {true, "1"},
                 {0.5f, "0x3800"},
                 {200, "200"},
                 {int64_t{-70000}, "-70000"}},
                "call.n = 9;");
}

TEST_P(SavedNativeOn, LoopsThatTheDataEnds) {
    const auto f = compile(
        [](Tensor x) {
            Tensor steps = zeros({x.size(0)}).as(i32), y = x;
            while_([&] { return max(y) > 0.01f; },
                   [&] {
                       y = select(y > 0.01f, y * 0.7f, y);
                       steps = steps + select(y > 0.01f, 1, 0);
                   });
            return std::tuple{y, steps};
        },
        {f32("n")});
    for (int n : {1, 37, 400})
        expect_same(f, {abs(numbers({n})) + 0.1f}, "call.n = " + std::to_string(n) + ";");
}

TEST_P(SavedNativeOn, SizesThatTheDataDecides) {
    const auto f = compile(
        [](Tensor x) {
            Tensor chosen = compact(x, x > 0.0f);
            return std::tuple{sum(chosen * chosen), sum(exp(chosen))};
        },
        {f32("n")});
    for (int n : {0, 1, 300}) expect_same(f, {numbers({n})}, "call.n = " + std::to_string(n) + ";");
}

TEST_P(SavedNativeOn, CapturedTensorsAreInTheObject) {
    const Tensor weights = numbers({7}), none = zeros({0});
    const auto f = compile(
        [&](Tensor x) {
            return std::tuple{x * sum(weights), weights, sum(none)};
        },
        {f32("n")});
    expect_same(f, {numbers({21})}, "call.n = 21;");
}

TEST_P(SavedNativeOn, SharesLargeKernelsAmongThreads) {
    const auto f = compile(
        [](Tensor x) {
            return std::tuple{sqrt(abs(x)) + x, sum(x * x)};
        },
        {f32("n")});
    expect_same(f, {numbers({200001})}, "call.n = 200001;", 1e-4, 4);
    expect_same(f, {numbers({16})}, "call.n = 16;");
}

TEST_P(SavedNativeOn, LoopsOfStepsEndWhereTheDataSays) {
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            while_([&] { return max(y) > 0.5f; },
                   [&] {
                       Tensor i = index(y, 0);
                       y = (y(i - 1) + y(i + 1)) * 0.4f;
                   },
                   {.max_steps = 400});
            return y;
        },
        {f32("n")});
    expect_same(f, {numbers({60001})}, "call.n = 60001;", 1e-5, 0, 200);
}

TEST_P(SavedNativeOn, ResultsThatExchangeTheirMemory) {
    const auto leapfrog = compile(
        [](Tensor u, Tensor before, Tensor steps) {
            for (Tensor k : loop(steps)) {
                Tensor i = index(u, 0);
                Tensor next = u * 1.8f - before + 0.1f * (u(i - 1) + u(i + 1));
                before = u, u = next;
            }
            return std::tuple{u, before};
        },
        {f32("n"), f32("n"), i32()});
    for (int steps : {1, 2, 3, 4})
        for (int n : {64, 65})
            expect_same(leapfrog,
                        {numbers({n}), numbers({n}) * 0.9f, {steps, std::to_string(steps)}},
                        "call.n = " + std::to_string(n) + ";");
}

TEST_P(SavedNativeOn, ResultsThatAreArgumentsOrOneAnother) {
    const auto f = compile(
        [](Tensor x, Tensor steps) {
            Tensor a = x * 2.0f, b = x + 1.0f;
            for (Tensor k : loop(steps)) {
                Tensor old = a;
                a = b * 0.5f, b = old + 1.0f;
            }
            return std::tuple{x, a, a, b};
        },
        {f32("n"), i32()});
    for (int steps : {0, 1, 2, 20, 21})
        expect_same(f, {numbers({19}), {steps, std::to_string(steps)}}, "call.n = 19;");
}

TEST_P(SavedNativeOn, RefusalsAreCodesWithTexts) {
    const auto f = compile(
        [](Tensor x, Tensor y) {
            Tensor z = x;
            while_([&] { return max(z) > 0.0f; }, [&] { z = abs(z); });
            return z + sum(reshape(y, {-1, 4}));
        },
        {f32("n"), f32("m")});
    save_native(files("f"), f, {zeros({3}), zeros({8})});
    // A loop that never ends takes 18 s by an emulator.
    const bool emulated = *machine().runner;
    const Outcome outcome =
        run_c((emulated ? "#define EMULATED 1\n" : "#define EMULATED 0\n") + std::string(R"(
#include "f.h"
#include <stdio.h>
#include <stdlib.h>
static void call_with(int64_t n, int64_t m, const float *x, const float *y, float *z) {
    f_call call = {0};
    size_t bytes;
    void *workspace;
    call.n = n, call.m = m, call.argument_0 = x, call.argument_1 = y, call.result_0 = z;
    bytes = f_workspace_bytes(&call);
    workspace = bytes == SIZE_MAX ? 0 : malloc(bytes);
    printf("%s%s\n", bytes == SIZE_MAX ? "no workspace, " : "", f_message(f(&call, workspace, 0)));
    free(workspace);
}
int main(void) {
    const float x[3] = {-1, -2, -3}, above[3] = {1, 2, 3}, y[8] = {0};
    float z[3];
    call_with(3, 8, x, y, z);
    if (!EMULATED) call_with(3, 8, above, y, z);
    call_with(3, 8, x, y, 0);
    call_with(-1, 8, x, y, z);
    call_with(3, 7, x, y, z);
    call_with(2147483647, 8, x, y, z);
    puts(f_message(-5));
    return 0;
})"),
              "f.o");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::vector<std::string> lines;
    std::istringstream text(outcome.output);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), emulated ? 6u : 7u) << outcome.output;
    if (!emulated) {
        EXPECT_NE(lines[1].find("save_native_test.cpp"), std::string::npos) << lines[1];
        lines.erase(lines.begin() + 1);
    }
    EXPECT_EQ(lines[0], "it has run");
    EXPECT_EQ(lines[1], "the workspace or an array is a null pointer");
    EXPECT_EQ(lines[2], "no workspace, a size is negative, or larger than 2147483647");
    EXPECT_NE(lines[3].find("no workspace, "), std::string::npos) << lines[3];
    EXPECT_NE(lines[3].find("must be"), std::string::npos) << lines[3];
    EXPECT_NE(lines[4].find("no workspace, an array or a count is too large"), std::string::npos);
    EXPECT_EQ(lines[5], "the function returns no such number");
}

TEST_P(SavedNativeOn, TwoObjectsInOneProgramOfCxx) {
    const auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    const auto total = compile([](Tensor x) { return sum(x * x); }, {f32("n")});
    NativeFiles names = files("twice");
    names.arguments = {"x"}, names.results = {"y"};
    save_native(names, twice, zeros({4}));
    save_native(files("total"), total, zeros({4}));
    const char* main = R"(
#include "total.h"
#include "twice.h"
#include "twice.h"
#include <stdio.h>
#include <string.h>
int main(void) {
    static char workspace[4096];
    float x[5] = {1, 2, 3, 4, 5}, y[5], z;
    twice_call first;
    total_call second;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    first.n = 5, first.x = x, first.y = y;
    second.n = 5, second.argument_0 = y, second.result_0 = &z;
    if (twice_workspace_bytes(&first) > 4096 || total_workspace_bytes(&second) > 4096) return 1;
    if (twice(&first, workspace, 0) != twice_ok) return 2;
    if (total(&second, workspace, 0) != total_ok) return 3;
    printf("%g\n", (double)z);
    return 0;
})";
    EXPECT_EQ(run_c(main, "twice.o total.o").output, "220\n");
    EXPECT_EQ(run_c(main, "-x none twice.o total.o", std::string(machine().cxx) + " -x c++").output,
              "220\n");
    // No symbol is there but those of the header.
    EXPECT_EQ(symbols_of("twice.o", "-g --defined-only"),
              "twice\ntwice_message\ntwice_workspace_bytes\n");
    EXPECT_EQ(symbols_of("twice.o", "-u"), "memcpy\n");
}

TEST_F(SavedNative, TheProcessorOfTheProcessIsTheDefault) {
    const auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    save_native(folder + "/move.o", folder + "/move.h", twice,
                zeros({4}));  // no name of the object
    EXPECT_EQ(symbols_of("move.o", "-g --defined-only"),
              "move\nmove_message\nmove_workspace_bytes\n");
}

TEST_P(SavedNativeOn, FloatsThatAreCombinedAndHalvesNeedFunctionsOfCAlone) {
    processor = *machine().processor ? "" : "x86-64-v3";
    const auto f = compile(
        [](Tensor at, Tensor x) {
            Tensor total = zeros({7}), most = zeros({7}), wide = zeros({7}).as(f64);
            Tensor count = zeros({7}, i32);
            scatter_add(total(at), x.as(f32)), scatter_max(most(at), x.as(f32));
            scatter_add(wide(at), x.as(f64)), scatter_add(count(at), 1);
            return std::tuple{total, most, wide, count, (x * x).as(f16)};
        },
        {i32("n"), f16("n")});
    const Tensor at = arange(1000) * 3 % 7, x = (numbers({1000}) * 8.0f).as(f16);
    save_native(files("f"), f, at, x);
    EXPECT_EQ(symbols_of("f.o", "-u"), "memcpy\n");
}

TEST_P(SavedNativeOn, ElementsThatAreCombined) {
    const auto f = compile(
        [](Tensor at, Tensor x) {
            Tensor total = zeros({7}), most = zeros({7}), count = zeros({7}, i32);
            scatter_add(total(at), x), scatter_max(most(at), x), scatter_add(count(at), 1);
            return std::tuple{total, most, count};
        },
        {i32("n"), f32("n")});
    for (int n : {1, 60000})
        expect_same(f, {arange(n) * 3 % 7, numbers({n})}, "call.n = " + std::to_string(n) + ";",
                    1e-3);
}

/// The caller flushes subnormal floats to zero; the function does not, and leaves that as it was.
TEST_P(SavedNativeOn, SubnormalFloatsAreKeptWhateverTheCallerDoes) {
    const auto f = compile([](Tensor x) { return x * 0.5f; }, {f32("n")});
    save_native(files("f"), f, zeros({4}));
    const Outcome outcome = run_c(R"(
#include "f.h"
#include <stdio.h>
#if defined(__aarch64__)
static void set_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
static uint64_t mode_now(void) { uint64_t mode; __asm__ volatile("mrs %0, fpcr" : "=r"(mode)); return mode; }
static const uint64_t flushing = 1u << 24;
#else
static void set_mode(uint64_t mode) { __builtin_ia32_ldmxcsr((unsigned)mode); }
static uint64_t mode_now(void) { return __builtin_ia32_stmxcsr() & ~0x3fu; }
static const uint64_t flushing = 0x9fc0;
#endif
int main(void) {
    static char workspace[4096];
    float x[4] = {1e-40f, -1e-38f, 1e-39f, 3}, y[4];
    f_call call = {0};
    uint64_t before = mode_now(), after;
    call.n = 4, call.argument_0 = x, call.result_0 = y;
    set_mode(flushing);
    if (f(&call, workspace, 0)) return 1;
    after = mode_now();
    set_mode(before);
    printf("%d %d %d\n", y[0] > 0, y[1] < 0 && y[2] > 0, after == flushing);
    return 0;
})",
                                  "f.o");
    EXPECT_EQ(outcome.output, "1 1 1\n");
}

TEST_F(SavedNative, RefusesWhatCHasNot) {
    const auto f = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    const auto refused = [&](const NativeFiles& given) {
        return message_of([&] { save_native(given, f, zeros({4})); });
    };
    NativeFiles other = files("f");
    other.processor = "z80";
    EXPECT_EQ(refused(other),
              "save_native: 'z80' is no processor that native code is made for; there are "
              "x86-64 (sse2), x86-64-v2 (sse4), x86-64-v3 (avx2), x86-64-v4 (avx512), "
              "aarch64+neon (aarch64, neon)");
    NativeFiles called = files("f");
    called.name = "exp";
    EXPECT_NE(refused(called).find("C has one of that name"), std::string::npos);
    for (const char* name : {"two words", "while", "1st"}) {
        NativeFiles named = files("f");
        named.name = name;
        EXPECT_NE(refused(named).find("cannot be the name of the function"), std::string::npos)
            << refused(named);
        named.name = "f", named.arguments = {name};
        EXPECT_NE(refused(named).find("cannot be the name of a member"), std::string::npos);
    }
    NativeFiles twice = files("f");
    twice.arguments = {"n"};
    EXPECT_NE(refused(twice).find("two members of the struct would be called 'n'"),
              std::string::npos);
    NativeFiles many = files("f");
    many.results = {"y", "z"};
    EXPECT_NE(refused(many).find("1 arguments and 1 results"), std::string::npos);
    NativeFiles lost = files("f");
    lost.object = folder + "/none/f.o";
    EXPECT_NE(refused(lost).find("none/f.o"), std::string::npos);
    const auto prints = compile(
        [](Tensor x) {
            print_value(x);
            return x;
        },
        {f32("n")});
    EXPECT_NE(message_of([&] {
                  save_native(files("f"), prints, zeros({4}));
              }).find("save_native: the function prints a value"),
              std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder + "/f.o"));
}

TEST_F(SavedNative, TheHeaderNamesTheProcessor) {
    const auto f = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    const std::pair<const char*, const char*> names[] = {{"avx2", "x86-64-v3"},
                                                         {"x86-64-v4", "x86-64-v4"},
                                                         {"aarch64+neon", "aarch64+neon"},
                                                         {"aarch64", "aarch64+neon"},
                                                         {"neon", "aarch64+neon"}};
    for (const auto& [given, said] : names) {
        processor = given;
        save_native(files("f"), f, zeros({4}));
        const std::vector<std::byte> bytes = read_whole_file(folder + "/f.h");
        const std::string header(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        EXPECT_NE(header.find(std::string("compiled by Firn for ") + said + " processors."),
                  std::string::npos)
            << header;
    }
}

TEST_F(SavedNative, ParametersGiveNames) {
    Gui panel;
    const Param<float> dt{panel, "time step", 0.1f, {.min = 0, .max = 1}};
    const Param<vec2> wind{panel, "wind", {3, -4}};
    const auto f = compile([](Tensor x, Tensor dt, vec2 wind) { return x * dt + wind.y; },
                           {f32("n"), f32(), f32(), f32()});
    save_native(files("f"), f, zeros({4}), dt, wind);
    const std::vector<std::byte> bytes = read_whole_file(folder + "/f.h");
    const std::string header(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const char* field :
         {"const float *argument_0; /* read: f32[n], strides 1 */",
          "float time_step; /* read: a number, f32 */", "float wind_0;", "float wind_1;",
          "int64_t n; /* the size 'n' */", "float *result_0; /* written: f32[n], strides 1 */"})
        EXPECT_NE(header.find(field), std::string::npos) << field << "\n" << header;
}

}  // namespace
}  // namespace firn
