// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A specification as text to be changed.

#include <string>
#include <vector>

namespace ainvil {
namespace detail {

/// The method of a specification and the pairs that follow it, in their order and as they are
/// written. Nothing is checked: what is malformed comes out as it went in, for
/// createPreconditioner() to tell what is wrong.
class SpecificationText {
public:
  explicit SpecificationText(const std::string& text);

  const std::string& method() const { return method_; } ///< all before the colon
  std::vector<std::string> keys() const;                ///< of the pairs, in their order
  bool has(const std::string& key) const;               ///< whether a pair has it
  std::string value(const std::string& key) const;      ///< empty if there is none
  /// In place of the first one there is, and of all, or behind the other pairs.
  void set(const std::string& key, const std::string& value);
  void remove(const std::string& key); ///< all pairs that have it
  /// METHOD:KEY=VALUE,KEY=VALUE
  std::string text() const;

private:
  std::string method_;
  std::vector<std::string> pairs_;
};

} // namespace detail
} // namespace ainvil
