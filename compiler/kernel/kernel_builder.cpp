// Hash-consing, leaves, regions and facts of Kernel code nodes; index algebra is in
// kernel_algebra.cpp.
#include "compiler/kernel/kernel_builder.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

#include "compiler/ir/evaluate.h"
#include "compiler/program/error.h"
#include "compiler/program/index_limits.h"

namespace firn {
namespace {

void mix(uint64_t& h, uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; }

uint64_t hash_node(const KernelNode& n) {
    uint64_t h = static_cast<uint64_t>(n.op) * 131 + static_cast<uint64_t>(n.dtype.type);
    for (int arg : n.args) mix(h, static_cast<uint64_t>(arg));
    mix(h, static_cast<uint64_t>(n.constant.i));
    mix(h, std::bit_cast<uint64_t>(n.constant.f));
    for (int part : {n.range, n.param, n.buffer, n.position, n.lane, n.width})
        mix(h, static_cast<uint64_t>(part));
    mix(h, static_cast<uint64_t>(n.reduce));
    return h;
}

bool same_node(const KernelNode& a, const KernelNode& b) {
    return a.op == b.op && a.dtype == b.dtype && a.args == b.args && a.constant == b.constant &&
           a.range == b.range && a.param == b.param && a.buffer == b.buffer &&
           a.position == b.position && a.lane == b.lane && a.width == b.width &&
           a.region == b.region && a.reduce == b.reduce && a.matrix == b.matrix &&
           a.column_major == b.column_major;
}

std::vector<int> merge(const std::vector<int>& a, const std::vector<int>& b) {
    if (b.empty()) return a;
    std::vector<int> out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

void add_lines(std::vector<SourceLine>& to, const std::vector<SourceLine>& from) {
    for (const SourceLine& line : from)
        if (to.size() < 4 && std::find(to.begin(), to.end(), line) == to.end()) to.push_back(line);
}

}  // namespace

KernelBuilder::KernelBuilder(KernelCode& code, SymbolFacts facts)
    : code_(code), symbol_facts_(std::move(facts)) {}

int KernelBuilder::intern(KernelNode node) {
    const bool unique = node.pinned || node.op == KernelOp::For || node.op == KernelOp::Branch ||
                        node.op == KernelOp::RegionArg || (info(node.op).properties & kEffect);
    const uint64_t hash = hash_node(node);
    if (!unique) {
        auto [begin, end] = table_.equal_range(hash);
        for (auto it = begin; it != end; ++it)
            if (same_node(code_.nodes[it->second], node)) {
                add_lines(code_.nodes[it->second].lines, lines_);
                return it->second;
            }
    }
    const int id = static_cast<int>(code_.nodes.size());
    node.lines = lines_;
    code_.nodes.push_back(std::move(node));
    facts_.emplace_back();
    derive_facts(id);
    if (!unique) table_.emplace(hash, id);
    return id;
}

int KernelBuilder::constant(const Scalar& value) {
    KernelNode n;
    n.op = KernelOp::Constant;
    n.dtype = value.dtype;
    n.constant = value;
    if (!value.dtype.is_float()) n.interval = {value.i, value.i, 0, value.i};
    return intern(std::move(n));
}

int KernelBuilder::size(const Size& value) {
    if (value.is_constant()) return integer(index_value(value, {}, "kernel '" + code_.name + "'"));
    ParamInfo param{i32, value, -1};
    auto it = std::find(code_.params.begin(), code_.params.end(), param);
    KernelNode n;
    n.op = KernelOp::Param;
    n.dtype = i32;
    n.param = static_cast<int>(it - code_.params.begin());
    if (it == code_.params.end()) code_.params.push_back(param);
    n.interval = {std::max<int64_t>(value.lower_bound(), INT32_MIN),
                  std::min<int64_t>(value.upper_bound(symbol_facts_.largest), INT32_MAX),
                  value.divisor(), 0};
    if (n.interval.mod < 1) n.interval.mod = 1;
    return intern(std::move(n));
}

bool KernelBuilder::countable(const Size& count) const {
    return count.upper_bound(symbol_facts_.largest) <= kMostIndices;
}

int KernelBuilder::scalar_argument(int argument, DType dtype) {
    ParamInfo param{dtype, Size(0), argument};
    auto it = std::find(code_.params.begin(), code_.params.end(), param);
    KernelNode n;
    n.op = KernelOp::Param;
    n.dtype = dtype;
    n.param = static_cast<int>(it - code_.params.begin());
    if (it == code_.params.end()) code_.params.push_back(param);
    if (const auto known = symbol_facts_.largest.find(scalar_symbol(argument));
        dtype == i32 && known != symbol_facts_.largest.end())
        n.interval = {0, known->second};
    return intern(std::move(n));
}

int KernelBuilder::add_range(Range range) {
    code_.ranges.push_back(std::move(range));
    return static_cast<int>(code_.ranges.size()) - 1;
}

int KernelBuilder::range(int id) {
    if (code_.ranges[id].kind == RangeKind::Group && code_.ranges[id].extent.is(1))
        return integer(0);
    KernelNode n;
    n.op = KernelOp::Range;
    n.dtype = i32;
    n.range = id;
    const Range& r = code_.ranges[id];
    const int64_t trips = r.kind == RangeKind::Serial && r.max_trips < 0 ? INT32_MAX
                          : r.kind == RangeKind::Serial
                              ? r.max_trips
                              : r.extent.upper_bound(symbol_facts_.largest);
    n.interval = {0, std::clamp<int64_t>(trips - 1, 0, INT32_MAX), 1, 0};
    return intern(std::move(n));
}

int KernelBuilder::load(int buffer, int index, int width) {
    KernelNode n;
    n.op = KernelOp::Load;
    n.dtype = code_.buffers[buffer].dtype;
    n.args = {index};
    n.buffer = buffer;
    n.width = width;
    return intern(std::move(n));
}

int KernelBuilder::shuffle(int value, int lane, int index) {
    KernelNode n;
    n.op = KernelOp::SubgroupShuffle;
    n.dtype = node(value).dtype;
    n.args = {value, index};
    n.lane = lane;
    return intern(std::move(n));
}

int KernelBuilder::lane(int vector, int lane, int index) {
    KernelNode n;
    n.op = KernelOp::Lane;
    n.dtype = node(vector).dtype;
    n.args = {vector, index};
    n.lane = lane;
    return intern(std::move(n));
}

int KernelBuilder::add_region() {
    code_.regions.emplace_back();
    return static_cast<int>(code_.regions.size()) - 1;
}

int KernelBuilder::region_arg(int region, DType dtype, MatrixShape matrix) {
    KernelNode n;
    n.matrix = matrix;
    n.op = KernelOp::RegionArg;
    n.dtype = dtype;
    n.region = region;
    n.position = static_cast<int>(code_.regions[region].args.size());
    const int id = intern(std::move(n));
    code_.regions[region].args.push_back(id);
    return id;
}

int KernelBuilder::close_for(int region, std::vector<int> inits) {
    KernelNode n;
    n.op = KernelOp::For;
    n.args = std::move(inits);
    n.region = region;
    return intern(std::move(n));
}

int KernelBuilder::branch(int condition, int then_region, int else_region, bool guard) {
    KernelNode n;
    n.op = KernelOp::Branch;
    n.args = {condition};
    n.region = then_region;
    n.else_region = else_region;
    n.guard = guard;
    if (guard) ++code_.guards;
    return intern(std::move(n));
}

int KernelBuilder::result(int region_node, int index) {
    const KernelNode& owner = node(region_node);
    KernelNode n;
    n.op = KernelOp::Result;
    const KernelNode& value = node(code_.regions[owner.region].yields[index]);
    n.dtype = value.dtype;
    n.matrix = value.matrix;
    n.args = {region_node};
    n.position = index;
    return intern(std::move(n));
}

int KernelBuilder::store(int buffer, int index, std::span<const int> values) {
    KernelNode n;
    n.op = KernelOp::Store;
    n.dtype = code_.buffers[buffer].dtype;
    n.args = {index};
    n.args.insert(n.args.end(), values.begin(), values.end());
    n.buffer = buffer;
    n.width = static_cast<int>(values.size());
    return intern(std::move(n));
}

int KernelBuilder::atomic(int buffer, ScatterOp combine, int index, int value) {
    KernelNode n;
    n.op = KernelOp::Atomic;
    n.dtype = node(value).dtype;
    n.args = {index, value};
    n.buffer = buffer;
    n.combine = combine;
    return intern(std::move(n));
}

int KernelBuilder::pinned(KernelOp op, DType dtype, std::vector<int> args, int buffer,
                          ReduceOp reduce) {
    KernelNode n;
    n.op = op;
    n.dtype = dtype;
    n.args = std::move(args);
    n.buffer = buffer;
    n.reduce = reduce;
    n.pinned = true;
    return intern(std::move(n));
}

int KernelBuilder::matrix(KernelOp op, DType dtype, MatrixShape matrix, std::vector<int> args,
                          int buffer, bool column_major) {
    KernelNode n;
    n.op = op;
    n.dtype = dtype;
    n.matrix = matrix;
    n.args = std::move(args);
    n.buffer = buffer;
    n.column_major = column_major;
    return intern(std::move(n));
}

int KernelBuilder::own_memory(MemorySpace space, DType dtype, const Size& elements, int width) {
    code_.buffers.push_back({-1, dtype, elements, BindingForm::Storage, width, true, space});
    return static_cast<int>(code_.buffers.size()) - 1;
}

int KernelBuilder::reduction(KernelOp op, ReduceOp by, int value) {
    KernelNode n;
    n.op = op;
    n.dtype = node(value).dtype;
    n.args = {value};
    n.reduce = by;
    return intern(std::move(n));
}

void KernelBuilder::assume(int id, const Size& lo, const Size& hi) {
    facts_[id].lo = lo;
    facts_[id].hi = hi;
    Interval& known = code_.nodes[id].interval;
    known.lo = std::max(known.lo, lo.lower_bound());
    known.hi = std::max(known.lo, std::min(known.hi, hi.upper_bound()));
}

int KernelBuilder::buffer(int program_buffer, DType dtype, const Size& elements, BindingForm form,
                          int width, bool written) {
    for (size_t k = 0; k < code_.buffers.size(); ++k) {
        const KernelBuffer& b = code_.buffers[k];
        if (b.space == MemorySpace::Bound && b.buffer == program_buffer && b.form == form &&
            b.width == width && b.written == written)
            return static_cast<int>(k);
    }
    code_.buffers.push_back({program_buffer, dtype, elements, form, width, written});
    return static_cast<int>(code_.buffers.size()) - 1;
}

void KernelBuilder::derive_facts(int id) {
    KernelNode& n = code_.nodes[id];
    Facts& f = facts_[id];
    for (int arg : n.args) f.ranges = merge(f.ranges, facts_[arg].ranges);
    if (n.op == KernelOp::Range) {
        f.ranges = {n.range};
        const Range& r = code_.ranges[n.range];
        if (r.kind != RangeKind::Serial || r.extent_node < 0 || !r.extent.is(0)) {
            f.lo = Size(0);
            f.hi = r.extent - Size(1);
        }
    } else if (n.op == KernelOp::RegionArg) {
        f.ranges = {code_.regions[n.region].range};
    } else if (n.op == KernelOp::For || n.op == KernelOp::Branch) {
        for (int body : {n.region, n.else_region}) {
            if (body < 0) continue;
            const KernelRegion& region = code_.regions[body];
            std::vector<int> inside;
            for (int y : region.yields) inside = merge(inside, facts_[y].ranges);
            for (int e : region.effects) inside = merge(inside, facts_[e].ranges);
            if (region.alive >= 0) inside = merge(inside, facts_[region.alive].ranges);
            if (region.range >= 0) {
                std::erase(inside, region.range);
                const int extent = code_.ranges[region.range].extent_node;
                if (extent >= 0) inside = merge(inside, facts_[extent].ranges);
            }
            f.ranges = merge(f.ranges, inside);
        }
    }
    if (n.dtype != i32 ||
        !(is_elementwise(n.op) || n.op == KernelOp::Constant || n.op == KernelOp::Param))
        return;
    if (n.op == KernelOp::Constant) f.lo = f.hi = Size(n.constant.i);
    if (n.op == KernelOp::Param && code_.params[n.param].scalar < 0)
        f.lo = f.hi = code_.params[n.param].size;
    derive_interval(n);
    try {
        derive_bounds(n, f);
    } catch (const UserError&) {
        f.lo = f.hi = std::nullopt;  // they do not fit into 64 bits, or are too many terms: nobody
                                     // wrote such a size
    }
    if ((n.op == KernelOp::Add || n.op == KernelOp::Mul) && may_wrap(n, f))
        f.lo = f.hi = std::nullopt;
}

void KernelBuilder::derive_bounds(const KernelNode& n, Facts& f) const {
    auto both = [&](int k) { return facts_[n.args[k]].lo && facts_[n.args[k]].hi; };
    auto lo = [&](int k) { return *facts_[n.args[k]].lo; };
    auto hi = [&](int k) { return *facts_[n.args[k]].hi; };
    switch (n.op) {
        case KernelOp::Add:
            if (both(0) && both(1)) f.lo = lo(0) + lo(1), f.hi = hi(0) + hi(1);
            break;
        case KernelOp::Mul:
            if (both(0) && both(1)) {
                if (is_constant(n.args[1]) && node(n.args[1]).constant.i < 0)
                    f.lo = hi(0) * lo(1), f.hi = lo(0) * lo(1);
                else if (lo(0).lower_bound() >= 0 && lo(1).lower_bound() >= 0)
                    f.lo = lo(0) * lo(1), f.hi = hi(0) * hi(1);
                else if (is_constant(n.args[1]))
                    f.lo = lo(0) * lo(1), f.hi = hi(0) * hi(1);
            }
            break;
        case KernelOp::Min:
        case KernelOp::Max: {
            // The bound on the clamped side is either operand's; prefer the one without ranges.
            auto& strict = n.op == KernelOp::Min ? f.hi : f.lo;
            auto& loose = n.op == KernelOp::Min ? f.lo : f.hi;
            auto strict_of = [&](int k) {
                return n.op == KernelOp::Min ? facts_[n.args[k]].hi : facts_[n.args[k]].lo;
            };
            auto loose_of = [&](int k) {
                return n.op == KernelOp::Min ? facts_[n.args[k]].lo : facts_[n.args[k]].hi;
            };
            const bool first_free = facts_[n.args[0]].ranges.empty();
            strict = strict_of(first_free ? 0 : 1) ? strict_of(first_free ? 0 : 1)
                                                   : strict_of(first_free ? 1 : 0);
            if (loose_of(0) && loose_of(1)) {
                const bool first_is_less = firn::proved_less_equal(*loose_of(0), *loose_of(1));
                const bool second_is_less = firn::proved_less_equal(*loose_of(1), *loose_of(0));
                if (n.op == KernelOp::Min && first_is_less)
                    loose = loose_of(0);
                else if (n.op == KernelOp::Min && second_is_less)
                    loose = loose_of(1);
                else if (n.op == KernelOp::Max && first_is_less)
                    loose = loose_of(1);
                else if (n.op == KernelOp::Max && second_is_less)
                    loose = loose_of(0);
                else
                    loose = n.op == KernelOp::Min ? min(*loose_of(0), *loose_of(1))
                                                  : max(*loose_of(0), *loose_of(1));
            }
            break;
        }
        case KernelOp::Div:
        case KernelOp::Mod: {
            const bool positive = both(0) && lo(0).lower_bound() >= 0 && both(1) &&
                                  lo(1).is_constant() && lo(1) == hi(1) && lo(1).constant() > 0;
            if (positive && n.op == KernelOp::Div)
                f.lo = floor_div(lo(0), lo(1)), f.hi = floor_div(hi(0), lo(1));
            else if (positive)
                f.lo = Size(0), f.hi = lo(1) - Size(1);
            else if (both(0) && lo(0).lower_bound() >= 0 && both(1) && lo(1) == hi(1) &&
                     lo(1).lower_bound() >= 0) {
                f.lo = Size(0);  // by a symbolic size: x / 0 and x % 0 are 0
                if (n.op == KernelOp::Mod)
                    f.hi = max(lo(1) - Size(1), Size(0));
                else
                    f.hi = hi(0);
            }
            break;
        }
        case KernelOp::Select:
            if (both(1) && both(2) && lo(1) == lo(2)) f.lo = lo(1);
            if (both(1) && both(2) && hi(1) == hi(2)) f.hi = hi(1);
            break;
        default: break;
    }
}

/// The i32 may wrap around: its bounds are beyond 32 bits at sizes that the facts allow. Sizes of
/// which nothing is known are those of tensors in memory, or were checked.
bool KernelBuilder::may_wrap(const KernelNode& n, const Facts& f) const {
    if (!f.lo || !f.hi || n.interval.lo != INT32_MIN || n.interval.hi != INT32_MAX) return false;
    for (const Size& bound : {*f.lo, *f.hi})
        for (const std::string& symbol : bound.symbols())
            if (!symbol_facts_.largest.contains(symbol)) return false;
    return f.lo->lower_bound() < INT32_MIN || f.hi->upper_bound(symbol_facts_.largest) > INT32_MAX;
}

void KernelBuilder::derive_interval(KernelNode& n) const {
    if (n.op == KernelOp::Constant || n.op == KernelOp::Param) return;
    Interval out;
    auto of = [&](int k) -> const Interval& { return code_.nodes[n.args[k]].interval; };
    auto congruence_sum = [&](const Interval& a, const Interval& b) {
        const int64_t m = std::gcd(a.mod, b.mod);
        out.mod = m;
        out.rem = m > 1 ? ((a.rem + b.rem) % m + m) % m : m == 0 ? a.rem + b.rem : 0;
    };
    auto congruence_of_either = [&](const Interval& a, const Interval& b) {
        out.mod = std::gcd(std::gcd(a.mod, b.mod), a.rem - b.rem);
        out.rem = out.mod > 0 ? (a.rem % out.mod + out.mod) % out.mod : a.rem;
    };
    switch (n.op) {
        case KernelOp::Add:
            out.lo = of(0).lo + of(1).lo, out.hi = of(0).hi + of(1).hi;
            congruence_sum(of(0), of(1));
            break;
        case KernelOp::Mul: {
            const int64_t a[] = {of(0).lo * of(1).lo, of(0).lo * of(1).hi, of(0).hi * of(1).lo,
                                 of(0).hi * of(1).hi};
            out.lo = *std::min_element(a, a + 4), out.hi = *std::max_element(a, a + 4);
            // (m1 x + r1)(m2 y + r2) = r1 r2 modulo gcd(m1 m2, m1 r2, m2 r1)
            const Interval &p = of(0), &q = of(1);
            const int64_t m = std::gcd(std::gcd(p.mod * q.mod, p.mod * q.rem), q.mod * p.rem);
            out.mod = m > (1 << 20) ? std::gcd<int64_t>(m, 1 << 20) : m;
            out.rem = out.mod > 0 ? ((p.rem * q.rem) % out.mod + out.mod) % out.mod : p.rem * q.rem;
            break;
        }
        case KernelOp::Min:
            out.lo = std::min(of(0).lo, of(1).lo), out.hi = std::min(of(0).hi, of(1).hi);
            congruence_of_either(of(0), of(1));
            break;
        case KernelOp::Max:
            out.lo = std::max(of(0).lo, of(1).lo), out.hi = std::max(of(0).hi, of(1).hi);
            congruence_of_either(of(0), of(1));
            break;
        case KernelOp::Select:
            out.lo = std::min(of(1).lo, of(2).lo), out.hi = std::max(of(1).hi, of(2).hi);
            break;
        case KernelOp::Div:
            if (of(0).lo >= 0 && of(1).lo >= 1)
                out.lo = of(0).lo / of(1).hi, out.hi = of(0).hi / of(1).lo;
            break;
        case KernelOp::Mod:
            if (of(0).lo >= 0 && of(1).lo >= 1)
                out.lo = 0, out.hi = std::min(of(0).hi, of(1).hi - 1);
            break;
        case KernelOp::And:
            if (of(0).lo >= 0 && of(1).lo >= 0) out.lo = 0, out.hi = std::min(of(0).hi, of(1).hi);
            break;
        case KernelOp::ShiftRight:
            if (of(0).lo >= 0) out.lo = 0, out.hi = of(0).hi;
            break;
        case KernelOp::Cast:
            if (code_.nodes[n.args[0]].dtype.is_bool()) out.lo = 0, out.hi = 1;
            break;
        default: break;
    }
    if (out.lo < INT32_MIN || out.hi > INT32_MAX) {
        out.lo = INT32_MIN, out.hi = INT32_MAX;
        // It may wrap around by 2^32: of what it is modulo something, powers of two stay.
        out.mod = std::max<int64_t>(1, out.mod & -out.mod);
        out.rem = (out.rem % out.mod + out.mod) % out.mod;
    }
    n.interval = out;
}

bool KernelBuilder::proved_less_equal(int a, int b) const {
    if (node(a).interval.hi <= node(b).interval.lo) return true;
    const Facts &x = facts_[a], &y = facts_[b];
    return x.hi && y.lo && firn::proved_less_equal(*x.hi, *y.lo);
}

}  // namespace firn
