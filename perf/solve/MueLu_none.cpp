// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Where Trilinos has no MueLu.

#include "solve/MueLu.hpp"

namespace ainvil {
namespace perf {

void requireMueLu() {
  throw InvalidArgument("preconditioner 'muelu': this Trilinos was found without MueLu");
}

Teuchos::RCP<Ifpack2::Preconditioner<>> createMueLu(const Teuchos::RCP<const TpetraRow>&, int,
                                                    Teuchos::ParameterList) {
  requireMueLu();
  return Teuchos::null;
}

} // namespace perf
} // namespace ainvil
