// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_ParameterRows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ainvil {
namespace detail {
namespace {

constexpr int highest_integer = 1000000;

std::string textOfNumber(double value) {
  return std::floor(value) == value && std::fabs(value) < 1e15
             ? std::to_string(static_cast<long long>(value))
             : message(value);
}

double valueOf(const ParameterRow& row, const ParameterField& field, const void* parameters) {
  return field.get(field.at(const_cast<void*>(parameters))) / row.unit;
}

/// The member that is meant.
const ParameterField& fieldOf(const ParameterRow& row, const void* parameters) {
  return row.takes_other && row.takes_other(parameters) ? row.other : row.field;
}

std::string textOf(const ParameterRow& row, double value) {
  const auto word = std::find(row.values.begin(), row.values.end(), value);
  if (word != row.values.end())
    return row.help.words[static_cast<size_t>(word - row.values.begin())];
  return row.help.type == ParameterType::Number ? message(value) : textOfNumber(value);
}

std::string textOf(const ParameterRow& row, const void* parameters) {
  return textOf(row, valueOf(row, fieldOf(row, parameters), parameters));
}

/// It can only be read when the parameters are known that it depends on.
bool isDependent(const ParameterRow& row) {
  return row.has_effect || row.raises_lowest || row.takes_other;
}

double lowestOf(const ParameterRow& row, const void* parameters) {
  return row.raises_lowest && row.raises_lowest(parameters) ? row.raised_lowest : row.lowest;
}

/// Of a number or an integer that no word stands for. NaN is out of every range.
bool isInRange(const ParameterRow& row, const void* parameters, double value) {
  const double lowest = lowestOf(row, parameters);
  switch (row.help.type) {
  case ParameterType::Word:
    return false;
  case ParameterType::Integer: // a struct may hold a part of a unit, which counts as one
    return std::ceil(value) >= lowest && value <= highest_integer;
  default:
    return std::isfinite(value) && value < row.bound &&
           (row.excludes_lowest ? value > lowest : value >= lowest);
  }
}

/// Which number it must be, in words.
std::string numbersOf(const ParameterRow& row, const void* parameters) {
  const double lowest = lowestOf(row, parameters);
  if (row.help.type == ParameterType::Integer)
    return message("an integer from ", textOfNumber(lowest), " to ", highest_integer);
  const bool is_bounded = std::isfinite(row.bound);
  if (row.excludes_lowest && lowest == 0)
    return "a positive number" + (is_bounded ? " below " + textOfNumber(row.bound) : "");
  return (row.excludes_lowest ? "a number above " : "a number of at least ") +
         textOfNumber(lowest) + (is_bounded ? " and below " + textOfNumber(row.bound) : "");
}

/// What must be, in words.
std::string rangeOf(const ParameterRow& row, const void* parameters) {
  if (row.help.type == ParameterType::Word)
    return "one of " + joined(row.help.words);
  std::string text = numbersOf(row, parameters);
  for (const std::string& word : row.help.words)
    text += " or " + word;
  return text;
}

std::string refusal(const std::string& name, const std::string& range, const std::string& text) {
  return message(name, " must be ", range, ", but it is '", text, "'");
}

/// NaN unless all of the text is a number, whatever the locale.
template <class Number>
double numberIn(const std::string& text) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && next == end ? double(value)
                                             : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::string> namesOf(const std::vector<MethodHelp>& components) {
  std::vector<std::string> names;
  for (const MethodHelp& component : components)
    names.push_back(component.name);
  return names;
}

void readComponent(const ParameterRow& row, void* parameters, Specification& specification) {
  const std::string name =
      specification.has(row.help.key) ? specification.take(row.help.key) : row.help.default_value;
  const std::vector<std::string> known = namesOf(row.components());
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string reason = row.refusal ? row.refusal(name) : "";
    if (!reason.empty())
      specification.fail(reason);
    specification.fail(refusal(specification.named(row.help), "one of " + joined(known), name));
  }
  row.read_component(parameters, name, specification);
}

void readRow(const ParameterRow& row, void* parameters, Specification& specification) {
  if (row.components) {
    readComponent(row, parameters, specification);
    return;
  }
  if (!specification.has(row.help.key) || (row.has_effect && !row.has_effect(parameters)))
    return; // what is given without effect is left over, and refused by finish()
  const std::string text = specification.take(row.help.key);
  const auto word = std::find(row.help.words.begin(), row.help.words.end(), text);
  double value;
  if (word != row.help.words.end()) {
    value = row.values[static_cast<size_t>(word - row.help.words.begin())];
  } else {
    value = row.help.type == ParameterType::Number ? numberIn<double>(text) : numberIn<int>(text);
    if (!isInRange(row, parameters, value))
      specification.fail(refusal(specification.named(row.help), rangeOf(row, parameters), text));
  }
  const ParameterField& field = fieldOf(row, parameters);
  field.set(field.at(parameters), value * row.unit);
}

} // namespace

