// Saved programs: a file is read as it was written, and inconsistent files are refused.
#include "compiler/program/saved_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/base/error.h"
#include "compiler/program/make_call.h"
#include "compiler/program/spirv_format.h"
#include "compiler/program/walk_steps.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

using Bytes = std::vector<std::byte>;

constexpr size_t kHeaderBytes = 48, kChecksumAt = 40;

/// A module that declares capabilities and has nothing behind them.
std::vector<uint32_t> module_with(const std::vector<uint32_t>& capabilities) {
    std::vector<uint32_t> words{0x07230203, 0x00010300, 0, 8, 0};
    for (uint32_t each : capabilities) words.push_back(2u << 16 | 17u), words.push_back(each);
    return words;
}

BufferInfo& buffer_of(Program& program, int index) {
    return program.buffers[static_cast<size_t>(index)];
}

void add_numbers(Program& p) {
    p.host_scalars.push_back({HostOp::Argument, 0, 1});
    p.host_scalars.push_back({.op = HostOp::Constant, .constant = 0.1});
    p.host_scalars.push_back({.op = HostOp::Mul, .a = 0, .b = 1});
    p.host_scalars.push_back({.op = HostOp::Size, .size = Size::symbol("t") + 1});
    p.host_scalars.push_back({.op = HostOp::Pow, .a = 2, .b = 3});
}

/// Loops with rotation, a loop that the data ends, numbers of the host, a data size, constants,
/// guards and parameters.
Program all_of_it() {
    const Size n = Size::symbol("n"), m = Size::symbol("m");
    Program p;
    p.name = "all.cpp:12";
    const int u = add_argument(p, "u", {n, m});
    add_scalar(p, "dt", f32);
    add_scalar(p, "count", i32);
    add_scalar(p, "exact", f64);
    add_scalar(p, "large", i64);
    const int v = add_buffer(p, n * m), w = add_buffer(p, n * m), alive = add_buffer(p, 1);
    buffer_of(p, alive).dtype = boolean;
    const int table = add_buffer(p, 2, BufferRole::Constant);
    buffer_of(p, table).data = {std::byte{0}, std::byte{1}, std::byte{254}, std::byte{255}};
    const int found = add_result(p, {}), out = add_result(p, {Size::data("?3", n * m), 1});
    buffer_of(p, out).elements = n * m;
    buffer_of(p, found).dtype = p.results[0].dtype = i32;
    const int groups = add_buffer(p, 3);
    buffer_of(p, groups).dtype = i32;
    p.data_sizes = {{Size::data("?3", n * m), found}};
    p.guards = {{n % 2, 0, "n is even (all.cpp:3)"}};
    p.assumed = {{floor_div(n * m, 4) + max(n, m), 1 << 27}};
    add_numbers(p);
    Step first = dispatch(p, {u, table}, {v}), second = dispatch(p, {v}, {w}),
         last = dispatch(p, {w, groups}, {out});
    auto& step = std::get<DispatchStep>(second.step);
    step.params = {{i32, Size::symbol("t") + Size::symbol("$2"), -1}, {f32, 0, 1}, {f32, 0, 9}};
    step.groups = {ceil_div(n * m, 64), 1, 1};
    step.work = {3 * n * m, 4 * n * m, 4 * n * m};
    p.kernels[1].param_types = {i32, f32, f32};
    auto& sized = std::get<DispatchStep>(last.step);
    sized.sizes_binding = 1, sized.sizes_groups = 0;
    p.kernels[2].bindings[1].dtype = i32;
    p.kernels[0].artefact.text = "#version 450\nvoid main() {}\n";
    p.kernels[0].lines = {"all.cpp:3", "all.cpp:4"};
    for (KernelInfo& kernel : p.kernels) kernel.artefact.words = module_with({1, 61, 65});
    Step loop = repeat(Size::symbol("$2"), {second}, {{v, w}, {w, v}});
    auto& iterations = std::get<RepeatStep>(loop.step);
    iterations.alive = alive, iterations.never_ended = "it never ends",
    iterations.line = "all.cpp:9";
    p.steps = {first, copy(v, w), loop, last};
    p.verdicts = {
        {"sum", "staged", "fits", "all.cpp:4", 1e-9, 0, std::numeric_limits<double>::infinity()}};
    p.profile = gpu_profile();
    return p;
}

