// What computed values were computed from, for as long as a gradient may ask for it.
#include "compiler/frontend/history.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/frontend/float_paths.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/run_graph.h"

namespace firn {
namespace {

Histories& histories_of(SessionState& session) {
    if (!session.histories) session.histories = std::make_shared<Histories>();
    return *session.histories;
}

History* find(const SessionState& session, const Node& node) {
    if (node.op != Op::Buffer || !session.histories) return nullptr;
    const auto at = session.histories->all.find(node.serial);
    return at == session.histories->all.end() ? nullptr : &at->second;
}

uint64_t bytes_of(const Node& buffer) {
    return static_cast<uint64_t>(element_count(largest(buffer.shape)).constant()) *
           static_cast<uint64_t>(buffer.dtype.bytes());
}

/// Lets go of what the value was computed from.
void release(Histories& histories, History& history) {
    if (!history.past) return;
    for (const Node* buffer : history.buffers)
        if (--histories.uses.at(buffer) == 0) {
            histories.bytes -= bytes_of(*buffer);
            histories.uses.erase(buffer);
        }
    history.buffers.clear();
    history.past = nullptr;
    --histories.kept;
}

void erase(Histories& histories, uint64_t serial) {
    const auto at = histories.all.find(serial);
    if (at == histories.all.end()) return;
    release(histories, at->second);
    histories.all.erase(at);
}

void add(Histories& histories, const Ref& value, History history) {
    erase(histories, value->serial);
    if (history.past) {
        ++histories.kept;
        for (const Node* buffer : history.buffers)
            if (histories.uses[buffer]++ == 0) histories.bytes += bytes_of(*buffer);
    }
    history.value = value;
    histories.all.emplace(value->serial, std::move(history));
}

/// A handle has the value: as this node, or as the Buffer that it was computed to.
bool is_held(const SessionState& session, const Node& node) {
    if (node.handles > 0) return true;
    const auto at = session.realized.find(&node);
    return at != session.realized.end() && at->second.buffer->handles > 0 &&
           at->second.node.lock().get() == &node;
}

void add_source(const SessionState& session, std::vector<HistorySource>& sources, const Ref& node) {
    for (const HistorySource& each : sources)
        if (each.id == node.get() && !each.node.expired()) return;
    sources.push_back({node.get(), node});
    if (const Ref buffer = known_buffer(session, node); buffer && buffer != node)
        sources.push_back({buffer.get(), buffer});
}

/// The nodes of handles that a history's value changes with, those of what it was computed from
/// too.
void add_handles(const SessionState& session, const History& history,
                 std::unordered_set<const History*>& seen, std::vector<HistorySource>& out) {
    if (!seen.insert(&history).second) return;
    for (const HistorySource& source : history.sources) {
        const Ref node = source.node.lock();
        if (!node) continue;
        if (is_held(session, *node)) add_source(session, out, node);
        if (const History* before = find(session, *node)) add_handles(session, *before, seen, out);
    }
}

std::vector<HistorySource> handles_behind(const SessionState& session, const History& history) {
    std::vector<HistorySource> out;
    std::unordered_set<const History*> seen;
    add_handles(session, history, seen, out);
    return out;
}

void forget(SessionState& session, History& history, const std::string& why) {
    history.sources = handles_behind(session, history);
    history.forgotten = why;
    release(*session.histories, history);
}

/// Bytes of Buffers that no handle has. A handle's are there in any case.
uint64_t bytes_without_handles(const Histories& histories) {
    uint64_t bytes = 0;
    for (const auto& [buffer, uses] : histories.uses)
        if (buffer->handles == 0) bytes += bytes_of(*buffer);
    return bytes;
}

/// Keeps to the bounds: what takes too much alone goes, then the oldest.
void forget_oldest(SessionState& session) {
    Histories& histories = *session.histories;
    const std::string much = "it takes more than " + std::to_string(kMostHistoryBytes >> 20) +
                             " MiB of memory, with what was computed since";
    const auto too_large = [&] {
        return histories.bytes > kMostHistoryBytes &&
               bytes_without_handles(histories) > kMostHistoryBytes;
    };
    if (too_large())
        for (auto& [serial, history] : histories.all) {
            uint64_t own = 0;
            for (const Node* buffer : history.buffers)
                if (buffer->handles == 0) own += bytes_of(*buffer);
            if (own > kMostHistoryBytes) forget(session, history, much);
        }
    auto at = histories.all.begin();
    const auto forget_next = [&](const std::string& why) {
        while (!at->second.past) ++at;
        forget(session, at->second, why);
    };
    while (too_large()) forget_next(much);
    while (histories.kept > kMostHistories)
        forget_next("more than " + std::to_string(kMostHistories) + " values were computed since");
}

/// Sources whose handles have a Buffer in their place now are that, too.
void follow(SessionState& session, const std::vector<Computed>& values) {
    for (auto& [serial, history] : session.histories->all)
        for (size_t k = 0; k < history.sources.size(); ++k)
            for (const Computed& value : values)
                if (value.node.get() == history.sources[k].id)
                    add_source(session, history.sources, value.buffer);
}

/// By own result, the arguments that it changes with, the captured ones too; and all else that
/// histories need of the function.
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

/// What a result changes with by one of the arguments.
void add_sources_of(SessionState& session, const Ref& argument, bool lost,
                    std::vector<HistorySource>& out) {
    if (is_held(session, *argument)) add_source(session, out, argument);
    const History* before = find(session, *argument);
    if (!before) return;
    if (!lost) return add_source(session, out, argument);
    for (const HistorySource& source : before->sources)
        if (const Ref node = source.node.lock()) add_source(session, out, node);
}

}  // namespace

void keep_histories(SessionState& session, const std::vector<Computed>& values, SourceLine line) {
    std::vector<Computed> floats;
    for (const Computed& value : values)
        if (value.node != value.buffer && value.node->dtype.is_float()) floats.push_back(value);
    if (floats.empty()) return;
    if (session.histories) follow(session, floats);
    std::erase_if(floats, [&](const Computed& value) {
        const History* known = find(session, *value.buffer);
        return known && known->past;
    });
    if (floats.empty()) return;
    std::vector<Ref> roots;
    for (const Computed& value : floats) roots.push_back(value.node);
    const FloatPaths paths(
        roots,
        [&](const Node& node) { return is_held(session, node) || find(session, node) != nullptr; },
        FloatPaths::Buffers::Found);
    if (!paths.any()) return;
    Histories& histories = histories_of(session);
    for (const Computed& value : floats) {
        History history;
        for (const Ref& source : paths.sources_of(*value.node)) {
            if (source != value.node)
                add_source(session, history.sources, source);
            else if (source->handles > 0)  // another handle has it as it was
                history.sources.push_back({source.get(), source});
        }
        if (history.sources.empty()) continue;
        for (const Ref& buffer : paths.buffers_of(*value.node))
            history.buffers.push_back(buffer.get());
        history.past = std::make_shared<Past>(Past{value.node, nullptr, 0, 0});
        history.line = line;
        add(histories, value.buffer, std::move(history));
    }
    forget_oldest(session);
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
        for (const size_t k : smooth[r])
            if (const Ref& argument = argument_at(k))
                add_sources_of(session, argument, k < lost.size() && lost[k], made[r].sources);
        any |= !made[r].sources.empty();
    }
    if (!any) return;
    int given_away = 0;
    bool gone = false;
    for (size_t k = 0; k < arguments.size(); ++k) {
        if (!lost[k]) continue;
        gone |= !arguments[k].past;
        if (arguments[k].past) given_away = std::max(given_away, arguments[k].past->given_away + 1);
    }
    const auto call = std::make_shared<PastCall>(
        PastCall{function.recorded, std::move(arguments), function.captured_nodes});
    std::vector<const Node*> buffers;
    if (!gone) add_buffers({nullptr, call, 0, 0}, buffers);
    for (size_t r = 0; r < results.size(); ++r) {
        History& history = made[r];
        if (history.sources.empty()) continue;
        history.line = line;
        if (gone) {
            history.sources = handles_behind(session, history);
            history.forgotten = "the memory of an argument was given away by that call";
        } else {
            history.past = std::make_shared<Past>(Past{nullptr, call, r, given_away});
            history.buffers = buffers;
        }
        add(histories_of(session), results[r], std::move(history));
    }
    forget_oldest(session);
}

