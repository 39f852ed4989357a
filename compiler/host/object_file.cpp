// Machine code of an object file, loaded into this process. Every offset of the file is checked:
// a damaged one is refused.
#include "compiler/host/object_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/thread_sanitizer.h"
#include "compiler/host/relocations.h"

#if defined(__x86_64__)
// Conversions of halves, of libgcc. Their type has no name here: only their places are taken.
extern "C" void __extendhfsf2();
extern "C" void __truncsfhf2();
extern "C" void __truncdfhf2();
#endif

namespace firn {

/// Pages of this process.
struct ObjectFile::Mapping {
    std::byte* data = nullptr;
    size_t bytes = 0;

    explicit Mapping(size_t wanted) : bytes(wanted) {
        void* pages =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages != MAP_FAILED) data = static_cast<std::byte*>(pages);
    }
    ~Mapping() {
        if (data) munmap(data, bytes);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
};

namespace {

/// Bytes of a section's memory, and of all: a kernel has some kilobytes.
constexpr uint64_t kMostBytes = 64 << 20;
/// Sections are aligned to at most as much.
constexpr uint64_t kMostAlignment = 4096;

/// The names of the functions that report accesses to the thread sanitizer begin with this.
constexpr std::string_view kSanitizer = "__tsan_";

template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

/// The functions outside the file that it may call: what LLVM calls for operations for which a
/// level of the processor has no instruction, each of the C library's or of the compiler's.
void* external(std::string_view name) {
    using F = float(float);
    using D = double(double);
    using F2 = float(float, float);
    using D2 = double(double, double);
    static const std::pair<std::string_view, void*> known[] = {
        {"memcpy", address(&std::memcpy)},
        {"memmove", address(&std::memmove)},
        {"memset", address(&std::memset)},
        {"fmodf", address<F2>(&::fmodf)},
        {"fmod", address<D2>(&::fmod)},
        {"fminf", address<F2>(&::fminf)},
        {"fmin", address<D2>(&::fmin)},
        {"fmaxf", address<F2>(&::fmaxf)},
        {"fmax", address<D2>(&::fmax)},
        {"floorf", address<F>(&::floorf)},
        {"floor", address<D>(&::floor)},
        {"ceilf", address<F>(&::ceilf)},
        {"ceil", address<D>(&::ceil)},
        {"truncf", address<F>(&::truncf)},
        {"trunc", address<D>(&::trunc)},
        {"roundevenf", address<F>(&::roundevenf)},
        {"roundeven", address<D>(&::roundeven)},
        {"fmaf", address<float(float, float, float)>(&::fmaf)},
        {"fma", address<double(double, double, double)>(&::fma)},
#if defined(__x86_64__)
        {"__extendhfsf2", address(&__extendhfsf2)},
        {"__truncsfhf2", address(&__truncsfhf2)},
        {"__truncdfhf2", address(&__truncdfhf2)},
#endif
    };
    for (const auto& [known_name, function] : known)
        if (known_name == name) return function;
    if (kFindsRaces && name.starts_with(kSanitizer)) {
        if (void* function = dlsym(RTLD_DEFAULT, std::string(name).c_str())) return function;
        return external(name.substr(kSanitizer.size()));  // memcpy and others: it has its own
    }
    return nullptr;
}

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_NONE;
#endif

std::string machine_name(Elf64_Half machine) {
    const ObjectMachine* known = object_machine(machine);
    return known ? known->name : "machine " + std::to_string(machine);
}

/// The bytes of an address in the table of addresses.
constexpr uint64_t kAddress = 8;

/// Sections with the same rights, in pages of their own.
enum class Rights : uint8_t { Run, Read, Write };
constexpr size_t kRights = 3;

class Loader {
  public:
    Loader(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

    /// The sizes of everything; gives the bytes of all pages.
    size_t plan() {
        read_header();
        read_sections();
        read_symbols();
        find_targets();
        return place();
    }

    std::map<std::string, void*> load(std::byte* pages) {
        pages_ = pages;
        for (size_t k = 0; k < sections_.size(); ++k)
            if (is_loaded(k) && sections_[k].sh_type != SHT_NOBITS)
                std::memcpy(at(k), file_.data() + sections_[k].sh_offset, sections_[k].sh_size);
        write_stubs();
        each_relocation([&](size_t section, const Elf64_Rela& entry) { relocate(section, entry); });
        protect();
        std::map<std::string, void*> found;
        for (size_t k = 0; k < symbols_.size(); ++k) {
            const Elf64_Sym& symbol = symbols_[k];
            if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF &&
                symbol.st_shndx < SHN_LORESERVE && is_loaded(symbol.st_shndx))
                found.emplace(symbol_name(k), reinterpret_cast<void*>(*address_of(k)));
        }
        return found;
    }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw UserError(name_ + ": its machine code cannot be loaded: " + why +
                        "; compile the program again");
    }
    [[noreturn]] void damaged(const std::string& what) const {
        refuse("the object file is damaged (" + what + ")");
    }

