// Calls a Program without the compiler.
#include "compiler/program/make_call.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"

namespace firn {

std::shared_ptr<Memory> shared_memory(const Program& program, const Call& call, size_t k) {
    int buffer = program.results[k].buffer;
    for (size_t a = 0; a < program.arguments.size(); ++a)
        if (!program.arguments[a].scalar && program.arguments[a].buffer == buffer)
            return call.arguments[a];
    for (size_t r = 0; r < k; ++r)
        if (program.results[r].buffer == buffer) return call.results[r];
    return nullptr;
}

std::shared_ptr<const Program> program_for(const SavedProgram& saved, const Executor& executor,
                                           const std::vector<std::vector<int64_t>>& shapes,
                                           const std::vector<Scalar>& scalars) {
    return program_for(
        saved, executor.profile().name,
        [&](const Program& program) { return executor.why_cannot_run(program); }, shapes, scalars);
}

std::shared_ptr<const Program> program_for(
    const SavedProgram& saved, const std::string& device,
    const std::function<std::string(const Program&)>& why_cannot_run,
    const std::vector<std::vector<int64_t>>& shapes, const std::vector<Scalar>& scalars) {
    const SizeEnv symbols = bind_symbols(*saved.program, shapes, scalars);
    std::shared_ptr<const Program> too_small;
    std::vector<std::string> reasons;
    const auto serves = [&](const std::shared_ptr<const Program>& program) {
        const std::string why = why_cannot_run(*program);
        if (why.empty() && binds(*program, symbols)) return true;
        if (why.empty())
            too_small = program;
        else if (std::find(reasons.begin(), reasons.end(), why) == reasons.end())
            reasons.push_back(why);
        return false;
    };
    for (const SavedVariant& variant : saved.variants)
        if (!assumes_nothing(variant.facts) && hold(variant.facts, symbols) &&
            serves(variant.program))
            return variant.program;
    if (serves(saved.program)) return saved.program;
    for (const SavedVariant& variant : saved.variants)
        if (assumes_nothing(variant.facts) && serves(variant.program)) return variant.program;
    if (too_small) return too_small;  // make_call says which size it cannot bind
    std::string text;
    for (const std::string& why : reasons) text += (text.empty() ? "" : "; ") + why;
    throw UserError("program '" + saved.name + "' has no form that runs on '" + device +
                    "': " + text + "; save it for this device too");
}

Call make_call(Executor& executor, const Program& program,
               std::vector<std::shared_ptr<Memory>> arguments,
               const std::vector<std::vector<int64_t>>& shapes, std::vector<Scalar> scalars) {
    const size_t wanted = program.arguments.size();
    if (arguments.size() != wanted || scalars.size() != wanted)
        throw UserError(program.name + ": takes " + std::to_string(wanted) +
                        " arguments and was given " + std::to_string(arguments.size()) +
                        " of memory and " + std::to_string(scalars.size()) +
                        " numbers; give one of each for every argument");
    for (size_t k = 0; k < wanted; ++k)
        if (!program.arguments[k].scalar && !arguments[k])
            throw UserError(program.name + ": argument " + std::to_string(k) +
                            " is a tensor and was given no memory; allocate it");
    Call call;
    call.symbols = bind_symbols(program, shapes, scalars);
    for (const AssumedSize& assumed : program.assumed)
        if (const int64_t size = assumed.size.evaluate(call.symbols); size > assumed.most)
            throw UserError(program.name + ": the size " + assumed.size.text() + " is " +
                            std::to_string(size) + ", and this program binds at most " +
                            std::to_string(assumed.most) +
                            "; use smaller tensors, or save it with tensors as large as these");
    call.scalars = std::move(scalars);
    call.arguments = std::move(arguments);
    for (size_t k = 0; k < program.results.size(); ++k) {
        std::shared_ptr<Memory> memory = shared_memory(program, call, k);
        const auto slot = static_cast<size_t>(program.results[k].buffer);
        const int64_t bytes = program.buffers[slot].bytes().evaluate(call.symbols);
        if (!memory)
            memory = executor.allocate(static_cast<uint64_t>(std::max<int64_t>(16, bytes)),
                                       "result " + std::to_string(k) + " of " + program.name);
        call.results.push_back(std::move(memory));
    }
    return call;
}

}  // namespace firn
