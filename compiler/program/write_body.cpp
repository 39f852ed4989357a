// The fields of a saved program as CBOR.
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "compiler/program/saved_body.h"
#include "compiler/program/saved_names.h"

namespace firn {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "numbers lie in files as in memory");

/// Puts fields into an object. The overloads of `json` define how each type is written; those of
/// Reader (read_body.cpp) read it.
class Writer {
  public:
    explicit Writer(Json& to) : to_(to) {}
    template <class T>
    void operator()(const char* key, const T& field) {
        to_[key] = json(field);
    }
    template <class T>
    void later(const char* key, const T& field) {
        (*this)(key, field);
    }

    template <class T>
    requires(std::is_arithmetic_v<T>) static Json json(T x) { return x; }
    template <saved::NamedEnum E>
    static Json json(E x) {
        return saved::EnumNames<E>::kAll[static_cast<size_t>(x)];
    }
    static Json json(const std::string& x) { return x; }
    static Json json(DType x) { return x.name(); }
    static Json json(const Size& x) { return x.text(); }
    static Json json(const Scalar& x) { return Json::array({x.dtype.name(), text(x)}); }
    static Json json(const std::vector<std::byte>& x) { return binary(x); }
    static Json json(const std::vector<uint32_t>& x) { return binary(x); }
    static Json json(const std::shared_ptr<const Program>& x) { return json(*x); }
    static Json json(const SizeEnv& x) {
        Json out = Json::object();
        for (const auto& [name, value] : x) out[name] = value;
        return out;
    }
    static Json json(const CallStep&) {
        throw InternalError("internal error: a program with calls of the host was not refused");
    }
    static Json json(const Step& x) {
        Json out = Json::object();
        out[saved::kStepNames[x.step.index()]] =
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
    requires saved::SavedStruct<const T, Writer>
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

}  // namespace

std::vector<uint8_t> write_body(const SavedProgram& saved) {
    return Json::to_cbor(Writer::json(saved));
}

}  // namespace firn
