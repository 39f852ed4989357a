// Stage 7: kernels and host steps become a Program.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/by_hand.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/count.h"
#include "compiler/kernel/place.h"
#include "compiler/lower/data_sizes.h"
#include "compiler/lower/walk.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/mapping.h"
#include "compiler/mapping/passes.h"
#include "compiler/mapping/row_groups.h"
#include "compiler/mapping/side_by_side.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/plan_sequences.h"
#include "compiler/plan/plan_sizes.h"
#include "compiler/plan/reuse_arguments.h"
#include "compiler/plan/tuned.h"
#include "compiler/program/error.h"
#include "compiler/program/stage_timer.h"
#include "compiler/schedule/regions.h"

namespace firn {
namespace {

class Planner {
  public:
    Planner(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
            const CompileOptions& options, CompileTimes& times)
        : graph_(graph),
          schedule_(schedule),
          profile_(profile),
          options_(options),
          times_(times),
          program_(std::make_shared<Program>()),
          sizes_(graph, *program_) {
        context_.facts = options.facts;
        context_.float_atomic_add = profile.float_atomic_add;
        context_.has_i64 = profile.has_i64;
    }

    std::shared_ptr<Program> run() {
        if (options_.trace) options_.trace->kernels.clear();  // of an earlier try
        program_->name = options_.name;
        program_->profile = profile_;
        program_->guards = graph_.guards;
        count_uses();
        add_arguments();
        program_->host_scalars = schedule_.numbers.scalars;
        for (const auto& [node, place] : schedule_.numbers.place)
            context_.host_numbers[node] = static_cast<int>(program_->arguments.size()) + place;
        program_->steps = steps(schedule_.items);
        add_results();
        reuse_arguments(*program_, options_.donated);
        if (options_.steps.in_sequence) put_steps_in_sequence();
        for (size_t k = 0; k < program_->data_sizes.size(); ++k)
            program_->data_sizes[k].buffer = program_->results[k].buffer;
        if (options_.facts.bindable) note_assumed();
        for (const ValueVerdict& v : schedule_.verdicts) add_verdict(v);
        return program_;
    }

    /// What the kernel was that could not be made.
    void note_unfinished() {
        if (options_.trace && !trail_.empty())
            options_.trace->kernels.push_back({"unfinished", std::move(trail_)});
    }

  private:
    void count_uses() {
        for (const Ref& ref : topological(graph_.results)) {
            for (const Ref& input : ref->inputs) ++uses_[input.get()];
            if (ref->op == Op::Result) results_of_[ref->inputs[0].get()].push_back(ref);
            if (ref->op == Op::Loop)
                for (const Ref& r : ref->as<LoopAttr>().body->results) ++uses_[r.get()];
            if (ref->op == Op::If)
                for (const auto& body : {ref->as<IfAttr>().then_body, ref->as<IfAttr>().else_body})
                    for (const Ref& r : body->results) ++uses_[r.get()];
        }
        for (const Ref& r : graph_.results) ++uses_[r.get()];
    }

    int add_buffer(const std::string& name, DType dtype, const Size& elements, BufferRole role) {
        BufferInfo info;
        info.name = name;
        info.dtype = dtype;
        info.elements = elements;
        info.role = role;
        program_->buffers.push_back(std::move(info));
        return static_cast<int>(program_->buffers.size()) - 1;
    }

    static std::string first_line(const Node& node) {
        return node.lines.empty() ? std::string() : text(node.lines[0]);
    }

    void add_arguments() {
        for (const Ref& arg : graph_.args) {
            ArgumentInfo info;
            info.name = "argument " + std::to_string(program_->arguments.size());
            info.dtype = arg->dtype;
            info.shape = firn::largest(arg->shape);
            info.scalar = arg->as<InputAttr>().scalar;
            if (!info.scalar) {
                info.buffer =
                    add_buffer(info.name, arg->dtype, element_count(firn::largest(arg->shape)),
                               BufferRole::Argument);
                context_.buffers[arg.get()] = info.buffer;
            }
            program_->arguments.push_back(std::move(info));
        }
    }

