// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_TpetraParameters.hpp"

#include "Ainvil_Factory.hpp"
#include "parameters/Ainvil_SpecificationText.hpp"

#include <Teuchos_ParameterListExceptions.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace {

constexpr const char* block_size_name = "block: size";
constexpr const char* local_fsai = "local-fsai";

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The parameter as text if it is of type T.
template <class T>
bool takeAs(const Teuchos::ParameterEntry& entry, std::string& text) {
  if (!entry.isType<T>())
    return false;
  std::ostringstream out;
  out.precision(17);
  out << Teuchos::getValue<T>(entry);
  text = out.str();
  return true;
}

std::string textOf(const std::string& method, const std::string& name, ParameterType type,
                   bool is_flag, const Teuchos::ParameterEntry& entry) {
  std::string text;
  if (takeAs<std::string>(entry, text))
    return type == ParameterType::Word ? lowerCase(text) : text;
  if (entry.isType<bool>() && is_flag)
    return Teuchos::getValue<bool>(entry) ? "yes" : "no";
  const bool number = takeAs<int>(entry, text) || takeAs<long>(entry, text) ||
                      takeAs<long long>(entry, text) || takeAs<unsigned>(entry, text) ||
                      takeAs<unsigned long>(entry, text) || takeAs<double>(entry, text) ||
                      takeAs<float>(entry, text);
  TEUCHOS_TEST_FOR_EXCEPTION(
      !number || type == ParameterType::Word, Teuchos::Exceptions::InvalidParameterType,
      "ainvil " << method << ": the parameter \"" << name << "\" has type "
                << entry.getAny(false).typeName() << ", but it must be "
                << (type == ParameterType::Word      ? "a string"
                    : type == ParameterType::Integer ? "an integer or a string"
                                                     : "a number or a string")
                << ".");
  return text;
}

/// The same number, however it is written.
bool sameValue(const std::string& a, const std::string& b) {
  if (a == b)
    return true;
  char *end_a, *end_b;
  const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
  return !a.empty() && !b.empty() && *end_a == '\0' && *end_b == '\0' &&
         std::fabs(x - y) <= 1e-7 * std::fabs(x); // a float is as good
}

std::string knownNames(const MethodHelp& method) {
  std::string known;
  for (const ParameterHelp& parameter : method.parameters)
    known += message("\"", parameter.name, "\", ");
  return known + "\"" + block_size_name + "\", \"" + allow_varying + "\", \"" + timer_for_apply +
         "\"";
}

} // namespace

std::string methodOf(const std::string& specification) {
  return lowerCase(specification.substr(0, specification.find(':')));
}

bool isMethod(const std::string& method) {
  const std::vector<MethodHelp> methods = preconditionerHelp();
  return std::any_of(methods.begin(), methods.end(),
                     [&](const MethodHelp& help) { return help.name == method; });
}

bool isOwnName(const std::string& specification) {
  const std::string method = methodOf(specification);
  return method == local_fsai || isMethod(method);
}

std::string localSpecification(const std::string& specification) {
  const std::string method = methodOf(specification);
  return (method == local_fsai ? "fsai" : method) + specification.substr(method.size());
}

Teuchos::RCP<const Teuchos::ParameterList> validParameters(const std::string& method) {
  const MethodHelp help = methodHelp(method);
  const auto list = Teuchos::rcp(new Teuchos::ParameterList("ainvil " + method));
  for (const ParameterHelp& parameter : help.parameters) {
    const std::string& value = parameter.default_value;
    const std::string doc = message(parameter.meaning(), " (", parameter.values(), ")");
    Teuchos::ParameterEntry entry; // marked as a default, which nobody has asked for
    if (parameter.type == ParameterType::Integer)
      entry.setValue(std::stoi(value), true, doc);
    else if (parameter.type == ParameterType::Number)
      entry.setValue(std::stod(value), true, doc);
    else
      entry.setValue(value, true, doc);
    list->setEntry(parameter.name, entry);
  }
  list->set(block_size_name, 0, "size of the blocks in the local matrix; 0: that of the matrix");
  list->set(allow_varying, false,
            "the solver takes a preconditioner that is not the same at every application");
  list->set(timer_for_apply, false,
            "applications wait for their kernels, so that their times are those of the work");
  return list;
}

