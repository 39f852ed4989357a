// Searching faster kernels by running them.
#include "compiler/frontend/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/base/parallel.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/program_cache.h"
#include "compiler/driver/tune.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/trial.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRuns = 4;              // of a mapping that may win; the fastest counts
constexpr double kHopeless = 1.15;    // a first run this much slower than the best is the last
constexpr double kLeastGain = 0.97;   // of the time, that makes a mapping better
constexpr size_t kBatch = 8;          // mappings that are compiled at once
constexpr double kShareOfCuts = 0.4;  // of the time, at most
constexpr double kMostBent = 256;     // times the profile's value

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string progress_text(const TuneProgress& at) {
    const std::string of = at.number ? "kernel " + std::to_string(at.number) + " of " +
                                           std::to_string(at.kernels) + ", "
                                     : "";
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, ": %d tried, %.3f ms, was %.3f; %.0f s left", at.tried,
                  at.best_ms, at.first_ms, std::max(0.0, at.seconds_left));
    return "tuning, " + of + at.kernel + numbers;
}

class Search {
  public:
    Search(SessionState& session, Variant& variant, Call call, const TuneOptions& options)
        : session_(session),
          variant_(variant),
          options_(options),
          start_(Clock::now()),
          best_(with_code(variant.program)),
          terms_(most_terms(variant.graph, call.symbols)),
          trial_(*session.executor, *best_, std::move(call)) {
        compile_.name = best_->name, compile_.facts = variant.facts,
        compile_.donated = variant.donated;
        compile_.emission = session.emission;
        compile_.emit = emit_options(session);
        compile_.cache_directory = default_cache_directory();
        compile_.tuned = &session.tuned;
        compile_.skipped = session.skipped;
        compile_.verify |= session.emission != Emission::Binary;
    }

    TuneReport run() {
        const Profiling profiling(*session_.executor, session_.debug > 0);
        trial_.run(best_);  // drivers compile at the first run
        wanted_ = trial_.reference(best_);
        search_cuts();
        const auto times = trial_.run(best_);
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
            // The remaining time is shared in proportion to the remaining kernels' times.
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
        return std::move(report_);
    }

  private:
    struct Candidate {
        std::string words;                       // its mapping, or its cuts
        std::shared_ptr<const Program> program;  // null: it cannot be compiled
        std::string refused;                     // why
    };

    bool out_of_time() const {
        return stopped_ || seconds_since(start_) >= std::min(until_, options_.seconds);
    }

    /// Searches cuts of the whole program: scales each cost by itself, and continues from the best.
    void search_cuts() {
        until_ = options_.seconds * kShareOfCuts;
        progress_ = {"cuts", 0, best_->kernels.size(), 0, 0, 0, 0};
        std::string key = cuts_key(*best_, compile_);
        CutWeights weights;
        if (!best_->cuts.empty()) {
            key = cuts_key(*cut(CutWeights{}), compile_);
            weights = parse_cut_weights(best_->cuts).value_or(weights);
        }
        TunedCuts& row = report_.cuts;
        row.before = text(weights);
        double best = HUGE_VAL;
        for (int r = 0; r < kRuns; ++r) best = std::min(best, time_of_all(best_));
        row.before_ms = best;
        std::set<std::string> programs{cuts_key(*best_, compile_)}, tried{row.before};
        for (bool better = true; better && !out_of_time();) {
            better = false;
            for (const CutWeights& next : bent(weights)) {
                if (out_of_time()) break;
                if (!tried.insert(text(next)).second) continue;
                Candidate candidate{text(next), cut_or_refused(next, row), ""};
                // Most scaled costs change no cut.
                if (!candidate.program ||
                    !programs.insert(cuts_key(*candidate.program, compile_)).second)
                    continue;
                ++row.tried;
                const double time =
                    fastest(candidate, best, [&] { return time_of_all(candidate.program); });
                if (!candidate.refused.empty())
                    row.dropped.push_back(candidate.words + ": " + candidate.refused);
                if (time < best * kLeastGain) {
                    best = time, weights = next, better = true;
                    best_ = candidate.program;
                }
                tell(row.tried, row.before_ms, best);
            }
        }
        row.after = text(weights), row.after_ms = best;
        report_.complete = report_.complete && !out_of_time();
        if (row.after == row.before) return;
        session_.tuned[key] = row.after;
        keep_tuned_cuts(key, weights, compile_.cache_directory);
    }

    /// Scales of one cost, the least first.
    static std::vector<CutWeights> bent(const CutWeights& weights) {
        std::vector<CutWeights> out;
        for (double factor : {1 / 4.0, 4.0, 1 / 16.0, 16.0, 1 / 64.0, 64.0})
            for (double CutWeights::*cost :
                 {&CutWeights::load, &CutWeights::memory, &CutWeights::launch}) {
                out.push_back(weights);
                out.back().*cost *= factor;
                if (out.back().*cost > kMostBent || out.back().*cost < 1 / kMostBent)
                    out.pop_back();
            }
        return out;
    }

    std::shared_ptr<const Program> cut(const CutWeights& weights) {
        compile_.cuts = weights;
        return compile_graph(session_.nodes, variant_.graph, best_->profile, compile_);
    }

