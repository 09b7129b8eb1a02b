// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The study of ainvil-inverse-factors that compares formats of the matrices.

#include "studies/InverseFactorsOptions.hpp"
#include "studies/StudyResults.hpp"

namespace ainvil {
namespace perf {

/// CG without and with SAINV, all products by the same library in the same format: CSR by Ainvil,
/// and where there is cuSPARSE CSR and COO by it.
template <class Device>
void studyFormats(const InverseFactorsOptions& options, const LinearSystem& system,
                  Results& results);
std::vector<Column> formatColumns();

} // namespace perf
} // namespace ainvil
