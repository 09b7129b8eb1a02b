// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Norms of blocks, and whether a matrix is symmetric by their measure or in its pattern.

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// ||block e of A||_F, see safeNorm().
template <class Scalar, class Device>
KOKKOS_INLINE_FUNCTION double blockNorm(const BsrMatrix<Scalar, Device>& a, Offset e) {
  const int bs2 = a.block_size * a.block_size;
  if (bs2 == 1)
    return compat::math::fabs(double(a.values(e)));
  return safeNorm([&](const auto& f) {
    for (int k = 0; k < bs2; ++k)
      f(a.values(e * bs2 + k));
  });
}

/// ||A_ii||_F, 0 where it is missing.
template <class Scalar, class Device>
KOKKOS_INLINE_FUNCTION double diagonalNorm(const BsrMatrix<Scalar, Device>& a, Offset i) {
  const Offset at = findEntry(a.graph.entries, a.graph.row_map(i), a.graph.row_map(i + 1),
                              static_cast<Ordinal>(i));
  return at < 0 ? 0.0 : blockNorm(a, at);
}

/// Blocks of a matrix that differ from their mirror image.
struct Asymmetry {
  Offset blocks = 0;
  Ordinal first_row = 0; ///< block row of the first, if there are any
};

/// Counts the blocks (i, j) of A whose mirror image (j, i), zero where it is missing, differs in an
/// entry by more than
///   sqrt(eps) max(||A_ij||, sqrt(||A_ii|| ||A_jj||)),    eps of Scalar:
/// half of the digits, 1.5e-8 in double and 3.5e-4 in float, are left to the rounding of the sums
/// that assembled the two. One pass; waits. With `room` for a number a block row the threads of a
/// host walk through their rows once, and search for those blocks alone whose mirror image is in a
/// row of another thread.
template <class Scalar, class Device>
Asymmetry countAsymmetric(const typename Device::execution_space& exec,
                          const BsrMatrix<Scalar, Device>& a,
                          const Kokkos::View<Offset*, Device>& room = {});

/// That room where it helps, on hosts, else nothing.
template <class Device>
Kokkos::View<Offset*, Device> symmetryRoom(const typename Device::execution_space& exec,
                                           Ordinal num_rows) {
  if constexpr (compat::IsGpu<typename Device::execution_space>::value)
    return {};
  return allocate<Offset, Device>(exec, "Ainvil::symmetry", num_rows);
}

/// Throws InvalidArgument if there are such blocks. The message says that `method` needs a
/// symmetric matrix, how many there are, which row has the first, and gives the advice.
template <class Scalar, class Device>
void requireSymmetric(const typename Device::execution_space& exec,
                      const BsrMatrix<Scalar, Device>& a, const char* method, const char* advice,
                      const Kokkos::View<Offset*, Device>& room = {});

/// Whether a square pattern with sorted rows is its own transposed one. Cost: a search of a row an
/// entry; on hosts as of countAsymmetric() with room, which is allocated. Waits.
template <class Device>
bool isSymmetricPattern(const typename Device::execution_space& exec, const Graph<Device>& graph);

} // namespace detail
} // namespace ainvil
