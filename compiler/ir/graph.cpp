// Hash-consing: one live node per structure, found by hash and confirmed by comparison.
#include "compiler/ir/graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <typeinfo>

#include "compiler/base/error.h"
#include "compiler/ir/one_thread.h"

namespace firn {
namespace {

constexpr size_t kMaxLines = 4;

uint64_t mix(uint64_t seed, uint64_t value) {
    uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ (x >> 29);
}

uint64_t hash_of(const Scalar& s) {
    uint64_t h = mix(static_cast<uint64_t>(s.dtype.type), static_cast<uint64_t>(s.i));
    return mix(h, std::bit_cast<uint64_t>(s.f));
}

uint64_t hash_of(const std::vector<Size>& sizes) {
    uint64_t h = sizes.size();
    for (const Size& size : sizes) h = mix(h, size.hash());
    return h;
}

template <class T>
uint64_t hash_of_numbers(const std::vector<T>& numbers) {
    uint64_t h = numbers.size();
    for (T number : numbers) h = mix(h, static_cast<uint64_t>(number));
    return h;
}

uint64_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

struct AttrHash {
    uint64_t operator()(const std::monostate&) const { return 0; }
    uint64_t operator()(const ConstantAttr& a) const { return mix(hash_of(a.value), a.parameter); }
    uint64_t operator()(const SizeAttr& a) const { return a.size.hash(); }
    uint64_t operator()(const InputAttr& a) const {
        return mix(static_cast<uint64_t>(a.index), a.scalar);
    }
    uint64_t operator()(const BufferAttr& a) const { return address(a.storage.get()) + a.value; }
    uint64_t operator()(const RegionArgAttr& a) const { return a.id; }
    uint64_t operator()(const IndexAttr& a) const { return static_cast<uint64_t>(a.axis); }
    uint64_t operator()(const PermuteAttr& a) const { return hash_of_numbers(a.axes); }
    uint64_t operator()(const SliceAttr& a) const {
        return mix(hash_of(a.begin), hash_of_numbers(a.step));
    }
    uint64_t operator()(const PadAttr& a) const {
        return mix(mix(hash_of(a.before), hash_of(a.after)), hash_of(a.value));
    }
    uint64_t operator()(const GatherAttr& a) const {
        return mix(mix(hash_of_numbers(a.modes), hash_of(a.fill)), a.own);
    }
    uint64_t operator()(const ScatterAttr& a) const {
        return mix(mix(mix(mix(mix(static_cast<uint64_t>(a.op), a.unique), a.complete), a.by_hand),
                       a.part),
                   a.finds_last + 2 * a.apart);
    }
    uint64_t operator()(const ReduceAttr& a) const {
        return mix(static_cast<uint64_t>(a.op), hash_of_numbers(a.axes));
    }
    uint64_t operator()(const LoopAttr& a) const {
        return mix(address(a.body.get()), 3 * (a.active + 1) + static_cast<int>(a.must_end));
    }
    uint64_t operator()(const IfAttr& a) const {
        return mix(address(a.then_body.get()), address(a.else_body.get()));
    }
    uint64_t operator()(const ResultAttr& a) const { return static_cast<uint64_t>(a.index); }
    uint64_t operator()(const ArrayAttr& a) const { return mix(a.id, a.shared); }
    uint64_t operator()(const BarrierAttr& a) const { return a.id; }
    uint64_t operator()(const RuledAttr& a) const {
        return mix(address(a.rule.get()), address(a.forward.get()));
    }
    uint64_t operator()(const HostCallAttr& a) const {
        return std::hash<std::string>()(a.operation->name());
    }
    uint64_t operator()(const SubgroupAttr& a) const {
        return mix(mix(static_cast<uint64_t>(a.op), static_cast<uint64_t>(a.combine)),
                   hash_of_numbers(a.group));
    }
};

bool equal_region(const std::shared_ptr<const Region>& a, const std::shared_ptr<const Region>& b) {
    return a == b || (a && b && a->args == b->args && a->results == b->results);
}

struct AttrEqual {
    const Attr& other;
    template <class T>
    const T& same() const {
        return std::get<T>(other);
    }

