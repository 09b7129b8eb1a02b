// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Kokkos Kernels beside Ainvil.

#include "peers/PeerTimes.hpp"

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace perf {

/// y = A x by its spmv, of a CrsMatrix or, for blocks, a BsrMatrix, on the default instance, which
/// is waited for. NaN for blocks where its BsrMatrix is not there, before 3.6.
template <class Device>
PeerTimes kokkosKernelsProduct(const BsrMatrix<double, Device>& a, const Vector<double, Device>& x,
                               const Vector<double, Device>& y, int repetitions);

/// x = T^-1 b by sptrsv, algorithm SEQLVLSCHD_TP1, on the default instance, which is waited for. T
/// is triangular of block size 1, diagonal included, and its rows are sorted.
template <class Device>
PeerTimes kokkosKernelsSolve(const BsrMatrix<double, Device>& t, Uplo uplo,
                             const Vector<double, Device>& b, const Vector<double, Device>& x,
                             int repetitions);

} // namespace perf
} // namespace ainvil
