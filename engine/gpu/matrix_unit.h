// The matrix unit of a device: its shape, and whether its products are correct.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "engine/gpu/profile.h"

namespace firn {

/// Returns the largest of the offered products of f16 with sums in f32 for a whole subgroup; no
/// rows: there is none.
MatrixUnit choose_matrix_unit(std::span<const VkCooperativeMatrixPropertiesNV> offered);
/// The same of a device with these features.
MatrixUnit query_matrix_unit(const InstanceTable& vk, VkPhysicalDevice device,
                             const DeviceFeatures& features);

/// Two matrices of small whole numbers as the unit is tried on them, [rows, 2 depth] and [2 depth,
/// columns], and their product, which f16 holds exactly.
struct MatrixTrial {
    std::vector<uint16_t> left, right;  // f16: row by row, then column by column
    std::vector<float> product;
};
MatrixTrial matrix_trial(const MatrixUnit& unit);
/// Returns whether the unit's results are the product: `sums` twice, `halves` in f16.
bool is_product(const MatrixTrial& trial, std::span<const float> sums,
                std::span<const uint16_t> halves);

/// Runs the unit of the device's profile on a trial: returns whether there is one, its kernel can
/// be made, and the product is right. The result is kept per driver.
bool probe_matrix_unit(const std::shared_ptr<Device>& device, const std::string& cache_directory);

}  // namespace firn
