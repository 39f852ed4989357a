// oneDNN as a contestant, by what its C interface has in versions 2.
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/host/workers.h"
#include "tests/bench/libraries.h"

namespace firn::bench {
namespace {

// Descriptions are plain data, which the library fills in: room for more than versions 2 have.
struct MemoryDescription {
    alignas(16) std::array<std::byte, 2048> bytes{};
};
struct OperationDescription {
    alignas(16) std::array<std::byte, 16384> bytes{};
};
using Handle = struct OneDnnObject*;
struct Argument {
    int what;
    Handle memory;
};
using Sizes = std::vector<int64_t>;

// Constants of dnnl_types.h.
constexpr int kCpu = 1, kFloats = 3, kAnyLayout = 1;
constexpr unsigned kInOrder = 1;
constexpr int kInference = 96, kTraining = 64, kDirect = 1, kRelu = 31, kGeluByTanh = 207;
constexpr int kSource = 1, kFrom = 1, kTarget = 17, kTo = 17, kWeightsArgument = 33, kBias = 41,
              kSourceGradient = 129, kTargetGradient = 145, kWeightsGradient = 161;

/// The description of an argument in its own layout.
int query_of(int argument) {
    switch (argument) {
        case kSource: return 129;
        case kSourceGradient: return 130;
        case kWeightsArgument: return 131;
        case kWeightsGradient: return 132;
        case kTarget: return 133;
        case kTargetGradient: return 134;
        default: throw InternalError("the argument has no query");
    }
}

struct OneDnn {
    OpenLibrary library{"libdnnl.so.2"}, openmp{"libgomp.so.1"};
    template <class... T>
    using Call = int (*)(T...);
    template <class... T>
    Call<T...> get(const char* name) {
        return library.get<int(T...)>(name);
    }
    Call<Handle*, int, size_t> create_engine = get<Handle*, int, size_t>("dnnl_engine_create");
    Call<Handle*, Handle, unsigned> create_stream =
        get<Handle*, Handle, unsigned>("dnnl_stream_create");
    Call<Handle> wait = get<Handle>("dnnl_stream_wait");
    Call<MemoryDescription*, int, const int64_t*, int, const int64_t*> describe_strides =
        get<MemoryDescription*, int, const int64_t*, int, const int64_t*>(
            "dnnl_memory_desc_init_by_strides");
    Call<MemoryDescription*, int, const int64_t*, int, int> describe_layout =
        get<MemoryDescription*, int, const int64_t*, int, int>("dnnl_memory_desc_init_by_tag");
    Call<const MemoryDescription*, const MemoryDescription*> equal =
        get<const MemoryDescription*, const MemoryDescription*>("dnnl_memory_desc_equal");
    Call<Handle*, const MemoryDescription*, Handle, void*> create_memory =
        get<Handle*, const MemoryDescription*, Handle, void*>("dnnl_memory_create");
    using Described = const MemoryDescription*;
    Call<OperationDescription*, Described, Described, Described, Described> product =
        get<OperationDescription*, Described, Described, Described, Described>(
            "dnnl_matmul_desc_init");
    Call<OperationDescription*, int, int, Described, float, float> elementwise =
        get<OperationDescription*, int, int, Described, float, float>(
            "dnnl_eltwise_forward_desc_init");
    Call<OperationDescription*, int, int, Described, Described, Described, Described,
         const int64_t*, const int64_t*, const int64_t*>
        convolution = get<OperationDescription*, int, int, Described, Described, Described,
                          Described, const int64_t*, const int64_t*, const int64_t*>(
            "dnnl_convolution_forward_desc_init");
    Call<OperationDescription*, int, Described, Described, Described, const int64_t*,
         const int64_t*, const int64_t*>
        gradient_of_input =
            get<OperationDescription*, int, Described, Described, Described, const int64_t*,
                const int64_t*, const int64_t*>("dnnl_convolution_backward_data_desc_init");
    Call<OperationDescription*, int, Described, Described, Described, Described, const int64_t*,
         const int64_t*, const int64_t*>
        gradient_of_weights = get<OperationDescription*, int, Described, Described, Described,
                                  Described, const int64_t*, const int64_t*, const int64_t*>(
            "dnnl_convolution_backward_weights_desc_init");
    Call<Handle*, const OperationDescription*, Handle, Handle, Handle> choose =
        get<Handle*, const OperationDescription*, Handle, Handle, Handle>(
            "dnnl_primitive_desc_create");
    Call<Handle*, Described, Handle, Described, Handle, Handle> choose_conversion =
        get<Handle*, Described, Handle, Described, Handle, Handle>(
            "dnnl_reorder_primitive_desc_create");
    Call<Handle*, Handle> create = get<Handle*, Handle>("dnnl_primitive_create");
    Call<Handle, Handle, int, const Argument*> execute =
        get<Handle, Handle, int, const Argument*>("dnnl_primitive_execute");
    Call<Handle*> create_attributes = get<Handle*>("dnnl_primitive_attr_create");
    Call<Handle*> create_steps = get<Handle*>("dnnl_post_ops_create");
    Call<Handle, float, int, float, float> append =
        get<Handle, float, int, float, float>("dnnl_post_ops_append_eltwise");
    Call<Handle, Handle> set_steps = get<Handle, Handle>("dnnl_primitive_attr_set_post_ops");
    Described (*query)(Handle choice, int what, int index) =
        library.get<Described(Handle, int, int)>("dnnl_primitive_desc_query_md");
    void (*set_threads)(int) = openmp.get<void(int)>("omp_set_num_threads");

