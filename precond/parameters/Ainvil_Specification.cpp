// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_Specification.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

Specification::Specification(const std::string& text, ParameterNames names)
    : text_(text), names_(names) {
  const size_t colon = text.find(':');
  method_ = text.substr(0, colon);
  size_t begin = colon == std::string::npos ? text.size() : colon + 1;
  if (colon != std::string::npos && begin == text.size())
    fail("nothing follows the colon");
  while (begin < text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      fail(message("'", pair, "' is not of the form key=value"));
    if (!values_.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
      fail(message("key '", pair.substr(0, equals), "' is given twice"));
    begin = end + 1;
  }
  if (!text.empty() && text.back() == ',')
    fail("nothing follows the last comma");
}

std::string Specification::take(const std::string& key) {
  const std::string value = values_.at(key);
  values_.erase(key);
  return value;
}

std::string Specification::named(const ParameterHelp& parameter) const {
  return names_ == ParameterNames::Keys ? "'" + parameter.key + "'" : "\"" + parameter.name + "\"";
}

void Specification::finish(const std::vector<ParameterHelp>& known) const {
  if (values_.empty())
    return;
  const std::string& key = values_.begin()->first;
  std::vector<std::string> keys;
  for (const ParameterHelp& parameter : known) {
    if (parameter.key == key)
      fail(message("key ", named(parameter), " has no effect with the other parameters given"));
    keys.push_back(parameter.key);
  }
  fail(message("unknown key '", key, "', ",
               keys.empty() ? "'" + method_ + "' takes none" : "known are " + joined(keys)));
}

void Specification::fail(const std::string& why) const {
  throw InvalidArgument(message("preconditioner '", text_, "': ", why));
}

} // namespace detail
} // namespace ainvil
