// Groups whose invocations wait for one another: their subgroups take turns between two barriers.
#include "compiler/target/native/turns.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/target/native/elements.h"
#include "compiler/target/native/forms.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

/// Marks the regions in which a group waits at a barrier; returns whether `region` is one.
bool find_waits(const KernelCode& code, RegionId region, ByRegion<bool>& waits) {
    bool found = false;
    const auto look = [&](NodeId id) {
        found |= code[id].op == KernelOp::Barrier;
        for (RegionId body : bodies(code[id])) found |= find_waits(code, body, waits);
    };
    for (NodeId id : code[region].order) look(id);
    for (NodeId id : code[region].effects) look(id);
    waits[region] = found;
    return found;
}

/// A loop or branch in which the group waits.
bool holds_barrier(const KernelCode& code, NodeId id, const ByRegion<bool>& waits) {
    const Bodies own = bodies(code[id]);
    return std::any_of(own.begin(), own.end(), [&](RegionId body) { return waits[body]; });
}

/// The node whose evaluation gives a value: a Result is one of a loop or branch, a Lane one of a
/// vector load.
NodeId owner_of(const KernelCode& code, NodeId id) {
    while (code[id].op == KernelOp::Result || code[id].op == KernelOp::Lane) id = code[id].args[0];
    return id;
}

/// The type of one of the values that a node has.
DType type_of_value(const KernelCode& code, NodeId id, size_t k) {
    const KernelNode& n = code[id];
    if (n.op == KernelOp::For) return code[code[n.as<BodyAttr>().region].args[k]].dtype;
    if (n.op == KernelOp::Branch) return code[code[n.as<BodyAttr>().region].yields[k]].dtype;
    return n.dtype;
}

/// Memory for one value of each subgroup, and the form of the value.
struct Slot {
    std::string memory, type;
    IrValue form;
};

class Turns {
  public:
    Turns(IrRun& run, const std::function<void(const std::string&)>& begin_turn)
        : run_(run),
          begin_turn_(begin_turn),
          waits_(run.code.regions.size(), false),
          part_(run.code.nodes.size(), kNone),
          kept_(run.code.nodes.size(), false),
          remade_(run.code.nodes.size(), false),
          slots_(run.code.nodes.size()) {
        find_waits(code(), kRoot, waits_);
        find_remade();
        find_parts(kRoot);
        find_kept_values(kRoot, true);
    }

    void write() { write_waiting(kRoot); }

  private:
    static constexpr int kNone = -1;

    const KernelCode& code() const { return run_.code; }

    // --- Which part writes a node, and which values live longer than their part.

    /// Integers of ranges and sizes cost less than their memory.
    void find_remade() {
        for (NodeId id : code().nodes.ids()) {
            const KernelNode& n = code()[id];
            switch (n.op) {
                case KernelOp::Constant:
                case KernelOp::Param: remade_[id] = true; break;
                case KernelOp::Range:
                    remade_[id] = code()[n.as<RangeId>()].kind != RangeKind::Serial;
                    break;
                default:
                    remade_[id] = makes_positions(n) && !n.pinned &&
                                  std::all_of(n.args.begin(), n.args.end(),
                                              [&](NodeId arg) { return bool(remade_[arg]); });
            }
        }
    }

    void put_in_part(NodeId id) {
        part_[id] = parts_;
        for (RegionId body : bodies(code()[id])) {
            for (NodeId inside : code()[body].order) put_in_part(inside);
            for (NodeId inside : code()[body].effects) put_in_part(inside);
        }
    }
    void find_parts(RegionId region) {
        ++parts_;
        for (NodeId id : nodes_of(code(), region)) {
            if (code()[id].op == KernelOp::Barrier) {
                ++parts_;
            } else if (holds_barrier(code(), id, waits_)) {
                for (RegionId body : bodies(code()[id])) find_parts(body);
                ++parts_;
            } else {
                put_in_part(id);
            }
        }
    }

    /// A part, or a step between two (kNone), takes a value.
    void use(NodeId value, int part) {
        if (!value) return;
        const NodeId owner = owner_of(code(), value);
        if (part_[owner] != part || part == kNone) kept_[owner] = true;
    }
    void find_kept_values(RegionId id, bool waiting) {
        const KernelRegion& region = code()[id];
        const auto look = [&](NodeId node) {
            const KernelNode& n = code()[node];
            const bool waits = waiting && holds_barrier(code(), node, waits_);
            for (NodeId arg : n.args) use(arg, part_[node]);
            for (RegionId body : bodies(n)) {
                if (code()[body].range) use(code()[code()[body].range].extent_node, part_[node]);
                find_kept_values(body, waits);
                for (NodeId yield : code()[body].yields) use(yield, part_[node]);
                use(code()[body].alive, part_[node]);
            }
        };
        for (NodeId node : region.order) look(node);
        for (NodeId node : region.effects) look(node);
    }

    // --- Parts.

