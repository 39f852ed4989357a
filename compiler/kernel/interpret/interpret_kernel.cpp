// Runs Kernel code in lockstep: regions, loops and branches by masks, memory, subgroups, and the
// grid.
#include "compiler/kernel/interpret/interpret_kernel.h"

#include <algorithm>

#include "compiler/ir/evaluate.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/interpret/interpret_lanes.h"
#include "compiler/kernel/interpret/interpret_matrix.h"
#include "compiler/kernel/interpret/interpret_memory.h"
#include "compiler/kernel/interpret/interpret_races.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

/// Lanes of a chunk where the grid is not mapped to workgroups.
constexpr int kGridLanes = 128;

size_t at(int index) { return static_cast<size_t>(index); }

LaneMask restricted(const LaneMask& mask, const int32_t* condition, bool wanted) {
    LaneMask result = mask;
    result.active = 0;
    for (size_t lane = 0; lane < mask.on.size(); ++lane) {
        result.on[lane] = mask.on[lane] && (condition[lane] != 0) == wanted;
        result.active += result.on[lane];
    }
    return result;
}

class Machine {
  public:
    Machine(const KernelCode& code, const std::vector<std::span<std::byte>>& buffers,
            const std::vector<Scalar>& params, const SizeEnv& env, uint32_t subgroup_size)
        : code_(code),
          buffers_(buffers),
          params_(params),
          env_(env),
          subgroup_(static_cast<int>(subgroup_size)) {
        ensure(buffers.size() == bound_buffers(code) && params.size() == code.params.size(),
               "a kernel is run with another number of buffers or parameters than it has");
        ensure(subgroup_size > 0, "a kernel is run with subgroups of no lanes");
    }

    KernelCounts run(const std::array<int64_t, 3>& groups) {
        bool grid = std::any_of(code_.ranges.begin(), code_.ranges.end(),
                                [](const Range& range) { return range.kind == RangeKind::Grid; });
        int64_t lanes = kGridLanes;
        if (!grid) lanes = int64_t{code_.group_size[0]} * code_.group_size[1] * code_.group_size[2];
        lanes_ = static_cast<int>((lanes + kLaneBlock - 1) / kLaneBlock * kLaneBlock);
        place_values();
        fill_uniforms();
        make_own_memory();
        if (grid)
            run_grid();
        else
            run_groups(groups, static_cast<int>(lanes));
        return counts_;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw InternalError("internal error: kernel " + code_.name + ": " + what);
    }
    const KernelNode& node(int id) const { return code_.nodes[at(id)]; }
    const KernelRegion& region(int id) const { return code_.regions[at(id)]; }

    // --- storage

    void use(int id) {
        if (id < 0 || values_[at(id)].data) return;
        const KernelNode& n = node(id);
        Lanes& value = values_[at(id)];
        value.dtype = n.dtype;
        // Results and lanes of vectors are views of what their operand has stored.
        if (n.op == KernelOp::Result) {
            const KernelNode& owner = node(n.args[0]);
            value.data = owner.op == KernelOp::For
                             ? values_[at(region(owner.region).args[at(n.position)])].data
                             : results_[at(n.args[0])][at(n.position)].data;
            return;
        }
        if (n.op == KernelOp::Lane) {
            value.data =
                values_[at(n.args[0])].data + at(n.lane) * at(lanes_) * lane_bytes(n.dtype);
            return;
        }
        value.data = allocate(n.dtype, n.matrix ? matrix_parts(n.matrix, subgroup_) : n.width);
    }

    std::byte* allocate(DType dtype, int width) {
        size_t bytes = at(width) * at(lanes_) * lane_bytes(dtype);
        // new[] of 8-byte words: aligned for every form of lanes, and zero.
        memory_.emplace_back((bytes + 7) / 8);
        return reinterpret_cast<std::byte*>(memory_.back().data());
    }

    /// The regions that run: a region of a dead loop still has its yields, which nobody evaluates.
    std::vector<int> live_regions() const {
        std::vector<int> live{0};
        for (size_t next = 0; next < live.size(); ++next) {
            const KernelRegion& body = region(live[next]);
            for (const std::vector<int>* list : {&body.order, &body.effects})
                for (int id : *list) {
                    const KernelNode& n = node(id);
                    if (n.op != KernelOp::For && n.op != KernelOp::Branch) continue;
                    live.push_back(n.region);
                    if (n.else_region >= 0) live.push_back(n.else_region);
                }
        }
        return live;
    }