    int value_buffer(const Node& node) {
        auto [it, added] = context_.buffers.emplace(&node, -1);
        if (added)
            it->second =
                add_buffer(std::string(info(node.op).name) + " " + first_line(node), node.dtype,
                           element_count(firn::largest(node.shape)), BufferRole::Temporary);
        return it->second;
    }

    /// The steps of the innermost region that `sizes_` has open.
    std::vector<Step> steps(const std::vector<ScheduleItem>& items) {
        std::vector<Step> out;
        sizes_.note(context_.buffers, 0);
        for (const ScheduleItem& item : items) {
            add_item(item, out);
            if (sizes_.waits_for(item)) add_waiting(out);
            sizes_.note(context_.buffers, out.size());
        }
        add_waiting(out);
        add_size_steps(out);
        return out;
    }

    void add_item(const ScheduleItem& item, std::vector<Step>& out) {
        const bool by_hand = !item.loop && is_stored_by_hand(*item.outputs[0]);
        const bool plain =
            !item.loop && !by_hand && !written(*item.outputs[0], schedule_.host_loops);
        if (!plain) add_waiting(out);
        if (plain)
            add_kernel(item, out);
        else if (item.loop)
            add_loop(item, out);
        else if (by_hand)
            add_by_hand(item.outputs, out);
        else
            add_written(item, out);
    }

    /// The kernels that compute sizes take their places between the steps.
    void add_size_steps(std::vector<Step>& steps) {
        for (PlannedSizes::Computation& each : sizes_.close()) {
            DispatchStep step;
            step.work = largest(count_work(each.code));
            launch_as(step, each.code);
            KernelInfo info = emitted(each.code);
            step.kernel = kernel_of(std::move(each.code), std::move(info), {});
            steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(each.before),
                         {{std::move(step)}});
        }
    }

    static Work largest(const Work& work) {
        return {firn::largest(work.operations), firn::largest(work.bytes_read),
                firn::largest(work.bytes_written)};
    }

    static std::string at_line(const Node& node) {
        const std::string line = first_line(node);
        return line.empty() ? "" : " (" + line + ")";
    }

    /// The new versions start as what their targets are, in place where nobody else needs that;
    /// then every position is stored.
    void add_written(const ScheduleItem& item, std::vector<Step>& out) {
        std::vector<int> targets;
        std::vector<ScheduleItem> starts;  // computed values that versions start as, by shape
        std::vector<std::vector<int>> started;
        for (const Ref& output : item.outputs) {
            const Written w = written(*output, schedule_.host_loops);
            check_atomics(*w.scatters[0]);
            const Ref& target = w.target;
            if (w.scatters[0]->as<ScatterAttr>().complete) {
                targets.push_back(value_buffer(*output));
                continue;
            }
            if (const auto from = context_.buffers.find(target.get());
                from != context_.buffers.end()) {
                targets.push_back(version_in_memory(*output, *target, from->second, out));
                continue;
            }
            targets.push_back(value_buffer(*output));
            size_t k = 0;
            while (k < starts.size() && (starts[k].outputs[0]->shape != target->shape ||
                                         meets(starts[k].outputs, target)))
                ++k;
            if (k == starts.size()) starts.emplace_back(), started.emplace_back();
            starts[k].outputs.push_back(target);
            started[k].push_back(targets.back());
        }
        for (size_t k = 0; k < starts.size(); ++k)
            add_kernel(starts[k].outputs, started[k], starts[k].outputs[0]->shape, out);
        add_kernel(item.outputs, targets,
                   written(*item.outputs[0], schedule_.host_loops).positions(), out);
    }

