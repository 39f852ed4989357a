// Steps of mappings as texts: a kernel, a mapping, and the kernel that it makes of it, or why it
// cannot. The texts stand in steps/; FIRN_WRITE_STEPS=1 writes anew what follows from the mappings.
#include "compiler/mapping/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/base/error.h"
#include "compiler/ir/interpret.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/mapping/kernel_passes.h"

namespace firn {
namespace {

constexpr const char* kFolder = FIRN_SOURCE_DIR "/tests/mapping/steps";

struct StepCase {
    std::string mapping, outcome;  // the kernel's text, or `illegal` and why
};
struct StepFile {
    std::string device, ready;
    std::vector<StepCase> cases;
};

StepFile read_file(const std::string& path) {
    std::ifstream in(path);
    StepFile out;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("device "))
            out.device = line.substr(7);
        else if (line.starts_with("=> "))
            out.cases.push_back({line.substr(3), ""});
        else
            (out.cases.empty() ? out.ready : out.cases.back().outcome) += line + "\n";
    }
    return out;
}

DeviceProfile profile_of(const std::string& device) {
    DeviceProfile profile = device == "cpu" ? cpu_profile() : gpu_profile();
    if (device == "matrix") profile.matrix_unit = {16, 16, 16};
    return profile;
}

/// Returns the buffers after a kernel; they hold small whole numbers before, so that sums and
/// products are exact in any order.
std::vector<std::vector<std::byte>> run(const KernelCode& code, uint32_t lanes) {
    std::map<int, std::vector<std::byte>> memory;
    std::vector<std::span<std::byte>> buffers;
    for (const KernelBuffer& b : code.buffers) {
        if (b.space != MemorySpace::Bound) continue;
        HostTensor values = HostTensor::make(b.dtype, {b.elements.constant()});
        for (int64_t k = 0; k < values.elements(); ++k)
            values.set(k, scalar_int((k * 7 + k / 5) % 11 - 2).to(b.dtype));
        values.data.resize((values.data.size() + 15) / 16 * 16);
        buffers.push_back(memory.emplace(b.buffer, std::move(values.data)).first->second);
    }
    interpret_kernel(code, buffers, {}, {}, lanes);
    std::vector<std::vector<std::byte>> out;
    for (auto& [buffer, bytes] : memory) out.push_back(std::move(bytes));
    return out;
}

std::string outcome(const KernelCode& ready, const std::string& words,
                    const DeviceProfile& profile) {
    const auto mapping = parse_mapping(words);
    if (!mapping) return "no mapping\n";
    const std::string why = why_illegal({ready, *mapping, profile, {}});
    if (!why.empty()) {
        EXPECT_THROW(map_kernel(ready, *mapping, profile, {}), InternalError) << words;
        return "illegal " + why + "\n";
    }
    const KernelCode mapped = map_kernel(ready, *mapping, profile, {});
    EXPECT_EQ(run(mapped, profile.subgroup_size), run(ready, profile.subgroup_size)) << words;
    return print(mapped);
}

std::vector<std::string> files() {
    std::vector<std::string> out;
    for (const auto& file : std::filesystem::directory_iterator(kFolder))
        out.push_back(file.path().stem());
    std::sort(out.begin(), out.end());
    return out;
}
class MappingSteps : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Files, MappingSteps, testing::ValuesIn(files()),
                         [](const auto& row) { return row.param; });

TEST_P(MappingSteps, MakeTheKernelsOfTheirTexts) {
    const std::string path = std::string(kFolder) + "/" + GetParam() + ".txt";
    const StepFile file = read_file(path);
    const KernelCode ready = parse_kernel(file.ready);
    verify(ready, KernelStage::Ready, path);
    const bool write = std::getenv("FIRN_WRITE_STEPS");
    std::ostringstream anew;
    anew << "device " << file.device << "\n" << file.ready;
    for (const StepCase& given : file.cases) {
        const std::string got = outcome(ready, given.mapping, profile_of(file.device));
        if (!write) {
            EXPECT_EQ(got, given.outcome)
                << given.mapping << "\n(FIRN_WRITE_STEPS=1 writes it anew)";
        }
        anew << "=> " << given.mapping << "\n" << got;
    }
    if (write) std::ofstream(path) << anew.str();
}

TEST(MappingTexts, HaveEveryStepAndWhyItIsIllegal) {
    std::set<std::string> legal, illegal;
    for (const std::string& name : files())
        for (const StepCase& given : read_file(std::string(kFolder) + "/" + name + ".txt").cases) {
            const bool is_illegal = given.outcome.starts_with("illegal ");
            const auto mapping = parse_mapping(given.mapping);
            ASSERT_TRUE(mapping) << given.mapping;
            if (is_illegal)
                illegal.insert(given.outcome.substr(8, given.outcome.find(':') - 8));
            else
                for (const MappingStep& step : mapping_steps())
                    if (step.is_taken(*mapping)) legal.insert(std::string(step.name));
        }
    for (const MappingStep& step : mapping_steps()) {
        EXPECT_TRUE(legal.contains(std::string(step.name))) << step.name;
        EXPECT_EQ(step.rules.why_not != nullptr, illegal.contains(std::string(step.name)))
            << step.name;
    }
}

TEST(MappingTexts, GiveTheMappingBack) {
    for (const char* words :
         {"group 64x4", "tile 4x8 strides 2 group 64x4 whole 3 unroll 16", "tile 1x1x4 group 8x1",
          "group 8x1 shuffle 8 unroll 8 collapse", "accumulate private walk 64x2 group 8x1",
          "accumulate shared walk 1x2 group 8x1", "group 16x16 stage 16",
          "matrix 1x2x2x1 group 64x1"})
        EXPECT_EQ(text(parse_mapping(words).value_or(Mapping())), words);
    Mapping mapping;
    mapping.tile = {1, 1};  // as if it were not there
    EXPECT_EQ(text(mapping), "group 64x1");
}

TEST(MappingTexts, AreRefusedWhereTheyAreNone) {
    for (const char* words : {"",
                              "group",
                              "group 64",
                              "group 64x4x1",
                              "tile group 64x4",
                              "tile 4x-1 group 64x4",
                              "tile 4x group 64x4",
                              "tile 1 group 64x4",
                              "tile 4",
                              "group 64x4 tile 4",
                              "group 64x4 group 64x4",
                              "group 64x4 more",
                              "group 64x4 collapse 2",
                              "accumulate group 64x4",
                              "accumulate bound group 64x4",
                              "accumulate private shared group 64x4",
                              "group 64x4 unroll 99999999",
                              "group 64x4 unroll 2x2",
                              "matrix 2x2x1 group 64x1",
                              "matrix 2x2x0x1 group 64x1"})
        EXPECT_FALSE(parse_mapping(words)) << words;
}

}  // namespace
}  // namespace firn