ParameterChoice chooseParameters(const std::string& base, const Teuchos::ParameterList& list) {
  const std::string method = methodOf(base);
  const MethodHelp help = methodHelp(method);
  ParameterChoice choice;
  ainvil::detail::SpecificationText chosen(method + base.substr(method.size()));
  std::vector<const ParameterHelp*> defaults; // given in the list with their default value
  for (auto at = list.begin(); at != list.end(); ++at) {
    const std::string& name = list.name(at);
    const Teuchos::ParameterEntry& entry = list.entry(at);
    if (name == block_size_name) {
      const std::string text = textOf(method, name, ParameterType::Integer, false, entry);
      char* end;
      const long size = std::strtol(text.c_str(), &end, 10);
      TEUCHOS_TEST_FOR_EXCEPTION(text.empty() || *end != '\0' || size < 0 || size > 1000,
                                 Teuchos::Exceptions::InvalidParameterValue,
                                 "ainvil " << method << ": the parameter \"" << name
                                           << "\" must be an integer from 0 to 1000, but it is "
                                           << text << ".");
      choice.block_size = static_cast<int>(size);
      continue;
    }
    if (name == allow_varying || name == timer_for_apply) {
      TEUCHOS_TEST_FOR_EXCEPTION(!entry.isType<bool>(), Teuchos::Exceptions::InvalidParameterType,
                                 "ainvil " << method << ": the parameter \"" << name
                                           << "\" must be a bool.");
      (name == allow_varying ? choice.may_vary : choice.timed_apply) =
          Teuchos::getValue<bool>(entry);
      continue;
    }
    const auto known =
        std::find_if(help.parameters.begin(), help.parameters.end(),
                     [&](const ParameterHelp& parameter) { return parameter.name == name; });
    TEUCHOS_TEST_FOR_EXCEPTION(
        known == help.parameters.end(), Teuchos::Exceptions::InvalidParameterName,
        "ainvil " << method << ": the parameter \"" << name << "\" is not known; known are "
                  << knownNames(help) << ".");
    const std::string text = textOf(method, name, known->type, known->is_flag, entry);
    const bool is_default = sameValue(text, known->default_value);
    if (is_default && entry.isDefault())
      continue;
    chosen.remove(known->key); // in the order of the list
    chosen.set(known->key, text);
    if (is_default)
      defaults.push_back(&*known);
  }
  // Where another parameter changes the default, as that of the power of FSAI, what equals the
  // usual one is not left out.
  for (const ParameterHelp* parameter : defaults)
    if (parameter->without.empty() || !chosen.has(parameter->without))
      chosen.remove(parameter->key);
  choice.specification = chosen.text();
  try {
    choice.fixed = ainvil::detail::makePreconditioner<double, HostDevice>(
                       choice.specification, ainvil::detail::ParameterNames::Trilinos)
                       ->isFixed();
  } catch (const InvalidArgument& error) {
    TEUCHOS_TEST_FOR_EXCEPTION(true, Teuchos::Exceptions::InvalidParameterValue,
                               error.what() << ".");
  }
  return choice;
}

std::string textOf(const ParameterChoice& choice) {
  std::string text = "'" + choice.specification + "'";
  if (choice.block_size > 0)
    text += message(" in blocks of size ", choice.block_size);
  if (choice.may_vary)
    text += message(" with \"", allow_varying, "\"");
  return text;
}

void requireFixed(const ParameterChoice& choice) {
  TEUCHOS_TEST_FOR_EXCEPTION(
      !choice.fixed && !choice.may_vary, Teuchos::Exceptions::InvalidParameterValue,
      "ainvil: the preconditioner \""
          << choice.specification
          << "\" is another linear map at every application, with which plain GMRES and CG go "
             "wrong: take a flexible solver (Belos: \"Flexible Gmres\" true) and set \""
          << allow_varying << "\" to true, or \"trisolver: type\" to \"jacobi\".");
}

} // namespace tpetra
} // namespace ainvil
