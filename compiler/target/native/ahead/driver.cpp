// The function that runs the steps of a program, as LLVM IR: what executors on the host do.
#include "compiler/target/native/ahead/driver.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/program/index_limits.h"
#include "compiler/program/native_abi.h"
#include "compiler/target/native/ahead/numbers.h"
#include "compiler/target/native/ahead/sizes.h"
#include "compiler/target/native/llvm.h"

namespace firn::ahead {
namespace {

/// Bytes at the beginning of the workspace in whose middle arrays without elements lie: a kernel
/// may read an element outside them.
constexpr int64_t kSpare = 192, kSpareMiddle = 64, kLine = 64;
constexpr const char* kCallType =
    "%dispatch = type { ptr, ptr, i32, i32, i32, i64 }\n"
    "%host = type { ptr, ptr, i64 }\n%job = type { ptr, ptr }\n\n";

/// Functions by which floats are as kernels take them: rounded to the nearest, subnormal ones kept.
/// The first one returns what was before.
constexpr const char* kFloatsOfX86 = R"(
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)

define internal i32 @firn.take_floats() {
  %now = alloca i32
  %ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %now)
  store i32 8064, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
  %before = load i32, ptr %now
  ret i32 %before
}

define internal void @firn.give_floats(i32 %before) {
  %ours = alloca i32
  store i32 %before, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
  ret void
}
)";
// The upper half of the register is zeros.
constexpr const char* kFloatsOfAarch64 = R"(
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal i32 @firn.take_floats() {
  %now = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  %before = trunc i64 %now to i32
  ret i32 %before
}

define internal void @firn.give_floats(i32 %before) {
  %all = zext i32 %before to i64
  call void @llvm.aarch64.set.fpcr(i64 %all)
  ret void
}
)";

const char* float_functions(Architecture architecture) {
    switch (architecture) {
        case Architecture::X86_64: return kFloatsOfX86;
        case Architecture::Aarch64: return kFloatsOfAarch64;
    }
    throw InternalError("internal error: an architecture without a way to take floats");
}

/// The other functions that are the same in each program.
constexpr const char* kFunctions = R"(
declare i64 @llvm.umin.i64(i64, i64)
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Some groups of a kernel, on a thread of the host.
define internal void @firn.part(ptr %job, i64 %first, i64 %last) {
  %before = call i32 @firn.take_floats()
  %kernel = load ptr, ptr %job
  %at = getelementptr %job, ptr %job, i32 0, i32 1
  %dispatch = load ptr, ptr %at
  call void %kernel(ptr %dispatch, i64 %first, i64 %last)
  call void @firn.give_floats(i32 %before)
  ret void
}

; All groups of a kernel; `wide`: they are worth threads.
define internal void @firn.launch(ptr %kernel, ptr %dispatch, i64 %groups, i1 %wide, ptr %host) {
entry:
  %job = alloca %job
  %several = icmp ugt i64 %groups, 1
  %has_host = icmp ne ptr %host, null
  %may = and i1 %several, %has_host
  %ask = and i1 %may, %wide
  br i1 %ask, label %look, label %alone
look:
  %at = getelementptr %host, ptr %host, i32 0, i32 1
  %parallel_for = load ptr, ptr %at
  %has = icmp ne ptr %parallel_for, null
  br i1 %has, label %parts, label %alone
parts:
  %context = load ptr, ptr %host
  store ptr %kernel, ptr %job
  %second = getelementptr %job, ptr %job, i32 0, i32 1
  store ptr %dispatch, ptr %second
  call void %parallel_for(ptr %context, i64 %groups, ptr @firn.part, ptr %job)
  ret void
alone:
  call void %kernel(ptr %dispatch, i64 0, i64 %groups)
  ret void
}

; NativeCall::cached for a kernel that writes so many bytes.
define internal i64 @firn.cached(i64 %bytes, ptr %host) {
entry:
  %has_host = icmp ne ptr %host, null
  br i1 %has_host, label %look, label %all
look:
  %at = getelementptr %host, ptr %host, i32 0, i32 2
  %cache = load i64, ptr %at
  %known = icmp sgt i64 %cache, 0
  %exceeds = icmp sgt i64 %bytes, %cache
  %past = and i1 %known, %exceeds
  %cached = select i1 %past, i64 0, i64 -1
  ret i64 %cached
all:
  ret i64 -1
}