    /// One of them is computed from another one: no kernel gives both.
    static bool meets(const std::vector<Ref>& values, const Ref& other) {
        const auto uses = [](const Ref& value, const Ref& used) {
            const std::vector<Ref> below = topological({value});
            return std::find(below.begin(), below.end(), used) != below.end();
        };
        return std::any_of(values.begin(), values.end(), [&](const Ref& value) {
            return value != other && (uses(value, other) || uses(other, value));
        });
    }

    /// The buffer of a version of `old`, which lives in buffer `from`.
    int version_in_memory(const Node& version, const Node& old, int from, std::vector<Step>& out) {
        if (uses_[&old] == 1 && owned(old, home(version))) return context_.buffers[&version] = from;
        const int to = value_buffer(version);
        out.push_back({CopyStep{from, to}});
        return to;
    }

    /// The tensors that a kernel by hand stores to start as what they were, in place where nobody
    /// else needs that.
    void add_by_hand(const std::vector<Ref>& outputs, std::vector<Step>& out) {
        const Node& kernel = *outputs[0]->inputs[0];
        const std::vector<TargetUse> uses = target_uses(kernel, outputs);
        KernelRequest request;
        request.by_hand = &kernel;
        request.outputs = outputs;
        request.targets.assign(uses.size(), -1);
        for (size_t k = 0; k < uses.size(); ++k) {
            const auto version = std::find_if(outputs.begin(), outputs.end(), [&](const Ref& r) {
                return r->as<ResultAttr>().index == static_cast<int>(k);
            });
            // A version that only the kernel itself needs.
            const Node& made =
                version == outputs.end() ? *kernel.as<LoopAttr>().body->results[k] : **version;
            request.targets[k] = start_by_hand(kernel, k, made, uses[k], out);
        }
        KernelCode code;
        {
            const StageTimer timer(times_.lower);
            code = lower_by_hand(request, context_, profile_);
            verify(code, KernelStage::Lowered, "lower");
            trail_.clear();
            note_pass({"lower"}, code);
        }
        KernelCode counted = code;
        place(counted);
        const Work work = count_work(counted);
        code = passes(std::move(code), KernelStage::Ready, KernelStage::Placed, nullptr);
        add_dispatch({std::move(code), {}, nullptr}, work, outputs, out);
    }

    int start_by_hand(const Node& kernel, size_t k, const Node& version, const TargetUse& use,
                      std::vector<Step>& out) {
        const Ref& before = kernel.inputs[k + 3];
        const Node& entry = *kernel.as<LoopAttr>().body->args[k + 1];
        if (use.covered) return value_buffer(version);
        const auto from = context_.buffers.find(before.get());
        if (from != context_.buffers.end()) {
            if (!use.read_apart) return version_in_memory(version, *before, from->second, out);
            const int at = from->second, to = value_buffer(version);
            context_.buffers[&entry] = at;
            out.push_back({CopyStep{at, to}});
            return to;
        }
        const int to = value_buffer(version);
        add_kernel({before}, {to}, before->shape, out);
        add_waiting(out);
        if (use.read_apart) out.push_back({CopyStep{to, value_buffer(entry)}});
        return to;
    }

    void check_atomics(const Node& scatter) const {
        if (scatter.as<ScatterAttr>().op == ScatterOp::Last || scatter.dtype.bytes() == 4) return;
        throw UserError(
            std::string("stores into ") + scatter.dtype.name() +
            " that combine are not available on this device; cast the tensor to f32 or i32" +
            at_line(scatter));
    }

    /// The program may write over the value: it is computed anew at every turn of `loop` (null:
    /// once), or it is what that loop carries.
    bool owned(const Node& value, const Node* loop) {
        if (value.op == Op::RegionArg) return facts().arg_owner.at(&value) == loop;
        return made_in(value, loop);
    }

