// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Methods of other libraries as text.

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

namespace ainvil {
namespace perf {

/// "name,key=value,key=value". Keys are taken one by one; what is left over is an error.
class PeerMethod {
public:
  explicit PeerMethod(const std::string& text) : name_(text.substr(0, text.find(','))) {
    for (size_t begin = name_.size(); begin < text.size();) {
      const size_t end = std::min(text.find(',', ++begin), text.size());
      const std::string pair = text.substr(begin, end - begin);
      const size_t equals = pair.find('=');
      if (equals == std::string::npos)
        throw std::invalid_argument("'" + pair + "' is not of the form key=value");
      values_[pair.substr(0, equals)] = pair.substr(equals + 1);
      begin = end;
    }
  }

  const std::string& name() const { return name_; }

  double number(const std::string& key, double fallback) {
    const auto found = values_.find(key);
    if (found == values_.end())
      return fallback;
    char* end = nullptr;
    const double value = std::strtod(found->second.c_str(), &end);
    if (found->second.empty() || *end != '\0')
      throw std::invalid_argument("'" + key + "' must be a number, but it is '" + found->second +
                                  "'");
    values_.erase(found);
    return value;
  }
  int integer(const std::string& key, int fallback) {
    return static_cast<int>(number(key, fallback));
  }
  std::string word(const std::string& key, const std::string& fallback) {
    const auto found = values_.find(key);
    if (found == values_.end())
      return fallback;
    const std::string value = found->second;
    values_.erase(found);
    return value;
  }

  /// What has not been taken.
  const std::map<std::string, std::string>& rest() const { return values_; }
  void finish() const {
    if (!values_.empty())
      throw std::invalid_argument("'" + name_ + "' has no key '" + values_.begin()->first + "'");
  }

private:
  std::string name_;
  std::map<std::string, std::string> values_;
};

} // namespace perf
} // namespace ainvil