; The memory that kernels use for an array that was given: itself, or a place in the workspace.
define internal ptr @firn.memory_for(ptr %given, i64 %bytes, ptr %place, ptr %spare, i1 %padded, i1 %read) {
entry:
  %empty = icmp eq i64 %bytes, 0
  br i1 %empty, label %none, label %some
none:
  ret ptr %spare
some:
  %odd = and i64 %bytes, 15
  %even = icmp eq i64 %odd, 0
  %whole = or i1 %even, %padded
  br i1 %whole, label %itself, label %apart
itself:
  ret ptr %given
apart:
  br i1 %read, label %copied, label %placed
copied:
  call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %given, i64 %bytes, i1 false)
  br label %placed
placed:
  ret ptr %place
}

define internal void @firn.move(ptr %to, ptr %from, i64 %bytes) {
entry:
  %same = icmp eq ptr %to, %from
  %empty = icmp eq i64 %bytes, 0
  %nothing = or i1 %same, %empty
  br i1 %nothing, label %done, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  br label %done
done:
  ret void
}

)";

std::string quoted(const char* bytes, size_t count) {
    std::string out = "c\"";
    for (size_t k = 0; k < count; ++k) {
        char digits[4];
        std::snprintf(digits, sizeof digits, "\\%02X", static_cast<unsigned char>(bytes[k]));
        out += digits;
    }
    return out + "\"";
}

std::string bytes_type(size_t count) { return "[" + std::to_string(count) + " x i8]"; }

class Driver {
  public:
    Driver(const Program& program, const Interface& interface, const Places& places,
           const std::vector<size_t>& modules, Architecture architecture)
        : program_(program),
          interface_(interface),
          places_(places),
          modules_(modules),
          architecture_(architecture) {}

    std::string module() {
        std::string out = "; program " + interface_.function + "\n" + kCallType + call_type() +
                          size_functions() + number_functions() + float_functions(architecture_) +
                          kFunctions;
        std::vector<size_t> all = modules_;
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        for (size_t k : all) out += "declare void @" + joined_kernel_name(k) + "(ptr, i64, i64)\n";
        return out + constants() + layout() + steps() + entry() + workspace_bytes() + message();
    }

  private:
    std::string call_type() const {
        std::string types;
        for (const Field& field : interface_.fields)
            types += (types.empty() ? "" : ", ") + field.ir_type;
        return "%call = type { " + types + " }\n\n";
    }

    std::string load_field(IrText& text, size_t k) const {
        const std::string place =
            text.emit("getelementptr %call, ptr %c, i32 0, i32 " + std::to_string(k));
        return text.emit("load " + interface_.fields[k].ir_type + ", ptr " + place);
    }

    bool has_data(size_t buffer) const {
        const BufferInfo& info = program_.buffers[buffer];
        return info.role == BufferRole::Constant && info.bytes().constant() > 0;
    }

    std::string constants() const {
        std::string out;
        for (size_t k = 0; k < program_.buffers.size(); ++k) {
            if (!has_data(k)) continue;
            std::vector<std::byte> data = program_.buffers[k].data;
            data.resize(static_cast<size_t>(program_.buffers[k].bytes().constant()));
            out += "@firn.constant_" + std::to_string(k) + " = internal constant " +
                   bytes_type(data.size()) + " " +
                   quoted(reinterpret_cast<const char*>(data.data()), data.size()) + ", align 64\n";
        }
        return out + "\n";
    }

