// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The line of text that names a preconditioner and its parameters, taken apart.

#include "Ainvil_Error.hpp"
#include "parameters/Ainvil_ParameterHelp.hpp"

#include <map>
#include <string>
#include <vector>

namespace ainvil {
namespace detail {

/// How error messages name a parameter: 'power', or "isai: pattern power".
enum class ParameterNames { Keys, Trilinos };

/// A method and key=value pairs. Tables take theirs one by one; what is left over is an error.
class Specification {
public:
  /// "METHOD" or "METHOD:KEY=VALUE,KEY=VALUE". \throws InvalidArgument for anything else.
  explicit Specification(const std::string& text, ParameterNames names = ParameterNames::Keys);

  const std::string& method() const { return method_; }                     ///< before the colon
  bool has(const std::string& key) const { return values_.count(key) > 0; } ///< and not yet taken
  const std::string& value(const std::string& key) const { return values_.at(key); } ///< if there
  std::string take(const std::string& key); ///< the value of a key that is there

  /// What messages call the parameter.
  std::string named(const ParameterHelp& parameter) const;

  /// Refuses what has not been taken: a known key that has no effect here, or an unknown one.
  void finish(const std::vector<ParameterHelp>& known) const;

  /// Throws InvalidArgument with the specification and the reason.
  [[noreturn]] void fail(const std::string& why) const;

  /// make(); what it refuses is told like all the rest.
  template <class Make>
  auto orFail(const Make& make) const {
    try {
      return make();
    } catch (const InvalidArgument& error) {
      fail(error.what());
    }
  }

private:
  std::string text_;
  ParameterNames names_;
  std::string method_;
  std::map<std::string, std::string> values_;
};

} // namespace detail
} // namespace ainvil
