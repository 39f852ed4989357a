// Searching faster kernels by running them.
#include "compiler/frontend/tune.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "compiler/explain.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/realize.h"
#include "compiler/lower/mapping_text.h"
#include "compiler/program/disk_cache.h"
#include "compiler/program/error.h"
#include "compiler/program/parallel.h"
#include "compiler/tune.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRuns = 4;             // of a mapping that may win; the fastest counts
constexpr double kHopeless = 1.15;   // a first run this much slower than the best is the last
constexpr double kLeastGain = 0.97;  // of the time, that makes a mapping better
constexpr size_t kBatch = 8;         // mappings that are compiled at once

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The largest difference of two results, relative to the largest element of `want`; infinite where
/// they differ in kind: nan, or integers that are not equal.
double difference(const std::vector<std::byte>& got, const std::vector<std::byte>& want,
                  DType dtype) {
    if (got == want) return 0;
    if (!dtype.is_float()) return HUGE_VAL;
    const auto size = static_cast<size_t>(dtype.bytes());
    double most = 0, off = 0;
    for (size_t at = 0; at + size <= want.size(); at += size) {
        const double a = load_scalar(dtype, got.data() + at).f,
                     b = load_scalar(dtype, want.data() + at).f;
        if (std::isnan(a) && std::isnan(b)) continue;
        if (a == b) {
            if (std::isfinite(b)) most = std::max(most, std::abs(b));
            continue;
        }
        if (!std::isfinite(a) || !std::isfinite(b)) return HUGE_VAL;
        most = std::max(most, std::abs(b));
        off = std::max(off, std::abs(a - b));
    }
    return off / std::max(most, 1e-30);
}

/// One call, run again and again.
class Trial {
  public:
    Trial(Executor& executor, const Program& program, Call call)
        : executor_(executor), call_(std::move(call)) {
        for (size_t k = 0; k < program.results.size(); ++k)
            call_.results.push_back(memory_of_result(program, k));
        for (const ResultInfo& result : program.results) {
            // Sizes that only the device knows count as the most they can be: what lies behind stays as it was.
            bytes_.push_back(element_count(largest(result.shape)).evaluate(call_.symbols) * result.dtype.bytes());
        }
    }

    /// Milliseconds per dispatch and dispatches, by kernel.
    std::map<std::string, KernelTime> run(const std::shared_ptr<const Program>& program) {
        executor_.wait();
        executor_.take_kernel_times();
        executor_.run(program, call_);
        executor_.wait();
        std::map<std::string, KernelTime> out;
        for (KernelTime& time : executor_.take_kernel_times()) out[time.name] = time;
        return out;
    }

    std::vector<std::vector<std::byte>> results() const {
        std::vector<std::vector<std::byte>> out;
        for (size_t k = 0; k < call_.results.size(); ++k) {
            out.emplace_back(static_cast<size_t>(bytes_[k]));
            if (!out.back().empty()) executor_.read(*call_.results[k], 0, out.back());
        }
        return out;
    }

  private:
    std::shared_ptr<Memory> memory_of_result(const Program& program, size_t k) {
        if (auto shared = shared_memory(program, call_, k)) return shared;
        const Size bytes = program.buffers[static_cast<size_t>(program.results[k].buffer)].bytes();
        const int64_t count = std::max<int64_t>(16, bytes.evaluate(call_.symbols));
        return executor_.allocate(static_cast<uint64_t>(count), "result of a trial");
    }

    Executor& executor_;
    Call call_;
    std::vector<int64_t> bytes_;
};

/// Keeps profiling on while it lives.
class Profiling {
  public:
    Profiling(Executor& executor, bool after) : executor_(executor), after_(after) {
        executor.set_profiling(true);
    }
    ~Profiling() { executor_.set_profiling(after_); }
    Profiling(const Profiling&) = delete;
    Profiling& operator=(const Profiling&) = delete;

  private:
    Executor& executor_;
    bool after_;
};

bool print_progress(const TuneProgress& at) {
    if (!isatty(STDERR_FILENO)) return true;
    std::fprintf(stderr,
                 "\r\033[Ktune: kernel %zu of %zu, %s: %d tried, %.3f ms, was %.3f; %.0f s left",
                 at.number, at.kernels, at.kernel.c_str(), at.tried, at.best_ms, at.first_ms,
                 std::max(0.0, at.seconds_left));
    return true;
}

