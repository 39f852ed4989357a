// Saved programs as bytes: a header, and all fields as CBOR.
#include "compiler/program/saved_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/program/check_program.h"
#include "compiler/program/error.h"
#include "compiler/program/saved_fields.h"
#include "compiler/program/whole_file.h"

namespace firn {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "numbers lie in files as in memory");

/// Of the fields: another list of them, or another meaning of one, is another format.
constexpr uint32_t kSavedFormat = 1;
/// Lists and objects inside one another: more than any program has, few enough for the stack.
constexpr size_t kDeepestValue = 200;

struct SavedHeader {
    char magic[8];
    uint32_t format;
    char firn[20];  // the version that wrote it
    uint64_t bytes, checksum;
};
constexpr char kSavedMagic[8] = {'f', 'i', 'r', 'n', 'p', 'r', 'o', 'g'};

// --- names of enumerators, in their order

template <class E>
struct EnumNames;
template <>
struct EnumNames<DeviceClass> {
    static constexpr const char* kAll[] = {"cpu", "gpu"};
};
template <>
struct EnumNames<BindingForm> {
    static constexpr const char* kAll[] = {"storage", "texel", "address"};
};
template <>
struct EnumNames<BufferRole> {
    static constexpr const char* kAll[] = {"argument", "result", "temporary", "constant"};
};
template <>
struct EnumNames<HostOp> {
    static constexpr const char* kAll[] = {"constant", "argument", "size", "neg", "abs",  "floor",
                                           "sqrt",     "rsqrt",    "rcp",  "exp", "exp2", "log",
                                           "log2",     "sin",      "cos",  "tan", "tanh", "add",
                                           "sub",      "mul",      "div",  "min", "max",  "pow"};
    static_assert(std::size(kAll) == static_cast<size_t>(HostOp::Pow) + 1);
};
template <>
struct EnumNames<ProgramParameter::Kind> {
    static constexpr const char* kAll[] = {"float",  "int",    "bool", "choice",
                                           "vector", "colour", "angle"};
    static_assert(std::size(kAll) == static_cast<size_t>(ProgramParameter::Kind::Angle) + 1);
};
template <class E>
concept NamedEnum = requires {
    EnumNames<E>::kAll;
};

constexpr const char* kStepNames[] = {"dispatch", "copy", "repeat"};  // in the order of Step::step

template <class T, class Visitor>
concept SavedStruct = requires(T& x, Visitor& v) {
    saved::fields(v, x);
};

// --- writing

/// Puts fields into an object. The overloads of `json` are all there is to say of how a type is
/// written; those of Reader are their likes.
class Writer {
  public:
    explicit Writer(Json& to) : to_(to) {}
    template <class T>
    void operator()(const char* key, const T& field) {
        to_[key] = json(field);
    }

    template <class T>
    requires(std::is_arithmetic_v<T>) static Json json(T x) { return x; }
    template <NamedEnum E>
    static Json json(E x) {
        return EnumNames<E>::kAll[static_cast<size_t>(x)];
    }
    static Json json(const std::string& x) { return x; }
    static Json json(DType x) { return x.name(); }
    static Json json(const Size& x) { return x.text(); }
    static Json json(const Scalar& x) { return Json::array({x.dtype.name(), text(x)}); }
    static Json json(const std::vector<std::byte>& x) { return binary(x); }
    static Json json(const std::vector<uint32_t>& x) { return binary(x); }
    static Json json(const std::shared_ptr<const Program>& x) { return json(*x); }
    static Json json(const Step& x) {
        Json out = Json::object();
        out[kStepNames[x.step.index()]] =
            std::visit([](const auto& kind) { return json(kind); }, x.step);
        return out;
    }
    template <class A, class B>
    static Json json(const std::pair<A, B>& x) {
        return Json::array({json(x.first), json(x.second)});
    }
    template <class T>
    static Json json(const std::optional<T>& x) {
        return x ? json(*x) : Json();
    }
    template <class T>
    static Json json(const std::vector<T>& x) {
        return list(x);
    }
    template <class T, size_t N>
    static Json json(const std::array<T, N>& x) {
        return list(x);
    }
    template <class T, size_t N>
    static Json json(const T (&x)[N]) {
        return list(x);
    }
    template <class T>
    requires SavedStruct<const T, Writer>
    static Json json(const T& x) {
        Json out = Json::object();
        Writer writer(out);
        saved::fields(writer, x);
        return out;
    }