    template <class T>
    T read_at(uint64_t offset, const char* what) const {
        if (offset > file_.size() || sizeof(T) > file_.size() - offset) damaged(what);
        T value;
        std::memcpy(&value, file_.data() + offset, sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> read_table(const Elf64_Shdr& section, const char* what) const {
        if (section.sh_entsize != sizeof(T) || section.sh_size % sizeof(T) != 0 ||
            section.sh_type == SHT_NOBITS)
            damaged(what);
        std::vector<T> table(section.sh_size / sizeof(T));
        if (!table.empty())
            std::memcpy(table.data(), file_.data() + section.sh_offset, section.sh_size);
        return table;
    }
    std::string_view text_at(const Elf64_Shdr& strings, uint64_t offset, const char* what) const {
        if (strings.sh_type != SHT_STRTAB || offset >= strings.sh_size) damaged(what);
        const auto* begin = reinterpret_cast<const char*>(file_.data() + strings.sh_offset);
        const void* end = std::memchr(begin + offset, 0, strings.sh_size - offset);
        if (!end) damaged(what);
        return {begin + offset, static_cast<const char*>(end)};
    }

    void read_header() {
        header_ = read_at<Elf64_Ehdr>(0, "its header");
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
            header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
            refuse("it is no object file of 64 bits");
        if (header_.e_type != ET_REL) damaged("its type");
        if (header_.e_machine != kMachine)
            refuse("it is for the processor " + machine_name(header_.e_machine) + " and this is " +
                   machine_name(kMachine));
        machine_ = object_machine(header_.e_machine);
        if (!machine_) refuse("loading is not written for " + machine_name(header_.e_machine));
    }

    void read_sections() {
        if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shnum == 0)
            damaged("its table of sections");
        for (size_t k = 0; k < header_.e_shnum; ++k) {
            if (header_.e_shoff > file_.size()) damaged("its table of sections");
            const auto section = read_at<Elf64_Shdr>(header_.e_shoff + k * sizeof(Elf64_Shdr),
                                                     "its table of sections");
            if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
                (section.sh_offset > file_.size() ||
                 section.sh_size > file_.size() - section.sh_offset))
                damaged("the place of a section");
            if (section.sh_flags & SHF_ALLOC) {
                if (section.sh_size > kMostBytes) damaged("the size of a section");
                if (section.sh_addralign > kMostAlignment ||
                    (section.sh_addralign & (section.sh_addralign - 1)) != 0)
                    damaged("the alignment of a section");
                if (section.sh_flags & SHF_TLS) refuse("it has variables of threads");
                if ((section.sh_flags & SHF_EXECINSTR) && (section.sh_flags & SHF_WRITE))
                    refuse("it has code that can be written");
            }
            sections_.push_back(section);
        }
    }

    bool is_loaded(size_t section) const {
        return section > 0 && section < sections_.size() &&
               (sections_[section].sh_flags & SHF_ALLOC) && sections_[section].sh_type != SHT_NULL;
    }

    void read_symbols() {
        for (size_t k = 0; k < sections_.size(); ++k) {
            if (sections_[k].sh_type != SHT_SYMTAB) continue;
            if (!symbols_.empty() || sections_[k].sh_link >= sections_.size())
                damaged("its table of symbols");
            symbols_ = read_table<Elf64_Sym>(sections_[k], "its table of symbols");
            symbol_table_ = k;
            strings_ = sections_[sections_[k].sh_link];
        }
        for (size_t k = 0; k < symbols_.size(); ++k) {
            const Elf64_Sym& symbol = symbols_[k];
            (void)symbol_name(k);
            if (symbol.st_shndx < SHN_LORESERVE && symbol.st_shndx >= sections_.size())
                damaged("the section of a symbol");
            if (is_loaded(symbol.st_shndx) && symbol.st_value > sections_[symbol.st_shndx].sh_size)
                damaged("the place of a symbol");
        }
    }

