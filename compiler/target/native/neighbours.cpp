// Neighbours at places that each lane computes by itself: few loads of several elements.
//
// A gather takes a load for each element. Two or four elements that lie side by side are one load
// of a lane, and shuffles inside 128 bits make vectors of them, of which all lanes have one. An
// index that is clamped is that of its neighbour and a constant unless the clamp changes it: one
// question for the whole vector, behind which each load is as it was.
#include "compiler/target/native/neighbours.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/host/processor.h"
#include "compiler/target/native/access.h"
#include "compiler/target/native/checks.h"
#include "compiler/target/native/elements.h"
#include "compiler/target/native/loads.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

/// The lanes whose elements fill 128 bits, inside which they are shuffled.
constexpr int kLanesOfABlock = 4;
/// The most loads of a bunch: more would wait in memory for those who take them.
constexpr size_t kMostLoads = 16;

/// A part of an index: a value times a factor. Without bounds the value stands as it is.
struct Term {
    NodeId value, low, high;
    int64_t factor = 1;
    auto key() const { return std::tuple(value, low, high, factor); }
};

/// An index as the sum of terms, a constant for each of those that are clamped, which is added
/// before it is, and one for all others.
struct Sum {
    std::vector<std::pair<Term, int64_t>> terms;
    int64_t constant = 0;
    std::vector<NodeId> made_of;  // the nodes that were taken apart, operands last
    bool fits = true;             // no number is too large
};

const Scalar* constant_of(const KernelCode& code, NodeId id) { return code[id].get_if<Scalar>(); }

/// The operand of a sum or product beside a constant one, which is given back.
std::optional<std::pair<NodeId, int64_t>> beside_constant(const KernelCode& code,
                                                          const KernelNode& n) {
    for (size_t k = 0; k < 2; ++k)
        if (const Scalar* constant = constant_of(code, n.args[k]))
            return std::pair{n.args[1 - k], constant->i};
    return {};
}

/// The operand of a Min or Max that differs from lane to lane, and the one that does not.
std::optional<std::pair<NodeId, NodeId>> bounded_by(const IrRun& run, NodeId id, KernelOp op) {
    const KernelNode& n = run.code[id];
    if (n.op != op || n.dtype != i32) return {};
    for (size_t k = 0; k < 2; ++k)
        if (!run.varying[n.args[k]] && run.varying[n.args[1 - k]])
            return std::pair{n.args[1 - k], n.args[k]};
    return {};
}

/// Takes a clamp of a value and a constant apart.
bool add_clamped(const IrRun& run, NodeId id, int64_t factor, Sum& sum) {
    for (const auto& [outer, inner] :
         {std::pair{KernelOp::Max, KernelOp::Min}, std::pair{KernelOp::Min, KernelOp::Max}}) {
        const auto outside = bounded_by(run, id, outer);
        if (!outside) continue;
        const auto inside = bounded_by(run, outside->first, inner);
        if (!inside) continue;
        sum.made_of.insert(sum.made_of.end(), {id, outside->first});
        Term term{inside->first, outside->second, inside->second, factor};
        if (outer == KernelOp::Min) std::swap(term.low, term.high);
        int64_t constant = 0;
        const KernelNode& n = run.code[term.value];
        if (n.op == KernelOp::Add && n.dtype == i32)
            if (const auto parts = beside_constant(run.code, n)) {
                sum.made_of.push_back(term.value);
                std::tie(term.value, constant) = *parts;
            }
        sum.terms.emplace_back(term, constant);
        return true;
    }
    return false;
}

/// Adds a value times a factor to a sum.
void add_term(const IrRun& run, NodeId id, int64_t factor, Sum& sum) {
    const KernelNode& n = run.code[id];
    const auto limit = [&](int64_t number) {
        sum.fits = sum.fits && std::abs(number) <= kLargestOffset;
        return sum.fits ? number : 0;
    };
    if (const Scalar* constant = constant_of(run.code, id)) {
        sum.constant = limit(sum.constant + limit(limit(constant->i) * factor));
        return;
    }
    if (n.dtype == i32 && run.varying[id]) {
        const auto product = n.op == KernelOp::Mul ? beside_constant(run.code, n) : std::nullopt;
        if (n.op == KernelOp::Add || product) sum.made_of.push_back(id);
        if (product)
            return add_term(run, product->first, limit(limit(product->second) * factor), sum);
        if (n.op == KernelOp::Add) {
            for (NodeId arg : n.args) add_term(run, arg, factor, sum);
            return;
        }
        if (add_clamped(run, id, factor, sum)) return;
    }
    sum.terms.emplace_back(Term{id, {}, {}, factor}, 0);
}

