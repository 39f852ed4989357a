// Kernels mapped otherwise than the heuristics say.
#include "compiler/tune.h"

#include <sstream>

#include "compiler/mapping/mapping_text.h"
#include "compiler/mapping/vary_mapping.h"
#include "compiler/plan_kernel.h"
#include "compiler/program/disk_cache.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr const char* kMappings = "mapping";  // kinds of entries in the cache
constexpr const char* kCuts = "cuts";
constexpr const char* kVersion = "1";  // of the meaning of their words

/// The words that were kept under a key.
std::optional<std::string> find_words(const char* kind, const std::string& key,
                                      const CompileOptions& options) {
    if (options.tuned)
        if (const auto at = options.tuned->find(key); at != options.tuned->end()) return at->second;
    return cache_find_text(options.cache_directory, kind, key);
}

}  // namespace

std::string tuning_key(const std::string& glsl, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    std::ostringstream key;
    key << kVersion << '\n'
        << profile.name << '\n'
        << profile.driver << '\n'
        << cache_key(profile) << '\n';
    for (const auto& [symbol, divisor] : facts.divisors) key << symbol << '%' << divisor << ' ';
    for (const auto& [symbol, most] : facts.largest) key << symbol << "<=" << most << ' ';
    if (!facts.bindable) key << "large ";
    key << '\n' << glsl;
    return cache_hash(key.str());
}

std::optional<Mapping> find_tuned(const std::string& key, const CompileOptions& options) {
    const std::optional<std::string> kept = find_words(kMappings, key, options);
    return kept ? parse_mapping(*kept) : std::nullopt;
}

void keep_tuned(const std::string& key, const Mapping& mapping, const std::string& directory) {
    cache_put_text(directory, kMappings, key, text(mapping));
}

std::string cuts_key(const Program& program, const SymbolFacts& facts) {
    std::string kernels;
    for (const KernelInfo& kernel : program.kernels)
        kernels += kernel.tuning_key.empty() ? kernel.glsl : kernel.tuning_key;
    return tuning_key(kCuts + kernels, program.profile, facts);
}

std::optional<CutWeights> find_tuned_cuts(const std::string& key, const CompileOptions& options) {
    const std::optional<std::string> kept = find_words(kCuts, key, options);
    const std::optional<CutWeights> cuts = kept ? parse_cut_weights(*kept) : std::nullopt;
    return cuts && *cuts != CutWeights{} ? cuts : std::nullopt;
}

void keep_tuned_cuts(const std::string& key, const CutWeights& cuts, const std::string& directory) {
    cache_put_text(directory, kCuts, key, text(cuts));
}

std::optional<KernelCode> remap(const KernelCode& lowered, const Mapping& mapping,
                                const DeviceProfile& profile, const SymbolFacts& facts) {
    try {
        KernelCode code = map_kernel(lowered, mapping, profile, facts);
        verify(code, "map");
        check_limits(code, profile, "");
        return code;
    } catch (const std::exception&) {
        return std::nullopt;  // another version's words: the heuristics know better
    }
}

std::vector<Mapping> other_mappings(const Program& program, int kernel, const Mapping& mapping,
                                    const SymbolFacts& facts) {
    std::shared_ptr<const KernelCode> lowered;
    bool all = true;
    for_dispatches(program.steps, [&](const DispatchStep& step) {
        if (step.kernel != kernel) return;
        lowered = step.lowered;
        all = all && step.lowered;
    });
    if (!lowered || !all) return {};
    return vary_mapping(*lowered, mapping, program.profile, facts);
}

std::shared_ptr<Program> with_mapping(const Program& program, int kernel, const Mapping& mapping,
                                      const SymbolFacts& facts) {
    auto out = std::make_shared<Program>(program);
    std::optional<KernelInfo> made;
    for_dispatches(out->steps, [&](DispatchStep& step) {
        if (step.kernel != kernel) return;
        KernelCode code = map_kernel(*step.lowered, mapping, program.profile, facts);
        verify(code, "map");
        check_limits(code, program.profile, "");
        launch_as(step, code);
        KernelInfo info = kernel_info(code, program.profile);
        ensure(!made || made->glsl == info.glsl, "equal kernels differ in another mapping");
        if (made) return;
        info.code = std::make_shared<KernelCode>(std::move(code));
        made = std::move(info);
    });
    ensure(made.has_value(), "a kernel that nobody launches");
    KernelInfo& old = out->kernels[static_cast<size_t>(kernel)];
    made->name = old.name, made->lines = old.lines, made->tuning_key = old.tuning_key;
    made->mapping = text(mapping), made->tuned = true;
    old = std::move(*made);
    return out;
}

}  // namespace firn
