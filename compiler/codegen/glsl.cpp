// Stage 6: placed and mapped Kernel code as GLSL.
#include "compiler/codegen/glsl.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "compiler/codegen/literal_zero.h"
#include "compiler/codegen/memory.h"
#include "compiler/codegen/operations.h"
#include "compiler/ir/builder.h"
#include "compiler/kernel/bindings.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr size_t kLongestInlineText = 160;
const char* const kLane[] = {"x", "y", "z", "w"};
const char* const kDim[] = {"x", "y", "z"};

class Emitter {
  public:
    Emitter(const KernelCode& code, const DeviceProfile& profile)
        : code_(code),
          params_in_buffer_(needs_param_buffer(code, profile)),
          keep_floats_(keeps_special_floats(code, profile)),
          profile_(profile),
          keep_loops_(profile.device_class == DeviceClass::Cpu),
          compares_widened_(profile.compares_widened),
          text_(code.nodes.size()),
          uses_(code.nodes.size(), 0),
          region_of_(code.nodes.size(), -1),
          use_region_(code.nodes.size(), -1),
          repeated_(code.regions.size(), false),
          held_(code.params.size(), false) {}

    std::string run() {
        count_uses();
        name_leaves();
        region(0, 1);
        std::ostringstream out;
        out << "#version 460\n";
        if (uses_matrices()) out << "#pragma use_vulkan_memory_model\n";
        for (const std::string& e : extensions()) out << "#extension " << e << " : require\n";
        if (keep_floats_) declare_floats(out);
        out << "layout(local_size_x = " << code_.group_size[0]
            << ", local_size_y = " << code_.group_size[1]
            << ", local_size_z = " << code_.group_size[2] << ") in;\n";
        declare_buffers(out);
        declare_params(out);
        out << math_library(functions_);
        out << "void main() {\n";
        declare_addressed(out, code_);
        load_sizes(out);
        for (size_t k = 0; k < code_.ranges.size(); ++k)
            if (range_used_[k])
                out << "    int r" << k << " = " << range_text(code_.ranges[k]) << ";\n";
        for (size_t k = 0; k < code_.params.size(); ++k)
            if (held_[k])
                out << "    " << glsl_type(code_.params[k].dtype) << " " << held(k) << " = "
                    << param(k) << ";\n";
        out << body_.str() << "}\n";
        return out.str();
    }

  private:
    std::set<std::string> extensions() const {
        std::set<std::string> out;
        std::set<Type> types;
        for (const KernelNode& n : code_.nodes) types.insert(n.dtype.type);
        for (const KernelBuffer& b : code_.buffers) types.insert(b.dtype.type);
        for (Type t : types)
            for (const std::string& e : required_extensions(DType{t})) out.insert(e);
        if (keep_floats_) out.insert("GL_EXT_spirv_intrinsics");
        if (loops_kept_) out.insert("GL_EXT_control_flow_attributes");
        if (std::any_of(code_.buffers.begin(), code_.buffers.end(), is_addressed)) {
            out.insert("GL_EXT_buffer_reference");
            out.insert("GL_EXT_buffer_reference_uvec2");
        }
        if (float_atomics_used_) out.insert("GL_EXT_shader_atomic_float");
        if (uses_matrices()) {
            out.insert("GL_NV_cooperative_matrix");
            out.insert("GL_KHR_memory_scope_semantics");
            out.insert("GL_EXT_shader_16bit_storage");
            out.insert("GL_EXT_shader_explicit_arithmetic_types_float16");
        }
        if (subgroup_used_) {
            out.insert("GL_KHR_shader_subgroup_basic");
            out.insert("GL_KHR_shader_subgroup_shuffle");
        }
        return out;
    }

    bool uses_matrices() const {
        return std::any_of(code_.nodes.begin(), code_.nodes.end(),
                           [](const KernelNode& n) { return is_matrix(n.op); });
    }

    /// GLSL has no word of its own for the execution mode SignedZeroInfNanPreserve, 4461.
    void declare_floats(std::ostream& out) const {
        std::set<int> widths;  // f16 is computed in 32 bits
        for (const KernelNode& n : code_.nodes)
            if (n.dtype.is_float()) widths.insert(n.dtype == f64 ? 64 : 32);
        for (int width : widths)
            out << "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = "
                   "[4466], 4461, "
                << width << ");\n";
    }

    void declare_buffers(std::ostream& out) const {
        for (size_t k = 0; k < code_.buffers.size(); ++k) declare_memory(out, code_, k, profile_);
    }