SavedProgram saved_of(Program program) {
    SavedProgram out;
    out.name = "all";
    for (const ArgumentInfo& argument : program.arguments) {
        out.scalars.push_back(scalar_float(0.1).to(argument.dtype));
        out.shapes.push_back(std::vector<int64_t>(argument.shape.size(), 8));
    }
    out.program = std::make_shared<const Program>(std::move(program));
    ProgramParameter dt{.name = "dt", .arguments = {1}, .value = {0.1f}};
    dt.min = 0, dt.max = 0.5, dt.log = true, dt.unit = "s", dt.help = "time step";
    ProgramParameter rule{.name = "rule", .kind = ProgramParameter::Kind::Choice};
    rule.arguments = {2, 4}, rule.value = {1}, rule.names = {"life", "maze"};
    out.parameters = {dt, rule};
    return out;
}
SavedProgram all_saved() { return saved_of(all_of_it()); }

std::string origin_message(const Bytes& bytes) {
    return message<UserError>([&] { program_from_bytes(bytes, "a.firn"); });
}

/// A header that says that these bytes are whole.
Bytes sealed(Bytes bytes) {
    const uint64_t count = bytes.size() - kHeaderBytes;
    const uint64_t sum = XXH3_64bits(bytes.data() + kHeaderBytes, count);
    std::memcpy(bytes.data() + 32, &count, sizeof count);
    std::memcpy(bytes.data() + kChecksumAt, &sum, sizeof sum);
    return bytes;
}

TEST(SavedPrograms, OlderFilesThatStateNoFormatHoldKernelsForVulkan) {
    const SavedProgram saved = read_program(FIRN_SOURCE_DIR "/tests/device/files/format_2.firn");
    for (const KernelInfo& kernel : saved.program->kernels)
        EXPECT_EQ(kernel.artefact.format, kSpirvFormat);
    EXPECT_EQ(Artefact().format, "");
}

TEST(SavedPrograms, FilesOfFormat2HaveOtherNames) {
    const SavedProgram saved = read_program(FIRN_SOURCE_DIR "/tests/device/files/format_2.firn");
    const DeviceProfile &own = saved.program->profile, reference = cpu_profile();
    EXPECT_TRUE(own.view_loads);
    EXPECT_EQ(own.max_views, reference.max_views);
    EXPECT_EQ(own.max_view_elements, reference.max_view_elements);
    EXPECT_GT(saved.program->build_milliseconds, 0);
    for (const KernelInfo& kernel : saved.program->kernels) {
        EXPECT_NE(kernel.artefact.text.find("void main"), std::string::npos);
        ASSERT_FALSE(kernel.artefact.words.empty());
        EXPECT_EQ(kernel.artefact.words[0], 0x07230203u);
    }
}

TEST(SavedPrograms, AreReadAsTheyWereWritten) {
    const SavedProgram saved = all_saved();
    const Bytes bytes = program_bytes(saved);
    const SavedProgram read = program_from_bytes(bytes, "here");
    EXPECT_EQ(program_bytes(read), bytes);
    const Program &a = *saved.program, &b = *read.program;
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.results[1].shape, b.results[1].shape);
    EXPECT_EQ(data_symbols(b.data_sizes[0].size).size(), 1u);
    EXPECT_EQ(a.assumed, b.assumed);
    EXPECT_EQ(a.kernels[1].artefact.words, b.kernels[1].artefact.words);
    EXPECT_EQ(a.kernels[0].lines, b.kernels[0].lines);
    EXPECT_EQ(a.buffers[4].data, b.buffers[4].data);
    EXPECT_EQ(b.host_scalars[1].constant, 0.1);
    EXPECT_EQ(b.verdicts[0].materialise_seconds, std::numeric_limits<double>::infinity());
    const auto& loop = std::get<RepeatStep>(b.steps[2].step);
    EXPECT_EQ(loop.rotation, (std::vector<std::pair<int, int>>{{1, 2}, {2, 1}}));
    EXPECT_EQ(loop.never_ended, "it never ends");
    EXPECT_EQ(std::get<DispatchStep>(loop.body[0].step).params,
              std::get<DispatchStep>(std::get<RepeatStep>(a.steps[2].step).body[0].step).params);
    EXPECT_EQ(cache_key(a.profile), cache_key(b.profile));
    EXPECT_EQ(read.scalars, saved.scalars);
    EXPECT_EQ(read.parameters[1].names, saved.parameters[1].names);
    EXPECT_EQ(read.parameters[0].max, 0.5);
    EXPECT_FALSE(read.parameters[0].soft_max);
}