Sum sum_of(const IrRun& run, NodeId index) {
    Sum sum;
    add_term(run, index, 1, sum);
    std::sort(sum.terms.begin(), sum.terms.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.key(), a.second) < std::pair(b.first.key(), b.second);
    });
    return sum;
}

/// The common part of loads whose indices differ by constants.
using Family = std::pair<std::tuple<int, Type>, std::vector<decltype(Term().key())>>;

/// A load of a family, by its offset.
struct Member {
    NodeId load;
    Sum sum;
};
using Members = std::map<int64_t, Member>;

/// Returns whether a load may be one of a bunch.
bool may_join(const IrRun& run, const KernelNode& n) {
    return n.op == KernelOp::Load && !n.pinned && n.as<AccessAttr>().width == 1 &&
           has_words_in_common(run, n) && run.varying[n.args[0]] && !run.positions[n.args[0]];
}

/// Cuts the offsets of a family into neighbours; loads that have none are left out.
std::vector<Neighbours> neighbours_of(const Members& members, bool may_have_gaps) {
    std::vector<Neighbours> out;
    for (auto at = members.begin(); at != members.end();) {
        const auto has = [&](int k) { return members.contains(at->first + k); };
        const int of_four = 1 + has(1) + has(2) + has(3);
        const int count = of_four == 4 || (of_four == 3 && may_have_gaps) ? 4 : has(1) ? 2 : 1;
        Neighbours next{at->first, {}};
        for (int k = 0; k < count; ++k) {
            const auto found = members.find(next.offset + k);
            next.loads.push_back(found == members.end() ? NodeId() : found->second.load);
        }
        at = members.lower_bound(next.offset + count);
        if (count > 1) out.push_back(next);
    }
    return out;
}

using Order = std::map<NodeId, size_t>;

/// A bunch of neighbours, whose offsets are counted from the first one on. None if a clamp has too
/// few numbers inside.
std::optional<Bunch> bunch_of(const IrRun& run, const Members& members,
                              std::vector<Neighbours> neighbours) {
    const int64_t least = neighbours[0].offset;
    Bunch out{members.at(least).load, {}, {}, {}, {}, {}};
    std::vector<const Member*> loads;
    for (Neighbours& some : neighbours) {
        for (size_t k = 0; k < some.loads.size(); ++k)
            if (some.loads[k]) loads.push_back(&members.at(some.offset + static_cast<int64_t>(k)));
        some.offset -= least;
    }
    const auto& terms = loads[0]->sum.terms;
    for (size_t k = 0; k < terms.size(); ++k) {
        const Term& term = terms[k].first;
        Clamped each{term.value, term.low, term.high, terms[k].second, terms[k].second};
        for (const Member* load : loads) {
            each.least = std::min(each.least, load->sum.terms[k].second);
            each.most = std::max(each.most, load->sum.terms[k].second);
        }
        if (each.least == each.most) continue;
        const Scalar *low = constant_of(run.code, each.low),
                     *high = constant_of(run.code, each.high);
        if (low && high && high->i - low->i < each.most - each.least) return {};
        out.clamped.push_back(each);
    }
    out.neighbours = std::move(neighbours);
    return out;
}

/// Adds the bunches of a family by the first of their loads in the order of writing.
void add_bunches(const IrRun& run, const Members& members, bool may_have_gaps, const Order& order,
                 std::map<NodeId, Bunch>& out) {
    std::vector<Neighbours> open;
    size_t count = 0;
    const auto close = [&] {
        if (open.empty()) return;
        if (auto bunch = bunch_of(run, members, std::exchange(open, {}))) {
            const std::vector<NodeId> loads = bunch->loads();
            const NodeId first =
                *std::min_element(loads.begin(), loads.end(),
                                  [&](NodeId a, NodeId b) { return order.at(a) < order.at(b); });
            out.emplace(first, std::move(*bunch));
        }
        count = 0;
    };
    for (const Neighbours& next : neighbours_of(members, may_have_gaps)) {
        if (count + next.loads.size() > kMostLoads) close();
        open.push_back(next);
        count += next.loads.size();
    }
    close();
}

