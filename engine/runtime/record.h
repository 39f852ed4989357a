// The one primitive of the runtime: a program's commands into a command buffer, with no submit,
// wait or allocation.
#pragma once
#include <list>
#include <memory>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/profiler.h"
#include "engine/runtime/call_plan.h"

namespace firn {

/// A program on a device: pipelines, constants, and plans for the sizes it was called with. Used by
/// one thread at a time. It does not own the Program; who calls it passes the same one.
class LoadedProgram {
  public:
    /// Compiles the pipelines and uploads the constants. Throws UserError where the device cannot
    /// run it.
    LoadedProgram(std::shared_ptr<Device> device, const Program& program);

    Device& device() const { return *device_; }
    const std::string& name() const { return name_; }
    const Pipeline& pipeline(int kernel) const { return *pipelines_[static_cast<size_t>(kernel)]; }
    /// By buffer; null where a buffer is no constant.
    const std::vector<std::shared_ptr<Buffer>>& constants() const { return constants_; }

    /// What running at these sizes takes; kept for the next call with the same ones.
    std::shared_ptr<const CallPlan> plan(const Program& program, const SizeEnv& symbols);
    /// How often a plan was made.
    int plans_made() const { return plans_made_; }

  private:
    struct Planned {
        std::vector<int64_t> values;  // of symbols_
        std::shared_ptr<const CallPlan> plan;
    };
    std::shared_ptr<Device> device_;
    std::string name_;
    std::vector<std::shared_ptr<const Pipeline>> pipelines_;
    std::vector<std::shared_ptr<Buffer>> constants_;
    std::vector<std::string> symbols_;
    std::list<Planned> plans_;  // the newest use first
    int plans_made_ = 0;
};

/// The memory of one call.
struct Bindings {
    std::vector<BufferRange> arguments;  // one per argument; ignored for scalars
    std::vector<BufferRange> results;    // one per result
    BufferRange scratch;                 // at least CallPlan::scratch_bytes
    friend bool operator==(const Bindings&, const Bindings&) = default;
};

/// True where result `result` needs memory of its own even if nobody wants it.
bool result_needs_memory(const Program& program, const CallPlan& plan, size_t result);

/// Some of a plan's steps, for programs with loops whose end only the data knows.
struct RecordedPart {
    size_t first = 0, last = 0;
    TurnsDone done;   // by the loops around them
};

/// A plan bound to memory: everything that `record` needs, made beforehand. Must end before its
/// device, and may end while commands that it recorded are pending.
class PreparedCall {
  public:
    /// Throws UserError where a range is smaller than its tensor, beyond what the device binds, or
    /// shared with another tensor that the program writes (hazards are known by tensor, not by
    /// address).
    PreparedCall(const LoadedProgram& loaded, const Program& program,
                 std::shared_ptr<const CallPlan> plan, const Bindings& bindings);

    const CallPlan& plan() const { return *plan_; }
    const Bindings& bindings() const { return bindings_; }
    /// The memory of a slot of the program.
    const BufferRange& slot(int slot) const { return slots_[static_cast<size_t>(slot)]; }

  private:
    friend void record(PreparedCall&, VkCommandBuffer, const std::vector<Scalar>&, Timestamps*);
    friend void record_part(PreparedCall&, VkCommandBuffer, const std::vector<Scalar>&, const RecordedPart&,
                            Timestamps*);
    struct BoundSet {
        VkPipeline pipeline = VK_NULL_HANDLE;
        VkPipelineLayout layout = VK_NULL_HANDLE;
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint32_t push_bytes = 0;
        bool params_in_buffer = false;
    };
    struct Copy {
        BufferRange source, target;
    };
    void resolve_slots(const LoadedProgram& loaded, const Program& program);
    void refuse_aliases(const Program& program) const;
    void bind_sets(const LoadedProgram& loaded, const Program& program);
    void copy(VkCommandBuffer commands, const Copy& copy) const;
    void upload_params(VkCommandBuffer commands) const;

    Device& device_;
    std::shared_ptr<const CallPlan> plan_;
    Bindings bindings_;
    std::vector<BufferRange> slots_;  // by buffer of the program
    std::vector<Copy> final_copies_;  // results that no kernel writes in their own memory
    std::unique_ptr<DescriptorSets> sets_;
    std::vector<BoundSet> bound_;
    PatchedParams params_;  // of the last recording
};

/// Records the program: all its dispatches and copies, barriers only where one reads or overwrites
/// what another touched. What was recorded before in `commands`, and whatever uses the memory
/// otherwise, must be ordered by the caller (barrier_all before, a barrier to the reader after).
/// Submits, waits and allocates nothing. `scalars`: one per argument, of the declared types.
/// `timestamps`, where given, gets one mark before the first step and one after each.
/// UserError where the plan has loops whose end only the data knows: a command buffer cannot look at the data.
void record(PreparedCall& call, VkCommandBuffer commands, const std::vector<Scalar>& scalars,
            Timestamps* timestamps = nullptr);
/// The same for steps [first, last) of the plan. The last step brings what is copied at the end.
void record_part(PreparedCall& call, VkCommandBuffer commands, const std::vector<Scalar>& scalars,
                 const RecordedPart& part, Timestamps* timestamps = nullptr);

}  // namespace firn
