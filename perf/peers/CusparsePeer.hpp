// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// cuSPARSE beside Ainvil. Where it is not there, the functions do nothing and the times are NaN.
///
/// Matrices of block size 1 go through SpMV, SpSV and csrilu02, others through bsrmv, bsrsv2 and
/// bsrilu02. All on the default instance, which is waited for. \throws Error if cuSPARSE fails;
/// InvalidArgument if a matrix has 2^31 entries or more.

#include "peers/PeerTimes.hpp"

#include "Ainvil_LinearOperator.hpp"

#include <memory>

namespace ainvil {
namespace perf {

/// y = A x.
PeerTimes cusparseProduct(const BsrMatrix<double, DefaultDevice>& a,
                          const Vector<double, DefaultDevice>& x,
                          const Vector<double, DefaultDevice>& y, int repetitions);

/// How cuSPARSE is given a matrix: row offsets, or a row index an entry.
enum class CusparseFormat { Csr, Coo };

/// A matrix of block size 1 as an operator that multiplies by SpMV, in the instance it is applied
/// in; shares the arrays of A. It has no transpose. Null where there is no cuSPARSE.
std::unique_ptr<LinearOperator<double, DefaultDevice>>
cusparseOperator(const BsrMatrix<double, DefaultDevice>& a, CusparseFormat format);

/// x = T^-1 b for a triangular matrix T, its diagonal included. Of diagonal blocks only the
/// triangle that `uplo` names is read.
PeerTimes cusparseSolve(const BsrMatrix<double, DefaultDevice>& t, Uplo uplo,
                        const Vector<double, DefaultDevice>& b,
                        const Vector<double, DefaultDevice>& x, int repetitions);

/// ILU(0): `factors` receives L with unit diagonal, which is not stored, and U in the pattern of A.
/// Diagonal blocks are factored likewise. Set-up is the analysis; the seconds include a copy of the
/// values of A, which are overwritten.
PeerTimes cusparseIlu(const BsrMatrix<double, DefaultDevice>& a,
                      const Kokkos::View<double*, DefaultDevice>& factors, int repetitions);

} // namespace perf
} // namespace ainvil
