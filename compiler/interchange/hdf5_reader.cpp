// Reads HDF5 in a process of its own: the library does not withstand forged files.
#include "compiler/interchange/hdf5_reader.h"

#include "compiler/frontend/line_scope.h"

#ifdef FIRN_WITH_HDF5
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "compiler/base/long_work.h"
#include "compiler/base/physical_memory.h"
#include "compiler/base/whole_file.h"
#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/interchange/hdf5_library.h"
#endif

namespace firn {

#ifdef FIRN_WITH_HDF5
namespace {

/// The kinds of messages that the process sends, by their first letters.
constexpr char kRefused = 'r', kSet = 's', kPart = 'p', kDone = 'd', kEnd = 'e';
/// The process reads a part of this size between two messages: deflated, about a quarter of a
/// second (256 MB took 0.9 s).
constexpr uint64_t kPartBytes = uint64_t{1} << 26;

/// Numbers and texts of a message, one behind the other.
class MessageWriter {
  public:
    explicit MessageWriter(char kind) : text_(1, kind) {}
    void number(uint64_t value) {
        text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    const std::string& with_rest(const std::string& rest) { return text_ += rest; }

  private:
    std::string text_;
};
class MessageParser {
  public:
    explicit MessageParser(const std::string& text) : text_(text) {}
    /// None at the end of the message.
    std::optional<uint64_t> number() {
        uint64_t value = 0;
        if (text_.size() - at_ < sizeof value) return std::nullopt;
        std::memcpy(&value, text_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::string rest() const { return text_.substr(at_); }

  private:
    const std::string& text_;
    size_t at_ = 1;
};

// The part in the process that reads.

struct Hdf5Request {
    std::string path;
    std::optional<std::string> name;
    uint64_t file_bytes = 0;
};

/// Memory of the library's own beside a file and its elements: its caches, and headers of objects.
uint64_t memory_beside(uint64_t file_bytes) { return file_bytes + physical_memory() / 4; }

/// The type of elements that a data set has.
DType dtype_of(const std::string& path, const std::string& name, hid_t type) {
    const size_t bytes = H5Tget_size(type);
    switch (H5Tget_class(type)) {
        case H5T_FLOAT:
            if (bytes == 2 && H5Tget_ebias(type) == 15) return f16;
            if (bytes == 4) return f32;
            if (bytes == 8) return f64;
            break;
        case H5T_INTEGER: {
            const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
            for (const Hdf5Type& each : kHdf5Types)
                if (each.dtype.is_integer() && each.dtype.is_signed() == is_signed &&
                    static_cast<size_t>(each.dtype.bytes()) == bytes)
                    return each.dtype;
            break;
        }
        case H5T_ENUM: {
            const Hdf5Object truth(path, "a type cannot be made", new_type(boolean), H5Tclose);
            if (H5Tequal(type, truth) > 0) return boolean;
            break;
        }
        default: break;
    }
    hdf5_fault(path, "'" + name +
                         "' has elements that Firn has not; write it as integers of 8 to 64 bits "
                         "or floats of 16 to 64");
}

/// The largest part that is read between two messages: all, or a box of whole chunks.
std::vector<hsize_t> part_of(const std::vector<hsize_t>& sizes, const std::vector<hsize_t>& chunk,
                             uint64_t element_bytes) {
    std::vector<hsize_t> part = sizes;
    uint64_t elements = 1;
    for (hsize_t size : sizes) elements *= size;
    const uint64_t most = kPartBytes / element_bytes;
    for (size_t axis = 0; axis < part.size() && elements > most; ++axis) {
        const uint64_t slice = elements / part[axis];
        const hsize_t step = axis < chunk.size() ? chunk[axis] : 1;
        part[axis] = std::min(sizes[axis], std::max(step, most / slice / step * step));
        elements = slice * part[axis];
    }
    return part;
}

std::vector<hsize_t> chunk_of(hid_t set, size_t rank) {
    std::vector<hsize_t> chunk(rank);
    const hid_t layout = H5Dget_create_plist(set);
    if (layout < 0 || H5Pget_layout(layout) != H5D_CHUNKED ||
        H5Pget_chunk(layout, static_cast<int>(rank), chunk.data()) != static_cast<int>(rank))
        chunk.clear();
    if (layout >= 0) H5Pclose(layout);
    if (std::find(chunk.begin(), chunk.end(), 0) != chunk.end()) chunk.clear();
    return chunk;
}

/// Reads all elements, and tells the parent behind each part how many bytes are there.
void read_elements(ParentLink& parent, const std::string& path, const std::string& what, hid_t set,
                   const std::vector<hsize_t>& sizes, DType dtype, std::byte* to) {
    const Hdf5Object memory(path, what, new_type(dtype), H5Tclose);
    const auto element_bytes = static_cast<uint64_t>(file_bytes(dtype));
    const std::vector<hsize_t> part = part_of(sizes, chunk_of(set, sizes.size()), element_bytes);
    if (part == sizes) {
        check_hdf5(path, what, H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to));
        return;
    }
    const Hdf5Object box(path, what,
                         H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                         H5Sclose);
    std::vector<hsize_t> at(sizes.size(), 0), count(sizes.size());
    for (uint64_t done = 0;;) {
        uint64_t bytes = element_bytes;
        for (size_t axis = 0; axis < sizes.size(); ++axis)
            bytes *= count[axis] = std::min(part[axis], sizes[axis] - at[axis]);
        check_hdf5(
            path, what,
            H5Sselect_hyperslab(box, H5S_SELECT_SET, at.data(), nullptr, count.data(), nullptr));
        check_hdf5(path, what, H5Dread(set, memory, box, box, H5P_DEFAULT, to));
        MessageWriter news(kPart);
        news.number(done += bytes);
        parent.send(news.with_rest(""));
        size_t axis = sizes.size();
        while (axis > 0 && (at[axis - 1] += part[axis - 1]) >= sizes[axis - 1]) at[--axis] = 0;
        if (axis == 0) return;
    }
}

void send_data_set(ParentLink& parent, const Hdf5Request& request, const std::string& name,
                   hid_t file) {
    const std::string &path = request.path, what = "'" + name + "' cannot be read";
    const Hdf5Object set(path, what, H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Object space(path, what, H5Dget_space(set), H5Sclose);
    const Hdf5Object type(path, what, H5Dget_type(set), H5Tclose);
    const DType dtype = dtype_of(path, name, type);
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        hdf5_fault(path, "'" + name + "' has no elements and no shape");
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0) hdf5_fault(path, what + ": " + hdf5_reason());
    std::vector<hsize_t> sizes(static_cast<size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
        hdf5_fault(path, what + ": " + hdf5_reason());
    MessageWriter facts(kSet);
    facts.number(static_cast<uint64_t>(
        std::find(std::begin(kAllTypes), std::end(kAllTypes), dtype) - std::begin(kAllTypes)));
    facts.number(sizes.size());
    for (hsize_t each : sizes) facts.number(each);
    parent.send(facts.with_rest(name));  // the parent refuses it if it is too large
    const std::vector<int64_t> shape(sizes.begin(), sizes.end());
    if (const int64_t elements = elements_of(shape); elements > 0) {
        const auto bytes =
            static_cast<uint64_t>(elements) * static_cast<uint64_t>(file_bytes(dtype));
        // The library unpacks a chunk into memory that it doubles, and one chunk may hold all.
        parent.limit_memory(memory_beside(request.file_bytes) + 4 * bytes);
        SharedMemory memory = parent.receive_memory(bytes);
        read_elements(parent, path, what, set, sizes, dtype, memory.bytes().data());
    }
    parent.send(std::string(1, kDone));
}

/// The names of all data sets, in alphabetical order.
std::vector<std::string> names_of_data_sets(const std::string& path, hid_t file) {
    std::vector<std::string> out;
    check_hdf5(path, "its data sets cannot be listed",
               H5Ovisit2(
                   file, H5_INDEX_NAME, H5_ITER_INC,
                   [](hid_t, const char* name, const H5O_info_t* info, void* names) {
                       if (info->type == H5O_TYPE_DATASET)
                           static_cast<std::vector<std::string>*>(names)->emplace_back(name);
                       return herr_t{0};
                   },
                   &out, H5O_INFO_BASIC));
    return out;
}

void answer(ParentLink& parent, const Hdf5Request& request) {
    const std::string& path = request.path;
    parent.limit_memory(memory_beside(request.file_bytes));
    if (H5Fis_hdf5(path.c_str()) <= 0) hdf5_fault(path, "is no HDF5 file");
    const Hdf5Object file(path, "is no whole HDF5 file",
                          H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const std::vector<std::string> names = names_of_data_sets(path, file);
    if (!request.name) {
        for (const std::string& name : names) send_data_set(parent, request, name, file);
        return;
    }
    const std::string& name = *request.name;
    const std::string plain = name.starts_with('/') ? name.substr(1) : name;
    if (std::find(names.begin(), names.end(), plain) == names.end())
        throw Hdf5Fault(no_such_name(path, name, names));
    send_data_set(parent, request, plain, file);
}

/// Answers one request after the other, until the parent has no more.
void serve_hdf5(ParentLink& parent) {
    while (const std::optional<std::string> text = parent.receive()) {
        MessageParser from(*text);
        Hdf5Request request;
        request.file_bytes = from.number().value_or(0);
        const std::string rest = from.rest();
        const size_t end = rest.find('\0');
        request.path = rest.substr(0, end);
        if (end != rest.npos) request.name = rest.substr(end + 1);
        try {
            answer(parent, request);
            parent.send(std::string(1, kEnd));
        } catch (const Hdf5Fault& fault) {
            parent.send(MessageWriter(kRefused).with_rest(fault.what()));
        }
    }
}

// The part in the process that asked. Every answer may be forged.

[[noreturn]] void no_sense() {
    throw ProcessEnded("sent an invalid answer", ProcessEnded::Why::Broke);
}

/// Parses the description of a data set that the process sent. Throws ProcessEnded where it has no
/// type, rank, sizes or name that a data set may have.
Hdf5Set parse_facts(const std::string& message) {
    MessageParser from(message);
    Hdf5Set out;
    const uint64_t dtype = from.number().value_or(~uint64_t{0});
    const uint64_t rank = from.number().value_or(~uint64_t{0});
    if (dtype >= std::size(kAllTypes) || rank > H5S_MAX_RANK) no_sense();
    out.dtype = kAllTypes[dtype];
    if (out.dtype == bf16) no_sense();
    for (uint64_t axis = 0; axis < rank; ++axis) {
        const std::optional<uint64_t> size = from.number();
        if (!size) no_sense();
        out.shape.push_back(static_cast<int64_t>(*size));
    }
    out.name = from.rest();
    if (out.name.empty() || out.name.find('\0') != out.name.npos) no_sense();
    return out;
}

/// A refusal by the process, which then waits for the next request.
struct RefusedThere : Hdf5Fault {
    using Hdf5Fault::Hdf5Fault;
};

/// The parent's end of one read.
class Hdf5Call {
  public:
    Hdf5Call(ConfinedProcess& process, const std::string& path,
             const std::optional<std::string>& name, const Hdf5Reader::Take& take)
        : process_(process), path_(path), name_(name), take_(take), file_(size_of_file(path)) {}

    void run() {
        MessageWriter request('q');
        request.number(file_);
        std::string text = path_.c_str();  // as far as the system reads it
        if (name_) text += '\0' + *name_;
        process_.send(request.with_rest(text));
        for (uint64_t sets = 0;; ++sets) {
            const std::string message = receive();
            if (message[0] == kEnd && (!name_ || sets == 1)) return;
            if (message[0] != kSet || sets > (name_ ? 0 : file_)) no_sense();
            take_set(parse_facts(message));
        }
    }

  private:
    std::string receive() {
        char text[64] = "";
        if (bytes_ > 0)
            std::snprintf(text, sizeof text, ", %.0f of %.0f MB", double(done_) * 1e-6,
                          double(bytes_) * 1e-6);
        std::string message = process_.receive([&] {
            work_.tell_or_end(
                {"loading " + path_ + text, bytes_ > 0 ? double(done_) / double(bytes_) : -1});
            CancelScope::end_if_asked("loading", path_);
        });
        if (message.empty()) no_sense();
        if (message[0] == kRefused) {
            if (!message.starts_with(kRefused + ("file " + path_) + ": ")) no_sense();
            throw RefusedThere(message.substr(1));
        }
        return message;
    }

    /// Bytes that a file may claim: a quarter of the memory, since for a while they are there
    /// twice, and beyond that as many as it has itself.
    uint64_t most_bytes() const {
        const uint64_t quarter = physical_memory() / 4;
        return quarter + std::min(physical_memory() - quarter, file_);
    }

    void take_set(Hdf5Set&& set) {
        if (name_ && set.name != *name_ && "/" + set.name != *name_) no_sense();
        const int64_t elements = elements_of(set.shape);
        const auto element_bytes = static_cast<uint64_t>(file_bytes(set.dtype));
        const uint64_t most = most_bytes() - std::min(taken_, most_bytes());
        if (elements < 0 || static_cast<uint64_t>(elements) > most / element_bytes)
            does_not_fit(set);
        bytes_ = static_cast<uint64_t>(elements) * element_bytes;
        taken_ += bytes_ + sizeof(Hdf5Set) + set.name.size();
        done_ = 0;
        std::optional<SharedMemory> memory;
        try {
            memory.emplace(bytes_);
            if (bytes_ > 0) process_.send(*memory);
            read_parts();
            set.bytes = memory->bytes();
        } catch (const std::bad_alloc&) {
            does_not_fit(set);
        }
        take_(set);
    }

    void read_parts() {
        for (;;) {
            const std::string message = receive();
            if (message[0] == kDone) return;
            const uint64_t done = MessageParser(message).number().value_or(0);
            if (message[0] != kPart || done <= done_ || done > bytes_) no_sense();
            done_ = done;
        }
    }

    [[noreturn]] void does_not_fit(const Hdf5Set& set) {
        hdf5_fault(path_, "'" + set.name + "' cannot be read: its " +
                              text(Shape(set.shape.begin(), set.shape.end())) +
                              " elements do not fit into memory");
    }

    ConfinedProcess& process_;
    const std::string& path_;
    const std::optional<std::string>& name_;
    const Hdf5Reader::Take& take_;
    const uint64_t file_;
    uint64_t taken_ = 0, bytes_ = 0, done_ = 0;
    LongWork work_;
};

/// Refuses a path that cannot be opened, or that is no file: reading a pipe, for example, would
/// wait.
void check_is_file(const std::string& path) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
        hdf5_fault(path, "is no HDF5 file");
    std::byte first{};
    read_file_part(path, 0, &first, 1);
}

std::string text_of(const ProcessEnded& ended, const std::string& path) {
    const std::string text = "file " + path + ": cannot be read: the process that reads it ";
    if (ended.why == ProcessEnded::Why::NotStarted)
        return text + ended.what() + "; end programs that are not needed, and try again";
    return text + ended.what() +
           "; the file is damaged or forged: take it from its source again, or have the program "
           "that made it write .npy or .npz";
}

}  // namespace

void Hdf5Reader::read(const std::string& path, const std::optional<std::string>& name,
                      const Take& take) {
    last_end_.reset();
    std::string refusal;
    try {
        check_is_file(path);
        if (path.size() + (name ? name->size() : 0) > kLongestMessage - 64)
            hdf5_fault(path, "a data set name of " + std::to_string(name->size()) +
                                 " letters is too long");
        if (!process_) {
            const Hdf5Lock lock;  // no other thread is within the library while it is copied
            process_ = std::make_unique<ConfinedProcess>(work_ ? work_ : serve_hdf5, timeout_);
        }
        // A process in the midst of an answer is of no use to the next read.
        std::unique_ptr<ConfinedProcess> process = std::move(process_);
        try {
            Hdf5Call(*process, path, name, take).run();
        } catch (const RefusedThere& fault) {
            refusal = fault.what();
        }
        process_ = std::move(process);
    } catch (const ProcessEnded& ended) {
        last_end_ = ended.why;
        refusal = text_of(ended, path);
    } catch (const Hdf5Fault& fault) {
        refusal = fault.what();
    } catch (const UserError& error) {
        refusal = error.what();
    }
    if (!refusal.empty()) refuse(refusal);
}

#else
void refuse_without_hdf5(const std::string& path) {
    refuse("file " + path +
           ": this build of Firn has no HDF5; install libhdf5-dev, configure and build it again, "
           "or write a .safetensors file");
}

void Hdf5Reader::read(const std::string& path, const std::optional<std::string>&, const Take&) {
    refuse_without_hdf5(path);
}
#endif

}  // namespace firn
