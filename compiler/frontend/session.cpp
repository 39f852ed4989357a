// The current session of a thread, and its executor.
#include "compiler/frontend/session.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "compiler/base/error.h"
#include "compiler/driver/pass_list.h"
#include "compiler/frontend/background.h"
#include "compiler/frontend/cpu_session.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/lazy_plans.h"
#include "compiler/frontend/oracle.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/report.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/target/class_rules.h"

namespace firn {
namespace {

std::atomic<ExecutorFactory> default_executor{nullptr};

std::shared_ptr<SessionState>& current() {
    thread_local std::shared_ptr<SessionState> state;
    return state;
}

void choose_executor(SessionState& session) {
    std::string choice = environment("FIRN_EXECUTOR").value_or("");
    ExecutorFactory factory = default_executor.load();
    if (choice == "oracle") {
        session.oracle = true;
        session.executor = make_host_executor();
    } else if (choice.empty() && !factory && environment("FIRN_DEVICE") == "cpu") {
        session.executor = make_cpu_executor();
    } else if (choice == "interpret" || (choice.empty() && !factory)) {
        session.executor = make_interpreter();
        session.emission = Emission::Nothing;
    } else if (choice == "native") {
        session.executor = make_cpu_executor();
    } else if (choice.empty() || choice == "device") {
        if (!factory)
            throw UserError(
                "FIRN_EXECUTOR=device, but this program links the compiler alone; link firn::firn, "
                "or use "
                "native, interpret or oracle");
        session.executor = factory();
    } else {
        throw UserError("FIRN_EXECUTOR=" + choice +
                        " is unknown; use device, native, interpret or oracle");
    }
}

void print_help() {
    const int help = environment_number("FIRN_HELP", 0);
    if (help > 0) std::fputs(environment_help().c_str(), stderr);
    if (help > 1) std::fputs(passes_text().c_str(), stderr);
}

}  // namespace

const std::shared_ptr<SessionState>& current_state() {
    std::shared_ptr<SessionState>& state = current();
    if (!state) state = std::make_shared<SessionState>();
    return state;
}

Executor& executor_of(SessionState& session, SourceLine line) {
    if (!session.started) print_help();
    if (!session.executor) choose_executor(session);
    std::string why = session.executor->why_not_here();
    if (why.empty() && session.background) why = session.background->why_not_here();
    if (!why.empty()) fail_at(line.line ? line : session.caller, why);
    if (!session.started) {
        session.skipped.merge(skipped_passes(environment("FIRN_SKIP").value_or(""),
                                             environment("FIRN_STOP_AFTER").value_or("")));
        session.started = true;
        session.debug = environment_number("FIRN_DEBUG", 0);
        if (session.debug) session.executor->set_profiling(true);
        report_progress(session);
    }
    return *session.executor;
}

Session::Session(SharedPtr<Executor> executor) : state_(std::make_shared<SessionState>()) {
    ensure(executor != nullptr, "a session needs an executor");
    state_->executor = std::move(executor);
}

Session Session::oracle() {
    Session session(make_host_executor());
    session.state_->oracle = true;
    return session;
}

Session Session::interpreter(DeviceProfile profile) {
    Session session(std::shared_ptr<Executor>(make_interpreter(std::move(profile))));
    session.state_->emission = Emission::Nothing;
    return session;
}

Executor& Session::executor() const { return executor_of(*state_); }
const DeviceProfile& Session::profile() const { return executor().profile(); }
bool Session::runs_subgroups_serially() const {
    return compiles() && rules_of(profile()).subgroups_run_serially;
}
bool Session::compiles() const { return !state_->oracle; }
void Session::on_print(Callback<void(const std::string&)> write) const {
    state_->print = std::move(write);
}
void Session::check_promises(bool on) const {
    if (state_->checks != on) forget_all_plans(*state_);
    state_->checks = on;
}
void Session::find_nan(bool on) const { state_->finds_nan = on; }
void Session::limit_while(int64_t iterations) const {
    if (iterations < 1)
        throw UserError("limit_while: " + std::to_string(iterations) +
                        " is given; it counts iterations from 1 up");
    state_->while_limit = iterations;
}
void Session::compile_in_background(bool on) const { state_->compiles_in_background = on; }
void Session::specialise(bool on) const { state_->specialises = on; }
size_t Session::plan_count() const { return count_plans(*state_); }
size_t Session::node_count() const {
    prune_histories(*state_);
    return state_->nodes.live_nodes();
}

Session current_session() { return Session(current_state()); }

SessionScope::SessionScope(const Session& session) : previous_(current()) {
    current() = session.state();
}
SessionScope::~SessionScope() { current() = previous_; }

void set_default_executor(ExecutorFactory factory) { default_executor.store(factory); }

}  // namespace firn
