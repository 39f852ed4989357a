// Copies operands that a kernel reads again and again into the order in which it reads them.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/count.h"
#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/kernel/strides.h"
#include "compiler/mapping/choice/moved_nodes.h"
#include "compiler/mapping/list/list_passes.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/mapping/walk/row_groups.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// A load whose operand is packed: by iterations of the loop, one after the other. If the lanes of
/// a vector load neighbours, each iteration has a vector of them, and these are the panels.
struct PackedLoad {
    NodeId load;
    bool in_panels = true;
    RangeId along;                // the loop
    Size iterations;              // of the loop
    std::vector<RangeId> beside;  // the other ranges that the index depends on
    std::vector<Size> extents;    // theirs
    int buffer = -1;              // of the program: the packed elements
    Size elements;
};

/// A kernel, and the facts that its operands are chosen by.
class Operands {
  public:
    Operands(const KernelCode& code, const ListTarget& target)
        : code_(code),
          lanes_(target.profile.subgroup_size),
          largest_(target.facts.largest),
          forms_(code),
          x_(last_grid_range(code)) {}

    std::vector<PackedLoad> find() {
        if (!x_ || reduces_rows(code_) || code_[x_].extent.lower_bound() < lanes_ ||
            !stores_apart(code_))
            return {};
        std::vector<PackedLoad> out;
        for (const KernelRegion& region : code_.regions) {
            if (!region.range || region.alive || !is_innermost(code_, region)) continue;
            for (NodeId id : region.order)
                if (auto found = packed(id, region)) out.push_back(std::move(*found));
        }
        return out;
    }

  private:
    std::optional<PackedLoad> packed(NodeId id, const KernelRegion& body) {
        const KernelNode& n = code_[id];
        if (n.op != KernelOp::Load || n.as<AccessAttr>().width != 1) return std::nullopt;
        const KernelBuffer& buffer = code_.buffers[n.as<AccessAttr>().buffer];
        const IndexForm& form = forms_.of(n.args[0]);
        if (buffer.space != MemorySpace::Bound || form.carried || !form.is_sum())
            return std::nullopt;
        PackedLoad out;
        out.load = id;
        out.along = body.range;
        const Size step = coefficient_of(form.sum, x_), walk = coefficient_of(form.sum, out.along);
        if (walk.is(0)) return std::nullopt;
        out.in_panels = !step.is(0);
        Size read(1), again(1);
        for (RangeId r : code_.ranges.ids()) {
            const bool reads = !coefficient_of(form.sum, r).is(0);
            const std::optional<Size> extent = extent_of(r);
            if (reads && !extent) return std::nullopt;
            if (reads) read = read * *extent;
            if (!reads && code_[r].kind == RangeKind::Grid) again = again * *extent;
            if (r == out.along) out.iterations = *extent;
            if (!reads || r == out.along || r == x_) continue;
            out.beside.push_back(r);
            out.extents.push_back(*extent);
        }
        // The copy reads each element once: windows that overlap would be read, and kept, more
        // often. It also reads where a condition keeps the kernel from it.
        if ((buffer.elements - read).lower_bound(largest_) < 0 ||
            !stays_inside(form, buffer.elements))
            return std::nullopt;
        const bool apart = out.in_panels && !step.is(1);
        const Size walked = out.iterations * walk * Size(buffer.dtype.bytes());
        const int64_t least = apart           ? costs::kRepeatsOfGather
                              : out.in_panels ? costs::kRepeatsOfRow
                                              : costs::kRepeatsOfOne;
        const bool repeats = again.lower_bound() >= least;
        const bool far = apart || walked.lower_bound() > costs::kWalkedBytes;
        return repeats && far ? std::optional(std::move(out)) : std::nullopt;
    }

    /// Returns whether all indices of the ranges together lead to elements of a buffer.
    bool stays_inside(const IndexForm& form, const Size& elements) {
        Size last = form.sum.offset;
        for (const auto& [range, step] : form.sum.terms) {
            if (step.lower_bound() < 0) return false;
            last = last + step * (*extent_of(range) - Size(1));
        }
        return form.sum.offset.lower_bound() >= 0 && (elements - last).lower_bound(largest_) >= 1;
    }

    /// The extent of a range; none where it is no size.
    std::optional<Size> extent_of(RangeId r) {
        const Range& range = code_[r];
        if (range.kind == RangeKind::Grid) return range.extent;
        const IndexForm& trips = forms_.of(range.extent_node);
        if (!trips.is_size()) return std::nullopt;
        return trips.sum.offset;
    }

    const KernelCode& code_;
    const int64_t lanes_;
    const SizeEnv& largest_;
    IndexForms forms_;
    const RangeId x_;
};

Range grid_range(const std::string& name, const Size& extent) {
    Range out;
    out.name = name;
    out.extent = extent;
    return out;
}

/// The panels of a kernel: the vectors that its last range, of `extent`, is made of. A tile may
/// read panels behind the last one, which have memory and no values.
struct Panels {
    int64_t lanes;
    Size extent;

