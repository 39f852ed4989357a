// Operations by which the lanes of a subgroup exchange values, as LLVM IR: shuffles of vectors.
#include "compiler/target/native/lanes.h"

#include <functional>

#include "compiler/base/error.h"
#include "compiler/ir/monoid.h"
#include "compiler/target/native/combine.h"

namespace firn::native {
namespace {

/// The vector whose lane l is lane from(l) of another one.
std::string shuffled(IrRun& run, const std::string& value, const std::string& type,
                     const std::function<int(int)>& from) {
    std::string places;
    for (int lane = 0; lane < run.lanes; ++lane)
        places += (lane ? ", i32 " : "i32 ") + std::to_string(from(lane));
    return emit(run, "shufflevector " + type + " " + value + ", " + type + " poison, <" +
                         std::to_string(run.lanes) + " x i32> <" + places + ">");
}

std::string reduced(IrRun& run, const KernelNode& n, std::string value, const std::string& type) {
    for (int distance = run.subgroup / 2; distance > 0; distance /= 2)
        value = combine(run, monoid(n.as<ReduceOp>()).step, n.dtype, value,
                        shuffled(run, value, type, [&](int lane) { return lane ^ distance; }));
    return value;
}

/// Over the lanes up to the own one, in their order.
std::string scanned(IrRun& run, const KernelNode& n, const std::string& value,
                    const std::string& type) {
    std::string out = value;
    const std::string scalar = scalar_type(n.dtype);
    for (int lane = 0; lane < run.lanes; ++lane) {
        if (lane % run.subgroup == 0) continue;
        const auto part = [&](const std::string& of, int at) {
            return emit(run, "extractelement " + type + " " + of + ", i64 " + std::to_string(at));
        };
        const std::string both = combine_scalars(run, monoid(n.as<ReduceOp>()).step, n.dtype,
                                                 part(out, lane - 1), part(value, lane));
        out = emit(run, "insertelement " + type + " " + out + ", " + scalar + " " + both +
                            ", i64 " + std::to_string(lane));
    }
    return out;
}

/// The value of the lane that each lane names, modulo the number of lanes.
std::string read(IrRun& run, const KernelNode& n, const std::string& value,
                 const std::string& type) {
    const IrValue& from = value_of(run, n.args[1]);
    const DType index_type = run.code[n.args[1]].dtype;
    const std::string scalar = scalar_type(n.dtype);
    std::string out = "poison";
    for (int lane = 0; lane < run.lanes; ++lane) {
        const std::string named = emit(run, "urem i32 " + lane_of(run, from, index_type, lane) +
                                                ", " + std::to_string(run.subgroup)),
                          place = emit(run, "add i32 " + named + ", " +
                                                std::to_string(lane / run.subgroup * run.subgroup)),
                          one =
                              emit(run, "extractelement " + type + " " + value + ", i32 " + place);
        out = emit(run, "insertelement " + type + " " + out + ", " + scalar + " " + one + ", i64 " +
                            std::to_string(lane));
    }
    return out;
}

}  // namespace

void write_exchange(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    if (run.lanes == 1) {
        run.values[id] = {value_of(run, n.args[0])};
        return;
    }
    ensure(run.lanes % run.subgroup == 0, "lanes that exchange values fill no whole subgroups");
    const std::string type = type_of(run, n.dtype, true),
                      value = as_vector(run, value_of(run, n.args[0]), n.dtype);
    std::string out;
    switch (n.op) {
        case KernelOp::SubgroupReduce: out = reduced(run, n, value, type); break;
        case KernelOp::SubgroupScan: out = scanned(run, n, value, type); break;
        case KernelOp::SubgroupRead: out = read(run, n, value, type); break;
        default: {
            const int k = n.as<LaneAttr>().lane;
            out = shuffled(run, value, type,
                           [&](int lane) { return lane / run.subgroup * run.subgroup + k; });
        }
    }
    if (run.varying[id]) {
        run.values[id] = {{out, true}};
        return;
    }
    run.values[id] = {{emit(run, "extractelement " + type + " " + out + ", i64 0"), false}};
}

}  // namespace firn::native
