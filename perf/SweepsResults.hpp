// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The results of ainvil-triangular-sweeps as a table and as CSV.

#include "SolveRecord.hpp"
#include "SweepsOptions.hpp"

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
  Results(std::ostream& out, const SweepsOptions& options, const Environment& environment,
          std::vector<Column> columns);

  /// The rows to come are on this system.
  void start(const NamedSystem& named);
  /// A cell a column.
  void add(const std::vector<Cell>& cells);

  const std::string& csv() const { return csv_; }

private:
  void printLine(const std::vector<std::string>& cells);

  std::ostream& out_;
  Environment environment_;
  std::vector<Column> columns_;
  std::string reorder_;
  std::vector<Cell> system_;
  bool started_ = false;
  std::string csv_;
};

} // namespace perf
} // namespace ainvil