    Size count() const { return ceil_div(extent, Size(lanes)); }
    Size held() const { return count() + ceil_div(count(), Size(8)); }
    bool covers() const { return extent.divisor() % lanes == 0; }
};

/// The flat index of a packed element.
NodeId packed_index(KernelBuilder& b, const PackedLoad& load, const Panels& panels,
                    const std::vector<NodeId>& beside, NodeId panel, NodeId iteration,
                    NodeId lane) {
    NodeId at = b.integer(0);
    for (size_t k = 0; k < beside.size(); ++k)
        at = b.add(b.mul(at, b.size(load.extents[k])), beside[k]);
    if (load.in_panels) at = b.add(b.mul(at, b.size(panels.held())), panel);
    at = b.add(b.mul(at, b.size(load.iterations)), iteration);
    return load.in_panels ? b.add(b.mul(at, b.integer(panels.lanes)), lane) : at;
}

/// The index along the last range of a lane of a panel, which may lie behind the end.
NodeId index_of_lane(KernelBuilder& b, const Panels& panels, NodeId panel, NodeId lane) {
    return b.add(b.mul(panel, b.integer(panels.lanes)), lane);
}

/// The same; behind the end the last index inside.
NodeId index_in(KernelBuilder& b, const Panels& panels, NodeId panel, NodeId lane) {
    return b.make(
        KernelOp::Min, i32,
        {index_of_lane(b, panels, panel, lane), b.sub(b.size(panels.extent), b.integer(1))});
}

/// The kernel that packs the operand of a load.
KernelCode packing_kernel(const KernelCode& code, const PackedLoad& load, const Panels& panels,
                          const SymbolFacts& facts) {
    KernelCode out;
    out.name = code.name;
    KernelBuilder b(out, facts);
    const KernelNode& n = code[load.load];
    b.set_lines(n.lines);
    std::vector<NodeId> beside;
    for (const Size& extent : load.extents)
        beside.push_back(b.range(b.add_range(grid_range("b", extent))));
    const auto add = [&](const char* name, const Size& extent) {
        return b.range(b.add_range(grid_range(name, extent)));
    };
    const RangeId x = last_grid_range(code);
    IndexForms forms(code);
    const IndexForm& form = forms.of(n.args[0]);
    // Memory is read in order: the range of the longer steps is the outer one.
    const Size row = coefficient_of(form.sum, load.along);
    const bool by_rows = (row - coefficient_of(form.sum, x) * Size(panels.lanes)).lower_bound() > 0;
    NodeId panel, iteration, lane;
    if (by_rows) iteration = add("k", load.iterations);
    if (load.in_panels) panel = add("p", panels.count());
    if (!by_rows) iteration = add("k", load.iterations);
    if (load.in_panels) lane = add("x", Size(panels.lanes));
    NodeId index = b.size(form.sum.offset);
    for (const auto& [range, step] : form.sum.terms) {
        const auto at = std::find(load.beside.begin(), load.beside.end(), range);
        const NodeId along = range == x ? index_in(b, panels, panel, lane)
                             : range == load.along
                                 ? iteration
                                 : beside[static_cast<size_t>(at - load.beside.begin())];
        index = b.add(index, b.mul(along, b.size(step)));
    }
    const KernelBuffer& from = code.buffers[n.as<AccessAttr>().buffer];
    const int source = b.buffer(from.buffer, from.dtype, from.elements, from.form, 1, false),
              packed =
                  b.buffer(load.buffer, from.dtype, load.elements, BindingForm::Storage, 1, true);
    const NodeId value = b.load(source, index);
    out[kRoot].effects = {b.store(
        packed, packed_index(b, load, panels, beside, panel, iteration, lane), std::vector{value})};
    place(out);
    return out;
}

/// The kernel with panels in place of its last range. Groups that follow one another read the same
/// panels.
class ReadPacked : public Rebuild {
  public:
    ReadPacked(const KernelCode& from, KernelBuilder& b, const std::vector<PackedLoad>& loads,
               const Panels& panels)
        : Rebuild(from, b), from_(from), b_(b), loads_(loads), panels_(panels) {}

    void build() {
        if (std::none_of(loads_.begin(), loads_.end(), [](auto& l) { return l.in_panels; }))
            return copy_kernel();
        const RangeId x = last_grid_range(from_);
        std::vector<RangeId> ranges;
        for (RangeId r : from_.ranges.ids())
            if (from_[r].kind == RangeKind::Grid && r != x) ranges.push_back(r);
        panel_ = b_.range(b_.add_range(grid_range("p", panels_.count())));
        for (RangeId r : ranges) bind_grid(r, b_.range(b_.add_range(from_[r])));
        lane_ = b_.range(b_.add_range(grid_range("x", Size(panels_.lanes))));
        bind_grid(x, index_in(b_, panels_, panel_, lane_));
        std::vector<NodeId> made = effects(kRoot);
        if (!panels_.covers()) made = {guarded(std::move(made))};
        b_.code()[kRoot].effects = std::move(made);
    }

