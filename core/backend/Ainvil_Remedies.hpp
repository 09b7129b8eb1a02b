// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What messages advise to do: nothing that has been done already, or that would be refused.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace ainvil {
namespace detail {

/// Something to do.
struct Remedy {
  std::string text;
  const char* parameter = ""; ///< by which it is done, "": by no parameter that is known here
};

/// The alternatives at the end of a message.
class Remedies {
public:
  Remedies() = default;
  Remedies(std::initializer_list<Remedy> remedies) : remedies_(remedies) {} ///< in this order

  /// Those that are left where these parameters are set, or must not be.
  Remedies without(const std::vector<std::string>& parameters) const {
    Remedies left;
    for (const Remedy& remedy : remedies_)
      if (*remedy.parameter == '\0' ||
          std::find(parameters.begin(), parameters.end(), remedy.parameter) == parameters.end())
        left.remedies_.push_back(remedy);
    return left;
  }

  /// "a, b, or c"; "" if there are none.
  std::string text() const {
    const size_t n = remedies_.size();
    std::string all;
    for (size_t k = 0; k < n; ++k)
      all += (k == 0 ? "" : n == 2 ? " or " : k + 1 == n ? ", or " : ", ") + remedies_[k].text;
    return all;
  }

  /// A fact, and behind it what to do, if anything.
  std::string after(const std::string& fact) const {
    return remedies_.empty() ? fact : fact + ": " + text();
  }

private:
  std::vector<Remedy> remedies_;
};

} // namespace detail
} // namespace ainvil
