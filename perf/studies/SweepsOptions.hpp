// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The command line of ainvil-triangular-sweeps, and the systems that it names.

#include "studies/StudyOptions.hpp"

namespace ainvil {
namespace perf {

struct SweepsOptions : StudyOptions { ///< study: residuals, cost, product, pattern, solve or factor
  std::string reorder = "none";
  int block_size = 0; ///< 0: that of the problem

  int sweeps = 20;           ///< residuals, solve: most sweeps of a triangular solve
  int runs = 50;             ///< residuals: asynchronous runs
  int power = 3;             ///< pattern: highest power
  int factor_sweeps = 5;     ///< solve, factor: most sweeps of the factorisation
  int restart = 50;          ///< solve
  double tolerance = 1e-8;   ///< solve
  int max_iterations = 2000; ///< solve
};

/// Parses the arguments behind the name of the program. Does not need Kokkos to be initialised and
/// opens no file. \throws InvalidArgument
SweepsOptions parseSweepsOptions(const std::vector<std::string>& arguments);

/// The k-th of the systems, reordered. \throws as makeSystem()
NamedSystem makeSystem(const SweepsOptions& options, size_t k);

} // namespace perf
} // namespace ainvil
