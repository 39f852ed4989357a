// Says whether this build looks for races.
#pragma once

/// FIRN_FINDS_RACES: the build has -fsanitize=thread.
#if defined(__SANITIZE_THREAD__)
#define FIRN_FINDS_RACES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIRN_FINDS_RACES 1
#endif
#endif

#ifdef FIRN_FINDS_RACES
extern "C" void __tsan_ignore_thread_begin();
extern "C" void __tsan_ignore_thread_end();
#endif

namespace firn {

/// The same for code that is compiled in either case: kernels of native code then tell the
/// sanitizer their accesses, too.
#ifdef FIRN_FINDS_RACES
inline constexpr bool kFindsRaces = true;
#else
inline constexpr bool kFindsRaces = false;
#endif

/// While it lives, this thread runs code of a library that was not built with the sanitizer, which
/// sees the library's memory without the atomics that guard it.
class OutsideSanitizer {
  public:
#ifdef FIRN_FINDS_RACES
    OutsideSanitizer() { __tsan_ignore_thread_begin(); }
    ~OutsideSanitizer() { __tsan_ignore_thread_end(); }
#else
    OutsideSanitizer() {}
    ~OutsideSanitizer() {}
#endif
    OutsideSanitizer(const OutsideSanitizer&) = delete;
    OutsideSanitizer& operator=(const OutsideSanitizer&) = delete;
};

}  // namespace firn
