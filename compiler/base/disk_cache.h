// A directory of small files that can be made again: built kernels, pipelines, tuning results.
// The driver gets its contents, so only files that this user alone could write are used.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firn {

/// `$XDG_CACHE_HOME/firn` or `~/.cache/firn`; empty (no cache) where FIRN_NO_CACHE is set to
/// anything but 0 or where there is no home.
std::string default_cache_directory();

/// Name of an entry: 32 hex digits that stand for all of `text`.
std::string cache_hash(std::string_view text);

/// The bytes stored as `name` of this `kind`. Nothing where there are none, or where the file is
/// damaged, cut short, of another kind or of another version of Firn, or where it or the folder
/// belongs to another user or may be written by others. `directory` empty: nothing.
std::optional<std::vector<std::byte>> cache_load(const std::string& directory,
                                                 const std::string& kind, const std::string& name);

/// Stores bytes so that a reader sees all of them or none. Failure (full or read-only disk, no
/// rights) is silent: it only loses speed. `directory` empty: does nothing.
void cache_store(const std::string& directory, const std::string& kind, const std::string& name,
                 std::span<const std::byte> bytes);

/// One line on why others could have written to a folder that is there, so that nothing is read
/// from it or stored in it; empty: they could not, or there is none.
std::string why_cache_is_not_used(const std::string& directory);

/// Removes the entries that were not read or written for longest until all take no more than
/// `most_bytes`, and the remains of killed writers. Files that Firn did not write stay. Stores call
/// it now and then.
void cache_tidy(const std::string& directory, uint64_t most_bytes = uint64_t{512} << 20);

/// Finds or stores a small text, such as the winner of tuning, under `key`. The key, of any length,
/// holds all that could change the text; it is stored with the text, so that another key never
/// finds it.
std::optional<std::string> cache_find_text(const std::string& directory, const std::string& kind,
                                           const std::string& key);
void cache_put_text(const std::string& directory, const std::string& kind, const std::string& key,
                    const std::string& text);

}  // namespace firn
