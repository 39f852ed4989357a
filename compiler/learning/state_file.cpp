// Compares a state with the contents of a file.
#include "compiler/learning/state_file.h"

#include <cstring>
#include <map>

#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

/// Differences that a message lists; of more it says how many.
constexpr size_t kListed = 8;

bool is_npz(const std::string& path) {
    if (path.ends_with(".npz")) return true;
    if (!path.ends_with(".safetensors"))
        refuse("file " + path +
               ": is of an unknown kind; use a name that ends in .safetensors or .npz");
    return false;
}

std::string described(DType dtype, const std::vector<int64_t>& shape) {
    return dtype.name() + text(Shape(shape.begin(), shape.end()));
}

StoredTensor stored(const NamedNumber& x) {
    StoredTensor out{x.name, f32, {}, std::vector<std::byte>(sizeof(float))};
    std::memcpy(out.bytes.data(), &x.number.value(), sizeof(float));
    return out;
}

/// The entries of a file, by names, each to be found once.
class Found {
  public:
    Found(std::vector<StoredTensor> tensors, const std::string& path) {
        for (StoredTensor& each : tensors) {
            const std::string name = each.name;
            if (!tensors_.emplace(name, std::move(each)).second)
                refuse("file " + path + ": has two tensors called '" + name + "'");
        }
    }
    /// Null where it is not there or is another; `differences` says so.
    const StoredTensor* find(const std::string& name, DType dtype, const Shape& shape,
                             bool allow_missing) {
        const auto found = tensors_.find(name);
        if (found == tensors_.end()) {
            if (!allow_missing) note("'" + name + "' is missing");
            return nullptr;
        }
        asked_.emplace_back(name);
        const StoredTensor& each = found->second;
        if (each.dtype == dtype && Shape(each.shape.begin(), each.shape.end()) == shape)
            return &each;
        note("'" + name + "' is " + described(each.dtype, each.shape) + ", and here " +
             dtype.name() + text(shape));
        return nullptr;
    }
    void note_extra() {
        std::map<std::string, StoredTensor> rest = tensors_;
        for (const std::string& name : asked_) rest.erase(name);
        for (const auto& [name, each] : rest)
            note("'" + name + "' " + described(each.dtype, each.shape) + " is not here");
    }
    /// UserError where something differs.
    void check(const std::string& path) const {
        if (count_ == 0) return;
        const size_t more = count_ > kListed ? count_ - kListed : 0;
        refuse("file " + path + ": is the state of another model: " + differences_ +
               (more ? ", and " + std::to_string(more) + " more" : "") + "; nothing was changed");
    }

  private:
    void note(const std::string& difference) {
        if (++count_ <= kListed) differences_ += (differences_.empty() ? "" : "; ") + difference;
    }

    std::map<std::string, StoredTensor> tensors_;
    std::vector<std::string> asked_;
    std::string differences_;
    size_t count_ = 0;
};

}  // namespace

void save_state(const std::string& path, const State& state, SourceLine line) {
    LineScope at(line);
    const bool npz = is_npz(path);
    std::vector<StoredTensor> tensors;
    std::map<std::string, bool> names;
    const auto check = [&](const std::string& name) {
        if (!names.emplace(name, true).second)
            refuse("save_state: two are called '" + name +
                   "'; save one in another file, or as prefixed(\"name\", ..)");
    };
    for (const NamedVariable& each : state.variables) check(each.name);
    for (const NamedNumber& each : state.numbers) check(each.name);
    for (const NamedVariable& each : state.variables)
        tensors.push_back(stored(each.name, each.variable.value()));
    for (const NamedNumber& each : state.numbers) tensors.push_back(stored(each));
    npz ? write_npz(path, tensors) : write_safetensors(path, tensors);
}

void load_state(const std::string& path, const State& state, const LoadOptions& options,
                SourceLine line) {
    LineScope at(line);
    Found file(is_npz(path) ? read_npz(path) : read_safetensors(path), path);
    std::vector<Tensor> values;
    std::vector<const NamedVariable*> variables;
    std::vector<std::pair<Number, float>> numbers;
    for (const NamedVariable& each : state.variables) {
        const Variable& variable = each.variable;
        const StoredTensor* found =
            file.find(each.name, variable.dtype(), variable.shape(), options.allow_missing);
        if (!found) continue;
        variables.push_back(&each);
        values.push_back(from_stored(*found));
    }
    for (const NamedNumber& each : state.numbers) {
        const StoredTensor* found = file.find(each.name, f32, {}, options.allow_missing);
        if (!found) continue;
        float value = 0;
        std::memcpy(&value, found->bytes.data(), sizeof value);
        numbers.emplace_back(each.number, value);
    }
    if (!options.allow_extra) file.note_extra();
    file.check(path);
    for (size_t k = 0; k < values.size(); ++k) variables[k]->variable.set(values[k], line);
    for (const auto& [number, value] : numbers) number.value() = value;
}

State prefixed(const std::string& prefix, const State& state) {
    State out = state;
    for (NamedVariable& each : out.variables) each.name = prefix + "." + each.name;
    for (NamedNumber& each : out.numbers) each.name = prefix + "." + each.name;
    return out;
}

}  // namespace firn
