//===- attnc_device.cuh - What kernels in CUDA C++ build on -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Types, conversions and functions of numbers for the kernels that `attnc compile --emit cuda` prints. It includes
// nothing: NVRTC needs no header of CUDA for it. Kernels bring what they use of the instructions of their GPU.
//
// Integers are unsigned, so that sums wrap around; what reads a sign says so: `i32(a) < i32(b)`, `sext64(a)`.
// Sections are those of the PTX ISA.
//===----------------------------------------------------------------------===//

#pragma once

namespace attnc {

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

/// What device functions begin with: all are inlined, so that what they are given stays in registers.
#define ATTNC_DEVICE static __device__ __forceinline__

/// Registers that go together: every index is a constant.
template <class T, int n>
struct Array {
  T values[n];

  __device__ __forceinline__ T &operator[](int index) { return values[index]; }
  __device__ __forceinline__ const T &operator[](int index) const { return values[index]; }
  __device__ __forceinline__ void fill(T value) {
#pragma unroll
    for (int index = 0; index < n; ++index)
      values[index] = value;
  }
};

/// Parameters of a kernel by value: addresses, sizes and strides, 64 bits each.
template <int n>
struct Words {
  u64 word[n];
};

/// How the copy engine finds boxes of a tensor: what the driver calls a CUtensorMap.
struct alignas(64) TensorMap {
  u8 bytes[128];
};

template <class A, class B>
constexpr bool isSame = false;
template <class A>
constexpr bool isSame<A, A> = true;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A pointer to global memory, which the compiler is told.
template <class T>
ATTNC_DEVICE T *globalPointer(u64 address) {
  T *pointer = reinterpret_cast<T *>(address);
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

/// A pointer into the block's shared memory, from its 32-bit address.
template <class T>
ATTNC_DEVICE T *sharedPointer(u32 address) {
  return reinterpret_cast<T *>(__cvta_shared_to_generic(address));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

ATTNC_DEVICE u16 sext16(u8 x) { return u16(i16(i8(x))); }
ATTNC_DEVICE u32 sext32(u8 x) { return u32(i32(i8(x))); }
ATTNC_DEVICE u32 sext32(u16 x) { return u32(i32(i16(x))); }
ATTNC_DEVICE u64 sext64(u8 x) { return u64(i64(i8(x))); }
ATTNC_DEVICE u64 sext64(u16 x) { return u64(i64(i16(x))); }
ATTNC_DEVICE u64 sext64(u32 x) { return u64(i64(i32(x))); }

/// The integers of the same width that have a sign.
template <class T>
struct Signed;
template <>
struct Signed<u8> {
  using Type = i8;
};
template <>
struct Signed<u16> {
  using Type = i16;
};
template <>
struct Signed<u32> {
  using Type = i32;
};
template <>
struct Signed<u64> {
  using Type = i64;
};

/// Minima and maxima, of numbers with (s) and without (u) a sign.
template <class T>
ATTNC_DEVICE T smin(T a, T b) {
  using S = typename Signed<T>::Type;
  return S(a) < S(b) ? a : b;
}
template <class T>
ATTNC_DEVICE T smax(T a, T b) {
  using S = typename Signed<T>::Type;
  return S(a) > S(b) ? a : b;
}
template <class T>
ATTNC_DEVICE T umin(T a, T b) {
  return a < b ? a : b;
}
template <class T>
ATTNC_DEVICE T umax(T a, T b) {
  return a > b ? a : b;
}

/// Quotients that are rounded down or up.
template <class T>
ATTNC_DEVICE T floorDiv(T a, T b) {
  using S = typename Signed<T>::Type;
  S quotient = S(a) / S(b);
  return T(quotient * S(b) != S(a) && (S(a) < 0) != (S(b) < 0) ? quotient - 1 : quotient);
}
template <class T>
ATTNC_DEVICE T ceilDiv(T a, T b) {
  using S = typename Signed<T>::Type;
  S quotient = S(a) / S(b);
  return T(quotient * S(b) != S(a) && (S(a) < 0) == (S(b) < 0) ? quotient + 1 : quotient);
}
template <class T>
ATTNC_DEVICE T ceilDivUnsigned(T a, T b) {
  return a == 0 ? 0 : (a - 1) / b + 1;
}

/// The high half of a product.
ATTNC_DEVICE u32 mulHigh(u32 a, u32 b) { return __umulhi(a, b); }
ATTNC_DEVICE u64 mulHigh(u64 a, u64 b) { return __umul64hi(a, b); }
ATTNC_DEVICE u32 smulHigh(u32 a, u32 b) { return u32(__mulhi(i32(a), i32(b))); }
ATTNC_DEVICE u64 smulHigh(u64 a, u64 b) { return u64(__mul64hi(i64(a), i64(b))); }

/// Differences and sums that stop at the ends of the type.
ATTNC_DEVICE u32 subSaturated(u32 a, u32 b) {
  u32 result;
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
ATTNC_DEVICE u32 addSaturated(u32 a, u32 b) {
  u32 result;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

/// The magnitude of an integer with a sign.
ATTNC_DEVICE u8 magnitude(u8 x) { return u8(i8(x) < 0 ? -x : x); }
ATTNC_DEVICE u16 magnitude(u16 x) { return u16(i16(x) < 0 ? -x : x); }
ATTNC_DEVICE u32 magnitude(u32 x) { return u32(abs(i32(x))); }
ATTNC_DEVICE u64 magnitude(u64 x) { return u64(llabs(i64(x))); }

/// Leading and trailing zeros, and ones. All bits of a zero are zeros.
ATTNC_DEVICE u32 countLeadingZeros(u32 x) { return u32(__clz(i32(x))); }
ATTNC_DEVICE u64 countLeadingZeros(u64 x) { return u64(__clzll(i64(x))); }
ATTNC_DEVICE u16 countLeadingZeros(u16 x) { return u16(__clz(i32(x)) - 16); }
ATTNC_DEVICE u8 countLeadingZeros(u8 x) { return u8(__clz(i32(x)) - 24); }
ATTNC_DEVICE u32 countTrailingZeros(u32 x) { return u32(__clz(i32(__brev(x)))); }
ATTNC_DEVICE u64 countTrailingZeros(u64 x) { return u64(__clzll(i64(__brevll(x)))); }
ATTNC_DEVICE u16 countTrailingZeros(u16 x) { return u16(countTrailingZeros(u32(x) | 0x10000u)); }
ATTNC_DEVICE u8 countTrailingZeros(u8 x) { return u8(countTrailingZeros(u32(x) | 0x100u)); }
ATTNC_DEVICE u32 countOnes(u32 x) { return u32(__popc(x)); }
ATTNC_DEVICE u64 countOnes(u64 x) { return u64(__popcll(x)); }
ATTNC_DEVICE u16 countOnes(u16 x) { return u16(__popc(x)); }
ATTNC_DEVICE u8 countOnes(u8 x) { return u8(__popc(x)); }

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

ATTNC_DEVICE f32 asF32(u32 bits) { return __uint_as_float(bits); }
ATTNC_DEVICE u32 asU32(f32 x) { return __float_as_uint(x); }
ATTNC_DEVICE f64 asF64(u64 bits) { return __longlong_as_double(i64(bits)); }
ATTNC_DEVICE u64 asU64(f64 x) { return u64(__double_as_longlong(x)); }

/// Floats of 16 bits. They are computed in f32 and rounded once more, which changes no sum, product or quotient: f32 has
/// more than twice as many digits.
struct bf16 {
  u16 bits;
};
struct f16 {
  u16 bits;
};

ATTNC_DEVICE f32 toF32(bf16 x) { return asF32(u32(x.bits) << 16); }
ATTNC_DEVICE f32 toF32(f16 x) {
  f32 result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
}
ATTNC_DEVICE f32 toF32(f64 x) { return __double2float_rn(x); }
ATTNC_DEVICE f64 toF64(f32 x) { return x; }
ATTNC_DEVICE f64 toF64(bf16 x) { return toF32(x); }
ATTNC_DEVICE f64 toF64(f16 x) { return toF32(x); }
ATTNC_DEVICE bf16 toBf16(f32 x) {
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
ATTNC_DEVICE f16 toF16(f32 x) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
ATTNC_DEVICE f16 toF16(f64 x) {
  f16 result;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"(x));
  return result;
}
/// Rounded to odd in between, so that it is as if rounded once.
ATTNC_DEVICE bf16 toBf16(f64 x) {
  f32 below = __double2float_rz(x);
  return toBf16(f64(below) == x || x != x ? below : asF32(asU32(below) | 1));
}
template <class T>
ATTNC_DEVICE bf16 toBf16(T x) {
  return toBf16(f32(x));
}
template <class T>
ATTNC_DEVICE f16 toF16(T x) {
  return toF16(f32(x));
}

#define ATTNC_NARROW(type, convert)                                                                                    \
  ATTNC_DEVICE type operator+(type a, type b) { return convert(toF32(a) + toF32(b)); }                                 \
  ATTNC_DEVICE type operator-(type a, type b) { return convert(toF32(a) - toF32(b)); }                                 \
  ATTNC_DEVICE type operator*(type a, type b) { return convert(toF32(a) * toF32(b)); }                                 \
  ATTNC_DEVICE type operator/(type a, type b) { return convert(toF32(a) / toF32(b)); }                                 \
  ATTNC_DEVICE type operator-(type a) { return type{u16(a.bits ^ 0x8000)}; }                                           \
  ATTNC_DEVICE bool operator<(type a, type b) { return toF32(a) < toF32(b); }                                          \
  ATTNC_DEVICE bool operator<=(type a, type b) { return toF32(a) <= toF32(b); }                                        \
  ATTNC_DEVICE bool operator>(type a, type b) { return toF32(a) > toF32(b); }                                          \
  ATTNC_DEVICE bool operator>=(type a, type b) { return toF32(a) >= toF32(b); }                                        \
  ATTNC_DEVICE bool operator==(type a, type b) { return toF32(a) == toF32(b); }                                        \
  ATTNC_DEVICE bool operator!=(type a, type b) { return toF32(a) != toF32(b); }                                        \
  ATTNC_DEVICE type fabs(type x) { return type{u16(x.bits & 0x7fff)}; }                                                \
  ATTNC_DEVICE type copysign(type x, type y) { return type{u16((x.bits & 0x7fff) | (y.bits & 0x8000))}; }              \
  ATTNC_DEVICE type fmax(type a, type b) { return convert(fmaxf(toF32(a), toF32(b))); }                                \
  ATTNC_DEVICE type fmin(type a, type b) { return convert(fminf(toF32(a), toF32(b))); }                                \
  ATTNC_DEVICE type maximum(type a, type b) { return convert(maximum(toF32(a), toF32(b))); }                           \
  ATTNC_DEVICE type minimum(type a, type b) { return convert(minimum(toF32(a), toF32(b))); }

/// The greater or the lesser of two numbers, NaN where one is (9.7.3.12).
ATTNC_DEVICE f32 maximum(f32 a, f32 b) {
  f32 result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
ATTNC_DEVICE f32 minimum(f32 a, f32 b) {
  f32 result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
ATTNC_DEVICE f64 maximum(f64 a, f64 b) { return a != a ? a : b != b ? b : fmax(a, b); }
ATTNC_DEVICE f64 minimum(f64 a, f64 b) { return a != a ? a : b != b ? b : fmin(a, b); }

ATTNC_NARROW(bf16, toBf16)
ATTNC_NARROW(f16, toF16)

ATTNC_DEVICE bool isNan(f32 x) { return x != x; }
ATTNC_DEVICE bool isNan(f64 x) { return x != x; }
ATTNC_DEVICE bool isFinite(f32 x) { return x - x == 0; }
ATTNC_DEVICE bool isFinite(f64 x) { return x - x == 0; }
template <class T>
ATTNC_DEVICE bool isInf(T x) {
  return !isNan(x) && !isFinite(x);
}

/// a b + c, rounded once.
ATTNC_DEVICE f32 fmaRn(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
ATTNC_DEVICE f64 fmaRn(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
ATTNC_DEVICE f16 fmaRn(f16 a, f16 b, f16 c) {
  f16 result;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return result;
}
ATTNC_DEVICE bf16 fmaRn(bf16 a, bf16 b, bf16 c) {
  bf16 result;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return result;
}

/// The device's own approximations (9.7.3).
#define ATTNC_FUNCTION(name, instruction)                                                                              \
  ATTNC_DEVICE f32 name(f32 x) {                                                                                       \
    f32 result;                                                                                                        \
    asm(instruction " %0, %1;" : "=f"(result) : "f"(x));                                                               \
    return result;                                                                                                     \
  }
ATTNC_FUNCTION(exp2Approx, "ex2.approx.ftz.f32")
ATTNC_FUNCTION(log2Approx, "lg2.approx.ftz.f32")
ATTNC_FUNCTION(reciprocalApprox, "rcp.approx.ftz.f32")
ATTNC_FUNCTION(reciprocalApproxIeee, "rcp.approx.f32")
ATTNC_FUNCTION(rsqrtApprox, "rsqrt.approx.f32")
ATTNC_FUNCTION(sqrtApprox, "sqrt.approx.f32")
ATTNC_FUNCTION(tanhApprox, "tanh.approx.f32")

/// a / b, 2 ulp.
ATTNC_DEVICE f32 divideApprox(f32 a, f32 b) {
  f32 result;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

//===----------------------------------------------------------------------===//
// Order of threads, copies and products
//===----------------------------------------------------------------------===//

/// Joins the threads that come to barrier `id`, of which there are `threads`; or only notes that this one came
/// (9.7.13.1).
ATTNC_DEVICE void barrierSync(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
ATTNC_DEVICE void barrierArrive(u32 id, u32 threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

/// The number in global memory at `counter`, to which this adds 1, or which it makes 0 where it was `last` (9.7.13.6).
ATTNC_DEVICE u32 incrementCounter(u64 counter, u32 last) {
  u32 before;
  asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

/// An instruction without operands, and one with a number that is known.
#define ATTNC_ORDER(name, instruction)                                                                                 \
  ATTNC_DEVICE void name() { asm volatile(instruction ";" : : : "memory"); }
#define ATTNC_WAIT(name, instruction)                                                                                  \
  template <int pending>                                                                                               \
  ATTNC_DEVICE void name() {                                                                                           \
    asm volatile(instruction " %0;" : : "n"(pending) : "memory");                                                      \
  }
/// Makes barriers that are initialised, and what is stored in shared memory, visible to the copy engine (9.7.13.4).
ATTNC_ORDER(fenceBarrierInit, "fence.mbarrier_init.release.cluster")
ATTNC_ORDER(fenceAsync, "fence.proxy.async.shared::cta")
/// Starts a copy of 16 bytes to shared memory; those past `bytes` become 0 and are not read (9.7.9.25.3).
ATTNC_DEVICE void copyPiece(const void *shared, const void *global, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(u32(__cvta_generic_to_shared(shared))), "l"(u64(global)), "r"(bytes)
               : "memory");
}
/// Copies of 16 bytes that this thread has started become a group; waits for all but the last groups (9.7.9.25.3).
ATTNC_ORDER(commitPieces, "cp.async.commit_group")
ATTNC_WAIT(waitPieces, "cp.async.wait_group")
/// The same of stores by the copy engine; or until they have read shared memory (9.7.9.25.4).
ATTNC_ORDER(commitStores, "cp.async.bulk.commit_group")
ATTNC_WAIT(waitStores, "cp.async.bulk.wait_group")
ATTNC_WAIT(waitStoresRead, "cp.async.bulk.wait_group.read")
/// Blocks of the next kernel may start (9.7.13.13).
ATTNC_ORDER(startKernelAfter, "griddepcontrol.launch_dependents")
/// Products of warpgroups (9.7.15): what registers hold is there before they start; those that have started are a group.
ATTNC_ORDER(fenceProducts, "wgmma.fence.sync.aligned")
ATTNC_ORDER(commitProducts, "wgmma.commit_group.sync.aligned")

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

/// Gives registers of this warpgroup back, or takes more, until each thread has `count` (9.7.19.5).
template <int count>
ATTNC_DEVICE void giveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count));
}
template <int count>
ATTNC_DEVICE void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}

//===----------------------------------------------------------------------===//
// Products of warps (9.7.14.5): 16 x 8 elements, a and b in fragments of words
//===----------------------------------------------------------------------===//

#define ATTNC_MMA(name, shape)                                                                                         \
  ATTNC_DEVICE Array<f32, 4> name(u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, f32 c0, f32 c1, f32 c2, f32 c3) {    \
    Array<f32, 4> d;                                                                                                   \
    asm("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"               \
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                               \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c0), "f"(c1), "f"(c2), "f"(c3));                   \
    return d;                                                                                                          \
  }
ATTNC_MMA(mmaF16, "m16n8k16.row.col.f32.f16.f16.f32")
ATTNC_MMA(mmaBf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
ATTNC_MMA(mmaTf32, "m16n8k8.row.col.f32.tf32.tf32.f32")

} // namespace attnc
