// The fields of a saved program from CBOR.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/program/older_formats.h"
#include "compiler/program/saved_body.h"
#include "compiler/program/saved_names.h"

namespace firn {
namespace {

using Json = nlohmann::json;

/// Lists and objects inside one another: more than any program has, few enough for the stack.
constexpr size_t kDeepestValue = 200;

/// The place of a value, as a path that is only written out for an error message.
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
    /// Reads a field that older files lack: it keeps its value there.
    template <class T>
    void later(const char* key, T& field) {
        if (from_.contains(key)) (*this)(key, field);
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
    template <saved::NamedEnum E>
    static void read(const Json& from, const Place& place, E& to) {
        const auto& names = saved::EnumNames<E>::kAll;
        std::string name;
        read(from, place, name);
        const auto found = std::find_if(std::begin(names), std::end(names),
                                        [&](const char* each) { return name == each; });
        if (found == std::end(names)) refuse_value(place, "is unknown");
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
    static void read(const Json& from, const Place& place, SizeEnv& to) {
        if (!from.is_object()) wrong(from, place, "an object");
        to.clear();
        for (const auto& [name, value] : from.items())
            read(value, Place{&place, name.c_str()}, to[name]);
    }
    static void read(const Json& from, const Place& place, Step& to) {
        if (!from.is_object() || from.size() != 1) wrong(from, place, "a step");
        const std::string& kind = from.begin().key();
        const auto step = [&]<class Kind>(Kind x) {
            const Place inside{&place, saved::kStepNames[Step{x}.step.index()]};
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
    requires saved::SavedStruct<T, Reader>
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

/// Reads past the values of CBOR without looking into texts and bytes. Throws UserError where they
/// are nested too deeply for the stack, since the reader of CBOR is recursive, where they end too
/// soon, and where a length is left open, which no file of ours has.
class DepthCheck {
  public:
    explicit DepthCheck(std::span<const std::byte> bytes) : bytes_(bytes) {}
    void run() {
        values_left_.push_back(1);
        while (!values_left_.empty()) {
            if (values_left_.back() == 0) {
                values_left_.pop_back();
                continue;
            }
            --values_left_.back();
            value();
        }
        if (at_ != bytes_.size()) refuse();
    }

  private:
    [[noreturn]] static void refuse() {
        throw UserError("it is damaged: its contents are not CBOR");
    }
    uint8_t byte() {
        if (at_ == bytes_.size()) refuse();
        return static_cast<uint8_t>(bytes_[at_++]);
    }
    /// The number in the first byte of a value, or in the bytes behind it.
    uint64_t number(uint8_t info) {
        if (info < 24) return info;
        if (info > 27) refuse();
        uint64_t out = 0;
        for (int k = 0; k < 1 << (info - 24); ++k) out = out << 8 | byte();
        return out;
    }
    void value() {
        enum : uint8_t { Bytes = 2, Text = 3, List = 4, Map = 5, Tag = 6 };
        const uint8_t first = byte();
        const auto kind = static_cast<uint8_t>(first >> 5);
        const uint64_t count = number(first & 31);
        if (kind == Bytes || kind == Text) {
            if (count > bytes_.size() - at_) refuse();
            at_ += count;
        } else if (kind == List || kind == Map) {
            if (values_left_.size() >= kDeepestValue || count > bytes_.size()) refuse();
            values_left_.push_back(kind == Map ? 2 * count : count);
        } else if (kind == Tag) {
            ++values_left_.back();  // of the value behind it
        }
    }

    std::span<const std::byte> bytes_;
    size_t at_ = 0;
    std::vector<uint64_t> values_left_;  // of each list and map around the present place
};

}  // namespace

SavedProgram read_body(std::span<const std::byte> body, uint32_t format) try {
    DepthCheck(body).run();
    if (format < kSavedFormat) {
        const std::vector<uint8_t> translated = body_from_format_2(body);
        return read_body(std::as_bytes(std::span(translated)));
    }
    const auto* begin = reinterpret_cast<const uint8_t*>(body.data());
    const Json json = Json::from_cbor(begin, begin + body.size());
    SavedProgram out;
    Reader::read(json, Place(), out);
    return out;
} catch (const Json::exception& error) {
    throw UserError(std::string("it is damaged: ") + error.what());
}

}  // namespace firn