    void add_kernel(const ScheduleItem& item, std::vector<Step>& out) {
        std::vector<int> targets;
        for (const Ref& r : item.outputs) {
            targets.push_back(value_buffer(*r));
            if (!r->shape.empty() || r->dtype != i32) continue;
            // Who asks for it later need not load it.
            if (const auto size = host_size(*r, context_.host_values))
                context_.host_values[r.get()] = *size;
        }
        KernelRequest request;
        request.inner = item.inner;
        request.row_reductions.insert(item.row_reductions.begin(), item.row_reductions.end());
        request.shape = item.outputs[0]->shape;
        request.outputs = item.outputs;
        request.targets = targets;
        add_kernel(std::move(request), out);
    }

    void add_kernel(const std::vector<Ref>& outputs, const std::vector<int>& targets,
                    const Shape& shape, std::vector<Step>& out) {
        KernelRequest request;
        request.shape = shape;
        request.outputs = outputs;
        request.targets = targets;
        add_kernel(std::move(request), out);
    }

    void add_kernel(KernelRequest request, std::vector<Step>& out) {
        trail_.clear();
        KernelCode ready = this->ready(request);
        if (ready.regions[0].effects.empty()) return;  // stores that never take place
        const bool free = std::all_of(waiting_.begin(), waiting_.end(),
                                      [&](const KernelCode& w) { return independent(w, ready); });
        if (!free) add_waiting(out);
        if (!request.inner && options_.steps.side_by_side && is_small_kernel(ready, profile_)) {
            // Where two do not fit, the smaller waits for another.
            const bool fits = may_stand_beside(waiting_, ready, profile_, options_.facts);
            if (fits || !is_larger(ready, waiting_)) {
                if (!fits) add_waiting(out);
                waiting_.push_back(std::move(ready));
                waiting_outputs_.insert(waiting_outputs_.end(), request.outputs.begin(),
                                        request.outputs.end());
                waiting_trail_.insert(waiting_trail_.end(), trail_.begin(), trail_.end());
                return;
            }
        }
        const Work work = count_work(ready);
        Mapped made = mapped(std::move(ready));
        // A row that is too long for one invocation is left to as many as it has elements.
        if ((request.inner || !request.row_reductions.empty()) && !within_back_edges(made.code))
            return add_kernel(request.outputs, request.targets, request.shape, out);
        add_dispatch(std::move(made), work, request.outputs, out);
    }

    KernelCode ready(const KernelRequest& request) {
        const StageTimer timer(times_.lower);
        KernelCode code = lower_kernel(request, context_);
        verify(code, KernelStage::Lowered, "lower");
        note_pass({"lower"}, code);
        return passes(std::move(code), KernelStage::Lowered, KernelStage::Ready, nullptr);
    }

    struct Mapped {
        KernelCode code;
        Mapping mapping;
        std::shared_ptr<const KernelCode> lowered;
    };

    Mapped mapped(KernelCode ready) {
        const StageTimer timer(times_.map);
        Mapped out;
        if (options_.steps.choose_mapping)
            out.mapping = choose_mapping(ready, profile_, options_.facts);
        else
            hold_rows(out.mapping, ready, profile_, options_.facts);
        out.code = passes(ready, KernelStage::Ready, KernelStage::Placed, &out.mapping);
        out.lowered = std::make_shared<KernelCode>(std::move(ready));
        return out;
    }

    KernelCode passes(KernelCode code, KernelStage from, KernelStage to, const Mapping* mapping) {
        KernelPassOptions options{.steps = options_.steps};
        if (options_.trace)
            options.seen = [&](const KernelPassRun& run, const KernelCode& now) {
                note_pass(run, now);
            };
        return run_kernel_passes(std::move(code), from, to, {profile_, options_.facts, mapping},
                                 options);
    }

    void note_pass(const KernelPassRun& run, const KernelCode& now) {
        if (options_.trace)
            trail_.push_back(
                {run.name, run.milliseconds, run.nodes_before, run.nodes_after, {}, print(now)});
    }

