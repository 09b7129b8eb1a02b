// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters that several methods have.

#include "Ainvil_Preconditioner.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"

namespace ainvil {
namespace detail {

/// Words for policies.
using BreakdownWords = std::initializer_list<std::pair<const char*, BreakdownPolicy>>;

/// `breakdown` and `shift`, members of these names; `details` tell what the policies do, and
/// `shifts` which of them shift.
template <class Struct>
void addBreakdown(ParameterTable<Struct>& table, const std::string& details,
                  const std::string& shift_details,
                  BreakdownWords policies = {{"fail", BreakdownPolicy::Fail},
                                             {"shift", BreakdownPolicy::Shift},
                                             {"replace", BreakdownPolicy::Replace}},
                  const std::string& shifts = "breakdown=shift") {
  table
      .choice("breakdown", "breakdown: policy", &Struct::breakdown, policies,
              "what to do with a singular pivot block")
      .details(details)
      .number("shift", "breakdown: shift", &Struct::shift, NumberRange::Positive,
              "relative size of the shift")
      .details(shift_details)
      .onlyIf(
          [](const Struct& p) {
            return p.breakdown == BreakdownPolicy::Shift ||
                   p.breakdown == BreakdownPolicy::ShiftAll;
          },
          shifts);
}

/// `pivot_tolerance`, a member of this name.
template <class Struct>
void addPivotTolerance(ParameterTable<Struct>& table, const std::string& details) {
  table
      .number("pivot-tol", "breakdown: pivot tolerance", &Struct::pivot_tolerance,
              NumberRange::NonNegative,
              "a pivot counts as zero at so many eps times its row's largest entry")
      .details(details);
}

/// The members of DiagonalThresholds, from which `Struct` derives.
template <class Struct>
void addDiagonalThresholds(ParameterTable<Struct>& table) {
  table
      .number("abs-threshold", "fact: absolute threshold", &Struct::absolute_threshold,
              NumberRange::NonNegative, "added to diagonal entries before they are factored")
      .details("In units of the matrix that is factored, with the sign of the entry; + where that "
               "is 0. In blocks: the diagonal of the diagonal block.")
      .number("rel-threshold", "fact: relative threshold", &Struct::relative_threshold,
              NumberRange::Positive, "factor on diagonal entries before they are factored")
      .details("1.01: those of A + 0.01 diag(A) are the factors. For factors that are unstable, "
               "at the price of iterations where they are not.");
}

/// `modified`, a member of this name; `of_blocks` tells what it does with blocks.
template <class Struct>
void addModified(ParameterTable<Struct>& table, const std::string& of_blocks) {
  table
      .number("modified", "fact: relax value", &Struct::modified, NumberRange::NonNegative,
              "subtract so many times what is dropped in a row from its diagonal")
      .details("1: the factors have the row sums of A, for elliptic problems; 0: what is dropped "
               "is dropped. " +
               of_blocks)
      .below(2);
}

/// What `pivot-tol` says of `block`, in units of `eps`.
inline std::string pivotToleranceDetails(const std::string& block, const std::string& eps) {
  return message("A ", block,
                 " counts as singular where a row or column of it holds nothing above so many ",
                 eps,
                 " times the largest entry of its row of the matrix; 0: where it is singular "
                 "in itself only.");
}

/// All three, for methods that take PivotInverter. `block` is what they judge.
template <class Struct>
void addPivots(ParameterTable<Struct>& table, const std::string& block, const std::string& eps) {
  addBreakdown(table,
               "Throw, shift its diagonal, or take a multiple of I instead; the last two are "
               "counted and reported.",
               "Part of the block's largest entry that is added to its diagonal; where the block "
               "is nothing but rounding, of the largest entry of its rows.");
  addPivotTolerance(table, pivotToleranceDetails(block, eps));
}

/// `storage`, a member of this name; the precision of the vectors is not among the others.
template <class Struct>
ParameterTable<Struct>& addStorage(ParameterTable<Struct>& table, VectorPrecision vectors,
                                   std::string_view help, const char* key = "storage",
                                   const char* name = "storage: precision") {
  if (vectors == VectorPrecision::Float)
    return table.choice(key, name, &Struct::storage,
                        {{"float", Storage::Native}, {"bfloat16", Storage::BFloat16}}, help);
  return table.choice(
      key, name, &Struct::storage,
      {{"double", Storage::Native}, {"float", Storage::Float}, {"bfloat16", Storage::BFloat16}},
      help);
}

/// The table make(precision), made once for either precision of the vectors.
template <class Make>
const auto& forPrecision(VectorPrecision vectors, const Make& make) {
  static const auto of_double = make(VectorPrecision::Double);
  static const auto of_float = make(VectorPrecision::Float);
  return vectors == VectorPrecision::Float ? of_float : of_double;
}

} // namespace detail
} // namespace ainvil
