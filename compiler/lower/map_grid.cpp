// Grid indices from groups, invocations and subgroups, with a guard per tail.
#include "compiler/lower/map_grid.h"

#include <algorithm>
#include <array>

#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr int64_t kFoldedGroups = 32768;  // groups along x before they fold into the next dimension

class GridMapper {
  public:
    GridMapper(const KernelCode& from, KernelBuilder& b, const Mapping& mapping,
               const DeviceProfile& profile)
        : from_(from), b_(b), mapping_(mapping), profile_(profile) {}

    MappedGrid run() {
        for (size_t r = 0; r < from_.ranges.size(); ++r)
            if (from_.ranges[r].kind == RangeKind::Grid) out_.ranges.push_back(static_cast<int>(r));
        std::reverse(out_.ranges.begin(), out_.ranges.end());
        b_.code().group_size = {mapping_.group_x, mapping_.group_y, mapping_.group_z};
        if (mapping_.lanes > 1) share_rows();
        make_copies();
        return std::move(out_);
    }

  private:
    const SymbolFacts& facts() const { return b_.symbol_facts(); }

    bool divides(const Size& extent, int64_t factor) const {
        return extent.divisor(facts().divisors) % factor == 0;
    }

    int new_range(const std::string& name, RangeKind kind, const Size& extent, int dim) {
        Range range;
        range.name = name;
        range.kind = kind;
        range.extent = extent;
        range.dim = dim;
        return b_.range(b_.add_range(range));
    }

    /// The index of the group along a dimension of `groups` groups; more than the device launches
    /// in a row fold into the next dimension where that is free.
    int group_index(int dim, const Size& groups) {
        KernelCode& to = b_.code();
        to.schedule.push_back({dim, 0, RangeKind::Group, dim});
        const int spare = dim + 1;
        const bool fold = groups.upper_bound(facts().largest) > profile_.max_groups[dim] &&
                          spare < 3 && static_cast<size_t>(spare) >= out_.ranges.size();
        if (!fold) {
            to.groups[dim] = groups;
            return new_range("g", RangeKind::Group, groups, dim);
        }
        folded_[static_cast<size_t>(dim)] = true;
        to.groups[dim] = min(groups, Size(kFoldedGroups));
        to.groups[spare] = ceil_div(groups, Size(kFoldedGroups));
        const int low = new_range("g", RangeKind::Group, to.groups[dim], dim);
        const int high = new_range("g", RangeKind::Group, to.groups[spare], spare);
        return b_.add(b_.mul(high, b_.integer(kFoldedGroups)), low);
    }

    /// group x stride + invocation: the first index of an invocation, where a group of `size`
    /// covers `stride`.
    int invocation_index(int dim, const Size& groups, uint32_t size, int64_t stride) {
        const int group = group_index(dim, groups);
        if (size == 1 && stride == 1) return group;
        if (dim == 0 && mapping_.lanes > 1)
            return b_.add(b_.mul(group, b_.integer(stride)),
                          new_range("s", RangeKind::Subgroup, Size(size), 1));
        b_.code().schedule.push_back({dim, size, RangeKind::Invocation, dim});
        const int local = new_range("t", RangeKind::Invocation, Size(size), dim);
        return b_.add(b_.mul(group, b_.integer(stride)), local);
    }

    int invocation_index(int dim, const Size& count, uint32_t size) {
        return invocation_index(dim, ceil_div(count, Size(size)), size, size);
    }

    /// Every index along x is the work of a subgroup, whose lanes have numbers of their own.
    void share_rows() {
        ensure(mapping_.lanes == profile_.subgroup_size && mapping_.group_x % mapping_.lanes == 0 &&
                   mapping_.group_y == 1 && mapping_.group_z == 1,
               "map: lanes cannot share the work of this kernel");
        b_.code().schedule.push_back({0, mapping_.lanes, RangeKind::Subgroup, 0});
        out_.lane = new_range("l", RangeKind::Subgroup, Size(mapping_.lanes), 0);
    }

    /// Indices along x that a workgroup evaluates side by side.
    uint32_t group_units() const { return mapping_.group_x / mapping_.lanes; }

    /// Groups of `size` cover `count` indices exactly; those that fold may be more than are needed.
    bool covers(int dim, const Size& count, uint32_t size) const {
        if (folded_[static_cast<size_t>(dim)]) return false;
        return size == 1 || (divides(count, size) && count.is_constant());
    }