    std::vector<bool> needed_nodes(const std::vector<int>& regions) const {
        std::vector<bool> needed(code_.nodes.size());
        auto need = [&](int id) {
            if (id >= 0) needed[at(id)] = true;
        };
        for (int live : regions) {
            const KernelRegion& body = region(live);
            for (const std::vector<int>* list : {&body.order, &body.effects})
                for (int id : *list) {
                    need(id);
                    for (int arg : node(id).args) need(arg);
                }
            for (int id : body.yields) need(id);
            need(body.alive);
            if (body.range >= 0) need(code_.ranges[at(body.range)].extent_node);
        }
        return needed;
    }

    /// Gives every node that takes part in the kernel its lanes.
    void place_values() {
        values_.resize(code_.nodes.size());
        results_.resize(code_.nodes.size());
        back_edges_.assign(at(lanes_), 0);
        // Region arguments first, then operands before users: so a view finds its owner placed.
        std::vector<int> regions = live_regions();
        for (int live : regions)
            for (int arg : region(live).args) use(arg);
        std::vector<bool> needed = needed_nodes(regions);
        for (size_t id = 0; id < needed.size(); ++id) {
            if (!needed[id]) continue;
            const KernelNode& n = code_.nodes[id];
            if (n.op == KernelOp::Branch)
                for (int yield : region(n.region).yields)
                    results_[id].push_back({node(yield).dtype, allocate(node(yield).dtype, 1)});
            if ((n.op == KernelOp::Result || n.op == KernelOp::Lane) &&
                !values_[at(n.args[0])].data)
                fail("%" + std::to_string(id) + " is part of %" + std::to_string(n.args[0]) +
                     ", which is not evaluated");
            if (n.op == KernelOp::Range) range_values_.emplace_back(n.range, static_cast<int>(id));
            use(static_cast<int>(id));
        }
    }

    void fill_uniforms() {
        for (size_t id = 0; id < values_.size(); ++id) {
            if (!values_[id].data) continue;
            const KernelNode& n = code_.nodes[id];
            if (n.op == KernelOp::Constant) fill_lanes(values_[id], lanes_, n.constant);
            if (n.op == KernelOp::Param)
                fill_lanes(values_[id], lanes_, params_[at(n.param)].to(n.dtype));
        }
    }

    /// One copy for the group that runs, or one for each of its lanes.
    void make_own_memory() {
        for (size_t k = buffers_.size(); k < code_.buffers.size(); ++k) {
            const KernelBuffer& b = code_.buffers[k];
            const int64_t copies = b.space == MemorySpace::Private ? lanes_ : 1;
            own_memory_.emplace_back(
                at(static_cast<int>(b.elements.evaluate(env_) * copies * b.dtype.bytes())));
        }
    }

    int members() const {
        return static_cast<int>(code_.group_size[0] * code_.group_size[1] * code_.group_size[2]);
    }

    std::span<std::byte> memory_of(int buffer) {
        if (at(buffer) < buffers_.size()) return buffers_[at(buffer)];
        return own_memory_[at(buffer) - buffers_.size()];
    }

    void clear(const KernelNode& n) {
        const KernelBuffer& buffer = code_.buffers[at(n.buffer)];
        if (buffer.space == MemorySpace::Shared)
            races_.clear(n, buffer.elements.evaluate(env_), members());
        const std::span<std::byte> memory = memory_of(n.buffer);
        std::fill(memory.begin(), memory.end(), std::byte{0});
        if (n.args.empty()) return;
        const Scalar begin = node(n.args[0]).constant.to(n.dtype);
        for (size_t at = 0; at < memory.size(); at += static_cast<size_t>(n.dtype.bytes()))
            store_scalar(begin, memory.data() + at);
    }

    // --- the grid

    /// Calls `set(range, words)` for every value of a range outside loops.
    template <class F>
    void fill_ranges(F set) {
        for (auto [range, id] : range_values_)
            set(code_.ranges[at(range)], values_[at(id)].words());
    }

    void run_root(int lanes) {
        LaneMask mask;
        mask.on.assign(at(lanes_), 0);
        std::fill_n(mask.on.begin(), lanes, uint8_t{1});
        mask.active = lanes;
        counts_.invocations += lanes;
        std::fill(back_edges_.begin(), back_edges_.end(), 0);
        races_.order();
        run_region(0, mask);
        counts_.back_edges =
            std::max(counts_.back_edges, *std::max_element(back_edges_.begin(), back_edges_.end()));
    }