    void declare_params(std::ostream& out) const {
        if (param_types(code_).empty()) return;
        if (params_in_buffer_)
            out << "layout(set = 0, binding = " << bound_buffers(code_)
                << ", std140) uniform Params {";
        else
            out << "layout(push_constant) uniform Params {";
        for (size_t k = 0; k < code_.params.size(); ++k) {
            const DType dtype = code_.params[k].dtype;
            if (!code_.on_device(code_.params[k]))
                out << " " << (dtype.is_bool() ? "uint" : glsl_type(dtype)) << " p" << k << ";";
        }
        for (size_t k = 0; k < code_.buffers.size(); ++k)
            if (is_addressed(code_.buffers[k])) out << " uvec2 a" << k << ";";
        out << " };\n";
    }

    void load_sizes(std::ostream& out) const {
        size_t next = 0;
        for (size_t k = 0; k < code_.params.size(); ++k)
            if (code_.on_device(code_.params[k]))
                out << "    int p" << k << " = b" << code_.sizes_buffer << "[p"
                    << code_.params.size() - 1 << " + " << next++ << "];\n";
    }

    static std::string range_text(const Range& range) {
        const std::string dim = kDim[range.dim];
        switch (range.kind) {
            case RangeKind::Group: return "int(gl_WorkGroupID." + dim + ")";
            case RangeKind::Invocation: return "int(gl_LocalInvocationID." + dim + ")";
            case RangeKind::Subgroup:
                return range.dim ? "int(gl_SubgroupID)" : "int(gl_SubgroupInvocationID)";
            default:
                throw InternalError("emit: a range of kind " + std::string(name(range.kind)) +
                                    " reached the emitter");
        }
    }

    /// The regions that a loop runs again and again: those of `region` and below it.
    void find_repeated(int region, bool in_loop) {
        repeated_[region] = in_loop;
        const KernelRegion& r = code_.regions[region];
        for (const std::vector<int>* list : {&r.order, &r.effects})
            for (int id : *list) {
                const KernelNode& n = code_.nodes[id];
                if (n.region >= 0) find_repeated(n.region, in_loop || n.op == KernelOp::For);
                if (n.else_region >= 0) find_repeated(n.else_region, in_loop);
            }
    }

    void count_uses() {
        find_repeated(0, false);
        for (size_t r = 0; r < code_.regions.size(); ++r)
            for (int id : code_.regions[r].order) region_of_[id] = static_cast<int>(r);
        for (size_t r = 0; r < code_.regions.size(); ++r) {
            const KernelRegion& region = code_.regions[r];
            const int here = static_cast<int>(r);
            auto visit = [&](int id) {
                const KernelNode& n = code_.nodes[id];
                for (int arg : n.args) use(arg, here);
                if (n.op != KernelOp::For) return;
                const int turns = code_.ranges[code_.regions[n.region].range].extent_node;
                use(turns, here);
                if (code_.nodes[turns].op == KernelOp::Param) hold(turns);
            };
            for (int id : region.order) visit(id);
            for (int id : region.effects) visit(id);
            for (int y : region.yields) use(y, here);
            if (region.alive >= 0) use(region.alive, here);
        }
    }

    void use(int id, int region) {
        ++uses_[id];
        use_region_[id] = region;
        if (code_.nodes[id].op == KernelOp::Param && repeated_[region]) hold(id);
    }

    /// A parameter that is asked for in a loop is read once, before it: CPU drivers would read it
    /// in every turn.
    void hold(int id) {
        const auto k = static_cast<size_t>(code_.nodes[id].param);
        held_[k] = !code_.on_device(code_.params[k]);
    }

    std::string param(size_t k) const {
        const std::string name = "p" + std::to_string(k);
        return code_.params[k].dtype.is_bool() ? "(" + name + " != 0u)" : name;
    }

    static std::string held(size_t k) { return "held" + std::to_string(k); }

    void name_leaves() {
        range_used_.assign(code_.ranges.size(), false);
        for (size_t id = 0; id < code_.nodes.size(); ++id) {
            const KernelNode& n = code_.nodes[id];
            if (n.op == KernelOp::Constant) text_[id] = glsl_literal(n.constant);
            if (n.op == KernelOp::Param)
                text_[id] = held_[static_cast<size_t>(n.param)]
                                ? held(static_cast<size_t>(n.param))
                                : param(static_cast<size_t>(n.param));
            if (n.op == KernelOp::RegionArg) text_[id] = "a" + std::to_string(id);
            if (n.op == KernelOp::Range) {
                text_[id] = "r" + std::to_string(n.range);
                const RangeKind kind = code_.ranges[n.range].kind;
                if (uses_[id] && kind != RangeKind::Serial) range_used_[n.range] = true;
                if (uses_[id] && kind == RangeKind::Subgroup) subgroup_used_ = true;
            }
        }
    }

