// Recording into a command buffer of the caller's own, as a host engine does.
#include "engine/gpu/commands.h"
#include "tests/gpu/device_fixture.h"
#include "tests/runtime/allocation_count.h"
#include "tests/runtime/programs.h"

namespace firn {
namespace {

using namespace testing_programs;

/// b = a * s, prepared for n elements, with a parameter that is a size of an integer scalar too.
struct Prepared {
    Prepared(const std::shared_ptr<Device>& device, int64_t n)
        : program(scale_program()), device(device) {
        program->arguments.push_back(scalar_argument("limit", i32));
        Size limit = min(kN, Size::symbol(scalar_symbol(2)));
        std::get<DispatchStep>(program->steps[0].step).params[0] = size_param(limit);
        loaded = std::make_unique<LoadedProgram>(device, *program);
        auto bytes = static_cast<uint64_t>(n) * 4;
        a = create_buffer(device, bytes, "a");
        b = create_buffer(device, bytes, "b");
        auto plan = loaded->plan(*program, {{"n", n}, {scalar_symbol(2), n}});
        call = std::make_unique<PreparedCall>(*loaded, *program, plan,
                                              Bindings{{a->range(), {}, {}}, {b->range()}, {}});
        std::vector<float> ones(static_cast<size_t>(n), 1.0f);
        write_buffer(*a, 0, std::as_bytes(std::span(ones)));
    }
    std::vector<Scalar> scalars(float factor, int limit) {
        return {Scalar{}, scalar_float(factor), scalar_int(limit)};
    }
    std::vector<float> result() {
        std::vector<float> values(b->bytes() / 4);
        read_buffer(*b, 0, std::as_writable_bytes(std::span(values)));
        return values;
    }

    std::shared_ptr<Program> program;
    std::shared_ptr<Device> device;
    std::unique_ptr<LoadedProgram> loaded;
    std::shared_ptr<Buffer> a, b;
    std::unique_ptr<PreparedCall> call;
};

using RecordTest = DeviceTest;

TEST_F(RecordTest, GoesIntoTheCallersCommandBuffer) {
    Prepared prepared(device, 64);
    TimelinePoint point = submit_once(*device, [&](VkCommandBuffer commands) {
        record(*prepared.call, commands, prepared.scalars(3, 64));
    });
    prepared.b->used_at(point, true);
    EXPECT_EQ(prepared.result(), std::vector<float>(64, 3.0f));
}

TEST_F(RecordTest, MayBeRecordedTwiceWithOtherScalars) {
    Prepared prepared(device, 64);
    TimelinePoint point = submit_once(*device, [&](VkCommandBuffer commands) {
        record(*prepared.call, commands, prepared.scalars(3, 64));
        barrier_compute(*device, commands);
        record(*prepared.call, commands, prepared.scalars(5, 16));
    });
    prepared.b->used_at(point, true);
    std::vector<float> expected(64, 3.0f);
    std::fill(expected.begin(), expected.begin() + 16, 5.0f);
    EXPECT_EQ(prepared.result(), expected);
}

TEST_F(RecordTest, AllocatesNothing) {
    auto bare = Device::create();  // the validation layer allocates
    Prepared prepared(bare, 64);
    std::vector<Scalar> first = prepared.scalars(1, 1), second = prepared.scalars(2, 9);
    int during = -1;
    submit_once(*bare, [&](VkCommandBuffer commands) {
        record(*prepared.call, commands, first);
        barrier_compute(*bare, commands);
        int before = allocation_count();
        record(*prepared.call, commands, second);
        during = allocation_count() - before;
    });
    bare->wait_idle();
    EXPECT_EQ(during, 0);
}

TEST_F(RecordTest, ProgramsShareThePipelinesOfEqualKernels) {
    Prepared first(device, 64), second(device, 16);
    EXPECT_EQ(&first.loaded->pipeline(0), &second.loaded->pipeline(0));
    Program another = *first.program;
    another.kernels[0].bindings[0].width = 4;
    EXPECT_NE(&LoadedProgram(device, another).pipeline(0), &first.loaded->pipeline(0));
}

TEST_F(RecordTest, SubmitsNothing) {
    Prepared prepared(device, 64);
    TimelinePoint before = 0, after = 0;
    submit_once(*device, [&](VkCommandBuffer commands) {
        before = device->last_submitted();
        record(*prepared.call, commands, prepared.scalars(1, 64));
        after = device->last_submitted();
    });
    device->wait_idle();
    EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace firn
