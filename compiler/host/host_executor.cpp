// Memory of executors on the host, and the steps of programs one after the other.
#include "compiler/host/host_executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <set>
#include <typeinfo>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/host/calls_under_way.h"
#include "compiler/host/hazard_check.h"
#include "compiler/host/host_plan.h"
#include "compiler/program/host_scalar.h"
#include "compiler/program/native_abi.h"
#include "compiler/program/plan_symbols.h"

namespace firn {
namespace {

/// A program that is called with ever new sizes keeps plans for this many of them.
constexpr size_t kMostPlans = 16;
/// From so many predicted seconds on a run may be asked to end before it is done.
constexpr double kLongRun = 0.25;

const HostMemory& host_memory(const Memory* memory, const char* called) {
    // Cheaper than a dynamic_cast: the class is final.
    if (!memory || typeid(*memory) != typeid(HostMemory))
        throw InternalError(std::string("internal error: memory of another executor is given to ") +
                            called);
    return static_cast<const HostMemory&>(*memory);
}

/// The memory is ours and has these bytes.
std::span<std::byte> part_of(const Memory& memory, uint64_t offset, uint64_t bytes,
                             const char* called) {
    const HostMemory& host = host_memory(&memory, called);
    const uint64_t all = host.bytes();
    if (offset > all || bytes > all - offset)
        throw InternalError("internal error: " + std::to_string(bytes) + " bytes at " +
                            std::to_string(offset) + " of memory " + host.name + " of " +
                            std::to_string(all) + " bytes");
    return host.block.bytes().subspan(offset, bytes);
}

bool has_values(const std::vector<int64_t>& values, const std::vector<std::string>& names,
                const SizeEnv& env) {
    for (size_t k = 0; k < names.size(); ++k) {
        const auto found = env.find(names[k]);
        if (found == env.end() || found->second != values[k]) return false;
    }
    return true;
}

}  // namespace

int32_t size_in(std::span<const std::byte> sizes, int64_t at) {
    ensure(at >= 0 && static_cast<size_t>(at) * 4 + 4 <= sizes.size(),
           "a size lies outside its buffer");
    int32_t size = 0;
    std::memcpy(&size, sizes.data() + at * 4, 4);
    return size;
}

/// A program, and what is kept of it.
struct HostExecutor::Loaded {
    std::weak_ptr<const Program> program;
    std::shared_ptr<const void> prepared;
    std::vector<HostBlock> constants;  // by buffer; those of other buffers are empty
    bool checks_accesses = false;      // some kernel, which may then end the run
    std::vector<std::string> symbols, symbols_in_parts;
    StepForms forms, forms_in_parts;
    struct Planned {
        bool in_parts = false;  // whether that was asked for
        std::vector<int64_t> values;
        HostPlan plan;
    };
    std::list<Planned> plans;  // the newest use first
    std::vector<int64_t> last_values;
    // These belong to the call that runs:
    std::vector<std::span<std::byte>> memory;  // by slot
    std::vector<Scalar> computed;

    std::vector<int64_t> values_of(const std::vector<std::string>& names, const SizeEnv& env,
                                   const std::string& name) const {
        std::vector<int64_t> values;
        for (const std::string& symbol : names) {
            const auto found = env.find(symbol);
            if (found == env.end())
                throw UserError("program '" + name +
                                "' was called without a value for its symbol '" + symbol +
                                "'; take the symbols from bind_symbols");
            values.push_back(found->second);
        }
        return values;
    }

    HostPlan& find_plan(const Program& of, const DeviceProfile& profile, const SizeEnv& env,
                        bool parts) {
        const std::vector<std::string>& names = parts ? symbols_in_parts : symbols;
        for (auto at = plans.begin(); at != plans.end(); ++at)
            if (at->in_parts == parts && has_values(at->values, names, env)) {
                plans.splice(plans.begin(), plans, at);
                return plans.front().plan;
            }
        std::vector<int64_t> values = values_of(names, env, of.name);
        plans.push_front(
            {parts, std::move(values),
             plan_on_host(of, profile, env, parts ? forms_in_parts : forms, parts, true)});
        if (checks_accesses) plan_slot_sizes(plans.front().plan, of, env);
        if (plans.size() > kMostPlans) plans.pop_back();
        return plans.front().plan;
    }

