// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters of the methods in the manner of Ifpack2.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>

#include <string>

namespace ainvil {
namespace tpetra {

/// The method in a specification such as "ilu:solve=isai": all before the colon, in lower case.
std::string methodOf(const std::string& specification);

/// True if Ainvil knows the method.
bool isMethod(const std::string& method);

/// True for the specification of a method, and of "local-fsai", which is "fsai" on each rank.
bool isOwnName(const std::string& specification);

/// What createPreconditioner() takes for such a specification, for the rows of a rank.
std::string localSpecification(const std::string& specification);

/// All parameters of a method with their defaults and a line of explanation each: the keys of
/// createPreconditioner under names in the manner of Ifpack2 ("fact: iluk level-of-fill",
/// "trisolver: type", "isai: pattern power", ...), "block: size", "Allow Varying" and "timer for
/// apply". \throws InvalidArgument for an unknown method.
Teuchos::RCP<const Teuchos::ParameterList> validParameters(const std::string& method);

/// What a list asks for.
struct ParameterChoice {
  std::string specification; ///< for createPreconditioner
  int block_size = 0;        ///< "block: size"; 0: that of the matrix
  bool fixed = true;         ///< Preconditioner::isFixed() of what the specification makes
  bool may_vary = false;     ///< "Allow Varying": it need not be
  bool timed_apply = false;  ///< "timer for apply": applications wait, so that their times are true
};

/// What ranks have to agree on of it, for messages: all but whether applications are timed.
std::string textOf(const ParameterChoice& choice);

/// The parameter that says that the solver is a flexible one.
constexpr const char* allow_varying = "Allow Varying";
/// The one that says that times of applications are to be those of the work.
constexpr const char* timer_for_apply = "timer for apply";

/// \throws Teuchos::Exceptions::InvalidParameterValue if the choice varies and may not
void requireFixed(const ParameterChoice& choice);

/// The specification that `base`, itself one, becomes with the parameters of the list, which win
/// over those in it. Numbers may be int, long, long long, unsigned, unsigned long, float, double or
/// strings, choices are strings, "ainv: symmetric" may be a bool. A copy of validParameters() with
/// one parameter changed is a good list: entries that are still marked as defaults count as not
/// given, and what has been set to its default is left out, unless another parameter changes that
/// default ("fsai: levels" with "fsai: adaptive steps").
/// \throws Teuchos::Exceptions::InvalidParameterName for a name the method does not know,
///         InvalidParameterType for a type that is not accepted, InvalidParameterValue for a value
///         out of range or one of no effect; the messages say what is accepted.
ParameterChoice chooseParameters(const std::string& base, const Teuchos::ParameterList& list);

} // namespace tpetra
} // namespace ainvil
