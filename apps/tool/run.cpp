// firn run: calls a saved program on files, several times if asked, and writes results.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apps/tool/commands.h"
#include "apps/tool/devices.h"
#include "apps/tool/values.h"
#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/program/make_call.h"

namespace firn::tool {
namespace {

/// The result that becomes an argument of the next call.
struct Feed {
    size_t result = 0, argument = 0;
};
/// A result of the last call, and its file.
struct Output {
    size_t result = 0;
    std::string path;
};

std::vector<int64_t> sizes_of(const Shape& shape, const SizeEnv& symbols) {
    std::vector<int64_t> out;
    for (const Size& size : shape) out.push_back(size.evaluate(symbols));
    return out;
}

/// Says why a result cannot become the argument; empty: it can.
std::string why_not_fed(const Program& program, size_t result, size_t argument,
                        const SizeEnv& symbols) {
    const ResultInfo& from = program.results[result];
    const ArgumentInfo& to = program.arguments[argument];
    if (to.scalar) return "the argument is a number";
    for (const Size& size : from.shape)
        if (!data_symbols(size).empty()) return "only the data knows the size of the result";
    if (from.dtype == to.dtype && sizes_of(from.shape, symbols) == sizes_of(to.shape, symbols))
        return "";
    return "the result is " + type_text(from.dtype, sizes_of(from.shape, symbols)) +
           ", and the argument " + type_text(to.dtype, sizes_of(to.shape, symbols));
}

/// Results with the name of a tensor argument that they fit; none where no result has such a name.
std::vector<Feed> feeds_by_name(const SavedProgram& saved, const SizeEnv& symbols) {
    const Program& program = *saved.program;
    std::vector<Feed> out;
    for (size_t k = 0; k < program.arguments.size(); ++k)
        for (size_t result = first_result(program); result < program.results.size(); ++result) {
            const std::string name = result_name(saved, result);
            if (!name.empty() && name == program.arguments[k].name &&
                why_not_fed(program, result, k, symbols).empty())
                out.push_back({result, k});
        }
    return out;
}

std::vector<Feed> feeds_of(const SavedProgram& saved, const ToolOptions& options,
                           const SizeEnv& symbols) {
    const Program& program = *saved.program;
    std::vector<Feed> out;
    std::set<size_t> fed;
    for (const std::string& text : options.feeds) {
        const size_t colon = text.find(':');
        if (colon == text.npos)
            throw UserError("--feed " + text + ": give a result and an argument, as in 0:u");
        const Feed feed{result_named(saved, text.substr(0, colon), "--feed"),
                        argument_named(program, text.substr(colon + 1), "--feed")};
        if (const std::string why = why_not_fed(program, feed.result, feed.argument, symbols);
            !why.empty())
            throw UserError("--feed " + text + ": " + why +
                            "; type and shape of the two must be equal");
        if (!fed.insert(feed.argument).second)
            throw UserError("--feed " + text + ": this argument has another result already");
        out.push_back(feed);
    }
    if (!out.empty() || options.frames < 2) return out;
    out = feeds_by_name(saved, symbols);
    if (!out.empty()) return out;
    size_t result = first_result(program);
    for (size_t k = 0; k < program.arguments.size() && result < program.results.size(); ++k) {
        if (program.arguments[k].scalar) continue;
        if (why_not_fed(program, result, k, symbols).empty()) out.push_back({result, k});
        ++result;
    }
    if (out.empty())
        throw UserError(
            "--frames " + std::to_string(options.frames) +
            ": no result has the type and shape of the tensor argument at its place, so that all "
            "calls would be the same; give --feed RESULT:ARGUMENT");
    return out;
}

std::vector<Output> outputs_of(const SavedProgram& saved, const ToolOptions& options) {
    std::vector<Output> out;
    for (const std::string& text : options.outs) {
        const size_t equals = text.find('=');
        const bool numbered = equals != text.npos && is_result(saved, text.substr(0, equals));
        const std::string path = numbered ? text.substr(equals + 1) : text;
        const std::filesystem::path file(path);
        const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
        if (file.extension() != ".npy")
            throw UserError("--out " + text + ": the name must end in .npy");
        if (!std::filesystem::is_directory(folder))
            throw UserError("--out " + text + ": there is no folder " + folder.string() +
                            "; create it first");
        out.push_back(
            {result_named(saved, numbered ? text.substr(0, equals) : "0", "--out"), path});
    }
    return out;
}

/// Calls of one program, each with results of the one before it.
class Calls {
  public:
    Calls(std::shared_ptr<Executor> executor, std::shared_ptr<const Program> program,
          const HostArguments& arguments, std::vector<Feed> feeds)
        : executor_(std::move(executor)),
          program_(std::move(program)),
          arguments_(arguments),
          feeds_(std::move(feeds)) {}