class Search {
  public:
    Search(SessionState& session, Variant& variant, Call call, const TuneOptions& options)
        : session_(session),
          variant_(variant),
          options_(options),
          start_(Clock::now()),
          best_(variant.program),
          trial_(*session.executor, *variant.program, std::move(call)) {
        compile_.spirv = session.needs_spirv;
        compile_.cache_directory = default_cache_directory();
    }

    TuneReport run() {
        const Profiling profiling(*session_.executor, session_.debug > 0);
        trial_.run(best_);  // drivers compile at the first run
        const auto times = trial_.run(best_);
        wanted_ = trial_.results();
        std::vector<std::pair<double, int>> order;
        double all = 0;
        for (size_t k = 0; k < best_->kernels.size(); ++k) {
            const auto at = times.find(best_->kernels[k].name);
            if (at == times.end() || best_->kernels[k].mapping.empty()) continue;
            order.emplace_back(-at->second.milliseconds * at->second.dispatches,
                               static_cast<int>(k));
            all -= order.back().first;
        }
        std::sort(order.begin(), order.end());
        for (size_t n = 0; n < order.size() && !stopped_; ++n) {
            // The rest of the time, shared by what the rest takes.
            const double share = all > 0 ? -order[n].first / all : 1;
            until_ = seconds_since(start_) + (options_.seconds - seconds_since(start_)) * share;
            all += order[n].first;
            progress_ = {best_->kernels[static_cast<size_t>(order[n].second)].name,
                         n + 1,
                         order.size(),
                         0,
                         0,
                         0,
                         0};
            search(order[n].second, times);
        }
        report_.complete = report_.complete && !stopped_;
        report_.seconds = seconds_since(start_);
        variant_.program = best_;
        if (!options_.progress && isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K");
        return std::move(report_);
    }

  private:
    struct Candidate {
        Mapping mapping;
        std::shared_ptr<Program> program;  // null: it cannot be
        std::string refused;               // why
    };

    bool out_of_time() const {
        return stopped_ || seconds_since(start_) >= std::min(until_, options_.seconds);
    }

    void search(int kernel, const std::map<std::string, KernelTime>& times) {
        // The program that they stand in may be gone before the search is over.
        const auto [name, words, key] = [&] {
            const KernelInfo& info = best_->kernels[static_cast<size_t>(kernel)];
            return std::tuple(info.name, info.mapping, info.tuning_key);
        }();
        const std::optional<Mapping> first = parse_mapping(words);
        if (!first) return;
        TunedKernel row{
            name, words, words, 0, 0, times.at(name).dispatches, 0, {}};
        Mapping mapping = *first;
        double best = HUGE_VAL;
        for (int r = 0; r < kRuns; ++r) best = std::min(best, time_of(best_, name));
        row.before_ms = best;
        std::set<std::string> seen{text(mapping)};
        for (bool better = true; better && !out_of_time();) {
            better = false;
            std::vector<Mapping> next = other_mappings(*best_, kernel, mapping, variant_.facts);
            std::erase_if(next, [&](const Mapping& m) { return !seen.insert(text(m)).second; });
            for (size_t at = 0; at < next.size() && !out_of_time(); at += kBatch) {
                std::vector<Candidate> batch = compiled(
                    kernel, std::span(next).subspan(at, std::min(kBatch, next.size() - at)));
                for (Candidate& candidate : batch) {
                    if (out_of_time()) break;
                    ++row.tried;
                    const double time =
                        candidate.program ? tried(candidate, name, best) : HUGE_VAL;
                    if (!candidate.refused.empty())
                        row.dropped.push_back(text(candidate.mapping) + ": " + candidate.refused);
                    if (time < best * kLeastGain) {
                        best = time, mapping = candidate.mapping, better = true;
                        best_ = candidate.program;
                    }
                    tell(row, best);
                }
            }
        }
        report_.complete = report_.complete && !out_of_time();
        row.after = text(mapping);
        row.after_ms = best;
        if (row.after != row.before) keep(key, mapping);
        report_.kernels.push_back(std::move(row));
    }

    std::vector<Candidate> compiled(int kernel, std::span<const Mapping> mappings) {
        std::vector<Candidate> out(mappings.size());
        for_each_in_parallel(out.size(), [&](size_t k) {
            out[k].mapping = mappings[k];
            try {
                auto program = with_mapping(*best_, kernel, mappings[k], variant_.facts);
                if (compile_.spirv)
                    compile_kernel(program->kernels[static_cast<size_t>(kernel)], compile_);
                out[k].program = std::move(program);
            } catch (const std::exception& error) {
                out[k].refused = error.what();
            }
        });
        return out;
    }

    /// Milliseconds of the kernel in the candidate's mapping; infinite where it is out of the race.
    double tried(Candidate& candidate, const std::string& kernel, double best) {
        try {
            trial_.run(candidate.program);
            if (const double off = worst_difference(); off > options_.tolerance) {
                std::ostringstream why;
                why << "its results differ by " << off;
                candidate.refused = why.str();
                return HUGE_VAL;
            }
            double fastest = HUGE_VAL;
            for (int r = 0; r < kRuns; ++r) {
                fastest = std::min(fastest, time_of(candidate.program, kernel));
                if (fastest > best * kHopeless) break;
            }
            return fastest;
        } catch (const DeviceError& error) {
            candidate.refused = error.what();
            return HUGE_VAL;
        }
    }

    double time_of(const std::shared_ptr<const Program>& program, const std::string& kernel) {
        const auto times = trial_.run(program);
        const auto at = times.find(kernel);
        return at == times.end() ? HUGE_VAL : at->second.milliseconds;
    }

    double worst_difference() const {
        const std::vector<std::vector<std::byte>> got = trial_.results();
        double worst = 0;
        for (size_t k = 0; k < got.size(); ++k)
            worst =
                std::max(worst, difference(got[k], wanted_[k], variant_.program->results[k].dtype));
        return worst;
    }

    void tell(const TunedKernel& row, double best) {
        progress_.tried = row.tried, progress_.first_ms = row.before_ms, progress_.best_ms = best;
        progress_.seconds_left = options_.seconds - seconds_since(start_);
        stopped_ = stopped_ ||
                   !(options_.progress ? options_.progress(progress_) : print_progress(progress_));
    }

    void keep(const std::string& key, const Mapping& mapping) {
        session_.tuned[key] = text(mapping);
        keep_tuned(key, mapping, compile_.cache_directory);
    }

    SessionState& session_;
    Variant& variant_;
    const TuneOptions& options_;
    Clock::time_point start_;
    CompileOptions compile_;
    std::shared_ptr<const Program> best_;
    Trial trial_;
    std::vector<std::vector<std::byte>> wanted_;  // results as the heuristics compute them
    TuneReport report_;
    TuneProgress progress_;
    double until_ = 0;      // seconds at which the kernel's share of the time is over
    bool stopped_ = false;  // by the caller
};

}  // namespace