/// The users of the nodes of a kernel: how many there are, and one of them.
struct Users {
    ByNode<int> count;
    ByNode<NodeId> one;
};
Users users_of(const KernelCode& code) {
    Users out{ByNode<int>(code.nodes.size(), 0), ByNode<NodeId>(code.nodes.size())};
    const auto add = [&](NodeId used, NodeId user) {
        if (used) ++out.count[used], out.one[used] = user;
    };
    for (const KernelRegion& region : code.regions) {
        for (const auto* ids : {&region.order, &region.effects})
            for (NodeId id : *ids)
                for (NodeId arg : code[id].args) add(arg, id);
        for (NodeId id : region.yields) add(id, {});
        add(region.alive, {});
        if (region.range) add(code[region.range].extent_node, {});
    }
    return out;
}

/// Returns whether a condition holds if no clamp of a bunch changes an index, and adds the nodes
/// that it is made of.
bool holds_inside(const KernelCode& code, const Bunch& bunch, NodeId condition,
                  std::vector<NodeId>& made_of) {
    const KernelNode& n = code[condition];
    made_of.push_back(condition);
    if (n.op == KernelOp::And && n.dtype.is_bool())
        return holds_inside(code, bunch, n.args[0], made_of) &&
               holds_inside(code, bunch, n.args[1], made_of);
    if (n.op != KernelOp::InRange) return false;
    NodeId value = n.args[0];
    int64_t constant = 0;
    const KernelNode& sum = code[value];
    if (sum.op == KernelOp::Add && sum.dtype == i32)
        if (const auto parts = beside_constant(code, sum)) {
            made_of.push_back(value);
            std::tie(value, constant) = *parts;
        }
    const Scalar* size = constant_of(code, n.args[1]);
    return size && std::any_of(bunch.clamped.begin(), bunch.clamped.end(), [&](const Clamped& c) {
               const Scalar *low = constant_of(code, c.low), *high = constant_of(code, c.high);
               return c.value == value && c.least <= constant && constant <= c.most && low &&
                      low->i == 0 && high && high->i == size->i - 1;
           });
}

/// The parts of the loads of a bunch: those of the least index first.
struct Parts {
    std::set<NodeId> of_first, of_others;
};

/// Finds the selections of a bunch, and what it is made of.
Parts complete(const IrRun& run, const Users& users, const Order& order, Bunch& bunch) {
    Parts out;
    for (NodeId load : bunch.loads()) {
        const Sum sum = sum_of(run, run.code[load].args[0]);
        (load == bunch.first ? out.of_first : out.of_others)
            .insert(sum.made_of.begin(), sum.made_of.end());
        const NodeId user = users.count[load] == 1 ? users.one[load] : NodeId();
        if (!user || !order.contains(user) || bunch.clamped.empty()) continue;
        const KernelNode& n = run.code[user];
        if (n.op != KernelOp::Select || n.args[1] != load ||
            run.code[n.args[2]].op != KernelOp::Constant)
            continue;
        std::vector<NodeId> made_of;
        if (!holds_inside(run.code, bunch, n.args[0], made_of)) continue;
        bunch.chosen[load] = user;
        out.of_others.insert(made_of.begin(), made_of.end());
    }
    return out;
}

