// SPDX-License-Identifier: BSD-3-Clause
/// What the tests of ainvil-solve's parts share: a folder for the files of a test, and vectors.
#ifndef AINVIL_TESTS_PERF_SOLVE_FILES_HPP
#define AINVIL_TESTS_PERF_SOLVE_FILES_HPP

#include "solve/SolveSystem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

using HostVector = Vector<double, HostDevice>;

inline HostVector vectorOf(const std::vector<double>& values) {
  const HostVector v("v", values.size());
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

/// A folder for the files of a test.
class Files : public ::testing::Test {
protected:
  Files() {
    std::string name = (std::filesystem::temp_directory_path() / "ainvil-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// diag(values) in a file.
  CommandLine diagonal(const std::vector<double>& values) const {
    std::ostringstream text;
    text.precision(17);
    text << "%%MatrixMarket matrix coordinate real general\n"
         << values.size() << " " << values.size() << " " << values.size() << "\n";
    for (size_t i = 0; i < values.size(); ++i)
      text << i + 1 << " " << i + 1 << " " << values[i] << "\n";
    CommandLine command;
    command.matrix = write("a.mtx", text.str());
    return command;
  }

  std::string folder_;
};

} // namespace perf
} // namespace ainvil

#endif