TuneReport Function::tune(const std::vector<Arg>& args, const TuneOptions& options) const {
    Call call;
    Variant& variant = variant_of_call(*state_, args, call);
    if (!variant.program)
        throw UserError(
            "tune: this session evaluates graphs node by node and has no kernels; tune in one that "
            "runs on "
            "a device");
    return Search(*state_->session, variant, std::move(call), options).run();
}

std::string Function::explain(const std::vector<Arg>& args) const {
    Call call;
    Variant& variant = variant_of_call(*state_, args, call);
    if (!variant.program)
        throw UserError("explain: this session evaluates graphs node by node and has no kernels");
    SessionState& session = *state_->session;
    const SizeEnv env = call.symbols;
    Trial trial(*session.executor, *variant.program, std::move(call));
    const Profiling profiling(*session.executor, session.debug > 0);
    trial.run(variant.program);
    std::map<std::string, double> milliseconds;
    for (const auto& [name, time] : trial.run(variant.program))
        milliseconds[name] = time.milliseconds * time.dispatches;
    return firn::explain(*variant.program, env, milliseconds);
}

std::string TuneReport::text() const {
    std::ostringstream out;
    out << std::fixed << std::setprecision(3);
    for (const TunedKernel& k : kernels) {
        out << k.name << ": " << k.before_ms << " ms -> " << k.after_ms << " ms, " << k.tried
            << " tried";
        if (k.after != k.before) out << "\n    " << k.before << "\n    " << k.after;
        out << "\n";
        for (const std::string& dropped : k.dropped) out << "    dropped " << dropped << "\n";
    }
    out << std::setprecision(1) << seconds << " s" << (complete ? "" : ", not all was tried")
        << "\n";
    return out.str();
}

}  // namespace firn
