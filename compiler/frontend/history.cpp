// Keeps the history of computed values for as long as a gradient may need it.
#include "compiler/frontend/history.h"

#include <algorithm>

#include "compiler/frontend/float_paths.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/run_graph.h"

namespace firn {
namespace {

Histories& histories_of(SessionState& session) {
    if (!session.histories) session.histories = std::make_shared<Histories>();
    return *session.histories;
}

uint64_t bytes_of(const Node& buffer) { return buffer.as<BufferAttr>().storage->bytes(); }

/// Releases the history of the value.
void release(Histories& histories, History& history) {
    if (!history.past) return;
    if (--history.held->histories == 0)
        for (const Node* buffer : history.held->buffers)
            if (const auto at = histories.uses.find(buffer); --at->second == 0) {
                histories.bytes -= bytes_of(*buffer);
                histories.uses.erase(at);
            }
    history.held = nullptr;
    history.past = nullptr;
    --histories.kept;
}

using Place = std::map<uint64_t, History>::iterator;

Place erase(Histories& histories, Place at) {
    release(histories, at->second);
    if (const Ref value = at->second.value.lock()) value->history = nullptr;
    return histories.all.erase(at);
}

void erase(Histories& histories, const Node& value) {
    if (value.history) erase(histories, histories.all.find(value.serial));
}

void add(Histories& histories, const Ref& value, History history) {
    erase(histories, *value);
    if (history.past) {
        ++histories.kept;
        if (history.held->histories++ == 0)
            for (const Node* buffer : history.held->buffers)
                if (histories.uses[buffer]++ == 0) histories.bytes += bytes_of(*buffer);
    }
    history.value = value;
    value->history =
        &histories.all.emplace_hint(histories.all.end(), value->serial, std::move(history))->second;
}

/// A handle has the value: as this node, or as the Buffer that it was computed to.
bool is_held(const Node& node) {
    return node.handles > 0 || (node.computed && node.computed->handles > 0);
}

void put_source(std::vector<HistorySource>& sources, const Ref& node) {
    node->is_source = true;
    sources.push_back({node.get(), node});
}

void add_source(std::vector<HistorySource>& sources, const Ref& node) {
    for (const HistorySource& each : sources)
        if (each.id == node.get() && !each.node.expired()) return;
    put_source(sources, node);
    if (node->computed) put_source(sources, node->computed);
}

void add_origins(const Origins& from, Origins& out) {
    for (const Origin& origin : from) {
        const auto is_same = [&](const Origin& other) {
            return !other.node.owner_before(origin.node) && !origin.node.owner_before(other.node);
        };
        if (!origin.node.expired() && std::none_of(out.begin(), out.end(), is_same))
            out.push_back(origin);
    }
}

/// Adds the nodes of handles that a history's value changes with, those of its own inputs, and the
/// origins of copies among them. Histories of this `walk` were visited already.
void add_handles(const History& history, uint64_t walk, std::vector<HistorySource>& out,
                 Origins& origins) {
    if (history.walk == walk) return;
    history.walk = walk;
    add_origins(history.origins, origins);
    for (const HistorySource& source : history.sources->all) {
        const Ref node = source.node.lock();
        if (!node) continue;
        if (is_held(*node)) add_source(out, node);
        if (node->history) add_handles(*node->history, walk, out, origins);
    }
}

/// Makes the handles behind a history its sources.
void leave_handles(Histories& histories, History& history) {
    if (history.sources->are_handles) return;
    std::vector<HistorySource> found;
    add_handles(history, ++histories.walks, found, history.origins);
    history.sources->all = std::move(found);
    history.sources->are_handles = true;
}

void forget(Histories& histories, History& history, const std::string& why) {
    leave_handles(histories, history);
    history.forgotten = why;
    release(histories, history);
}

/// Bytes of Buffers that no handle has. A handle's are there in any case.
uint64_t bytes_without_handles(const Histories& histories) {
    uint64_t bytes = 0;
    for (const auto& [buffer, uses] : histories.uses)
        if (buffer->handles == 0) bytes += bytes_of(*buffer);
    return bytes;
}

/// Keeps to the limits: drops values that are too large by themselves, then the oldest.
void forget_oldest(Histories& histories) {
    if (histories.bytes <= kMostHistoryBytes && histories.kept <= kMostHistories) return;
    const std::string much = "they take more than " + std::to_string(kMostHistoryBytes >> 20) +
                             " MiB of memory, with the values computed since";
    const auto too_large = [&] {
        return histories.bytes > kMostHistoryBytes &&
               bytes_without_handles(histories) > kMostHistoryBytes;
    };
    if (too_large())
        for (auto& [serial, history] : histories.all) {
            uint64_t own = 0;
            if (!history.past) continue;
            for (const Node* buffer : history.held->buffers)
                if (buffer->handles == 0) own += bytes_of(*buffer);
            if (own > kMostHistoryBytes) forget(histories, history, much);
        }
    auto at = histories.all.begin();
    const auto forget_next = [&](const std::string& why) {
        while (!at->second.past) ++at;
        forget(histories, at->second, why);
    };
    while (too_large()) forget_next(much);
    while (histories.kept > kMostHistories)
        forget_next("more than " + std::to_string(kMostHistories) + " values were computed since");
}

/// Adds sources whose handles now have a Buffer instead.
void follow(Histories& histories, const std::vector<Computed>& values) {
    if (std::none_of(values.begin(), values.end(),
                     [](const Computed& value) { return value.node->is_source; }))
        return;
    for (auto& [serial, history] : histories.all)
        for (size_t k = 0; k < history.sources->all.size(); ++k)
            for (const Computed& value : values)
                if (value.node.get() == history.sources->all[k].id)
                    add_source(history.sources->all, value.buffer);
}

/// Returns, by own result, the arguments that it changes with, the captured ones too; and finds
/// everything else that histories need of the function.
const std::vector<std::vector<size_t>>& smooth_arguments(FunctionState& function, size_t own) {
    if (!function.smooth_arguments.empty()) return function.smooth_arguments;
    const auto first = function.graph.results.begin() +
                       static_cast<std::ptrdiff_t>(function.graph.data_sizes.size());
    const std::vector<Ref> results(first, first + static_cast<std::ptrdiff_t>(own));
    const FloatPaths paths(
        results, [](const Node& node) { return node.op == Op::Input; }, FloatPaths::Buffers::Left);
    for (const Ref& result : results) {
        auto& found = function.smooth_arguments.emplace_back();
        if (!result->dtype.is_float()) continue;
        for (const Ref& argument : paths.sources_of(*result))
            found.push_back(static_cast<size_t>(argument->as<InputAttr>().index));
    }
    for (size_t k = function.specs.size(); k < function.graph.args.size(); ++k) {
        const Node& argument = *function.graph.args[k];
        function.captured_nodes.push_back(function.session->nodes.intern(
            Op::Buffer, argument.dtype, argument.shape, {}, function.captured[k], function.line));
    }
    function.recorded = std::make_shared<RecordedFunction>(function);
    return function.smooth_arguments;
}

void add_buffer(const Node* buffer, std::vector<const Node*>& out) {
    if (std::find(out.begin(), out.end(), buffer) == out.end()) out.push_back(buffer);
}

void add_buffers(const Past& past, std::vector<const Node*>& out) {
    if (past.node)
        for (const Ref& node : topological({past.node}))
            if (node->op == Op::Buffer) add_buffer(node.get(), out);
    if (!past.call) return;
    for (const Ref& node : past.call->captured) add_buffer(node.get(), out);
    for (const PastArgument& argument : past.call->arguments) {
        if (argument.node && argument.node->op == Op::Buffer) add_buffer(argument.node.get(), out);
        if (argument.past) add_buffers(*argument.past, out);
    }
}

/// Adds the sources that a result changes with through one of the arguments.
void add_sources_of(const Ref& argument, bool lost, std::vector<HistorySource>& out) {
    if (is_held(*argument)) add_source(out, argument);
    const History* before = argument->history;
    if (!before) return;
    if (!lost) return add_source(out, argument);
    for (const HistorySource& source : before->sources->all)
        if (const Ref node = source.node.lock()) add_source(out, node);
}

}  // namespace

void keep_histories(SessionState& session, const std::vector<Computed>& values, SourceLine line) {
    std::vector<Computed> floats;
    for (const Computed& value : values)
        if (value.node != value.buffer && value.node->dtype.is_float()) floats.push_back(value);
    if (floats.empty()) return;
    if (session.histories) follow(*session.histories, floats);
    std::erase_if(floats, [&](const Computed& value) {
        return value.buffer->history && value.buffer->history->past;
    });
    if (floats.empty()) return;
    std::vector<Ref> roots;
    for (const Computed& value : floats) roots.push_back(value.node);
    const FloatPaths paths(
        roots, [](const Node& node) { return is_held(node) || node.history; },
        FloatPaths::Buffers::Found);
    if (!paths.any()) return;
    Histories& histories = histories_of(session);
    for (const Computed& value : floats) {
        History history;
        history.sources = std::make_shared<HistorySources>();
        for (const Ref& source : paths.sources_of(*value.node)) {
            if (source != value.node)
                add_source(history.sources->all, source);
            else if (source->handles > 0)  // another handle has it as it was
                put_source(history.sources->all, source);
        }
        if (history.sources->all.empty()) continue;
        history.held = std::make_shared<HeldBuffers>();
        for (const Ref& buffer : paths.buffers_of(*value.node))
            history.held->buffers.push_back(buffer.get());
        history.past = std::make_shared<Past>(Past{value.node, nullptr, 0, 0});
        history.line = line;
        add(histories, value.buffer, std::move(history));
    }
    forget_oldest(histories);
}

void take_buffer(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& buffer,
                 SourceLine line) {
    const Ref node = slot->node;
    slot->node = buffer;
    if (node && node != buffer) keep_histories(session, {{node, buffer}}, line);
}

void keep_call(SessionState& session, FunctionState& function, std::vector<PastArgument> arguments,
               const std::vector<Ref>& lost, const std::vector<Ref>& results, SourceLine line) {
    const auto& smooth = smooth_arguments(function, results.size());
    const auto argument_at = [&](size_t k) -> const Ref& {
        if (k >= arguments.size()) return function.captured_nodes[k - arguments.size()];
        return lost[k] ? lost[k] : arguments[k].node;
    };
    std::vector<History> made(results.size());
    bool any = false;
    for (size_t r = 0; r < results.size(); ++r) {
        if (r > 0 && smooth[r] == smooth[r - 1]) {
            made[r].sources = made[r - 1].sources;
            continue;
        }
        made[r].sources = std::make_shared<HistorySources>();
        for (const size_t k : smooth[r])
            if (const Ref& argument = argument_at(k))
                add_sources_of(argument, k < lost.size() && lost[k], made[r].sources->all);
        any |= !made[r].sources->all.empty();
    }
    if (!any) return;
    Histories& histories = histories_of(session);
    int given_away = 0;
    bool gone = false;
    for (size_t k = 0; k < arguments.size(); ++k) {
        if (!lost[k]) continue;
        gone |= !arguments[k].past;
        if (arguments[k].past) given_away = std::max(given_away, arguments[k].past->given_away + 1);
    }
    const auto call = std::make_shared<PastCall>(
        PastCall{function.recorded, std::move(arguments), function.captured_nodes});
    const auto held = gone ? nullptr : std::make_shared<HeldBuffers>();
    if (held) add_buffers({nullptr, call, 0, 0}, held->buffers);
    for (size_t r = 0; r < results.size(); ++r) {
        History& history = made[r];
        if (history.sources->all.empty()) continue;
        history.line = line;
        if (gone) {
            leave_handles(histories, history);
            history.forgotten = "the memory of an argument was donated to that call";
        } else {
            history.past = std::make_shared<Past>(Past{nullptr, call, r, given_away});
            history.held = held;
        }
        add(histories, results[r], std::move(history));
    }
    forget_oldest(histories);
}

Origins origins_of(const std::shared_ptr<SessionState>& session, const Ref& buffer) {
    Origins out{{session, buffer}};
    if (!buffer->history) return out;
    std::vector<HistorySource> handles;
    add_handles(*buffer->history, ++histories_of(*session).walks, handles, out);
    for (const HistorySource& handle : handles) add_origins({{session, handle.node}}, out);
    return out;
}

void keep_copy(SessionState& session, const Ref& buffer, Origins origins, SourceLine line) {
    History history;
    history.sources = std::make_shared<HistorySources>();
    history.sources->are_handles = true;
    for (const Origin& origin : origins)
        if (const Ref node = origin.node.lock(); node && origin.session.lock().get() == &session)
            add_source(history.sources->all, node);
    history.origins = std::move(origins);
    history.line = line;
    history.forgotten = "it is a copy from another session, through which no gradient goes";
    add(histories_of(session), buffer, std::move(history));
}

std::shared_ptr<const Past> computed_again(const Ref& buffer, const Ref& node) {
    const History* history = buffer->history;
    if (history && history->past && history->past->given_away < kMostGivenAway)
        return history->past;
    if (history || node == buffer) return nullptr;
    return std::make_shared<Past>(Past{node, nullptr, 0, 0});
}

void prune_histories(SessionState& session) {
    if (!session.histories || session.histories->all.empty()) return;
    Histories& histories = *session.histories;
    // Most of many histories stay: all are visited once a 16th of them may be new.
    if (++histories.unpruned * 16 < histories.all.size()) return;
    histories.unpruned = 0;
    for (auto& [serial, history] : histories.all) {
        history.asked_for = false;
        for (const HistorySource& source : history.sources->all) {
            const Ref node = source.node.lock();
            if (!node) continue;
            history.asked_for = is_held(*node) || (node->history && node->history->asked_for);
            if (history.asked_for) break;
        }
        for (const Origin& origin : history.origins) history.asked_for |= !origin.node.expired();
    }
    for (auto at = histories.all.end(); at != histories.all.begin();) {
        --at;
        const Ref value = at->second.value.lock();
        // References by values that were computed to it do not count.
        if (value && value.use_count() > 1 + value->forms && at->second.asked_for) continue;
        at = erase(histories, at);
    }
}

void give_up_memory(SessionState& session, const Ref& buffer, const Past* again, SourceLine line) {
    if (buffer->handles > 0) return;
    if (session.histories)
        for (auto& [serial, history] : session.histories->all)
            if (history.past &&
                std::find(history.held->buffers.begin(), history.held->buffers.end(),
                          buffer.get()) != history.held->buffers.end())
                forget(*session.histories, history,
                       "memory that it needs was donated by std::move at " + text(line));
    if (again && again->node && again->node.use_count() == 1) set_computed(*again->node, nullptr);
}

bool forget_histories(SessionState& session, const std::string& why) {
    if (!session.histories || bytes_without_handles(*session.histories) == 0) return false;
    for (auto& [serial, history] : session.histories->all)
        if (history.past) forget(*session.histories, history, why);
    return true;
}

void make_leaf(SessionState& session, const Ref& buffer) {
    if (session.histories) erase(*session.histories, *buffer);
}

}  // namespace firn
