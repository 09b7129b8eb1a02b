// SPDX-License-Identifier: BSD-3-Clause
#include "solve/ParameterPage.hpp"

#include "Ainvil_Factory.hpp"

#include <cctype>

namespace ainvil {
namespace perf {
namespace {

std::string code(const std::string& text) {
  return "`" + text + "`";
}

/// A cell of a table: bars would end it.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped + " |";
}

/// "isai, async" as `isai`, `async`.
std::string codes(const std::string& words) {
  std::string text = "`";
  for (size_t k = 0; k < words.size(); ++k)
    if (words.compare(k, 2, ", ") == 0) {
      text += "`, `";
      ++k;
    } else {
      text += words[k];
    }
  return text + "`";
}

std::string sentence(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

std::string typeOf(const ParameterHelp& parameter) {
  switch (parameter.type) {
  case ParameterType::Integer:
    return "integer";
  case ParameterType::Number:
    return "number";
  default:
    return "word";
  }
}

std::string accepted(const ParameterHelp& parameter) {
  std::string text = parameter.range;
  for (const std::string& word : parameter.words)
    text += (text.empty() ? "" : ", ") + code(word);
  return text;
}

std::string rowOf(const ParameterHelp& parameter) {
  std::string fallback = code(parameter.default_value);
  if (!parameter.without.empty())
    fallback += ", with " + code(parameter.without) + " " + code(parameter.default_with);
  std::string meaning = parameter.condition.empty() ? "" : codes(parameter.condition) + ": ";
  meaning += parameter.condition.empty() ? sentence(parameter.help) : parameter.help + ".";
  if (!parameter.details.empty())
    meaning += " " + parameter.details;
  return "| " + cell(code(parameter.key)) + " " + cell(code(parameter.name)) + " " +
         cell(typeOf(parameter)) + " " + cell(fallback) + " " + cell(accepted(parameter)) + " " +
         cell(meaning) + "\n";
}

std::string tableOf(const std::vector<ParameterHelp>& parameters) {
  if (parameters.empty())
    return "";
  std::string table =
      "| key | Trilinos | type | default | accepted | meaning, cost |\n|---|---|---|---|---|---|\n";
  for (const ParameterHelp& parameter : parameters)
    table += rowOf(parameter);
  return table + "\n";
}

} // namespace

std::string parameterPage() {
  std::string page;
  for (const MethodHelp& method : preconditionerHelp())
    page += "## " + method.name + "\n\n" + sentence(method.meaning) + "\n\n" +
            tableOf(method.parameters);
  return page + "## Every method\n\nTaken by all of the above, and by methods of yours.\n\n" +
         tableOf(commonParameterHelp());
}

} // namespace perf
} // namespace ainvil