    bool operator()(const std::monostate&) const { return true; }
    bool operator()(const ConstantAttr& a) const {
        const auto& b = same<ConstantAttr>();
        return a.value == b.value && a.parameter == b.parameter;
    }
    bool operator()(const SizeAttr& a) const { return a.size == same<SizeAttr>().size; }
    bool operator()(const InputAttr& a) const {
        const auto& b = same<InputAttr>();
        return a.index == b.index && a.scalar == b.scalar;
    }
    bool operator()(const BufferAttr& a) const {
        return a.storage == same<BufferAttr>().storage && a.value == same<BufferAttr>().value;
    }
    bool operator()(const RegionArgAttr& a) const { return a.id == same<RegionArgAttr>().id; }
    bool operator()(const IndexAttr& a) const { return a.axis == same<IndexAttr>().axis; }
    bool operator()(const PermuteAttr& a) const { return a.axes == same<PermuteAttr>().axes; }
    bool operator()(const SliceAttr& a) const {
        const auto& b = same<SliceAttr>();
        return a.step == b.step && a.begin == b.begin;
    }
    bool operator()(const PadAttr& a) const {
        const auto& b = same<PadAttr>();
        return a.value == b.value && a.before == b.before && a.after == b.after;
    }
    bool operator()(const GatherAttr& a) const {
        const auto& b = same<GatherAttr>();
        return a.modes == b.modes && a.fill == b.fill && a.own == b.own;
    }
    bool operator()(const ScatterAttr& a) const {
        const auto& b = same<ScatterAttr>();
        return a.op == b.op && a.unique == b.unique && a.complete == b.complete &&
               a.by_hand == b.by_hand && a.part == b.part && a.finds_last == b.finds_last &&
               a.apart == b.apart;
    }
    bool operator()(const ReduceAttr& a) const {
        const auto& b = same<ReduceAttr>();
        return a.op == b.op && a.axes == b.axes;
    }
    bool operator()(const LoopAttr& a) const {
        const auto& b = same<LoopAttr>();
        return a.active == b.active && a.must_end == b.must_end && a.sizes == b.sizes &&
               a.checkpoint == b.checkpoint && a.grid == b.grid && a.group == b.group &&
               a.rounded == b.rounded && equal_region(a.body, b.body);
    }
    bool operator()(const IfAttr& a) const {
        const auto& b = same<IfAttr>();
        return equal_region(a.then_body, b.then_body) && equal_region(a.else_body, b.else_body);
    }
    bool operator()(const ResultAttr& a) const { return a.index == same<ResultAttr>().index; }
    bool operator()(const ArrayAttr& a) const {
        return a.id == same<ArrayAttr>().id && a.shared == same<ArrayAttr>().shared;
    }
    bool operator()(const BarrierAttr& a) const { return a.id == same<BarrierAttr>().id; }
    bool operator()(const RuledAttr& a) const {
        return a.rule == same<RuledAttr>().rule && a.forward == same<RuledAttr>().forward;
    }
    bool operator()(const HostCallAttr& a) const {
        const HostOperation &mine = *a.operation, &others = *same<HostCallAttr>().operation;
        return &mine == &others || (typeid(mine) == typeid(others) && mine.name() == others.name());
    }
    bool operator()(const SubgroupAttr& a) const {
        const auto& b = same<SubgroupAttr>();
        return a.op == b.op && a.combine == b.combine && a.lanes == b.lanes && a.group == b.group;
    }
};

bool has_identity(Op op) { return op == Op::Loop || op == Op::If || op == Op::RegionArg; }

uint64_t hash_of(const Node& node) {
    uint64_t h = mix(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.dtype.type));
    h = mix(h, hash_of(node.shape));
    for (const Ref& input : node.inputs) h = mix(h, input->hash);
    h = mix(mix(h, node.own), node.attr.index());
    return mix(h, std::visit(AttrHash{}, node.attr));
}

bool equal_structure(const Node& a, const Node& b) {
    return a.op == b.op && a.dtype == b.dtype && a.own == b.own && a.inputs == b.inputs &&
           a.shape == b.shape && equal_attr(a.attr, b.attr);
}

void note_line(const Node& node, SourceLine line) {
    if (line.line == 0 || node.lines.size() >= kMaxLines) return;
    if (std::find(node.lines.begin(), node.lines.end(), line) == node.lines.end())
        node.lines.push_back(line);
}

using FreeArgs = std::shared_ptr<const std::vector<uint64_t>>;

/// One of the two itself where it holds the other: most nodes share the set of an input.
FreeArgs united(const FreeArgs& a, const FreeArgs& b) {
    if (!b || a == b) return a;
    if (!a || std::includes(b->begin(), b->end(), a->begin(), a->end())) return b;
    if (std::includes(a->begin(), a->end(), b->begin(), b->end())) return a;
    std::vector<uint64_t> all;
    std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(all));
    return std::make_shared<const std::vector<uint64_t>>(std::move(all));
}