    /// Where lanes behind the end take part too, they do as the last index does, but store nothing.
    int inside(int index, const Size& count) {
        if (mapping_.dealt_loads == 1) return index;
        return b_.make(Op::Min, i32, {index, b_.sub(b_.size(count), b_.integer(1))});
    }

    void make_copies() {
        if (out_.ranges.empty()) {
            out_.copies.push_back({});
            return;
        }
        const bool strided = out_.ranges.size() == 1 && mapping_.unroll > 1;
        const int64_t v_count = mapping_.vector, u_count = mapping_.unroll;
        const Size x_extent = from_.ranges[out_.ranges[0]].extent;
        const Size vectors =
            v_count > 1 ? floor_div(x_extent + Size(v_count - 1), Size(v_count)) : x_extent;
        std::vector<int> first_guards;
        std::vector<int> x_index;  // per u (strided) or one
        if (strided) {
            const Size per_thread = ceil_div(vectors, Size(u_count));
            // The further vectors of an invocation are a group's width apart.
            const int base = invocation_index(0, ceil_div(per_thread, Size(group_units())),
                                              group_units(), u_count * group_units());
            for (int64_t u = 0; u < u_count; ++u)
                x_index.push_back(b_.add(base, b_.integer(u * group_units())));
        } else {
            x_index.push_back(invocation_index(0, vectors, group_units()));
            if (!covers(0, vectors, group_units()))
                first_guards.push_back(b_.make(Op::Less, boolean, {x_index[0], b_.size(vectors)}));
            x_index[0] = inside(x_index[0], vectors);
        }
        std::vector<int> rest;  // unit index of y and z
        for (size_t d = 1; d < out_.ranges.size(); ++d) {
            const Size& extent = from_.ranges[out_.ranges[d]].extent;
            const int64_t u = d == 1 ? u_count : 1;
            const Size count = u > 1 ? ceil_div(extent, Size(u)) : extent;
            const uint32_t size = d == 1 ? mapping_.group_y : mapping_.group_z;
            int index = invocation_index(static_cast<int>(d), count, size);
            if (!covers(static_cast<int>(d), count, size))
                first_guards.push_back(b_.make(Op::Less, boolean, {index, b_.size(count)}));
            index = inside(index, count);
            if (u > 1) {
                index = b_.mul(index, b_.integer(u));
                b_.assume(index, Size(0), extent - Size(u));
            } else {
                b_.assume(index, Size(0), extent - Size(1));
            }
            rest.push_back(index);
        }
        if (v_count > 1) b_.code().schedule.push_back({0, v_count, RangeKind::Vector, 0});
        if (u_count > 1)
            b_.code().schedule.push_back({strided ? 0 : 1, u_count, RangeKind::Unroll, 0});
        int guard = -1;
        for (int g : first_guards) guard = guard < 0 ? g : b_.make(Op::And, boolean, {guard, g});
        for (int64_t u = 0; u < u_count; ++u) {
            const int unit = strided ? x_index[static_cast<size_t>(u)] : x_index[0];
            if (strided && !covers(0, vectors, static_cast<uint32_t>(group_units() * u_count)))
                guard = b_.make(Op::Less, boolean, {unit, b_.size(vectors)});
            int x = unit;
            if (v_count > 1) {
                x = b_.mul(unit, b_.integer(v_count));
                b_.assume(
                    x, Size(0),
                    divides(x_extent, v_count) ? x_extent - Size(v_count) : x_extent - Size(1));
            } else {
                b_.assume(x, Size(0), x_extent - Size(1));
            }
            for (int64_t v = 0; v < v_count; ++v) {
                GridCopy lane;
                lane.index.push_back(v ? b_.add(x, b_.integer(v)) : x);
                for (size_t d = 0; d < rest.size(); ++d)
                    lane.index.push_back(d == 0 && u && !strided ? b_.add(rest[d], b_.integer(u))
                                                                 : rest[d]);
                if (v == 0) {
                    lane.guard = guard;
                    guard = -1;
                }
                out_.copies.push_back(std::move(lane));
            }
        }
    }

    const KernelCode& from_;
    KernelBuilder& b_;
    const Mapping& mapping_;
    const DeviceProfile& profile_;
    MappedGrid out_;
    std::array<bool, 3> folded_{};  // per dimension
};

}  // namespace

MappedGrid map_grid(const KernelCode& from, KernelBuilder& b, const Mapping& mapping,
                    const DeviceProfile& profile) {
    return GridMapper(from, b, mapping, profile).run();
}

}  // namespace firn
