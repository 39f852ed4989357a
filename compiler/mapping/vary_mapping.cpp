// Other mappings of a kernel, one step from a given one.
#include "compiler/mapping/vary_mapping.h"

#include <algorithm>
#include <functional>

#include "compiler/mapping/accumulators.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/mapping.h"
#include "compiler/mapping/matrix_units.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/tile_model.h"
#include "compiler/program/cost_table.h"
#include "compiler/program/device_class.h"

namespace firn {
namespace {

/// Collects variations that are possible and new.
class Variations {
  public:
    Variations(const KernelCode& lowered, const Mapping& from, const DeviceProfile& profile,
               const SymbolFacts& facts)
        : lowered_(lowered),
          from_(from),
          profile_(profile),
          facts_(facts),
          model_(lowered, from.lanes > 1),
          extents_(grid_extents(lowered)) {
        for (const KernelRegion& region : lowered.regions) loops_ |= region.range >= 0;
        from_.tile.resize(std::max<size_t>(1, extents_.size()), 1);
    }

    std::vector<Mapping> run() {
        vary_matrix();
        if (from_.matrix) return std::move(out_);
        vary_tile();
        for (uint32_t x : {8u, 16u, 32u, 64u, 128u, 256u})
            for (uint32_t y : {1u, 2u, 4u, 8u, 16u})
                if (y == 1 || extents_.size() > 1)
                    with([&](Mapping& m) { m.group_x = x, m.group_y = y; });
        if (!loops_) {
            for (int64_t strides : {1, 2, 4, 8, 16}) with([&](Mapping& m) { m.strides = strides; });
        } else {
            for (int64_t unroll : {1, 2, 4, 8, 16, 32})
                with([&](Mapping& m) { m.unroll = unroll; });
            with([&](Mapping& m) { m.collapsed_nests = !m.collapsed_nests; });
            vary_lanes();
            if (rules_of(profile_).stages_loads)
                for (int64_t iterations : {1, 8, 16, 32, 64, 256})
                    with([&](Mapping& m) { m.staged_iterations = iterations; });
        }
        if (lanes_share(profile_) && !accumulated_targets(lowered_).empty()) vary_accumulators();
        return std::move(out_);
    }

  private:
    bool is_legal(const Mapping& m) const {
        return why_illegal({lowered_, m, profile_, facts_}).empty();
    }

    bool divides(size_t range, int64_t factor) const {
        return !extents_.at(range).is(0) && extents_[range].divisor() % factor == 0;
    }

    void vary_tile() {
        for (size_t d = 0; d < extents_.size(); ++d)
            for (int64_t tile : {1, 2, 3, 4, 5, 8})
                if (tile == 1 || divides(d, tile)) with([&](Mapping& m) { m.tile[d] = tile; });
    }

    void vary_lanes() {
        const uint32_t lanes = profile_.subgroup_size;
        if (!lanes_share(profile_)) return;
        with([&](Mapping& m) {
            m.shuffled_loads = m.shuffled_loads > 1 ? 1 : lanes;
            drop(m, {"stage"});
        });
        with([&](Mapping& m) {
            m.shuffled_loads = m.unroll = lanes;
            drop(m, {"stage"});
        });
        if (share_loops(lowered_, lanes).empty()) return;
        with([&](Mapping& m) {
            m.lanes = from_.lanes > 1 ? 1 : lanes;
            m.group_y = 1;
            drop(m, {"shuffle", "stage"});
        });
    }

    /// Products with and without the matrix unit; with it, by other blocks or in other groups.
    void vary_matrix() {
        const auto chosen = choose_matrix(lowered_, profile_, facts_);
        if (!chosen) return;
        if (!from_.matrix) return add(*chosen);
        DeviceProfile without = profile_;
        without.matrix_unit = {};
        add(choose_mapping(lowered_, without, facts_));
        auto with_matrix = [&](const MatrixTiles& tiles) {
            Mapping m;
            m.matrix = tiles;
            m.group_x = static_cast<uint32_t>(tiles.subgroups()) * profile_.subgroup_size;
            if (is_legal(m)) add(std::move(m));
        };
        const MatrixTiles& own = from_.matrix;
        for (int64_t across : {1, 2, 4, 8})
            for (int64_t down : {1, 2, 4, 8})
                if (across * down <= costs::kMostTunedMatrices)
                    with_matrix({across, down, own.subgroups_across, own.subgroups_down});
        for (const auto& [wide, high] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 2}, {4, 4}})
            with_matrix({own.across, own.down, wide, high});
    }

    /// Combining stores with and without copies of their targets, of more and fewer iterations.
    void vary_accumulators() {
        const bool has = from_.accumulators != MemorySpace::Bound;
        with([&](Mapping& m) { drop(m, {"private", "shared", "walk"}); });
        for (MemorySpace space : {MemorySpace::Private, MemorySpace::Shared})
            for (int64_t iterations : {1, 4, 16, 64, 256, 1024, 4096})
                with([&](Mapping& m) {
                    m.accumulators = space;
                    if (!has)
                        m.group_x = space == MemorySpace::Private ? profile_.subgroup_size
                                                                  : m.group_x * m.group_y;
                    m.group_y = 1;
                    drop(m, {"lanes", "shuffle", "stage"});
                    m.walk.resize(extents_.size(), 1);
                    m.walk[0] = iterations;
                });
    }

    void with(const std::function<void(Mapping&)>& change) {
        Mapping m = from_;
        change(m);
        if (m.copies() > costs::kMostTunedCopies) return;
        const int64_t nodes = model_.nodes(m.tile) * m.strides;
        if (nodes > costs::kMostTunedNodes || nodes * m.unroll > 2 * costs::kMostTunedNodes) return;
        if (m.lanes == from_.lanes &&
            model_.time(m.tile) > costs::kFarSlower * model_.time(from_.tile))
            return;
        if (is_legal(m)) add(std::move(m));
    }

    void add(Mapping m) {
        const std::string words = text(m);
        if (words == text(from_)) return;
        const auto same = [&](const Mapping& other) { return text(other) == words; };
        if (std::none_of(out_.begin(), out_.end(), same)) out_.push_back(std::move(m));
    }

    const KernelCode& lowered_;
    Mapping from_;
    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    TileModel model_;
    std::vector<Size> extents_;  // x first
    bool loops_ = false;
    std::vector<Mapping> out_;
};

}  // namespace

std::vector<Mapping> vary_mapping(const KernelCode& lowered, const Mapping& mapping,
                                  const DeviceProfile& profile, const SymbolFacts& facts) {
    return Variations(lowered, mapping, profile, facts).run();
}

}  // namespace firn