/// The program again, for calls with n equal to 8.
SavedProgram with_variant() {
    SavedProgram saved = all_saved();
    SavedVariant& variant = saved.variants.emplace_back();
    variant.facts.exact["n"] = 8, variant.facts.divisors["m"] = 4, variant.facts.largest["m"] = 64;
    Program program = *saved.program;
    program.profile = native_profile(256);
    program.profile.processor = "x86-64-v3";
    variant.program = std::make_shared<const Program>(std::move(program));
    return saved;
}

TEST(SavedPrograms, KeepTheirVariantsAndHoldConstantsOnce) {
    SavedProgram saved = with_variant();
    const Bytes bytes = program_bytes(saved);
    const SavedProgram read = program_from_bytes(bytes, "here");
    EXPECT_EQ(program_bytes(read), bytes);
    ASSERT_EQ(read.variants.size(), 1u);
    EXPECT_EQ(text(read.variants[0].facts), text(saved.variants[0].facts));
    EXPECT_EQ(read.variants[0].program->profile.processor, "x86-64-v3");
    EXPECT_EQ(read.variants[0].program->buffers[4].data, saved.program->buffers[4].data);
    Program larger = *saved.program;
    buffer_of(larger, 4).elements = 4096;
    buffer_of(larger, 4).data.resize(4096, std::byte{7});
    saved.program = std::make_shared<const Program>(larger);
    const size_t alone = program_bytes(saved).size();
    saved.variants[0].program = saved.program;
    EXPECT_LT(program_bytes(saved).size(), alone + 1000);
}

TEST(SavedPrograms, VariantsThatDoNotFitAreRefused) {
    const auto refused = [](const auto& change) {
        SavedProgram saved = with_variant();
        Program program = *saved.variants[0].program;
        change(saved.variants[0], program);
        saved.variants[0].program = std::make_shared<const Program>(std::move(program));
        return message<UserError>([&] { program_bytes(saved); });
    };
    EXPECT_NE(refused([](SavedVariant& v, Program&) { v.facts.exact["k"] = 2; }).find("'k'"),
              std::string::npos);
    EXPECT_NE(refused([](SavedVariant& v, Program&) { v.facts.divisors["m"] = 0; }).find("'m'"),
              std::string::npos);
    EXPECT_NE(refused([](SavedVariant&, Program& p) {
                  p.arguments[1].dtype = i32;
              }).find("other arguments than the program"),
              std::string::npos);
    EXPECT_NE(refused([](SavedVariant&, Program& p) {
                  p.results[1].dtype = buffer_of(p, p.results[1].buffer).dtype = u32;
              }).find("other results than the program"),
              std::string::npos);
}

/// The bytes of a program with the names of format 2, as texts of CBOR: a byte with the length, and
/// the letters.
Bytes of_format_2(const SavedProgram& saved) {
    Bytes bytes = program_bytes(saved);
    const auto item = [](const std::string& word) {
        Bytes out{static_cast<std::byte>(0x60 + word.size())};
        for (const char letter : word) out.push_back(static_cast<std::byte>(letter));
        return out;
    };
    size_t renamed = 0;
    for (const auto& [now, before] :
         {std::pair("text", "glsl"), std::pair("words", "spirv"), std::pair("view", "texel"),
          std::pair("max_views", "max_texel_buffers"),
          std::pair("max_view_elements", "max_texel_elements"),
          std::pair("view_loads", "texel_loads"),
          std::pair("build_milliseconds", "spirv_milliseconds")}) {
        const Bytes from = item(now), to = item(before);
        for (auto at = bytes.begin();; ++renamed) {
            at = std::search(at, bytes.end(), from.begin(), from.end());
            if (at == bytes.end()) break;
            at = bytes.erase(at, at + std::ssize(from));
            at = bytes.insert(at, to.begin(), to.end()) + std::ssize(to);
        }
    }
    EXPECT_GT(renamed, 7u);
    bytes[8] = std::byte{2};
    return sealed(std::move(bytes));
}

