// Recognises products of two f16 matrices.
#include "compiler/mapping/walk/matrix_product.h"

#include <algorithm>
#include <set>

#include "compiler/kernel/index_form.h"
#include "compiler/mapping/walk/loops_of_lanes.h"

namespace firn {
namespace {

constexpr int64_t kAlignedBytes =
    16;  // of a matrix in memory, and of its stride; shorter rows: their own length

class Finder {
  public:
    Finder(const KernelCode& code, const DeviceProfile& profile)
        : code_(code), profile_(profile), forms_(code) {
        for (RangeId r : code.ranges.ids())
            if (code[r].kind == RangeKind::Grid) grid_.push_back(r);
        std::reverse(grid_.begin(), grid_.end());
    }

    std::optional<MatrixProduct> run() {
        if (!has_unit() || !find_loop() || !find_factors()) return std::nullopt;
        for (RangeId column : grid_)
            for (RangeId row : grid_)
                for (bool swapped : {false, true})
                    if (row != column && places(row, column, swapped)) {
                        find_target();
                        return out_;
                    }
        return std::nullopt;
    }

  private:
    /// Returns whether lanes can exchange elements of the type.
    bool has_unit() const {
        return profile_.matrix_unit.rows > 0 && lanes_share(profile_) && profile_.storage_16bit &&
               profile_.matrix_unit.rows * profile_.matrix_unit.columns % profile_.subgroup_size ==
                   0;
    }

    /// Returns the only loop of the kernel, which only stores, and computes no more than values
    /// around it.
    bool find_loop() {
        const KernelRegion& root = code_[kRoot];
        std::vector<NodeId> queue = root.effects;
        for (NodeId effect : root.effects)
            if (code_[effect].op != KernelOp::Store || width(code_[effect]) != 1) return false;
        std::set<NodeId> seen;
        while (!queue.empty()) {
            const NodeId id = queue.back();
            queue.pop_back();
            if (!seen.insert(id).second) continue;
            const KernelNode& n = code_[id];
            if (n.op == KernelOp::Result) {
                if ((out_.result && out_.result != id) || code_[n.args[0]].op != KernelOp::For)
                    return false;
                out_.result = id;
                continue;
            }
            const bool plain = is_elementwise(n.op) || n.op == KernelOp::Store ||
                               n.op == KernelOp::Load || n.op == KernelOp::Constant ||
                               n.op == KernelOp::Param || n.op == KernelOp::Range;
            if (!plain || width(n) != 1) return false;
            queue.insert(queue.end(), n.args.begin(), n.args.end());
        }
        if (!out_.result) return false;
        out_.loop = code_[out_.result].args[0];
        return true;
    }

    /// sum over iteration of float(left) * float(right).
    bool find_factors() {
        const KernelNode& loop = code_[out_.loop];
        const KernelRegion& body = code_[loop.as<BodyAttr>().region];
        if (loop.args.size() != 1 || body.alive || !body.effects.empty()) return false;
        const KernelNode& begin = code_[loop.args[0]];
        if (begin.op != KernelOp::Constant || begin.dtype != f32 || begin.as<Scalar>().f != 0)
            return false;
        out_.iteration = body.range;
        const auto& extent = forms_.of(code_[body.range].extent_node);
        if (!extent.is_size()) return false;
        out_.iterations = extent.sum.offset;
        if (!divides(out_.iterations, profile_.matrix_unit.depth)) return false;
        const auto gathered = gathered_term(code_, body, 0);
        if (!gathered || gathered->op != KernelOp::Add) return false;
        const KernelNode& product = code_[gathered->term];
        if (product.op != KernelOp::Mul || product.dtype != f32) return false;
        for (size_t k = 0; k < 2; ++k) {
            const KernelNode& wide = code_[product.args[k]];
            if (wide.op != KernelOp::Cast) return false;
            factors_[k] = wide.args[0];
            const KernelNode& load = code_[factors_[k]];
            if (load.op != KernelOp::Load || load.dtype != f16 || width(load) != 1 ||
                forms_.of(load.args[0]).carried)
                return false;
        }
        return true;
    }