    /// Steps that are the same as in the call before are worth a plan of their own.
    HostPlan& plan_to_run(const Program& of, const DeviceProfile& profile, const SizeEnv& env) {
        if (symbols == symbols_in_parts) return find_plan(of, profile, env, false);
        const bool again = !last_values.empty() && has_values(last_values, symbols, env);
        if (!again) last_values = values_of(symbols, env, of.name);
        return find_plan(of, profile, env, !again);
    }
};

/// A call that runs.
class HostExecutor::Running : public StepVisitor {
  public:
    Running(HostExecutor& by, Loaded& loaded, const Program& program, HostPlan& plan,
            const Call& call)
        : by_(by), loaded_(loaded), program_(program), plan_(plan), call_(call) {
        ensure(call.arguments.size() == program.arguments.size() &&
                   call.results.size() == program.results.size(),
               "a call has another number of arguments or results than its program");
        loaded_.memory.assign(program.buffers.size(), {});
    }

    void run() {
        if (by_.rules_.keeps_plans) CancelScope::end_if_asked("running program", program_.name);
        if (!plan_.in_parts && by_.rules_.keeps_plans) {
            bind(plan_.ends, plan_.offsets);
            host_values(plan_.numbers.placed(), call_.scalars, loaded_.computed);
            for (HostStep& step : plan_.steps) {
                if (!step.late.empty()) fill_late(step, call_.scalars, loaded_.computed);
                execute(step, step.slots, nullptr);
                look_around();
            }
            calls_.finish_all();
            copy_results(plan_.ends);
            return;
        }
        const std::vector<int> ends = expected_result_slots(program_, call_.symbols);
        bind(ends, plan_.in_parts ? offsets_for(plan_.rotating, program_, ends) : plan_.offsets);
        const std::vector<int> ended =
            walk_steps(program_, call_.symbols, *this, plan_.rotating.shared);
        calls_.finish_all();
        copy_results(ended);
    }

    void step(const FlatStep& step) override {
        if (by_.rules_.checks_hazards) {
            std::vector<bool> written{false, true};
            if (step.dispatch) {
                written.clear();
                for (const BindingInfo& binding :
                     program_.kernels[static_cast<size_t>(step.dispatch->kernel)].bindings)
                    written.push_back(binding.written);
            }
            hazards_.step(step, written, loaded_.memory);
        }
        execute_found(step);
        look_around();
    }
    bool goes_on(int slot, int64_t) override {
        uint32_t alive = 0;
        calls_.before_access(memory(slot), false);
        std::memcpy(&alive, memory(slot).data(), 4);
        return alive != 0;
    }
    bool asks_freely() const override { return by_.rules_.keeps_plans; }
    void outermost_iteration(const RepeatStep& loop, int64_t iteration, int64_t trips) override {
        if (iteration == 0) progress_.line = loop.line;
        progress_.iteration = iteration, progress_.iterations = std::max<int64_t>(trips, 0);
    }

  private:
    std::span<std::byte> memory(int slot) const {
        return loaded_.memory[static_cast<size_t>(slot)];
    }
    uint64_t bytes_of(int slot) const { return plan_.slot_bytes[static_cast<size_t>(slot)]; }

    std::span<std::byte> memory_of(const std::shared_ptr<Memory>& given, int slot) const {
        const HostMemory& host = host_memory(given.get(), by_.rules_.called);
        const uint64_t wanted = bytes_of(slot);
        if (host.bytes() < wanted)
            throw InternalError("internal error: program " + program_.name + " needs " +
                                std::to_string(wanted) + " bytes for buffer " +
                                program_.buffers[static_cast<size_t>(slot)].name + " and memory " +
                                host.name + " has " + std::to_string(host.bytes()));
        return host.block.bytes().first(wanted);
    }
    std::span<std::byte> own(uint64_t bytes, const char* what) {
        return owned_.emplace_back(by_.pool_, bytes, what + program_.name).bytes();
    }

