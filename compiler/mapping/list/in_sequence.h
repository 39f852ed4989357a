// Mapped kernels, one after the other in one, for each band where there are some.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/program.h"

namespace firn {

/// Joins kernels of one group each (or one for each band), all with the same number of invocations,
/// into one kernel that runs them in order. After each kernel the group waits at a barrier, so that
/// the next one sees its stores.
class InSequence {
  public:
    /// The parameters are those of `program`. With bands (bands.h) each band has a group, else
    /// there is one. The buffers `own` lie in the group's memory.
    InSequence(uint32_t invocations, const Program& program, const Size& bands = Size(1),
               std::set<int> own = {});
    /// `part` is mapped and placed, has its parameters from the host, and never needs a second
    /// group for a band. Its group has as many invocations, along axes of its own: x and y, of
    /// powers of two.
    void add(const KernelCode& part);
    /// The same of a part that copies a buffer of the group's own memory from where others see it,
    /// or to there.
    void add_copy(const KernelCode& part, bool in);
    /// Opens a loop of `trips` iterations, at most `most`, around all that is added until
    /// close_loop(); `induction` is the number of the iteration.
    void open_loop(const Size& trips, int64_t most, const std::string& induction);
    void close_loop();
    /// Sets the number of the iteration to `iteration` for all that is added until
    /// forget_iteration().
    void set_iteration(const std::string& induction, const Size& iteration) {
        iterations_[induction] = iteration;
    }
    void forget_iteration(const std::string& induction) { iterations_.erase(induction); }
    /// The kernel. Bound buffers that it writes are coherent.
    KernelCode finish(const DeviceProfile& profile);

  private:
    struct Loop {
        RegionId region = kRoot;
        NodeId index;  // with the number of the iteration
        std::string induction;
    };
    NodeId new_node(KernelNode node);
    NodeId made(KernelOp op, std::vector<NodeId> args, DType dtype = i32);
    NodeId size(const Size& size);
    NodeId product(const Size& size);
    NodeId param(const ParamInfo& info);
    NodeId number(int k);
    RangeId range(const Range& range, const ByNode<NodeId>& nodes);
    bool is_own(const KernelBuffer& buffer) const;
    int buffer(const KernelBuffer& wanted);
    NodeId invocation();
    NodeId place(const KernelCode& part, int dim);
    NodeId first_of_unused(const KernelCode& part);
    /// The new nodes of a part's nodes: one for each, or several that stand in its place.
    struct Taken {
        ByNode<NodeId> nodes;
        std::map<NodeId, std::vector<NodeId>> several;

        std::vector<NodeId> all(const std::vector<NodeId>& ids) const;
    };
    Taken take_nodes(const KernelCode& part);
    std::vector<NodeId> one_by_one(const KernelNode& block);
    NodeId branch(NodeId condition, std::vector<NodeId> inside);
    std::vector<NodeId>& order() { return code_[loops_.back().region].order; }

    const Program& program_;
    const Size bands_;
    std::set<int> own_;
    std::optional<bool> bound_side_;  // for a copy: whether its target, or its source, is bound
    KernelCode code_;
    std::map<int, NodeId> numbers_;  // nodes of the host's numbers in the part that is taken
    SizeMap iterations_;
    std::vector<Loop> loops_;  // the first is the kernel itself
};

/// Elements of a buffer in the group's memory: whole blocks of four.
Size own_elements(const Size& elements);

/// Returns whether `size` is a linear function of `induction`, which a loop in a kernel can
/// compute: a number without it plus another times it.
bool linear_in(const Size& size, const std::string& induction);

}  // namespace firn