  private:
    template <class List>
    static Json list(const List& x) {
        Json out = Json::array();
        for (const auto& each : x) out.push_back(json(each));
        return out;
    }
    template <class T>
    static Json binary(const std::vector<T>& x) {
        std::vector<uint8_t> bytes(x.size() * sizeof(T));
        if (!bytes.empty()) std::memcpy(bytes.data(), x.data(), bytes.size());
        return Json::binary(std::move(bytes));
    }

    Json& to_;
};

// --- reading

/// Where a value stands, as a path that is written down only where something is wrong with it.
struct Place {
    const Place* outer = nullptr;
    const char* key = nullptr;  // null: element `index` of a list
    size_t index = 0;

    std::string text() const {
        if (!outer) return "";
        const std::string before = outer->text();
        if (!key) return before + "[" + std::to_string(index) + "]";
        return before + (before.empty() ? "" : ".") + key;
    }
};

[[noreturn]] void refuse_value(const Place& place, const std::string& why) {
    throw UserError("its " + place.text() + " " + why);
}

/// Takes fields from an object.
class Reader {
  public:
    Reader(const Json& from, const Place& place) : from_(from), place_(place) {}
    template <class T>
    void operator()(const char* key, T& field) {
        const Place place{&place_, key};
        const auto found = from_.find(key);
        if (found == from_.end()) refuse_value(place, "is missing");
        read(*found, place, field);
    }

