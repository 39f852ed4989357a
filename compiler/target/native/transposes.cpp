// Loads and stores of which every lane has a row of its own: whole rows, transposed.
//
// A square of n lanes is n accesses of whole vectors and n log2(n) shuffles of two vectors, where n
// gathers or scatters would be n accesses each.
#include "compiler/target/native/transposes.h"

#include <algorithm>
#include <utility>

#include "compiler/host/processor.h"
#include "compiler/target/native/access.h"
#include "compiler/target/native/elements.h"
#include "compiler/target/native/stores.h"

namespace firn::native {
namespace {

/// An index as a node and a constant behind it.
std::pair<NodeId, int64_t> place_of(const KernelCode& code, NodeId index) {
    const KernelNode& n = code[index];
    if (n.op == KernelOp::Add && n.dtype == i32)
        for (size_t k = 0; k < 2; ++k) {
            const auto* constant = code[n.args[k]].get_if<Scalar>();
            if (constant && constant->i > 0 && constant->i <= kLargestOffset)
                return {n.args[1 - k], constant->i};
        }
    return {index, 0};
}

/// Accesses by their offsets from one base.
using Run = std::map<int64_t, NodeId>;

/// Cuts the accesses that follow one another without a gap into squares.
std::vector<Square> squares_of(const IrRun& run, NodeId base, const Run& accesses) {
    std::vector<Square> out;
    Square open;
    int64_t next = 0;  // the offset behind those of the open square
    for (const auto& [offset, id] : accesses) {
        if (open.accesses.empty() || offset != next) open = {{}, base, next = offset};
        open.accesses.push_back(id);
        next += run.code[id].as<AccessAttr>().width;
        if (next - open.offset < run.lanes) continue;
        if (next - open.offset == run.lanes) out.push_back(open);
        open.accesses.clear();
    }
    return out;
}

/// Adds squares by the first of their nodes in the order of writing.
void add_squares(const std::vector<Square>& squares, const std::map<NodeId, size_t>& order,
                 std::map<NodeId, Square>& out) {
    for (const Square& square : squares)
        out[*std::min_element(square.accesses.begin(), square.accesses.end(),
                              [&](NodeId a, NodeId b) { return order.at(a) < order.at(b); })] =
            square;
}

/// Adds stores that follow one another if all of them are in squares, and none meets another.
void add_stores(const IrRun& run, const std::vector<NodeId>& stores,
                const std::map<NodeId, size_t>& order, std::map<NodeId, Square>& out) {
    if (stores.empty()) return;
    Run accesses;
    for (NodeId id : stores)
        if (!accesses.emplace(place_of(run.code, run.code[id].args[0]).second, id).second) return;
    std::vector<Square> squares =
        squares_of(run, place_of(run.code, run.code[stores[0]].args[0]).first, accesses);
    std::vector<int64_t> stored;
    for (const auto& [offset, id] : accesses)
        for (int k = 0; k < run.code[id].as<AccessAttr>().width; ++k) stored.push_back(offset + k);
    size_t taken = 0;
    for (Square& square : squares) {
        taken += square.accesses.size();
        square.stored = stored;
    }
    if (taken == stores.size()) add_squares(squares, order, out);
}

using Vectors = std::vector<std::string>;

/// Rows as columns, by exchanging blocks of 1, 2, 4 ... elements between vectors that lie as far
/// apart. The small ones first: they stay inside 128 bits, which processors shuffle fastest.
Vectors transposed(IrRun& run, Vectors rows, const std::string& type) {
    const std::string vector = vector_of(run, type),
                      places = "<" + std::to_string(run.lanes) + " x i32> <";
    const int lanes = run.lanes;
    for (int step = 1; step < lanes; step *= 2)
        for (int row = 0; row < lanes; ++row) {
            if (row & step) continue;
            std::string low, high;
            for (int k = 0; k < lanes; ++k) {
                const bool second = k & step;
                const auto add = [&](std::string& to, int place) {
                    to += (k ? ", i32 " : "i32 ") + std::to_string(place);
                };
                add(low, second ? lanes + k - step : k);
                add(high, second ? lanes + k : k + step);
            }
            std::string &a = rows[static_cast<size_t>(row)],
                        &b = rows[static_cast<size_t>(row + step)];
            const std::string both =
                "shufflevector " + vector + " " + a + ", " + vector + " " + b + ", " + places;
            a = emit(run, both + low + ">");
            b = emit(run, both + high + ">");
        }
    return rows;
}

/// The address of the first element of a square, in all of memory.
std::string begin_of(IrRun& run, const Square& square, const std::string& type) {
    const int buffer = run.code[square.accesses[0]].as<AccessAttr>().buffer;
    std::string place = emit(run, "sext i32 " + value_of(run, square.base).text + " to i64");
    if (square.offset) place = emit(run, "add i64 " + place + ", " + std::to_string(square.offset));
    return emit(run, "getelementptr " + type + ", ptr " + run.memory[buffer] + ", i64 " + place);
}

/// The row of a lane. An index is not negative, so that strides may be added in 64 bits.
std::string row_of(IrRun& run, const Square& square, const std::string& begin,
                   const std::string& type, int lane) {
    if (lane == 0) return begin;
    return emit(run, "getelementptr " + type + ", ptr " + begin + ", i64 " +
                         std::to_string(value_of(run, square.base).stride * lane));
}

/// Of two lanes, no store of one meets a store of the other.
bool lie_apart(const std::vector<int64_t>& stored, int64_t stride, int lanes) {
    for (int64_t offset : stored)
        for (int lane = 1; lane < lanes; ++lane)
            if (std::binary_search(stored.begin(), stored.end(), offset + lane * stride))
                return false;
    return true;
}

}  // namespace

std::map<NodeId, Square> find_squares(const IrRun& run, const std::vector<NodeId>& nodes) {
    std::map<NodeId, Square> out;
    // One register has the elements of all lanes. Checks are made of one access at a time.
    if (run.checks || run.lanes < 4 || 32 * run.lanes > vector_facts(run.profile).bits) return out;
    using Memory = std::pair<int, NodeId>;  // a buffer, and the base of an index into it
    std::map<Memory, Run> loads;
    std::map<NodeId, size_t> order;
    std::vector<NodeId> stores;  // that follow one another
    Memory stored;
    for (NodeId id : nodes) {
        order[id] = order.size();
        const KernelNode& n = run.code[id];
        const bool fits = (n.op == KernelOp::Load || n.op == KernelOp::Store) &&
                          has_words_in_common(run, n) && run.varying[n.args[0]];
        if (!fits) {
            add_stores(run, std::exchange(stores, {}), order, out);
            continue;
        }
        const auto [base, offset] = place_of(run.code, n.args[0]);
        const Memory memory{n.as<AccessAttr>().buffer, base};
        if (n.op == KernelOp::Load || memory != stored)
            add_stores(run, std::exchange(stores, {}), order, out);
        if (n.op == KernelOp::Store)
            stored = memory, stores.push_back(id);
        else if (!run.code.in_order && !n.pinned)
            loads[memory].emplace(offset, id);
    }
    add_stores(run, stores, order, out);
    for (const auto& [memory, accesses] : loads)
        add_squares(squares_of(run, memory.second, accesses), order, out);
    return out;
}

bool is_square(const IrRun& run, const Square& square) {
    const IrValue base = value_of(run, square.base);
    return run.mask.empty() && base.text != "poison" && base.varying && base.linear &&
           base.stride >= run.lanes && lie_apart(square.stored, base.stride, run.lanes) &&
           std::all_of(square.accesses.begin(), square.accesses.end(), [&](NodeId id) {
               const KernelNode& n = run.code[id];
               return n.op == KernelOp::Load
                          ? run.values[id].empty()
                          : std::all_of(n.args.begin() + 1, n.args.end(), [&](NodeId arg) {
                                return value_of(run, arg).text != "poison";
                            });
           });
}

void write_square(IrRun& run, const Square& square) {
    const KernelNode& first = run.code[square.accesses[0]];
    const DType dtype = element_of(run.code, first);
    const std::string type = scalar_type(dtype), vector = vector_of(run, type),
                      begin = begin_of(run, square, type);
    Vectors vectors;
    if (first.op == KernelOp::Load) {
        for (int lane = 0; lane < run.lanes; ++lane)
            vectors.push_back(emit(run, "load " + vector + ", ptr " +
                                            row_of(run, square, begin, type, lane) + ", align 4"));
        vectors = transposed(run, std::move(vectors), type);
        size_t next = 0;
        for (NodeId id : square.accesses)
            for (int k = 0; k < run.code[id].as<AccessAttr>().width; ++k)
                run.values[id].push_back({vectors[next++], true});
        return;
    }
    for (NodeId id : square.accesses)
        for (size_t k = 1; k < run.code[id].args.size(); ++k)
            vectors.push_back(as_vector(run, value_of(run, run.code[id].args[k]), dtype));
    vectors = transposed(run, std::move(vectors), type);
    for (int lane = 0; lane < run.lanes; ++lane)
        store_vector(run, vector + " " + vectors[static_cast<size_t>(lane)],
                     row_of(run, square, begin, type, lane), 4 * run.lanes, 4);
}

}  // namespace firn::native