ParameterRows::ParameterRows() = default;
ParameterRows::ParameterRows(const ParameterRows& other) = default;
ParameterRows& ParameterRows::operator=(const ParameterRows& other) = default;
ParameterRows::~ParameterRows() = default;

void ParameterRows::add(std::string_view key, std::string_view name, ParameterType type,
                        std::string_view help, ParameterField field, const void* defaults,
                        double lowest, bool excludes_lowest,
                        const std::vector<std::pair<std::string_view, double>>& words) {
  ParameterRow row;
  row.help.key = key;
  row.help.name = name;
  row.help.type = type;
  row.help.help = help;
  for (const auto& [word, value] : words) {
    row.help.words.emplace_back(word);
    row.values.push_back(value);
  }
  row.field = std::move(field);
  row.lowest = lowest;
  row.excludes_lowest = excludes_lowest;
  if (type != ParameterType::Word)
    row.help.range = (excludes_lowest ? "> " : ">= ") + textOfNumber(lowest);
  row.help.default_value = textOf(row, defaults);
  rows_.push_back(std::move(row));
}

void ParameterRows::addComponent(
    std::string_view key, std::string_view name, std::string_view usual, std::string_view help,
    std::function<std::vector<MethodHelp>()> components,
    std::function<void(void*, const std::string&, Specification&)> read) {
  ParameterRow row;
  row.help.key = key;
  row.help.name = name;
  row.help.type = ParameterType::Word;
  row.help.default_value = usual;
  row.help.help = help;
  row.components = std::move(components);
  row.read_component = std::move(read);
  rows_.push_back(std::move(row));
}

void ParameterRows::addNeed(std::string_view key, std::string_view word, std::string_view needed,
                            std::string_view why) {
  needs_.push_back({std::string(key), std::string(word), std::string(needed), std::string(why)});
}

void ParameterRows::addDescribed(std::string_view key,
                                 std::function<std::string(const void*)> text) {
  described_.push_back({std::string(key), std::move(text)});
}

void ParameterRows::setRefusal(std::function<std::string(const std::string&)> refusal) {
  rows_.back().refusal = std::move(refusal);
}

void ParameterRows::setFlag() {
  rows_.back().help.is_flag = true;
}

void ParameterRows::setEffect(ParameterRow::Predicate predicate, std::string_view words) {
  rows_.back().has_effect = std::move(predicate);
  rows_.back().help.condition = words;
}

void ParameterRows::setDetails(std::string_view sentences) {
  rows_.back().help.details = sentences;
}

void ParameterRows::setWord(std::string_view text, double value, const void* defaults) {
  ParameterRow& row = rows_.back();
  row.help.words.emplace_back(text);
  row.values.push_back(value);
  row.help.default_value = textOf(row, defaults);
}

void ParameterRows::setBelow(double bound) {
  rows_.back().bound = bound;
  rows_.back().help.range += " and < " + textOfNumber(bound);
}

