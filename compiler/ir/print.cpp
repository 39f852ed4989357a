// Graph to text, one node a line.
#include <charconv>

#include "compiler/ir/regions.h"
#include "compiler/ir/text.h"

namespace firn {

const char* name(Bounds mode) {
    switch (mode) {
        case Bounds::Clamp: return "clamp";
        case Bounds::Wrap: return "wrap";
        case Bounds::Mirror: return "mirror";
        case Bounds::Reflect: return "reflect";
        case Bounds::Constant: return "constant";
        case Bounds::Unchecked: return "unchecked";
    }
    return "?";
}

const char* name(SubgroupOp op) {
    switch (op) {
        case SubgroupOp::Reduce: return "reduce";
        case SubgroupOp::Scan: return "scan";
        case SubgroupOp::Shuffle: return "shuffle";
    }
    return "?";
}

namespace {

class Printer {
  public:
    Printer(const Graph& graph, PrintOptions options)
        : graph_(graph), options_(options), placement_(place(graph.results)) {}

    std::string run() {
        out_.reserve(64 * placement_.region_of.size() + 64);
        out_ += "graph(";
        for (size_t k = 0; k < graph_.args.size(); ++k) {
            if (k) out_ += ", ";
            declare(*graph_.args[k]);
            if (graph_.args[k]->as<InputAttr>().scalar) out_ += " scalar";
        }
        out_ += ") {\n";
        for (const Guard& guard : graph_.guards) print_guard(guard);
        for (const Size& each : graph_.data_sizes) out_ += "    size " + each.text() + "\n";
        print_region(0, 1);
        out_ += "    return";
        references(graph_.results);
        out_ += "\n}\n";
        return std::move(out_);
    }

  private:
    void number(int64_t value) {
        char digits[24];
        out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }

    void size(const Size& value) {
        if (!value.is_constant())
            out_ += value.text();
        else if (options_.numbers)
            number(value.constant());
        else
            out_ += '#';
    }

    void write(const Size& value) { size(value); }
    void write(int value) { number(value); }
    void write(int64_t value) { number(value); }
    void write(uint32_t value) { number(value); }
    void write(Bounds mode) { out_ += name(mode); }

    template <class T>
    void list(const char* label, const std::vector<T>& values) {
        out_ += label;
        out_ += '[';
        for (size_t k = 0; k < values.size(); ++k) {
            if (k) out_ += ", ";
            write(values[k]);
        }
        out_ += ']';
    }

    void reference(const Ref& node) {
        out_ += '%';
        number(numbers_.at(node.get()));
    }

    void references(const std::vector<Ref>& nodes) {
        for (size_t k = 0; k < nodes.size(); ++k) {
            out_ += k ? ", " : " ";
            reference(nodes[k]);
        }
    }

    /// `%7: f32[n, 4]`; a region node has no type.
    void declare(const Node& node) {
        int id = static_cast<int>(numbers_.size());
        numbers_.insert(&node, id);
        out_ += '%';
        number(id);
        if (info(node.op).result == ResultRule::None) return;
        out_ += ": ";
        out_ += node.dtype.name();
        if (!node.shape.empty()) list("", node.shape);
    }

    void print_guard(const Guard& guard) {
        out_ += "    guard ";
        size(guard.left);
        out_ += " == ";
        size(guard.right);
        out_ += " \"";
        for (char c : guard.message) {
            if (c == '"' || c == '\\') out_ += '\\';
            if (c == '\n')
                out_ += "\\n";
            else
                out_ += c;
        }
        out_ += "\"\n";
    }

    void print_region(int region, int depth) {
        for (const Ref& node : placement_.regions[region].order)
            if (node->op != Op::Input) print_node(*node, depth);
    }

    void print_node(const Node& node, int depth) {
        out_.append(4 * static_cast<size_t>(depth), ' ');
        // Numbers count in printing order, so a region node comes before its body.
        declare(node);
        out_ += " = ";
        out_ += info(node.op).name;
        references(node.inputs);
        print_attr(node, depth);
        if (options_.lines && !node.lines.empty()) {
            out_ += "  #";
            for (SourceLine line : node.lines) out_ += " " + text(line);
        }
        out_ += '\n';
    }

    void print_body(const Region& region, int id, int depth) {
        out_ += " {\n";
        print_region(id, depth + 1);
        out_.append(4 * static_cast<size_t>(depth + 1), ' ');
        out_ += "yield";
        references(region.results);
        out_ += '\n';
        out_.append(4 * static_cast<size_t>(depth), ' ');
        out_ += '}';
    }

