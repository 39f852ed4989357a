// The state of emitting one kernel as LLVM IR, over which the functions of this folder work.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn::native {

/// A value of a node in the text. A value that is equal in all lanes is a scalar. The lanes of an
/// integer may differ by one constant stride: then the text is the scalar of lane 0. Any other is a
/// vector with an element for each lane.
struct IrValue {
    std::string text;  // a name or a constant, without its type
    bool varying = false;
    bool linear = false;  // varying, but the text is lane 0's
    int64_t stride = 0;   // of a linear value, from one lane to the next
    /// The lanes of a vector differ by `stride` if the i1 `where` is true at run time; `first` is
    /// then lane 0. Both are empty if no such condition is known.
    std::string first = {}, where = {};
    /// With `first`, the lanes whose value is `first` plus their strides, an i1 vector. If `low` is
    /// not empty, all lanes before those have the value `low`, which is lane 0's then, and all
    /// behind them `high`, which is the last one's: an index that is clamped.
    std::string inside = {}, low = {}, high = {};

    bool is_vector() const { return varying && !linear; }
};

/// The memory in which the iterations of a loop keep a value: that of iteration k is `bytes` long
/// and lies from `offset` + k * `bytes` on.
struct KeptValue {
    NodeId index;  // of the loop
    int64_t offset = 0, bytes = 0;
};

struct IrRun {
    const KernelCode& code;
    const DeviceProfile& profile;
    int lanes = 1;         // that run in step
    int turns = 1;         // subgroups of a group that wait for one another, see turns.h; 1: none
    std::string turn;      // the number of the subgroup whose turn it is, an i32
    int subgroup = 1;      // lanes of one
    bool contract = true;  // a product may become part of a sum: fused, rounded once
    ByNode<bool> varying;  // see forms.h
    ByRegion<bool> diverges;              // loops that lanes leave at different times
    ByNode<bool> positions;               // values that follow from ranges and sizes alone
    ByNode<NodeId> wanted;                // the condition without which no user takes a value
    ByNode<bool> sums;                    // sums and differences of what a loop carries
    ByNode<std::vector<IrValue>> values;  // of a vector load and a Branch, several
    ByNode<KeptValue> keeps, takes;       // see kept.h
    int64_t kept_bytes = 0;
    std::string mask;                 // the lanes that run, an i1 vector; empty: all
    std::string text;                 // instructions so far
    std::string allocas;              // those of the entry block
    std::string block = "entry";      // the label of the block that is written
    int next = 0;                     // the next name
    std::set<std::string> declared;   // intrinsics and functions from outside
    std::vector<IrValue> arguments;   // of a function: its parameters
    std::string returned;             // of a function: what it stores
    std::vector<std::string> memory;  // the pointer of each buffer
    std::string cached;               // NativeCall::cached
    bool streams = false;             // some store may go past the caches
    bool weighs = false;              // some branch says which side is likely
    bool checks = false;              // each access, see checks.h
    std::string group = "0";          // the number of the group
    /// With checks, the number of elements that each buffer has (i64).
    std::vector<std::string> elements;
    std::map<std::string, int>* functions = nullptr;  // of the module: how often each is called
};

/// The type of one lane: float for f32 and halves, i32 for integers of up to 32 bits.
std::string scalar_type(DType dtype);
/// The type of a value of all lanes.
std::string vector_of(const IrRun& run, const std::string& scalar);
std::string type_of(const IrRun& run, DType dtype, bool varying);
/// The suffix of an intrinsic for a type: f32, v8f32.
std::string suffix_of(const std::string& type);

/// Writes an instruction and returns the name of its value.
std::string emit(IrRun& run, const std::string& instruction);
void emit_effect(IrRun& run, const std::string& instruction);
/// Begins a block.
std::string new_label(IrRun& run, std::string_view what);
void begin_block(IrRun& run, const std::string& label);
/// Ends a block by a branch of which the first side is nearly always taken: the registers and the
/// place of the other one come second.
void jump_likely(IrRun& run, const std::string& condition, const std::string& likely,
                 const std::string& other);

/// The value of a node that stands before in the text; of a node that nothing evaluates, because
/// nobody uses what depends on it, poison.
IrValue value_of(const IrRun& run, NodeId id);
/// Gives the constants their texts.
void name_constants(IrRun& run);

/// The same scalar in every lane.
std::string splat(IrRun& run, const std::string& scalar, const std::string& type);
/// A value as a vector of all lanes.
std::string as_vector(IrRun& run, const IrValue& value, DType dtype);
/// The value of one lane.
std::string lane_of(IrRun& run, const IrValue& value, DType dtype, int lane);
/// Calls an intrinsic that is overloaded by `type`, all operands and the result of that type.
std::string intrinsic(IrRun& run, const std::string& name, const std::string& type,
                      const std::vector<std::string>& operands);
/// Returns whether any lane is set in an i1 vector (an i1).
std::string any_of(IrRun& run, const std::string& mask);
/// The lanes of both masks, i1 vectors; an empty one has all lanes.
std::string lanes_of_both(IrRun& run, const std::string& a, const std::string& b);
/// The other lanes.
std::string other_lanes(IrRun& run, const std::string& mask);
/// A constant as text.
std::string constant_text(const Scalar& value);

}  // namespace firn::native