/// Says which nodes that bunches are made of stand apart: nothing else takes them.
void part(const IrRun& run, const Users& users, const Order& order, const std::vector<Parts>& parts,
          Bunches& out) {
    std::map<size_t, NodeId> candidates;
    for (const Parts& each : parts)
        for (NodeId id : each.of_others)
            if (const auto at = order.find(id); at != order.end()) candidates[at->second] = id;
    for (const Parts& each : parts)
        for (NodeId id : each.of_first)
            if (const auto at = order.find(id); at != order.end()) candidates.erase(at->second);
    std::map<NodeId, int> inside;  // users that are bunches, or stand apart
    for (const auto& [first, bunch] : out.by_load) {
        if (bunch.clamped.empty()) continue;
        for (NodeId load : bunch.loads()) ++inside[run.code[load].args[0]];
        for (const auto& [load, user] : bunch.chosen) ++inside[run.code[user].args[0]];
    }
    for (auto at = candidates.rbegin(); at != candidates.rend(); ++at) {
        if (inside[at->second] != users.count[at->second]) continue;
        out.apart.insert(at->second);
        for (NodeId arg : run.code[at->second].args) ++inside[arg];
    }
    size_t next = 0;
    for (auto& [first, bunch] : out.by_load) {
        std::map<size_t, NodeId> all;
        for (const auto* ids : {&parts[next].of_first, &parts[next].of_others})
            for (NodeId id : *ids)
                if (const auto at = order.find(id); at != order.end()) all[at->second] = id;
        for (const auto& [at, id] : all)
            if (out.apart.contains(id))
                bunch.apart.push_back(id);
            else if (at > order.at(first))
                bunch.ahead.push_back(id);
        ++next;
    }
}

/// The vector that vectors side by side make.
std::string joined_vector(IrRun& run, std::vector<std::string> parts, const std::string& type,
                          int each) {
    for (; parts.size() > 1; each *= 2) {
        std::vector<std::string> pairs;
        const std::string half = "<" + std::to_string(each) + " x " + type + ">";
        std::string places;
        for (int k = 0; k < 2 * each; ++k) places += (k ? ", i32 " : "i32 ") + std::to_string(k);
        for (size_t k = 0; k < parts.size(); k += 2)
            pairs.push_back(emit(run, "shufflevector " + half + " " + parts[k] + ", " + half + " " +
                                          parts[k + 1] + ", <" + std::to_string(2 * each) +
                                          " x i32> <" + places + ">"));
        parts = std::move(pairs);
    }
    return parts[0];
}

/// Elements of two vectors, chosen in each block alike: `places` counts from the block's first
/// element of the one on, and from 4 on in that of the other.
std::string by_blocks(IrRun& run, const std::string& type, const std::string& a,
                      const std::string& b, const std::array<int, kLanesOfABlock>& places) {
    const std::string vector = vector_of(run, type);
    std::string all;
    for (int lane = 0; lane < run.lanes; ++lane) {
        const int block = lane / kLanesOfABlock * kLanesOfABlock,
                  place = places[static_cast<size_t>(lane % kLanesOfABlock)];
        const int from =
            place < kLanesOfABlock ? block + place : run.lanes + block + place - kLanesOfABlock;
        all += (lane ? ", i32 " : "i32 ") + std::to_string(from);
    }
    return emit(run, "shufflevector " + vector + " " + a + ", " + vector + " " + b + ", <" +
                         std::to_string(run.lanes) + " x i32> <" + all + ">");
}

/// Loads `count` neighbours of each lane, and returns a vector for each of them.
std::vector<std::string> load_neighbours(IrRun& run, const std::vector<std::string>& places,
                                         const std::string& type, int64_t offset, int count) {
    const std::string some = "<" + std::to_string(count) + " x " + type + ">";
    // Vector k has in each block what the lanes k (and k + 1) of the block load.
    std::vector<std::string> rows;
    const int step = kLanesOfABlock / count;
    for (int k = 0; k < kLanesOfABlock; k += step) {
        std::vector<std::string> parts;
        for (int block = 0; block < run.lanes; block += kLanesOfABlock)
            for (int lane = block + k; lane < block + k + step; ++lane) {
                const std::string place = emit(run, "getelementptr " + type + ", ptr " +
                                                        places[static_cast<size_t>(lane)] +
                                                        ", i64 " + std::to_string(offset));
                parts.push_back(emit(run, "load " + some + ", ptr " + place + ", align 4"));
            }
        rows.push_back(joined_vector(run, std::move(parts), type, count));
    }
    const auto chosen = [&](const std::string& a, const std::string& b,
                            const std::array<int, kLanesOfABlock>& of) {
        return by_blocks(run, type, a, b, of);
    };
    if (count == 2)
        return {chosen(rows[0], rows[1], {0, 2, 4, 6}), chosen(rows[0], rows[1], {1, 3, 5, 7})};
    const std::string low01 = chosen(rows[0], rows[1], {0, 4, 1, 5}),
                      low23 = chosen(rows[2], rows[3], {0, 4, 1, 5}),
                      high01 = chosen(rows[0], rows[1], {2, 6, 3, 7}),
                      high23 = chosen(rows[2], rows[3], {2, 6, 3, 7});
    return {chosen(low01, low23, {0, 1, 4, 5}), chosen(low01, low23, {2, 3, 6, 7}),
            chosen(high01, high23, {0, 1, 4, 5}), chosen(high01, high23, {2, 3, 6, 7})};
}