    bool there() const {
        return create_engine && create_stream && wait && describe_strides && describe_layout &&
               equal && create_memory && product && elementwise && convolution &&
               gradient_of_input && gradient_of_weights && choose && choose_conversion && create &&
               execute && create_attributes && create_steps && append && set_steps && query &&
               set_threads;
    }
};

const OneDnn& onednn() {
    static const OneDnn library;
    return library;
}

void check(int status, const char* what) {
    if (status != 0)
        throw UserError(std::string("oneDNN fails: ") + what + " gives the status " +
                        std::to_string(status));
}

struct Device {
    Handle engine = nullptr, stream = nullptr;
};
const Device& processor() {
    static const Device device = [] {
        Device out;
        check(onednn().create_engine(&out.engine, kCpu, 0), "the engine");
        check(onednn().create_stream(&out.stream, out.engine, kInOrder), "the stream");
        return out;
    }();
    return device;
}

MemoryDescription by_strides(const Sizes& sizes, const Sizes& strides) {
    MemoryDescription out;
    check(onednn().describe_strides(&out, int(sizes.size()), sizes.data(), kFloats, strides.data()),
          "a description by strides");
    return out;
}
MemoryDescription in_order(const Sizes& sizes) {
    Sizes strides(sizes.size(), 1);
    for (size_t k = sizes.size() - 1; k > 0; --k) strides[k - 1] = strides[k] * sizes[k];
    return by_strides(sizes, strides);
}
MemoryDescription any_layout(const Sizes& sizes) {
    MemoryDescription out;
    check(onednn().describe_layout(&out, int(sizes.size()), sizes.data(), kFloats, kAnyLayout),
          "a description in any layout");
    return out;
}

Handle memory_of(const MemoryDescription& description, const float* data) {
    Handle out = nullptr;
    check(onednn().create_memory(&out, &description, processor().engine, const_cast<float*>(data)),
          "memory");
    return out;
}
Handle new_memory(const MemoryDescription& description) {
    Handle out = nullptr;
    void* const allocate = reinterpret_cast<void*>(~uintptr_t{0});
    check(onednn().create_memory(&out, &description, processor().engine, allocate), "memory");
    return out;
}

Handle choice_of(const OperationDescription& operation, Handle attributes, Handle hint) {
    Handle out = nullptr;
    check(onednn().choose(&out, &operation, attributes, processor().engine, hint),
          "the choice of a primitive");
    return out;
}

/// A primitive with its arguments.
struct Step {
    Handle primitive = nullptr;
    std::vector<Argument> arguments;
};
Step step(Handle choice, std::vector<Argument> arguments) {
    Step out{nullptr, std::move(arguments)};
    check(onednn().create(&out.primitive, choice), "a primitive");
    return out;
}
Step conversion(const MemoryDescription& from, Handle from_memory, const MemoryDescription& to,
                Handle to_memory) {
    Handle choice = nullptr;
    const Handle engine = processor().engine;
    check(onednn().choose_conversion(&choice, &from, engine, &to, engine, nullptr),
          "the choice of a conversion");
    return step(choice, {{kFrom, from_memory}, {kTo, to_memory}});
}

void execute(const std::vector<Step>& steps) {
    for (const Step& one : steps)
        check(onednn().execute(one.primitive, processor().stream, int(one.arguments.size()),
                               one.arguments.data()),
              "a primitive's run");
    check(onednn().wait(processor().stream), "the end of a run");
}

/// The steps that run once before, those that are timed, and those that convert the results.
struct Work {
    std::vector<Step> before, timed, after;
};
using Prepare = std::function<Work(const ProcessorMemory&)>;

LibraryProgram program(const std::string& name, const Prepare& prepare) {
    const auto work = std::make_shared<Work>();
    return {name,
            [=](const ProcessorMemory& memory, Workers& workers) {
                onednn().set_threads(int(workers.size()));
                if (work->timed.empty()) {
                    *work = prepare(memory);
                    execute(work->before);
                }
                execute(work->timed);
            },
            [=](const ProcessorMemory&) { execute(work->after); }};
}

/// [batch, rows, columns], or its transposed one in memory; without a batch of 1.
MemoryDescription matrices(int64_t batch, int64_t rows, int64_t columns, bool transposed) {
    Sizes sizes{rows, columns}, strides{transposed ? 1 : columns, transposed ? rows : 1};
    if (batch > 1) {
        sizes.insert(sizes.begin(), batch);
        strides.insert(strides.begin(), rows * columns);
    }
    return by_strides(sizes, strides);
}

Work prepare_product(const ProductTask& task, const ProcessorMemory& memory) {
    const OneDnn& library = onednn();
    const MemoryDescription a = matrices(task.batch, task.rows, task.depth, task.a_transposed),
                            b = matrices(task.batch, task.depth, task.columns, task.b_transposed),
                            y = matrices(task.batch, task.rows, task.columns, false),
                            bias = in_order({1, task.columns});
    Handle a_memory = memory_of(a, memory.arguments[0]), attributes = nullptr;
    Work work;
    std::vector<Argument> arguments{{kWeightsArgument, memory_of(b, memory.arguments[1])},
                                    {kTarget, memory_of(y, memory.results[0])}};
    if (task.fused) {
        OperationDescription gelu;
        check(library.elementwise(&gelu, kInference, kGeluByTanh, &a, 0, 0), "gelu");
        const Handle active = new_memory(a);
        work.timed.push_back(
            step(choice_of(gelu, nullptr, nullptr), {{kSource, a_memory}, {kTarget, active}}));
        a_memory = active;
        arguments.push_back({kBias, memory_of(bias, memory.arguments[2])});
        Handle steps = nullptr;
        check(library.create_attributes(&attributes), "attributes");
        check(library.create_steps(&steps), "steps behind a product");
        check(library.append(steps, 1, kRelu, 0, 0), "a step behind a product");
        check(library.set_steps(attributes, steps), "steps behind a product");
    }
    arguments.push_back({kSource, a_memory});
    OperationDescription product;
    check(library.product(&product, &a, &b, task.fused ? &bias : nullptr, &y), "a product");
    work.timed.push_back(step(choice_of(product, attributes, nullptr), arguments));
    return work;
}

enum class Layouts : uint8_t { OfTheCase, Converted, Own };

/// An argument of a convolution.
struct Operand {
    int argument;
    Sizes sizes;
    const float* data;
    bool written = false;
};

Work prepare_convolution(const ConvolutionTask& task, Layouts layouts,
                         const ProcessorMemory& memory) {
    const OneDnn& library = onednn();
    const int64_t result = task.side / task.stride;
    const Sizes image{task.images, task.in, task.side, task.side},
        target{task.images, task.out, result, result},
        weights{task.out, task.in, task.size, task.size}, strides{task.stride, task.stride},
        begin{task.size / 2, task.size / 2},
        end(2, (result - 1) * task.stride + task.size - task.side - task.size / 2);
    const auto asked = [&](const Sizes& sizes) {
        return layouts == Layouts::OfTheCase ? in_order(sizes) : any_layout(sizes);
    };
    const MemoryDescription x = asked(image), w = asked(weights), y = asked(target);
    OperationDescription operation;
    check(library.convolution(&operation, kTraining, kDirect, &x, &w, nullptr, &y, strides.data(),
                              begin.data(), end.data()),
          "a convolution");
    Handle choice = choice_of(operation, nullptr, nullptr);
    std::vector<Operand> operands;
    const auto& read = memory.arguments;
    const auto& written = memory.results;
    switch (task.which) {
        case Convolution::Forward:
            operands = {{kSource, image, read[0]},
                        {kWeightsArgument, weights, read[1]},
                        {kTarget, target, written[0], true}};
            check(library.convolution(&operation, kInference, kDirect, &x, &w, nullptr, &y,
                                      strides.data(), begin.data(), end.data()),
                  "a convolution");
            choice = choice_of(operation, nullptr, nullptr);
            break;
        case Convolution::GradientOfInput:
            operands = {{kTargetGradient, target, read[0]},
                        {kWeightsArgument, weights, read[1]},
                        {kSourceGradient, image, written[0], true}};
            check(library.gradient_of_input(&operation, kDirect, &x, &w, &y, strides.data(),
                                            begin.data(), end.data()),
                  "a convolution's gradient");
            choice = choice_of(operation, nullptr, choice);
            break;
        case Convolution::GradientOfWeights:
            operands = {{kSource, image, read[0]},
                        {kTargetGradient, target, read[1]},
                        {kWeightsGradient, weights, written[0], true}};
            check(library.gradient_of_weights(&operation, kDirect, &x, &w, nullptr, &y,
                                              strides.data(), begin.data(), end.data()),
                  "a convolution's gradient");
            choice = choice_of(operation, nullptr, choice);
            break;
    }
    Work work;
    std::vector<Step> behind;
    std::vector<Argument> arguments;
    for (const Operand& one : operands) {
        const MemoryDescription own = in_order(one.sizes);
        const MemoryDescription* chosen = library.query(choice, query_of(one.argument), 0);
        Handle outside = memory_of(own, one.data), inside = outside;
        const bool timed = layouts != Layouts::Own;
        if (!library.equal(&own, chosen)) {
            inside = new_memory(*chosen);
            if (one.written)
                (timed ? behind : work.after).push_back(conversion(*chosen, inside, own, outside));
            else
                (timed ? work.timed : work.before)
                    .push_back(conversion(own, outside, *chosen, inside));
        }
        arguments.push_back({one.argument, inside});
    }
    work.timed.push_back(step(choice, arguments));
    work.timed.insert(work.timed.end(), behind.begin(), behind.end());
    return work;
}

}  // namespace

void add_onednn(Libraries& libraries, const ProductTask& task) {
    if (!onednn().there()) return;
    libraries.push_back(program(
        "oneDNN", [=](const ProcessorMemory& memory) { return prepare_product(task, memory); }));
}

void add_onednn(Libraries& libraries, const ConvolutionTask& task) {
    if (!onednn().there()) return;
    for (const auto& [name, layouts] : {std::pair{"oneDNN", Layouts::OfTheCase},
                                        std::pair{"oneDNN with conversions", Layouts::Converted},
                                        std::pair{"oneDNN, its layouts", Layouts::Own}})
        libraries.push_back(program(name, [=, layouts = layouts](const ProcessorMemory& memory) {
            return prepare_convolution(task, layouts, memory);
        }));
}

}  // namespace firn::bench