    static void read(const Json& from, const Place& place, bool& to) {
        if (!from.is_boolean()) wrong(from, place, "true or false");
        to = from.get<bool>();
    }
    template <std::integral T>
    static void read(const Json& from, const Place& place, T& to) {
        const auto in_range = [](auto value) { return std::in_range<T>(value); };
        const bool fits = from.is_number_unsigned()  ? in_range(from.get<uint64_t>())
                          : from.is_number_integer() ? in_range(from.get<int64_t>())
                                                     : false;
        if (!fits) wrong(from, place, "an integer of this size");
        to = from.get<T>();
    }
    template <std::floating_point T>
    static void read(const Json& from, const Place& place, T& to) {
        if (!from.is_number()) wrong(from, place, "a number");
        to = from.get<T>();
    }
    template <NamedEnum E>
    static void read(const Json& from, const Place& place, E& to) {
        const auto& names = EnumNames<E>::kAll;
        std::string name;
        read(from, place, name);
        const auto found = std::find_if(std::begin(names), std::end(names),
                                        [&](const char* each) { return name == each; });
        if (found == std::end(names)) refuse_value(place, "is none that is known");
        to = static_cast<E>(found - std::begin(names));
    }
    static void read(const Json& from, const Place& place, std::string& to) {
        if (!from.is_string()) wrong(from, place, "a text");
        to = from.get_ref<const std::string&>();
    }
    static void read(const Json& from, const Place& place, DType& to) {
        std::string name;
        read(from, place, name);
        checked(place, [&] { to = parse_dtype(name); });
    }
    static void read(const Json& from, const Place& place, Size& to) {
        std::string size;
        read(from, place, size);
        checked(place, [&] { to = parse_size(size); });
    }
    static void read(const Json& from, const Place& place, Scalar& to) {
        std::array<std::string, 2> parts;  // type and value
        read(from, place, parts);
        checked(place, [&] { to = parse_scalar(parts[1], parse_dtype(parts[0])); });
    }
    static void read(const Json& from, const Place& place, std::vector<std::byte>& to) {
        binary(from, place, to);
    }
    static void read(const Json& from, const Place& place, std::vector<uint32_t>& to) {
        binary(from, place, to);
    }
    static void read(const Json& from, const Place& place, std::shared_ptr<const Program>& to) {
        auto program = std::make_shared<Program>();
        read(from, place, *program);
        to = std::move(program);
    }
    static void read(const Json& from, const Place& place, Step& to) {
        if (!from.is_object() || from.size() != 1) wrong(from, place, "a step");
        const std::string& kind = from.begin().key();
        const auto step = [&]<class Kind>(Kind x) {
            const Place inside{&place, kStepNames[Step{x}.step.index()]};
            if (kind != inside.key) return false;
            read(from.begin().value(), inside, x);
            to.step = std::move(x);
            return true;
        };
        if (!step(DispatchStep()) && !step(CopyStep()) && !step(RepeatStep()))
            refuse_value(place, "is a step of an unknown kind");
    }
    template <class A, class B>
    static void read(const Json& from, const Place& place, std::pair<A, B>& to) {
        check_list(from, place, 2);
        read(from[0], Place{&place, nullptr, 0}, to.first);
        read(from[1], Place{&place, nullptr, 1}, to.second);
    }
    template <class T>
    static void read(const Json& from, const Place& place, std::optional<T>& to) {
        if (from.is_null()) return to.reset();
        read(from, place, to.emplace());
    }
    template <class T>
    static void read(const Json& from, const Place& place, std::vector<T>& to) {
        if (!from.is_array()) wrong(from, place, "a list");
        to.clear();
        for (const Json& each : from) {
            const Place inside{&place, nullptr, to.size()};
            read(each, inside, to.emplace_back());
        }
    }
    template <class T, size_t N>
    static void read(const Json& from, const Place& place, std::array<T, N>& to) {
        read_elements(from, place, to.data(), N);
    }
    template <class T, size_t N>
    static void read(const Json& from, const Place& place, T (&to)[N]) {
        read_elements(from, place, to, N);
    }
    template <class T>
    requires SavedStruct<T, Reader>
    static void read(const Json& from, const Place& place, T& to) {
        if (!from.is_object()) wrong(from, place, "an object");
        Reader reader(from, place);
        saved::fields(reader, to);
    }

  private:
    [[noreturn]] static void wrong(const Json& from, const Place& place, const char* wanted) {
        refuse_value(place,
                     std::string("is of type ") + from.type_name() + " and must be " + wanted);
    }
    template <class Parse>
    static void checked(const Place& place, const Parse& parse) {
        try {
            parse();
        } catch (const UserError& error) {
            refuse_value(place, std::string("says nothing: ") + error.what());
        }
    }
    static void check_list(const Json& from, const Place& place, size_t size) {
        if (!from.is_array() || from.size() != size)
            wrong(from, place, ("a list of " + std::to_string(size)).c_str());
    }
    template <class T>
    static void read_elements(const Json& from, const Place& place, T* to, size_t count) {
        check_list(from, place, count);
        for (size_t k = 0; k < count; ++k) read(from[k], Place{&place, nullptr, k}, to[k]);
    }
    template <class T>
    static void binary(const Json& from, const Place& place, std::vector<T>& to) {
        if (!from.is_binary()) wrong(from, place, "binary");
        const auto& bytes = from.get_binary();
        if (bytes.size() % sizeof(T) != 0) refuse_value(place, "has a part of a word");
        to.resize(bytes.size() / sizeof(T));
        if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
    }

    const Json& from_;
    const Place& place_;
};