    /// The small kernels that wait for others to stand beside become one dispatch.
    void add_waiting(std::vector<Step>& out) {
        if (waiting_.empty()) return;
        std::vector<CompileTrace::Pass> next =
            std::exchange(trail_, std::exchange(waiting_trail_, {}));
        Work work;
        for (const KernelCode& part : waiting_) {
            const Work one = count_work(part);
            work.operations += one.operations;
            work.bytes_read += one.bytes_read;
            work.bytes_written += one.bytes_written;
        }
        KernelCode ready;
        if (waiting_.size() == 1) {
            ready = std::move(waiting_[0]);
        } else {
            ready = side_by_side(waiting_, profile_, options_.facts);
            verify(ready, KernelStage::Ready, "side_by_side");
            note_pass({"side_by_side"}, ready);
        }
        waiting_.clear();
        add_dispatch(mapped(std::move(ready)), work, std::exchange(waiting_outputs_, {}), out);
        trail_ = std::move(next);
    }

    void add_dispatch(Mapped made, const Work& work, const std::vector<Ref>& outputs,
                      std::vector<Step>& out) {
        DispatchStep step;
        step.work = largest(work);
        const bool on_device = take_sizes(made.code, step);
        KernelInfo info = emitted(made.code);
        if (made.lowered && !on_device) {
            info.mapping = text(made.mapping);
            const Tuning& tuning = tuning_of(info.glsl);
            info.tuning_key = tuning.key;
            if (tuning.found)
                if (auto code = remap(*made.lowered, *tuning.found, profile_, options_.facts)) {
                    made.code = std::move(*code);
                    KernelInfo other = emitted(made.code);
                    other.mapping = text(*tuning.found), other.tuning_key = tuning.key,
                    other.tuned = true;
                    info = std::move(other);
                }
            step.lowered = std::move(made.lowered);
        }
        launch_as(step, made.code);
        step.kernel = kernel_of(std::move(made.code), std::move(info), outputs);
        out.push_back({std::move(step)});
    }

    /// What is kept for a kernel, as the heuristics map it; equal ones are looked up once.
    struct Tuning {
        std::string key;
        std::optional<Mapping> found;
    };
    const Tuning& tuning_of(const std::string& glsl) {
        const auto [at, added] = tunings_.try_emplace(glsl);
        if (added) {
            at->second.key = tuning_key(glsl, profile_, options_.facts);
            at->second.found = find_tuned(at->second.key, options_);
        }
        return at->second;
    }

    KernelInfo emitted(const KernelCode& code) {
        const StageTimer timer(times_.emit);
        return kernel_info(code, profile_);
    }

    /// Whether some of its sizes are known by the device alone.
    bool take_sizes(KernelCode& code, DispatchStep& step) {
        const NeededSizes needed = needed_sizes(code, profile_);
        std::vector<Size> all = needed.params;
        all.insert(all.end(), needed.groups.begin(), needed.groups.end());
        if (all.empty()) return false;
        const auto [buffer, at] = sizes_.place(all);
        bind_sizes(code, buffer, at);
        if (needed.groups.empty()) return true;
        step.sizes_binding = code.sizes_buffer;
        step.sizes_groups = at + static_cast<int64_t>(needed.params.size());
        return true;
    }

    bool within_back_edges(const KernelCode& code) const {
        return !profile_.max_back_edges ||
               (code.back_edges >= 0 && code.back_edges <= profile_.max_back_edges);
    }

    void put_steps_in_sequence() {
        put_in_sequence(
            *program_, profile_, options_.facts,
            [&](KernelCode code, const std::vector<std::string>& lines, const Work& work) {
                verify(code, KernelStage::Placed, "in_sequence");
                trail_.clear();
                note_pass({"in_sequence"}, code);
                DispatchStep step;
                step.work = work;
                launch_as(step, code);
                KernelInfo info = emitted(code);
                info.lines = lines;
                info.mapping = "one group, kernels in sequence";
                step.kernel = kernel_of(std::move(code), std::move(info), {});
                return Step{std::move(step)};
            });
        std::map<std::string, std::string> renamed;
        for (size_t k = 0; k < program_->kernels.size(); ++k) {
            std::string& name = program_->kernels[k].name;
            const std::string before = name;
            name = "k" + std::to_string(k) + name.substr(std::min(name.find(' '), name.size()));
            renamed[before] = name;
        }
        if (!options_.trace) return;
        for (CompileTrace::Kernel& kernel : options_.trace->kernels) {
            const auto now = renamed.find(kernel.name);
            kernel.name = now == renamed.end() ? "part of a sequence, " + kernel.name : now->second;
        }
    }

