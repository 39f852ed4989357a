// Rewrites kernels whose buffers have become parts of larger ones.
#include "compiler/kernel/larger_buffers.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/kernel/bindings.h"

namespace firn {
namespace {

/// Copies placed code, node by node, and keeps its order.
class Mover {
  public:
    Mover(const KernelCode& from, bool by_parameter)
        : from_(from), by_parameter_(by_parameter), out_(from) {
        out_.nodes.clear();
    }

    KernelCode run(const std::vector<PartOf>& parts, size_t copies) {
        if (copies > 1) add_copies(static_cast<int64_t>(copies));
        find_regions();
        for (size_t k = 0; k < from_.buffers.size(); ++k)
            offsets_.push_back(move_buffer(out_.buffers[k], parts[k]));
        for (NodeId id : from_.nodes.ids()) copy(id);
        for (RegionId id : out_.regions.ids()) fill(id);
        for (Range& range : out_.ranges)
            if (range.extent_node) range.extent_node = renamed_[range.extent_node];
        merge_equal_buffers();
        return std::move(out_);
    }

  private:
    NodeId add(KernelNode node) {
        const NodeId id = out_.nodes.end_id();
        out_.nodes.push_back(std::move(node));
        return id;
    }

    KernelNode integer(KernelOp op, std::vector<NodeId> args, const Interval& interval,
                       const Congruence& congruence) const {
        KernelNode n;
        n.op = op, n.dtype = i32, n.args = std::move(args);
        n.interval = contains(kAnyI32, interval) ? interval : kAnyI32;
        n.congruence = congruence;
        return n;
    }
    NodeId constant(int64_t value) { return add(constant_node(scalar_int(value))); }
    const KernelNode& node(NodeId id) const { return out_[id]; }
    KernelNode sum(NodeId a, NodeId b) const {
        return integer(KernelOp::Add, {a, b}, node(a).interval + node(b).interval,
                       node(a).congruence + node(b).congruence);
    }
    KernelNode product(NodeId a, NodeId b) const {
        return integer(KernelOp::Mul, {a, b}, node(a).interval * node(b).interval,
                       node(a).congruence * node(b).congruence);
    }

    void add_copies(int64_t copies) {
        const int dim = free_dimension(from_);
        Range range;
        range.name = "copy";
        range.kind = RangeKind::Group;
        range.extent = Size(copies);
        range.dim = dim;
        KernelNode n = integer(KernelOp::Range, {}, {0, copies - 1}, {});
        n.attr = out_.ranges.end_id();
        out_.ranges.push_back(std::move(range));
        out_.groups[static_cast<size_t>(dim)] = Size(copies);
        copy_ = add(std::move(n));
    }

    NodeId size(const Size& value) {
        if (value.is_constant() && !by_parameter_) return constant(value.constant());
        KernelNode n = integer(KernelOp::Param, {}, {0, INT32_MAX}, {kPartAlignment, 0});
        n.attr = ParamAttr{static_cast<int>(out_.params.size())};
        out_.params.push_back({i32, value, -1});
        return add(std::move(n));
    }

    /// The part's number times its stride.
    NodeId begin_of(const PartOf& part) {
        const std::vector<int64_t>& numbers = part.numbers;
        const auto are_all = [&](int64_t step) {
            for (size_t k = 1; k < numbers.size(); ++k)
                if (numbers[k] != numbers[k - 1] + step) return false;
            return true;
        };
        if (are_all(0))
            return numbers[0] == 0 && !by_parameter_ ? NodeId()
                                                     : size(part.stride * Size(numbers[0]));
        NodeId number = constant(numbers[0]);
        if (are_all(1))
            number = first(sum(copy_, number));
        else
            for (size_t k = 1; k < numbers.size(); ++k) number = chosen(k, numbers[k], number);
        return first(product(number, size(part.stride)));
    }
    NodeId chosen(size_t copy, int64_t number, NodeId otherwise) {
        KernelNode is;
        is.op = KernelOp::Equal, is.dtype = boolean;
        is.args = {copy_, constant(static_cast<int64_t>(copy))};
        const NodeId condition = first(std::move(is)), value = constant(number);
        return first(integer(KernelOp::Select, {condition, value, otherwise},
                             join(node(value).interval, node(otherwise).interval),
                             join(node(value).congruence, node(otherwise).congruence)));
    }
    /// Adds a node that all regions may use.
    NodeId first(KernelNode node) {
        first_.push_back(add(std::move(node)));
        return first_.back();
    }