    void run_grid() {
        std::vector<int64_t> strides(code_.ranges.size());
        int64_t total = 1;
        for (size_t k = code_.ranges.size(); k-- > 0;) {
            const Range& range = code_.ranges[k];
            if (range.kind != RangeKind::Grid) continue;
            strides[k] = total;
            total *= range.extent.evaluate(env_);
        }
        for (int64_t begin = 0; begin < total; begin += kGridLanes) {
            for (auto [index, id] : range_values_) {
                const Range& range = code_.ranges[at(index)];
                if (range.kind == RangeKind::Serial) continue;
                if (range.kind != RangeKind::Grid)
                    fail("range " + range.name + " is mapped beside a grid that is not");
                int64_t extent = range.extent.evaluate(env_), stride = strides[at(index)];
                int32_t* words = values_[at(id)].words();
                for (int lane = 0; lane < lanes_; ++lane)
                    words[lane] = static_cast<int32_t>((begin + lane) / stride % extent);
            }
            run_root(static_cast<int>(std::min<int64_t>(kGridLanes, total - begin)));
        }
    }

    void fill_local_ranges(int lanes) {
        fill_ranges([&](const Range& range, int32_t* words) {
            int extents[3] = {static_cast<int>(code_.group_size[0]),
                              static_cast<int>(code_.group_size[1]),
                              static_cast<int>(code_.group_size[2])};
            int strides[3] = {1, extents[0], extents[0] * extents[1]};
            for (int lane = 0; lane < lanes; ++lane) {
                if (range.kind == RangeKind::Invocation)
                    words[lane] = lane / strides[range.dim] % extents[range.dim];
                if (range.kind == RangeKind::Subgroup)
                    words[lane] = range.dim ? lane / subgroup_ : lane % subgroup_;
            }
            if (range.kind == RangeKind::Unroll || range.kind == RangeKind::Vector)
                fail("range " + range.name + " is not expanded");
        });
    }

    void run_groups(const std::array<int64_t, 3>& groups, int lanes) {
        fill_local_ranges(lanes);
        std::array<int64_t, 3> group{};
        for (group[2] = 0; group[2] < groups[2]; ++group[2])
            for (group[1] = 0; group[1] < groups[1]; ++group[1])
                for (group[0] = 0; group[0] < groups[0]; ++group[0]) {
                    fill_ranges([&](const Range& range, int32_t* words) {
                        if (range.kind == RangeKind::Group)
                            std::fill_n(words, lanes_, static_cast<int32_t>(group[at(range.dim)]));
                    });
                    run_root(lanes);
                }
    }

    // --- control

    void run_region(int id, const LaneMask& mask) {
        if (mask.active == 0) return;
        for (int inner : region(id).order) run_node(inner, mask);
        for (int effect : region(id).effects) run_node(effect, mask);
    }

    void run_node(int id, const LaneMask& mask) {
        const KernelNode& n = node(id);
        if (is_elementwise(n.op)) return run_elementwise(id, mask);
        switch (n.op) {
            case KernelOp::Constant:
            case KernelOp::Param:
            case KernelOp::Range:
            case KernelOp::RegionArg:
            case KernelOp::Result:
            case KernelOp::Lane: return;
            case KernelOp::Load: return load(n, values_[at(id)], mask);
            case KernelOp::Store: return store(n, mask);
            case KernelOp::Atomic: return combine(n, values_[at(id)], mask);
            case KernelOp::Array: return clear(n);
            case KernelOp::Barrier: return races_.order();  // lanes are in step
            case KernelOp::SubgroupShuffle: return shuffle(n, values_[at(id)], mask);
            case KernelOp::SubgroupReduce:
            case KernelOp::SubgroupScan:
            case KernelOp::SubgroupRead: return exchange(n, values_[at(id)], mask);
            case KernelOp::MatrixFill:
            case KernelOp::MatrixMulAdd:
            case KernelOp::MatrixCast: return run_matrix(id, mask);
            case KernelOp::MatrixLoad:
            case KernelOp::MatrixStore: return move_matrix(id, mask);
            case KernelOp::For: return run_for(n, mask);
            case KernelOp::Branch: return run_branch(id, mask);
            default: fail(std::string("operation ") + info(n.op).name + " is not Kernel code");
        }
    }

