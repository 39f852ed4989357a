// The types and functions of LLVM IR that are the same in each program.
#include "compiler/target/native/ahead/fixed_functions.h"

#include "compiler/base/error.h"

namespace firn::ahead {
namespace {

/// Functions by which floats are as kernels take them: rounded to the nearest, subnormal ones kept.
/// The first one returns what was before.
constexpr const char* kFloatsOfX86 = R"(
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)

define internal i32 @firn.take_floats() {
  %now = alloca i32
  %ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %now)
  store i32 8064, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
  %before = load i32, ptr %now
  ret i32 %before
}

define internal void @firn.give_floats(i32 %before) {
  %ours = alloca i32
  store i32 %before, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
  ret void
}
)";
// The upper half of the register is zeros.
constexpr const char* kFloatsOfAarch64 = R"(
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal i32 @firn.take_floats() {
  %now = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  %before = trunc i64 %now to i32
  ret i32 %before
}

define internal void @firn.give_floats(i32 %before) {
  %all = zext i32 %before to i64
  call void @llvm.aarch64.set.fpcr(i64 %all)
  ret void
}
)";

const char* float_functions(Architecture architecture) {
    switch (architecture) {
        case Architecture::X86_64: return kFloatsOfX86;
        case Architecture::Aarch64: return kFloatsOfAarch64;
    }
    throw InternalError("internal error: an architecture without a way to take floats");
}

/// The other functions that are the same in each program.
constexpr const char* kFunctions = R"(
declare i64 @llvm.umin.i64(i64, i64)
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Some groups of a kernel, on a thread of the host.
define internal void @firn.part(ptr %job, i64 %first, i64 %last) {
  %before = call i32 @firn.take_floats()
  %kernel = load ptr, ptr %job
  %at = getelementptr %job, ptr %job, i32 0, i32 1
  %dispatch = load ptr, ptr %at
  call void %kernel(ptr %dispatch, i64 %first, i64 %last)
  call void @firn.give_floats(i32 %before)
  ret void
}

; All groups of a kernel; `wide`: they are worth threads.
define internal void @firn.launch(ptr %kernel, ptr %dispatch, i64 %groups, i1 %wide, ptr %host) {
entry:
  %job = alloca %job
  %several = icmp ugt i64 %groups, 1
  %has_host = icmp ne ptr %host, null
  %may = and i1 %several, %has_host
  %ask = and i1 %may, %wide
  br i1 %ask, label %look, label %alone
look:
  %at = getelementptr %host, ptr %host, i32 0, i32 1
  %parallel_for = load ptr, ptr %at
  %has = icmp ne ptr %parallel_for, null
  br i1 %has, label %parts, label %alone
parts:
  %context = load ptr, ptr %host
  store ptr %kernel, ptr %job
  %second = getelementptr %job, ptr %job, i32 0, i32 1
  store ptr %dispatch, ptr %second
  call void %parallel_for(ptr %context, i64 %groups, ptr @firn.part, ptr %job)
  ret void
alone:
  call void %kernel(ptr %dispatch, i64 0, i64 %groups)
  ret void
}

; NativeCall::cached for a kernel that writes so many bytes.
define internal i64 @firn.cached(i64 %bytes, ptr %host) {
entry:
  %has_host = icmp ne ptr %host, null
  br i1 %has_host, label %look, label %all
look:
  %at = getelementptr %host, ptr %host, i32 0, i32 2
  %cache = load i64, ptr %at
  %known = icmp sgt i64 %cache, 0
  %exceeds = icmp sgt i64 %bytes, %cache
  %past = and i1 %known, %exceeds
  %cached = select i1 %past, i64 0, i64 -1
  ret i64 %cached
all:
  ret i64 -1
}

; The memory that kernels use for an array that was given: itself, or a place in the workspace.
define internal ptr @firn.memory_for(ptr %given, i64 %bytes, ptr %place, ptr %spare, i1 %padded, i1 %read) {
entry:
  %empty = icmp eq i64 %bytes, 0
  br i1 %empty, label %none, label %some
none:
  ret ptr %spare
some:
  %odd = and i64 %bytes, 15
  %even = icmp eq i64 %odd, 0
  %whole = or i1 %even, %padded
  br i1 %whole, label %itself, label %apart
itself:
  ret ptr %given
apart:
  br i1 %read, label %copied, label %placed
copied:
  call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %given, i64 %bytes, i1 false)
  br label %placed
placed:
  ret ptr %place
}

define internal void @firn.move(ptr %to, ptr %from, i64 %bytes) {
entry:
  %same = icmp eq ptr %to, %from
  %empty = icmp eq i64 %bytes, 0
  %nothing = or i1 %same, %empty
  br i1 %nothing, label %done, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  br label %done
done:
  ret void
}

)";

}  // namespace

std::string fixed_types() {
    return "%dispatch = type { ptr, ptr, i32, i32, i32, i64 }\n"
           "%host = type { ptr, ptr, i64 }\n%job = type { ptr, ptr }\n\n";
}

std::string fixed_functions(Architecture architecture) {
    return float_functions(architecture) + std::string(kFunctions);
}

}  // namespace firn::ahead