    void bind(const std::vector<int>& ends, const std::vector<uint64_t>& offsets) {
        may_end_ = by_.rules_.keeps_plans && (plan_.in_parts || plan_.seconds > kLongRun);
        for (size_t k = 0; k < program_.arguments.size(); ++k)
            if (const int slot = program_.arguments[k].buffer; slot >= 0)
                bind_argument(call_.arguments[k], slot);
        for (size_t k = 0; k < ends.size(); ++k) {
            const int slot = ends[k];
            const BufferRole role = program_.buffers[static_cast<size_t>(slot)].role;
            if (role == BufferRole::Argument || role == BufferRole::Constant || memory(slot).data())
                continue;
            loaded_.memory[static_cast<size_t>(slot)] =
                call_.results[k] ? memory_of(call_.results[k], slot)
                                 : own(bytes_of(slot), "an unwanted result of ");
        }
        const std::span<std::byte> temporaries = plan_.scratch_bytes > 0
                                                     ? by_.scratch(plan_.scratch_bytes, owned_)
                                                     : std::span<std::byte>();
        for (size_t slot = 0; slot < offsets.size(); ++slot) {
            if (offsets[slot] != UINT64_MAX)
                loaded_.memory[slot] = temporaries.subspan(offsets[slot], plan_.slot_bytes[slot]);
            if (program_.buffers[slot].role == BufferRole::Constant)
                loaded_.memory[slot] = loaded_.constants[slot].bytes();
        }
    }

    /// A run that may end before it is done writes over a copy, so that the argument stays.
    void bind_argument(const std::shared_ptr<Memory>& given, int slot) {
        const std::span<std::byte> bytes = memory_of(given, slot);
        loaded_.memory[static_cast<size_t>(slot)] = bytes;
        if ((!may_end_ && !loaded_.checks_accesses) ||
            !plan_.slot_written[static_cast<size_t>(slot)])
            return;
        const std::span<std::byte> copy = own(bytes.size(), "a written argument of ");
        std::memcpy(copy.data(), bytes.data(), bytes.size());
        loaded_.memory[static_cast<size_t>(slot)] = copy;
    }

    /// A result that ended in other memory than its own is copied there: it shares its slot with an
    /// argument or another result, or the data decided where it ends.
    void copy_results(const std::vector<int>& ends) const {
        std::vector<std::pair<size_t, std::span<const std::byte>>> elsewhere;
        for (size_t k = 0; k < ends.size(); ++k)
            if (call_.results[k] &&
                memory(ends[k]).data() != memory_of(call_.results[k], ends[k]).data())
                elsewhere.emplace_back(k, memory(ends[k]));
        const auto target = [&](size_t k) {
            const std::span<std::byte> all = memory_of(call_.results[k], ends[k]);
            return all.first(std::min(all.size(), memory(ends[k]).size()));
        };
        if (elsewhere.size() == 1) {
            const auto [k, value] = elsewhere.front();
            std::memmove(target(k).data(), value.data(), target(k).size());
            return;
        }
        // They may exchange places.
        std::vector<std::vector<std::byte>> values;
        for (const auto& [k, value] : elsewhere) values.emplace_back(value.begin(), value.end());
        for (size_t at = 0; at < elsewhere.size(); ++at)
            std::copy_n(values[at].begin(), target(elsewhere[at].first).size(),
                        target(elsewhere[at].first).begin());
    }

    /// A step that was found as the program runs.
    void execute_found(const FlatStep& step) {
        if (!by_.rules_.keeps_plans || !step.dispatch) {
            HostStep planned = anew(step, {});
            return execute(planned, step.slots, &step.env);
        }
        auto known = plan_.same.find(step.dispatch);
        if (known == plan_.same.end()) {
            const StepForms& forms = loaded_.forms_in_parts;
            if (!is_same_each_time(program_, *step.dispatch, forms.inductions)) {
                HostStep planned = anew(step, {});
                return execute(planned, step.slots, nullptr);
            }
            known = plan_.same
                        .emplace(step.dispatch, plan_host_step(program_, by_.profile_, step,
                                                               forms.late, plan_.numbers))
                        .first;
        }
        if (!known->second.late.empty()) {
            if (!computed_ || loaded_.computed.size() != plan_.numbers.placed().size())
                host_values(plan_.numbers.placed(), call_.scalars, loaded_.computed);
            computed_ = true;
            fill_late(known->second, call_.scalars, loaded_.computed);
        }
        execute(known->second, step.slots, nullptr);
    }

    HostStep anew(const FlatStep& step, const std::set<std::string>& late) const {
        PlacedNumbers numbers;
        HostStep planned = plan_host_step(program_, by_.profile_, step, late, numbers);
        std::vector<Scalar> computed;
        host_values(numbers.placed(), call_.scalars, computed);
        fill_late(planned, call_.scalars, computed);
        return planned;
    }

