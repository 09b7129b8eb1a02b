// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Files that do not hold what they should, each with the sentence that a user gets to read. Lines
/// of the table tests/core/io/bad_files.txt are "NAME KIND SENTENCE", where KIND is matrix or
/// vector for Matrix Market, or numbers for a vector in any format, and FILE in the sentence stands
/// for the path.

#include "SourceFolder.hpp"

#include "io/Ainvil_MatrixMarket.hpp"
#include "io/Ainvil_VectorFiles.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ainvil {
namespace {

namespace fs = std::filesystem;

std::string sentenceOf(const std::string& path, const std::string& kind) {
  try {
    if (kind == "vector")
      readMatrixMarketVector(path);
    else if (kind == "numbers")
      readVector(path);
    else
      readMatrixMarket(path);
    return "no error";
  } catch (const FileError& error) {
    return error.what();
  }
}

std::string withPath(std::string sentence, const std::string& path) {
  return sentence.replace(sentence.find("FILE"), 4, path);
}

TEST(BadFiles, AreRefusedWithTheExpectedSentence) {
  const fs::path folder = ainvil::test::sourceFolder() + "/tests/core/io/bad_files";
  if (!fs::exists(folder))
    GTEST_SKIP() << "the sources are not on this machine";
  std::ifstream table(folder.string() + ".txt");
  std::string name, kind, sentence;
  Offset lines = 0;
  for (; table >> name >> kind && std::getline(table >> std::ws, sentence); ++lines) {
    const std::string path = (folder / name).string();
    EXPECT_EQ(sentenceOf(path, kind), withPath(sentence, path)) << name;
  }
  EXPECT_EQ(lines, std::distance(fs::directory_iterator(folder), {}))
      << "every file has one line in the table";
  EXPECT_GE(lines, 60);
}

} // namespace
} // namespace ainvil
