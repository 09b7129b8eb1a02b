// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_ParameterTable.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ainvil {
namespace detail {
namespace {

constexpr int highest_integer = 1000000;

/// True if all of the text is a number of the type, whatever the locale.
template <class Number>
bool isNumber(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && next == end;
}

double readInteger(const ParameterRow& row, const void* parameters, const std::string& text,
                   const Specification& specification) {
  for (const auto& [word, value] : row.words)
    if (word == text)
      return value;
  const int lowest = static_cast<int>(
      row.raises_lowest && row.raises_lowest(parameters) ? row.raised_lowest : row.lowest);
  int value = 0;
  if (!isNumber(text, value) || value < lowest || value > highest_integer)
    specification.fail(message(specification.named(row.help), " must be an integer from ", lowest,
                               " to ", highest_integer, ", but it is '", text, "'"));
  return value;
}

double readNumber(const ParameterRow& row, const std::string& text,
                  const Specification& specification) {
  double value = 0;
  if (!isNumber(text, value) || !std::isfinite(value) ||
      !(row.excludes_lowest ? value > row.lowest : value >= row.lowest))
    specification.fail(
        message(specification.named(row.help), " must be ",
                !row.excludes_lowest ? "a number of at least "
                : row.lowest > 0     ? "a number above "
                                     : "a positive number",
                row.excludes_lowest && row.lowest == 0 ? "" : textOfNumber(row.lowest),
                ", but it is '", text, "'"));
  return value;
}

size_t readWord(const ParameterHelp& help, const std::vector<std::string>& words,
                const std::string& text, const Specification& specification) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    specification.fail(message(specification.named(help), " must be one of ", joined(words),
                               ", but it is '", text, "'"));
  return static_cast<size_t>(found - words.begin());
}

std::vector<std::string> namesOf(const std::vector<MethodHelp>& components) {
  std::vector<std::string> names;
  for (const MethodHelp& component : components)
    names.push_back(component.name);
  return names;
}

void readRow(const ParameterRow& row, void* parameters, Specification& specification) {
  const bool given = specification.has(row.help.key);
  if (row.read_component) {
    const std::string name = given ? specification.take(row.help.key) : row.help.default_value;
    readWord(row.help, namesOf(row.components()), name, specification);
    row.read_component(parameters, name, specification);
    return;
  }
  if (!given || (row.has_effect && !row.has_effect(parameters)))
    return; // what is given without effect is left over, and refused by finish()
  const std::string text = specification.take(row.help.key);
  row.fieldOf(parameters)
      .set(parameters, row.help.type == ParameterType::Word
                           ? double(readWord(row.help, row.help.words, text, specification))
                       : row.help.type == ParameterType::Integer
                           ? readInteger(row, parameters, text, specification)
                           : readNumber(row, text, specification));
}

} // namespace

std::string textOfNumber(double value) {
  return std::floor(value) == value && std::fabs(value) < 1e15
             ? std::to_string(static_cast<long long>(value))
             : message(value);
}

std::string ParameterRow::textOf(const void* parameters) const {
  const double value = fieldOf(parameters).get(parameters);
  for (const auto& [word, meant] : words)
    if (value == meant)
      return word;
  if (help.type == ParameterType::Word)
    return help.words[static_cast<size_t>(value)];
  return help.type == ParameterType::Integer ? textOfNumber(value) : message(value);
}

const ParameterRow& ParameterRows::row(const std::string& key) const {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const ParameterRow& row) { return row.help.key == key; });
}

void ParameterRows::read(void* parameters, Specification& specification) const {
  for (const Need& need : needs)
    if (specification.has(need.key) && !specification.has(need.needed) &&
        specification.value(need.key) == need.word)
      specification.fail(
          message(need.key, "=", need.word, " needs ", need.needed, "=, ", need.why));
  for (const bool dependent : {false, true})
    for (const ParameterRow& row : rows)
      if (row.isDependent() == dependent)
        readRow(row, parameters, specification);
}

std::string ParameterRows::describe(const void* parameters) const {
  std::string text;
  const auto append = [&](const std::string& key, const std::string& value) {
    if (!value.empty())
      text += (text.empty() ? "" : ", ") + key + ": " + value;
  };
  for (const Described& piece : described) {
    if (piece.text) {
      append(piece.key, piece.text(parameters));
      continue;
    }
    const bool if_changed = piece.key.back() == '?';
    const std::string key = piece.key.substr(0, piece.key.size() - if_changed);
    const ParameterRow& declared = row(key);
    const std::string value = declared.textOf(parameters);
    const bool has_effect = !declared.has_effect || declared.has_effect(parameters);
    if (has_effect && !(if_changed && value == declared.help.default_value))
      append(key, value);
  }
  return text;
}

std::vector<ParameterHelp> ParameterRows::help() const {
  std::vector<ParameterHelp> all;
  for (const ParameterRow& row : rows) {
    if (!row.components) {
      all.push_back(row.help);
      // The default comes first.
      auto& words = all.back().words;
      const auto found = std::find(words.begin(), words.end(), row.help.default_value);
      if (found != words.end())
        std::rotate(words.begin(), found, found + 1);
      continue;
    }
    const std::vector<MethodHelp> components = row.components();
    all.push_back(row.help);
    all.back().words = namesOf(components);
    const std::vector<ParameterHelp> theirs = mergedHelp(components);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::stable_partition(all.begin(), all.end(), [](const ParameterHelp& parameter) {
    return parameter.name.compare(0, 11, "breakdown: ") != 0;
  });
  return all;
}

} // namespace detail
} // namespace ainvil
