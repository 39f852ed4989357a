// Simulations on a grid that several processes hold in parts: target firn::mpi; not part of
// firn/firn.h.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/function.h"
#include "compiler/frontend/movement.h"
#include "firn/mpi.h"

namespace firn {

/// The options of a Grid.
struct GridOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Axes whose last position is beside the first; fewer: the first axes.
    std::vector<bool> periodic = {};
    /// How many processes share each axis; empty: so that rims are short. Their product is the
    /// number of processes.
    std::vector<int> processes = {};
};

struct GridState;  // engine/mpi/grid_state.h

/// A grid of positions, of which every process holds a block. Tensors with its sizes as the first
/// axes that a function declares, such as f32("n", "m"), are dealt: each process has its own part
/// of them, [n_own, m_own].
///
///     Communicator world(argc, argv);
///     Grid grid(world, {{"n", 2048}, {"m", 2048}});
///     auto wave = compile(grid, step, {f32("n", "m"), f32("n", "m"), f32()});
///     auto [u, v] = ...;                    // parts, as grid.part() or a function without
///     arguments gives std::tie(u, v) = wave(u, v, 0.1f);    // as on one device Tensor all =
///     grid.gather(u);          // at rank 0
class Grid {
  public:
    /// The symbol of an axis, and how many positions it has.
    using Axis = std::pair<std::string, int64_t>;
    /// UserError where there are more processes than positions, where `processes` does not fit,
    /// and where a size is below 1.
    Grid(const Communicator& all, const std::vector<Axis>& axes, const GridOptions& options = {});

    /// Returns the processes that share it.
    const Communicator& communicator() const;
    /// Returns how many processes share each axis.
    const std::vector<int>& processes() const;
    /// Returns the first position of this process's part, by axis.
    std::vector<int64_t> first() const;
    /// Returns the shape of this process's part.
    Shape part() const;
    /// Returns the whole shape.
    Shape shape() const;
    /// This process's part of a whole tensor that every process has.
    Tensor part_of(const Tensor& whole) const;
    /// The whole tensor of all parts, in every process. It is a step of all processes.
    Tensor gather(const Tensor& part) const;

    /// @cond
    const std::shared_ptr<GridState>& state() const { return state_; }
    /// @endcond

  private:
    std::shared_ptr<GridState> state_;
};

/// A function of whole tensors, called with parts.
class GridFunction {
  public:
    /// An empty function, for a member that is assigned later; calling it is a UserError.
    GridFunction() = default;
    /// `whole`, a function of the whole grid with arguments as `specs` declare them, for parts.
    GridFunction(Grid grid, Function whole, std::vector<ArgSpec> specs, SourceLine line);
    /// Runs it, see CompiledGrid.
    std::vector<Tensor> call(const std::vector<Arg>& args) const;
    /// Returns the lengths of the vectors among the results.
    const std::vector<size_t>& result_lengths() const;
    /// Returns the part of this process, what it exchanges with its neighbours and why, and the
    /// program of the most recent call, as Function::explain does.
    std::string explain() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

/// @cond
template <class Layout, class Parameters>
class CompiledGrid;
/// @endcond

/// A function that was compiled for a grid, with its C++ signature.
template <class Layout, class... P>
class CompiledGrid<Layout, TypeList<P...>> : public GridFunction {
  public:
    /// An empty function, for a member that is assigned later.
    CompiledGrid() = default;
    /// A function whose arguments and results are those of the signature.
    explicit CompiledGrid(GridFunction function) : GridFunction(std::move(function)) {}
    /// Runs it with this process's parts, and gives parts; scalars and tensors without an axis of
    /// the grid are whole. All processes must call it.
    typename Results<Layout>::Type operator()(const ArgumentOf<P>&... args) const {
        FlatArguments all;
        (add_arguments(args, all), ...);
        return from_flat<Layout>(call(all.args), result_lengths());
    }
};

/// @cond
template <class Parameters, class Fn>
auto compile_for_grid(const Grid& grid, Fn fn, const std::vector<ArgSpec>& specs,
                      const std::vector<size_t>& lengths, SourceLine line) {
    Trace trace(specs, line);
    auto result = call_with_values(fn, trace.arguments(), lengths, Parameters());
    return CompiledGrid<decltype(result), Parameters>(
        GridFunction(grid, trace.finish(flat_value(result)), specs, line));
}
/// @endcond

/// Records `fn` as compile() does, a function of the whole grid, and compiles it for the part of
/// each process. What neighbours must send follows from how the function reads: so many positions
/// to each side of every argument, corners only where a read moves along two axes, and again in
/// every iteration of loops that read what they carry. Messages go on while kernels compute what
/// needs none of them. Reductions along the grid are combined over the processes. Results are those
/// of one process, to the bit but for such reductions.
///
/// UserError with the line where a function cannot be computed from parts: reads that no number
/// bounds (bound the displacement: `clamp(d, -4.0f, 4.0f)`), `wrap` along an axis that is not
/// periodic and other modes along one that is, kernels by hand, sizes other than n plus a number.
template <class Fn, size_t Arity>
auto compile(const Grid& grid, Fn fn, const ArgSpec (&specs)[Arity], SourceLine line = here()) {
    using Parameters = ParametersOfSpecs<Fn, Arity>;
    return compile_for_grid<Parameters>(grid, std::move(fn), {std::begin(specs), std::end(specs)},
                                        lengths_for<Parameters>(Arity), line);
}

}  // namespace firn
