// Keeps tuned mappings and cuts.
#include "compiler/plan/tuned.h"

#include <sstream>

#include "compiler/base/disk_cache.h"
#include "compiler/mapping/mapping.h"

namespace firn {
namespace {

constexpr const char* kMappings = "mapping";  // kinds of entries in the cache
constexpr const char* kCuts = "cuts";
constexpr const char* kVersion = "2";  // of their keys and of the meaning of their words

/// The words that were kept under a key.
std::optional<std::string> find_words(const char* kind, const std::string& key,
                                      const CompileOptions& options) {
    if (options.tuned)
        if (const auto at = options.tuned->find(key); at != options.tuned->end()) return at->second;
    return cache_find_text(options.cache_directory, kind, key);
}

}  // namespace

std::string tuning_key(const std::string& kernel, const DeviceProfile& profile,
                       const CompileOptions& options) {
    std::ostringstream key;
    key << kVersion << '\n'
        << profile.name << '\n'
        << profile.driver << '\n'
        << cache_key(profile) << '\n';
    for (const std::string& pass : options.skipped) key << "without " << pass << '\n';
    key << text(options.facts) << '\n' << kernel;
    return cache_hash(key.str());
}

std::optional<Mapping> find_tuned(const std::string& key, const CompileOptions& options) {
    const std::optional<std::string> kept = find_words(kMappings, key, options);
    return kept ? parse_mapping(*kept) : std::nullopt;
}

void keep_tuned(const std::string& key, const Mapping& mapping, const std::string& directory) {
    cache_put_text(directory, kMappings, key, text(mapping));
}

std::string cuts_key(const Program& program, const CompileOptions& options) {
    std::string kernels;
    for (const KernelInfo& kernel : program.kernels)
        kernels += kernel.tuning_key.empty() ? kernel.identity : kernel.tuning_key;
    return tuning_key(kCuts + kernels, program.profile, options);
}

std::optional<CutWeights> find_tuned_cuts(const std::string& key, const CompileOptions& options) {
    const std::optional<std::string> kept = find_words(kCuts, key, options);
    const std::optional<CutWeights> cuts = kept ? parse_cut_weights(*kept) : std::nullopt;
    return cuts && *cuts != CutWeights{} ? cuts : std::nullopt;
}

void keep_tuned_cuts(const std::string& key, const CutWeights& cuts, const std::string& directory) {
    cache_put_text(directory, kCuts, key, text(cuts));
}

}  // namespace firn