    void run_elementwise(int id, const LaneMask& mask) {
        const KernelNode& n = node(id);
        std::array<Lanes, 3> args;
        for (size_t k = 0; k < n.args.size(); ++k) args[k] = values_[at(n.args[k])];
        counts_.operations += mask.active;
        evaluate_lanes(n.op, values_[at(id)], std::span(args).first(n.args.size()), mask);
    }

    /// Lanes whose loop has another turn.
    void drop_finished(LaneMask& mask, const Range& range, int64_t turn) const {
        if (range.extent_node < 0) {
            if (turn < range.extent.evaluate(env_)) return;
            mask.on.assign(mask.on.size(), 0);
            mask.active = 0;
            return;
        }
        const int32_t* trips = values_[at(range.extent_node)].words();
        for (size_t lane = 0; lane < mask.on.size(); ++lane)
            if (mask.on[lane] && turn >= trips[lane]) {
                mask.on[lane] = 0;
                --mask.active;
            }
    }

    void run_for(const KernelNode& n, const LaneMask& outer) {
        const KernelRegion& body = region(n.region);
        const Range& range = code_.ranges[at(body.range)];
        for (size_t k = 0; k < body.args.size(); ++k) copy(body.args[k], n.args[k], outer);
        LaneMask mask = outer;
        for (int64_t turn = 0;; ++turn) {
            drop_finished(mask, range, turn);
            if (mask.active == 0) return;
            if (range.max_trips >= 0 && turn >= range.max_trips)
                fail("loop over " + range.name + " takes more turns than its bound of " +
                     std::to_string(range.max_trips));
            for (size_t lane = 0; lane < mask.on.size(); ++lane) back_edges_[lane] += mask.on[lane];
            for (auto [index, id] : range_values_)
                if (index == body.range)
                    std::fill_n(values_[at(id)].words(), lanes_, static_cast<int32_t>(turn));
            run_region(n.region, mask);
            // A region argument may be the condition: it counts as it is before it is carried.
            LaneMask next = mask;
            if (body.alive >= 0) next = restricted(mask, values_[at(body.alive)].words(), true);
            carry(body, mask);
            mask = std::move(next);
        }
    }

    void copy(int target, int source, const LaneMask& mask) {
        if (!node(target).matrix) return copy_lanes(values_[at(target)], values_[at(source)], mask);
        for (int k = 0; k < matrix(target).count(); ++k)
            copy_lanes(matrix(target).part(k), matrix(source).part(k), mask);
    }

    /// Region arguments take the yielded values, all at once: one may be another's next value.
    void carry(const KernelRegion& body, const LaneMask& mask) {
        bool crossed = std::any_of(body.yields.begin(), body.yields.end(), [&](int yield) {
            return std::find(body.args.begin(), body.args.end(), yield) != body.args.end();
        });
        if (!crossed) {
            for (size_t k = 0; k < body.args.size(); ++k) copy(body.args[k], body.yields[k], mask);
            return;
        }
        std::vector<std::vector<std::byte>> next;
        for (int yield : body.yields) {
            const Lanes& value = values_[at(yield)];
            if (node(yield).matrix) fail("matrices that a loop carries change places");
            next.emplace_back(value.data, value.data + at(lanes_) * lane_bytes(value.dtype));
        }
        for (size_t k = 0; k < body.args.size(); ++k)
            copy_lanes(values_[at(body.args[k])], {node(body.yields[k]).dtype, next[k].data()},
                       mask);
    }

    void run_branch(int id, const LaneMask& mask) {
        const KernelNode& n = node(id);
        const int32_t* condition = values_[at(n.args[0])].words();
        LaneMask taken = restricted(mask, condition, true);
        run_region(n.region, taken);
        if (n.else_region >= 0) run_region(n.else_region, restricted(mask, condition, false));
        for (size_t k = 0; k < results_[at(id)].size(); ++k) {
            ensure(n.else_region >= 0, "a branch with values has one side only");
            select_lanes(results_[at(id)][k], taken.on.data(),
                         values_[at(region(n.region).yields[k])],
                         values_[at(region(n.else_region).yields[k])], lanes_);
        }
    }

