// A program at certain sizes, with its memory: what is behind a firn_call.
#pragma once
#include <memory>
#include <vector>

#include "engine/c/handles.h"
#include "engine/c/image.h"
#include "engine/gpu/profiler.h"

struct firn_call {
    firn_context* context = nullptr;
    std::shared_ptr<firn::c::ProgramState> state;
    std::vector<std::vector<int64_t>> shapes;
    std::vector<firn::Scalar> scalars;  // of the declared types

    // The form that serves these sizes and numbers.
    std::shared_ptr<const firn::Program> program;
    firn::SizeEnv symbols;
    std::shared_ptr<firn::LoadedProgram> loaded;
    std::shared_ptr<const firn::CallPlan> plan;
    firn::CallUsage usage;

    // Its memory; none before firn_call_bind.
    firn::Bindings bindings;
    std::vector<std::shared_ptr<firn::Buffer>> own_arguments;  // null: of the host, or a number
    std::vector<std::shared_ptr<firn::Buffer>> own_results;    // the same
    std::shared_ptr<firn::Buffer> own_scratch;                 // null: none, or of the caller
    std::unique_ptr<firn::PreparedCall> prepared;
    std::vector<firn::c::BoundImage> images;

    std::unique_ptr<firn::Timestamps> timestamps;  // of the last timed submission
    firn::TimelinePoint timed_at = 0;

    // The arrays that firn_kernel and firn_step return.
    std::vector<firn_kernel_binding> kernel_bindings;
    std::vector<firn_slot> slots;
    firn::PatchedParams params;
};

namespace firn::c {

/// Finds the form and the plan for the call's shapes and numbers. Leaves the call as it was where
/// it throws. Returns whether they changed.
bool choose_form(firn_call& call);
/// Makes what recording takes, of the call's bindings.
void prepare(firn_call& call);
/// Throws a Failure with the way out unless the call has memory.
void require_memory(const firn_call& call);

}  // namespace firn::c