    /// The kernel's place in the program; an equal one is shared.
    int kernel_of(KernelCode code, KernelInfo info, const std::vector<Ref>& outputs) {
        check_limits(code, profile_, outputs.empty() ? std::string() : at_line(*outputs[0]));
        std::string key = info.glsl;
        for (const ParamInfo& p : code.params) key += p.dtype.name();
        if (auto it = kernels_.find(key); it != kernels_.end()) {
            add_lines(program_->kernels[it->second].lines, outputs);
            return it->second;
        }
        const int id = static_cast<int>(program_->kernels.size());
        add_lines(info.lines, outputs);
        info.name = "k" + std::to_string(id) + (info.lines.empty() ? "" : " " + info.lines[0]);
        if (info.lines.empty() && !code.name.empty()) info.name += " " + code.name;
        code.name = info.name;
        info.code = std::make_shared<KernelCode>(std::move(code));
        if (options_.trace)
            options_.trace->kernels.push_back({info.name, std::exchange(trail_, {})});
        program_->kernels.push_back(std::move(info));
        kernels_.emplace(std::move(key), id);
        return id;
    }

    static void add_lines(std::vector<std::string>& lines, const std::vector<Ref>& outputs) {
        for (const Ref& r : outputs)
            for (const SourceLine& line : r->lines)
                if (std::find(lines.begin(), lines.end(), text(line)) == lines.end() &&
                    lines.size() < 8)
                    lines.push_back(text(line));
    }

    /// What is left open of the sizes that the kernels bind.
    void note_assumed() {
        std::vector<AssumedSize>& all = program_->assumed;
        for_dispatches(program_->steps, [&](const DispatchStep& step) {
            const std::vector<BindingInfo>& bindings =
                program_->kernels[static_cast<size_t>(step.kernel)].bindings;
            for (size_t k = 0; k < bindings.size(); ++k) {
                const BufferInfo& info = program_->buffers[static_cast<size_t>(step.buffers[k])];
                const AssumedSize size = assumed_size({step.buffers[k], info.dtype, info.elements,
                                                       bindings[k].form, bindings[k].width},
                                                      profile_);
                const bool open = size.size.upper_bound(options_.facts.largest) > size.most;
                if (open && std::find(all.begin(), all.end(), size) == all.end())
                    all.push_back(size);
            }
        });
    }

    // --- loops of kernels

    Size host_bound(const Node& loop, int k) {
        const auto size = host_size(*loop.inputs[k], context_.host_values);
        if (!size)
            throw UserError(
                "the bounds of this loop are computed from tensors, and its body needs several "
                "kernels; give it bounds that are numbers, sizes or integer arguments" +
                at_line(loop));
        return *size;
    }

    Size trip_count(const Node& loop, const Size& begin, const Size& end, const Size& step) {
        if (!step.is_constant() || step.is(0))
            throw UserError("the step of this loop is " + step.text() +
                            "; a loop of kernels needs a constant step other than 0" +
                            at_line(loop));
        const Size distance = step.constant() > 0 ? end - begin : begin - end;
        const Size stride(std::abs(step.constant()));
        return max(stride.is(1) ? distance : floor_div(distance + stride - Size(1), stride),
                   Size(0));
    }

