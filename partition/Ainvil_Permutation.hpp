// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Reordering of matrices and vectors, in units of block rows and block columns.

#include "Ainvil_GraphAlgebra.hpp"

namespace ainvil {

/// A new order of the block rows and columns of a square matrix. With P_kl = 1 where
/// l = new_to_old(k) and 0 elsewhere, (P A P^T) (P x) = P b says the same as A x = b.
/// Immutable and shared: copies are shallow. The default-constructed one has no rows.
template <class Device>
struct Permutation {
  static_assert(detail::CompiledDevice<Device>::value, "");
  using device_type = Device;
  using execution_space = typename Device::execution_space;

  Kokkos::View<const Ordinal*, Device> new_to_old; ///< row k of P A P^T is row new_to_old(k) of A
  Kokkos::View<const Ordinal*, Device> old_to_new; ///< row i of A is row old_to_new(i) of P A P^T

  Ordinal numRows() const { return static_cast<Ordinal>(new_to_old.extent(0)); } ///< block rows
};

/// The permutation with the given `new_to_old`, which is shared. Waits.
/// \throws InvalidArgument unless it holds each of 0 .. n - 1 once; the message names the first
/// that is missing.
template <class Device>
Permutation<Device> makePermutation(const typename Device::execution_space& exec,
                                    const Kokkos::View<const Ordinal*, Device>& new_to_old);

/// The permutation that leaves n rows in their order.
template <class Device>
Permutation<Device> identityPermutation(const typename Device::execution_space& exec, Ordinal n);

/// P^T in place of P; shares the arrays.
template <class Device>
Permutation<Device> inverse(const Permutation<Device>& perm) {
  return {perm.old_to_new, perm.new_to_old};
}

/// The same permutation in the memory of another device; shares the arrays where the memory is the
/// same.
template <class ToSpace, class Device>
Permutation<DeviceOf<ToSpace>> copyTo(const Permutation<Device>& perm) {
  using ToDevice = DeviceOf<ToSpace>;
  return {copyArray<ToDevice>(perm.new_to_old, "Ainvil::new_to_old"),
          copyArray<ToDevice>(perm.old_to_new, "Ainvil::old_to_new")};
}

/// P A P^T with sorted rows, whether those of A are or not. Values follow, now and whenever they
/// change, by gatherBlocks(exec, Trans::No, source, ...). O(nnz log(row length)); waits.
/// \throws InvalidArgument if A is not square, has another number of rows than P, is not valid, see
/// validate(), or holds a column twice in a row.
template <class Device>
PermutedGraph<Device> permuted(const typename Device::execution_space& exec,
                               const Permutation<Device>& perm, const Graph<Device>& graph);

/// P A Q^T likewise, with P = `rows` and Q = `columns`: row k of it is row rows.new_to_old(k) of A,
/// column l is column columns.new_to_old(l).
template <class Device>
PermutedGraph<Device> permuted(const typename Device::execution_space& exec,
                               const Permutation<Device>& rows, const Permutation<Device>& columns,
                               const Graph<Device>& graph);

/// P A P^T, graph and values, as above.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> permuted(const typename Device::execution_space& exec,
                                   const Permutation<Device>& perm,
                                   const BsrMatrix<Scalar, Device>& a);

/// y = op(P) x for vectors of blocks: with Trans::No from the old order to the new one, with
/// Trans::Yes back. x and y must not overlap. Asynchronous, no allocation.
/// \throws InvalidArgument if the shapes do not match.
template <class Scalar, class Device>
void permute(const typename Device::execution_space& exec, Trans trans,
             const Permutation<Device>& perm, int block_size,
             MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y);

} // namespace ainvil
