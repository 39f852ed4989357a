// The function that runs the steps of a program, as LLVM IR: what executors on the host do.
#include "compiler/target/native/ahead/driver.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/program/native_abi.h"
#include "compiler/target/native/ahead/call_fields.h"
#include "compiler/target/native/ahead/constants.h"
#include "compiler/target/native/ahead/entry_points.h"
#include "compiler/target/native/ahead/fixed_functions.h"
#include "compiler/target/native/ahead/layout.h"
#include "compiler/target/native/ahead/numbers.h"
#include "compiler/target/native/ahead/sizes.h"
#include "compiler/target/native/llvm.h"

namespace firn::ahead {
namespace {

class Steps {
  public:
    Steps(const Program& program, const Interface& interface, const Places& places,
          const std::vector<size_t>& modules)
        : program_(program), interface_(interface), places_(places), modules_(modules) {}

    /// The function `@firn.steps`.
    std::string function() {
        IrText text;
        memory_ = text.alloca_of("[" + std::to_string(program_.buffers.size() + 1) + " x ptr]");
        size_t most_bindings = 1, most_params = 1;
        for_dispatches(program_.steps, [&](const DispatchStep& step) {
            most_bindings = std::max(most_bindings, step.buffers.size());
            most_params = std::max(most_params, step.params.size());
        });
        buffers_ = text.alloca_of("[" + std::to_string(most_bindings) + " x ptr]");
        params_ = text.alloca_of("[" + std::to_string(most_params) + " x i64]");
        dispatch_ = text.alloca_of("%dispatch");
        symbols_ = load_symbols(text, program_, interface_, scalars_);
        bind(text);
        add(text, program_.steps);
        give_results(text);
        text.effect("ret i32 0");
        write_code(text, "missing", kMissing);
        write_code(text, "too_large", kTooLarge);
        return text.function(
            "define internal i32 @firn.steps(ptr %c, ptr %base, ptr %spare, ptr %offsets, ptr "
            "%host)");
    }

  private:
    std::string slot_address(IrText& text, int buffer) const {
        return text.emit("getelementptr ptr, ptr " + memory_ + ", i64 " + std::to_string(buffer));
    }
    std::string memory_now(IrText& text, int buffer) const {
        return text.emit("load ptr, ptr " + slot_address(text, buffer));
    }

    std::string bytes_now(IrText& text, const Size& elements, DType dtype) const {
        // layout() has checked it.
        std::vector<std::string> overflows;
        const std::string count = write_size(text, elements, symbols_, overflows),
                          bytes =
                              text.emit("mul i64 " + count + ", " + std::to_string(dtype.bytes()));
        return text.emit("call i64 @llvm.smax.i64(i64 " + bytes + ", i64 0)");
    }
    std::string bytes_of(IrText& text, int buffer) const {
        const BufferInfo& info = program_.buffers[static_cast<size_t>(buffer)];
        return bytes_now(text, info.elements, info.dtype);
    }

    /// The array of an argument or result, which is there where it has elements.
    std::string given_array(IrText& text, size_t field, const std::string& bytes) const {
        std::string array = load_field(text, interface_, field);
        const std::string none = text.emit("icmp eq ptr " + array + ", null"),
                          some = text.emit("icmp ne i64 " + bytes + ", 0");
        text.leave_if(text.emit("and i1 " + none + ", " + some), "missing");
        return array;
    }

    void bind_given(IrText& text, int buffer, const std::string& array, const std::string& bytes,
                    const std::string& padded, bool is_read) const {
        const std::string place = place_address(text, places_.of[static_cast<size_t>(buffer)]),
                          memory = text.emit("call ptr @firn.memory_for(ptr " + array + ", i64 " +
                                             bytes + ", ptr " + place + ", ptr %spare, i1 " +
                                             padded + ", i1 " + (is_read ? "true)" : "false)"));
        text.effect("store ptr " + memory + ", ptr " + slot_address(text, buffer));
    }