TEST(SavedPrograms, NamesOfFormat2AreReadInVariantsToo) {
    SavedProgram saved = with_variant();
    Program program = *saved.program;
    program.kernels[0].bindings[0].form = BindingForm::View;
    saved.program = std::make_shared<const Program>(std::move(program));
    const Bytes bytes = of_format_2(saved);
    EXPECT_EQ(program_bytes(program_from_bytes(bytes, "here")), program_bytes(saved));
    // The present format has none of them.
    Bytes now = bytes;
    now[8] = std::byte{3};
    EXPECT_NE(origin_message(now).find("is missing"), std::string::npos);
}

/// A device that runs programs of its class, and nothing else.
class ProgramsOfItsClass : public Executor {
  public:
    explicit ProgramsOfItsClass(const DeviceProfile& profile) : profile_(profile) {}
    const DeviceProfile& profile() const override { return profile_; }
    std::shared_ptr<Memory> allocate(uint64_t, const std::string&) override { return nullptr; }
    void write(Memory&, uint64_t, std::span<const std::byte>) override {}
    void read(const Memory&, uint64_t, std::span<std::byte>) override {}
    void run(const std::shared_ptr<const Program>&, const Call&) override {}
    void wait() override {}
    std::string why_cannot_run(const Program& program) const override {
        return program.profile.device_class == profile_.device_class ? "" : "it is for others";
    }

  private:
    DeviceProfile profile_;
};

TEST(SavedPrograms, TheVariantThatFitsServesTheCall) {
    const SavedProgram saved = with_variant();
    const auto serves = [&](const DeviceProfile& profile, int64_t n, int64_t m) {
        std::vector<std::vector<int64_t>> shapes = saved.shapes;
        shapes[0] = {n, m};
        return program_for(saved, ProgramsOfItsClass(profile), shapes, saved.scalars);
    };
    EXPECT_EQ(serves(native_profile(), 8, 12), saved.variants[0].program);
    EXPECT_EQ(serves(gpu_profile(), 8, 12), saved.program);
    for (const auto& [n, m] : {std::pair(10, 12), std::pair(8, 13), std::pair(8, 68)}) {
        EXPECT_EQ(serves(gpu_profile(), n, m), saved.program);
        const std::string said = message<UserError>([&] { serves(native_profile(), n, m); });
        EXPECT_NE(said.find("has no form that runs on 'reference processor': it is for others"),
                  std::string::npos)
            << said;
    }
}

TEST(SavedPrograms, LieInFiles) {
    const std::string path = ::testing::TempDir() + "firn_saved_program_test.firn";
    write_program(path, all_saved());
    EXPECT_EQ(program_bytes(read_program(path)), program_bytes(all_saved()));
    std::filesystem::remove(path);
    EXPECT_NE(message<UserError>([&] { read_program(path); }).find(path), std::string::npos);
    EXPECT_NE(message<UserError>([] {
                  write_program("/nowhere/a.firn", all_saved());
              }).find("/nowhere/a.firn: cannot be written"),
              std::string::npos);
}

TEST(SavedPrograms, OfTheInterpreterHaveNoCodeToRun) {
    Program p = all_of_it();
    p.kernels[2].artefact.words.clear();
    EXPECT_EQ(
        message<UserError>([&] { write_program("/nowhere/a.firn", saved_of(p)); }),
        "program /nowhere/a.firn: cannot be written: kernel 'k2' has no code that a device runs");
}

TEST(SavedPrograms, ForeignAndNewerFilesAreRefused) {
    EXPECT_EQ(origin_message({}),
              "program a.firn: cannot be read: it is no saved program; save it anew");
    Bytes bytes = program_bytes(all_saved());
    for (const int format : {1, 4}) {
        bytes[8] = static_cast<std::byte>(format);
        EXPECT_EQ(
            origin_message(bytes),
            "program a.firn: cannot be read: it has format " + std::to_string(format) +
                ", written by Firn 0.1.0, and this is Firn 0.1.0, which reads formats 2 to 3; "
                "save it anew");
    }
    bytes[0] = std::byte{'F'};
    EXPECT_NE(origin_message(bytes).find("no saved program"), std::string::npos);
    Bytes more = program_bytes(all_saved());
    more.push_back(std::byte{0});
    EXPECT_NE(origin_message(more).find("behind its end"), std::string::npos);
}