  protected:
    NodeId other_load(NodeId id) override {
        const auto load = std::find_if(loads_.begin(), loads_.end(),
                                       [&](const PackedLoad& l) { return l.load == id; });
        if (load == loads_.end()) return {};
        std::vector<NodeId> beside;
        for (RangeId r : load->beside) beside.push_back(value(index_of(r)));
        const NodeId index =
            packed_index(b_, *load, panels_, beside, panel_, value(index_of(load->along)), lane_);
        const KernelNode& n = from_[id];
        b_.set_lines(n.lines);
        return b_.load(
            b_.buffer(load->buffer, n.dtype, load->elements, BindingForm::Storage, 1, false),
            index);
    }

  private:
    /// Effects that lanes behind the end do not have.
    NodeId guarded(std::vector<NodeId> made) {
        const NodeId at = index_of_lane(b_, panels_, panel_, lane_);
        const RegionId inside = b_.add_region();
        b_.code()[inside].effects = std::move(made);
        return b_.branch(b_.make(KernelOp::Less, boolean, {at, b_.size(panels_.extent)}), inside,
                         {}, true);
    }

    const KernelCode& from_;
    KernelBuilder& b_;
    const std::vector<PackedLoad>& loads_;
    const Panels& panels_;
    NodeId panel_, lane_;
};

/// A temporary of the program for the packed elements of a buffer.
int add_buffer(Program& program, int source, const Size& elements) {
    BufferInfo info;
    info.name = "packed " + program.buffers[static_cast<size_t>(source)].name;
    info.dtype = program.buffers[static_cast<size_t>(source)].dtype;
    info.elements = elements;
    program.buffers.push_back(std::move(info));
    return static_cast<int>(program.buffers.size()) - 1;
}

struct PackRun {
    KernelList& list;
    const ListTarget& target;
    std::vector<std::string> inductions;  // of the loops around
};

/// Returns whether a temporary may have so many elements: the host knows the number, it is the same
/// in all iterations of the loops around, and 32 bits count it.
bool may_hold(const PackRun& run, const Size& elements) {
    const auto& symbols = elements.symbols();
    return data_symbols(elements).empty() &&
           elements.upper_bound(run.target.facts.largest) <= INT32_MAX &&
           std::none_of(run.inductions.begin(), run.inductions.end(), [&](const std::string& name) {
               return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
           });
}

/// Packs the operands of the kernel, by kernels that are added to `out`.
void pack(PackRun& run, ListedKernel& kernel, std::vector<ListedStep>& out) {
    std::vector<PackedLoad> loads = Operands(kernel.code, run.target).find();
    if (loads.empty()) return;
    const KernelCode& code = kernel.code;
    const Panels panels{run.target.profile.subgroup_size, code[last_grid_range(code)].extent};
    for (PackedLoad& load : loads) {
        load.elements = load.iterations;
        if (load.in_panels) load.elements = load.elements * panels.held() * Size(panels.lanes);
        for (const Size& extent : load.extents) load.elements = load.elements * extent;
    }
    std::erase_if(loads, [&](const PackedLoad& load) { return !may_hold(run, load.elements); });
    for (PackedLoad& load : loads) {
        const int source = code.buffers[code[load.load].as<AccessAttr>().buffer].buffer;
        load.buffer = add_buffer(*run.list.program, source, load.elements);
        ListedKernel packing;
        packing.code = packing_kernel(code, load, panels, run.target.facts);
        verify(packing.code, KernelStage::Ready, "pack_operands");
        packing.work = largest(count_work(packing.code));
        packing.lines = kernel.lines;
        note_pass(packing, {"pack_operands"}, packing.code, run.target);
        out.push_back({std::move(packing)});
    }
    if (loads.empty()) return;
    KernelCode made;
    made.name = code.name;
    KernelBuilder b(made, run.target.facts);
    ReadPacked(code, b, loads, panels).build();
    place(made);
    verify(made, KernelStage::Ready, "pack_operands");
    kernel.code = std::move(made);
    note_pass(kernel, {"pack_operands"}, kernel.code, run.target);
}

std::vector<ListedStep> packed_in(PackRun& run, std::vector<ListedStep> steps) {
    std::vector<ListedStep> out;
    for (ListedStep& step : steps) {
        auto* kernel = std::get_if<ListedKernel>(&step.step);
        if (kernel && !kernel->by_hand) pack(run, *kernel, out);
        if (auto* loop = std::get_if<ListedLoop>(&step.step)) {
            run.inductions.push_back(loop->loop.induction);
            loop->body = packed_in(run, std::move(loop->body));
            run.inductions.pop_back();
        }
        out.push_back(std::move(step));
    }
    return out;
}

}  // namespace

void pack_operands(KernelList& list, const ListTarget& target) {
    if (!rules_of(target.profile).packs_operands) return;
    PackRun run{list, target, {}};
    list.steps = packed_in(run, std::move(list.steps));
}

}  // namespace firn