    /// Every buffer gets its memory.
    void bind(IrText& text) {
        const std::string padded =
            text.emit("icmp ne i32 " + load_field(text, interface_, interface_.padded) + ", 0");
        for (size_t k = 0; k < program_.buffers.size(); ++k) {
            const BufferRole role = program_.buffers[k].role;
            std::string memory = "%spare";
            if (has_data(program_, k)) memory = "@firn.constant_" + std::to_string(k);
            if (role == BufferRole::Temporary) memory = place_address(text, places_.of[k]);
            text.effect("store ptr " + memory + ", ptr " + slot_address(text, static_cast<int>(k)));
        }
        for (size_t k = 0; k < program_.arguments.size(); ++k) {
            const int buffer = program_.arguments[k].buffer;
            if (program_.arguments[k].scalar || buffer < 0) continue;
            const std::string bytes = bytes_of(text, buffer);
            bind_given(text, buffer, given_array(text, interface_.arguments[k], bytes), bytes,
                       padded, true);
        }
        std::vector<bool> bound(program_.buffers.size());
        for (size_t k = 0; k < program_.results.size(); ++k) {
            const int buffer = program_.results[k].buffer;
            const std::string bytes = bytes_of(text, buffer);
            GivenResult given{"", bytes};
            std::string has_padding = padded;
            if (k < program_.data_sizes.size()) {
                // Without an array it lies in the workspace, as one without padding does.
                given.array = load_field(text, interface_, interface_.results[k]);
                const std::string wanted = text.emit("icmp ne ptr " + given.array + ", null");
                given.bytes = text.emit("select i1 " + wanted + ", i64 " + bytes + ", i64 0");
                has_padding = text.emit("and i1 " + padded + ", " + wanted);
            } else {
                given.array = given_array(text, interface_.results[k], bytes);
            }
            results_.push_back(given);
            if (program_.buffers[static_cast<size_t>(buffer)].role != BufferRole::Result ||
                bound[static_cast<size_t>(buffer)])
                continue;
            bound[static_cast<size_t>(buffer)] = true;
            bind_given(text, buffer, given.array, bytes, has_padding, false);
        }
    }

    /// Results that are in other memory than theirs are copied there; those that may have
    /// exchanged theirs by way of the workspace.
    void give_results(IrText& text) const {
        const auto move = [&](const std::string& to, const std::string& from,
                              const std::string& bytes) {
            text.effect("call void @firn.move(ptr " + to + ", ptr " + from + ", i64 " + bytes +
                        ")");
        };
        std::vector<std::string> from;
        for (size_t k = 0; k < program_.results.size(); ++k) {
            const int buffer = program_.results[k].buffer;
            from.push_back(memory_now(text, buffer));
            if (places_.exchange[k] < 0) continue;
            const std::string place = place_address(text, places_.exchange[k]),
                              there =
                                  text.emit("icmp eq ptr " + from[k] + ", " + results_[k].array),
                              aside = text.emit("select i1 " + there + ", ptr " + from[k] +
                                                ", ptr " + place);
            move(aside, from[k], bytes_of(text, buffer));
            from[k] = aside;
        }
        for (size_t k = 0; k < program_.results.size(); ++k)
            move(results_[k].array, from[k], results_[k].bytes);
    }

    void add(IrText& text, const std::vector<Step>& steps) {
        for (const Step& step : steps)
            std::visit([&](const auto& kind) { add(text, kind); }, step.step);
    }

    /// The numbers of groups along the three dimensions, none of them negative.
    std::array<std::string, 3> groups_of(IrText& text, const DispatchStep& step) const {
        std::array<std::string, 3> groups;
        for (size_t k = 0; k < 3; ++k) {
            const std::string count =
                write_checked_size(text, step.groups[k], symbols_, "too_large");
            groups[k] = text.emit("call i64 @llvm.smax.i64(i64 " + count + ", i64 0)");
        }
        if (step.sizes_binding < 0) return groups;
        // Only the data knows: where there are any at all.
        std::string most = groups[0];
        for (size_t k = 1; k < 3; ++k)
            most = text.emit("call i64 @llvm.umin.i64(i64 " + most + ", i64 " + groups[k] + ")");
        const std::string any = text.emit("icmp ne i64 " + most + ", 0");
        const std::string sizes =
            memory_now(text, step.buffers[static_cast<size_t>(step.sizes_binding)]);
        for (size_t k = 0; k < 3; ++k) {
            const std::string at = text.emit(
                                  "getelementptr i32, ptr " + sizes + ", i64 " +
                                  std::to_string(step.sizes_groups + static_cast<int64_t>(k))),
                              count = text.emit("load i32, ptr " + at),
                              wide = text.emit("sext i32 " + count + " to i64"),
                              least = text.emit("call i64 @llvm.smax.i64(i64 " + wide + ", i64 0)");
            groups[k] = text.emit("select i1 " + any + ", i64 " + least + ", i64 0");
        }
        return groups;
    }