std::shared_ptr<const Past> computed_again(const SessionState& session, const Ref& buffer,
                                           const Ref& node) {
    const History* history = find(session, *buffer);
    if (history && history->past && history->past->given_away < kMostGivenAway)
        return history->past;
    if (history || node == buffer) return nullptr;
    return std::make_shared<Past>(Past{node, nullptr, 0, 0});
}

void prune_histories(SessionState& session) {
    if (!session.histories || session.histories->all.empty()) return;
    Histories& histories = *session.histories;
    // Of many histories most stay: all are looked at when a 16th of them may be new.
    if (++histories.unpruned * 16 < histories.all.size()) return;
    histories.unpruned = 0;
    std::unordered_map<const Node*, long> known;  // references by what was computed already
    for (const auto& [node, entry] : session.realized) ++known[entry.buffer.get()];
    for (auto& [serial, history] : histories.all) {
        history.asked_for = false;
        for (const HistorySource& source : history.sources) {
            const Ref node = source.node.lock();
            if (!node) continue;
            const History* before = find(session, *node);
            if (!is_held(session, *node) && !(before && before->asked_for)) continue;
            history.asked_for = true;
            break;
        }
    }
    for (auto at = histories.all.end(); at != histories.all.begin();) {
        --at;
        const Ref value = at->second.value.lock();
        const auto by_known = known.find(value.get());
        const bool held =
            value && value.use_count() > 1 + (by_known == known.end() ? 0 : by_known->second);
        if (held && at->second.asked_for) continue;
        release(histories, at->second);
        at = histories.all.erase(at);
    }
}

void give_up_memory(SessionState& session, const Ref& buffer, const Past* again, SourceLine line) {
    if (buffer->handles > 0) return;
    if (session.histories)
        for (auto& [serial, history] : session.histories->all)
            if (std::find(history.buffers.begin(), history.buffers.end(), buffer.get()) !=
                history.buffers.end())
                forget(session, history,
                       "memory that it needs was given away by std::move at " + text(line));
    if (again && again->node && again->node.use_count() == 1)
        session.realized.erase(again->node.get());
}

bool forget_histories(SessionState& session, const std::string& why) {
    if (!session.histories || bytes_without_handles(*session.histories) == 0) return false;
    for (auto& [serial, history] : session.histories->all)
        if (history.past) forget(session, history, why);
    return true;
}

void make_leaf(SessionState& session, const Ref& buffer) {
    if (session.histories) erase(*session.histories, buffer->serial);
}

const History* history_of(const SessionState& session, const Node& buffer) {
    return find(session, buffer);
}

}  // namespace firn