TEST(SavedPrograms, CutAnywhereAreRefused) {
    const Bytes whole = program_bytes(all_saved());
    for (size_t size = 0; size < whole.size(); ++size) {
        Bytes cut(whole.begin(), whole.begin() + static_cast<long>(size));
        ASSERT_NE(origin_message(cut).find("program a.firn: cannot be read: it is"),
                  std::string::npos)
            << size;
        if (size < kHeaderBytes) continue;
        ASSERT_NE(origin_message(sealed(std::move(cut))), "nothing was thrown") << size;
    }
}

/// Does the first steps of a call of each program in the file.
void plan(const SavedProgram& saved) {
    for (const SavedVariant& variant : saved.variants)
        if (hold(variant.facts, bind_symbols(*saved.program, saved.shapes, saved.scalars)))
            plan({.name = {},
                  .program = variant.program,
                  .parameters = {},
                  .scalars = saved.scalars,
                  .shapes = saved.shapes});
    const Program& program = *saved.program;
    const SizeEnv env = bind_symbols(program, saved.shapes, saved.scalars);
    if (can_be_flat(program, env)) plan_memory(program, flatten(program, env), env);
    plan_rotating_memory(program, env);
    stats(program, env);
}

/// Loads, or throws UserError; what loads can be written again, and planned or refused.
bool loads(const Bytes& bytes) {
    try {
        const SavedProgram read = program_from_bytes(bytes, "flipped");
        EXPECT_FALSE(program_bytes(read).empty());
        try {
            plan(read);
        } catch (const UserError&) {
        }
        return true;
    } catch (const UserError&) {
        return false;
    }
}

TEST(SavedPrograms, DamagedAnywhereAreRefused) {
    const Bytes whole = program_bytes(all_saved());
    for (size_t at = 0; at < whole.size(); ++at) {
        if (at >= 12 && at < 32) continue;  // by which Firn it was written
        Bytes flipped = whole;
        flipped[at] ^= std::byte{0x10};
        ASSERT_FALSE(loads(flipped)) << at;
    }
}

// Files with a valid seal, as if an attacker had made them.
TEST(SavedPrograms, WhateverIsSealedLoadsOrIsRefused) {
    // Variants have the fields of programs once more: some of their bytes will do.
    for (const auto& [whole, stride] : {std::pair(program_bytes(all_saved()), size_t{1}),
                                        std::pair(program_bytes(with_variant()), size_t{7})}) {
        size_t refused = 0;
        for (size_t at = kHeaderBytes; at < whole.size(); at += stride)
            for (int flip : {0x01, 0x20, 0x80, 0xff}) {
                Bytes flipped = whole;
                flipped[at] ^= static_cast<std::byte>(flip);
                refused += !loads(sealed(std::move(flipped)));
            }
        EXPECT_GT(refused, whole.size() / stride);  // of four flips a byte, one at least
    }
}

TEST(SavedPrograms, ValuesInsideOneAnotherEndSomewhere) {
    Bytes deep(kHeaderBytes);
    const Bytes whole = program_bytes(all_saved());
    std::copy_n(whole.begin(), kHeaderBytes, deep.begin());
    deep.insert(deep.end(), 1'000'000, std::byte{0x81});  // a list of a list of a list ..
    EXPECT_NE(origin_message(sealed(deep)).find("it is damaged"), std::string::npos);
}

/// The bytes with another value of one byte behind the first key of this name.
Bytes with_value(const Bytes& bytes, const std::string& key, const std::vector<int>& value) {
    const auto* text = reinterpret_cast<const std::byte*>(key.data());
    auto at = std::search(bytes.begin(), bytes.end(), text, text + key.size());
    EXPECT_NE(at, bytes.end());
    at += static_cast<long>(key.size());
    Bytes out(bytes.begin(), at);
    for (int each : value) out.push_back(static_cast<std::byte>(each));
    out.insert(out.end(), at + 1, bytes.end());
    return sealed(std::move(out));
}

