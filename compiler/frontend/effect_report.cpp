// Results of effects as text, and as errors.
#include "compiler/frontend/effect_report.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "compiler/base/error.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/shown.h"
#include "compiler/ir/interpret.h"

namespace firn {
namespace {

using Indices = std::vector<int64_t>;

HostTensor read(SessionState& session, const Ref& result) {
    const Ref buffer = with_known_sizes(session, result, {});
    HostTensor out;
    out.dtype = buffer->dtype;
    for (const Size& size : buffer->shape) out.shape.push_back(size.constant());
    out.data.resize(static_cast<size_t>(out.elements() * out.dtype.bytes()));
    if (!out.data.empty())
        executor_of(session).read(*buffer->as<BufferAttr>().storage, 0, out.data);
    return out;
}

Indices concrete(SessionState& session, const Shape& shape, SizeEnv symbols) {
    Indices out;
    for (const Size& size : shape)
        for (const SizeAtom& symbol : data_symbols(size))
            if (symbol.source) symbols[symbol.name] = read_size(session, symbol);
    for (const Size& size : shape) out.push_back(size.evaluate(symbols));
    return out;
}

int64_t count_of(const Indices& shape) {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    return count;
}

std::string joined(const Indices& numbers) {
    std::string out;
    for (int64_t number : numbers) out += (out.empty() ? "" : ", ") + std::to_string(number);
    return out;
}

// --- prints
// ---------------------------------------------------------------------------------------

void write(const SessionState& session, const std::string& text) {
    if (session.print) return session.print(text);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

void write_value(const SessionState& session, const Effect& effect, const Indices& shape,
                 const Indices& iterations, std::vector<std::string> elements) {
    std::string out =
        effect.text + (effect.text.empty() ? "" : " ") + "(" + text(effect.line) + ")";
    if (!iterations.empty()) out += " iteration " + joined(iterations);
    out += std::string(" ") + effect.dtype.name();
    if (!shape.empty()) out += "[" + joined(shape) + "]";
    out += shape.size() > 1 ? " =\n" : " = ";
    write(session, out + bracketed(shape, effect.edge, elements) + "\n");
}

Scalar from_words(DType type, const std::vector<HostTensor>& words, int64_t at) {
    auto word = [&](size_t k) { return static_cast<uint32_t>(words[k].at(at).i); };
    if (type.is_half() || type == f32) return scalar_float(std::bit_cast<float>(word(0)), type);
    if (type.bytes() < 8) return scalar_int(static_cast<int32_t>(word(0)), i32).to(type);
    const uint64_t bits = word(0) | uint64_t{word(1)} << 32;
    return type == f64 ? scalar_float(std::bit_cast<double>(bits), f64)
                       : scalar_int(static_cast<int64_t>(bits), type);
}

/// The rows of a print in a loop: the elements that were printed in each iteration.
struct Rows {
    std::vector<HostTensor> words, iterations;
    int64_t rows = 0, elements = 0;

    bool came_by(int64_t row, int64_t element) const {
        return iterations[0].at(row * elements + element).i >= 0;
    }
    Indices iteration(int64_t row, int64_t element) const {
        Indices out;
        for (const HostTensor& each : iterations)
            out.push_back(each.at(row * elements + element).i);
        return out;
    }
};

void print_rows(SessionState& session, const Effect& effect, const Indices& shape, const Rows& kept,
                int64_t came) {
    std::map<Indices, std::vector<std::string>> by_iteration;
    const Indices* end = nullptr;  // the first iteration that some element kept no more
    Indices first_full;
    for (int64_t row = 0; row < kept.rows; ++row)
        for (int64_t k = 0; k < kept.elements; ++k) {
            if (!kept.came_by(row, k)) continue;
            const Indices iteration = kept.iteration(row, k);
            auto [at, added] = by_iteration.try_emplace(iteration);
            if (added) at->second.assign(static_cast<size_t>(kept.elements), "--");
            at->second[static_cast<size_t>(k)] =
                value_text(from_words(effect.dtype, kept.words, row * kept.elements + k));
            if (row + 1 == kept.rows && came > kept.rows && (!end || iteration < first_full))
                first_full = iteration, end = &first_full;
        }
    for (auto& [iteration, elements] : by_iteration) {
        if (end && *end < iteration) break;
        write_value(session, effect, shape, effect.loops ? iteration : Indices{},
                    std::move(elements));
    }
    if (end)
        write(session, effect.text + (effect.text.empty() ? "" : " ") + "(" + text(effect.line) +
                           ") ... up to " + std::to_string(came - kept.rows) +
                           " more iterations; print_value(x, {.iterations = " +
                           std::to_string(came) + "}) shows them\n");
}

void report_print(SessionState& session, const Effect& effect, std::span<const Ref> results,
                  const SizeEnv& symbols) {
    const Indices shape = concrete(session, effect.shape, symbols);
    if (!effect.inside) {
        const HostTensor value = read(session, results[0]);
        std::vector<std::string> elements;
        for (int64_t k = 0; k < value.elements(); ++k) elements.push_back(value_text(value.at(k)));
        return write_value(session, effect, shape, {}, std::move(elements));
    }
    Rows kept;
    const size_t words = effect.dtype.bytes() == 8 ? 2 : 1;
    for (size_t k = 1; k < results.size(); ++k)
        (k <= words ? kept.words : kept.iterations).push_back(read(session, results[k]));
    kept.rows = kept.words[0].shape[0];
    kept.elements = kept.words[0].elements() / kept.rows;
    const int64_t came = count_of(shape) ? read(session, results[0]).at(0).i : 0;
    print_rows(session, effect, shape, kept, came);
}

// --- assertions
// -----------------------------------------------------------------------------------

std::string index_text(const Indices& shape, int64_t flat) {
    Indices index(shape.size());
    for (size_t k = shape.size(); k-- > 0; flat /= shape[k]) index[k] = flat % shape[k];
    return "[" + joined(index) + "]";
}

/// Returns the text of the UserError; empty if the assertion held.
std::string failure(SessionState& session, const Effect& effect, std::span<const Ref> results,
                    const SizeEnv& symbols) {
    if (results.empty()) return {};
    const int64_t failed = read(session, results[0]).at(0).i;
    if (!failed) return {};
    if (effect.told) return effect.text + " (" + text(effect.line) + ")";
    const Indices shape = concrete(session, effect.shape, symbols);
    Indices iterations;
    for (size_t k = 0; k < effect.loops; ++k)
        iterations.push_back(read(session, results[1 + k]).at(0).i);
    const int64_t at = read(session, results[1 + effect.loops]).at(0).i;
    std::string out = effect.text + ": ";
    if (shape.empty())
        out += "it is false";
    else
        out += std::to_string(failed) + " of " + std::to_string(count_of(shape)) +
               (failed == 1 ? " elements fails, " : " elements fail, the first ") + "at " +
               index_text(shape, at);
    if (!iterations.empty()) out += " in iteration " + joined(iterations);
    if (!effect.compared.empty()) {
        auto operand = [&](size_t k) {
            return value_text(read(session, results[2 + effect.loops + k]).at(0));
        };
        out += ": " + operand(0) + " " + effect.compared + " " + operand(1);
    }
    return out + " (" + text(effect.line) + ")";
}

}  // namespace

void report_effects(SessionState& session, const std::vector<Effect>& effects,
                    std::span<const Ref> results, const SizeEnv& symbols) {
    std::string failed;
    for (const Effect& effect : effects) {
        const auto own = results.first(effect.results);
        results = results.subspan(effect.results);
        if (effect.print)
            report_print(session, effect, own, symbols);
        else if (failed.empty())
            failed = failure(session, effect, own, symbols);
    }
    if (!failed.empty()) throw UserError(failed);
}

void perform_effects(SessionState& session) {
    if (is_recording(session) || session.scopes[0].effects.empty()) return;
    std::vector<Effect> effects = std::exchange(session.scopes[0].effects, {});
    const EffectNodes nodes = finish_effects(session, effects);
    report_effects(session, effects, realize_nodes(session, nodes.results, effects[0].line), {});
}

void discard_effects(SessionState& session) {
    if (!is_recording(session)) session.scopes[0].effects.clear();
}

}  // namespace firn
