// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_ParameterHelp.hpp"

#include <algorithm>

namespace ainvil {

std::string ParameterHelp::values() const {
  std::string text = default_value;
  if (type == ParameterType::Integer)
    text += "|n";
  for (const std::string& word : words)
    if (word != default_value)
      text += "|" + word;
  return text;
}

std::string ParameterHelp::meaning() const {
  return (condition.empty() ? "" : condition + ": ") + help;
}

std::string detail::joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<ParameterHelp> detail::mergedHelp(const std::vector<MethodHelp>& components) {
  std::vector<ParameterHelp> merged;
  for (const MethodHelp& component : components)
    for (const ParameterHelp& parameter : component.parameters) {
      auto known = std::find_if(merged.begin(), merged.end(),
                                [&](const auto& other) { return other.key == parameter.key; });
      if (known == merged.end())
        known = merged.insert(known, parameter);
      known->owners.push_back(component.name);
    }
  for (ParameterHelp& parameter : merged) {
    if (parameter.owners.size() < components.size() && parameter.condition.empty())
      parameter.condition = joined(parameter.owners);
    parameter.owners.clear();
  }
  return merged;
}

} // namespace ainvil