/// Ends the reading of what is nested so deep that reading it would not fit on the stack: the
/// reader of CBOR calls itself.
class DepthCheck : public nlohmann::json_sax<Json> {
  public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(int64_t) override { return true; }
    bool number_unsigned(uint64_t) override { return true; }
    bool number_float(double, const std::string&) override { return true; }
    bool string(std::string&) override { return true; }
    bool binary(Json::binary_t&) override { return true; }
    bool key(std::string&) override { return true; }
    bool start_object(size_t) override { return ++depth_ < kDeepestValue; }
    bool start_array(size_t) override { return ++depth_ < kDeepestValue; }
    bool end_object() override { return --depth_, true; }
    bool end_array() override { return --depth_, true; }
    bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

  private:
    size_t depth_ = 0;
};

uint64_t saved_checksum(std::span<const std::byte> body) {
    return XXH3_64bits(body.data(), body.size());
}

/// What stands behind the header, which is checked.
std::span<const std::byte> body_of(std::span<const std::byte> bytes) {
    SavedHeader header{};
    if (bytes.size() < sizeof header.magic ||
        std::memcmp(bytes.data(), kSavedMagic, sizeof kSavedMagic) != 0)
        throw UserError("it is no saved program");
    if (bytes.size() < sizeof header) throw UserError("it is cut short");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.format != kSavedFormat) {
        const std::string firn(header.firn, strnlen(header.firn, sizeof header.firn));
        throw UserError("it has format " + std::to_string(header.format) + ", written by Firn " +
                        firn + ", and this is Firn " FIRN_VERSION ", which reads format " +
                        std::to_string(kSavedFormat));
    }
    const auto body = bytes.subspan(sizeof header);
    if (body.size() < header.bytes) throw UserError("it is cut short");
    if (body.size() > header.bytes) throw UserError("something stands behind its end");
    if (saved_checksum(body) != header.checksum)
        throw UserError("it is damaged: its bytes are not those that were written");
    return body;
}

SavedProgram parse_body(std::span<const std::byte> body) {
    const auto* begin = reinterpret_cast<const uint8_t*>(body.data());
    DepthCheck depth;
    if (!Json::sax_parse(begin, begin + body.size(), &depth, Json::input_format_t::cbor))
        throw UserError("it is damaged: what it holds is no CBOR");
    const Json json = Json::from_cbor(begin, begin + body.size());
    SavedProgram out;
    const Place top;
    Reader::read(json, top, out);
    check_saved(out);
    return out;
}

}  // namespace

std::vector<std::byte> program_bytes(const SavedProgram& saved) {
    check_saved(saved);
    std::vector<uint8_t> body;
    Json::to_cbor(Writer::json(saved), body);
    SavedHeader header{};
    std::memcpy(header.magic, kSavedMagic, sizeof kSavedMagic);
    header.format = kSavedFormat;
    constexpr std::string_view version = FIRN_VERSION;
    static_assert(version.size() < sizeof header.firn);
    std::memcpy(header.firn, version.data(), version.size());
    header.bytes = body.size();
    header.checksum = saved_checksum(std::as_bytes(std::span(body)));
    std::vector<std::byte> out(sizeof header + body.size());
    std::memcpy(out.data(), &header, sizeof header);
    std::memcpy(out.data() + sizeof header, body.data(), body.size());
    return out;
}

SavedProgram program_from_bytes(std::span<const std::byte> bytes, const std::string& origin) {
    std::string why;
    try {
        return parse_body(body_of(bytes));
    } catch (const UserError& error) {
        why = error.what();
    } catch (const Json::exception& error) {
        why = std::string("it is damaged: ") + error.what();
    }
    throw UserError("program " + origin + ": cannot be read: " + why + "; save it anew");
}

void write_program(const std::string& path, const SavedProgram& saved) {
    std::vector<std::byte> bytes;
    try {
        bytes = program_bytes(saved);
    } catch (const UserError& error) {
        throw UserError("program " + path + ": cannot be written: " + error.what());
    }
    write_whole_file(path, {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
}

SavedProgram read_program(const std::string& path) {
    return program_from_bytes(read_whole_file(path), path);
}

}  // namespace firn