    LaneAccess access(const KernelNode& n, const LaneMask& mask) {
        const int32_t* index = values_[at(n.args[0])].words();
        const KernelBuffer& buffer = code_.buffers[at(n.buffer)];
        if (buffer.space == MemorySpace::Shared)
            races_.access(n, buffer.elements.evaluate(env_), index, mask);
        if (buffer.space != MemorySpace::Private)
            return {code_, n, memory_of(n.buffer), index, mask};
        const auto elements = static_cast<int32_t>(buffer.elements.evaluate(env_));
        own_index_.assign(index, index + lanes_);
        for (int lane = 0; lane < lanes_; ++lane) {
            if (mask.on[at(lane)] && (index[lane] < 0 || index[lane] >= elements))
                fail("a local array is left");
            own_index_[at(lane)] += lane * elements;
        }
        return {code_, n, memory_of(n.buffer), own_index_.data(), mask};
    }
    int64_t stored_bytes(const KernelNode& n) const {
        return code_.buffers[at(n.buffer)].dtype.bytes();
    }

    void load(const KernelNode& n, const Lanes& target, const LaneMask& mask) {
        counts_.loads += mask.active;
        const int64_t bytes = mask.active * n.width * stored_bytes(n);
        counts_.bytes_read += bytes;
        if (code_.buffers[at(n.buffer)].space == MemorySpace::Bound)
            counts_.bound_bytes_read += bytes;
        load_lanes(access(n, mask), target);
    }

    void store(const KernelNode& n, const LaneMask& mask) {
        counts_.stores += mask.active;
        counts_.bytes_written += mask.active * n.width * stored_bytes(n);
        std::vector<Lanes> values;
        for (size_t k = 1; k < n.args.size(); ++k) values.push_back(values_[at(n.args[k])]);
        store_lanes(access(n, mask), values);
    }

    void combine(const KernelNode& n, const Lanes& old, const LaneMask& mask) {
        counts_.stores += mask.active;
        counts_.bytes_read += mask.active * stored_bytes(n);
        counts_.bytes_written += mask.active * stored_bytes(n);
        combine_lanes(access(n, mask), values_[at(n.args[1])], &old);
    }

    /// Visits the subgroups that run: whole ones, since what they do needs every lane.
    template <class Visit>
    void for_subgroups(const LaneMask& mask, Visit visit) {
        for (int begin = 0; begin < lanes_; begin += subgroup_) {
            int end = std::min(begin + subgroup_, lanes_);
            int running = std::count(mask.on.begin() + begin, mask.on.begin() + end, uint8_t{1});
            if (running == 0) continue;
            if (running != subgroup_)
                fail("a subgroup operation runs on " + std::to_string(running) + " of " +
                     std::to_string(subgroup_) + " lanes");
            visit(begin, end);
        }
    }

    void shuffle(const KernelNode& n, const Lanes& target, const LaneMask& mask) {
        const Lanes& source = values_[at(n.args[0])];
        for_subgroups(mask, [&](int begin, int end) {
            const Scalar value = get_lane(source, begin + n.lane);
            for (int lane = begin; lane < end; ++lane) set_lane(target, lane, value);
        });
    }

    /// A reduction is a tree over exchanged lanes: distances from half a subgroup down to 1.
    void exchange(const KernelNode& n, const Lanes& target, const LaneMask& mask) {
        const Lanes& source = values_[at(n.args[0])];
        counts_.operations += mask.active;
        for_subgroups(mask, [&](int begin, int end) {
            std::vector<Scalar> values;
            for (int lane = begin; lane < end; ++lane) values.push_back(get_lane(source, lane));
            const std::vector<Scalar> first = values;
            const size_t count = values.size();
            if (n.op == KernelOp::SubgroupRead) {
                const int32_t* from = values_[at(n.args[1])].words() + begin;
                for (size_t lane = 0; lane < count; ++lane)
                    values[lane] = first[static_cast<uint32_t>(from[lane]) % count];
            }
            if (n.op == KernelOp::SubgroupScan)
                for (size_t lane = 1; lane < count; ++lane)
                    values[lane] = evaluate_reduce(n.reduce, values[lane - 1], first[lane]);
            for (int distance = subgroup_ / 2; distance > 0 && n.op == KernelOp::SubgroupReduce;
                 distance /= 2) {
                std::vector<Scalar> before = values;
                for (size_t lane = 0; lane < count; ++lane)
                    values[lane] = evaluate_reduce(n.reduce, before[lane],
                                                   before[lane ^ static_cast<size_t>(distance)]);
            }
            for (int lane = begin; lane < end; ++lane)
                set_lane(target, lane, values[static_cast<size_t>(lane - begin)]);
        });
    }

