// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of files share: a folder of their own, and looking at what lies in it.

#include "TestSupport.hpp"
#include "io/Ainvil_InputFile.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace ainvil {
namespace test {

namespace fs = std::filesystem;

inline std::string slurp(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// All bytes of a file, unpacked, in pieces of an odd size.
inline std::string readFile(const std::string& path) {
  InputFile file(path);
  std::string bytes, piece(12345, '\0');
  for (size_t got = piece.size(); got == piece.size();) {
    got = file.read(piece.data(), piece.size());
    bytes.append(piece, 0, got);
  }
  EXPECT_EQ(file.beginning(), bytes.substr(0, 16));
  return bytes;
}

/// The sentence of the FileError that an action throws.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
    return "no error";
  } catch (const FileError& error) {
    return error.what();
  }
}

class Files : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("ainvil_files_" + std::to_string(getpid()));
};

} // namespace test
} // namespace ainvil
