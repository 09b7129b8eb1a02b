// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_PetscOptions.hpp"

#include "petsc/Ainvil_PetscErrors.hpp"

#include "Ainvil_Factory.hpp"
#include "parameters/Ainvil_SpecificationText.hpp"

#include <algorithm>
#include <cctype>

namespace ainvil {
namespace petsc {
namespace {

/// The text without level numbers: "mg_levels_pc_" of "mg_levels_3_pc_". PETSc takes options for a
/// prefix without its numbers, too.
std::string withoutNumbers(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i + 1;
    while (text[i] == '_' && end < text.size() && std::isdigit((unsigned char)text[end]))
      ++end;
    if (end > i + 1 && end < text.size() && text[end] == '_')
      i = end - 1; // goes on with the second underscore
    else
      result += text[i];
  }
  return result;
}

bool beginsWith(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

/// All options of a method that there is, for messages.
std::string knownOptions(const std::string& method) {
  std::string known = "-pc_ainvil_type, -pc_ainvil_spec, -pc_ainvil_block_size";
  for (const ParameterHelp& parameter : methodHelp(method).parameters)
    known += ", " + optionOf(parameter.key);
  return known;
}

/// Names of options without their dash that have not been read.
std::vector<std::string> unreadOptions(PC pc) {
  PetscOptions options = nullptr;
  check(PetscObjectGetOptions(reinterpret_cast<PetscObject>(pc), &options));
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  check(PetscOptionsLeftGet(options, &count, &names, &values));
  const std::vector<std::string> unread(names, names + count);
  check(PetscOptionsLeftRestore(options, &count, &names, &values));
  return unread;
}

} // namespace

std::string methodOf(const std::string& specification) {
  return specification.substr(0, specification.find(':'));
}

std::string optionOf(const std::string& key) {
  std::string option = "-pc_ainvil_" + key;
  std::replace(option.begin(), option.end(), '-', '_');
  option[0] = '-';
  return option;
}

std::string chosenMethod(const std::string& now, const GivenOptions& given) {
  if (!given.spec.empty() && !given.type.empty() && methodOf(given.spec) != given.type)
    throw InvalidArgument(message("-pc_ainvil_spec asks for '", methodOf(given.spec),
                                  "' and -pc_ainvil_type for '", given.type,
                                  "': give one of the two"));
  return !given.spec.empty()   ? methodOf(given.spec)
         : !given.type.empty() ? given.type
                               : methodOf(now);
}

std::string chosenSpecification(const std::string& now, const GivenOptions& given) {
  const std::string method = chosenMethod(now, given);
  ainvil::detail::SpecificationText result(!given.spec.empty()       ? given.spec
                                           : methodOf(now) == method ? now
                                                                     : method);
  for (const auto& [key, value] : given.parameters)
    result.set(key, value);
  return result.text();
}

void refuseUnknown(PC pc, const std::string& method) {
  const char* prefix = nullptr;
  check(PCGetOptionsPrefix(pc, &prefix));
  const std::string own = std::string(prefix == nullptr ? "" : prefix) + "pc_ainvil_";
  for (const std::string& name : unreadOptions(pc))
    if (beginsWith(name, own) || beginsWith(name, withoutNumbers(own)))
      throw InvalidArgument(message("preconditioner '", method, "': unknown option -", name,
                                    ", known are ", knownOptions(method)));
}

} // namespace petsc
} // namespace ainvil
