// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the command lines of the executables have in common.

#include "Ainvil_BuildInfo.hpp"
#include "Ainvil_Error.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"
#include "io/Ainvil_Files.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// A word out of several.
inline void addChoice(CLI::App& app, const char* option, std::string& value, const char* meaning,
                      const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words)
    list += (list.empty() ? "" : "|") + word;
  const auto known = [words, list](const std::string& given) {
    return std::find(words.begin(), words.end(), given) != words.end()
               ? std::string()
               : message("must be one of ", list, ", but it is '", given, "'");
  };
  app.add_option(option, value, meaning)->check(known)->type_name(list);
}

/// One value an occurrence.
inline void addRepeatable(CLI::App& app, const char* option, std::vector<std::string>& values,
                          const char* type, const char* meaning) {
  app.add_option(option, values, meaning)->allow_extra_args(false)->type_name(type)->type_size(1);
}

/// The help names the default, which `value` holds.
template <class T>
void addNumber(CLI::App& app, const char* option, T& value, const char* type, const char* meaning) {
  app.add_option(option, value, message(meaning, "; default ", value))->type_name(type);
}

/// Has every option that takes a value refuse an empty one, which would count as 0.
inline void requireValues(CLI::App& app) {
  const auto empty = [](const std::string& value) {
    return value.empty() ? std::string("needs a value, but it is empty") : std::string();
  };
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->check(empty);
  for (CLI::App* sub : app.get_subcommands({}))
    requireValues(*sub);
}

/// Name, version and commit of the program, and the version of Kokkos.
inline std::string versionOf(const CLI::App& app) {
  return message(app.get_name(), ": Ainvil ", build_info::version, ", commit ", build_info::git,
                 ", Kokkos ", compat::kokkosVersion(), "\n");
}

/// Parses the arguments behind the name of the program. Returns the help and this end of it, or the
/// version, if they ask for that, else nothing. \throws InvalidArgument
inline std::string parse(CLI::App& app, const std::vector<std::string>& arguments,
                         const std::string& end_of_help = {}) {
  requireValues(app);
  app.set_version_flag("--version", versionOf(app), "versions of this program and of Kokkos");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return app.help() + end_of_help;
  } catch (const CLI::CallForVersion& version) {
    return version.what();
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(message(error.what(), " (--help lists all options)"));
  }
  return {};
}

inline void requireAtLeast(const char* option, int value, int lowest) {
  if (value < lowest)
    throw InvalidArgument(message(option, " must be at least ", lowest, ", but it is ", value));
}

inline void requireTolerance(const char* option, double tolerance) {
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw InvalidArgument(message(option, " must be a finite number >= 0, but it is ", tolerance));
}

/// Writing `output` would write to `other`, be they files already or not. False for an output that
/// is not wanted; - stands for stdout, and is a file of no other name.
inline bool sameFile(const std::string& output, const std::string& other) {
  if (output.empty() || other.empty() || output == "-" || other == "-")
    return !output.empty() && output == other;
  std::error_code ignored; // of hard links to files that do not exist
  return resolvedPath(output) == resolvedPath(other) ||
         std::filesystem::equivalent(output, other, ignored);
}

} // namespace perf
} // namespace ainvil
