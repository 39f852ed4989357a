// Sizes that only the device knows, while recording: data symbols and what computes them; internal.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/record.h"
#include "compiler/frontend/substitute.h"

namespace firn {

/// What gives a data symbol its value. Every Size that holds the symbol keeps it alive.
struct DataSource {
    std::string name;
    Ref count;                     // i32, rank 0; a Buffer once it was computed
    std::optional<int64_t> value;  // once somebody read it
};

/// The size whose value is `count` (i32, rank 0), from 0 to `most`. The same count gives the same
/// size. A UserError inside a loop: there a size is the same in every turn.
Size data_size(SessionState& session, const Ref& count, const Size& most, SourceLine line);

const DataSource& source_of(const SizeAtom& symbol);
/// The data symbols that the nodes below mention, each after those that its own count depends on.
std::vector<SizeAtom> data_symbols_below(const std::vector<Ref>& roots);
bool has_data_sizes(const Shape& shape);

/// Makes `graph`, of which `symbols` are the data symbols, one that names them ?0, ?1 and has their
/// counts as its first results. Takes what depends on nothing else but what the graph's own nodes
/// have (no Buffers).
void name_data_sizes(NodeTable& table, Graph& graph, const std::vector<SizeAtom>& symbols);

/// From now on a Buffer is what gives the symbol its value.
void set_count(SessionState& session, const SizeAtom& symbol, const Ref& buffer);

/// The value, read back where nobody has yet. Its count has been computed.
int64_t read_size(SessionState& session, const SizeAtom& symbol);
/// The node with numbers in place of the sizes whose values were read.
Ref with_read_sizes(SessionState& session, const Ref& node);
/// The node with numbers for all its sizes: computed and read back from the device where they are
/// not known.
Ref with_known_sizes(SessionState& session, const Ref& node, SourceLine line);

}  // namespace firn
