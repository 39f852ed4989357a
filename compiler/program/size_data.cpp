// Sizes that only the device knows: finding them, and bounds that the host knows.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/program/size_builder.h"

namespace firn {
namespace {

using Kind = SizeAtom::Kind;

void collect(const Size& size, std::map<std::string, SizeAtom>& found) {
    for (const SizeTerm& term : SizeBuilder::terms(size))
        for (const SizeAtom& atom : term.atoms) {
            if (atom.is_data()) found.emplace(atom.name, atom);
            if (atom.kind == Kind::Symbol) continue;
            for (const Size& arg : atom.args) collect(arg, found);
        }
}

bool has_data(const Size& size) {
    for (const SizeTerm& term : SizeBuilder::terms(size))
        for (const SizeAtom& atom : term.atoms)
            if (atom.is_data() || std::any_of(atom.args.begin(), atom.args.end(), has_data))
                return true;
    return false;
}

Size extreme(const Size& size, bool upper);

Size extreme(const SizeAtom& atom, bool upper) {
    if (atom.is_data()) return upper ? extreme(atom.args[0], true) : Size(0);
    if (atom.kind == Kind::Symbol) return SizeBuilder::atom(atom);
    const Size &a = atom.args[0], &b = atom.args[1];
    if (!has_data(a) && !has_data(b)) return SizeBuilder::atom(atom);
    switch (atom.kind) {
        case Kind::Symbol: break;
        case Kind::FloorDiv:
            if (!has_data(b) && b.lower_bound() >= 0) return floor_div(extreme(a, upper), b);
            return upper ? max(extreme(a, true), Size(0) - extreme(a, false))
                         : min(extreme(a, false), Size(0) - extreme(a, true));
        case Kind::Mod:  // has the sign of b
            return upper ? max(extreme(b, true) - 1, 0) : min(extreme(b, false) + 1, 0);
        case Kind::Min:
        case Kind::Max: return apply(atom.kind, extreme(a, upper), extreme(b, upper));
    }
    throw InternalError("internal error: unknown kind of size atom");
}

/// The term without its coefficient.
Size extreme(const std::vector<SizeAtom>& atoms, bool upper) {
    if (atoms.size() == 1) return extreme(atoms[0], upper);
    bool data = false, negative = false;
    Size exact = 1, bound = 1, magnitude = 1;
    for (const SizeAtom& atom : atoms) {
        const Size low = extreme(atom, false), high = extreme(atom, true);
        exact *= SizeBuilder::atom(atom);
        bound *= upper ? high : low;
        magnitude *= max(high, Size(0) - low);
        data |= !(low == high);
        negative |= low.lower_bound() < 0;
    }
    if (!data) return exact;
    return !negative ? bound : upper ? magnitude : Size(0) - magnitude;
}

Size extreme(const Size& size, bool upper) {
    Size total = SizeBuilder::constant_term(size);
    for (const SizeTerm& term : SizeBuilder::terms(size))
        total += Size(term.coefficient) * extreme(term.atoms, upper == (term.coefficient > 0));
    return total;
}

}  // namespace

std::vector<SizeAtom> data_symbols(const Size& size) {
    if (!has_data(size)) return {};
    std::map<std::string, SizeAtom> found;
    collect(size, found);
    std::vector<SizeAtom> out;
    for (auto& [name, atom] : found) out.push_back(std::move(atom));
    return out;
}

Size largest(const Size& size) { return has_data(size) ? extreme(size, true) : size; }
Size smallest(const Size& size) { return has_data(size) ? extreme(size, false) : size; }

Shape largest(const Shape& shape) {
    Shape out;
    for (const Size& size : shape) out.push_back(largest(size));
    return out;
}

}  // namespace firn