    std::string place(const Slot& slot) {
        return emit(run_,
                    "getelementptr " + slot.type + ", ptr " + slot.memory + ", i32 " + run_.turn);
    }
    Slot new_slot(std::string type, IrValue form) {
        const std::string name = "%kept" + std::to_string(run_.next++);
        run_.allocas += "  " + name + " = alloca [" + std::to_string(run_.turns) + " x " + type +
                        "], align 64\n";
        return {name, std::move(type), std::move(form)};
    }
    void store(const Slot& slot, const std::string& text) {
        emit_effect(run_, "store " + slot.type + " " + text + ", ptr " + place(slot));
    }
    IrValue load(const Slot& slot) {
        IrValue value = slot.form;
        value.text = emit(run_, "load " + slot.type + ", ptr " + place(slot));
        return value;
    }

    /// Begins the turn of a subgroup: its ranges, and its copies of private arrays.
    void begin(const std::string& turn) {
        run_.turn = turn;
        begin_turn_(emit(run_, "mul i32 " + turn + ", " + std::to_string(run_.lanes)));
        for (size_t k = 0; k < code().buffers.size(); ++k) {
            const KernelBuffer& b = code().buffers[k];
            if (b.space != MemorySpace::Private) continue;
            const int64_t bytes = b.elements.constant() * element_bytes(b) * run_.lanes;
            const std::string at = emit(run_, "mul i32 " + turn + ", " + std::to_string(bytes));
            run_.memory[k] =
                emit(run_, "getelementptr i8, ptr " + private_memory_[k] + ", i32 " + at);
        }
    }

    /// Adds the value, or what it is made of, to those that a turn needs from other parts.
    void need(NodeId value, int part, std::set<NodeId>& needed) {
        if (!value) return;
        const NodeId owner = owner_of(code(), value);
        if (part != kNone && part_[owner] == part) return;
        if (!needed.insert(owner).second || !remade_[owner]) return;
        for (NodeId arg : code()[owner].args) need(arg, part, needed);
    }
    void need_of_node(NodeId id, int part, std::set<NodeId>& needed) {
        const KernelNode& n = code()[id];
        for (NodeId arg : n.args) need(arg, part, needed);
        for (RegionId body : bodies(n)) {
            const KernelRegion& region = code()[body];
            if (region.range) need(code()[region.range].extent_node, part, needed);
            for (NodeId inside : region.order) need_of_node(inside, part, needed);
            for (NodeId inside : region.effects) need_of_node(inside, part, needed);
            for (NodeId yield : region.yields) need(yield, part, needed);
            need(region.alive, part, needed);
        }
    }
    void bring(const std::set<NodeId>& needed) {
        for (NodeId id : needed) {
            if (remade_[id]) {
                write_node(run_, id);
                continue;
            }
            if (slots_[id].empty()) continue;  // a loop's index, or a value that nothing evaluates
            run_.values[id].clear();
            for (const Slot& slot : slots_[id]) run_.values[id].push_back(load(slot));
        }
    }
    void bring(const std::vector<NodeId>& values) {
        std::set<NodeId> needed;
        for (NodeId value : values) need(value, kNone, needed);
        bring(needed);
    }

    void keep(NodeId id) {
        slots_[id].clear();
        for (size_t k = 0; k < run_.values[id].size(); ++k) {
            const IrValue& value = run_.values[id][k];
            const DType dtype = type_of_value(code(), id, k);
            IrValue form{"", value.varying, value.linear, value.stride};
            const std::string type =
                value.linear ? scalar_type(dtype) : type_of(run_, dtype, value.varying);
            slots_[id].push_back(new_slot(type, form));
            store(slots_[id].back(), value.text);
        }
    }

    template <class Body>
    void each_turn(const Body& body) {
        counted_loop(run_, "i32", "%turn" + std::to_string(run_.next++), "0",
                     std::to_string(run_.turns), [&](const std::string& turn) {
                         begin(turn);
                         body();
                     });
    }

    void write_part(const std::vector<NodeId>& nodes) {
        if (nodes.empty()) return;
        std::set<NodeId> needed;
        for (NodeId id : nodes) need_of_node(id, part_[id], needed);
        each_turn([&] {
            bring(needed);
            for (NodeId id : nodes) write_node(run_, id);
            for (NodeId id : nodes)
                if (kept_[id] && !remade_[id] && !run_.values[id].empty()) keep(id);
        });
    }

    /// A value that is the same in all subgroups, for the steps between parts.
    IrValue common(NodeId value) {
        begin("0");
        bring(std::vector<NodeId>{value});
        const IrValue found = value_of(run_, value);
        ensure(!found.varying, "invocations of a group part at a barrier");
        return found;
    }

    /// Gives each subgroup's copies of `to` the values: all are read before the first is written.
    void hand_on(const std::vector<NodeId>& values, const std::vector<Slot>& to) {
        if (values.empty()) return;
        each_turn([&] {
            bring(values);
            std::vector<std::string> texts;
            for (size_t k = 0; k < values.size(); ++k) {
                const IrValue& value = value_of(run_, values[k]);
                texts.push_back(to[k].form.varying ? as_vector(run_, value, code()[values[k]].dtype)
                                                   : value.text);
            }
            for (size_t k = 0; k < to.size(); ++k)
                if (texts[k] != "poison") store(to[k], texts[k]);
        });
    }

