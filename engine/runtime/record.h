// The one primitive of the runtime: a program's commands into a command buffer, with no submit,
// wait or allocation.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/profiler.h"
#include "engine/runtime/call_plan.h"

namespace firn {

/// A program on a device: pipelines, constants, and plans for the sizes of its calls. Used by one
/// thread at a time. It does not own the Program; callers pass the same one each time.
class LoadedProgram {
  public:
    /// Compiles the pipelines and uploads the constants. Throws UserError where the device cannot
    /// run it.
    /// Reports how many pipelines are made to `told`, if given.
    LoadedProgram(std::shared_ptr<Device> device, const Program& program,
                  const CompileWatch& told = {});

    Device& device() const { return *device_; }
    const std::string& name() const { return name_; }
    const Pipeline& pipeline(int kernel) const { return *pipelines_[static_cast<size_t>(kernel)]; }
    /// Replaces the pipeline for calls that are prepared from now on; earlier calls keep theirs.
    void replace_pipeline(size_t kernel, std::shared_ptr<const Pipeline> pipeline) {
        pipelines_.at(kernel) = std::move(pipeline);
    }
    /// Takes the pipelines of another program with the same kernels.
    void take_pipelines(const LoadedProgram& other) { pipelines_ = other.pipelines_; }
    /// Returns the constants by buffer; null for other buffers.
    const std::vector<std::shared_ptr<Buffer>>& constants() const { return constants_; }

    /// Returns the plan for these sizes; kept for the next call with the same ones.
    std::shared_ptr<const CallPlan> plan(const Program& program, const SizeEnv& symbols);
    /// The same for a run in parts where scalar arguments decide how many iterations loops take:
    /// one plan serves any number.
    std::shared_ptr<const CallPlan> plan_to_run(const Program& program, const SizeEnv& symbols);
    /// Returns how many plans were made.
    int plans_made() const { return plans_made_; }

  private:
    struct Planned {
        bool in_parts = false;
        std::vector<int64_t> values;  // of symbols_, or of those in parts
        std::shared_ptr<const CallPlan> plan;
    };
    std::shared_ptr<const CallPlan> plan(const Program& program, const SizeEnv& symbols,
                                         bool in_parts);
    std::shared_ptr<Device> device_;
    std::string name_;
    std::vector<std::shared_ptr<const Pipeline>> pipelines_;
    std::vector<std::shared_ptr<Buffer>> constants_;
    std::vector<int64_t> values_of(const std::vector<std::string>& names,
                                   const SizeEnv& symbols) const;
    std::vector<std::string> symbols_, symbols_in_parts_;
    std::vector<int64_t> last_values_;  // of symbols_, in the last call of plan_to_run
    std::list<Planned> plans_;          // the newest use first
    int plans_made_ = 0;
};

/// The memory of one call.
struct Bindings {
    std::vector<BufferRange> arguments;  // one per argument; ignored for scalars
    std::vector<BufferRange> results;    // one per result
    BufferRange scratch;                 // at least CallPlan::scratch_bytes
    friend bool operator==(const Bindings&, const Bindings&) = default;
};

/// The usages that the buffers of a call must have (VkBufferUsageFlags).
struct CallUsage {
    std::vector<uint32_t> slots;    // by buffer of the program
    std::vector<uint32_t> results;  // of the caller's memory of each result
    uint32_t scratch = 0;
};
/// `result_slots`: as for PreparedCall.
CallUsage usage_of(const Program& program, const CallPlan& plan,
                   const std::vector<int>& result_slots);

/// Returns whether result `result` needs memory of its own even if it is not wanted.
bool result_needs_memory(const Program& program, const CallPlan& plan,
                         const std::vector<int>& result_slots, size_t result);

/// A copy between two places of memory.
struct RangeCopy {
    BufferRange source, target;
};

/// Some steps of a call: a part of it, or [first, last) of all.
struct RecordedSteps {
    const PlannedSteps& plan;
    const std::vector<int>& sets;  // places of the plan's sets, see PreparedCall::bind
    const PatchedParams& params;
    size_t first = 0, last = 0;
};

/// A plan bound to memory: everything that `record` needs, made beforehand. Must end before its
/// device, and may end while commands that it recorded are pending.
class PreparedCall {
  public:
    /// Throws UserError if a range is smaller than its tensor, outside of its buffer, beyond the
    /// device's limit, of a buffer without the usage that it takes, or shared
    /// with another tensor that the program writes (hazards are known by tensor, not by address).
    /// `result_slots`: the slots in which a plan in parts expects the results to end.
    PreparedCall(const LoadedProgram& loaded, const Program& program,
                 std::shared_ptr<const CallPlan> plan, const Bindings& bindings,
                 const std::vector<int>& result_slots = {});