TEST(SavedPrograms, ValuesOfAnotherTypeOrRangeAreNamed) {
    const Bytes whole = program_bytes(all_saved());
    const std::string where =
        "program a.firn: cannot be read: its program.kernels[0].shared_bytes ";
    for (const std::vector<int>& value :
         std::vector<std::vector<int>>{{0x20},
                                       {0x1b, 0, 0, 0, 1, 0, 0, 0, 0},
                                       {0x61, 'x'},
                                       {0xf5},
                                       {0xf9, 0x3c, 0},
                                       {0xf6}}) {
        const std::string said = origin_message(with_value(whole, "shared_bytes", value));
        EXPECT_TRUE(said.starts_with(where + "is of type ") &&
                    said.ends_with(" and must be an integer of this size; save it anew"))
            << said;
    }
}

struct Unfit {
    const char* says;
    std::function<void(Program&)> change;
};
DispatchStep& dispatch_of(Program& p, size_t step = 0) {
    return std::get<DispatchStep>(p.steps[step].step);
}
RepeatStep& loop_of(Program& p) { return std::get<RepeatStep>(p.steps[2].step); }
DispatchStep& inner_of(Program& p) { return std::get<DispatchStep>(loop_of(p).body[0].step); }

const Unfit kUnfit[] = {
    {"names a kernel that is not there", [](Program& p) { dispatch_of(p).kernel = 3; }},
    {"names a kernel that is not there", [](Program& p) { dispatch_of(p).kernel = -1; }},
    {"names a buffer that is not there", [](Program& p) { dispatch_of(p).buffers[0] = 99; }},
    {"another number of buffers", [](Program& p) { dispatch_of(p).buffers.pop_back(); }},
    {"another number of parameters", [](Program& p) { inner_of(p).params.pop_back(); }},
    {"a number from an argument that is not a number",
     [](Program& p) { inner_of(p).params[1].scalar = 0; }},
    {"a number that is not there", [](Program& p) { inner_of(p).params[1].scalar = 10; }},
    {"a number that is not there", [](Program& p) { inner_of(p).params[1].scalar = -2; }},
    {"size 'k', which no call gives",
     [](Program& p) { inner_of(p).params[0].size = Size::symbol("k"); }},
    {"size 't', which no call gives",
     [](Program& p) { dispatch_of(p).groups[0] = Size::symbol("t"); }},
    {"size '$1', which no call gives", [](Program& p) { loop_of(p).trips = Size::symbol("$1"); }},
    {"takes its number of groups from a buffer that is not there",
     [](Program& p) { dispatch_of(p, 3).sizes_binding = 3; }},
    {"takes its number of groups from outside",
     [](Program& p) { dispatch_of(p, 3).sizes_groups = 1; }},
    {"takes its number of groups from outside",
     [](Program& p) { dispatch_of(p, 3).sizes_groups = -1; }},
    {"a copy names a buffer", [](Program& p) { std::get<CopyStep>(p.steps[1].step).source = 99; }},
    {"a copy has buffers of different sizes",
     [](Program& p) { std::get<CopyStep>(p.steps[1].step).target = 3; }},
    {"the loop at all.cpp:9 does not exchange", [](Program& p) { loop_of(p).rotation.pop_back(); }},
    {"the loop at all.cpp:9 names a buffer",
     [](Program& p) { loop_of(p).rotation[0].second = -3; }},
    {"has buffers of different sizes",
     [](Program& p) {
         loop_of(p).rotation = {{1, 4}, {4, 1}};
     }},
    {"a condition that is not a bool", [](Program& p) { loop_of(p).alive = 1; }},
    {"host number 2 has an invalid operand", [](Program& p) { p.host_scalars[2].b = 2; }},
    {"host number 4 has an invalid operand", [](Program& p) { p.host_scalars[4].a = -1; }},
    {"host number 0 names an argument", [](Program& p) { p.host_scalars[0].argument = 0; }},
    {"argument 0 names a buffer", [](Program& p) { p.arguments[0].buffer = 50; }},
    {"argument 0 lies in a buffer of another", [](Program& p) { p.arguments[0].buffer = 1; }},
    {"argument 1 is a number but has", [](Program& p) { p.arguments[1].buffer = 0; }},
    {"result 1 names a buffer", [](Program& p) { p.results[1].buffer = -1; }},
    {"result 1 lies in a buffer of another", [](Program& p) { p.results[1].dtype = i32; }},
    {"data size 0 names a buffer", [](Program& p) { p.data_sizes[0].buffer = 70; }},
    {"data size 0 is not a single size", [](Program& p) { p.data_sizes[0].size = 4; }},
    {"result 1 depends on the size '?3'", [](Program& p) { p.data_sizes.clear(); }},
    {"more data than elements", [](Program& p) { p.buffers[4].data.resize(33); }},
    {"is not a constant", [](Program& p) { p.buffers[1].data.resize(4); }},
    {"a workgroup of an invalid size", [](Program& p) { p.kernels[0].group_size[1] = 0; }},
    {"a binding with an invalid width", [](Program& p) { p.kernels[0].bindings[0].width = 3; }},
    {"a view with an invalid element type",
     [](Program& p) { p.kernels[0].bindings[2].form = BindingForm::View; }},
    {"too small for an address",
     [](Program& p) {
         p.kernels[1].bindings[0].form = BindingForm::Address;
         p.kernels[1].param_types.push_back(i32);
     }},
    {"its device has an invalid rate", [](Program& p) { p.profile.bytes_per_second = -1; }},
    {"a guard depends on the size 'x'", [](Program& p) { p.guards[0].left = Size::symbol("x"); }},
};