    std::string symbol_name(size_t k) const {
        return std::string(text_at(strings_, symbols_[k].st_name, "the name of a symbol"));
    }

    template <class Visit>
    void each_relocation(const Visit& visit) const {
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_type != SHT_RELA && section.sh_type != SHT_REL) continue;
            if (section.sh_info >= sections_.size()) damaged("its relocations");
            if (!is_loaded(section.sh_info)) continue;  // such as those of debug information
            if (section.sh_type == SHT_REL || section.sh_link != symbol_table_)
                damaged("its relocations");
            for (const Elf64_Rela& entry :
                 read_table<Elf64_Rela>(section, "its table of relocations"))
                visit(section.sh_info, entry);
        }
    }

    /// Finds the symbols whose addresses must stand in memory, and those that are called and lie
    /// outside.
    void find_targets() {
        table_of_.assign(symbols_.size(), std::nullopt);
        stub_of_.assign(symbols_.size(), std::nullopt);
        each_relocation([&](size_t section, const Elf64_Rela& entry) {
            const uint64_t symbol = ELF64_R_SYM(entry.r_info);
            if (symbol >= symbols_.size()) damaged("the symbol of a relocation");
            const Relocation& relocation = relocation_of(ELF64_R_TYPE(entry.r_info));
            const uint64_t width = relocation.bytes();
            const Elf64_Shdr& target = sections_[section];
            if (target.sh_type == SHT_NOBITS || entry.r_offset > target.sh_size ||
                width > target.sh_size - entry.r_offset)
                damaged("the place of a relocation");
            check_target(symbol);
            const bool outside = symbols_[symbol].st_shndx == SHN_UNDEF;
            const bool stub = outside && relocation.calls;
            if ((stub || relocation.by_table) && !table_of_[symbol])
                table_of_[symbol] = addresses_++;
            if (stub && !stub_of_[symbol]) stub_of_[symbol] = stubs_++;
        });
    }

    const Relocation& relocation_of(uint64_t type) const {
        if (const Relocation* known = machine_->find(static_cast<uint32_t>(type))) return *known;
        refuse("it has a relocation of type " + std::to_string(type) +
               ", which is not known; code must be independent of its position");
    }

    void check_target(size_t k) const {
        const Elf64_Sym& symbol = symbols_[k];
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        if (type == STT_TLS || type == STT_GNU_IFUNC)
            refuse("'" + symbol_name(k) + "' is chosen as the program starts");
        if (symbol.st_shndx == SHN_UNDEF) {
            if (k > 0 && !external(symbol_name(k)) && ELF64_ST_BIND(symbol.st_info) != STB_WEAK)
                refuse("it needs '" + symbol_name(k) + "', which is not there");
        } else if (symbol.st_shndx >= SHN_LORESERVE) {
            if (symbol.st_shndx != SHN_ABS) refuse("'" + symbol_name(k) + "' has no section");
        } else if (!is_loaded(symbol.st_shndx)) {
            damaged("the section of a symbol");
        }
    }

    /// Gives every section its place: code and stubs, what is read and the table of addresses, what
    /// is written, each in pages of their own.
    size_t place() {
        const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
        const auto align = [](uint64_t value, uint64_t step) {
            return (value + step - 1) / step * step;
        };
        places_.resize(sections_.size());
        uint64_t end = 0;
        for (const Rights rights : {Rights::Run, Rights::Read, Rights::Write}) {
            begin_[static_cast<size_t>(rights)] = end;
            for (size_t k = 0; k < sections_.size(); ++k) {
                if (!is_loaded(k) || rights_of(sections_[k]) != rights) continue;
                end = align(end, std::max<uint64_t>(1, sections_[k].sh_addralign));
                places_[k] = end;
                end += sections_[k].sh_size;
                if (end > kMostBytes) damaged("the size of its sections");
            }
            if (rights == Rights::Run) {
                stubs_at_ = align(end, machine_->stub_bytes);
                end = stubs_at_ + stubs_ * machine_->stub_bytes;
            } else if (rights == Rights::Read) {
                table_at_ = align(end, kAddress);
                end = table_at_ + addresses_ * kAddress;
            }
            if (end > kMostBytes) damaged("the size of its sections");
            end = align(end, page);
        }
        begin_[kRights] = end;
        return std::max<size_t>(end, page);
    }

    static Rights rights_of(const Elf64_Shdr& section) {
        if (section.sh_flags & SHF_EXECINSTR) return Rights::Run;
        return section.sh_flags & SHF_WRITE ? Rights::Write : Rights::Read;
    }

    std::byte* at(size_t section) const { return pages_ + places_[section]; }

    /// Null for a weak symbol that is not there.
    std::optional<uint64_t> address_of(size_t k) const {
        const Elf64_Sym& symbol = symbols_[k];
        if (symbol.st_shndx == SHN_ABS) return symbol.st_value;
        if (symbol.st_shndx == SHN_UNDEF)
            return k == 0 ? 0 : reinterpret_cast<uint64_t>(external(symbol_name(k)));
        return reinterpret_cast<uint64_t>(at(symbol.st_shndx)) + symbol.st_value;
    }

    uint64_t table_entry(size_t symbol) const {
        return reinterpret_cast<uint64_t>(pages_) + table_at_ + *table_of_[symbol] * kAddress;
    }
    uint64_t stub(size_t symbol) const {
        return reinterpret_cast<uint64_t>(pages_) + stubs_at_ +
               *stub_of_[symbol] * machine_->stub_bytes;
    }

    void write_stubs() {
        for (size_t k = 0; k < symbols_.size(); ++k) {
            if (table_of_[k]) {
                const uint64_t address = *address_of(k);
                std::memcpy(reinterpret_cast<void*>(table_entry(k)), &address, sizeof address);
            }
            if (!stub_of_[k]) continue;
            auto* code = reinterpret_cast<std::byte*>(stub(k));
            if (!machine_->write_stub(code, stub(k), table_entry(k))) too_far();
        }
    }

    [[noreturn]] void too_far() const { refuse("an address is too far away"); }

    void relocate(size_t section, const Elf64_Rela& entry) const {
        const size_t symbol = ELF64_R_SYM(entry.r_info);
        const Relocation& relocation = relocation_of(ELF64_R_TYPE(entry.r_info));
        std::byte* place = at(section) + entry.r_offset;
        const uint64_t target = relocation.by_table                    ? table_entry(symbol)
                                : relocation.calls && stub_of_[symbol] ? stub(symbol)
                                                                       : *address_of(symbol);
        if (!apply(relocation, place, reinterpret_cast<uint64_t>(place),
                   target + static_cast<uint64_t>(entry.r_addend)))
            too_far();
    }

    void protect() const {
        // Processors that keep instructions apart from data are told of new ones.
        __builtin___clear_cache(reinterpret_cast<char*>(pages_ + begin_[0]),
                                reinterpret_cast<char*>(pages_ + begin_[1]));
        constexpr int kFlags[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
        for (size_t k = 0; k < kRights; ++k)
            if (begin_[k + 1] > begin_[k] &&
                mprotect(pages_ + begin_[k], begin_[k + 1] - begin_[k], kFlags[k]) != 0)
                refuse("the system does not let this process run code that it has loaded");
    }

    std::span<const std::byte> file_;
    const std::string& name_;
    Elf64_Ehdr header_{};
    const ObjectMachine* machine_ = nullptr;
    std::vector<Elf64_Shdr> sections_;
    Elf64_Shdr strings_{};  // names of symbols
    std::vector<Elf64_Sym> symbols_;
    size_t symbol_table_ = 0;
    std::vector<uint64_t> places_;  // by section, from the begin of the pages
    std::vector<std::optional<uint64_t>> table_of_, stub_of_;  // by symbol
    uint64_t addresses_ = 0, stubs_ = 0, table_at_ = 0, stubs_at_ = 0;
    uint64_t begin_[kRights + 1] = {};
    std::byte* pages_ = nullptr;
};

}  // namespace

ObjectFile::ObjectFile(std::span<const std::byte> file, const std::string& name) {
    Loader loader(file, name);
    mapping_ = std::make_unique<Mapping>(loader.plan());
    if (!mapping_->data)
        throw DeviceError(name + ": the system has no memory for " +
                          std::to_string(mapping_->bytes) + " bytes of machine code");
    symbols_ = loader.load(mapping_->data);
}

ObjectFile::~ObjectFile() = default;

void* ObjectFile::symbol(const std::string& name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? nullptr : found->second;
}

}  // namespace firn
