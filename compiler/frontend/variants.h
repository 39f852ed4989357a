// The programs of a function, and which of them serves a call; internal.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/function_state.h"

namespace firn {

/// The properties that distinguish the calls of a function, beside its sizes.
struct CallKind {
    std::string scalars;  // by rank-0 argument: s for a number, t for a tensor on the device
    std::vector<std::string> data_sizes;  // declared symbols with values that only the device knows
};

/// The arguments of a call, before there is a program for it.
struct GatheredCall {
    Call call;  // without memory for the results
    std::vector<std::vector<int64_t>> shapes;
    CallKind kind;
};
/// Checks the arguments of a call without donating any. `what` names the caller, which is refused
/// while a function is recorded.
GatheredCall gather_call(FunctionState& state, const std::vector<Arg>& args, const char* what);

/// The function's graph for such calls. `kinds`: CallKind::scalars.
const CallGraph& graph_for(FunctionState& state, const std::string& kinds);
/// The variant that is to serve a call with these sizes and gives nothing away, without its
/// program.
std::shared_ptr<Variant> variant_without_program(FunctionState& state, const CallKind& kind,
                                                 const SizeEnv& symbols);
/// The variant that fits these sizes, with its program, for a call that gives nothing away.
std::shared_ptr<Variant> fitting_variant(FunctionState& state, const CallKind& kind,
                                         const SizeEnv& symbols);
/// The variant that serves a call with these sizes at once, with its program: the one that fits
/// them, or, while that is being compiled in the background, one that assumes less. `donated`: by
/// argument, the call gives its memory away.
std::shared_ptr<Variant> serving_variant(FunctionState& state, const CallKind& kind,
                                         const SizeEnv& symbols, const std::vector<bool>& donated);
/// Returns whether the variant for such a call has its program, or cannot be compiled; else its
/// compilation in the background starts.
bool is_compiled(FunctionState& state, const CallKind& kind, const SizeEnv& symbols,
                 const std::vector<bool>& donated);
/// The variant of the most recent call, or the one that assumes nothing, with its program.
Variant& last_variant(FunctionState& state);
/// Takes the program that the background has compiled for the variant.
void adopt(FunctionState& state, Variant& variant);

/// See Function::explain_kernel.
std::string kernel_after(FunctionState& state, const Variant& variant, const std::string& kernel,
                         const std::string& pass);

}  // namespace firn
