// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A breakdown of pivots, with advice apart from the fact.

#include "Ainvil_Error.hpp"
#include "backend/Ainvil_Remedies.hpp"

#include <utility>

namespace ainvil {
namespace detail {

/// What PivotInverter throws: who knows what has been done to the matrix before it is factored
/// throws it again with the remedies that are left.
class PivotBreakdown : public BreakdownError {
public:
  PivotBreakdown(const std::string& fact, const Remedies& remedies)
      : BreakdownError(remedies.after(fact)), fact_(fact), remedies_(remedies) {}

  const std::string& fact() const { return fact_; }      ///< the message without advice
  const Remedies& remedies() const { return remedies_; } ///< with the parameters of ilu

private:
  std::string fact_;
  Remedies remedies_;
};

} // namespace detail
} // namespace ainvil