    const CallPlan& plan() const { return *plan_; }
    const Bindings& bindings() const { return bindings_; }
    const std::vector<int>& result_slots() const { return result_slots_; }
    /// Makes descriptor sets where there are none; their places, for record_steps.
    std::vector<int> bind(const LoadedProgram& loaded, const Program& program,
                          std::span<const PlannedSet> sets);
    /// Fills in the addresses of the memory that kernels reach so.
    void give_addresses(const PlannedSteps& plan, PatchedParams& params) const;
    /// Returns the copies to make if the results have ended in these slots.
    std::vector<RangeCopy> result_copies(const std::vector<int>& ends) const;
    /// The memory of a slot of the program.
    const BufferRange& slot(int slot) const { return slots_[static_cast<size_t>(slot)]; }

  private:
    friend void record(PreparedCall&, VkCommandBuffer, const std::vector<Scalar>&, Timestamps*);
    friend void record_steps(const PreparedCall&, VkCommandBuffer, const RecordedSteps&,
                             Timestamps*);
    friend void record_copies(const PreparedCall&, VkCommandBuffer, const std::vector<RangeCopy>&);
    struct BoundSet {
        VkPipeline pipeline = VK_NULL_HANDLE;
        VkPipelineLayout layout = VK_NULL_HANDLE;
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint32_t push_bytes = 0;
        bool params_in_buffer = false;
    };
    void resolve_slots(const LoadedProgram& loaded, const Program& program);
    void refuse_aliases(const Program& program) const;
    void refuse_foreign(const Program& program) const;
    void make_sets(const LoadedProgram& loaded, const Program& program,
                   std::span<const PlannedSet> sets);
    void copy(VkCommandBuffer commands, const RangeCopy& copy) const;
    void upload_params(VkCommandBuffer commands, const PlannedSteps& plan,
                       const PatchedParams& params) const;

    Device& device_;
    std::shared_ptr<const CallPlan> plan_;
    Bindings bindings_;
    std::vector<int> result_slots_;
    std::vector<uint64_t> offsets_;     // of temporaries in the scratch, by buffer of the program
    std::vector<BufferRange> slots_;    // by buffer of the program
    std::vector<BufferRange> results_;  // the caller's memory of each result
    std::vector<RangeCopy> final_copies_;  // results that no kernel writes in their own memory
    std::vector<std::unique_ptr<DescriptorSets>> sets_;
    std::vector<BoundSet> bound_;
    std::map<PlannedSet, int> places_;  // in bound_
    std::vector<int> own_sets_;         // places of the plan's own sets
    PatchedParams params_;              // of the last recording
};

/// Records the program: all its dispatches and copies, with barriers only where one reads or
/// overwrites memory that another touched. The caller must order it with commands recorded before,
/// and with other uses of the memory (barrier_all before, a barrier to the reader after). Submits,
/// waits and allocates nothing. `scalars`: one per argument, of the declared types. `timestamps`,
/// if given, gets one mark before the first step and one after each. UserError if the plan is in
/// parts: a command buffer cannot read the data, and could not end such a loop.
void record(PreparedCall& call, VkCommandBuffer commands, const std::vector<Scalar>& scalars,
            Timestamps* timestamps = nullptr);
/// The same for some steps. Parameters in a buffer are uploaded with the first step of their plan.
void record_steps(const PreparedCall& call, VkCommandBuffer commands, const RecordedSteps& part,
                  Timestamps* timestamps = nullptr);
/// Copies at the end, after a barrier.
void record_copies(const PreparedCall& call, VkCommandBuffer commands,
                   const std::vector<RangeCopy>& copies);

}  // namespace firn
