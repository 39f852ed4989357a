// Checks of accesses against their memory.
#include "compiler/target/native/checks.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "compiler/base/error.h"
#include "compiler/kernel/accesses.h"
#include "compiler/program/native_abi.h"
#include "compiler/target/native/elements.h"

namespace firn::native {
namespace {

/// Bytes in front of a binding and behind it that may be read (NativeCall::buffers).
constexpr int64_t kMargin = 64;

NativeFault::Kind kind_of(const IrRun& run, const CheckedAccess& access) {
    if (!access.node) return NativeFault::Load;
    const KernelOp op = run.code[access.node].op;
    return op == KernelOp::Load    ? NativeFault::Load
           : op == KernelOp::Store ? NativeFault::Store
                                   : NativeFault::Atomic;
}

/// The first and the last index that an element may have, as i64.
struct Limits {
    std::string first, last;
};

constexpr int kDeepest = 16;  // operations inside one another that are followed

/// The remainder of an index by kBlockWidth, where its operations show it.
std::optional<int64_t> remainder_of(const KernelCode& code, NodeId id, int deep = 0) {
    const KernelNode& n = code[id];
    if (const auto* constant = n.get_if<Scalar>())
        return (constant->i % kBlockWidth + kBlockWidth) % kBlockWidth;
    if (deep == kDeepest || n.dtype != i32) return std::nullopt;
    if (n.op != KernelOp::Add && n.op != KernelOp::Mul) return std::nullopt;
    const auto a = remainder_of(code, n.args[0], deep + 1),
               b = remainder_of(code, n.args[1], deep + 1);
    if (n.op == KernelOp::Mul && (a == 0 || b == 0)) return 0;
    if (!a || !b) return std::nullopt;
    return (n.op == KernelOp::Add ? *a + *b : *a * *b) % kBlockWidth;
}

/// The element may lie behind the last one, in a block of four that begins before the end: bindings
/// are padded to 16 bytes (BufferInfo::bytes), and a grid may pass the end so far.
bool is_in_block(const IrRun& run, const CheckedAccess& access) {
    if (!access.node || kind_of(run, access) == NativeFault::Atomic) return false;
    const KernelBuffer& buffer = run.code.buffers[static_cast<size_t>(access.buffer)];
    return element_bytes(buffer) <= 4 &&
           remainder_of(run.code, run.code[access.node].args[0]).has_value();
}

/// Returns the limits of an element that is used. A kernel may load elements of an empty tensor if
/// nothing takes them.
Limits limits(IrRun& run, const CheckedAccess& access) {
    const std::string& elements = run.elements[static_cast<size_t>(access.buffer)];
    const KernelBuffer& buffer = run.code.buffers[static_cast<size_t>(access.buffer)];
    const bool bound = buffer.space == MemorySpace::Bound;
    std::string end = elements;
    if (bound && is_in_block(run, access)) {
        const std::string more =
            emit(run, "add i64 " + end + ", " + std::to_string(kBlockWidth - 1));
        end = emit(run, "and i64 " + more + ", " + std::to_string(-kBlockWidth));
    }
    const std::string last = emit(run, "sub i64 " + end + ", 1");
    if (!bound || kind_of(run, access) != NativeFault::Load) return {"0", last};
    const int64_t margin = kMargin / element_bytes(buffer);
    const std::string empty = emit(run, "icmp eq i64 " + elements + ", 0");
    return {
        emit(run, "select i1 " + empty + ", i64 " + std::to_string(-margin) + ", i64 0"),
        emit(run, "select i1 " + empty + ", i64 " + std::to_string(margin - 1) + ", i64 " + last)};
}

/// Returns the limits of an element that is loaded and not used.
Limits limits_of_unused(IrRun& run, const CheckedAccess& access) {
    const KernelBuffer& buffer = run.code.buffers[static_cast<size_t>(access.buffer)];
    if (buffer.space != MemorySpace::Bound) return limits(run, access);
    const int64_t margin = kMargin / element_bytes(buffer);
    return {std::to_string(-margin),
            emit(run, "add i64 " + run.elements[static_cast<size_t>(access.buffer)] + ", " +
                          std::to_string(margin - 1))};
}

/// The number of the access among accesses_of().
int number_of(const IrRun& run, NodeId node) {
    if (!node) return -1;
    const std::vector<NodeId> all = accesses_of(run.code);
    const auto found = std::find(all.begin(), all.end(), node);
    ensure(found != all.end(), "an access stands in no region");
    return static_cast<int>(found - all.begin());
}

/// Ends the block: where `bad`, the element that is outside is noted. `first_of` writes the place
/// of the elements, an i64, of which one is outside.
template <class FirstOf>
void leave_if(IrRun& run, const CheckedAccess& access, const std::string& bad,
              const FirstOf& first_of) {
    const std::string inside = new_label(run, "inside"), outside = new_label(run, "outside"),
                      good = emit(run, "xor i1 " + bad + ", true");
    jump_likely(run, good, inside, outside);
    begin_block(run, outside);
    const std::string& elements = run.elements[static_cast<size_t>(access.buffer)];
    const std::string first = first_of(),
                      end = emit(run, "add i64 " + first + ", " + std::to_string(access.width)),
                      before = emit(run, "icmp slt i64 " + first + ", 0"),
                      beyond = emit(run, "icmp sgt i64 " + first + ", " + elements),
                      from =
                          emit(run, "select i1 " + beyond + ", i64 " + first + ", i64 " + elements),
                      over = emit(run, "icmp sgt i64 " + end + ", " + elements),
                      behind = emit(run, "select i1 " + over + ", i64 " + from + ", i64 " + first),
                      index =
                          emit(run, "select i1 " + before + ", i64 " + first + ", i64 " + behind);
    emit_effect(run, "call void @firn_fault(ptr %fault, i32 " +
                         std::to_string(number_of(run, access.node)) + ", i32 " +
                         std::to_string(kind_of(run, access)) + ", i32 " +
                         std::to_string(access.buffer) + ", i64 " + index + ", i64 " + elements +
                         ", i64 " + run.group + ")");
    emit_effect(run, "br label %faulted");
    begin_block(run, inside);
}

/// Some element of those from `first` (i64) on is outside the limits.
std::string is_outside(IrRun& run, const Limits& within, const std::string& first, int width) {
    const std::string last = emit(run, "add i64 " + first + ", " + std::to_string(width - 1)),
                      before = emit(run, "icmp slt i64 " + first + ", " + within.first),
                      behind = emit(run, "icmp sgt i64 " + last + ", " + within.last);
    return emit(run, "or i1 " + before + ", " + behind);
}

/// A limit of a lane's first element as an i32, by which vectors are compared.
std::string narrowed(IrRun& run, const std::string& limit, int64_t less) {
    const std::string exact = emit(run, "sub i64 " + limit + ", " + std::to_string(less)),
                      bounded = intrinsic(run, "smin", "i64", {exact, std::to_string(INT32_MAX)});
    return emit(run, "trunc i64 " + bounded + " to i32");
}

/// The lanes of which some element is outside the limits.
std::string lanes_outside(IrRun& run, const Limits& within, const CheckedAccess& access,
                          const std::string& index) {
    const std::string words = vector_of(run, "i32"),
                      least = splat(run, narrowed(run, within.first, access.behind), "i32"),
                      most = splat(
                          run, narrowed(run, within.last, access.behind + access.width - 1), "i32"),
                      before = emit(run, "icmp slt " + words + " " + index + ", " + least),
                      behind = emit(run, "icmp sgt " + words + " " + index + ", " + most);
    return emit(run, "or " + vector_of(run, "i1") + " " + before + ", " + behind);
}

std::string first_element(IrRun& run, const CheckedAccess& access, const std::string& index) {
    const std::string wide = emit(run, "sext i32 " + index + " to i64");
    return emit(run, "add i64 " + wide + ", " + std::to_string(access.behind));
}

/// The index of the first lane of a mask that has one.
std::string index_of_first(IrRun& run, const std::string& mask, const std::string& index) {
    const std::string bits = "i" + std::to_string(run.lanes),
                      word =
                          emit(run, "bitcast " + vector_of(run, "i1") + " " + mask + " to " + bits),
                      name = "@llvm.cttz." + bits;
    run.declared.insert("declare " + bits + " " + name + "(" + bits + ", i1)");
    const std::string lane =
        emit(run, "call " + bits + " " + name + "(" + bits + " " + word + ", i1 false)");
    return emit(run,
                "extractelement " + vector_of(run, "i32") + " " + index + ", " + bits + " " + lane);
}

}  // namespace

void read_sizes(IrRun& run) {
    const auto load_field = [&](size_t offset) {
        const std::string at =
            emit(run, "getelementptr i8, ptr %call, i64 " + std::to_string(offset));
        return "load ptr, ptr " + at;
    };
    const std::string sizes = emit(run, load_field(offsetof(NativeCall, bytes))),
                      fault = load_field(offsetof(NativeCall, fault));
    run.text += "  %fault = " + fault + "\n";
    for (size_t k = 0; k < run.code.buffers.size(); ++k) {
        const KernelBuffer& buffer = run.code.buffers[k];
        if (buffer.space != MemorySpace::Bound) {
            const int copies = buffer.space == MemorySpace::Private ? run.lanes : 1;
            run.elements.push_back(std::to_string(buffer.elements.constant() * copies));
            continue;
        }
        const std::string place = emit(run, "getelementptr i64, ptr " + sizes + ", i64 " +
                                                std::to_string(k)),
                          bytes = emit(run, "load i64, ptr " + place);
        run.elements.push_back(
            emit(run, "udiv i64 " + bytes + ", " + std::to_string(element_bytes(buffer))));
    }
}

void check_elements(IrRun& run, const CheckedAccess& access, const std::string& wanted) {
    if (!run.checks || access.index.text == "poison") return;
    const std::string first = first_element(run, access, access.index.text);
    std::string bad = is_outside(run, limits(run, access), first, access.width);
    if (!wanted.empty())
        bad = emit(run, "select i1 " + wanted + ", i1 " + bad + ", i1 " +
                            is_outside(run, limits_of_unused(run, access), first, access.width));
    leave_if(run, access, bad, [&] { return first; });
}

void check_lanes(IrRun& run, const CheckedAccess& access, const std::string& wanted,
                 bool others_read) {
    if (!run.checks || access.index.text == "poison") return;
    if (!access.index.varying) return check_elements(run, access);
    const std::string bits = vector_of(run, "i1"), index = as_vector(run, access.index, i32);
    std::string bad = lanes_outside(run, limits(run, access), access, index);
    if (!wanted.empty()) {
        const std::string others =
            others_read ? lanes_outside(run, limits_of_unused(run, access), access, index)
                        : "zeroinitializer";
        bad = emit(run, "select " + bits + " " + wanted + ", " + bits + " " + bad + ", " + bits +
                            " " + others);
    }
    leave_if(run, access, any_of(run, bad),
             [&] { return first_element(run, access, index_of_first(run, bad, index)); });
}

void check_kept(IrRun& run, const std::string& at, int64_t bytes) {
    if (!run.checks) return;
    const auto buffer = static_cast<int>(run.code.buffers.size());
    if (run.elements.size() == run.code.buffers.size())
        run.elements.push_back(std::to_string(run.kept_bytes));
    const CheckedAccess access{NodeId(), buffer, {}, 0, static_cast<int>(bytes)};
    const Limits within{"0", std::to_string(run.kept_bytes - 1)};
    leave_if(run, access, is_outside(run, within, at, access.width), [&] { return at; });
}

void check_own_load(IrRun& run, int buffer, const std::string& index) {
    if (!run.checks) return;
    const CheckedAccess access{NodeId(), buffer, {}, 0, 1};
    leave_if(run, access, is_outside(run, limits(run, access), index, 1), [&] { return index; });
}

void write_fault_exit(IrRun& run) {
    emit_effect(run, "br label %faulted");
    begin_block(run, "faulted");
}

std::string fault_function() {
    const auto field = [](const char* value, const char* type, size_t offset) {
        const std::string at = "%at_" + std::string(value);
        return "  " + at + " = getelementptr i8, ptr %fault, i64 " + std::to_string(offset) +
               "\n  store " + type + " %" + value + ", ptr " + at + "\n";
    };
    return "\ndefine internal void @firn_fault(ptr %fault, i32 %access, i32 %kind, i32 %buffer, "
           "i64 %index, i64 %elements, i64 %group) cold noinline nounwind {\n"
           "entry:\n"
           "  %pair = cmpxchg ptr %fault, i32 0, i32 1 monotonic monotonic\n"
           "  %is_first = extractvalue {i32, i1} %pair, 1\n"
           "  br i1 %is_first, label %first, label %end\n"
           "first:\n" +
           field("access", "i32", offsetof(NativeFault, access)) +
           field("kind", "i32", offsetof(NativeFault, kind)) +
           field("buffer", "i32", offsetof(NativeFault, buffer)) +
           field("index", "i64", offsetof(NativeFault, index)) +
           field("elements", "i64", offsetof(NativeFault, elements)) +
           field("group", "i64", offsetof(NativeFault, group)) +
           "  br label %end\n"
           "end:\n  ret void\n}\n";
}

}  // namespace firn::native
