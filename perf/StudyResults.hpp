// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The results of a study as a table and as CSV.

#include "SolveRecord.hpp"
#include "StudyOptions.hpp"

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
  std::string name;  ///< in the CSV, with the unit
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

/// Rows of a study. The CSV begins each with the system and ends it with the machine.
class Results {
public:
  Results(std::ostream& out, std::vector<Column> columns);

  /// The rows to come are on this system and this machine.
  void start(const NamedSystem& named, const Environment& environment);
  /// A cell a column.
  void add(const std::vector<Cell>& cells);

  const std::string& csv() const { return csv_; }

private:
  void printLine(const std::vector<std::string>& cells);

  std::ostream& out_;
  Environment environment_;
  std::vector<Column> columns_;
  std::vector<Cell> system_;
  std::string machine_; ///< as last printed
  std::string csv_;
};

/// Measures all systems: prints the table, writes the CSV, which holds the systems so far after
/// each. `make` builds the k-th system, `measure` starts it and adds its rows.
void runStudy(const StudyOptions& options, const std::vector<Column>& columns,
              const std::function<NamedSystem(size_t)>& make,
              const std::function<void(const NamedSystem&, Results&)>& measure);

} // namespace perf
} // namespace ainvil
