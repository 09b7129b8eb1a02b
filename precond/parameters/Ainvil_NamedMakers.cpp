// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_NamedMakers.hpp"

namespace ainvil {

void detail::requireName(const std::string& kind, const std::string& name) {
  const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!good)
    throw InvalidArgument(message("the name '", name, "' of a ", kind,
                                  " must consist of lower-case letters, digits and hyphens"));
}

void detail::requireSameMeaning(const MethodHelp& added, const std::vector<MethodHelp>& known) {
  for (const MethodHelp& other : known)
    for (const ParameterHelp& theirs : other.parameters)
      for (const ParameterHelp& ours : added.parameters)
        if ((ours.key == theirs.key || ours.name == theirs.name) &&
            (ours.key != theirs.key || ours.name != theirs.name || ours.type != theirs.type ||
             ours.default_value != theirs.default_value))
          throw InvalidArgument(message("'", added.name, "' has the parameter '", ours.key, "', \"",
                                        ours.name, "\", default ", ours.default_value, ", but '",
                                        other.name, "' has '", theirs.key, "', \"", theirs.name,
                                        "\", default ", theirs.default_value,
                                        ": a key means the same in both, or give it another name"));
}

void detail::requireFree(const MethodHelp& added, const std::vector<MethodHelp>& known,
                         const std::vector<ParameterHelp>& in_use) {
  const auto isTheirs = [&](const std::string& key) {
    for (const MethodHelp& other : known)
      for (const ParameterHelp& theirs : other.parameters)
        if (theirs.key == key)
          return true;
    return false;
  };
  for (const ParameterHelp& used : in_use)
    for (const ParameterHelp& ours : added.parameters)
      if ((ours.key == used.key || ours.name == used.name) && !isTheirs(used.key))
        throw InvalidArgument(message("'", added.name, "' has the parameter '", ours.key, "', \"",
                                      ours.name, "\", but '", used.key, "', \"", used.name,
                                      "\", is in use beside it: give it another name"));
}

} // namespace ainvil
