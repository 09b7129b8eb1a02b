// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Test problems that are built instead of downloaded: `cavity:300`, `laplace27:64`, ...

#include "Ainvil_BsrMatrix.hpp"

#include <string>
#include <vector>

namespace ainvil {

/// A square matrix on the host, with what a solver should know about it.
struct Problem {
  std::string name; ///< the specification it was made from
  BsrMatrix<double, HostDevice>
      matrix;                     ///< block size of the problem, ascending columns in each row
  Vector<double, HostDevice> rhs; ///< one value a point row; empty: the caller chooses
  bool spd;                       ///< symmetric positive definite
};

/// One line of a help text.
struct GalleryEntry {
  std::string syntax;      ///< as "poisson5:NXxNY"
  std::string description; ///< one line: equation, discretisation, block size
};

/// What makeProblem() understands.
std::vector<GalleryEntry> gallery();

/// Builds the problem that `spec` names, "name:N", "name:NXxNY" or "name:NXxNYxNZ" with sizes in
/// decimal digits; a single N means N in every direction. The first direction runs fastest in the
/// numbering. The same specification gives the same matrix everywhere (to rounding: compilers may
/// contract differently). O(nnz) in parallel on the default host space, which must be initialised.
/// \throws InvalidArgument if the problem is unknown, its sizes are malformed or too small, or it
/// has
///         more block rows than an Ordinal counts; the message names the accepted forms.
Problem makeProblem(const std::string& spec);

} // namespace ainvil