    void add_loop(const ScheduleItem& item, std::vector<Step>& out) {
        const Node& loop = *item.loop;
        const Region& body = *loop.as<LoopAttr>().body;
        RepeatStep repeat;
        repeat.induction = "$t" + std::to_string(loops_++);
        const Size begin = host_bound(loop, 0), step = host_bound(loop, 2);
        repeat.trips = trip_count(loop, begin, host_bound(loop, 1), step);
        const Node* arg = body.args[0].get();
        const Size index = context_.host_values[arg] =
            begin + step * Size::symbol(repeat.induction);
        const SizeMap in_steps{{schedule_.numbers.inductions.at(arg).symbols()[0], index}};
        for (HostScalar& number : program_->host_scalars)
            number.size = number.size.substitute(in_steps);
        std::vector<int> current;
        for (size_t k = 0; k < body.results.size(); ++k) {
            current.push_back(start_buffer(loop, k, out));
            context_.buffers[body.args[k + 1].get()] = current.back();
        }
        sizes_.open(loop, repeat.induction);
        repeat.body = steps(item.body);
        const std::vector<int> source = next_buffers(loop, body, current, repeat.body);
        repeat.rotation = rotation(current, source);
        if (const LoopAttr& attr = loop.as<LoopAttr>(); attr.open)
            repeat.alive = current[static_cast<size_t>(attr.active)];
        if (loop.as<LoopAttr>().must_end) repeat.never_ended = never_ended(loop);
        repeat.line = first_line(loop);
        for (const Ref& r : results_of_[&loop])
            context_.buffers[r.get()] = current[static_cast<size_t>(r->as<ResultAttr>().index)];
        out.push_back({std::move(repeat)});
    }

    /// The buffer that carried value k lives in: that of its initial value where nobody else needs
    /// it.
    int start_buffer(const Node& loop, size_t k, std::vector<Step>& out) {
        const Node& init = *loop.inputs[k + 3];
        const int from = context_.buffers.at(&init);
        if (uses_[&init] == 1 && owned(init, home(loop))) return from;
        const int to = add_buffer("carried " + first_line(loop), init.dtype,
                                  element_count(firn::largest(init.shape)), BufferRole::Temporary);
        out.push_back({CopyStep{from, to}});
        return to;
    }

    const RegionFacts& facts() {
        if (!facts_) facts_ = std::make_unique<RegionFacts>(region_facts(graph_));
        return *facts_;
    }

    const Node* home(const Node& node) { return home_loop(facts(), node); }

    /// A kernel or a loop of the body of `loop` (null: the top) computes the value anew at every
    /// turn.
    bool made_in(const Node& value, const Node* loop) {
        const bool made =
            schedule_.materialised.contains(&value) ||
            (value.op == Op::Result && schedule_.host_loops.contains(value.inputs[0].get()));
        return made && home(value) == loop;
    }

    std::vector<int> next_buffers(const Node& loop, const Region& body,
                                  const std::vector<int>& current, std::vector<Step>& steps) {
        std::vector<int> source;
        std::set<int> taken;
        for (size_t k = 0; k < current.size(); ++k) {
            const Node& next = *body.results[k];
            int from = context_.buffers.at(&next);
            const bool carried = std::find(current.begin(), current.end(), from) != current.end();
            const bool own = schedule_.materialised.contains(&next) || uses_[&next] == 1;
            if ((!carried && !(own && made_in(next, &loop))) || !taken.insert(from).second) {
                const int copy =
                    add_buffer("carried " + first_line(loop), next.dtype,
                               element_count(firn::largest(next.shape)), BufferRole::Temporary);
                steps.push_back({CopyStep{from, copy}});
                from = copy;
                taken.insert(copy);
            }
            source.push_back(from);
        }
        return source;
    }

