// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The results of a study as a table, as CSV and as JSON.

#include "solve/SolveRecord.hpp"
#include "studies/StudyOptions.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

namespace ainvil {
namespace perf {

/// Text, a count, or a number; NaN stands for what was not measured.
using Cell = std::variant<std::string, Offset, double>;

struct Column {
  std::string name;  ///< in CSV and JSON, with the unit
  std::string title; ///< in the table; empty: not there
  int width = 9;     ///< negative: text, to the left
  double scale = 1;  ///< of the numbers in the table
};

/// Column of a time in seconds, in the table in microseconds or milliseconds.
inline Column microseconds(const std::string& name, const std::string& title) {
  return {name, title, 9, 1e6};
}
inline Column milliseconds(const std::string& name, const std::string& title) {
  return {name, title, 9, 1e3};
}

/// Rows of a study. CSV and JSON begin each with the system and end it with the machine.
class Results {
public:
  Results(std::ostream& out, const StudyOptions& options, std::vector<Column> columns);

  /// The rows to come are on this system and this machine.
  void start(const NamedSystem& named, const Environment& environment);
  /// A cell a column.
  void add(const std::vector<Cell>& cells);

  const std::string& csv() const { return csv_; }
  const std::string& json() const { return json_; } ///< a line a row

private:
  void printLine(const std::vector<std::string>& cells);

  std::ostream& out_;
  std::string program_, study_;
  Environment environment_;
  std::vector<Column> columns_;
  std::vector<std::string> names_; ///< of all cells of a row
  std::vector<Cell> system_;
  std::string machine_; ///< as last printed
  std::string csv_, json_;
};

/// Measures all systems: prints the table, writes CSV and JSON, which hold the systems so far after
/// each. `make` builds the k-th system, `measure` starts it and adds its rows.
void runStudy(const StudyOptions& options, const std::vector<Column>& columns,
              const std::function<NamedSystem(size_t)>& make,
              const std::function<void(const NamedSystem&, Results&)>& measure);

} // namespace perf
} // namespace ainvil