    static bool divides(const Size& extent, int64_t factor) {
        return !extent.is(0) && extent.divisor() % factor == 0;
    }

    bool places(RangeId row, RangeId column, bool swapped) {
        const auto rows = static_cast<int>(profile_.matrix_unit.rows),
                   columns = static_cast<int>(profile_.matrix_unit.columns),
                   depth = static_cast<int>(profile_.matrix_unit.depth);
        const NodeId left = factors_[swapped], right = factors_[!swapped];
        if (forms_.of(code_[left].args[0]).depends_on(column) ||
            forms_.of(code_[right].args[0]).depends_on(row) || !divides(code_[row].extent, rows) ||
            !divides(code_[column].extent, columns))
            return false;
        const auto a = place_of(left, {row, rows}, {out_.iteration, depth}, f16);
        const auto b = place_of(right, {out_.iteration, depth}, {column, columns}, f16);
        if (!a || !b) return false;
        out_.row = row, out_.column = column;
        out_.left = *a, out_.right = *b;
        return true;
    }

    struct Side {
        RangeId range;
        int64_t unit;  // indices that the unit takes at once
    };

    /// A matrix [down, across] that a load or a store touches; nothing if it is no matrix in
    /// memory.
    std::optional<MatrixPlace> place_of(NodeId access, Side down, Side across, DType stored) {
        const IndexForm& form = forms_.of(code_[access].args[0]);
        if (form.carried) return std::nullopt;
        for (const bool column_major : {false, true}) {
            const Side &near = column_major ? down : across, &far = column_major ? across : down;
            const Size stride = coefficient_of(form.sum, far.range);
            if (!coefficient_of(form.sum, near.range).is(1) || stride.is(0)) continue;
            if (form.others.contains(near.range) || form.others.contains(far.range)) continue;
            const int64_t aligned = std::min(kAlignedBytes / stored.bytes(), near.unit);
            const auto is_aligned = [&](const auto& part) {
                return part.first == near.range || part.second.divisor() % aligned == 0;
            };
            if (std::all_of(form.sum.terms.begin(), form.sum.terms.end(), is_aligned) &&
                form.sum.offset.divisor() % aligned == 0 && remainder(form.rest, aligned) == 0)
                return MatrixPlace{access, stride, column_major};
        }
        return std::nullopt;
    }

    void find_target() {
        const KernelRegion& root = code_[kRoot];
        if (root.effects.size() != 1) return;
        const KernelNode& store = code_[root.effects[0]];
        const DType stored =
            code_.buffers[static_cast<size_t>(store.as<AccessAttr>().buffer)].dtype;
        NodeId value = store.args[1];
        if (stored == f16 && code_[value].op == KernelOp::Cast && code_[value].dtype == f16)
            value = code_[value].args[0];
        if (value != out_.result || (stored != f32 && stored != f16)) return;
        out_.target = place_of(root.effects[0], {out_.row, profile_.matrix_unit.rows},
                               {out_.column, profile_.matrix_unit.columns}, stored);
    }

    const KernelCode& code_;
    const DeviceProfile& profile_;
    IndexForms forms_;
    std::vector<RangeId> grid_;  // innermost first
    NodeId factors_[2];
    MatrixProduct out_;
};

}  // namespace

std::optional<MatrixProduct> matrix_product(const KernelCode& lowered,
                                            const DeviceProfile& profile) {
    return Finder(lowered, profile).run();
}

std::vector<RangeId> batch_ranges(const KernelCode& lowered, const MatrixProduct& product) {
    std::vector<RangeId> out;
    for (RangeId range : lowered.ranges.ids())
        if (lowered[range].kind == RangeKind::Grid && range != product.row &&
            range != product.column)
            out.push_back(range);
    std::reverse(out.begin(), out.end());
    return out;
}

}  // namespace firn
