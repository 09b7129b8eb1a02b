// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What help, documents and parameter lists say of a parameter.

#include <string>
#include <vector>

namespace ainvil {

/// What a parameter takes.
enum class ParameterType { Integer, Number, Word };

/// One parameter of a method, as its table declares it.
struct ParameterHelp {
  std::string key;                             ///< as in key=value
  std::string name;                            ///< in a parameter list of Trilinos
  ParameterType type = ParameterType::Integer; ///< what it takes
  bool is_flag = false;                        ///< a word, yes or no, that may be a bool in a list
  std::string default_value;                   ///< as text
  std::string range;                           ///< of an integer or a number, as ">= 0 and < 1"
  std::vector<std::string> words;              ///< those accepted, besides numbers or only
  std::string condition;                       ///< without which the key has no effect; empty: none
  std::string without;                         ///< the default holds where this key is not given
  std::string default_with;                    ///< the default where it is; empty: the same
  std::string help;                            ///< in a few words
  std::string details;               ///< costs and whatever else the page of parameters says
  std::vector<std::string> owners{}; ///< components that have the key, if not all have it

  /// Accepted values in short, the default first: "0|n|auto", "exact|isai".
  std::string values() const;
  /// The condition and the help: "relax=auto: most steps".
  std::string meaning() const;
};

/// One method and its keys.
struct MethodHelp {
  std::string name;                      ///< what stands before the colon
  std::string meaning;                   ///< in a few words
  std::vector<ParameterHelp> parameters; ///< all keys
};

namespace detail {

/// "a, b, c"
std::string joined(const std::vector<std::string>& words);

/// The parameters of all components of a kind, of which a specification names one: what several
/// have stands there once, and what only some have tells which.
std::vector<ParameterHelp> mergedHelp(const std::vector<MethodHelp>& components);

} // namespace detail
} // namespace ainvil