    std::ostream& line(int indent) {
        return body_ << std::string(static_cast<size_t>(indent) * 4, ' ');
    }

    void region(int id, int indent) {
        auto around = std::exchange(unwritten_, {});
        for (int node : code_.regions[id].order) statement(node, indent);
        for (int node : code_.regions[id].effects) statement(node, indent);
        unwritten_ = std::move(around);
    }

    void statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        std::vector<int> loads = n.op == KernelOp::Load ? std::vector{id} : std::vector<int>();
        for (int arg : n.args)
            if (auto inlined = unwritten_.extract(arg))
                loads.insert(loads.end(), inlined.mapped().begin(), inlined.mapped().end());
        name_loads_before(n, indent);
        if (n.op == KernelOp::For)
            unwritten_.erase(code_.ranges[code_.regions[n.region].range].extent_node);
        switch (n.op) {
            case KernelOp::For: return for_statement(id, indent);
            case KernelOp::Branch: return branch_statement(id, indent);
            case KernelOp::Store: return store_statement(n, indent);
            case KernelOp::Atomic: return atomic_statement(id, indent);
            case KernelOp::MatrixLoad:
            case KernelOp::MatrixStore: return matrix_statement(id, indent);
            case KernelOp::Result: text_[id] = result_text(n); return;
            case KernelOp::SubgroupReduce: return subgroup_statement(id, indent);
            case KernelOp::SubgroupScan: return scan_statement(id, indent);
            case KernelOp::Array: return clear_statement(n, indent);
            case KernelOp::Barrier: return barrier_statement(indent);
            default: break;
        }
        std::string value = expression(n);
        const bool inline_it =
            !n.pinned && !n.matrix && uses_[id] == 1 && n.op != KernelOp::SubgroupShuffle &&
            use_region_[id] == region_of_[id] && n.width == 1 && value.size() <= kLongestInlineText;
        if (inline_it) {
            text_[id] = std::move(value);
            if (!loads.empty()) unwritten_.emplace(id, std::move(loads));
            return;
        }
        text_[id] = "v" + std::to_string(id);
        line(indent) << (n.width == 4 ? stored_vector(n.dtype) : value_type(n)) << " " << text_[id]
                     << " = " << value << ";\n";
    }

    /// What would be inlined behind `n` and reads what `n` may store over is computed here.
    void name_loads_before(const KernelNode& n, int indent) {
        for (auto at = unwritten_.begin(); at != unwritten_.end();) {
            const auto& [id, loads] = *at;
            const auto changed = [&](int load) { return may_store_over(n, code_.nodes[load]); };
            if (std::none_of(loads.begin(), loads.end(), changed)) {
                ++at;
                continue;
            }
            const std::string value = std::exchange(text_[id], "v" + std::to_string(id));
            line(indent) << value_type(code_.nodes[id]) << " " << text_[id] << " = " << value
                         << ";\n";
            at = unwritten_.erase(at);
        }
    }

    bool may_store_over(const KernelNode& n, const KernelNode& load) const {
        const int read = code_.buffers[load.buffer].buffer;
        const auto written = [&](const KernelBuffer& b) { return b.written && b.buffer == read; };
        const auto inside = [&](int region) {
            if (region < 0) return false;
            const KernelRegion& r = code_.regions[region];
            const auto stores = [&](int id) { return may_store_over(code_.nodes[id], load); };
            return std::any_of(r.order.begin(), r.order.end(), stores) ||
                   std::any_of(r.effects.begin(), r.effects.end(), stores);
        };
        switch (n.op) {
            case KernelOp::Store:
            case KernelOp::Atomic:
            case KernelOp::MatrixStore:
                // A result may take the memory of an argument that is given away, element by
                // element.
                return code_.buffers[n.buffer].buffer == read ||
                       (n.args[0] == load.args[0] && n.width == load.width);
            case KernelOp::Barrier:
                return std::any_of(code_.buffers.begin(), code_.buffers.end(), written);
            case KernelOp::For:
            case KernelOp::Branch: return inside(n.region) || inside(n.else_region);
            default: return false;
        }
    }

    /// The type of a value that is no block of four.
    static std::string value_type(const KernelNode& n) {
        if (!n.matrix) return glsl_type(n.dtype);
        return "fcoopmatNV<" + std::to_string(8 * n.dtype.bytes()) + ", gl_ScopeSubgroup, " +
               std::to_string(n.matrix.rows) + ", " + std::to_string(n.matrix.columns) + ">";
    }

    void matrix_statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        const bool stores = n.op == KernelOp::MatrixStore;
        if (!stores) text_[id] = "v" + std::to_string(id);
        if (!stores) line(indent) << value_type(n) << " " << text_[id] << ";\n";
        line(indent) << (stores ? "coopMatStoreNV(" : "coopMatLoadNV(")
                     << text_[stores ? n.args[2] : id] << ", " << memory(n) << ", uint("
                     << text_[n.args[0]] << "), uint(" << text_[n.args[1]] << "), "
                     << (n.column_major ? "true" : "false") << ");\n";
    }

    void barrier_statement(int indent) {
        const bool coherent = std::any_of(code_.buffers.begin(), code_.buffers.end(),
                                          [](const auto& b) { return b.coherent; });
        line(indent) << (coherent ? "memoryBarrier(); barrier();\n" : "barrier();\n");
    }

    static std::string stored_vector(DType dtype) {
        return dtype == f32 ? "vec4" : dtype == i32 ? "ivec4" : "uvec4";
    }

    std::string result_text(const KernelNode& n) const {
        const KernelNode& owner = code_.nodes[n.args[0]];
        if (owner.op == KernelOp::For) return text_[code_.regions[owner.region].args[n.position]];
        return "v" + std::to_string(n.args[0]) + "_" + std::to_string(n.position);
    }

    std::string expression(const KernelNode& n) {
        if (n.op == KernelOp::Load) return load(n);
        if (n.op == KernelOp::SubgroupShuffle) {
            subgroup_used_ = true;
            return "subgroupShuffle(" + text_[n.args[0]] + ", " + std::to_string(n.lane) + "u)";
        }
        if (n.op == KernelOp::SubgroupRead) {
            subgroup_used_ = true;
            return "subgroupShuffle(" + text_[n.args[0]] + ", uint(" + text_[n.args[1]] + ") % " +
                   std::to_string(lane_count()) + "u)";
        }
        if (n.op == KernelOp::MatrixFill || n.op == KernelOp::MatrixCast)
            return value_type(n) + "(" + text_[n.args[0]] + ")";
        if (n.op == KernelOp::MatrixMulAdd)
            return "coopMatMulAddNV(" + text_[n.args[0]] + ", " + text_[n.args[1]] + ", " +
                   text_[n.args[2]] + ")";
        if (n.op == KernelOp::Lane) {
            const std::string lane = text_[n.args[0]] + "." + kLane[n.lane];
            return n.dtype.is_bool() ? "(" + lane + " != 0u)" : lane;
        }
        std::vector<DType> types;
        std::vector<std::string> operands;
        for (int arg : n.args) {
            types.push_back(code_.nodes[arg].dtype);
            operands.push_back(text_[arg]);
        }
        if (const std::string special = literal_zero_glsl(code_, n, operands); !special.empty()) {
            note_functions(special);
            return special;
        }
        if (const std::string sigmoid = one_plus_tanh(n, operands); !sigmoid.empty()) {
            note_functions(sigmoid);
            return sigmoid;
        }
        if (const std::string inside = range_test(n); !inside.empty()) return inside;
        if (plain_quotient(n))
            return "(" + operands[0] + (n.op == KernelOp::Div ? " / " : " % ") + operands[1] + ")";
        const bool in_words =
            !compares_widened_ && n.op == KernelOp::Cast && widens(n.dtype, types[0]);
        std::string out = in_words ? widened_glsl(n.dtype, operands[0])
                                   : operation_glsl(n.op, n.dtype, types, operands);
        note_functions(out);
        return out;
    }

    /// 1 + tanh(x) where nobody else asks for the tanh: half the work of its parts. Else empty.
    std::string one_plus_tanh(const KernelNode& n, const std::vector<std::string>& operands) const {
        static constexpr std::string_view kTanh = "firn_tanh(";
        if (n.op != KernelOp::Add || n.dtype != f32) return "";
        for (size_t k = 0; k < 2; ++k) {
            const KernelNode& one = code_.nodes[n.args[1 - k]];
            if (one.op == KernelOp::Constant && one.constant.f == 1 &&
                operands[k].starts_with(kTanh))
                return "firn_one_plus_tanh(" + operands[k].substr(kTanh.size());
        }
        return "";
    }

    /// 0 <= x and x < n in one comparison: a negative x is a large one without its sign. Else
    /// empty.
    std::string range_test(const KernelNode& n) const {
        if (n.op != KernelOp::And || n.dtype != boolean) return "";
        for (size_t k = 0; k < 2; ++k) {
            const KernelNode &low = code_.nodes[n.args[k]], &high = code_.nodes[n.args[1 - k]];
            if (low.op != KernelOp::LessEqual || high.op != KernelOp::Less ||
                low.args[1] != high.args[0])
                continue;
            const KernelNode &zero = code_.nodes[low.args[0]], &end = code_.nodes[high.args[1]];
            if (zero.op == KernelOp::Constant && zero.dtype == i32 && zero.constant.i == 0 &&
                end.interval.lo >= 0)
                return "(uint(" + text_[high.args[0]] + ") < uint(" + text_[high.args[1]] + "))";
        }
        return "";
    }

    /// Integer division of indices that are known to be nonnegative needs no care for signs and
    /// zero.
    bool plain_quotient(const KernelNode& n) const {
        return (n.op == KernelOp::Div || n.op == KernelOp::Mod) && n.dtype == i32 &&
               code_.nodes[n.args[0]].interval.lo >= 0 && code_.nodes[n.args[1]].interval.lo >= 1;
    }

    void note_functions(const std::string& expression) {
        for (size_t at = expression.find("firn_"); at != std::string::npos;
             at = expression.find("firn_", at + 1)) {
            size_t end = at;
            while (end < expression.size() &&
                   (std::isalnum(static_cast<unsigned char>(expression[end])) ||
                    expression[end] == '_'))
                ++end;
            functions_.insert(expression.substr(at, end - at));
        }
    }

    std::string memory(const KernelNode& n) const {
        return memory_name(code_, static_cast<size_t>(n.buffer));
    }

    std::string stored(const KernelBuffer& b, int width) const {
        return stored_type(b, width, profile_);
    }

    /// Its elements lie side by side in words.
    bool in_words(const KernelBuffer& b) const {
        return b.space == MemorySpace::Bound && is_packed(b.dtype, profile_);
    }

    std::string load(const KernelNode& n) const {
        const KernelBuffer& b = code_.buffers[n.buffer];
        const std::string index = place(n), at = b.width == 4 ? index + " >> 2" : index;
        const std::string lane = n.width == 4 ? "" : b.width == 4 ? "[" + index + " & 3]" : ".x";
        if (in_words(b)) return packed_load(b.dtype, memory(n), index);
        std::string raw = b.form == BindingForm::Texel
                              ? "imageLoad(" + memory(n) + ", " + at + ")" + lane
                              : element(n);
        if (n.width == 4) return raw;
        if (b.dtype.is_bool()) return "(" + raw + " != 0u)";
        if (holds_bits(b, n.dtype)) return "uintBitsToFloat(" + raw + ")";
        if (stored(b, 1) != glsl_type(b.dtype)) return glsl_type(b.dtype) + "(" + raw + ")";
        return raw;
    }

    /// The index of a load or a store. One that is outside wherever it is computed stands behind a
    /// condition that never holds, which GLSL does not see: it refuses the index.
    std::string place(const KernelNode& n) const {
        const KernelNode& index = code_.nodes[n.args[0]];
        return index.op == KernelOp::Constant && index.constant.i < 0 ? "0" : text_[n.args[0]];
    }

    /// What a load or a store names: an element or a block of four, where a binding or an array
    /// holds either.
    std::string element(const KernelNode& n) const {
        const std::string buffer = memory(n), at = place(n);
        if (n.width == 4) return buffer + "[" + at + " >> 2]";
        return buffer + "[" + at +
               (code_.buffers[n.buffer].width == 4 ? " >> 2][" + at + " & 3]" : "]");
    }

    /// Floats that are kept as their bits, so that they can be exchanged.
    static bool holds_bits(const KernelBuffer& b, DType used) {
        return b.dtype == u32 && used == f32;
    }

    /// Memory of the kernel's own begins as zeros, or as its argument says.
    void clear_statement(const KernelNode& n, int indent) {
        const KernelBuffer& b = code_.buffers[n.buffer];
        const bool shared = b.space == MemorySpace::Shared;
        const uint32_t members = code_.group_size[0] * code_.group_size[1] * code_.group_size[2];
        line(indent) << "for (uint k = " << (shared ? "gl_LocalInvocationIndex" : "0u") << "; k < "
                     << b.elements.text() << "u; k += " << (shared ? members : 1u) << "u) b"
                     << n.buffer << "[k] = "
                     << (n.args.empty() ? stored(b, 1) + "(0)" : stored_text(b, n.args[0]))
                     << ";\n";
    }

    std::string stored_text(const KernelBuffer& b, int id) const {
        if (b.dtype.is_bool()) return "(" + text_[id] + " ? 1u : 0u)";
        if (holds_bits(b, code_.nodes[id].dtype)) return "floatBitsToUint(" + text_[id] + ")";
        if (stored(b, 1) != glsl_type(b.dtype)) return stored(b, 1) + "(" + text_[id] + ")";
        return text_[id];
    }

    void store_statement(const KernelNode& n, int indent) {
        const KernelBuffer& b = code_.buffers[n.buffer];
        auto value = [&](int id) { return stored_text(b, id); };
        if (in_words(b)) {
            line(indent) << packed_store(b.dtype, memory(n), place(n), text_[n.args[1]]) << "\n";
            return;
        }
        if (n.width == 1) {
            line(indent) << element(n) << " = " << value(n.args[1]) << ";\n";
            return;
        }
        line(indent) << element(n) << " = " << stored(b, 4) << "(" << value(n.args[1]) << ", "
                     << value(n.args[2]) << ", " << value(n.args[3]) << ", " << value(n.args[4])
                     << ");\n";
    }

    /// By the device's own operation where there is one, else by compare and exchange.
    void atomic_statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        const KernelBuffer& b = code_.buffers[n.buffer];
        const std::string target = memory(n) + "[" + place(n) + "]";
        const bool bits = holds_bits(b, n.dtype);
        const bool asked = uses_[id] > 0;
        auto as_stored = [&](const std::string& value) {
            return bits                ? "floatBitsToUint(" + value + ")"
                   : n.dtype.is_bool() ? "(" + value + " ? 1u : 0u)"
                                       : value;
        };
        auto as_used = [&](const std::string& stored) {
            return bits                ? "uintBitsToFloat(" + stored + ")"
                   : n.dtype.is_bool() ? "(" + stored + " != 0u)"
                                       : stored;
        };
        const std::string value = text_[n.args[1]], old = "o" + std::to_string(id);
        if (b.space == MemorySpace::Private && !asked &&
            n.combine != ScatterOp::Last) {  // nobody else combines there
            const std::string at = "i" + std::to_string(id),
                              own = "b" + std::to_string(n.buffer) + "[" + at + "]";
            const std::string next = operation_glsl(kernel_op(combining_op(n.combine)), n.dtype,
                                                    {n.dtype, n.dtype}, {as_used(own), value});
            note_functions(next);
            line(indent) << "int " << at << " = " << place(n) << ";\n";
            line(indent) << own << " = " << as_stored(next) << ";\n";
            return;
        }
        if (asked) text_[id] = "v" + std::to_string(id);
        const char* native =
            !bits || n.combine == ScatterOp::Last ? native_atomic(n.combine) : nullptr;
        if (native) {
            float_atomics_used_ |= n.dtype.is_float() && !bits;
            const std::string call =
                std::string(native) + "(" + target + ", " + as_stored(value) + ")";
            if (asked)
                line(indent) << glsl_type(n.dtype) << " " << text_[id] << " = " << as_used(call)
                             << ";\n";
            else
                line(indent) << call << ";\n";
            return;
        }
        const std::string seen = "s" + std::to_string(id);
        std::string next = operation_glsl(kernel_op(combining_op(n.combine)), n.dtype,
                                          {n.dtype, n.dtype}, {as_used(old), value});
        note_functions(next);
        const std::string type = stored(b, 1);
        if (asked) line(indent) << glsl_type(n.dtype) << " " << text_[id] << ";\n";
        line(indent) << "for (" << type << " " << old << " = " << target << ";;) {\n";
        line(indent + 1) << type << " " << seen << " = atomicCompSwap(" << target << ", " << old
                         << ", " << as_stored(next) << ");\n";
        line(indent + 1) << "if (" << seen << " == " << old << ") "
                         << (asked ? "{ " + text_[id] + " = " + as_used(old) + "; break; }"
                                   : "break;")
                         << "\n";
        line(indent + 1) << old << " = " << seen << ";\n";
        line(indent) << "}\n";
    }

    static const char* native_atomic(ScatterOp op) {
        switch (op) {
            case ScatterOp::Add: return "atomicAdd";
            case ScatterOp::Min: return "atomicMin";
            case ScatterOp::Max: return "atomicMax";
            case ScatterOp::And: return "atomicAnd";
            case ScatterOp::Or: return "atomicOr";
            case ScatterOp::Xor: return "atomicXor";
            case ScatterOp::Last: return "atomicExchange";
            case ScatterOp::Mul: break;
        }
        return nullptr;
    }

    void for_statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        const KernelRegion& body = code_.regions[n.region];
        for (size_t k = 0; k < n.args.size(); ++k)
            line(indent) << value_type(code_.nodes[n.args[k]]) << " " << text_[body.args[k]]
                         << " = " << text_[n.args[k]] << ";\n";
        const std::string r = "r" + std::to_string(body.range);
        std::string turns = text_[code_.ranges[body.range].extent_node];
        if (turns.front() == '(' ||
            turns.back() == ')') {  // computed once: drivers do not see that it stays
            line(indent) << "int turns" << id << " = " << turns << ";\n";
            turns = "turns" + std::to_string(id);
        }
        // How many turns stand side by side has been decided; CPU drivers would unroll on, and
        // spill.
        if (keep_loops_ &&
            code_.nodes[code_.ranges[body.range].extent_node].op == KernelOp::Constant) {
            loops_kept_ = true;
            line(indent) << "[[dont_unroll]]\n";
        }
        line(indent) << "for (int " << r << " = 0; " << r << " < " << turns << "; ++" << r
                     << ") {\n";
        region(n.region, indent + 1);
        std::vector<CarriedStep> steps = carried_steps(id, body);
        const std::string alive = "alive" + std::to_string(id);
        if (body.alive >= 0 &&
            std::all_of(steps.begin(), steps.end(), [&](auto& s) { return is_kept(s, body); })) {
            // A turn that ends leaves all as it was: what goes on needs no choice.
            line(indent + 1) << "if (!" << text_[body.alive] << ") break;\n";
            for (CarriedStep& step : steps) step.value = code_.nodes[step.value].args[1];
            assign(id, body, steps, indent + 1);
        } else {
            if (body.alive >= 0)
                line(indent + 1) << "bool " << alive << " = " << text_[body.alive] << ";\n";
            assign(id, body, steps, indent + 1);
            if (body.alive >= 0) line(indent + 1) << "if (!" << alive << ") break;\n";
        }
        line(indent) << "}\n";
    }

    /// What carried value k becomes.
    struct CarriedStep {
        size_t k;
        int value;
    };
    /// Of those that somebody asks for.
    std::vector<CarriedStep> carried_steps(int id, const KernelRegion& body) const {
        std::vector<bool> asked(body.args.size());
        for (size_t k = 0; k < asked.size(); ++k) asked[k] = uses_[body.args[k]] > 0;
        for (size_t n = 0; n < code_.nodes.size(); ++n)
            if (code_.nodes[n].op == KernelOp::Result && code_.nodes[n].args[0] == id &&
                uses_[n] > 0)
                asked[static_cast<size_t>(code_.nodes[n].position)] = true;
        std::vector<CarriedStep> steps;
        for (size_t k = 0; k < asked.size(); ++k)
            if (asked[k] && body.yields[k] != body.args[k]) steps.push_back({k, body.yields[k]});
        return steps;
    }

    bool is_kept(const CarriedStep& step, const KernelRegion& body) const {
        const KernelNode& n = code_.nodes[step.value];
        return n.op == KernelOp::Select && n.args[0] == body.alive &&
               n.args[2] == body.args[step.k];
    }

    /// Every carried value takes its next value at once.
    void assign(int id, const KernelRegion& body, const std::vector<CarriedStep>& steps,
                int indent) {
        auto next = [&](size_t k) { return "n" + std::to_string(id) + "_" + std::to_string(k); };
        const bool one = steps.size() == 1;
        for (const CarriedStep& step : steps)
            line(indent) << (one ? text_[body.args[step.k]]
                                 : value_type(code_.nodes[step.value]) + " " + next(step.k))
                         << " = " << text_[step.value] << ";\n";
        for (const CarriedStep& step : steps)
            if (!one) line(indent) << text_[body.args[step.k]] << " = " << next(step.k) << ";\n";
    }

    void branch_statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        const KernelRegion& then_body = code_.regions[n.region];
        auto value = [&](size_t k) { return "v" + std::to_string(id) + "_" + std::to_string(k); };
        for (size_t k = 0; k < then_body.yields.size(); ++k)
            line(indent) << glsl_type(code_.nodes[then_body.yields[k]].dtype) << " " << value(k)
                         << ";\n";
        auto body = [&](int region_id) {
            region(region_id, indent + 1);
            const KernelRegion& r = code_.regions[region_id];
            for (size_t k = 0; k < r.yields.size(); ++k)
                line(indent + 1) << value(k) << " = " << text_[r.yields[k]] << ";\n";
        };
        // A side that is never taken is left out: compilers refuse constant indices outside there,
        // too.
        if (const KernelNode& test = code_.nodes[n.args[0]]; test.op == KernelOp::Constant) {
            const int taken = test.constant.i ? n.region : n.else_region;
            if (taken < 0) return;
            line(indent) << "{\n";
            body(taken);
            line(indent) << "}\n";
            return;
        }
        std::string condition = text_[n.args[0]];
        // Lanes of a CPU driver take both sides one after the other; some search all ways through a
        // kernel, and each `else` doubles their number.
        const bool apart = n.else_region >= 0 && profile_.device_class == DeviceClass::Cpu;
        if (apart && !is_plain(condition)) {
            line(indent) << "bool c" << id << " = " << condition << ";\n";
            condition = "c" + std::to_string(id);
        }
        line(indent) << "if (" << condition << ") {\n";
        body(n.region);
        if (n.else_region >= 0) {
            line(indent) << (apart ? "}\n" : "} else {\n");
            if (apart) line(indent) << "if (!" << condition << ") {\n";
            body(n.else_region);
        }
        line(indent) << "}\n";
    }

    void subgroup_statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        subgroup_used_ = true;
        text_[id] = "v" + std::to_string(id);
        const std::string& v = text_[id];
        line(indent) << glsl_type(n.dtype) << " " << v << " = " << text_[n.args[0]] << ";\n";
        const KernelOp step = kernel_op(reduce_step(n.reduce));
        auto exchange = [&](const std::string& distance) {
            const std::string both =
                operation_glsl(step, n.dtype, {n.dtype, n.dtype},
                               {v, "subgroupShuffleXor(" + v + ", " + distance + ")"});
            note_functions(both);
            return v + " = " + both + ";\n";
        };
        if (const int64_t lanes = lane_count(); lanes > 0)
            for (int64_t s = lanes / 2; s > 0; s /= 2)
                line(indent) << exchange(std::to_string(s) + "u");
        else
            line(indent) << "for (uint s = gl_SubgroupSize / 2u; s > 0u; s /= 2u) "
                         << exchange("s");
    }

    /// Each lane takes what the lanes 1, 2, 4 .. before it have (Hillis and Steele, 1986).
    void scan_statement(int id, int indent) {
        const KernelNode& n = code_.nodes[id];
        subgroup_used_ = true;
        text_[id] = "v" + std::to_string(id);
        const std::string &v = text_[id], type = glsl_type(n.dtype),
                          other = "u" + std::to_string(id);
        line(indent) << type << " " << v << " = " << text_[n.args[0]] << ";\n";
        for (int64_t s = 1; s < lane_count(); s *= 2) {
            const std::string distance = std::to_string(s) + "u";
            const std::string both = operation_glsl(kernel_op(reduce_step(n.reduce)), n.dtype,
                                                    {n.dtype, n.dtype}, {other, v});
            note_functions(both);
            line(indent) << "{ " << type << " " << other << " = subgroupShuffle(" << v
                         << ", max(gl_SubgroupInvocationID, " << distance << ") - " << distance
                         << "); if (gl_SubgroupInvocationID >= " << distance << ") " << v << " = "
                         << both << "; }\n";
        }
    }

    /// Lanes of a subgroup, where the kernel says it: a tree without a loop.
    int64_t lane_count() const {
        for (const Range& range : code_.ranges)
            if (range.kind == RangeKind::Subgroup && range.dim == 0) return range.extent.constant();
        return 0;
    }

    const KernelCode& code_;
    bool params_in_buffer_;
    bool keep_floats_;
    const DeviceProfile& profile_;
    bool keep_loops_;                // as they are, against the driver's wish
    bool compares_widened_;          // integers that are cast to 64 bits
    std::vector<std::string> text_;  // how each node is written where it is used
    std::vector<int> uses_, region_of_, use_region_;
    std::map<int, std::vector<int>>
        unwritten_;  // inlined nodes of the open region that wait for who asks: their loads
    std::vector<bool> range_used_;
    std::vector<bool> repeated_;  // by region
    std::vector<bool> held_;      // by parameter
    std::set<std::string> functions_;
    bool loops_kept_ = false;
    bool float_atomics_used_ = false;
    bool subgroup_used_ = false;
    std::ostringstream body_;
};

}  // namespace

std::string emit_glsl(const KernelCode& code, const DeviceProfile& profile) {
    return Emitter(code, profile).run();
}

bool needs_param_buffer(const KernelCode& code, const DeviceProfile& profile) {
    return param_offsets(param_types(code)).back() > profile.push_constant_bytes;
}

bool keeps_special_floats(const KernelCode& code, const DeviceProfile& profile) {
    auto is_float = [](const KernelNode& n) { return n.dtype.is_float(); };
    return profile.keeps_special_floats &&
           std::any_of(code.nodes.begin(), code.nodes.end(), is_float);
}

}  // namespace firn
