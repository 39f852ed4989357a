// Images of the host in place of tensors: copies, and conversions of their pixels.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/c/handles.h"

namespace firn::c {

/// An image and the memory of its tensor, with what the copy between them takes.
struct BoundImage {
    firn_host_image image{};
    bool is_result = false;
    BufferRange tensor;
    /// Its pixels as copies of images give and take them; null: the tensor has them so.
    std::shared_ptr<Buffer> packed;
    std::shared_ptr<const Pipeline> pipeline;
    std::unique_ptr<DescriptorSets> sets;
    std::array<uint32_t, 2> parameters{};  // pixels, and those of a row of invocations
    uint32_t groups[2] = {};
};

/// Throws a Failure if image and tensor do not fit one another. `name`: of the argument or result.
BoundImage bind_image(firn_context& context, const firn_host_image& image,
                      const std::shared_ptr<Buffer>& tensor, DType dtype,
                      const std::vector<int64_t>& shape, const std::string& name, bool is_result);

/// Records the copies of arguments, before the call, or those of results, behind it. Allocates
/// nothing.
void record_images(const firn_context& context, const std::vector<BoundImage>& images,
                   VkCommandBuffer commands, bool of_results);

}  // namespace firn::c