    std::shared_ptr<const Program> cut_or_refused(const CutWeights& weights, TunedCuts& row) {
        try {
            return cut(weights);
        } catch (const std::exception& error) {
            row.dropped.push_back(text(weights) + ": " + error.what());
            return nullptr;
        }
    }

    /// Milliseconds of all kernels of a run.
    double time_of_all(const std::shared_ptr<const Program>& program) {
        double all = 0;
        for (const auto& [name, time] : trial_.run(program))
            all += time.milliseconds * time.dispatches;
        return all;
    }

    void search(int kernel, const std::map<std::string, KernelTime>& times) {
        // The program that they stand in may be gone before the search is over.
        const auto [name, words, key] = [&] {
            const KernelInfo& info = best_->kernels[static_cast<size_t>(kernel)];
            return std::tuple(info.name, info.mapping, info.tuning_key);
        }();
        const std::optional<Mapping> first = parse_mapping(words);
        if (!first) return;
        TunedKernel row{name, words, words, 0, 0, times.at(name).dispatches, 0, {}};
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
                        candidate.program
                            ? fastest(candidate, best,
                                      [&] { return time_of(candidate.program, name); })
                            : HUGE_VAL;
                    if (!candidate.refused.empty())
                        row.dropped.push_back(candidate.words + ": " + candidate.refused);
                    if (time < best * kLeastGain) {
                        best = time, mapping = *parse_mapping(candidate.words), better = true;
                        best_ = candidate.program;
                    }
                    tell(row.tried, row.before_ms, best);
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
        const auto one = [&](size_t k) {
            out[k].words = text(mappings[k]);
            try {
                auto program = with_mapping(*best_, kernel, mappings[k], compile_);
                if (compile_.emission == Emission::Binary)
                    compile_kernel(*program, static_cast<size_t>(kernel), compile_);
                out[k].program = std::move(program);
            } catch (const std::exception& error) {
                out[k].refused = error.what();
            }
        };
        for_each_in_parallel(out.size(), one, [&](size_t) { tell_watch(); });
        return out;
    }

    /// Milliseconds of a candidate's fastest run; infinite where it is out of the race.
    template <class TimeOfARun>
    double fastest(Candidate& candidate, double best, TimeOfARun run) {
        try {
            trial_.run(candidate.program);
            if (const Deviation off = trial_.deviation(wanted_, terms_);
                off.roundings > options_.tolerance) {
                candidate.refused =
                    "its results differ by more than rounding explains: " + off.text;
                return HUGE_VAL;
            }
            double fastest = HUGE_VAL;
            for (int r = 0; r < kRuns; ++r) {
                fastest = std::min(fastest, run());
                if (fastest > best * kHopeless) break;
            }
            return fastest;
        } catch (const std::exception& error) {
            candidate.refused = error.what();
            trial_.run(
                best_);  // fails too where it is not the candidate's fault: then the search is over
            return HUGE_VAL;
        }
    }

    double time_of(const std::shared_ptr<const Program>& program, const std::string& kernel) {
        const auto times = trial_.run(program);
        const auto at = times.find(kernel);
        return at == times.end() ? HUGE_VAL : at->second.milliseconds;
    }

    void tell(int tried, double first, double best) {
        progress_.tried = tried, progress_.first_ms = first, progress_.best_ms = best;
        tell_watch();
        stopped_ = stopped_ || (options_.progress && !options_.progress(progress_));
    }

    /// A caller with a progress callback of its own writes its own line.
    void tell_watch() {
        progress_.seconds_left = options_.seconds - seconds_since(start_);
        const double share =
            options_.seconds > 0
                ? std::clamp(1 - progress_.seconds_left / options_.seconds, 0.0, 1.0)
                : -1;
        const WorkProgress now{progress_text(progress_), share};
        const bool goes_on = options_.progress ? tell_work(now) : work_.tell(now);
        stopped_ = stopped_ || !goes_on;
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
    double terms_;
    Trial trial_;
    std::vector<Reference> wanted_;  // results as the heuristics compute them
    TuneReport report_;
    TuneProgress progress_;
    double until_ = 0;      // seconds at which the kernel's share of the time is over
    bool stopped_ = false;  // by the caller
    LongWork work_;
};

}  // namespace

TuneReport Function::tune(const std::vector<Arg>& args, const TuneOptions& options) const {
    Call call;
    Variant& variant = variant_of_call(state(), args, call);
    if (!variant.program)
        throw UserError(
            "tune: this session evaluates graphs node by node and has no kernels; tune in one that "
            "runs on "
            "a device");
    return Search(*state().session, variant, std::move(call), options).run();
}

std::string Function::explain(const std::vector<Arg>& args) const {
    Call call;
    Variant& variant = variant_of_call(state(), args, call);
    if (!variant.program)
        throw UserError("explain: this session evaluates graphs node by node and has no kernels");
    SessionState& session = *state().session;
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
    if (cuts.tried)
        out << "cuts: " << cuts.before_ms << " ms -> " << cuts.after_ms << " ms, " << cuts.tried
            << " tried\n";
    if (cuts.after != cuts.before)
        out << "    costs multiplied by " << cuts.before << "\n    costs multiplied by "
            << cuts.after << "\n";
    for (const std::string& dropped : cuts.dropped) out << "    dropped " << dropped << "\n";
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
