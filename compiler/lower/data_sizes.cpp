// Sizes that only the device knows: how a kernel takes them, and the kernel that computes them.
#include "compiler/lower/data_sizes.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"
#include "compiler/program/size_builder.h"

namespace firn {
namespace {

bool on_device(const Size& size) { return !data_symbols(size).empty(); }

/// Sizes as i32 arithmetic on values that were loaded.
class Arithmetic {
  public:
    Arithmetic(KernelBuilder& b, const std::map<std::string, int>& counts)
        : b_(b), counts_(counts) {}

    NodeId value(const Size& size) {
        if (!on_device(size)) return b_.size(size);
        Size host = SizeBuilder::constant_term(size);
        NodeId total;
        for (const SizeTerm& term : SizeBuilder::terms(size)) {
            if (!on_device(SizeBuilder::from(term))) {
                host += SizeBuilder::from(term);
                continue;
            }
            const NodeId product = term_value(term);
            total = total ? b_.add(total, product) : product;
        }
        return b_.add(total, b_.size(host));
    }

  private:
    NodeId term_value(const SizeTerm& term) {
        Size host = term.coefficient;
        std::vector<NodeId> factors;
        for (const SizeAtom& atom : term.atoms) {
            if (on_device(SizeBuilder::atom(atom)))
                factors.push_back(atom_value(atom));
            else
                host *= SizeBuilder::atom(atom);
        }
        NodeId product = b_.size(host);
        for (NodeId factor : factors) product = b_.mul(product, factor);
        return product;
    }

    NodeId atom_value(const SizeAtom& atom) {
        if (atom.is_data()) {
            const int buffer =
                b_.buffer(counts_.at(atom.name), i32, Size(1), BindingForm::Storage, 1, false);
            const NodeId most = value(atom.args[0]), count = b_.load(buffer, b_.integer(0));
            return b_.make(KernelOp::Min, i32,
                           {b_.make(KernelOp::Max, i32, {count, b_.integer(0)}), most});
        }
        const NodeId x = value(atom.args[0]), y = value(atom.args[1]);
        switch (atom.kind) {
            case SizeAtom::Kind::Symbol: break;
            case SizeAtom::Kind::FloorDiv: return floor_div(x, y);
            case SizeAtom::Kind::Mod:  // x % 0 is 0
                return b_.select(b_.make(KernelOp::Equal, boolean, {y, b_.integer(0)}),
                                 b_.integer(0), b_.sub(x, b_.mul(y, floor_div(x, y))));
            case SizeAtom::Kind::Min: return b_.make(KernelOp::Min, i32, {x, y});
            case SizeAtom::Kind::Max: return b_.make(KernelOp::Max, i32, {x, y});
        }
        throw InternalError("internal error: unknown kind of size atom");
    }

    /// The operation truncates: one less where the signs of rest and divisor differ. x / 0 is 0.
    NodeId floor_div(NodeId x, NodeId y) {
        const NodeId quotient = b_.make(KernelOp::Div, i32, {x, y});
        if (b_.node(x).interval.lo >= 0 && b_.node(y).interval.lo >= 0) return quotient;
        const NodeId rest = b_.make(KernelOp::Mod, i32, {x, y}), zero = b_.integer(0);
        const NodeId differ = b_.make(KernelOp::NotEqual, boolean,
                                      {b_.make(KernelOp::Less, boolean, {rest, zero}),
                                       b_.make(KernelOp::Less, boolean, {y, zero})});
        const NodeId lower = b_.make(KernelOp::And, boolean,
                                     {b_.make(KernelOp::NotEqual, boolean, {rest, zero}), differ});
        return b_.select(lower, b_.sub(quotient, b_.integer(1)), quotient);
    }

    KernelBuilder& b_;
    const std::map<std::string, int>& counts_;
};

}  // namespace

NeededSizes needed_sizes(const KernelCode& code, const DeviceProfile& profile) {
    NeededSizes needed;
    for (const ParamInfo& param : code.params)
        if (param.scalar < 0 && on_device(param.size)) needed.params.push_back(param.size);
    if (std::none_of(code.groups.begin(), code.groups.end(), on_device)) return needed;
    for (size_t dim = 0; dim < 3; ++dim)
        needed.groups.push_back(min(max(code.groups[dim], 0), Size(profile.max_groups[dim])));
    return needed;
}

void bind_sizes(KernelCode& code, int buffer, int64_t at) {
    KernelBuffer sizes;
    sizes.buffer = buffer;
    sizes.dtype = i32;
    code.sizes_buffer = add_bound_buffer(code, sizes);
    code.params.push_back({i32, Size(at), -1});
}

KernelCode sizes_kernel(const std::vector<Size>& sizes, const std::map<std::string, int>& counts,
                        int target) {
    KernelCode code;
    KernelBuilder b(code, {});
    Arithmetic arithmetic(b, counts);
    std::vector<NodeId> values;
    for (const Size& size : sizes) values.push_back(arithmetic.value(size));
    const int out = b.buffer(target, i32, Size(sizes.size()), BindingForm::Storage, 1, true);
    for (size_t k = 0; k < values.size(); ++k) {
        const NodeId stored[] = {values[k]};
        code[kRoot].effects.push_back(b.store(out, b.integer(static_cast<int64_t>(k)), stored));
    }
    verify(code, KernelStage::Mapped, "sizes");
    place(code);
    return code;
}

}  // namespace firn
