// Finds the matrix unit of a device, and tries it on a product that is known.
#include "engine/gpu/matrix_unit.h"

#include <algorithm>
#include <array>

#include "compiler/base/disk_cache.h"
#include "compiler/program/dtype.h"
#include "compiler/program/spirv_format.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/shader_library.h"

namespace firn {
namespace {

constexpr const char* kMatrixUnitCache = "matrix_unit";
constexpr uint32_t kTrialSums = 2;  // products added in the trial

uint64_t size_of(const MatrixUnit& unit) { return uint64_t{unit.rows} * unit.columns * unit.depth; }

/// Returns an element that differs in every row and column, and is small.
float left_at(uint32_t row, uint32_t k) {
    return static_cast<float>((row * 3 + k * 5 + row * k) % 7) - 3;
}
float right_at(uint32_t k, uint32_t column) {
    return static_cast<float>((k * 2 + column * 3 + k * column) % 5) - 2;
}

KernelInfo trial_kernel(const MatrixUnit& unit, uint32_t subgroup) {
    KernelInfo kernel;
    kernel.name = "matrix unit probe";
    std::span<const uint32_t> spirv = shader_module("matrix_unit.comp");
    kernel.artefact.format = kSpirvFormat;
    kernel.artefact.words.assign(spirv.begin(), spirv.end());
    kernel.group_size = {subgroup, 1, 1};
    kernel.bindings = {{BindingForm::Storage, f16, 1, false},
                       {BindingForm::Storage, f16, 1, false},
                       {BindingForm::Storage, f32, 1, true},
                       {BindingForm::Storage, f16, 1, true}};
    kernel.shared_bytes = unit.rows * unit.columns * 4;
    kernel.matrix_unit = unit;
    return kernel;
}

bool multiplies_right(const std::shared_ptr<Device>& owner) {
    Device& device = *owner;
    const MatrixUnit unit = device.profile().matrix_unit;
    const uint32_t subgroup = device.profile().subgroup_size;
    const MatrixTrial trial = matrix_trial(unit);
    const std::array<uint32_t, 4> constants{unit.rows, unit.columns, unit.depth, subgroup};
    const Pipeline pipeline(device, trial_kernel(unit, subgroup), constants);
    std::vector<float> sums(2 * trial.product.size());
    std::vector<uint16_t> halves(trial.product.size());
    const std::array<std::span<std::byte>, 2> results{std::as_writable_bytes(std::span(sums)),
                                                      std::as_writable_bytes(std::span(halves))};
    const std::array<std::span<const std::byte>, 2> operands{std::as_bytes(std::span(trial.left)),
                                                             std::as_bytes(std::span(trial.right))};
    std::vector<std::shared_ptr<Buffer>> memory;
    SetRequest request{&pipeline, {}, {}, {}};
    auto bind = [&](uint64_t bytes) {
        memory.push_back(create_buffer(owner, bytes, "matrix unit probe"));
        request.buffers.push_back(memory.back()->range());
        request.names.push_back(&memory.back()->name());
    };
    for (const auto& bytes : operands) bind(bytes.size()), write_buffer(*memory.back(), 0, bytes);
    for (const auto& bytes : results) bind(bytes.size());
    DescriptorSets sets(device, {&request, 1}, pipeline.name());
    const VolkDeviceTable& vk = device.vk();
    const TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
        vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
        vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0,
                                   1, sets.sets().data(), 0, nullptr);
        vk.vkCmdDispatch(commands, 1, 1, 1);
    });
    for (size_t k = 0; k < memory.size(); ++k) memory[k]->used_at(point, k >= operands.size());
    for (size_t k = 0; k < results.size(); ++k)
        read_buffer(*memory[operands.size() + k], 0, results[k]);
    return is_product(trial, sums, halves);
}

}  // namespace

