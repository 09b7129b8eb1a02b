// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Cholesky factorisation of many small symmetric positive definite matrices of different sizes.

#include "backend/Ainvil_Allocation.hpp"
#include "dense/Ainvil_CholeskyClass.hpp"

#include <array>

namespace ainvil {

/// Symmetric matrices, their lower triangles packed by rows: entry (i, j), j <= i, of matrix b is
/// values(offsets(b) + i (i + 1) / 2 + j). Matrices may lie in any order, with gaps and at any
/// alignment, but must not overlap.
template <class Scalar, class Device>
struct CholeskyBatch {
  Kokkos::View<const Offset*, Device> offsets; ///< at least one a matrix
  Kokkos::View<Scalar*, Device> values;        ///< of all matrices
};

/// One vector of the matrix's size for every matrix, that of matrix b from offsets(b) on.
template <class Scalar, class Device>
struct VectorBatch {
  Kokkos::View<const Offset*, Device> offsets; ///< at least one a matrix
  Kokkos::View<Scalar*, Device> values;        ///< of all vectors
};

namespace detail {

/// The largest n for which an int holds n (n + 1), from which positions in packed rows are
/// computed.
constexpr Ordinal largest_cholesky = 46340;

} // namespace detail

/// Factors A = L L^T for batches whose matrices have the sizes given once. Matrices of one class of
/// sizes share a launch:
///   up to 8, 16, 32   8, 16, 32 lanes a matrix, a row a lane, in registers
///   middle            a team a matrix, the matrix in scratch memory
///   large             a team a matrix, the matrix in global memory, block by block
/// and on hosts one core a matrix. Nothing is allocated after construction, but for scratch memory
/// in the first run on hosts when run() is called with matrices that are not in place.
///
/// A matrix that is not positive definite ends with info(b) = i + 1, i the first row whose pivot
/// is not a positive finite number (so NaN counts); of its values, those of the rows before i are
/// of L and the others undefined. All others end with info(b) = 0, whatever their neighbours do.
template <class Scalar, class Device>
class BatchedCholesky {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

public:
  using execution_space = typename Device::execution_space;
  using Sizes = Kokkos::View<const Ordinal*, Device>; ///< rows of each matrix
  using Info = Kokkos::View<int*, Device>;            ///< how each matrix ended, see above

  BatchedCholesky() = default;
  /// Waits for the instance. A size may be 0. \throws InvalidArgument if one is negative or beyond
  /// 46340
  BatchedCholesky(const execution_space& exec, const Sizes& sizes);

  /// Those of the batch, of size 0 too.
  Ordinal numMatrices() const { return static_cast<Ordinal>(sizes_.extent(0)); }
  const Sizes& sizes() const { return sizes_; } ///< as they were given
  /// Larger matrices are never held in scratch memory; see run(). Smaller on GPUs, where it counts.
  int largestInScratch() const { return largest_in_scratch_; }

  /// A <- L in place, n^3 / 3 operations for a matrix of size n.
  void factor(const execution_space& exec, const CholeskyBatch<Scalar, Device>& a,
              const Info& info) const;
  /// The same, and g = L^-T e_n of each matrix, n its last row, for n^2 operations more:
  /// A^-1 e_n = g g_n, and 1 = g^T A g. Vectors of matrices with info(b) != 0 are left alone.
  void factorSolveLast(const execution_space& exec, const CholeskyBatch<Scalar, Device>& a,
                       const VectorBatch<Scalar, Device>& g, const Info& info) const;

  /// The same for matrices that are made and used up on the spot, in scratch memory where they fit.
  /// Its definition, and the kernels, are in dense/Ainvil_CholeskyRun.hpp.
  /// io, copied to the device, has the members
  ///   static constexpr bool solves;    whether rows of L^-1 are wanted
  ///   static constexpr bool in_place;  whether there are homes for all sizes
  ///   Scalar* matrixHome(Ordinal b)    room for n (n + 1) / 2 scalars in global memory, asked for
  ///   Scalar* vectorHome(Ordinal b)    and for n, if n > largestInScratch(), or if in_place
  ///   load(group, b, n, Scalar* a)     fills in the n (n + 1) / 2 entries of A
  ///   store(group, b, n, info, const Scalar* a)      takes what is wanted of L
  ///   int columns()                                  and of the last rows of L^-1, if it solves:
  ///   storeVector(group, b, n, k, const Scalar* g)   takes the k + 1 scalars of row k, if info is
  ///                                                  0; called for k = n - 1, n - 2, ...
  /// `group` (see Ainvil_Lanes.hpp) are the lanes that work on matrix b. In load() and store()
  /// `a` is matrixHome(b) or scratch memory, and load() must end with the lanes joined.
  template <class Io>
  void run(const execution_space& exec, const char* label, const Io& io) const;

private:
  using Class = detail::CholeskyClass<Device>;
  /// Classes of middle size differ in the number of lanes; the others are named by their bound.
  enum Kind { up_to_8, up_to_16, up_to_32, up_to_64, in_scratch, in_panels, on_host, num_kinds };

  Sizes sizes_;
  std::array<Class, num_kinds> classes_;
  int largest_in_scratch_ = 0;
};

} // namespace ainvil