    /// The bytes of the elements of a call's tensor.
    std::span<std::byte> elements(int slot, const std::vector<int64_t>& shape) const {
        uint64_t bytes =
            static_cast<uint64_t>(program_.buffers[static_cast<size_t>(slot)].dtype.bytes());
        for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
        return memory(slot).first(bytes);
    }

    void begin_call(const HostStep& step, const std::vector<int>& slots) {
        calls_.begin(*step.call->operation,
                     {program_.buffers[static_cast<size_t>(slots[0])].dtype, step.input_shape,
                      step.output_shape, elements(slots[0], step.input_shape),
                      elements(slots[1], step.output_shape), step.call->line});
    }

    /// Finishes the calls that the step would disturb, and lets the others go on.
    void settle_calls(const HostStep& step, const std::vector<int>& slots) {
        for (size_t k = 0; k < slots.size(); ++k)
            calls_.before_access(memory(slots[k]),
                                 step.dispatch
                                     ? program_.kernels[static_cast<size_t>(step.dispatch->kernel)]
                                           .bindings[k]
                                           .written
                                     : k == 1);
        calls_.proceed();
    }

    void execute(const HostStep& step, const std::vector<int>& slots, const SizeEnv* env) {
        if (step.call) return begin_call(step, slots);
        if (!calls_.empty()) settle_calls(step, slots);
        if (!step.dispatch) {
            const std::span<std::byte> source = memory(slots[0]), target = memory(slots[1]);
            // An empty one may have room for no element.
            const size_t size = std::min(source.size(), target.size());
            ensure(size + 16 >= std::max(source.size(), target.size()),
                   "a copy between buffers of different sizes");
            std::memcpy(target.data(), source.data(), size);
            return;
        }
        HostDispatch dispatch{
            program_,        program_.kernels[static_cast<size_t>(step.dispatch->kernel)],
            *step.dispatch,  loaded_.prepared.get(),
            slots,           loaded_.memory,
            step.params,     step.groups,
            step.seconds,    env,
            plan_.slot_sizes};
        if (step.dispatch->sizes_binding >= 0) {
            const auto sizes = dispatch.buffer(static_cast<size_t>(step.dispatch->sizes_binding));
            for (size_t k = 0; k < 3; ++k)
                dispatch.groups[k] = std::max(
                    0, size_in(sizes, step.dispatch->sizes_groups + static_cast<int64_t>(k)));
        }
        if (!by_.profiling_) return by_.dispatch(dispatch);
        const auto begin = std::chrono::steady_clock::now();
        by_.dispatch(dispatch);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        KernelTime& time = by_.times_[dispatch.kernel.name];
        time.name = dispatch.kernel.name;
        time.milliseconds += took.count();
        ++time.dispatches;
    }

    /// Reports progress, and ends a run that is asked to.
    void look_around() {
        if (!may_end_) return;
        CancelScope::end_if_asked("running program", program_.name);
        if (!by_.report_) return;
        progress_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        if (progress_.seconds < report_at_) return;
        report_at_ = 2 * progress_.seconds;
        progress_.program = program_.name;
        by_.report_(progress_);
    }