    /// The symbols of sizes, from the struct.
    SymbolValues load_symbols(IrText& text, std::vector<std::string>& scalars) const {
        SymbolValues symbols;
        for (size_t k = 0; k < interface_.symbols.size(); ++k)
            symbols[interface_.symbols[k]] = load_field(text, k);
        scalars.resize(program_.arguments.size());
        for (size_t k = 0; k < scalars.size(); ++k) {
            if (!program_.arguments[k].scalar) continue;
            scalars[k] = load_field(text, interface_.arguments[k]);
            if (program_.arguments[k].dtype == i32)
                symbols[scalar_symbol(static_cast<int>(k))] =
                    text.emit("sext i32 " + scalars[k] + " to i64");
        }
        return symbols;
    }

    static void write_code(IrText& text, const char* block, int code) {
        text.begin(block);
        text.effect("ret i32 " + std::to_string(code));
    }

    /// Checks the sizes of a call, and gives the offsets of all places and the bytes of all.
    std::string layout() const {
        IrText text;
        std::vector<std::string> scalars;
        const SymbolValues symbols = load_symbols(text, scalars);
        for (const std::string& name : interface_.symbols)
            text.leave_if(
                text.emit("icmp ugt i64 " + symbols.at(name) + ", " + std::to_string(INT32_MAX)),
                "bad_size");
        for (size_t k = 0; k < program_.guards.size(); ++k) {
            const Guard& guard = program_.guards[k];
            const std::string left = write_checked_size(text, guard.left, symbols, "too_large"),
                              right = write_checked_size(text, guard.right, symbols, "too_large");
            text.leave_if(text.emit("icmp ne i64 " + left + ", " + right),
                          "guard_" + std::to_string(k));
        }
        for (const AssumedSize& assumed : program_.assumed)
            if (assumed.most < INT64_MAX)
                check_most(text, write_checked_size(text, assumed.size, symbols, "too_large"),
                           assumed.most);
        std::vector<std::string> bytes;
        for (const BufferInfo& buffer : program_.buffers) {
            const std::string elements =
                write_checked_size(text, buffer.elements, symbols, "too_large");
            check_most(text, elements, kMostElements);
            bytes.push_back(
                text.emit("mul i64 " + elements + ", " + std::to_string(buffer.dtype.bytes())));
        }
        std::string offset = std::to_string(kSpare);
        for (size_t k = 0; k < places_.all.size(); ++k) {
            write_offset(text, k, offset);
            std::string most = "0";
            for (int buffer : places_.all[k].buffers)
                most = text.emit("call i64 @llvm.smax.i64(i64 " + most + ", i64 " +
                                 bytes[static_cast<size_t>(buffer)] + ")");
            const std::string end = text.emit("add i64 " + offset + ", " + most),
                              more = text.emit("add i64 " + end + ", " + std::to_string(kLine - 1));
            offset = text.emit("and i64 " + more + ", " + std::to_string(-kLine));
        }
        // A line behind the last place may be read, and the workspace begins at any address.
        write_offset(text, places_.all.size(),
                     text.emit("add i64 " + offset + ", " + std::to_string(2 * kLine)));
        text.effect("ret i32 0");
        write_code(text, "bad_size", kBadSize);
        write_code(text, "too_large", kTooLarge);
        for (size_t k = 0; k < program_.guards.size(); ++k)
            write_code(text, ("guard_" + std::to_string(k)).c_str(), interface_.guard(k));
        return text.function("define internal i32 @firn.layout(ptr %c, ptr %offsets)");
    }

    /// A negative one counts as none.
    static void check_most(IrText& text, const std::string& value, int64_t most) {
        text.leave_if(text.emit("icmp sgt i64 " + value + ", " + std::to_string(most)),
                      "too_large");
    }

    static void write_offset(IrText& text, size_t k, const std::string& offset) {
        const std::string place =
            text.emit("getelementptr i64, ptr %offsets, i64 " + std::to_string(k));
        text.effect("store i64 " + offset + ", ptr " + place);
    }

    std::string offsets_type() const {
        return "[" + std::to_string(places_.all.size() + 1) + " x i64]";
    }