    void run() {
        std::vector<std::shared_ptr<Memory>> memory = next_arguments();
        call_ = make_call(*executor_, *program_, std::move(memory), arguments_.shapes,
                          arguments_.scalars);
        executor_->run(program_, call_);
    }
    /// The values of sizes that only the device knows are among the symbols.
    StoredTensor result(size_t k) {
        SizeEnv symbols = call_.symbols;
        for (size_t d = 0; d < program_->data_sizes.size(); ++d) {
            const SizeAtom symbol = data_symbols(program_->data_sizes[d].size).at(0);
            int32_t value = 0;
            executor_->read(*call_.results[d], 0, std::as_writable_bytes(std::span(&value, 1)));
            symbols[symbol.name] =
                std::clamp<int64_t>(value, 0, symbol.args[0].evaluate(call_.symbols));
        }
        const ResultInfo& info = program_->results[k];
        return download(*executor_, *call_.results[k], info.dtype, sizes_of(info.shape, symbols));
    }

  private:
    /// Returns whether a call writes over the argument.
    bool is_given_away(size_t argument) const {
        for (const ResultInfo& result : program_->results)
            if (result.buffer == program_->arguments[argument].buffer) return true;
        return false;
    }

    std::vector<std::shared_ptr<Memory>> next_arguments() {
        std::vector<std::shared_ptr<Memory>> out(program_->arguments.size());
        std::set<const Memory*> used;
        const bool first = call_.results.empty();
        for (size_t k = 0; k < out.size(); ++k) {
            if (program_->arguments[k].scalar) continue;
            const auto feed = std::find_if(feeds_.begin(), feeds_.end(),
                                           [&](const Feed& each) { return each.argument == k; });
            if (first || (feed == feeds_.end() && is_given_away(k)))
                out[k] = upload(*executor_, arguments_.tensors[k]);
            else if (feed == feeds_.end())
                out[k] = call_.arguments[k];
            else
                out[k] = call_.results[feed->result];
            // An argument that a call writes over may share its memory with no other argument.
            if (!used.insert(out[k].get()).second && reuses_arguments(*program_))
                out[k] = upload(*executor_, result(feed->result));
        }
        return out;
    }

    std::shared_ptr<Executor> executor_;
    std::shared_ptr<const Program> program_;
    const HostArguments& arguments_;
    std::vector<Feed> feeds_;
    Call call_;
};

void say_feeds(const SavedProgram& saved, const std::vector<Feed>& feeds) {
    for (const Feed& feed : feeds)
        std::printf("%s becomes %s of the next call\n", result_text(saved, feed.result).c_str(),
                    argument_text(*saved.program, feed.argument).c_str());
}

/// The lines of progress of a call that takes long.
void watch_run(Executor& executor, LongWork& work) {
    constexpr double kFirstSeconds = 1;
    executor.set_progress(
        [&work](const RunProgress& progress) {
            work.write(progress.program + ": iteration " + std::to_string(progress.iteration) +
                       (progress.iterations > 0 ? " of " + std::to_string(progress.iterations)
                                                : std::string()) +
                       " of the loop at " + progress.line);
        },
        kFirstSeconds);
}

}  // namespace

int run_file(const ToolOptions& options) {
    const SavedProgram saved = read_program(options.file);
    std::vector<Named> sizes, args, sets;
    for (const std::string& text : options.sizes) sizes.push_back(named("--size", text));
    for (const std::string& text : options.args) args.push_back(named("--arg", text));
    for (const std::string& text : options.sets) sets.push_back(named("--set", text));
    const std::vector<Output> outputs = outputs_of(saved, options);
    const HostArguments arguments = read_arguments(
        saved, args, sets,
        sizes.empty() ? std::vector<std::vector<int64_t>>() : shapes_at(saved, sizes));
    const SizeEnv symbols = bind_symbols(*saved.program, arguments.shapes, arguments.scalars);
    const std::vector<Feed> feeds = feeds_of(saved, options, symbols);

    const std::shared_ptr<Executor> executor = open_device(saved, options.device);
    const std::shared_ptr<const Program> program =
        program_for(saved, *executor, arguments.shapes, arguments.scalars);
    const std::string at = sizes_text(*program, symbols);
    std::printf("%s on %s%s\n", saved.name.c_str(), device_name(*executor).c_str(),
                at.empty() ? "" : (", " + at).c_str());
    say_feeds(saved, feeds);
    LongWork work;
    watch_run(*executor, work);
    Calls calls(executor, program, arguments, feeds);
    for (int frame = 0; frame < options.frames; ++frame) {
        calls.run();
        if (options.frames == 1) continue;
        executor->wait();
        work.tell({"frame " + std::to_string(frame + 1) + " of " + std::to_string(options.frames),
                   double(frame + 1) / options.frames});
    }
    executor->wait();
    executor->set_progress({}, 0);
    std::map<size_t, std::vector<std::string>> files;
    for (const Output& output : outputs) files[output.result].push_back(output.path);
    const size_t first = first_result(*program);
    for (size_t k = first; k < program->results.size(); ++k) {
        const StoredTensor result = calls.result(k);
        for (const std::string& path : files[k]) write_result(path, result);
        std::string written;
        for (const std::string& path : files[k]) written += ", written to " + path;
        std::printf("%s: %s, %s%s\n", result_text(saved, k).c_str(),
                    type_text(result.dtype, result.shape).c_str(), summary(result).c_str(),
                    written.c_str());
    }
    return 0;
}

}  // namespace firn::tool