    /// After a turn current[k] names what source[k] named; names that are left over take what is
    /// left over of the same size.
    std::vector<std::pair<int, int>> rotation(const std::vector<int>& current,
                                              const std::vector<int>& source) const {
        std::vector<std::pair<int, int>> pairs;
        std::set<int> all(current.begin(), current.end()), free(current.begin(), current.end());
        all.insert(source.begin(), source.end());
        free.insert(source.begin(), source.end());
        for (int s : source) free.erase(s);
        for (size_t k = 0; k < current.size(); ++k) pairs.emplace_back(current[k], source[k]);
        for (int name : all) {
            if (std::find(current.begin(), current.end(), name) != current.end()) continue;
            const auto same_size = [&](int other) {
                const BufferInfo &a = program_->buffers[name], &b = program_->buffers[other];
                return a.dtype == b.dtype && a.elements == b.elements;
            };
            const auto place = std::find_if(free.begin(), free.end(), same_size);
            ensure(place != free.end(), "the buffers of a loop do not rotate");
            pairs.emplace_back(name, *place);
            free.erase(place);
        }
        std::erase_if(pairs, [](const auto& p) { return p.first == p.second; });
        return pairs;
    }

    void add_results() {
        std::set<int> taken;
        for (const Size& size : graph_.data_sizes) {
            const size_t k = program_->results.size();
            const int buffer = context_.buffers.at(graph_.results[k].get());
            // A count that was given is given back as it is.
            if (program_->buffers[buffer].role == BufferRole::Temporary &&
                taken.insert(buffer).second)
                program_->buffers[buffer].role = BufferRole::Result;
            program_->results.push_back({i32, {}, buffer});
            program_->data_sizes.push_back({size, buffer});
        }
        for (size_t k = program_->results.size(); k < graph_.results.size(); ++k) {
            const Ref& r = graph_.results[k];
            int buffer = context_.buffers.at(r.get());
            if (program_->buffers[buffer].role != BufferRole::Temporary ||
                !taken.insert(buffer).second) {
                const int copy =
                    add_buffer("result", r->dtype, element_count(firn::largest(r->shape)),
                               BufferRole::Temporary);
                program_->steps.push_back({CopyStep{buffer, copy}});
                buffer = copy;
            }
            program_->buffers[buffer].role = BufferRole::Result;
            program_->results.push_back({r->dtype, r->shape, buffer});
        }
    }

    void add_verdict(const ValueVerdict& v) {
        VerdictInfo row;
        row.value = std::string(info(v.value->op).name) + " " + v.value->dtype.name() +
                    text(v.value->shape);
        row.verdict = v.verdict == Verdict::Inlined  ? "inlined"
                      : v.verdict == Verdict::Staged ? "staged"
                                                     : "materialised";
        row.stage_seconds = v.stage_seconds;
        row.reason = v.reason;
        for (const SourceLine& line : v.value->lines)
            row.lines += (row.lines.empty() ? "" : ", ") + text(line);
        row.inline_seconds = v.inline_seconds;
        row.materialise_seconds = v.materialise_seconds;
        program_->verdicts.push_back(std::move(row));
    }

    const Graph& graph_;
    const Schedule& schedule_;
    const DeviceProfile& profile_;
    const CompileOptions& options_;
    CompileTimes& times_;
    std::shared_ptr<Program> program_;
    PlannedSizes sizes_;
    LowerContext context_;
    std::unordered_map<const Node*, int> uses_;
    std::unordered_map<const Node*, std::vector<Ref>> results_of_;
    std::map<std::string, int> kernels_;
    std::map<std::string, Tuning> tunings_;  // by GLSL
    std::vector<KernelCode> waiting_;        // Ready, independent of each other
    std::vector<Ref> waiting_outputs_;
    std::vector<CompileTrace::Pass> trail_, waiting_trail_;  // of what is made now, and of waiting_
    std::unique_ptr<RegionFacts> facts_;
    int loops_ = 0;
};

}  // namespace

std::shared_ptr<Program> make_plan(const Graph& graph, const Schedule& schedule,
                                   const DeviceProfile& profile, const CompileOptions& options,
                                   CompileTimes& times) {
    Planner planner(graph, schedule, profile, options, times);
    try {
        return planner.run();
    } catch (...) {
        planner.note_unfinished();
        throw;
    }
}

}  // namespace firn