    std::string place_address(IrText& text, int place) const {
        if (place < 0) return "%spare";
        const std::string at = text.emit("getelementptr i64, ptr %offsets, i64 " +
                                         std::to_string(place)),
                          offset = text.emit("load i64, ptr " + at);
        return text.emit("getelementptr i8, ptr %base, i64 " + offset);
    }

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
        std::string array = load_field(text, field);
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
            text.emit("icmp ne i32 " + load_field(text, interface_.padded) + ", 0");
        for (size_t k = 0; k < program_.buffers.size(); ++k) {
            const BufferRole role = program_.buffers[k].role;
            std::string memory = "%spare";
            if (has_data(k)) memory = "@firn.constant_" + std::to_string(k);
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
                given.array = load_field(text, interface_.results[k]);
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

    std::string steps() {
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
        symbols_ = load_symbols(text, scalars_);
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

    /// The function of the header.
    std::string entry() const {
        return "define i32 @" + interface_.function +
               "(ptr %c, ptr %workspace, ptr %host) {\nentry:\n"
               "  %offsets = alloca " +
               offsets_type() +
               ", align 8\n"
               "  %refused = call i32 @firn.layout(ptr %c, ptr %offsets)\n"
               "  %bad = icmp ne i32 %refused, 0\n  br i1 %bad, label %refuse, label %fits\n"
               "refuse:\n  ret i32 %refused\n"
               "fits:\n  %none = icmp eq ptr %workspace, null\n"
               "  br i1 %none, label %missing, label %run\n"
               "missing:\n  ret i32 " +
               std::to_string(kMissing) +
               "\n"
               "run:\n  %address = ptrtoint ptr %workspace to i64\n"
               "  %back = sub i64 0, %address\n"
               "  %gap = and i64 %back, " +
               std::to_string(kLine - 1) +
               "\n"
               "  %base = getelementptr i8, ptr %workspace, i64 %gap\n"
               "  %spare = getelementptr i8, ptr %base, i64 " +
               std::to_string(kSpareMiddle) +
               "\n"
               "  %before = call i32 @firn.take_floats()\n"
               "  %code = call i32 @firn.steps(ptr %c, ptr %base, ptr %spare, ptr %offsets, ptr "
               "%host)\n"
               "  call void @firn.give_floats(i32 %before)\n"
               "  ret i32 %code\n}\n\n";
    }

    std::string workspace_bytes() const {
        return "define i64 @" + interface_.function +
               "_workspace_bytes(ptr %c) {\nentry:\n  %offsets = alloca " + offsets_type() +
               ", align 8\n  %refused = call i32 @firn.layout(ptr %c, ptr %offsets)\n"
               "  %bad = icmp ne i32 %refused, 0\n"
               "  %at = getelementptr i64, ptr %offsets, i64 " +
               std::to_string(places_.all.size()) +
               "\n  br i1 %bad, label %none, label %some\n"
               "none:\n  ret i64 -1\n"
               "some:\n  %bytes = load i64, ptr %at\n  ret i64 %bytes\n}\n\n";
    }

    std::string message() const {
        std::vector<std::string> texts{"it has run"};
        for (const Code& code : interface_.codes) texts.push_back(code.text);
        texts.push_back("the function returns no such number");
        std::string strings, cases, blocks;
        for (size_t k = 0; k < texts.size(); ++k) {
            const std::string at = std::to_string(k);
            strings += "@firn.text_" + at + " = internal constant " +
                       bytes_type(texts[k].size() + 1) + " " +
                       quoted(texts[k].c_str(), texts[k].size() + 1) + "\n";
            if (k + 1 == texts.size()) break;
            cases += " i32 " + at + ", label %case_" + at;
            blocks += "case_" + at + ":\n  ret ptr @firn.text_" + at + "\n";
        }
        return strings + "\ndefine ptr @" + interface_.function +
               "_message(i32 %code) {\nentry:\n  switch i32 %code, label %other [" + cases +
               " ]\n" + blocks + "other:\n  ret ptr @firn.text_" +
               std::to_string(texts.size() - 1) + "\n}\n";
    }

    const Program& program_;
    const Interface& interface_;
    const Places& places_;
    const std::vector<size_t>& modules_;
    const Architecture architecture_;
    // In the function that runs the steps:
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
    return Driver(program, interface, places, modules, architecture).module();
}

}  // namespace firn::ahead
