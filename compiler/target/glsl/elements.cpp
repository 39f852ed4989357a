// Elements of memory that a kernel loads and stores.
#include "compiler/target/glsl/elements.h"

#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"
#include "compiler/target/glsl/memory.h"
#include "compiler/target/glsl/operations.h"

namespace firn {
namespace {

/// Its elements lie side by side in words.
bool in_words(const KernelBuffer& b, const DeviceProfile& profile) {
    return b.space == MemorySpace::Bound && is_packed(b.dtype, profile);
}

/// Returns the text of a load's or store's place: an element or a block of four, if a binding or an
/// array holds either.
std::string element_text(const GlslRun& run, const KernelNode& n) {
    const std::string array = array_text(run.code, n), at = place_text(run, n);
    const auto& access = n.as<AccessAttr>();
    if (access.width == 4) return array + "[" + at + " >> 2]";
    return array + "[" + at +
           (run.code.buffers[access.buffer].width == 4 ? " >> 2][" + at + " & 3]" : "]");
}

/// Node `id` as an element of memory.
std::string stored_text(const GlslRun& run, const KernelBuffer& b, NodeId id) {
    const std::string& value = run.text[id];
    const DType used = run.code[id].dtype;
    if (holds_bits(b, used)) return bitcast_glsl(b.dtype, used, value);
    return stored_type(b, 1, run.profile) == element_type(b.dtype) ? to_element(b.dtype, value)
                                                                   : value;
}

}  // namespace

std::string array_text(const KernelCode& code, const KernelNode& n) {
    return memory_name(code, static_cast<size_t>(n.as<AccessAttr>().buffer));
}

std::string place_text(const GlslRun& run, const KernelNode& n) {
    const KernelNode& index = run.code[n.args[0]];
    return index.op == KernelOp::Constant && index.as<Scalar>().i < 0 ? "0" : run.text[n.args[0]];
}

std::string load_text(const GlslRun& run, const KernelNode& n) {
    const auto& access = n.as<AccessAttr>();
    const KernelBuffer& b = run.code.buffers[access.buffer];
    const std::string array = array_text(run.code, n), index = place_text(run, n),
                      at = b.width == 4 ? index + " >> 2" : index;
    const std::string lane = access.width == 4 ? "" : b.width == 4 ? "[" + index + " & 3]" : ".x";
    if (in_words(b, run.profile)) return packed_load(b.dtype, array, index);
    std::string raw = b.form == BindingForm::View ? "imageLoad(" + array + ", " + at + ")" + lane
                                                  : element_text(run, n);
    if (access.width == 4) return raw;
    if (holds_bits(b, n.dtype)) return bitcast_glsl(n.dtype, b.dtype, raw);
    return stored_type(b, 1, run.profile) == element_type(b.dtype) ? from_element(b.dtype, raw)
                                                                   : raw;
}

void write_store(GlslRun& run, const KernelNode& n, int indent) {
    const auto& access = n.as<AccessAttr>();
    const KernelBuffer& b = run.code.buffers[access.buffer];
    auto value = [&](size_t k) { return stored_text(run, b, n.args[k]); };
    if (in_words(b, run.profile))
        line(run, indent) << packed_store(b.dtype, array_text(run.code, n), place_text(run, n),
                                          run.text[n.args[1]])
                          << "\n";
    else if (access.width == 1)
        line(run, indent) << element_text(run, n) << " = " << value(1) << ";\n";
    else
        line(run, indent) << element_text(run, n) << " = " << stored_type(b, 4, run.profile) << "("
                          << value(1) << ", " << value(2) << ", " << value(3) << ", " << value(4)
                          << ");\n";
}

void write_array(GlslRun& run, const KernelNode& n, int indent) {
    const int buffer = n.as<AccessAttr>().buffer;
    const KernelBuffer& b = run.code.buffers[buffer];
    const bool shared = b.space == MemorySpace::Shared;
    const auto& size = run.code.group_size;
    // An index that stays one would keep the whole array in memory.
    if (!shared && b.elements.is_constant() && b.elements.constant() <= costs::kClearedAtOnce &&
        rules_of(run.profile).unrolls_on) {
        run.loop_attributes = true;
        line(run, indent) << "[[unroll]]\n";
    }
    line(run, indent) << "for (uint k = " << (shared ? "gl_LocalInvocationIndex" : "0u") << "; k < "
                      << b.elements.text()
                      << "u; k += " << (shared ? size[0] * size[1] * size[2] : 1u) << "u) b"
                      << buffer << "[k] = "
                      << (n.args.empty() ? stored_type(b, 1, run.profile) + "(0)"
                                         : stored_text(run, b, n.args[0]))
                      << ";\n";
}

}  // namespace firn