    /// Binds the larger buffer; returns the node that is added to indices of the buffer, or none.
    NodeId move_buffer(KernelBuffer& buffer, const PartOf& part) {
        if (part.whole < 0) return {};
        buffer.buffer = part.whole, buffer.elements = part.whole_elements;
        const auto [at, added] = begins_.try_emplace({part.stride.text(), part.numbers});
        if (added) at->second = begin_of(part);
        return at->second;
    }

    /// Finds the region of each node that is evaluated.
    void find_regions() {
        region_.assign(from_.nodes.size(), {});
        for (RegionId r : from_.regions.ids())
            for (const auto* list : {&from_[r].order, &from_[r].effects})
                for (NodeId id : *list) region_[id] = r;
    }

    void copy(NodeId id) {
        KernelNode n = from_[id];
        for (NodeId& arg : n.args) arg = renamed_[arg];
        const auto* access = n.get_if<AccessAttr>();
        const NodeId offset = access ? offsets_[static_cast<size_t>(access->buffer)] : NodeId();
        const RegionId region = region_[id];
        if (offset && region) {
            const auto [made, added] = sums_.try_emplace({region, n.args[0], offset});
            if (added) made->second = add(sum(n.args[0], offset));
            n.args[0] = made->second;
            sum_of_[id] = made->second;
        }
        renamed_.push_back(add(std::move(n)));
    }

    void fill(RegionId at) {
        const KernelRegion& old = from_[at];
        KernelRegion& region = out_[at];
        const auto rename = [&](std::vector<NodeId>& ids) {
            for (NodeId& id : ids) id = renamed_[id];
        };
        rename(region.args), rename(region.effects), rename(region.yields);
        if (region.alive) region.alive = renamed_[region.alive];
        std::vector<NodeId> order = at == kRoot ? first_ : std::vector<NodeId>();
        ByNode<bool> stands(out_.nodes.size());
        const auto put_sum = [&](NodeId id) {
            const auto sum = sum_of_.find(id);
            if (sum == sum_of_.end() || stands[sum->second]) return;
            stands[sum->second] = true;
            order.push_back(sum->second);
        };
        for (NodeId id : old.order) put_sum(id), order.push_back(renamed_[id]);
        for (NodeId id : old.effects) put_sum(id);
        region.order = std::move(order);
    }

    /// Parts of one buffer that are bound in one form are one binding.
    void merge_equal_buffers() {
        const auto key = [](const KernelBuffer& b) {
            return std::tuple(b.buffer, b.form, b.width, b.written, b.coherent, b.dtype.type);
        };
        std::vector<int> first(out_.buffers.size());
        for (size_t k = 0; k < first.size(); ++k) {
            first[k] = static_cast<int>(k);
            if (out_.buffers[k].space != MemorySpace::Bound) continue;
            for (size_t other = 0; other < k && first[k] == static_cast<int>(k); ++other)
                if (out_.buffers[other].space == MemorySpace::Bound &&
                    key(out_.buffers[other]) == key(out_.buffers[k]))
                    first[k] = static_cast<int>(other);
        }
        for (KernelNode& n : out_.nodes)
            if (auto* access = n.get_if<AccessAttr>())
                access->buffer = first[static_cast<size_t>(access->buffer)];
        drop_unused_buffers(out_);
    }

    const KernelCode& from_;
    const bool by_parameter_;
    KernelCode out_;
    NodeId copy_;
    // Both tables have a value for each node of `from_`.
    ByNode<NodeId> renamed_;
    ByNode<RegionId> region_;
    std::map<NodeId, NodeId> sum_of_;

    std::vector<NodeId> first_;
    std::vector<NodeId> offsets_;  // by place in the buffers
    std::map<std::pair<std::string, std::vector<int64_t>>, NodeId> begins_;
    std::map<std::tuple<RegionId, NodeId, NodeId>, NodeId> sums_;  // by region, index and offset
};

}  // namespace

int free_dimension(const KernelCode& code) {
    for (int dim = 2; dim >= 0; --dim) {
        const bool taken =
            !code.groups[static_cast<size_t>(dim)].is(1) ||
            std::any_of(code.ranges.begin(), code.ranges.end(), [&](const Range& range) {
                return range.kind == RangeKind::Group && range.dim == dim;
            });
        if (!taken) return dim;
    }
    return -1;
}

KernelCode in_larger_buffers(const KernelCode& code, const std::vector<PartOf>& parts,
                             size_t copies, bool by_parameter) {
    return Mover(code, by_parameter).run(parts, copies);
}

}  // namespace firn
