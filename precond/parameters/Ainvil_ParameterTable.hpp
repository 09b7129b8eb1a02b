// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The table of a method's parameters: what parsing, help, descriptions, documents and the lists of
/// Trilinos are made from.

#include "parameters/Ainvil_Specification.hpp"

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ainvil {

/// Range of a number.
enum class NumberRange {
  Positive,   ///< > 0
  NonNegative ///< >= 0
};

namespace detail {

/// One row of a table. The struct that holds the parameters is a void* here: tables of all structs
/// share their code.
struct ParameterRow {
  using Predicate = std::function<bool(const void*)>;

  /// The value as a number: of a word, its index in help.words.
  struct Field {
    std::function<double(const void*)> get;
    std::function<void(void*, double)> set;
  };

  ParameterHelp help;
  Field field;
  double lowest = 0; ///< for numbers and integers
  bool excludes_lowest = false;
  std::vector<std::pair<std::string, double>> words; ///< what words stand for in place of integers
  Predicate has_effect;                              ///< empty: always
  // Where another parameter changes the range, or which member is meant.
  Predicate raises_lowest, takes_other;
  double raised_lowest = 0;
  Field other;
  // Of a component: read(struct, name, rest), the names, and all of their parameters.
  std::function<void(void*, const std::string&, Specification&)> read_component;
  std::function<std::vector<MethodHelp>()> components;

  /// It can only be read when the parameters are known that it depends on.
  bool isDependent() const { return has_effect || raises_lowest || takes_other; }
  const Field& fieldOf(const void* parameters) const {
    return takes_other && takes_other(parameters) ? other : field;
  }
  std::string textOf(const void* parameters) const; ///< its value
};

/// A table of rows.
class ParameterRows {
public:
  /// One piece "key: text" of a description; a key with a question mark is left out where it has
  /// its default, an empty text always.
  struct Described {
    std::string key;
    std::function<std::string(const void*)> text; ///< empty: the value
  };
  /// With key=word the key `needed` has to be given.
  struct Need {
    std::string key, word, needed, why;
  };

  void read(void* parameters, Specification& specification) const;
  std::string describe(const void* parameters) const;
  std::vector<ParameterHelp> help() const;

  std::vector<ParameterRow> rows;
  std::vector<Described> described;
  std::vector<Need> needs;

private:
  const ParameterRow& row(const std::string& key) const;
};

std::string textOfNumber(double value);

} // namespace detail

/// The parameters of a method, a factorisation or a strategy, all members of `Struct`, whose own
/// values are the defaults. Each is declared here and nowhere else:
///
///     ParameterTable<IsaiParameters> table;
///     table.integer("power", "isai: pattern power", &IsaiParameters::power, 1, "pattern power p")
///         .details("Fewer iterations, more entries.");
///
/// A field is a pointer to a member or a function that returns a reference into the struct. A key
/// that depends on others is read after those that do not; dependencies go no deeper than that.
template <class Struct>
class ParameterTable {
public:
  /// `defaults` is what read() starts from.
  explicit ParameterTable(Struct defaults = {}) : defaults_(std::move(defaults)) {}

  /// An integer of at least `lowest`, at most 1,000,000.
  template <class Field>
  ParameterTable& integer(const std::string& key, const std::string& name, Field field, int lowest,
                          const std::string& help) {
    return add(key, name, ParameterType::Integer, help, fieldOf(field), lowest, false);
  }
  /// A finite number.
  template <class Field>
  ParameterTable& number(const std::string& key, const std::string& name, Field field,
                         NumberRange range, const std::string& help) {
    return add(key, name, ParameterType::Number, help, fieldOf(field), 0,
               range == NumberRange::Positive);
  }
  /// One of several words. Where two stand for the same value, descriptions take the first.
  template <class Field, class Value>
  ParameterTable& choice(const std::string& key, const std::string& name, Field field,
                         const std::vector<std::pair<std::string, Value>>& choices,
                         const std::string& help) {
    std::vector<std::string> words;
    std::vector<Value> values;
    for (const auto& [word, value] : choices) {
      words.push_back(word);
      values.push_back(value);
    }
    const auto get = [field, values](const void* p) {
      size_t k = 0;
      while (k + 1 < values.size() && values[k] != member(field, p))
        ++k;
      return double(k);
    };
    const auto set = [field, values](void* p, double k) {
      member(field, p) = values[static_cast<size_t>(k)];
    };
    return add(key, name, ParameterType::Word, help, {get, set}, 0, false, words);
  }
  /// yes or no.
  template <class Field>
  ParameterTable& flag(const std::string& key, const std::string& name, Field field,
                       const std::string& help) {
    choice<Field, bool>(key, name, field, {{"yes", true}, {"no", false}}, help);
    last().help.is_flag = true;
    return *this;
  }
  /// A word that names a component of `source`, see NamedMakers, which brings its own parameters.
  template <class Source, class Field>
  ParameterTable& component(const std::string& key, const std::string& name, const Source& source,
                            Field field, const std::string& usual, const std::string& help) {
    detail::ParameterRow row;
    row.help.key = key;
    row.help.name = name;
    row.help.type = ParameterType::Word;
    row.help.default_value = usual;
    row.help.help = help;
    row.components = [&source] { return source.help(); };
    row.read_component = [&source, field](void* p, const std::string& word,
                                          detail::Specification& specification) {
      member(field, p) = source.read(word, specification);
    };
    rows_.rows.push_back(std::move(row));
    return *this;
  }

  // Of the parameter declared last:

  /// It has no effect, and is refused, unless the predicate holds; `words` tell the user when.
  template <class Predicate>
  ParameterTable& onlyIf(Predicate predicate, const std::string& words) {
    last().has_effect = erased(predicate);
    last().help.condition = words;
    return *this;
  }
  /// More sentences for the page of parameters: costs, advice.
  ParameterTable& details(const std::string& sentences) {
    last().help.details = sentences;
    return *this;
  }
  /// A word in place of an integer.
  ParameterTable& word(const std::string& text, int value) {
    last().words.emplace_back(text, value);
    last().help.words.push_back(text);
    if (last().field.get(&defaults_) == value)
      last().help.default_value = text;
    return *this;
  }
  /// An upper bound that documents name. Constructors refuse what reaches it.
  ParameterTable& below(double bound) {
    last().help.range += " and < " + detail::textOfNumber(bound);
    return *this;
  }
  /// A lower bound of a number other than 0, which itself is refused.
  ParameterTable& above(double bound) {
    last().lowest = bound;
    last().excludes_lowest = true;
    last().help.range = "> " + detail::textOfNumber(bound);
    return *this;
  }
  /// A higher least value under a condition.
  template <class Predicate>
  ParameterTable& atLeastIf(Predicate predicate, int lowest, const std::string& words) {
    last().raises_lowest = erased(predicate);
    last().raised_lowest = lowest;
    last().help.range += "; " + std::to_string(lowest) + " at least with `" + words + "`";
    return *this;
  }
  /// Under a condition another member, with a default of its own; it holds where `key` is given.
  template <class Predicate, class Field>
  ParameterTable& insteadIf(Predicate predicate, const std::string& key, Field field) {
    last().takes_other = erased(predicate);
    last().other = fieldOf(field);
    last().help.without = key;
    last().help.default_with = detail::textOfNumber(last().other.get(&defaults_));
    return *this;
  }
  /// The member counts in units of which the parameter has `size`: bytes and MiB.
  ParameterTable& inUnitsOf(double size) {
    const auto field = last().field;
    last().field = {[=](const void* p) { return field.get(p) / size; },
                    [=](void* p, double value) { field.set(p, value * size); }};
    last().help.default_value = last().textOf(&defaults_);
    return *this;
  }

  // Of the table:

  /// key=word needs another key.
  ParameterTable& needs(const std::string& key, const std::string& word, const std::string& needed,
                        const std::string& why) {
    rows_.needs.push_back({key, word, needed, why});
    return *this;
  }
  /// Adds to the descriptions the value of a key, where it has an effect; with a question mark
  /// behind the key only what is not the default.
  ParameterTable& describedBy(const std::vector<std::string>& keys) {
    for (const std::string& key : keys)
      rows_.described.push_back({key, {}});
    return *this;
  }
  /// The same with a text of its own, text(parameters); nothing where it is empty.
  template <class Text>
  ParameterTable& describedBy(const std::string& key, Text text) {
    rows_.described.push_back({key, [text](const void* p) { return text(of(p)); }});
    return *this;
  }

  /// Takes its keys from the specification. \throws InvalidArgument for values out of range.
  Struct read(detail::Specification& specification) const {
    Struct parameters = defaults_;
    rows_.read(&parameters, specification);
    return parameters;
  }
  /// "key: value, key: value" in the order of describedBy().
  std::string describe(const Struct& parameters) const { return rows_.describe(&parameters); }
  /// All keys, those of components included; those of the breakdown come last.
  std::vector<ParameterHelp> help() const { return rows_.help(); }

private:
  static const Struct& of(const void* parameters) {
    return *static_cast<const Struct*>(parameters);
  }
  template <class Field>
  static auto& member(const Field& field, const void* parameters) {
    return std::invoke(field, *static_cast<Struct*>(const_cast<void*>(parameters)));
  }
  template <class Field>
  static detail::ParameterRow::Field fieldOf(Field field) {
    return {[field](const void* p) { return double(member(field, p)); },
            [field](void* p, double value) {
              auto& m = member(field, p);
              m = static_cast<std::decay_t<decltype(m)>>(value);
            }};
  }
  template <class Predicate>
  static std::function<bool(const void*)> erased(Predicate predicate) {
    return [predicate](const void* p) { return predicate(of(p)); };
  }

  ParameterTable& add(const std::string& key, const std::string& name, ParameterType type,
                      const std::string& help, const detail::ParameterRow::Field& field,
                      double lowest, bool excludes_lowest,
                      const std::vector<std::string>& words = {}) {
    detail::ParameterRow row;
    row.help.key = key;
    row.help.name = name;
    row.help.type = type;
    row.help.words = words;
    row.help.help = help;
    row.field = field;
    row.lowest = lowest;
    row.excludes_lowest = excludes_lowest;
    if (type != ParameterType::Word)
      row.help.range = (excludes_lowest ? "> " : ">= ") + detail::textOfNumber(lowest);
    row.help.default_value = row.textOf(&defaults_);
    rows_.rows.push_back(std::move(row));
    return *this;
  }
  detail::ParameterRow& last() { return rows_.rows.back(); }

  Struct defaults_;
  detail::ParameterRows rows_;
};

} // namespace ainvil