FreeArgs free_in(const Region& region) {
    FreeArgs inside;
    for (const Ref& result : region.results) inside = united(inside, result->free_args);
    if (!inside || region.args.empty()) return inside;
    std::vector<uint64_t> own, left;
    for (const Ref& arg : region.args) own.push_back(arg->as<RegionArgAttr>().id);
    std::sort(own.begin(), own.end());
    std::set_difference(inside->begin(), inside->end(), own.begin(), own.end(),
                        std::back_inserter(left));
    return left.empty() ? nullptr : std::make_shared<const std::vector<uint64_t>>(std::move(left));
}

FreeArgs free_args_of(const Node& node) {
    if (node.op == Op::RegionArg)
        return std::make_shared<const std::vector<uint64_t>>(1, node.as<RegionArgAttr>().id);
    FreeArgs out;
    for (const Ref& input : node.inputs) out = united(out, input->free_args);
    if (node.op == Op::Loop) out = united(out, free_in(*node.as<LoopAttr>().body));
    if (node.op == Op::If)
        for (const auto& body : {node.as<IfAttr>().then_body, node.as<IfAttr>().else_body})
            out = united(out, free_in(*body));
    return out;
}

}  // namespace

void note_lines(const Node& node, const std::vector<SourceLine>& lines) {
    for (SourceLine line : lines) note_line(node, line);
}

std::string text(const SourceLine& line) {
    const char* slash = std::strrchr(line.file, '/');
    return std::string(slash ? slash + 1 : line.file) + ":" + std::to_string(line.line);
}

std::string in_brackets(const std::vector<SourceLine>& lines) {
    return lines.empty() ? "" : " (" + text(lines[0]) + ")";
}

bool equal_attr(const Attr& a, const Attr& b) {
    return a.index() == b.index() && std::visit(AttrEqual{b}, a);
}

void set_computed(const Node& node, const Ref& buffer) {
    if (node.computed) --node.computed->forms;
    node.computed = buffer;
    if (!buffer) return;
    ++buffer->forms;
    buffer->oldest_form = std::min(buffer->oldest_form, node.serial);
}

Node::~Node() {
    if (computed) --computed->forms;
}

/// The live nodes by hash: open addressing, no allocation per entry. Entries of equal hash are
/// neighbours of one run, with others between them.
class LiveNodes {
  public:
    /// The node for which `is_same` holds, null where there is none.
    template <class F>
    Ref find(uint64_t hash, const F& is_same) const {
        for (size_t at = home(hash); slots_[at].node; at = next(at)) {
            if (slots_[at].hash != hash || !is_same(*slots_[at].node)) continue;
            if (Ref live = slots_[at].owner.lock()) return live;
        }
        return nullptr;
    }

    void add(const Ref& node) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        put({node->hash, node.get(), node});
        ++size_;
    }

    /// Removes the node, if it is there, and closes the gap in its run.
    void remove(const Node* node) {
        size_t at = home(node->hash);
        while (slots_[at].node && slots_[at].node != node) at = next(at);
        if (!slots_[at].node) return;
        --size_;
        for (size_t other = next(at); slots_[other].node; other = next(other)) {
            const size_t from = home(slots_[other].hash);
            if (((other - from) & mask()) < ((other - at) & mask())) continue;
            slots_[at] = std::move(slots_[other]);
            at = other;
        }
        slots_[at] = {};
    }

  private:
    struct Slot {
        uint64_t hash = 0;
        const Node* node = nullptr;  // null: free
        std::weak_ptr<const Node> owner;
    };

    size_t mask() const { return slots_.size() - 1; }
    size_t home(uint64_t hash) const { return hash * 0x9e3779b97f4a7c15ull >> 20 & mask(); }
    size_t next(size_t at) const { return (at + 1) & mask(); }

    void put(Slot slot) {
        size_t at = home(slot.hash);
        while (slots_[at].node) at = next(at);
        slots_[at] = std::move(slot);
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (Slot& slot : old)
            if (slot.node) put(std::move(slot));
    }

    std::vector<Slot> slots_ = std::vector<Slot>(64);
    size_t size_ = 0;
};

