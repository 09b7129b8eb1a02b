// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// All methods of the library by their specifications, built and applied.

#include "Ainvil_Factory.hpp"
#include "property/RandomSystem.hpp"

namespace ainvil {
namespace test {

using Method = Preconditioner<double, Device>;
using MethodPtr = PreconditionerPtr<double, Device>;

/// Methods for any matrix with a safe diagonal, those for SPD matrices only, and both.
const std::vector<std::string>& generalMethods();
const std::vector<std::string>& spdMethods();
std::vector<std::string> methodsFor(const RandomSystem& system);

/// All of these and more, for SPD matrices with all diagonal blocks: every key that a method knows
/// is in one of them.
std::vector<std::string> allMethods();

/// The specification with more parameters.
std::string with(const std::string& specification, const std::string& parameters);

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// Asynchronous sweeps give other numbers at every application, documented in docs/methods.md.
inline bool isDeterministic(const std::string& specification) {
  return !contains(specification, "async");
}
/// METIS is asked for that many parts of the point rows.
inline bool hasTooManyParts(const std::string& specification, const HostBsr& a) {
  return contains(specification, "parts=") && a.numPointRows() < 3;
}

/// On a full pattern SPAI inverts the whole matrix once for every row.
inline bool takesTooLong(const std::string& specification, size_t points) {
  return contains(specification, "spai") && points > 100;
}

/// Initialised with `pattern`, computed with `a`.
MethodPtr built(const std::string& specification, const HostBsr& pattern, const HostBsr& a);
inline MethodPtr built(const std::string& specification, const HostBsr& a) {
  return built(specification, a, a);
}

/// op(M^-1) X for `columns` columns, column-major, on poisoned output.
std::vector<double> applied(const Method& m, const std::vector<double>& x, Trans trans = Trans::No,
                            size_t columns = 1);

/// A (x) I_b: every value becomes a multiple of the identity of size b; for block size 1.
HostBsr kronecker(const HostBsr& a, int b);

} // namespace test
} // namespace ainvil