    LaneMatrix matrix(int id) const {
        return {node(id).matrix, values_[at(id)], lanes_, subgroup_};
    }

    void run_matrix(int id, const LaneMask& mask) {
        const KernelNode& n = node(id);
        for_subgroups(mask, [&](int begin, int) {
            if (n.op == KernelOp::MatrixCast)
                return convert_matrix(matrix(id), matrix(n.args[0]), begin);
            if (n.op == KernelOp::MatrixMulAdd) {
                ++counts_.matrix_products;
                return multiply_add(matrix(id), matrix(n.args[0]), matrix(n.args[1]),
                                    matrix(n.args[2]), begin);
            }
            const Scalar value = get_lane(values_[at(n.args[0])], begin);
            for (int e = 0; e < n.matrix.rows * n.matrix.columns; ++e)
                matrix(id).set(e, begin, value);
        });
    }

    /// Between memory and the lanes, one part after the other.
    void move_matrix(int id, const LaneMask& mask) {
        const KernelNode& n = node(id);
        const KernelBuffer& buffer = code_.buffers[at(n.buffer)];
        const int32_t *first = values_[at(n.args[0])].words(),
                      *stride = values_[at(n.args[1])].words();
        const bool stores = n.op == KernelOp::MatrixStore;
        const LaneMatrix whole = {n.matrix, values_[at(stores ? n.args[2] : id)], lanes_,
                                  subgroup_};
        for (int k = 0; k < whole.count(); ++k) {
            LaneMask some = mask;
            matrix_index_.assign(at(lanes_), -1);
            for_subgroups(mask, [&](int begin, int end) {
                for (int lane = begin; lane < end; ++lane)
                    if (first[lane] != first[begin] || stride[lane] != stride[begin])
                        fail("the lanes of a subgroup ask for different matrices");
                matrix_indices(n, subgroup_, k, first[begin], stride[begin],
                               matrix_index_.data() + begin);
            });
            for (int lane = 0; lane < lanes_; ++lane)
                if (some.on[at(lane)] &&
                    k * subgroup_ + lane_of(lane, subgroup_) >= n.matrix.rows * n.matrix.columns)
                    some.on[at(lane)] = 0, --some.active;
            if (buffer.space == MemorySpace::Shared)
                races_.access(n, buffer.elements.evaluate(env_), matrix_index_.data(), some);
            (stores ? counts_.stores : counts_.loads) += some.active;
            const int64_t bytes = some.active * stored_bytes(n);
            (stores ? counts_.bytes_written : counts_.bytes_read) += bytes;
            if (!stores && buffer.space == MemorySpace::Bound) counts_.bound_bytes_read += bytes;
            const LaneAccess access{code_, n, memory_of(n.buffer), matrix_index_.data(), some};
            const Lanes part = whole.part(k);
            if (stores)
                store_lanes(access, {&part, 1});
            else
                load_lanes(access, part);
        }
    }

    const KernelCode& code_;
    const std::vector<std::span<std::byte>>& buffers_;
    const std::vector<Scalar>& params_;
    const SizeEnv& env_;
    int subgroup_;
    int lanes_ = 0;                                  // padded to whole blocks
    std::vector<Lanes> values_;                      // by node; no data where it takes no part
    std::vector<std::vector<Lanes>> results_;        // by Branch node
    std::vector<std::pair<int, int>> range_values_;  // range, its Range node
    std::vector<std::vector<uint64_t>> memory_;
    std::vector<std::vector<std::byte>> own_memory_;  // of buffers that are not bound
    std::vector<int32_t> own_index_, matrix_index_;
    SharedRaces races_;
    std::vector<int64_t> back_edges_;  // by lane, of the group that runs
    KernelCounts counts_;
};

}  // namespace

KernelCounts interpret_kernel(const KernelCode& code,
                              const std::vector<std::span<std::byte>>& buffers,
                              const std::vector<Scalar>& params, const SizeEnv& env,
                              uint32_t subgroup_size,
                              const std::optional<std::array<int64_t, 3>>& groups) {
    std::array<int64_t, 3> launched{};
    for (size_t k = 0; k < 3; ++k)
        launched[k] = groups ? (*groups)[k] : code.groups[k].evaluate(env);
    return Machine(code, buffers, params, env, subgroup_size).run(launched);
}

}  // namespace firn
