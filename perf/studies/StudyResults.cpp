// SPDX-License-Identifier: BSD-3-Clause
#include "studies/StudyResults.hpp"

#include "Ainvil_BuildInfo.hpp"
#include "io/Ainvil_Files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace ainvil {
namespace perf {
namespace {

std::string formatted(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string csvText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell))
    return quoted(*text);
  if (const auto* count = std::get_if<Offset>(&cell))
    return std::to_string(*count);
  const double number = std::get<double>(cell);
  return std::isnan(number) ? "" : formatted("%.12g", number);
}

nlohmann::ordered_json jsonValue(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) // NaN becomes null
    return *number;
  if (const auto* count = std::get_if<Offset>(&cell))
    return *count;
  return std::get<std::string>(cell);
}

std::string tableText(const Cell& cell, double scale) {
  const auto* number = std::get_if<double>(&cell);
  if (!number)
    return std::holds_alternative<Offset>(cell) ? csvText(cell) : std::get<std::string>(cell);
  return std::isnan(*number) ? "-" : formatted("%.4g", *number * scale);
}

template <class Texts>
std::string joined(const Texts& texts) {
  std::string line;
  for (const std::string& text : texts)
    line += (line.empty() ? "" : ",") + text;
  return line;
}

} // namespace

Results::Results(std::ostream& out, const StudyOptions& options, std::vector<Column> columns)
    : out_(out), program_(options.program), study_(options.study), columns_(std::move(columns)),
      names_({"problem", "reorder", "rows", "entries", "block_size"}) {
  for (const Column& column : columns_)
    names_.push_back(column.name);
  for (const char* name : {"exec_space", "device", "threads", "kokkos_version", "git"})
    names_.push_back(name);
  csv_ = joined(names_) + "\n";
}

void Results::start(const NamedSystem& named, const Environment& environment) {
  environment_ = environment;
  const auto& a = named.system.matrix;
  system_ = {named.name, named.reorder, a.numPointRows(), a.numScalars(), Offset(a.block_size)};
  const std::string machine =
      message(environment_.exec_space, " on ", environment_.device, ", ", environment_.threads,
              " host threads, Kokkos ", compat::kokkosVersion());
  if (std::exchange(machine_, machine) != machine)
    out_ << machine << "\n";
  out_ << "\n"
       << named.name << ": " << a.numPointRows() << " rows, " << a.numScalars() << " entries";
  if (a.block_size > 1)
    out_ << " in blocks of size " << a.block_size;
  if (named.reorder != "none")
    out_ << ", reordered (" << named.reorder << ")";
  out_ << "\n";
  std::vector<std::string> titles;
  for (const Column& column : columns_)
    titles.push_back(column.title);
  printLine(titles);
}

void Results::add(const std::vector<Cell>& cells) {
  std::vector<Cell> all = system_;
  all.insert(all.end(), cells.begin(), cells.end());
  const Environment& e = environment_;
  all.insert(all.end(), {e.exec_space, e.device, Offset(e.threads),
                         std::string(compat::kokkosVersion()), std::string(build_info::git)});
  std::vector<std::string> texts, shown;
  nlohmann::ordered_json object = {{"program", program_}, {"study", study_}};
  for (size_t k = 0; k < all.size(); ++k) {
    texts.push_back(csvText(all[k]));
    object[names_[k]] = jsonValue(all[k]);
  }
  for (size_t k = 0; k < cells.size(); ++k)
    shown.push_back(tableText(cells[k], columns_[k].scale));
  csv_ += joined(texts) + "\n";
  // A path need not be UTF-8.
  json_ += object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  printLine(shown);
}

void Results::printLine(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t k = 0; k < cells.size(); ++k) {
    if (columns_[k].title.empty())
      continue;
    const size_t width = static_cast<size_t>(std::abs(columns_[k].width));
    const std::string pad(width - std::min(width, cells[k].size()), ' ');
    line += (line.empty() ? "" : "  ") + (columns_[k].width < 0 ? cells[k] + pad : pad + cells[k]);
  }
  out_ << line.substr(0, line.find_last_not_of(' ') + 1) << "\n" << std::flush;
}

void runStudy(const StudyOptions& options, const std::vector<Column>& columns,
              const std::function<NamedSystem(size_t)>& make,
              const std::function<void(const NamedSystem&, Results&)>& measure) {
  const bool on_stdout = options.csv == "-" || options.json == "-";
  Results results(on_stdout ? std::cerr : std::cout, options, columns);
  GrowingFile csv(options.csv), json(options.json);
  const auto write = [](const std::string& path, GrowingFile& file, const std::string& text) {
    if (!path.empty() && path != "-")
      file.update(text);
  };
  for (size_t k = 0; k < options.numSystems(); ++k) {
    measure(make(k), results);
    write(options.csv, csv, results.csv()); // a run that is cut short leaves what it has
    write(options.json, json, results.json());
  }
  if (on_stdout)
    std::cout << (options.csv == "-" ? results.csv() : results.json()) << std::flush;
}

} // namespace perf
} // namespace ainvil