    void print_loop(const Node& node, int depth) {
        const auto& attr = node.as<LoopAttr>();
        if (attr.active >= 0) out_ += " active=" + std::to_string(attr.active);
        if (attr.must_end != MustEnd::No)
            out_ += attr.must_end == MustEnd::Throws ? " must_end" : " end_is_stored";
        if (attr.checkpoint) out_ += " checkpoint=" + std::to_string(attr.checkpoint);
        if (!attr.sizes.empty()) list(" sizes=", attr.sizes);
        if (attr.by_hand()) {
            list(" by_hand grid=", attr.grid);
            list(" group=", attr.group);
            if (attr.rounded) out_ += " rounded";
        }
        out_ += " (";
        for (size_t k = 0; k < attr.body->args.size(); ++k) {
            if (k) out_ += ", ";
            declare(*attr.body->args[k]);
        }
        out_ += ')';
        print_body(*attr.body, placement_.first_region.at(&node), depth);
    }

    void print_if(const Node& node, int depth) {
        const auto& attr = node.as<IfAttr>();
        int first = placement_.first_region.at(&node);
        print_body(*attr.then_body, first, depth);
        out_ += " else";
        print_body(*attr.else_body, first + 1, depth);
    }

    /// Ids count in printing order, so that equal programs have equal texts.
    int64_t identity(uint64_t id) {
        return static_cast<int64_t>(ids_.emplace(id, ids_.size() + 1).first->second);
    }

    void print_subgroup(const SubgroupAttr& attr) {
        out_ += std::string(" op=") + name(attr.op) + " combine=" + name(attr.combine) +
                " lanes=" + std::to_string(attr.lanes);
        list(" group=", attr.group);
    }

    void print_attr(const Node& node, int depth) {
        switch (node.op) {
            case Op::Constant:
                out_ += ' ';
                out_ += options_.numbers || node.dtype != i32 ? text(node.as<ConstantAttr>().value)
                                                              : "#";
                break;
            case Op::SizeValue:
                out_ += ' ';
                size(node.as<SizeAttr>().size);
                break;
            case Op::Buffer: {
                const void* storage = node.as<BufferAttr>().storage.get();
                out_ +=
                    " #" + std::to_string(buffers_.emplace(storage, buffers_.size()).first->second);
                break;
            }
            case Op::Array:
                out_ += node.as<ArrayAttr>().shared ? " shared #" : " local #";
                number(identity(node.as<ArrayAttr>().id));
                break;
            case Op::Barrier:
                out_ += " #";
                number(identity(node.as<BarrierAttr>().id));
                break;
            case Op::Subgroup: print_subgroup(node.as<SubgroupAttr>()); break;
            case Op::HostCall: out_ += ' ' + node.as<HostCallAttr>().operation->name(); break;
            case Op::Invocation:
            case Op::Index: out_ += " axis=" + std::to_string(node.as<IndexAttr>().axis); break;
            case Op::Permute: list(" axes=", node.as<PermuteAttr>().axes); break;
            case Op::Slice:
                list(" begin=", node.as<SliceAttr>().begin);
                list(" step=", node.as<SliceAttr>().step);
                break;
            case Op::Pad:
                list(" before=", node.as<PadAttr>().before);
                list(" after=", node.as<PadAttr>().after);
                out_ += " value=" + text(node.as<PadAttr>().value);
                break;
            case Op::Gather:
                list(" modes=", node.as<GatherAttr>().modes);
                out_ += " fill=" + text(node.as<GatherAttr>().fill);
                if (node.as<GatherAttr>().own) out_ += " own";
                break;
            case Op::Scatter:
                out_ += std::string(" op=") + name(node.as<ScatterAttr>().op);
                if (node.as<ScatterAttr>().unique) out_ += " unique";
                if (node.as<ScatterAttr>().complete) out_ += " complete";
                if (node.as<ScatterAttr>().by_hand) out_ += " by_hand";
                if (node.as<ScatterAttr>().part) out_ += " part";
                if (node.as<ScatterAttr>().finds_last) out_ += " finds_last";
                if (node.as<ScatterAttr>().apart) out_ += " apart";
                break;
            case Op::Reduce:
                out_ += std::string(" op=") + name(node.as<ReduceAttr>().op);
                list(" axes=", node.as<ReduceAttr>().axes);
                break;
            case Op::Result: out_ += " index=" + std::to_string(node.as<ResultAttr>().index); break;
            case Op::Loop: print_loop(node, depth); break;
            case Op::If: print_if(node, depth); break;
            default: break;
        }
    }

    const Graph& graph_;
    PrintOptions options_;
    Placement placement_;
    std::string out_;
    NodeMap<int> numbers_;
    std::unordered_map<const void*, size_t> buffers_;
    std::unordered_map<uint64_t, size_t> ids_;
};

}  // namespace

std::string print(const Graph& graph, PrintOptions options) {
    return Printer(graph, options).run();
}

}  // namespace firn
