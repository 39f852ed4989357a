// Hands damaged files to the readers of files, at random or as libFuzzer wants them.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "compiler/base/error.h"
#include "compiler/frontend/session.h"
#include "tests/fuzz/formats.h"

namespace firn {
namespace {

/// The time is the processor's, so that a busy machine causes no finding: a picture of kMostPixels
/// takes several.
constexpr int kSecondsOfARun = 30;

using Random = std::mt19937_64;

size_t below(Random& random, size_t count) { return count == 0 ? 0 : random() % count; }

/// Numbers at which sizes and counts go wrong.
constexpr uint32_t kEdges[] = {0,      1,      2,      0x7f,       0x80,       0xff,
                               0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};

void change(std::string& bytes, const std::string& other, Random& random) {
    const size_t at = below(random, bytes.size() + 1), left = bytes.size() - at;
    const size_t count = 1 + below(random, below(random, 2) ? 4 : 64);
    switch (below(random, 8)) {
        case 0:
            if (left > 0) bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(random, 8));
            return;
        case 1:
            if (left > 0) bytes[at] = static_cast<char>(random());
            return;
        case 2: bytes.erase(at, count); return;
        case 3: bytes.insert(at, count, static_cast<char>(random())); return;
        case 4: bytes.insert(at, bytes.substr(below(random, bytes.size() + 1), count)); return;
        case 5: {
            const uint32_t edge = kEdges[below(random, std::size(kEdges))];
            const size_t width = size_t{1} << below(random, 3);
            const bool big_endian = below(random, 2) != 0;
            for (size_t k = 0; k < std::min(width, left); ++k)
                bytes[at + k] = static_cast<char>(edge >> 8 * (big_endian ? width - 1 - k : k));
            return;
        }
        case 6: {  // a digit of a text
            for (size_t k = at; k < bytes.size(); ++k)
                if (bytes[k] >= '0' && bytes[k] <= '9') {
                    bytes[k] = static_cast<char>('0' + below(random, 10));
                    return;
                }
            return;
        }
        default:
            if (below(random, 4) == 0)
                bytes.resize(at);
            else if (!other.empty())
                bytes.replace(at, count, other.substr(below(random, other.size()), count));
    }
}

std::string damaged(const std::vector<std::string>& seeds, const FuzzFormat& format,
                    Random& random) {
    std::string bytes = seeds[below(random, seeds.size())];
    const std::string& other = seeds[below(random, seeds.size())];
    // Mostly one or two changes, behind which the most is still read.
    for (size_t k = below(random, below(random, 8) + 1) + 1; k > 0; --k)
        change(bytes, other, random);
    if (bytes.size() > format.most_bytes) bytes.resize(format.most_bytes);
    if (format.mend && below(random, 8) != 0) format.mend(bytes);
    return bytes;
}

/// Returns whether it was read.
bool try_read(const FuzzFormat& format, const std::string& bytes) {
    try {
        format.read(bytes);
        return true;
    } catch (const UserError&) {
        return false;
    }
}

#ifndef FIRN_LIBFUZZER

struct Options {
    uint64_t seed = 1, first = 0, runs = 20'000;
    std::vector<std::string> formats;
};

// The format, run and seed of a finding, for the handlers of signals and sanitizers.
const char* current_format = "";
uint64_t current_run = 0, current_seed = 0;

extern "C" void name_the_run() {
    std::fprintf(stderr, "fuzz_files: found by --seed %llu --first %llu --runs 1 %s\n",
                 static_cast<unsigned long long>(current_seed),
                 static_cast<unsigned long long>(current_run), current_format);
}
extern "C" void __sanitizer_set_death_callback(void (*)());

void name_a_hang(int) {
    name_the_run();
    std::fprintf(stderr, "fuzz_files: this run goes on for more than %d s\n", kSecondsOfARun);
    _exit(1);
}

void limit_run(int seconds) {
    const itimerval limit{{}, {seconds, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

bool fuzz(const FuzzFormat& format, const Options& options) {
    const std::vector<std::string> seeds = format.seeds();
    current_format = format.name, current_seed = options.seed;
    for (const std::string& seed : seeds)
        if (!try_read(format, seed)) {
            std::printf("%s: refuses a whole file of its own\n", format.name);
            return false;
        }
    const auto begin = std::chrono::steady_clock::now();
    uint64_t read = 0;
    for (uint64_t run = 0; run < options.runs; ++run) {
        current_run = options.first + run;
        std::seed_seq numbers{options.seed, current_run, uint64_t(format.name[0])};
        Random random(numbers);
        limit_run(kSecondsOfARun);
        try {
            read += try_read(format, damaged(seeds, format, random));
        } catch (const std::exception& error) {
            name_the_run();
            std::printf("%s: %s\n", format.name, error.what());
            return false;
        }
    }
    limit_run(0);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%-12s %9llu runs, %5.1f %% read, %7.1f s, at most %ld MB\n", format.name,
                static_cast<unsigned long long>(options.runs),
                100.0 * double(read) / double(std::max<uint64_t>(options.runs, 1)), seconds.count(),
                usage.ru_maxrss / 1024);
    if (format.notes) std::printf("%-12s %s\n", "", format.notes().c_str());
    std::fflush(stdout);
    return true;
}

Options parsed(int argc, char** argv) {
    Options out;
    for (int k = 1; k < argc; ++k) {
        const std::string_view word = argv[k];
        uint64_t* number = word == "--seed"    ? &out.seed
                           : word == "--first" ? &out.first
                           : word == "--runs"  ? &out.runs
                                               : nullptr;
        if (number && k + 1 < argc) {
            *number = std::strtoull(argv[++k], nullptr, 10);
        } else if (word.starts_with("-")) {
            std::printf("usage: fuzz_files [--runs N] [--seed S] [--first RUN] [FORMAT ..]\n\n");
            for (const FuzzFormat& format : fuzz_formats()) std::printf("  %s\n", format.name);
            std::exit(word == "--help" ? 0 : 2);
        } else {
            out.formats.emplace_back(word);
        }
    }
    return out;
}

#endif

}  // namespace
}  // namespace firn

#ifdef FIRN_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn;
    static Session session = Session::oracle();
    static SessionScope scope{session};
    static const FuzzFormat& format = *[] {
        for (const FuzzFormat& each : fuzz_formats())
            if (std::strcmp(each.name, FIRN_LIBFUZZER) == 0) return &each;
        std::abort();
    }();
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (format.mend) format.mend(bytes);
    try_read(format, bytes);
    return 0;
}

#else

int main(int argc, char** argv) {
    using namespace firn;
    const Options options = parsed(argc, argv);
    Session session = Session::oracle();
    SessionScope scope{session};
    __sanitizer_set_death_callback(name_the_run);
    std::signal(SIGPROF, name_a_hang);
    bool clean = true;
    for (const FuzzFormat& format : fuzz_formats())
        if (options.formats.empty() || std::find(options.formats.begin(), options.formats.end(),
                                                 format.name) != options.formats.end())
            clean = fuzz(format, options) && clean;
    return clean ? 0 : 1;
}

#endif