    void add(IrText& text, const DispatchStep& step) {
        const std::array<std::string, 3> groups = groups_of(text, step);
        std::string all = groups[0];
        for (size_t k = 1; k < 3; ++k) {
            const std::string product =
                text.emit("call {i64, i1} @llvm.umul.with.overflow.i64(i64 " + all + ", i64 " +
                          groups[k] + ")");
            text.leave_if(text.emit("extractvalue {i64, i1} " + product + ", 1"), "too_large");
            all = text.emit("extractvalue {i64, i1} " + product + ", 0");
        }
        text.only_if(text.emit("icmp ne i64 " + all + ", 0"),
                     [&] { launch(text, step, groups, all); });
    }

    void launch(IrText& text, const DispatchStep& step, const std::array<std::string, 3>& groups,
                const std::string& all) {
        const KernelInfo& kernel = program_.kernels[static_cast<size_t>(step.kernel)];
        NumberScope scope{text, program_, scalars_, symbols_, "too_large"};
        for (size_t k = 0; k < step.params.size(); ++k)
            put(text, "i64", write_parameter(scope, step.params[k]), params_, k);
        std::string written = "0";
        for (size_t k = 0; k < step.buffers.size(); ++k) {
            put(text, "ptr", memory_now(text, step.buffers[k]), buffers_, k);
            if (kernel.bindings[k].written)
                written = text.emit("add i64 " + written + ", " + bytes_of(text, step.buffers[k]));
        }
        set_field(text, 0, "ptr", buffers_);
        set_field(text, 1, "ptr", params_);
        for (int k = 0; k < 3; ++k) {
            const std::string& count = groups[static_cast<size_t>(k)];
            text.leave_if(text.emit("icmp ugt i64 " + count + ", 4294967295"), "too_large");
            set_field(text, 2 + k, "i32", text.emit("trunc i64 " + count + " to i32"));
        }
        set_field(text, 5, "i64",
                  text.emit("call i64 @firn.cached(i64 " + written + ", ptr %host)"));
        text.effect("call void @firn.launch(ptr @" +
                    joined_kernel_name(modules_[static_cast<size_t>(step.kernel)]) + ", ptr " +
                    dispatch_ + ", i64 " + all + ", i1 " + is_wide(text, step.work) +
                    ", ptr %host)");
    }

    static void put(IrText& text, const char* type, const std::string& value,
                    const std::string& array, size_t k) {
        const std::string at = text.emit("getelementptr " + std::string(type) + ", ptr " + array +
                                         ", i64 " + std::to_string(k));
        text.effect("store " + std::string(type) + " " + value + ", ptr " + at);
    }

    void set_field(IrText& text, int k, const char* type, const std::string& value) const {
        const std::string at = text.emit("getelementptr %dispatch, ptr " + dispatch_ +
                                         ", i32 0, i32 " + std::to_string(k));
        text.effect("store " + std::string(type) + " " + value + ", ptr " + at);
    }

    /// Returns whether a dispatch has enough work for several threads, by the rates of the profile,
    /// which are those of kRatedCores. Work that is too large to count is enough.
    std::string is_wide(IrText& text, const Work& work) const {
        const DeviceProfile& profile = program_.profile;
        std::vector<std::string> wide;
        const auto compare = [&](const Size& amount, double per_second) {
            const std::string count = write_size(text, amount, symbols_, wide),
                              number = text.emit("sitofp i64 " + count + " to double"),
                              least = double_literal(kSecondsAlone * per_second / kRatedCores);
            wide.push_back(text.emit("fcmp oge double " + number + ", " + least));
        };
        compare(work.operations, profile.operations_per_second);
        compare(work.bytes_read + work.bytes_written, profile.bytes_per_second);
        std::string any = wide[0];
        for (size_t k = 1; k < wide.size(); ++k) any = text.emit("or i1 " + any + ", " + wide[k]);
        return any;
    }