/// Writes whether no clamp changes an index of a lane that runs, an i1; empty: none is clamped.
std::string unchanged(IrRun& run, const std::vector<Clamped>& clamped) {
    if (clamped.empty()) return {};
    const std::string words = vector_of(run, "i32");
    std::string inside, roomy;
    for (const Clamped& each : clamped) {
        // Value and constants lie inside if the least one is so far above the lower bound, without
        // a sign, that the largest one is not above the upper one.
        const std::string low = value_of(run, each.low).text,
                          size = emit(run, "sub i32 " + value_of(run, each.high).text + ", " + low),
                          room = emit(run, "sub i32 " + size + ", " +
                                               std::to_string(each.most - each.least)),
                          from = emit(run, "sub i32 " + std::to_string(each.least) + ", " + low),
                          above = emit(run, "add " + words + " " +
                                                as_vector(run, value_of(run, each.value), i32) +
                                                ", " + splat(run, from, "i32")),
                          fits = emit(run, "icmp ule " + words + " " + above + ", " +
                                               splat(run, room, "i32")),
                          some = emit(run, "icmp sge i32 " + room + ", 0");
        inside = lanes_of_both(run, inside, fits);
        roomy = roomy.empty() ? some : emit(run, "and i1 " + roomy + ", " + some);
    }
    const std::string outside = lanes_of_both(run, run.mask, other_lanes(run, inside)),
                      none = emit(run, "xor i1 " + any_of(run, outside) + ", true");
    return emit(run, "and i1 " + none + ", " + roomy);
}

/// The address of each lane's element of the least index; of the buffer's first one where a lane
/// does not run. Some lane does, so that the buffer has all elements that lie as far behind.
std::vector<std::string> places_of_lanes(IrRun& run, const Bunch& bunch, const IrValue& index,
                                         const std::string& type) {
    std::string all = as_vector(run, index, i32);
    const std::string words = vector_of(run, "i32"), wide = vector_of(run, "i64");
    if (!run.mask.empty())
        all = emit(run, "select " + vector_of(run, "i1") + " " + run.mask + ", " + words + " " +
                            all + ", " + words + " zeroinitializer");
    all = emit(run, "zext " + words + " " + all + " to " + wide);
    const std::string& memory = run.memory[run.code[bunch.first].as<AccessAttr>().buffer];
    std::vector<std::string> out;
    for (int lane = 0; lane < run.lanes; ++lane) {
        const std::string at =
            emit(run, "extractelement " + wide + " " + all + ", i64 " + std::to_string(lane));
        out.push_back(emit(run, "getelementptr " + type + ", ptr " + memory + ", i64 " + at));
    }
    return out;
}

using Loaded = std::map<NodeId, std::string>;

/// All loads of a bunch, none of whose indices is changed by a clamp.
Loaded load_at_once(IrRun& run, const Bunch& bunch, const std::string& type) {
    const KernelNode& first = run.code[bunch.first];
    const IrValue index{as_vector(run, value_of(run, first.args[0]), i32), true};
    for (const Neighbours& some : bunch.neighbours)
        for (size_t k = 0; k < some.loads.size(); ++k)
            if (some.loads[k])
                check_lanes(run,
                            {some.loads[k], first.as<AccessAttr>().buffer, index,
                             some.offset + static_cast<int64_t>(k)},
                            run.mask, false);
    const std::vector<std::string> places = places_of_lanes(run, bunch, index, type);
    Loaded out;
    for (const Neighbours& some : bunch.neighbours) {
        const std::vector<std::string> vectors =
            load_neighbours(run, places, type, some.offset, static_cast<int>(some.loads.size()));
        for (size_t k = 0; k < vectors.size(); ++k)
            if (some.loads[k]) out[some.loads[k]] = vectors[k];
    }
    return out;
}

}  // namespace

