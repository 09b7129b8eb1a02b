// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The rows of a table of parameters. The struct that holds the parameters is a void* here: tables
/// of all structs share this code.

#include "parameters/Ainvil_Specification.hpp"

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ainvil {
namespace detail {

/// A member of a struct, read and written as a number.
struct ParameterField {
  std::function<void*(void*)> at; ///< where it lies in the struct; empty: there is none
  double (*get)(const void*) = nullptr;
  void (*set)(void*, double) = nullptr;
};

/// One row of a table.
struct ParameterRow {
  using Predicate = std::function<bool(const void*)>;

  ParameterHelp help;
  ParameterField field; ///< none for components
  double unit = 1;      ///< the member is the value times this
  double lowest = 0;    ///< for numbers and integers
  bool excludes_lowest = false;
  double bound = std::numeric_limits<double>::infinity(); ///< of a number, which lies below it
  std::vector<double> values; ///< what the words in help.words stand for
  Predicate has_effect;       ///< empty: always
  // Where another parameter changes the range, or which member is meant.
  Predicate raises_lowest, takes_other;
  double raised_lowest = 0;
  ParameterField other;
  // Of a component: read(struct, name, rest), the names, and all of their parameters.
  std::function<void(void*, const std::string&, Specification&)> read_component;
  std::function<std::vector<MethodHelp>()> components;
  std::function<std::string(const std::string&)> refusal; ///< of a name; may be missing or empty
};

/// A table of rows.
class ParameterRows {
public:
  // Defined where the rows are, once for all tables.
  ParameterRows();
  ParameterRows(const ParameterRows& other);
  ParameterRows& operator=(const ParameterRows& other);
  ~ParameterRows();

  // What ParameterTable declares; `defaults` is the struct of the defaults.

  void add(std::string_view key, std::string_view name, ParameterType type, std::string_view help,
           ParameterField field, const void* defaults, double lowest = 0,
           bool excludes_lowest = false,
           const std::vector<std::pair<std::string_view, double>>& words = {});
  void addComponent(std::string_view key, std::string_view name, std::string_view usual,
                    std::string_view help, std::function<std::vector<MethodHelp>()> components,
                    std::function<void(void*, const std::string&, Specification&)> read);
  void addNeed(std::string_view key, std::string_view word, std::string_view needed,
               std::string_view why);
  /// An empty text: the value.
  void addDescribed(std::string_view key, std::function<std::string(const void*)> text);

  void setFlag();
  void setEffect(ParameterRow::Predicate predicate, std::string_view words);
  void setDetails(std::string_view sentences);
  void setRefusal(std::function<std::string(const std::string&)> refusal);
  void setWord(std::string_view text, double value, const void* defaults);
  void setBelow(double bound);
  void setAbove(double bound);
  void setAtLeastIf(ParameterRow::Predicate predicate, int lowest, std::string_view words);
  void setInsteadIf(ParameterRow::Predicate predicate, std::string_view key, ParameterField field,
                    const void* defaults);
  void setUnit(double unit, const void* defaults);

  // What a table is for, see there.

  void read(void* parameters, Specification& specification) const;
  void check(const void* parameters) const;
  std::string describe(const void* parameters, const std::vector<std::string>& without) const;
  std::vector<ParameterHelp> help() const;

private:
  /// One piece "key: text" of a description; a key with a question mark is left out where it has
  /// its default, an empty text always.
  struct Described {
    std::string key;
    std::function<std::string(const void*)> text;
  };
  /// With key=word the key `needed` has to be given.
  struct Need {
    std::string key, word, needed, why;
  };

  const ParameterRow& row(const std::string& key) const;

  std::vector<ParameterRow> rows_;
  std::vector<Described> described_;
  std::vector<Need> needs_;
};

} // namespace detail
} // namespace ainvil