void ParameterRows::setAbove(double bound) {
  rows_.back().lowest = bound;
  rows_.back().excludes_lowest = true;
  rows_.back().help.range = "> " + textOfNumber(bound);
}

void ParameterRows::setAtLeastIf(ParameterRow::Predicate predicate, int lowest,
                                 std::string_view words) {
  ParameterRow& row = rows_.back();
  row.raises_lowest = std::move(predicate);
  row.raised_lowest = lowest;
  row.help.range += message("; ", lowest, " at least with `", words, "`");
}

void ParameterRows::setInsteadIf(ParameterRow::Predicate predicate, std::string_view key,
                                 ParameterField field, const void* defaults) {
  ParameterRow& row = rows_.back();
  row.takes_other = std::move(predicate);
  row.other = std::move(field);
  row.help.without = key;
  row.help.default_with = textOf(row, valueOf(row, row.other, defaults));
}

void ParameterRows::setUnit(double unit, const void* defaults) {
  rows_.back().unit = unit;
  rows_.back().help.default_value = textOf(rows_.back(), defaults);
}

const ParameterRow& ParameterRows::row(const std::string& key) const {
  return *std::find_if(rows_.begin(), rows_.end(),
                       [&](const ParameterRow& row) { return row.help.key == key; });
}

void ParameterRows::read(void* parameters, Specification& specification) const {
  for (const Need& need : needs_)
    if (specification.has(need.key) && !specification.has(need.needed) &&
        specification.value(need.key) == need.word)
      specification.fail(
          message(need.key, "=", need.word, " needs ", need.needed, "=, ", need.why));
  for (const bool dependent : {false, true})
    for (const ParameterRow& row : rows_)
      if (isDependent(row) == dependent)
        readRow(row, parameters, specification);
}

void ParameterRows::check(const void* parameters) const {
  for (const ParameterRow& row : rows_)
    for (const ParameterField* field : {&row.field, &row.other}) {
      if (!field->at)
        continue;
      const double value = valueOf(row, *field, parameters);
      const bool is_word =
          std::find(row.values.begin(), row.values.end(), value) != row.values.end();
      if (!is_word && !isInRange(row, parameters, value))
        throw InvalidArgument(
            refusal("'" + row.help.key + "'", rangeOf(row, parameters), textOf(row, value)));
    }
}

std::string ParameterRows::describe(const void* parameters,
                                    const std::vector<std::string>& without) const {
  std::string text;
  for (const Described& piece : described_) {
    const bool if_changed = piece.key.back() == '?';
    const std::string key = piece.key.substr(0, piece.key.size() - if_changed);
    if (std::find(without.begin(), without.end(), key) != without.end())
      continue;
    std::string value;
    if (piece.text) {
      value = piece.text(parameters);
    } else {
      const ParameterRow& declared = row(key);
      const bool has_effect = !declared.has_effect || declared.has_effect(parameters);
      value = has_effect ? textOf(declared, parameters) : "";
      if (if_changed && value == declared.help.default_value)
        value.clear();
    }
    if (!value.empty())
      text += (text.empty() ? "" : ", ") + key + ": " + value;
  }
  return text;
}

std::vector<ParameterHelp> ParameterRows::help() const {
  std::vector<ParameterHelp> all;
  for (const ParameterRow& row : rows_) {
    all.push_back(row.help);
    auto& words = all.back().words;
    if (row.components) {
      const std::vector<MethodHelp> components = row.components();
      words = namesOf(components);
      const std::vector<ParameterHelp> theirs = mergedHelp(components);
      all.insert(all.end(), theirs.begin(), theirs.end());
      continue;
    }
    // The default comes first.
    const auto found = std::find(words.begin(), words.end(), row.help.default_value);
    if (found != words.end())
      std::rotate(words.begin(), found, found + 1);
  }
  std::stable_partition(all.begin(), all.end(), [](const ParameterHelp& parameter) {
    return parameter.name.compare(0, 11, "breakdown: ") != 0;
  });
  return all;
}

} // namespace detail
} // namespace ainvil
