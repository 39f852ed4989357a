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
        for (size_t id = 0; id < from_.nodes.size(); ++id) copy(static_cast<int>(id));
        for (size_t r = 0; r < out_.regions.size(); ++r) fill(r);
        for (Range& range : out_.ranges)
            if (range.extent_node >= 0)
                range.extent_node = renamed_[static_cast<size_t>(range.extent_node)];
        merge_equal_buffers();
        return std::move(out_);
    }

  private:
    int add(KernelNode node) {
        out_.nodes.push_back(std::move(node));
        return static_cast<int>(out_.nodes.size()) - 1;
    }

    KernelNode integer(KernelOp op, std::vector<int> args, const Interval& interval,
                       const Congruence& congruence) const {
        KernelNode n;
        n.op = op, n.dtype = i32, n.args = std::move(args);
        n.interval = contains(kAnyI32, interval) ? interval : kAnyI32;
        n.congruence = congruence;
        return n;
    }
    int constant(int64_t value) { return add(constant_node(scalar_int(value))); }
    const KernelNode& node(int id) const { return out_.nodes[static_cast<size_t>(id)]; }
    KernelNode sum(int a, int b) const {
        return integer(KernelOp::Add, {a, b}, node(a).interval + node(b).interval,
                       node(a).congruence + node(b).congruence);
    }
    KernelNode product(int a, int b) const {
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
        n.range = static_cast<int>(out_.ranges.size());
        out_.ranges.push_back(std::move(range));
        out_.groups[static_cast<size_t>(dim)] = Size(copies);
        copy_ = add(std::move(n));
    }

    int size(const Size& value) {
        if (value.is_constant() && !by_parameter_) return constant(value.constant());
        KernelNode n = integer(KernelOp::Param, {}, {0, INT32_MAX}, {kPartAlignment, 0});
        n.param = static_cast<int>(out_.params.size());
        out_.params.push_back({i32, value, -1});
        return add(std::move(n));
    }

    /// The part's number times its stride.
    int begin_of(const PartOf& part) {
        const std::vector<int64_t>& numbers = part.numbers;
        const auto are_all = [&](int64_t step) {
            for (size_t k = 1; k < numbers.size(); ++k)
                if (numbers[k] != numbers[k - 1] + step) return false;
            return true;
        };
        if (are_all(0))
            return numbers[0] == 0 && !by_parameter_ ? -1 : size(part.stride * Size(numbers[0]));
        int number = constant(numbers[0]);
        if (are_all(1))
            number = first(sum(copy_, number));
        else
            for (size_t k = 1; k < numbers.size(); ++k) number = chosen(k, numbers[k], number);
        return first(product(number, size(part.stride)));
    }
    int chosen(size_t copy, int64_t number, int otherwise) {
        KernelNode is;
        is.op = KernelOp::Equal, is.dtype = boolean;
        is.args = {copy_, constant(static_cast<int64_t>(copy))};
        const int condition = first(std::move(is)), value = constant(number);
        return first(integer(KernelOp::Select, {condition, value, otherwise},
                             join(node(value).interval, node(otherwise).interval),
                             join(node(value).congruence, node(otherwise).congruence)));
    }
    /// Adds a node that all regions may use.
    int first(KernelNode node) {
        first_.push_back(add(std::move(node)));
        return first_.back();
    }

    /// Binds the larger buffer; returns the node that is added to indices of the buffer, -1: none.
    int move_buffer(KernelBuffer& buffer, const PartOf& part) {
        if (part.whole < 0) return -1;
        buffer.buffer = part.whole, buffer.elements = part.whole_elements;
        const auto [at, added] = begins_.try_emplace({part.stride.text(), part.numbers}, -1);
        if (added) at->second = begin_of(part);
        return at->second;
    }

    /// Finds the region of each node that is evaluated.
    void find_regions() {
        region_.assign(from_.nodes.size(), -1);
        for (size_t r = 0; r < from_.regions.size(); ++r)
            for (const auto* list : {&from_.regions[r].order, &from_.regions[r].effects})
                for (int id : *list) region_[static_cast<size_t>(id)] = static_cast<int>(r);
    }

    void copy(int id) {
        KernelNode n = from_.nodes[static_cast<size_t>(id)];
        for (int& arg : n.args) arg = renamed_[static_cast<size_t>(arg)];
        const int offset = names_buffer(n.op) ? offsets_[static_cast<size_t>(n.buffer)] : -1;
        const int region = region_[static_cast<size_t>(id)];
        if (offset >= 0 && region >= 0) {
            const auto [made, added] = sums_.try_emplace({region, n.args[0], offset}, -1);
            if (added) made->second = add(sum(n.args[0], offset));
            n.args[0] = made->second;
            sum_of_[id] = made->second;
        }
        renamed_.push_back(add(std::move(n)));
    }

    void fill(size_t r) {
        const KernelRegion& old = from_.regions[r];
        KernelRegion& region = out_.regions[r];
        const auto rename = [&](std::vector<int>& ids) {
            for (int& id : ids) id = renamed_[static_cast<size_t>(id)];
        };
        rename(region.args), rename(region.effects), rename(region.yields);
        if (region.alive >= 0) region.alive = renamed_[static_cast<size_t>(region.alive)];
        std::vector<int> order = r == 0 ? first_ : std::vector<int>();
        std::vector<bool> stands(out_.nodes.size());
        const auto put_sum = [&](int id) {
            const auto sum = sum_of_.find(id);
            if (sum == sum_of_.end() || stands[static_cast<size_t>(sum->second)]) return;
            stands[static_cast<size_t>(sum->second)] = true;
            order.push_back(sum->second);
        };
        for (int id : old.order) put_sum(id), order.push_back(renamed_[static_cast<size_t>(id)]);
        for (int id : old.effects) put_sum(id);
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
            if (names_buffer(n.op)) n.buffer = first[static_cast<size_t>(n.buffer)];
        drop_unused_buffers(out_);
    }

    const KernelCode& from_;
    const bool by_parameter_;
    KernelCode out_;
    int copy_ = -1;
    std::vector<int> renamed_, region_;  // by node of `from`
    std::vector<int> first_;
    std::vector<int> offsets_;  // by place in the buffers
    std::map<std::pair<std::string, std::vector<int64_t>>, int> begins_;
    std::map<std::tuple<int, int, int>, int> sums_;  // by region, index and offset
    std::map<int, int> sum_of_;                      // by node of `from`
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
