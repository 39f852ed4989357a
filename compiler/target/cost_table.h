// The constants of the compiler's choices that no profile has, each with its unit and its reason.
// costs.md has the cases that another value of each changes. "limits.md, N": paragraph or table N
// of compiler/program/limits.md, measured on the software driver of cpu_profile(). Values that
// depend on the device belong in DeviceProfile, values that depend on its class in class_rules.h.
#pragma once
#include <cstddef>
#include <cstdint>

namespace firn::costs {

// --- Defaults for unknown values.

/// Expected iterations of a loop whose bounds are unknown. Few, because such loops are nested.
inline constexpr double kUnknownTrips = 8;
/// The largest bound of an integer argument that is taken for a bound of a loop's trip count:
/// beyond it the bound is that of the type, or of memory.
inline constexpr double kLongestKnown = 65536;
/// Factor by which a symbolic trip count may exceed its estimate, where a driver limits back edges.
/// A limit, not a cost: half and twice change no case.
inline constexpr double kSymbolShare = 4;

// --- Operations.

/// Simple operations for each axis of an index that is computed, and for the access itself.
inline constexpr double kIndexOperations = 3;
/// Simple operations of a value without an index that are worth a parameter from the host.
inline constexpr double kLeastHostOperations = 8;

/// Simple operations that take the driver's compiler as long as a loop. LLVM's scalar evolution
/// follows sums of indices through one loop after another, in a time that grows with the third
/// power of their number: lavapipe takes 1.7 s for 24 loops over a quotient whose results the next
/// one loads by, 2.8 s for 32, 12 s for 48, 28 s for 64. 32 fill a body.
inline constexpr double kLoopInBody = 96;

// --- Verdicts.

/// Tensors of a value's size that pass through the cache between two uses of it: a value larger
/// than the cache's share is read from memory again.
inline constexpr double kWorkingSet = 16;
/// Iterations of a reduction that make it a stage of its own inside another one: nested, it would
/// walk memory in long strides.
inline constexpr double kStageTrips = 32;
/// Neighbours along x and y that one invocation is likely to compute, so that they share loads
/// beside one another. limits.md, stencils: 4 cells in x by 4 rows are best; 2 rows are not
/// measured.
inline constexpr int64_t kSharedTile[] = {4, 2};

// --- Rows.

/// Elements that one invocation is expected to walk in a row kernel at the most.
inline constexpr double kLongestRow = 16384;
/// Factor for that number if only the call knows the row's length.
inline constexpr int64_t kLongestRowShare = 2;
/// Share of an element's work, of which a long reduction is part, from which on rows are walked to
/// keep a value. Without it one of 151 benchmark cases changes (viterbi, 1.6 times its time) and
/// none of 1,178 random programs (tests/bench/sweep).
inline constexpr double kLeastStaged = 1.0 / 16;
/// Elements per lane of a row that are worth sharing it among the lanes of a subgroup.
inline constexpr double kSharedRow = 4;
/// Elements of a row that a group holds: shorter ones are no range of their own.
inline constexpr double kLeastHeldRow = 16;
/// Neighbours along an axis that one invocation of a group that holds rows computes.
inline constexpr int64_t kLargestTile = 8;
/// Elements of a row that one invocation computes side by side.
inline constexpr int64_t kShortRow = 8;
/// The least share of the lanes that hold a row which have an element, as a fraction.
inline constexpr int64_t kMinLaneFillNumerator = 2, kMinLaneFillDenominator = 3;
/// Loads of shared memory that take as long as a store there and a barrier. limits.md, 5 has 11 ns
/// for the store and 2 to 4 for the barrier, which is 1.4 of them.
inline constexpr double kExchange = 4;

// --- Kernels.

/// Values that leave one kernel.
inline constexpr size_t kMaxOutputs = 12;
/// Share of a result's operations that it has in common with another, from which on a longer body
/// is better than computing them twice.
inline constexpr double kMostlyShared = 0.5;
/// A product gets a kernel without other products if that kernel costs at most the product's time
/// divided by this. lavapipe, sums of
/// products of [128, 1024] with [1024, 128]: two in a kernel are as fast as each alone, three take
/// 1.8 times as long, five 3.6 and twelve 11 times.
inline constexpr double kOwnKernelDivisor = 16;
/// Share of a body that is too long by itself, up to which more operations are added to it rather
/// than to one more kernel.
inline constexpr double kLittleMore = 0.25;

// --- Scatters that are read from the side of their target.

/// Elements of the target for each position along an axis, of which one is stored to; and some more
/// at edges.
inline constexpr int64_t kMostWaste = 2, kFewMore = 16;

// --- Reductions in stages.

/// Elements that one invocation reduces alone.
inline constexpr int64_t kSmallReduction = 2048;
/// A reduction takes the driver's back edges divided by this: several may meet in one kernel.
inline constexpr int64_t kBackEdgeFraction = 8;
/// Parts for each invocation that runs at once.
inline constexpr double kPartsAtOnce = 4;
/// Neighbouring partial results of one run: as many invocations read side by side.
inline constexpr int64_t kColumns = 256;
/// Elements of one partial result, at the least and at the most; and partial results of a column
/// that there are then, at the least.
inline constexpr int64_t kLeastRows = 8, kRows = 256, kLeastParts = 4;
/// Elements per lane of a part that a subgroup reduces. limits.md, sums: 64 loads per
/// invocation or more.
inline constexpr int64_t kLeastPart = 64;
/// Elements of one part.
inline constexpr int64_t kLargestPart = 8192;
/// Results side by side in memory that fill a load. 16 floats are a cache line.
inline constexpr double kBeside = 16;
/// Bytes from row to row from which on every row lies in another page of memory: the page size of
/// the machine of limits.md.
inline constexpr double kFarBytes = 4096;
/// Rows whose pages a core keeps in its caches. limits.md, sums of columns: chunks of 32 rows, 2.4
/// ms instead of 7 to 50.
inline constexpr int64_t kNearRows = 32;
/// The elements that a product reads divided by this may be left in memory by its parts. On the
/// same driver, of [10000, 2000]: with [10000, 10] 50 ms whole, 25 in parts of 256 rows; with
/// [10000, 16] 21 and 25; with [10000, 32] 89 and 80, and 169 and 81 where the result has three
/// axes.
inline constexpr double kLittleLeft = 8;
/// Bytes of a run's operands that stay near a core while its tiles are computed. On a CPU with 2
/// MiB of second-level cache per core, [32768, 48] by [32768, 128] takes 28 ms whole, 17 in runs of
/// 180 KiB, and 15 in runs of 720 KiB. Among firn_bench and six gradients, only the gradient of one
/// mixture has runs; with half the constant it has none, and is as fast.
inline constexpr double kRunBytes = 1 << 20;
/// Results of a product per element of a factor, from which on two tiles of registers read the
/// element. With fewer, lanes share the product: [50000, 12] by [50000, 12] takes 2 ms so, and 3 in
/// runs. Half or twice the constant changes no kernel of the same benchmarks.
inline constexpr double kReadAgain = 16;
/// The least length of a walk down columns that is worth cutting, as a multiple of kNearRows.
inline constexpr int64_t kFarWalk = 8;

// --- Loops.

/// Sums that a core adds to side by side, from which on it waits for none: a fused product and sum
/// takes 4 cycles on most processors, and two of them begin in each.
inline constexpr size_t kSumsAtOnce = 8;
/// Back edges of a kernel with a loop that may never end, where the driver allows any number: a
/// device that hangs is lost.
inline constexpr int64_t kMostInOneGo = 65535;
/// The allowed back edges divided by this are left for the other loops of a kernel by hand, which
/// clear its arrays.
inline constexpr int64_t kOtherLoopsDivisor = 16;
/// A chunk of a loop takes the allowed back edges divided by this.
inline constexpr int64_t kChunkDivisor = 2;
/// A reduction that the elements of a loop repeat is done before the loop, and kept, if that is so
/// many times faster.
inline constexpr double kLeastAgain = 2;
/// Iterations of a loop of kernels so short that it runs to its end without reading whether it has
/// ended.
inline constexpr int64_t kFewTrips = 16;

// --- Mapping. Nodes are those of kernel code, after its copies are made.

/// Nodes of an invocation's body.
inline constexpr int64_t kBodyBudget = 700;
/// Nodes that keep a core busy alone: four such bodies stand one after the other.
inline constexpr int64_t kLongBody = 250;
/// Nodes of a loop's body with its unrolled iterations.
inline constexpr int64_t kLoopBudget = 900;
/// The same, if lanes shuffle their loads.
inline constexpr int64_t kDealtBudget = 2600;
/// Nodes of an iteration in a register tile; on a CPU driver only those in loops. lavapipe, the
/// gradient of 32 filters of 5 by 5 with respect to their input, 60 operations behind its loop: 30
/// ms in tiles of 8, the largest if those counted too, 11 in tiles of 32.
inline constexpr int64_t kTileBudget = 1000;
/// Nodes of a short loop that is written out, and its iterations.
inline constexpr int64_t kWholeBudget = 2600, kShortLoop = 8;
/// Iterations of a loop that is written out because neighbours share its reads: entering a loop
/// copies its carried values, and a loop that is unrolled in part shares less. lavapipe, 17 by 17
/// taps of four channels, eight rows in an invocation: written out 5.0 ms, 8 at once 9.3, 4 at once
/// 8.4, 2 at once 9.9. More than 32 were not measured.
inline constexpr int64_t kLongestWindow = 32;
/// Vectors that a stencil's tile loads on a CPU driver, which spills more.
inline constexpr int64_t kLoadedOnCpu = 36;
/// Carried values that make entering a loop expensive on a CPU driver, which copies all of them
/// under a mask; and iterations of an inner loop, for each that is taken at once, that make it
/// cheap.
inline constexpr int64_t kMuchCarried = 16, kLongInside = 16;
/// Neighbours along one range in a register tile.
inline constexpr int64_t kLongestTile = 9;
/// Neighbours of a body without loops that share computed values. lavapipe, minima of sums over 512
/// nodes of a graph: 8 by 8 take 1.16 times as long as 4 by 4.
inline constexpr int64_t kMostSharing = 16;
/// Share of an iteration's time to which a larger tile must reduce it.
inline constexpr double kLeastSaving = 0.93;
/// Iterations at once that read far apart.
inline constexpr int64_t kFarIterations = 4;
/// The fraction 1 / kStagedShare of the invocations that run at once is enough in register tiles
/// fed from shared memory.
inline constexpr int64_t kStagedShare = 4;
/// Neighbours along a range, for the question whether groups of a kernel would stage operands.
inline constexpr int64_t kStagedTile = 4;
/// Iterations of a loop per lane that are worth combining; that pay for a subgroup's fixed costs on
/// a CPU driver. limits.md, sums: 64 loads per invocation or more.
inline constexpr int64_t kLeastShare = 4, kLongShare = 64;
/// Workgroups for each core of a CPU, that share it evenly.
inline constexpr int64_t kLeastGroups = 8;
/// Subgroups for each core of a CPU whose lanes share a reduction: they have the same number of
/// iterations, so that one more than divides evenly costs a fifth at most. lavapipe, products of
/// [16384, 32] with [16384, 8]: tiles of 8 by 4, 4 for each core, take 0.6 of the time of 4 by 4.
inline constexpr int64_t kLeastShared = 4;
/// Iterations at once of an invocation's loops. limits.md, 7: 16 are enough for the peak.
inline constexpr int64_t kMostUnrolled = 16;
/// Iterations at once of a lane in the remainder of blocks of full ones.
inline constexpr int64_t kSmallDeal = 4;
/// Invocations of a group, where the device has as many.
inline constexpr uint32_t kLargeGroup = 256;
/// Invocations along both axes of a GPU's group that shares its reads: each element is then read as
/// often as possible.
inline constexpr uint32_t kSquareGroup = 16;
/// Cost of a step of one group that runs kernels in sequence beside its work, as a share of a
/// launch: a barrier, and the lanes that wait at it. On a CPU driver: limits.md, 5 and 7 have some
/// 3 ns for a subgroup, and values that live across it are stored and loaded, against 20 to 40 us.
/// On a GPU: not measured.
inline constexpr double kBarrierOnCpu = 1.0 / 512, kBarrierOnGpu = 1.0 / 64;
/// Operations of kernels that run in sequence, on a driver whose compiler can take so many in one
/// body (DeviceProfile::max_body_operations): it looks at all of them together. With twice as many
/// the first call of apps/fluid's step takes 1.3 times as long, and later ones as long.
inline constexpr double kSequenceBody = 3072;
/// Bodies that a loop of such kernels may have: as much as two, between which there would be
/// launches in every iteration. The compile time grows with the square of all of them: gradients of
/// recurrent networks of 4,300 to 8,000 operations, of which 900 to 1,800 between two barriers,
/// take lavapipe 1.7 to 5.8 s.
inline constexpr double kBodiesInLoop = 2;
/// Back edges of one group that runs kernels in sequence, and iterations of a loop of them: on any
/// device it is to end before long. Limits, not costs.
inline constexpr int64_t kMostInSequence = 65535, kMostSequenced = 4096;
/// Elements of a buffer from which on copying it in each iteration costs more than writing out
/// iterations until buffers have their names again; and how many iterations may be written out.
inline constexpr int64_t kWorthNames = 1024;
inline constexpr int kMostPeriod = 3;
/// Bytes of all that the iterations of a loop write, of the part that one group has: they stay in
/// the cache of a core (the second level of a CPU, the first of a GPU's).
inline constexpr int64_t kBandBytes = 128 << 10;
/// Length of a kernel in launches from which on sharing between neighbouring rows in an invocation
/// (a tenth of its time, where it was measured) is worth more than a launch.
inline constexpr double kBandLaunches = 10;
/// Iterations for each lane from which on lanes share the few loops of a kernel that one group
/// runs: fewer take no longer than the exchange at the end.
inline constexpr int64_t kLeastShareOfOne = 2;
/// Rows of the one group that runs kernels in sequence: its barriers wait for all of them.
inline constexpr uint32_t kRowsOfOneGroup = 8;
/// Indices of a stream from which on an invocation of a CPU driver takes several tiles.
inline constexpr int64_t kLongStream = 65536;

/// An extent that only the call knows, as good as any larger one.
inline constexpr int64_t kLargeExtent = 1 << 20;
/// An extent that only the call knows, where it is one of several.
inline constexpr int64_t kUnknownExtent = 4096;
/// Elements of the copies of its targets that an invocation of a CPU driver accumulates into, if a
/// group's memory holds as many. Counts of 4,194,304 integers take lavapipe 7.4 ms of the processor
/// for 4,096 bins and 8.7 for 8,192 by copies, 37 and 34 by atomics; of 131,072 integers 0.9 for
/// 8,192 bins, 1.7 by atomics.
inline constexpr int64_t kMostPrivate = 8192;
/// Stores of a subgroup to each element of such a copy, where their number is not known.
inline constexpr int64_t kUnknownStores = 8;
/// Blocks that a group walks while it accumulates. A limit, not a cost: half and twice change no
/// case.
inline constexpr int64_t kMostWalked = 32768;
/// Stores of an invocation in one iteration of such a walk on a CPU driver; half of that on a GPU.
inline constexpr int64_t kAccumulatedStrides = 8;

/// Iterations of a loop that count when a tile is weighed: more weigh the same. A limit, not a
/// cost: half and twice change no case.
inline constexpr double kMostCountedTrips = 1024;
/// Iterations of a longer loop that are unrolled while a tile is weighed.
inline constexpr int64_t kIterationsAtOnce = 4;
/// ns of a subgroup on a CPU driver: a load, one that a tile repeats, an operation. limits.md, 2.
inline constexpr double kLoad = 1.0, kRepeatedLoad = 0.25, kOperation = 0.1;
/// Operations that a store takes as long as, on a CPU driver, by however few lanes: between 47 and
/// 150 of 0.1 ns. limits.md, stores: 16 M floats in 4.9 ms by two cores; one store 15 ns.
inline constexpr double kStoreOnCpu = 90;
/// Operations that an atomic takes as long as, on a CPU driver, for each element, because lanes run
/// it one after the other. Measured: two cores add 4 M integers or floats to 65,536 elements in 52
/// to 72 ms; without the atomics, 4 M elements take 13 to 30.
inline constexpr double kAtomicOnCpu = 1000;

// --- The walk.

/// Elements of the last axes, below which they share a range of the grid with their neighbour: a
/// group's rows are at least as long.
inline constexpr int64_t kSmallDimension = 16;
/// Iterations of nested reductions, all together, that need no loop; and values that each of them
/// may read.
inline constexpr int64_t kShortReduction = 4;
inline constexpr size_t kSmallTerm = 40;

// --- Branches.

/// Operations that a branch and the lanes that it parts take as long as, on a GPU.
inline constexpr double kBranchOperations = 100;
/// Operations that a loop under a mask takes as long as, on a CPU driver.
inline constexpr double kMaskedLoopOperations = 400;
/// Share of the indices expected to skip a branch, if it is unknown.
inline constexpr double kPassedBy = 0.5;

/// Iterations of a loop under a mask that run before the work that some lanes wait for: a sixteenth
/// of that work at least is paid by an iteration.
inline constexpr int64_t kLongestWait = 16;
/// Least cost of the expensive side, as a multiple of the remainder of an iteration. If eight lanes
/// reach it one by one, each in one of four iterations, the last comes after 9 instead of 4: the
/// remainder costs 2.3 times as much, and the expensive side a quarter. lavapipe, a random walk
/// with 3 or 8 roots and quotients: needed in every iteration 1.0 of the time, by nine in ten alone
/// 1.1 to 1.25, by a half 0.8 to 1.15, by a tenth 0.4 to 0.65, never 0.2 to 0.3.
inline constexpr double kLeastAwaited = 2;

// --- Operands in shared memory.

/// Invocations that read the same element.
inline constexpr int64_t kLeastReuse = 4;
/// Factor by which staging must reduce the loads of an iteration.
inline constexpr double kLeastStagedSaving = 2;
/// Iterations at a time, for a barrier to cost little.
inline constexpr int64_t kEnoughIterations = 16;
/// Groups that a core runs at once, which share its memory for groups.
inline constexpr int64_t kGroupsAtOnce = 2;
/// Loads of an invocation that are written out in a row.
inline constexpr int64_t kLoadsInARow = 16;
/// Places of a copy of a target that are cleared or combined at once.
inline constexpr int64_t kPlacesAtOnce = 8;

/// Elements of an invocation's private array that are cleared one after the other: as many as an
/// invocation may hold in registers and beside them.
inline constexpr int64_t kClearedAtOnce = 64;
/// Elements of all such arrays of a kernel; larger ones lie in buffers. lavapipe zeroes each in one
/// block of instructions, which LLVM orders pair by pair: 512 take 0.02 s to compile, 1,024 0.2,
/// 2,048 0.6, 4,900 1.6, from a buffer 0.01. A kernel that does little else than store and load
/// them takes 2.3 times as long with a buffer (4,096 invocations, 2,048 elements each: 20 and 46
/// ms).
inline constexpr int64_t kMostOwn = 1024;
/// Bytes of such a buffer: the invocations that run at once have rows in it, and later ones reuse
/// them. From 1 to 64 MB lavapipe takes as long.
inline constexpr int64_t kOwnBytes = 4 << 20;
/// Loops in sequence, of which a driver that counts iterations compiles the next one apart from
/// them (loops_apart). lavapipe, loops of three iterations, seconds to compile: 8 take 0.03, 16
/// 0.3, 32 1.9, 64 22; with every second to eighth apart 32 take 0.07 and 64 0.14.
inline constexpr int64_t kLoopsInSequence = 8;

// --- Operands that are packed, in native code.

/// Indices that read each element of an operand which is packed: if its elements lie apart for the
/// lanes of a vector, if vectors lie apart, and if lanes share elements that lie apart. A C++ copy
/// of a product of 2048 x 2048, on one thread, takes 4.6 ns to copy an element, and a packed
/// element of a vector saves 0.1 ns each time that it is read, so that 46 reads pay for the copy.
/// The other two are estimates.
inline constexpr int64_t kRepeatsOfGather = 32, kRepeatsOfRow = 128, kRepeatsOfOne = 512;
/// Bytes that a core keeps near it, although they lie in rows apart. An estimate: half of a small
/// second cache.
inline constexpr int64_t kWalkedBytes = 256 << 10;

// --- Matrix units.

/// Matrices of a subgroup along an axis: with more, sums leave the registers. A limit, not a cost:
/// half and twice change no case.
inline constexpr int64_t kMostMatrices = 4;
/// Subgroups of a group along an axis: they read the same operands through its cache.
inline constexpr int64_t kMostSubgroups = 2;
/// Subgroups that alternate on a core, and hide its loads.
inline constexpr int64_t kResident = 4;

// --- Kernels and loops in one.

/// Values that one fused loop carries; more would cost more than the work that the loops share.
/// More were not measured.
inline constexpr size_t kMostFusedCarried = 12;
/// Elements that one invocation of such a kernel computes.
inline constexpr int64_t kLongestRun = 64;
/// Launches that a kernel lasts at most if equal ones share a dispatch: for a longer kernel a
/// launch is less than a tenth, and the data that each of a row of kernels leaves in the caches for
/// the next one is worth more: four transforms of 256 x 256 take 0.71 as long together on lavapipe,
/// of 512 x 512 0.92.
inline constexpr double kLongestShared = 8;
/// Copies of a kernel in a dispatch: more would save less than a sixteenth of a launch each, and
/// some find their parts by a choice for every copy.
inline constexpr size_t kMostShared = 16;
/// Steps of a list among which a kernel looks for its equals. It keeps the time of compiling
/// programs of thousands of kernels linear. A limit, not a cost: half and twice change no case.
inline constexpr size_t kSharedWithin = 256;
/// Factor by which the launches saved must outweigh the wasted work.
inline constexpr double kLeastGain = 2;
/// Indices of a kernel that one group runs at any cost.
inline constexpr int64_t kMostInOneGroup = 1 << 16;

/// Values that the copies of a body hold for stores to places apart: passes of a transform of 3 x
/// 2^20 elements, with 8 stores each, take lavapipe 0.55 to 0.7 of the time in tiles of 4 (32
/// values); with 16 stores (64 values) 1.7 times as long, with 8 in tiles of 16 (128) 2.7 times.
inline constexpr int64_t kHeldByCopies = 32;
/// Iterations of a loop of butterflies in one kernel, and values that an invocation holds for them:
/// a sorting network of a million keys takes lavapipe 66 ms with 3 iterations in a kernel, 39 with
/// 4 (64 values), 40 with 5 (128), which is more to compile; a transform of a million complex
/// numbers 18 ms with 3 (64 values), 24 with 4 (128).
inline constexpr int kMostStages = 4;
inline constexpr int64_t kHeldInBands = 64;

// --- The order of values in a CPU's core, which begins many at once.

/// Operations that a core has in flight, and that it begins in a cycle.
inline constexpr double kLookAhead = 300, kPerCycle = 3;
/// Operations of a load, which is a bounds test and a gather, and of a cast.
inline constexpr double kLoadWork = 14, kCastWork = 4;
/// Latencies in cycles of a load, a cast, a simple operation, one of medium cost, and an expensive
/// one.
inline constexpr double kLoadCycles = 30, kCastCycles = 12, kSimpleCycles = 3, kMediumCycles = 15,
                        kDearCycles = 60;
/// Share of a region's cycles to which another order must reduce them.
inline constexpr double kWorthwhileOrder = 0.86;
/// Operations of a block that is moved as a whole.
inline constexpr double kOrderedBlock = 60;
/// Values that wait for a use, about as many as there are registers.
inline constexpr int kLiveValues = 20;

// --- Limits of analyses. Beyond them the compiler takes the safe answer.

/// Distinct maps of one value that are followed, for one kernel and for all that read it: beyond
/// them it goes to memory.
inline constexpr size_t kMostMaps = 48, kMostMapsOfAll = 256;
/// Rounds of verdicts that keep values so that the values they read need not be kept. A wavelet
/// transform of five levels takes lavapipe 1.65 ms without, 1.32 with one round, 1.18 with two.
inline constexpr int kEarlyCutRounds = 2;
/// Values between the one that is judged and the loaded ones.
inline constexpr int kMostBesideFollowed = 64;
/// Values between one that is used more than once and the value that all of these uses end in,
/// which bounds the time for a value with thousands of uses. A limit, not a cost: half and twice
/// change no case.
inline constexpr int kMostFollowedToEnd = 64;
/// (Value, map) pairs through one loop body.
inline constexpr size_t kMostLoopWalk = 20000;
/// Minima and maxima of a loop's bound.
inline constexpr int kMostBoundSteps = 100;
/// Operations inside one another of an integer that becomes a float.
inline constexpr int kMostIntegerDepth = 6;
/// Factor by which tuning scales a cost up or down at most.
inline constexpr double kMostWeight = 1024;

/// Branches of one kernel that choices become.
inline constexpr int kMostBranches = 16;
/// Rounds in which loops fuse: those inside fused loops meet in the next one.
inline constexpr int kFusingRounds = 4;
/// Iterations of short loops inside a loop whose operands are staged.
inline constexpr int64_t kMostInside = 32;
/// Blocks of a region whose order is optimised: copies in longer ones are chains side by side
/// already.
inline constexpr size_t kMostBlocks = 4000;
/// Nodes and copies of a body that tuning tries: drivers take seconds beyond them.
inline constexpr int64_t kMostTunedNodes = 4000, kMostTunedCopies = 128;
/// Matrices that a subgroup sums up in variants for tuning: their sums fill the registers.
inline constexpr int64_t kMostTunedMatrices = 16;
/// Factor by which a mapping may be slower than the varied one, by the model, and still be tried.
inline constexpr double kFarSlower = 2;

}  // namespace firn::costs
