// Elements in numpy's brackets, and tensors in streams.
#include "compiler/frontend/shown.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "compiler/frontend/data_size.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/ir/interpret.h"

namespace firn {
namespace {

constexpr int kEdge = 4;  // elements at each end of an axis that a stream shows

/// Returns how many elements to show at each end of an axis: all, if a shortened matrix would show
/// as many.
int edge_of(const std::vector<int64_t>& shape) {
    constexpr int64_t kMost = 4 * kEdge * kEdge;
    int64_t elements = 1;
    for (int64_t size : shape) {
        if (size > kMost) return kEdge;
        elements *= size;
        if (elements > kMost) return kEdge;
    }
    return static_cast<int>(kMost / 2);
}

class Bracketed {
  public:
    Bracketed(const std::vector<int64_t>& shape, int edge, const std::vector<std::string>& elements)
        : shape_(shape), edge_(edge), elements_(elements) {
        for (const std::string& element : elements_) width_ = std::max(width_, element.size());
    }

    std::string text(size_t axis = 0) {
        if (axis == shape_.size()) {
            const std::string& element = elements_[next_++];
            return shape_.empty() ? element : std::string(width_ - element.size(), ' ') + element;
        }
        const bool last = axis + 1 == shape_.size();
        const std::string gap = last ? " " : "\n" + std::string(axis + 1, ' ');
        const int64_t shown = std::min<int64_t>(shape_[axis], 2 * edge_);
        std::string out = "[";
        for (int64_t k = 0; k < shown; ++k) {
            if (k) out += gap;
            if (k == edge_ && shown < shape_[axis]) out += "..." + gap;
            out += text(axis + 1);
        }
        return out + "]";
    }

  private:
    const std::vector<int64_t>& shape_;
    int edge_;
    const std::vector<std::string>& elements_;
    size_t width_ = 0, next_ = 0;
};

}  // namespace

Size shown(const Size& size, int edge) { return min(size, Size(2 * edge)); }

bool all_shown(const Size& size, int edge) {
    return size.is_constant() && size.constant() <= 2 * edge;
}

Ref shown_elements(const Builder& b, const Ref& x, int edge) {
    Shape shape;
    bool whole = true;
    for (const Size& size : x->shape)
        shape.push_back(shown(size, edge)), whole &= all_shown(size, edge);
    if (whole) return x;
    const auto op = [&](Op op, std::vector<Ref> inputs) {
        return elementwise(b, op, std::move(inputs));
    };
    std::vector<Ref> places;
    for (int k = 0; k < x->rank(); ++k) {
        const size_t axis = static_cast<size_t>(k);
        const Ref at = index(b, shape, k);
        const Ref behind = op(Op::Add, {at, size_value(b, x->shape[axis] - shape[axis])});
        places.push_back(op(Op::Select, {op(Op::Less, {at, constant_int(b, edge)}), at, behind}));
    }
    return gather(b, x, places, std::vector<Bounds>(places.size(), Bounds::Clamp), scalar_int(0));
}

std::string value_text(const Scalar& value) {
    if (!value.dtype.is_float()) return text(value);
    if (std::isnan(value.f)) return "nan";  // its sign says nothing
    char out[32];
    std::snprintf(out, sizeof out, value.dtype == f64 ? "%.10g" : "%.6g", value.f);
    return out;
}

std::string bracketed(const std::vector<int64_t>& shape, int edge,
                      const std::vector<std::string>& elements) {
    return Bracketed(shape, edge, elements).text();
}

Shown shown(const Tensor& x) {
    SessionState& session = *x.slot()->session;
    const SourceLine line;
    const Builder b = builder(session, line);
    Ref node = read_slot(x.slot(), line);
    const std::string dtype = node->dtype.name();
    if (is_recording(session))
        return {dtype + text(node->shape), "(recorded, no values yet)", node->rank()};
    node = with_known_sizes(session, node, line);
    std::vector<int64_t> shape;
    for (const Size& size : node->shape) shape.push_back(size.constant());
    const int edge = edge_of(shape);
    HostTensor values;
    values.dtype = node->dtype;
    for (int64_t size : shape) values.shape.push_back(std::min<int64_t>(size, 2 * edge));
    values.data = bytes_of(Tensor::from_node(shown_elements(b, node, edge)), line);
    std::vector<std::string> elements;
    for (int64_t k = 0; k < values.elements(); ++k) elements.push_back(value_text(values.at(k)));
    return {dtype + (shape.empty() ? "" : text(node->shape)), bracketed(shape, edge, elements),
            node->rank(), true};
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
    const Shown of = shown(x);
    if (!of.known) return out << of.type << " " << of.elements;
    return out << of.type << (of.rank > 1 ? " =\n" : " = ") << of.elements;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype.name(); }

std::ostream& stream_components(std::ostream& out, const std::string& name,
                                const std::vector<Tensor>& parts) {
    std::string between = name + "(";
    for (const Tensor& part : parts) {
        const Shown of = shown(part);
        out << between;
        if (of.known && of.rank == 0)
            out << of.elements;
        else
            out << part;
        between = ", ";
    }
    return out << ")";
}

}  // namespace firn
