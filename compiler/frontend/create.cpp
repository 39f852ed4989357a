// Factories.
#include "compiler/frontend/create.h"

#include <algorithm>
#include <cmath>

#include "compiler/frontend/apply.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"

namespace firn {

Tensor tensor_from_bytes(const Bytes& bytes, const Shape& shape, DType dtype, SourceLine line) {
    const std::shared_ptr<SessionState>& session = current_state();
    Size count = element_count(shape);
    for (const Size& size : shape)
        if (!size.is_constant() || size.constant() < 0)
            fail_at(line, "tensor: data cannot have shape " + text(shape) +
                              "; give sizes that are numbers from 0 up");
    uint64_t wanted =
        static_cast<uint64_t>(count.constant()) * static_cast<uint64_t>(dtype.bytes());
    if (bytes.count != wanted)
        fail_at(line,
                "tensor: " + std::to_string(bytes.count / static_cast<size_t>(dtype.bytes())) +
                    " values do not fill shape " + text(shape) + ", which has " + count.text() +
                    "; give as many, or reshape");
    Builder b = builder(*session, line);
    return Tensor::from_node(upload(*session, {bytes.data, bytes.count}, dtype, shape, b.line));
}

namespace {

void check_sizes(const char* what, const Shape& shape, SourceLine line) {
    for (const Size& size : shape)
        if (size.upper_bound() < 0)
            fail_at(line, std::string(what) + ": the shape " + text(shape) +
                              " has a negative size; sizes are 0 or more");
}

}  // namespace

Tensor full(const Shape& shape, const Arg& value) {
    check_sizes("full", shape, value.line());
    return Tensor::from_node(expand(builder_at(value), value.node(), shape));
}

namespace {

Tensor constant_of(const Shape& shape, int64_t value, DType dtype, SourceLine line) {
    Builder b = builder(*current_state(), line);
    check_sizes(value ? "ones" : "zeros", shape, line);
    return Tensor::from_node(expand(b, constant(b, scalar_int(value).to(dtype)), shape));
}

}  // namespace

namespace {

template <class T>
Tensor tensor_as(const std::vector<ListedNumber>& numbers, const Shape& shape, SourceLine line) {
    std::vector<T> values;
    for (const ListedNumber& number : numbers) {
        if constexpr (std::is_floating_point_v<T>)
            values.push_back(static_cast<T>(number.value));
        else
            values.push_back(static_cast<T>(static_cast<int64_t>(number.value)));
    }
    return tensor(values, shape, line);
}

}  // namespace

Tensor tensor_of_rows(const std::vector<std::vector<ListedNumber>>& rows, bool several,
                      SourceLine line) {
    using Kind = ListedNumber::Kind;
    std::vector<ListedNumber> all;
    Kind kind = Kind::Bool;
    for (size_t k = 0; k < rows.size(); ++k) {
        if (rows[k].size() != rows[0].size())
            fail_at(line, "tensor: row 0 has " + std::to_string(rows[0].size()) +
                              " elements and row " + std::to_string(k) + " has " +
                              std::to_string(rows[k].size()) + "; give rows of one length");
        for (const ListedNumber& number : rows[k]) kind = std::max(kind, number.kind);
        all.insert(all.end(), rows[k].begin(), rows[k].end());
    }
    Shape shape;
    if (several) shape.push_back(Size(rows.size()));
    shape.push_back(Size(rows.empty() ? 0 : rows[0].size()));
    if (kind == Kind::Float || all.empty()) return tensor_as<float>(all, shape, line);
    if (kind == Kind::Signed) return tensor_as<int32_t>(all, shape, line);
    if (kind == Kind::Unsigned) return tensor_as<uint32_t>(all, shape, line);
    return tensor_as<bool>(all, shape, line);
}

Tensor zeros_like(const Operand& x) {
    const Tensor of = x.tensor();
    return zeros(of.shape(x.line()), of.dtype(x.line()), x.line());
}

Tensor ones_like(const Operand& x) {
    const Tensor of = x.tensor();
    return ones(of.shape(x.line()), of.dtype(x.line()), x.line());
}

Tensor full_like(const Operand& x, const Arg& value) {
    const Tensor of = x.tensor();
    return full(of.shape(x.line()), Arg(value.tensor().as(of.dtype(x.line()), x.line()), x.line()));
}

std::vector<int64_t> offsets(const Strides& of) {
    std::vector<int64_t> out{0};
    for (size_t axis = 0; axis < of.shape.size(); ++axis) {
        std::vector<int64_t> next;
        next.reserve(out.size() * static_cast<size_t>(of.shape[axis]));
        for (int64_t begin : out)
            for (int64_t k = 0; k < of.shape[axis]; ++k)
                next.push_back(begin + k * of.strides[axis]);
        out = std::move(next);
    }
    return out;
}

void check_copied(const Tensor& x, const std::vector<int64_t>& shape, bool flat, SourceLine line) {
    const Shape own = x.shape(line), wanted(shape.begin(), shape.end());
    const bool vector = own.size() == 1 && shape.size() == 2 && (shape[0] == 1 || shape[1] == 1);
    if (own == wanted || ((flat || vector) && element_count(own) == element_count(wanted))) return;
    fail_at(line, "copy_to: the tensor is " + text(own) + " and the memory has room for " +
                      (flat ? element_count(wanted).text() + " elements" : text(wanted)) +
                      "; give it the tensor's sizes");
}

Tensor zeros(const Shape& shape, DType dtype, SourceLine line) {
    return constant_of(shape, 0, dtype, line);
}
Tensor ones(const Shape& shape, DType dtype, SourceLine line) {
    return constant_of(shape, 1, dtype, line);
}

Tensor index(const Shape& shape, int axis, SourceLine line) {
    check_sizes("index", shape, line);
    return Tensor::from_node(index(builder(*current_state(), line), shape, axis));
}

Tensor index_of(const Operand& x, int axis) {
    Ref node = x.node();
    note_asked(*current_state(), node, x.line());
    return Tensor::from_node(index(builder_at(x), node->shape, axis));
}

void check_index_rank(const Shape& shape, size_t rank, SourceLine line) {
    if (shape.size() != rank)
        fail_at(line, "indices<" + std::to_string(rank) + ">: the shape " + text(shape) +
                          " has rank " + std::to_string(shape.size()) +
                          "; ask for as many indices as it has axes");
}

Tensor arange(const Size& end, SourceLine line) { return arange(Size(0), end, 1, line); }

Tensor arange(const Size& begin, const Size& end, int64_t step, SourceLine line) {
    if (step == 0) fail_at(line, "arange: the step is 0; use 1, or a negative step to count down");
    Size span = step > 0 ? end - begin : begin - end;
    Size count = ceil_div(span, Size(step > 0 ? step : -step));
    if (count.lower_bound() < 0) count = max(count, Size(0));
    Tensor i = index(Shape{count}, 0, line);
    if (step != 1) i = Arg(i, line) * Arg(step, line);
    return begin.is(0) ? i : Arg(begin, line) + Arg(i, line);
}

Tensor arange_f32(double begin, double end, double step, SourceLine line) {
    if (step == 0) fail_at(line, "arange: the step is 0; use 1, or a negative step to count down");
    const double count = std::ceil((end - begin) / step);
    Tensor i =
        index(Shape{Size(count > 0 ? static_cast<int64_t>(count) : 0)}, 0, line).as(f32, line);
    Tensor scaled = step == 1 ? i : Arg(i, line) * Arg(step, line);
    return begin == 0 ? scaled : Arg(begin, line) + Arg(scaled, line);
}

Tensor linspace(const Arg& begin, const Arg& end, const Size& count) {
    LineScope at(begin.line());
    if (count.upper_bound() < 0)
        refuse("linspace: the count is " + count.text() + "; ask for 0 numbers or more");
    const std::vector<Tensor> ends = meet_as_floats({begin, end});
    if (count.is(1)) return full({Size(1)}, ends[0]);
    const DType own = ends[0].dtype(), wide = own.is_half() ? f32 : own;
    Tensor t = index(Shape{count}, 0).as(wide) / Tensor(max(count - Size(1), Size(1))).as(wide);
    // Both ends come out exactly.
    return (ends[0].as(wide) * (1.0f - t) + ends[1].as(wide) * t).as(own);
}

Tensor eye(const Size& n, DType dtype, SourceLine line) { return eye(n, n, dtype, line); }
Tensor eye(const Size& n, const Size& m, DType dtype, SourceLine line) {
    Shape shape{n, m};
    return (Arg(index(shape, 0, line), line) == Arg(index(shape, 1, line), line)).as(dtype, line);
}

Size device_size(const Operand& count, const Size& most) {
    const Ref node = count.node();
    if (!node->shape.empty() || !node->dtype.is_integer())
        fail_at(count.line(), std::string("device_size: the count is ") + node->dtype.name() +
                                  text(node->shape) + "; it is one integer");
    SessionState& session = *current_state();
    return data_size(session, cast(builder_at(count), node, i32), most,
                     session.caller.line ? session.caller : count.line());
}

}  // namespace firn
