// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The table of a method's parameters: what parsing, checks, help, descriptions, documents and the
/// lists of Trilinos are made from.

#include "parameters/Ainvil_ParameterRows.hpp"

#include <any>
#include <initializer_list>
#include <type_traits>

namespace ainvil {

/// Range of a number.
enum class NumberRange {
  Positive,   ///< > 0
  NonNegative ///< >= 0
};

/// The parameters of a method, a factorisation or a strategy, all members of `Struct`, whose own
/// values are the defaults. Each is declared here and nowhere else:
///
///     ParameterTable<IsaiOptions> table;
///     table.integer("power", "isai: pattern power", &IsaiOptions::power, 1, "pattern power p")
///         .details("Fewer iterations, more entries.");
///
/// A field is a pointer to a member or a function that returns a reference into the struct. A key
/// that depends on others is read after those that do not; dependencies go no deeper than that.
///
/// The class only tells the rows, which all tables share, where a member lies and what type it has.
template <class Struct>
class ParameterTable {
  template <class Field>
  using ValueOf = std::decay_t<std::invoke_result_t<Field, Struct&>>;
  using Text = std::string_view;

public:
  /// `defaults` is what read() starts from.
  explicit ParameterTable(Struct defaults = {}) : defaults_(std::move(defaults)) {}

  /// An integer of at least `lowest`, at most 1,000,000.
  template <class Field>
  ParameterTable& integer(Text key, Text name, Field field, int lowest, Text help) {
    rows_.add(key, name, ParameterType::Integer, help, fieldOf(field), &defaults_, lowest);
    return *this;
  }
  /// A finite number.
  template <class Field>
  ParameterTable& number(Text key, Text name, Field field, NumberRange range, Text help) {
    rows_.add(key, name, ParameterType::Number, help, fieldOf(field), &defaults_, 0,
              range == NumberRange::Positive);
    return *this;
  }
  /// One of several words, {{"word", value}, ...}. Where two stand for the same value, descriptions
  /// take the first.
  template <class Field>
  ParameterTable& choice(Text key, Text name, Field field,
                         std::initializer_list<std::pair<const char*, ValueOf<Field>>> choices,
                         Text help) {
    std::vector<std::pair<Text, double>> words;
    for (const auto& [word, value] : choices)
      words.emplace_back(word, static_cast<double>(value));
    rows_.add(key, name, ParameterType::Word, help, fieldOf(field), &defaults_, 0, false, words);
    return *this;
  }
  /// yes or no.
  template <class Field>
  ParameterTable& flag(Text key, Text name, Field field, Text help) {
    choice(key, name, field, {{"yes", true}, {"no", false}}, help);
    rows_.setFlag();
    return *this;
  }
  /// A word that names a component of `source`, see NamedMakers, which brings its own parameters.
  template <class Source, class Field>
  ParameterTable& component(Text key, Text name, const Source& source, Field field, Text usual,
                            Text help) {
    rows_.addComponent(
        key, name, usual, help, [&source] { return source.help(); },
        [&source, field](void* p, const std::string& word, detail::Specification& specification) {
          std::invoke(field, *static_cast<Struct*>(p)) =
              std::any_cast<ValueOf<Field>>(source.read(word, specification));
        });
    return *this;
  }

  // Of the parameter declared last:

  /// It has no effect, and is refused, unless the predicate holds; `words` tell the user when.
  template <class Predicate>
  ParameterTable& onlyIf(Predicate predicate, Text words) {
    rows_.setEffect(erased(predicate), words);
    return *this;
  }
  /// More sentences for the page of parameters: costs, advice.
  ParameterTable& details(Text sentences) {
    rows_.setDetails(sentences);
    return *this;
  }
  /// Of a component: the sentence that reason(name) gives to a name that is none of the source, in
  /// place of the list of those; where it is empty, the list.
  ParameterTable& refusing(std::function<std::string(const std::string&)> reason) {
    rows_.setRefusal(std::move(reason));
    return *this;
  }
  /// A word in place of an integer.
  ParameterTable& word(Text text, int value) {
    rows_.setWord(text, value, &defaults_);
    return *this;
  }
  /// A number must be less than this.
  ParameterTable& below(double bound) {
    rows_.setBelow(bound);
    return *this;
  }
  /// A lower bound of a number other than 0, which itself is refused.
  ParameterTable& above(double bound) {
    rows_.setAbove(bound);
    return *this;
  }
  /// A higher least value under a condition.
  template <class Predicate>
  ParameterTable& atLeastIf(Predicate predicate, int lowest, Text words) {
    rows_.setAtLeastIf(erased(predicate), lowest, words);
    return *this;
  }
  /// Under a condition another member, with a default of its own; it holds where `key` is given.
  template <class Predicate, class Field>
  ParameterTable& insteadIf(Predicate predicate, Text key, Field field) {
    rows_.setInsteadIf(erased(predicate), key, fieldOf(field), &defaults_);
    return *this;
  }
  /// The member counts in units of which the parameter has `size`: bytes and MiB.
  ParameterTable& inUnitsOf(double size) {
    rows_.setUnit(size, &defaults_);
    return *this;
  }

  // Of the table:

  /// key=word needs another key.
  ParameterTable& needs(Text key, Text word, Text needed, Text why) {
    rows_.addNeed(key, word, needed, why);
    return *this;
  }
  /// Adds to the descriptions the value of a key, where it has an effect; with a question mark
  /// behind the key only what is not the default.
  ParameterTable& describedBy(std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      rows_.addDescribed(key, {});
    return *this;
  }
  /// The same with a text of its own, text(parameters); nothing where it is empty.
  template <class TextOf>
  ParameterTable& describedBy(Text key, TextOf text) {
    rows_.addDescribed(key, [text](const void* p) { return text(of(p)); });
    return *this;
  }

  /// Takes its keys from the specification. \throws InvalidArgument for values out of range.
  Struct read(detail::Specification& specification) const {
    Struct parameters = defaults_;
    rows_.read(&parameters, specification);
    return parameters;
  }
  /// The parameters, for constructors that take what was set in C++. \throws InvalidArgument for
  /// values out of range, those without effect included, in the words of read().
  const Struct& checked(const Struct& parameters) const {
    rows_.check(&parameters);
    return parameters;
  }
  /// "key: value, key: value" in the order of describedBy(), but for the keys `without`.
  std::string describe(const Struct& parameters,
                       const std::vector<std::string>& without = {}) const {
    return rows_.describe(&parameters, without);
  }
  /// All keys, those of components included; those of the breakdown come last.
  std::vector<ParameterHelp> help() const { return rows_.help(); }

private:
  static const Struct& of(const void* parameters) {
    return *static_cast<const Struct*>(parameters);
  }
  template <class Field>
  static detail::ParameterField fieldOf(Field field) {
    using Value = ValueOf<Field>;
    return {[field](void* p) -> void* { return &std::invoke(field, *static_cast<Struct*>(p)); },
            [](const void* at) { return static_cast<double>(*static_cast<const Value*>(at)); },
            [](void* at, double value) { *static_cast<Value*>(at) = static_cast<Value>(value); }};
  }
  template <class Predicate>
  static detail::ParameterRow::Predicate erased(Predicate predicate) {
    return [predicate](const void* p) { return predicate(of(p)); };
  }

  Struct defaults_;
  detail::ParameterRows rows_;
};

} // namespace ainvil
