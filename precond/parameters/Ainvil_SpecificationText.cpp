// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_SpecificationText.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {
namespace {

/// Whether a pair has a key.
struct HasKey {
  std::string begin; ///< "key="

  explicit HasKey(const std::string& key) : begin(key + "=") {}
  bool operator()(const std::string& pair) const {
    return pair.compare(0, begin.size(), begin) == 0;
  }
};

} // namespace

SpecificationText::SpecificationText(const std::string& text)
    : method_(text.substr(0, text.find(':'))) {
  for (size_t begin = method_.size(); begin < text.size();) {
    const size_t end = std::min(text.find(',', ++begin), text.size());
    pairs_.push_back(text.substr(begin, end - begin));
    begin = end;
  }
}

std::vector<std::string> SpecificationText::keys() const {
  std::vector<std::string> keys;
  for (const std::string& pair : pairs_)
    keys.push_back(pair.substr(0, pair.find('=')));
  return keys;
}

bool SpecificationText::has(const std::string& key) const {
  return std::any_of(pairs_.begin(), pairs_.end(), HasKey(key));
}

std::string SpecificationText::value(const std::string& key) const {
  const auto pair = std::find_if(pairs_.begin(), pairs_.end(), HasKey(key));
  return pair == pairs_.end() ? std::string() : pair->substr(key.size() + 1);
}

void SpecificationText::set(const std::string& key, const std::string& value) {
  const auto first = std::find_if(pairs_.begin(), pairs_.end(), HasKey(key));
  const auto at = first - pairs_.begin();
  pairs_.erase(std::remove_if(first, pairs_.end(), HasKey(key)), pairs_.end());
  pairs_.insert(pairs_.begin() + at, key + "=" + value);
}

void SpecificationText::remove(const std::string& key) {
  pairs_.erase(std::remove_if(pairs_.begin(), pairs_.end(), HasKey(key)), pairs_.end());
}

std::string SpecificationText::text() const {
  std::string text = method_;
  for (size_t i = 0; i < pairs_.size(); ++i)
    text += (i == 0 ? ":" : ",") + pairs_[i];
  return text;
}

} // namespace detail
} // namespace ainvil
