// A compiled program as plain data: kernels, buffers, and the host steps that launch them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/program/device_profile.h"
#include "compiler/program/dtype.h"
#include "compiler/program/host_operation.h"
#include "compiler/program/host_scalar.h"
#include "compiler/program/program_stats.h"
#include "compiler/program/size.h"
#include "compiler/program/size_env.h"

namespace firn {

struct KernelCode;     // compiler/kernel/kernel_code.h; opaque to the engine
struct ProgramSource;  // compiler/driver/program_source.h; the same

/// The form in which a kernel binds a buffer.
enum class BindingForm : uint8_t {
    Storage,  // the memory itself
    View,     // a view of it as elements of one type, read only
    Address,  // no binding: its address is a parameter behind the others, 8 bytes; for buffers
              // larger than a binding
};

inline constexpr size_t kBindingForms = 3;

/// A binding of a kernel; its index in KernelInfo::bindings is its binding number in set 0.
struct BindingInfo {
    BindingForm form = BindingForm::Storage;
    DType dtype = f32;  // stored type
    int width = 1;      // elements per access
    bool written = false;
};

/// The source of a kernel parameter. Every parameter is 4 bytes (8 for 64-bit types, aligned to 8).
struct ParamInfo {
    DType dtype = i32;
    Size size;  // the value, when `scalar` is -1
    /// The index of the value: a scalar argument in Program::arguments or, behind these, a number
    /// in Program::host_scalars. -1: `size` is the value.
    int scalar = -1;
    friend bool operator==(const ParamInfo&, const ParamInfo&) = default;
};

/// The code that a target makes of a kernel: its text, and the words that its executor runs.
struct Artefact {
    std::string format;  // of the words, as the target names it; empty: no target has made it
    std::string text;
    std::vector<uint32_t> words;
    friend bool operator==(const Artefact&, const Artefact&) = default;
};

/// The features of a device without which a kernel cannot run, or gives other results.
struct DeviceNeeds {
    bool known = false;  // false in files of older versions: its executor finds them in the words
    bool f64 = false, i64 = false;
    bool bits_16 = false, bits_8 = false;  // memory with elements of so many bits
    bool subgroups = false;                // lanes exchange values
    bool wide_atomics = false, float_atomics = false;
    bool addresses = false;       // buffers are reached by their addresses
    bool exact_division = false;  // it takes quotients or roots of floats as the device rounds them
    friend bool operator==(const DeviceNeeds&, const DeviceNeeds&) = default;
};

/// A kernel and the limits it assumes. Parameters are push constants in the order of
/// DispatchStep::params, then the addresses of Address bindings (u64), at the offsets of
/// param_offsets(); when they exceed the device's limit (`params_in_buffer`) they are a uniform
/// buffer at the binding after the last.
struct KernelInfo {
    std::string name;  // unique in the program, made of the user's lines
    Artefact artefact;
    DeviceNeeds needs;
    std::array<uint32_t, 3> group_size{1, 1, 1};
    std::vector<BindingInfo> bindings;
    std::vector<DType> param_types;
    bool params_in_buffer = false;
    bool keeps_special_floats = false;  // requires -0, inf and nan to be kept
    uint32_t shared_bytes = 0;
    MatrixUnit matrix_unit;  // the one that it uses; no rows: none
    int64_t back_edges =
        0;           // largest number of loop back edges of one invocation; -1: only the data knows
    int guards = 0;  // conditions that keep stores or invocations inside their ranges
    std::vector<std::string> lines;          // the user's lines
    std::shared_ptr<const KernelCode> code;  // for the host interpreter; absent in a saved program
    std::string mapping;     // how its ranges are mapped; empty where its user said it
    std::string identity;    // the same for kernels of equal structure, in any run
    std::string tuning_key;  // the key of a mapping found by tuning; empty if none can be
    bool tuned = false;      // the mapping is one that tuning found
    std::string ranges;      // its ranges before they were mapped, for people: `y n, x m; 2 loops`
    std::string unordered;   // the user's lines whose floats atomics combine in any order
};
/// Byte offset of every parameter, and the total size (a multiple of 4) as the last element.
std::vector<uint32_t> param_offsets(const std::vector<DType>& types);

enum class BufferRole : uint8_t {
    Argument,   // bound by the caller, read only (written when it is donated)
    Result,     // bound by the caller, written
    Temporary,  // lives inside the program; memory is packed by lifetime
    Constant,   // `data`, uploaded once
};
struct BufferInfo {
    std::string name;
    DType dtype = f32;
    Size elements;
    Shape shape;  // of the tensor in it, for people; empty where it has one element or no shape
    BufferRole role = BufferRole::Temporary;
    std::vector<std::byte> data;
    /// Bytes a binding of it may touch: tails are padded to 16.
    Size bytes() const { return ceil_div(elements * Size(dtype.bytes()), 16) * Size(16); }
};

struct Step;

/// The work of one dispatch, as sizes: counted by the compiler, not measured.
struct Work {
    Size operations, bytes_read, bytes_written;
};
struct DispatchStep {
    int kernel = 0;
    std::vector<int> buffers;  // one per binding: index into Program::buffers
    std::vector<ParamInfo> params;
    std::array<Size, 3> groups;  // any zero: nothing is dispatched
    Work work;
    /// If only the device knows how many groups there are (`groups` and `work` are then the most):
    /// the binding of the i32 buffer that an earlier dispatch wrote them to, and the element where
    /// the three begin.
    int sizes_binding = -1;
    int64_t sizes_groups = 0;
    /// The kernel before it was mapped, for tuning; absent where it cannot be mapped otherwise, and
    /// in a saved program.
    std::shared_ptr<const KernelCode> lowered;
};
struct CopyStep {
    int source = 0, target = 0;  // buffers of equal size
};
/// A call of the host. The next step that touches what it writes, or writes what it reads, waits
/// for its end; the others may run meanwhile. Calls begin in the order of the steps.
struct CallStep {
    int input = 0, output = 0;  // buffers
    Shape input_shape, output_shape;
    std::shared_ptr<const HostOperation> operation;
    std::string line;  // the user's
};
/// A step that runs `body` `trips` times. In iteration t the symbol `induction` is t (from 0).
/// After each iteration the buffers rotate: afterwards `first` names what `second` named before;
/// the pairs are a permutation. The rotation stays in force after the loop.
struct RepeatStep {
    std::string induction;
    Size trips;  // negative counts as 0
    std::vector<Step> body;
    std::vector<std::pair<int, int>> rotation;
    /// A bool buffer of one element, -1 if there is none. Once it is false further iterations
    /// change nothing, and an executor may read it between chunks of iterations and stop.
    int alive = -1;
    /// The text of a UserError if it is still true after the last iteration; empty: no error.
    std::string never_ended;
    std::string line;  // the user's
};
struct Step {
    std::variant<DispatchStep, CopyStep, RepeatStep, CallStep> step;
};

/// Every dispatch of `steps`, those in the bodies of repeats too, in order: `visit(DispatchStep&)`.
template <class Steps, class Visit>
void for_dispatches(Steps& steps, const Visit& visit) {
    for (auto& step : steps) {
        if (auto* dispatch = std::get_if<DispatchStep>(&step.step)) visit(*dispatch);
        if (auto* repeat = std::get_if<RepeatStep>(&step.step)) for_dispatches(repeat->body, visit);
    }
}

/// Returns whether the host is called in any of the steps.
bool has_calls(const std::vector<Step>& steps);

struct ArgumentInfo {
    std::string name;
    DType dtype = f32;
    Shape shape;          // the largest it can have
    bool scalar = false;  // a value given at the call, not a buffer
    int buffer = -1;
};
struct ResultInfo {
    DType dtype = f32;
    Shape shape;
    int buffer = -1;  // a result that is an argument, or another result, names the same buffer
};
/// A size that only the device knows while the program runs: a data symbol, and the buffer of its
/// value (i32, one element). Shapes of results may hold it. All else in a Program (sizes of
/// buffers, groups, trips) is without data symbols: memory and plans are made for the largest
/// value, and need not be made again for another one.
struct DataSize {
    Size size;
    int buffer = -1;
};
/// Two sizes that must be equal at the call, or a size that must be divisible; `message` names both
/// places.
struct Guard {
    Size left, right;
    std::string message;
};

/// A size that a call must keep within, because a variant assumed it for a kernel's bindings.
struct AssumedSize {
    Size size;
    int64_t most = 0;
    friend bool operator==(const AssumedSize&, const AssumedSize&) = default;
};

/// See `explain`: one row per value.
struct VerdictInfo {
    std::string value, verdict, reason, lines;  // `reason` is a stable code
    double inline_seconds = 0, stage_seconds = 0, materialise_seconds = 0;
};

struct Program {
    std::string name;
    std::vector<ArgumentInfo> arguments;
    std::vector<ResultInfo> results;
    std::vector<DataSize>
        data_sizes;  // result k is the value of data_sizes[k]; the others come after them
    std::vector<Guard> guards;
    std::vector<AssumedSize>
        assumed;  // limits of its bindings; another variant serves a call that exceeds them
    std::vector<HostScalar> host_scalars;  // parameters that the host computes once per call
    std::vector<BufferInfo> buffers;
    std::vector<KernelInfo> kernels;
    std::vector<Step> steps;
    std::vector<VerdictInfo> verdicts;
    std::vector<std::string> rounds;  // what was done again, why, and passes that were left out
    std::string cuts;       // tuning's factors of the costs behind the verdicts; empty: none
    DeviceProfile profile;  // the device that it was compiled for
    double compile_milliseconds = 0;  // from Graph to the texts of kernels
    double build_milliseconds = 0;    // from these to their words, by Target::build or its cache
    /// The source of the program, for diagnostics; may be null.
    std::shared_ptr<const ProgramSource> source;
};

/// A flat step of an unrolled program, one of the three, on physical slots.
/// `slots[i]` is the buffer whose memory binding i uses after all rotations so far.
struct FlatStep {
    const DispatchStep* dispatch = nullptr;
    const CopyStep* copy = nullptr;
    const CallStep* call = nullptr;
    std::vector<int>
        slots;    // dispatch: one per binding; copy: {source, target}; call: {input, output}
    SizeEnv env;  // the symbols, with inductions
    bool barrier_before = false;  // a hazard with an earlier step since the last barrier
};
/// Steps [first, last) of a flat program that are run again and again. Loops inside come after it.
struct FlatLoop {
    size_t first = 0, last = 0;
};
/// Steps in the order in which they run. `result_slots[i]` is the slot that holds result i at the
/// end.
struct FlatProgram {
    std::vector<FlatStep> steps;
    std::vector<FlatLoop> loops;  // see outline (walk.h)
    std::vector<int> result_slots;
};
/// Returns the program unrolled for given symbol values; of a loop whose end depends on data, as
/// many iterations as run before the device is first asked. Leaves out steps that do nothing (no
/// groups, no elements, a copy onto itself). `program` must outlive the result, which points into
/// it.
FlatProgram flatten(const Program& program, const SizeEnv& env);
/// The values of a dispatch's parameters, each of its type. Throws UserError when a size does not
/// fit.
std::vector<Scalar> param_values(const DispatchStep& dispatch, const SizeEnv& env,
                                 const std::vector<Scalar>& scalars);
/// The bits of a parameter of this type; those of 4 bytes are the lower half, and the upper one is
/// 0. A kernel gets an f16 or bf16 as the f32 of the same value, and a narrow integer as the i32.
/// @{
uint64_t param_bits(const Scalar& value, DType dtype);
Scalar scalar_of_bits(uint64_t bits, DType dtype);
/// @}

/// Memory for the slots that the caller does not bind, packed by lifetime into one allocation: byte
/// offset per slot (UINT64_MAX where a slot takes none) and the total. The memory of result i is
/// bound to slot FlatProgram::result_slots[i], so that it ends in its place after any number of
/// rotations: such a slot takes none here, even if it has another role, and a Result slot that
/// holds no result in the end takes some. Steps between two barriers run at the same time: memory
/// changes hands only across a barrier.
struct MemoryPlan {
    std::vector<uint64_t> offsets;
    uint64_t bytes = 0;
    uint64_t largest_live = 0;  // the largest sum of live sizes at one time: a lower bound
};
MemoryPlan plan_memory(const Program& program, const FlatProgram& flat, const SizeEnv& env);

ProgramStats stats(const Program& program, const SizeEnv& env);
/// Some result lies in an argument's buffer: the call gives that argument away.
bool reuses_arguments(const Program& program);
/// Symbol values from the shapes given for the arguments (scalars: empty), and i32 scalar arguments
/// as symbols `$k`. Checks every guard. Throws UserError naming both arguments, both shapes and
/// why.
SizeEnv bind_symbols(const Program& program, const std::vector<std::vector<int64_t>>& shapes,
                     const std::vector<Scalar>& scalars);
/// Returns whether the sizes of the program's bindings are within the limits that it assumed.
bool binds(const Program& program, const SizeEnv& symbols);
/// The symbol that stands for the value of the integer scalar argument with this index.
std::string scalar_symbol(int argument);

}  // namespace firn
