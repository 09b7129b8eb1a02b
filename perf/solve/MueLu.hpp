// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Multigrid of MueLu as a preconditioner of ainvil-solve-mpi.

#include "solve/TpetraSolve.hpp"

namespace ainvil {
namespace perf {

/// \throws InvalidArgument where Trilinos was found without MueLu
void requireMueLu();

/// One cycle for `a`, a CrsMatrix, with the parameters of MueLu's lists; "AINVIL" is a type of
/// smoothers. compute() makes the hierarchy, and later what "reuse: type" leaves to do. The blocks
/// are the "number of equations" unless the list has one.
Teuchos::RCP<Ifpack2::Preconditioner<>> createMueLu(const Teuchos::RCP<const TpetraRow>& a,
                                                    int block_size, Teuchos::ParameterList list);

} // namespace perf
} // namespace ainvil
