// Sizes that only the device knows, while recording: data symbols and their computation; internal.
#pragma once
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/frontend/record.h"
#include "compiler/ir/substitute.h"

namespace firn {

/// The source of a data symbol's value. Every Size that holds the symbol keeps it alive.
struct DataSource {
    std::string name;
    Ref count;                     // i32, rank 0; a Buffer once it was computed
    Ref merged;                    // see merged_count()
    std::optional<int64_t> value;  // set once it has been read
    uint64_t scope = 0;            // the loop whose iterations begin it; 0: none
    SourceLine loop;               // where that loop was recorded
};

/// The size whose value is `count` (i32, rank 0), from 0 to `most`. The same count gives the same
/// size. Inside a loop the size belongs to one iteration: nothing outside of the loop may have it.
Size data_size(SessionState& session, const Ref& count, const Size& most, SourceLine line);

const DataSource& source_of(const SizeAtom& symbol);
/// The data symbols that the nodes below mention, but for those of iterations, each after those
/// that its own count depends on. UserError where the size of an iteration is used outside of its
/// loop.
std::vector<SizeAtom> data_symbols_below(const std::vector<Ref>& roots);
bool has_data_sizes(const Shape& shape);
/// The names of all data symbols that the nodes below mention.
std::unordered_set<std::string> data_symbols_of(const std::vector<Ref>& roots);

/// Returns those of `sizes` that the nodes below `roots` mention.
std::vector<Size> mentioned(const std::vector<Size>& sizes, const std::vector<Ref>& roots);
/// Returns one of `sizes` that `shape` mentions; null: none.
const Size* mentioned(const std::vector<Size>& sizes, const Shape& shape);
/// Gives the sizes that belong to iterations below `roots` fresh names, in `map`, because the nodes
/// are recorded once more.
void rename_iteration_sizes(SessionState& session, const std::vector<Ref>& roots, SizeMap& map);

/// Renames the data symbols `symbols` of `graph` to ?0, ?1, and makes their counts its first
/// results; those of iterations come after them. Only for sizes that depend on nothing but values
/// of the graph's own nodes (no Buffers).
void name_data_sizes(NodeTable& table, Graph& graph, const std::vector<SizeAtom>& symbols);

/// Makes a Buffer the source of the symbol's value from now on.
void set_count(SessionState& session, const SizeAtom& symbol, const Ref& buffer);

/// Returns the value, read back at the first call. Its count has been computed.
int64_t read_size(SessionState& session, const SizeAtom& symbol);
/// Returns the node with numbers in place of the sizes whose values were read.
Ref with_read_sizes(SessionState& session, const Ref& node);
/// Returns the node with numbers for all its sizes. Sizes that are not known are computed and read
/// back from the device.
Ref with_known_sizes(SessionState& session, const Ref& node, SourceLine line);

}  // namespace firn