MatrixUnit choose_matrix_unit(std::span<const VkCooperativeMatrixPropertiesNV> offered) {
    MatrixUnit best;
    for (const VkCooperativeMatrixPropertiesNV& p : offered) {
        const bool fits =
            p.AType == VK_COMPONENT_TYPE_FLOAT16_NV && p.BType == VK_COMPONENT_TYPE_FLOAT16_NV &&
            p.CType == VK_COMPONENT_TYPE_FLOAT32_NV && p.DType == VK_COMPONENT_TYPE_FLOAT32_NV &&
            p.scope == VK_SCOPE_SUBGROUP_NV;
        const MatrixUnit unit{p.MSize, p.NSize, p.KSize};
        if (fits && size_of(unit) > size_of(best)) best = unit;
    }
    return best;
}

MatrixUnit query_matrix_unit(const InstanceTable& vk, VkPhysicalDevice device,
                             const DeviceFeatures& features) {
    const auto list = vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesNV;
    if (!features.matrices.cooperativeMatrix || !list) return {};
    VkPhysicalDeviceCooperativeMatrixPropertiesNV stages{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_NV};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &stages};
    vk.vkGetPhysicalDeviceProperties2(device, &properties);
    if (!(stages.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)) return {};
    uint32_t count = 0;
    check(list(device, &count, nullptr), "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV",
          "the device");
    std::vector<VkCooperativeMatrixPropertiesNV> offered(
        count, {VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV});
    check(list(device, &count, offered.data()), "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV",
          "the device");
    offered.resize(count);
    return choose_matrix_unit(offered);
}

MatrixTrial matrix_trial(const MatrixUnit& unit) {
    const uint32_t depth = kTrialSums * unit.depth;
    MatrixTrial out;
    auto half = [](float value) { return f32_to_f16_bits(value); };
    for (uint32_t r = 0; r < unit.rows; ++r)
        for (uint32_t k = 0; k < depth; ++k) out.left.push_back(half(left_at(r, k)));
    for (uint32_t k = 0; k < depth; ++k)
        for (uint32_t r = 0; r < unit.rows; ++r) out.left.push_back(half(left_at(r, k)));
    for (uint32_t k = 0; k < depth; ++k)
        for (uint32_t c = 0; c < unit.columns; ++c) out.right.push_back(half(right_at(k, c)));
    for (uint32_t c = 0; c < unit.columns; ++c)
        for (uint32_t k = 0; k < depth; ++k) out.right.push_back(half(right_at(k, c)));
    for (uint32_t r = 0; r < unit.rows; ++r)
        for (uint32_t c = 0; c < unit.columns; ++c) {
            float sum = 0;
            for (uint32_t k = 0; k < depth; ++k) sum += left_at(r, k) * right_at(k, c);
            out.product.push_back(sum);
        }
    return out;
}

bool is_product(const MatrixTrial& trial, std::span<const float> sums,
                std::span<const uint16_t> halves) {
    const size_t size = trial.product.size();
    if (sums.size() != 2 * size || halves.size() != size) return false;
    for (size_t k = 0; k < size; ++k)
        if (sums[k] != trial.product[k] || sums[size + k] != trial.product[k] ||
            f16_bits_to_f32(halves[k]) != trial.product[k])
            return false;
    return true;
}

bool probe_matrix_unit(const std::shared_ptr<Device>& device, const std::string& cache_directory) {
    const MatrixUnit unit = device->profile().matrix_unit;
    if (!unit) return false;
    const std::string shape = std::to_string(unit.rows) + ' ' + std::to_string(unit.columns) + ' ' +
                              std::to_string(unit.depth) + '\n';
    const std::string name =
        cache_hash(shape + driver_key(device->instance().functions(), device->physical()));
    if (const auto kept = cache_load(cache_directory, kMatrixUnitCache, name);
        kept && kept->size() == 1)
        return kept->front() == std::byte{1};
    if (!device->may_probe()) return false;
    bool right = false;
    try {
        right = multiplies_right(device);
    } catch (const DeviceError&) {
        return false;  // a failure of the driver now, such as too little memory: it is tried again
                       // the next time
    }
    const std::byte found{right};
    cache_store(cache_directory, kMatrixUnitCache, name, {&found, 1});
    return right;
}

}  // namespace firn