/// Shared by the table and by the deleter of every node, so that nodes may outlive their table.
struct NodeTable::State {
    LiveNodes entries;
    std::vector<const Node*> dying;
    bool releasing = false;
    uint64_t hash_mask = ~uint64_t{0};
    uint64_t next_serial = 1;
    size_t live = 0;
    OneThread thread;

    /// On the thread that uses the table: deletes `node` and everything that dies with it: a node
    /// deleted within another's deletion only joins the list, so that a long chain needs no deep
    /// stack.
    void release(const Node* node) {
        thread.release([this, node] { release_here(node); });
    }

    void release_here(const Node* node) {
        dying.push_back(node);
        if (releasing) return;
        releasing = true;
        while (!dying.empty()) {
            const Node* next = dying.back();
            dying.pop_back();
            forget(next);
            delete next;
            --live;
        }
        releasing = false;
    }

    void forget(const Node* node) {
        if (!has_identity(node->op)) entries.remove(node);
    }

    Ref adopt(std::shared_ptr<State> self, std::unique_ptr<Node> node) {
        ++live;
        return Ref(node.release(), [self = std::move(self)](const Node* dead) {
            // The entry holds the control block, and with it this very deleter.
            std::shared_ptr<State> keep = self;
            keep->release(dead);
        });
    }
};

NodeTable::NodeTable(uint64_t hash_mask) : state_(std::make_shared<State>()) {
    state_->hash_mask = hash_mask;
}
NodeTable::~NodeTable() = default;

size_t NodeTable::live_nodes() const { return state_->live; }
OneThread& NodeTable::thread() const { return state_->thread; }

Ref NodeTable::intern(Op op, DType dtype, Shape shape, std::vector<Ref> inputs, Attr attr,
                      SourceLine line) {
    auto node = std::make_unique<Node>();
    node->op = op;
    node->dtype = dtype;
    node->shape = std::move(shape);
    node->inputs = std::move(inputs);
    node->attr = std::move(attr);
    return intern(std::move(node), line);
}

Ref NodeTable::intern(std::unique_ptr<Node> node, SourceLine line) {
    const Inside inside(state_->thread, line);
    uint64_t serial = state_->next_serial++;
    if (node->op == Op::RegionArg) node->attr = RegionArgAttr{serial};
    node->hash = hash_of(*node) & state_->hash_mask;
    node->serial = serial;
    const bool mergeable = !has_identity(node->op);
    if (mergeable) {
        const Ref merged = state_->entries.find(
            node->hash, [&](const Node& other) { return equal_structure(other, *node); });
        if (merged) {
            note_line(*merged, line);
            return merged;
        }
    }
    note_line(*node, line);
    node->free_args = free_args_of(*node);
    Ref made = state_->adopt(state_, std::move(node));
    if (mergeable) state_->entries.add(made);
    return made;
}

Ref NodeTable::as_own(Ref node, uint64_t own) {
    if (has_identity(node->op)) return node;
    const Inside inside(state_->thread, {});
    if (!own && node.use_count() == 1) {  // nothing else holds it: no copy is needed
        Node& made = const_cast<Node&>(*node);
        state_->forget(&made);
        made.own = state_->next_serial++;
        made.hash = hash_of(made) & state_->hash_mask;
        state_->entries.add(node);
        return node;
    }
    auto copy = std::make_unique<Node>();
    copy->op = node->op;
    copy->dtype = node->dtype;
    copy->shape = node->shape;
    copy->inputs = node->inputs;
    copy->attr = node->attr;
    copy->own = own ? own : state_->next_serial++;
    const Ref made = intern(std::move(copy), {});
    note_lines(*made, node->lines);
    return made;
}

void for_sizes(const Node& node, const std::function<void(const Size&)>& visit) {
    for (const Size& size : node.shape) visit(size);
    if (const auto* value = std::get_if<SizeAttr>(&node.attr)) visit(value->size);
    if (const auto* loop = std::get_if<LoopAttr>(&node.attr))
        for (const Size& size : loop->grid) visit(size);
    if (const auto* slice = std::get_if<SliceAttr>(&node.attr))
        for (const Size& size : slice->begin) visit(size);
    if (const auto* pad = std::get_if<PadAttr>(&node.attr)) {
        for (const Size& size : pad->before) visit(size);
        for (const Size& size : pad->after) visit(size);
    }
}

}  // namespace firn