TEST(SavedPrograms, ProgramsWhosePartsDoNotFitAreRefused) {
    for (const Unfit& unfit : kUnfit) {
        Program p = all_of_it();
        unfit.change(p);
        const std::string said = message<UserError>([&] { program_bytes(saved_of(p)); });
        EXPECT_NE(said.find(unfit.says), std::string::npos) << unfit.says << ": " << said;
    }
}

TEST(SavedPrograms, EveryFieldIsOnThePageOfTheFormat) {
    const auto text = [](const char* path) {
        std::ifstream in(std::string(FIRN_SOURCE_DIR "/compiler/program/") + path);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string list = text("saved_fields.h"), page = text("saved_format.md");
    size_t fields = 0;
    for (size_t at = list.find("(\""); at != std::string::npos; at = list.find("(\"", at + 1)) {
        const std::string key = list.substr(at + 2, list.find('"', at + 2) - at - 2);
        EXPECT_NE(page.find('`' + key + '`'), std::string::npos) << key;
        ++fields;
    }
    EXPECT_GT(fields, 100u);
}

TEST(SavedPrograms, NamesOfOtherResultsAreRefused) {
    SavedProgram saved = all_saved();
    saved.result_names.assign(saved.program->results.size() + 1, "r");
    EXPECT_THROW(program_from_bytes(program_bytes(saved), "a file"), UserError);
}

TEST(SavedPrograms, ParametersThatDoNotFitAreRefused) {
    using Change = std::function<void(ProgramParameter & dt, ProgramParameter & rule)>;
    const std::pair<const char*, Change> unfit[] = {
        {"feeds an argument that is not a number", [](auto& dt, auto&) { dt.arguments = {0}; }},
        {"feeds an argument that is not a number", [](auto& dt, auto&) { dt.arguments = {5}; }},
        {"another number of values",
         [](auto& dt, auto&) {
             dt.value = {1, 2};
         }},
        {"another number of values", [](auto& dt, auto&) { dt.arguments.clear(); }},
        {"outside of its own range", [](auto& dt, auto&) { dt.value = {0.6}; }},
        {"an invalid range", [](auto& dt, auto&) { dt.min = 1; }},
        {"an invalid range", [](auto& dt, auto&) { dt.soft_max = 0.6; }},
        {"none of its choices", [](auto&, auto& rule) { rule.value = {2}; }},
        {"is not an integer", [](auto&, auto& rule) { rule.value = {0.5}; }},
        {"the name of another parameter", [](auto&, auto& rule) { rule.name = "dt"; }},
    };
    for (const auto& [says, change] : unfit) {
        SavedProgram saved = all_saved();
        change(saved.parameters[0], saved.parameters[1]);
        const std::string said = message<UserError>([&] { program_bytes(saved); });
        EXPECT_NE(said.find(says), std::string::npos) << says << ": " << said;
    }
}

}  // namespace
}  // namespace firn