std::vector<NodeId> Bunch::loads() const {
    std::vector<NodeId> out;
    for (const Neighbours& some : neighbours)
        std::copy_if(some.loads.begin(), some.loads.end(), std::back_inserter(out),
                     [](NodeId load) { return static_cast<bool>(load); });
    return out;
}

Bunches find_bunches(const IrRun& run, const std::vector<NodeId>& nodes) {
    Bunches out;
    // Effects stand between loads of a kernel in order. One register has the elements of all lanes.
    if (run.code.in_order || run.lanes < kLanesOfABlock ||
        32 * run.lanes > vector_facts(run.profile).bits)
        return out;
    std::map<Family, Members> families;
    Order order;
    for (NodeId id : nodes) {
        order[id] = order.size();
        const KernelNode& n = run.code[id];
        if (!may_join(run, n)) continue;
        Sum sum = sum_of(run, n.args[0]);
        if (!sum.fits) continue;
        Family family{{n.as<AccessAttr>().buffer, n.dtype.type}, {}};
        int64_t offset = sum.constant;
        for (const auto& [term, constant] : sum.terms) {
            family.second.push_back(term.key());
            offset += term.factor * constant;
        }
        families[family].emplace(offset, Member{id, std::move(sum)});
    }
    for (const auto& [family, members] : families) {
        // Another thread may store beside what is asked for.
        const bool may_have_gaps =
            !run.code.buffers[static_cast<size_t>(std::get<0>(family.first))].written;
        add_bunches(run, members, may_have_gaps, order, out.by_load);
    }
    if (out.by_load.empty()) return out;
    const Users users = users_of(run.code);
    std::vector<Parts> parts;
    for (auto& [first, bunch] : out.by_load) parts.push_back(complete(run, users, order, bunch));
    part(run, users, order, parts, out);
    return out;
}

bool is_bunch(const IrRun& run, const Bunch& bunch) {
    const std::vector<NodeId> loads = bunch.loads();
    const IrValue index = value_of(run, run.code[bunch.first].args[0]);
    return index.is_vector() && index.first.empty() && index.text != "poison" &&
           std::all_of(loads.begin(), loads.end(),
                       [&](NodeId id) { return run.values[id].empty(); });
}

void write_bunch(IrRun& run, const Bunch& bunch) {
    const KernelNode& first = run.code[bunch.first];
    const std::string type = scalar_type(first.dtype);
    const std::string likely = unchanged(run, bunch.clamped);
    if (likely.empty()) {
        for (const auto& [load, text] : load_at_once(run, bunch, type))
            run.values[load] = {{text, true}};
        return;
    }
    const std::string at_once = new_label(run, "neighbours"), apart = new_label(run, "apart"),
                      end = new_label(run, "loaded");
    jump_likely(run, likely, at_once, apart);
    begin_block(run, at_once);
    const Loaded together = load_at_once(run, bunch, type);
    const std::string from_together = run.block;
    emit_effect(run, "br label %" + end);
    begin_block(run, apart);
    const auto result_of = [&](NodeId load) {
        const auto found = bunch.chosen.find(load);
        return found == bunch.chosen.end() ? load : found->second;
    };
    // Nodes of this side that have a value already were written for another use.
    std::vector<NodeId> written;
    for (NodeId id : bunch.apart)
        if (run.values[id].empty()) {
            write_node(run, id);
            written.push_back(id);
        }
    Loaded each;
    for (const auto& [load, text] : together) {
        run.values[load] = {{load_of_each_lane(run, load), true}};
        const NodeId result = result_of(load);
        if (result != load) write_node(run, result);
        each[load] = as_vector(run, value_of(run, result), first.dtype);
    }
    for (NodeId id : written) run.values[id].clear();
    const std::string from_apart = run.block;
    emit_effect(run, "br label %" + end);
    begin_block(run, end);
    for (const auto& [load, text] : together)
        run.values[result_of(load)] = {
            {emit(run, "phi " + vector_of(run, type) + " [" + text + ", %" + from_together +
                           "], [" + each[load] + ", %" + from_apart + "]"),
             true}};
}

}  // namespace firn::native