    void write_waiting(RegionId region) {
        std::vector<NodeId> part;
        const auto end_part = [&] { write_part(std::exchange(part, {})); };
        for (NodeId id : nodes_of(code(), region)) {
            if (code()[id].op == KernelOp::Barrier) {
                end_part();
            } else if (holds_barrier(code(), id, waits_)) {
                end_part();
                if (code()[id].op == KernelOp::For)
                    write_loop(id);
                else
                    write_branch(id);
            } else {
                part.push_back(id);
            }
        }
        end_part();
    }

    void write_loop(NodeId id) {
        const KernelNode& n = code()[id];
        const RegionId region = n.as<BodyAttr>().region;
        const KernelRegion& body = code()[region];
        std::vector<Slot> carried;
        for (NodeId arg : body.args) {
            const bool varying = run_.varying[arg];
            carried.push_back(
                new_slot(type_of(run_, code()[arg].dtype, varying), IrValue{"", varying}));
            slots_[arg] = {carried.back()};
        }
        hand_on(n.args, carried);
        const std::string trips = common(code()[body.range].extent_node).text,
                          head = new_label(run_, "loop"), inside = new_label(run_, "body"),
                          end = new_label(run_, "end"), from = run_.block,
                          index = "%p" + std::to_string(run_.next++);
        emit_effect(run_, "br label %" + head);
        begin_block(run_, head);
        const size_t phi_at = run_.text.size();
        const std::string more = emit(run_, "icmp slt i32 " + index + ", " + trips);
        emit_effect(run_, "br i1 " + more + ", label %" + inside + ", label %" + end);
        begin_block(run_, inside);
        for (NodeId other : code().nodes.ids())
            if (const auto* range = code()[other].get_if<RangeId>(); range && *range == body.range)
                run_.values[other] = {{index, false}};
        write_waiting(region);
        std::string alive;
        if (body.alive) alive = common(body.alive).text;
        hand_on(body.yields, carried);
        const std::string next = emit(run_, "add i32 " + index + ", 1"), last = run_.block;
        emit_effect(run_, alive.empty()
                              ? "br label %" + head
                              : "br i1 " + alive + ", label %" + head + ", label %" + end);
        run_.text.insert(phi_at, "  " + index + " = phi i32 [0, %" + from + "], [" + next + ", %" +
                                     last + "]\n");
        begin_block(run_, end);
        slots_[id] = std::move(carried);
    }

    void write_branch(NodeId id) {
        const KernelNode& n = code()[id];
        const auto [region, other] = n.as<BodyAttr>();
        std::vector<Slot> results;
        for (size_t k = 0; other && k < code()[region].yields.size(); ++k) {
            const NodeId first = code()[region].yields[k], second = code()[other].yields[k];
            const bool varying = run_.varying[first] || run_.varying[second];
            results.push_back(
                new_slot(type_of(run_, code()[first].dtype, varying), IrValue{"", varying}));
        }
        const std::string then = new_label(run_, "then"), otherwise = new_label(run_, "else"),
                          end = new_label(run_, "join"), condition = common(n.args[0]).text;
        emit_effect(run_, "br i1 " + condition + ", label %" + then + ", label %" +
                              (other ? otherwise : end));
        for (const auto& [side, label] : {std::pair(region, then), std::pair(other, otherwise)}) {
            if (!side) continue;
            begin_block(run_, label);
            write_waiting(side);
            if (other) hand_on(code()[side].yields, results);
            emit_effect(run_, "br label %" + end);
        }
        begin_block(run_, end);
        slots_[id] = std::move(results);
    }

    IrRun& run_;
    const std::function<void(const std::string&)>& begin_turn_;
    ByRegion<bool> waits_;
    ByNode<int> part_;            // by node; kNone: no part writes it
    ByNode<bool> kept_, remade_;  // needed by other parts; computed anew by each
    ByNode<std::vector<Slot>> slots_;
    std::vector<std::string> private_memory_ = run_.memory;  // of the first subgroup
    int parts_ = kNone;
};

}  // namespace

bool can_take_turns(const KernelCode& code, const DeviceProfile& profile) {
    const int64_t all = int64_t{code.group_size[0]} * code.group_size[1] * code.group_size[2];
    if (all <= profile.subgroup_size || all % profile.subgroup_size != 0) return false;
    IrRun group{code, profile};
    group.subgroup = static_cast<int>(profile.subgroup_size);
    group.lanes = static_cast<int>(all);
    find_forms(group);
    ByRegion<bool> waits(code.regions.size(), false);
    find_waits(code, kRoot, waits);
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        if (holds_barrier(code, id, waits) &&
            (n.op == KernelOp::For ? group.diverges[n.as<BodyAttr>().region]
                                   : group.varying[n.args[0]]))
            return false;
    }
    return true;
}

void write_in_turns(IrRun& run, const std::function<void(const std::string& first)>& begin_turn) {
    Turns(run, begin_turn).write();
}

}  // namespace firn::native