    HostExecutor& by_;
    Loaded& loaded_;
    const Program& program_;
    HostPlan& plan_;
    const Call& call_;
    std::vector<HostBlock> owned_;  // by this call
    CallsUnderWay calls_;           // end before the memory that they use
    bool may_end_ = false;          // before it is done
    bool computed_ = false;         // the numbers have the values of this call
    HazardCheck hazards_;
    RunProgress progress_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    double report_at_ = by_.report_after_;  // seconds
};

HostExecutor::HostExecutor(DeviceProfile profile, HostRules rules)
    : profile_(std::move(profile)), rules_(rules), pool_(std::make_shared<HostPool>(rules.fill)) {}
HostExecutor::~HostExecutor() = default;

std::shared_ptr<Memory> HostExecutor::allocate(uint64_t bytes, const std::string& name) {
    return std::make_shared<HostMemory>(HostBlock(pool_, bytes, name), name);
}

void HostExecutor::write(Memory& memory, uint64_t offset, std::span<const std::byte> data) {
    const std::span<std::byte> target = part_of(memory, offset, data.size(), rules_.called);
    std::copy(data.begin(), data.end(), target.begin());
}

void HostExecutor::read(const Memory& memory, uint64_t offset, std::span<std::byte> data) {
    const std::span<std::byte> source = part_of(memory, offset, data.size(), rules_.called);
    std::copy(source.begin(), source.end(), data.begin());
}

const std::byte* HostExecutor::mapped(const Memory& memory) {
    return host_memory(&memory, rules_.called).block.bytes().data();
}

std::byte* HostExecutor::map_for_writing(Memory& memory) {
    return host_memory(&memory, rules_.called).block.bytes().data();
}

void HostExecutor::set_progress(std::function<void(const RunProgress&)> report,
                                double after_seconds) {
    report_ = std::move(report);
    report_after_ = after_seconds;
}

std::unique_ptr<HostExecutor::Loaded> HostExecutor::load_anew(
    const std::shared_ptr<const Program>& program) {
    auto loaded = std::make_unique<Loaded>();
    loaded->program = program;
    loaded->prepared = prepare(*program);
    loaded->checks_accesses = std::any_of(
        program->kernels.begin(), program->kernels.end(),
        [](const KernelInfo& kernel) { return kernel.artefact.format == kCheckedFormat; });
    for (const BufferInfo& buffer : program->buffers) {
        HostBlock& constant = loaded->constants.emplace_back();
        if (buffer.role != BufferRole::Constant) continue;
        const auto bytes = static_cast<uint64_t>(buffer.bytes().constant());
        ensure(buffer.data.size() <= bytes, "a constant has more data than elements");
        constant = HostBlock(pool_, bytes, buffer.name);
        std::copy(buffer.data.begin(), buffer.data.end(), constant.bytes().begin());
    }
    if (!rules_.keeps_plans) return loaded;
    loaded->symbols = plan_symbols(*program);
    loaded->symbols_in_parts = plan_symbols(*program, true);
    const auto forms = [&](const std::vector<std::string>& known) {
        StepForms made{inductions_of(*program), {}};
        for (size_t k = 0; k < program->arguments.size(); ++k)
            if (std::string symbol = scalar_symbol(static_cast<int>(k));
                program->arguments[k].scalar &&
                !std::binary_search(known.begin(), known.end(), symbol))
                made.late.insert(std::move(symbol));
        return made;
    };
    loaded->forms = forms(loaded->symbols);
    loaded->forms_in_parts = forms(loaded->symbols_in_parts);
    return loaded;
}

HostExecutor::Loaded& HostExecutor::load(const std::shared_ptr<const Program>& program) {
    if (const auto found = programs_.find(program.get()); found != programs_.end()) {
        // A new program may have the address of one that has ended.
        if (found->second->program.lock() == program) return *found->second;
        programs_.erase(found);
    }
    forget_ended_programs();
    return *programs_.emplace(program.get(), load_anew(program)).first->second;
}

void HostExecutor::forget_ended_programs() {
    const size_t forgotten =
        std::erase_if(programs_, [](const auto& entry) { return entry.second->program.expired(); });
    if (forgotten > 0) scratch_ = HostBlock();  // the others may need less
}

/// Memory for temporaries: that of all programs, or `owned` by a call.
std::span<std::byte> HostExecutor::scratch(uint64_t bytes, std::vector<HostBlock>& owned) {
    if (!rules_.keeps_plans) return owned.emplace_back(pool_, bytes, "temporaries").bytes();
    if (scratch_.bytes().size() < bytes) {
        scratch_ = HostBlock();
        scratch_ = HostBlock(pool_, bytes, "temporaries");
    }
    return scratch_.bytes();
}

void HostExecutor::run(const std::shared_ptr<const Program>& program, const Call& call) {
    const std::lock_guard lock(run_);
    if (rules_.keeps_plans) {
        Loaded& loaded = load(program);
        HostPlan& plan = loaded.plan_to_run(*program, profile_, call.symbols);
        return Running(*this, loaded, *program, plan, call).run();
    }
    const std::unique_ptr<Loaded> loaded = load_anew(program);
    HostPlan plan = plan_on_host(*program, profile_, call.symbols, {}, false, false);
    Running(*this, *loaded, *program, plan, call).run();
}

std::vector<KernelTime> HostExecutor::take_kernel_times() {
    std::vector<KernelTime> result;
    for (auto& [name, time] : times_) {
        time.milliseconds /= time.dispatches;
        result.push_back(time);
    }
    times_.clear();
    return result;
}

}  // namespace firn