    void add(IrText& text, const CopyStep& copy) {
        const std::string from = memory_now(text, copy.source), to = memory_now(text, copy.target);
        text.effect("call void @firn.move(ptr " + to + ", ptr " + from + ", i64 " +
                    bytes_of(text, copy.source) + ")");
    }

    void add(IrText&, const CallStep& call) {
        throw UserError("save_native: the program calls " + call.operation->name() +
                        " on the host, which its machine code cannot" +
                        (call.line.empty() ? "" : " (" + call.line + ")"));
    }

    std::string is_alive(IrText& text, int buffer) const {
        const std::string word = text.emit("load i32, ptr " + memory_now(text, buffer));
        return text.emit("icmp ne i32 " + word + ", 0");
    }

    void add(IrText& text, const RepeatStep& repeat) {
        const std::string trips = write_checked_size(text, repeat.trips, symbols_, "too_large"),
                          counter = text.alloca_of("i64"), head = text.name("head"),
                          inside = text.name("inside"), end = text.name("end");
        text.effect("store i64 0, ptr " + counter);
        text.effect("br label %" + head);
        text.begin(head);
        const std::string iteration = text.emit("load i64, ptr " + counter),
                          more = text.emit("icmp slt i64 " + iteration + ", " + trips);
        text.effect("br i1 " + more + ", label %" + inside + ", label %" + end);
        text.begin(inside);
        // Once it is false further iterations would change nothing.
        if (repeat.alive >= 0)
            text.leave_if(text.emit("xor i1 " + is_alive(text, repeat.alive) + ", true"), end);
        const auto outer = symbols_.find(repeat.induction);
        const bool had = outer != symbols_.end();
        const std::string before = had ? outer->second : "";
        if (!repeat.induction.empty()) symbols_[repeat.induction] = iteration;
        add(text, repeat.body);
        if (!repeat.induction.empty()) symbols_.erase(repeat.induction);
        if (had) symbols_[repeat.induction] = before;
        rotate(text, repeat.rotation);
        text.effect("store i64 " + text.emit("add i64 " + iteration + ", 1") + ", ptr " + counter);
        text.effect("br label %" + head);
        text.begin(end);
        if (repeat.never_ended.empty() || repeat.alive < 0) return;
        const std::string any = text.emit("icmp sgt i64 " + trips + ", 0");
        text.only_if(any, [&] {
            const std::string endless = text.name("endless"), ended = text.name("ended");
            text.effect("br i1 " + is_alive(text, repeat.alive) + ", label %" + endless +
                        ", label %" + ended);
            text.begin(endless);
            text.effect("ret i32 " + std::to_string(interface_.never_ended(repeat.never_ended)));
            text.begin(ended);
        });
    }

    void rotate(IrText& text, const std::vector<std::pair<int, int>>& rotation) const {
        std::vector<std::string> next;
        for (const auto& pair : rotation) next.push_back(memory_now(text, pair.second));
        for (size_t k = 0; k < rotation.size(); ++k)
            text.effect("store ptr " + next[k] + ", ptr " + slot_address(text, rotation[k].first));
    }

    const Program& program_;
    const Interface& interface_;
    const Places& places_;
    const std::vector<size_t>& modules_;
    SymbolValues symbols_;
    std::vector<std::string> scalars_;  // by argument
    std::string memory_;                // of every buffer, at present
    std::string buffers_, params_, dispatch_;
    /// The array that was given for a result, and the bytes that it takes.
    struct GivenResult {
        std::string array, bytes;
    };
    std::vector<GivenResult> results_;
};

}  // namespace

std::string driver_module(const Program& program, const Interface& interface, const Places& places,
                          const std::vector<size_t>& modules, Architecture architecture) {
    std::string out = "; program " + interface.function + "\n" + fixed_types() +
                      call_type(interface) + size_functions() + number_functions() +
                      fixed_functions(architecture);
    std::vector<size_t> all = modules;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (size_t k : all) out += "declare void @" + joined_kernel_name(k) + "(ptr, i64, i64)\n";
    return out + constants(program) + layout_function(program, interface, places) +
           Steps(program, interface, places, modules).function() + entry_points(interface, places);
}

}  // namespace firn::ahead
