// Functions of the module as rows of tables.
#include "engine/python/bindings/entries.h"

#include <charconv>
#include <string_view>

namespace firn::python {

namespace {

/// A default as the table has it: None, True, False, a number, or a string in quotes.
py::object value_of(std::string_view text) {
    if (text == "None") return py::none();
    if (text == "True") return py::bool_(true);
    if (text == "False") return py::bool_(false);
    if (text.front() == '\'') return py::str(text.data() + 1, text.size() - 2);
    int64_t whole = 0;
    if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
        error == std::errc() && end == text.data() + text.size())
        return py::int_(whole);
    double number = 0;  // not by a function that asks the locale for its decimal point
    std::from_chars(text.data(), text.data() + text.size(), number);
    return py::float_(number);
}

}  // namespace

void describe(const EntryAttribute& attribute, py::detail::function_record& record) {
    const Entry& entry = attribute.entry;
    record.name = const_cast<char*>(entry.name);
    record.doc = const_cast<char*>(entry.doc);
    record.scope = attribute.scope;
    record.sibling = attribute.sibling;
    const bool has_self = entry.kind != EntryKind::Function && entry.kind != EntryKind::Static;
    record.is_method = has_self;
    record.is_new_style_constructor = entry.kind == EntryKind::Constructor;
    if (has_self) record.args.emplace_back("self", nullptr, py::handle(), true, false);

    // pybind11 copies the names while it makes the function, which is the next that happens on this
    // thread.
    static std::vector<std::string> names;
    names.clear();
    std::string_view rest = entry.arguments;
    std::vector<std::string_view> parts;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(", "), rest.size());
        parts.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    names.reserve(parts.size());
    for (std::string_view part : parts) {
        if (part == "*") {
            record.nargs_pos = static_cast<uint16_t>(record.args.size());
            continue;
        }
        const size_t equals = part.find('=');
        names.emplace_back(part.substr(0, equals));
        py::object value;
        if (equals != std::string_view::npos) value = value_of(part.substr(equals + 1));
        record.args.emplace_back(names.back().c_str(), nullptr, value.release(), true, true);
    }
}

py::object overloads_of(const Entry& entry, py::handle scope) {
    if (entry.kind == EntryKind::Getter || entry.kind == EntryKind::Setter) return py::none();
    return py::getattr(scope, entry.name, py::none());
}

void place(const Entry& entry, py::handle scope, py::cpp_function function) {
    static PyObject* const property = reinterpret_cast<PyObject*>(&PyProperty_Type);
    switch (entry.kind) {
        case EntryKind::Function:
        case EntryKind::Method:
        case EntryKind::Constructor: scope.attr(entry.name) = function; break;
        case EntryKind::Static: scope.attr(entry.name) = py::staticmethod(function); break;
        case EntryKind::Getter:
            scope.attr(entry.name) =
                py::handle(property)(function, py::none(), py::none(), py::str(entry.doc));
            break;
        case EntryKind::Setter:
            scope.attr(entry.name) = scope.attr(entry.name).attr("setter")(function);
            break;
    }
}

void define_all(const Entry* begin, const Entry* end, py::handle scope) {
    py::options options;
    options.disable_function_signatures();  // the tables have them, by Python's types
    for (const Entry* entry = begin; entry != end; ++entry) entry->define(*entry, scope);
}

}  // namespace firn::python
