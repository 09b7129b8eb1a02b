// SPDX-License-Identifier: BSD-3-Clause
#include "SourceFolder.hpp"

#include "io/Ainvil_MatrixMarket.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <locale>
#include <random>
#include <sstream>
#include <vector>

namespace {

namespace fs = std::filesystem;
using ainvil::FileError;
using ainvil::HostDevice;
using ainvil::Offset;
using Matrix = ainvil::BsrMatrix<double, HostDevice>;
using Vector = ainvil::Vector<double, HostDevice>;

const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const std::string integers = "%%MatrixMarket matrix coordinate integer general\n";
const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string array = "%%MatrixMarket matrix array real general\n";

const auto parse = [](const std::string& text) {
  return ainvil::parseMatrixMarket(text, "bad.mtx");
};
const auto parseVector = [](const std::string& text) {
  return ainvil::parseMatrixMarketVector(text, "bad.mtx");
};

/// Point rows as "column:value" with 17 digits, so that equal text means equal bits.
std::string show(const Matrix& a) {
  std::ostringstream out;
  out.precision(17);
  const int b = a.block_size;
  out << a.numPointRows() << "x" << a.numPointCols();
  for (Offset row = 0; row < a.numPointRows(); ++row) {
    out << " |";
    for (Offset e = a.graph.row_map(row / b); e < a.graph.row_map(row / b + 1); ++e)
      for (int c = 0; c < b; ++c)
        out << " " << Offset(a.graph.entries(e)) * b + c << ":"
            << a.values((e * b + row % b) * b + c);
  }
  return out.str();
}

std::string show(const Vector& x) {
  std::ostringstream out;
  out.precision(17);
  for (size_t i = 0; i < x.extent(0); ++i)
    out << (i ? " " : "") << x(i);
  return out.str();
}

/// Runs an action that must throw an Exception whose message contains all the words.
template <class Exception, class Action>
void expectError(Action action, const std::vector<std::string>& words) {
  try {
    action();
    ADD_FAILURE() << "no exception";
  } catch (const Exception& error) {
    const std::string text = error.what();
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << "no \"" << word << "\" in: " << text;
  }
}

/// A random 33 x 21 block matrix with some empty rows and values of every finite bit pattern, among
/// them zeros of both signs.
Matrix randomMatrix(int block_size) {
  std::mt19937_64 random(5);
  std::string text = pattern + "33 21 200\n";
  for (int e = 0; e < 200; ++e)
    text += std::to_string(random() % 11 * 3 + 1) + " " + std::to_string(random() % 21 + 1) + "\n";
  const Matrix a = parse(text);
  const Kokkos::View<double*, HostDevice> values(
      "Test::values", static_cast<size_t>(a.numEntries() * block_size * block_size));
  for (size_t k = 0; k < values.extent(0); ++k)
    do {
      const std::uint64_t bits = random() & (k % 10 ? ~std::uint64_t(0) : std::uint64_t(1) << 63);
      std::memcpy(&values(k), &bits, sizeof(bits));
    } while (!std::isfinite(values(k)));
  return {a.graph, values, block_size};
}

class MatrixMarketFiles : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  static std::string slurp(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }

  std::string gzip(const std::string& text) const {
    gzFile file = gzopen(path("gzip").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return slurp(path("gzip"));
  }

  size_t numFiles() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("ainvil_mm_" + std::to_string(getpid()));
};

TEST(MatrixMarket, readsEveryVariant) {
  EXPECT_EQ(show(parse(general + "2 3 3\n1 1 1.5\n1 3 -2\n2 2 4e2\n")), "2x3 | 0:1.5 2:-2 | 1:400");
  EXPECT_EQ(show(parse("%%MatrixMarket matrix coordinate double general\n1 1 1\n1 1 3\n")),
            "1x1 | 0:3");
  EXPECT_EQ(show(parse(integers + "2 2 2\n1 2 -7\n2 1 +3\n")), "2x2 | 1:-7 | 0:3");
  EXPECT_EQ(show(parse(pattern + "2 2 2\n1 2\n2 1\n")), "2x2 | 1:1 | 0:1");
  EXPECT_EQ(show(parse(symmetric + "3 3 4\n1 1 1\n3 1 2\n2 2 3\n3 2 4\n")),
            "3x3 | 0:1 2:2 | 1:3 2:4 | 0:2 1:4");
  EXPECT_EQ(show(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")),
            "2x2 | 1:1 | 0:1");
  EXPECT_EQ(show(parse(skew + "3 3 3\n2 1 5\n3 2 6\n3 3 0\n")), "3x3 | 1:-5 | 0:5 2:-6 | 1:6 2:0");
  EXPECT_EQ(show(parse(array + "2 2\n1\n0\n3\n4\n")), "2x2 | 0:1 1:3 | 0:0 1:4");
  EXPECT_EQ(show(parse("%%MatrixMarket matrix array integer general\n1 2\n5\n6\n")),
            "1x2 | 0:5 1:6");
}

TEST(MatrixMarket, sortsAndSumsDuplicates) {
  EXPECT_EQ(show(parse(general + "3 3 7\n3 3 1\n1 3 2\n3 1 3\n1 1 4\n3 3 5\n1 3 6\n2 2 0\n")),
            "3x3 | 0:4 2:8 | 1:0 | 0:3 2:6");
  EXPECT_EQ(show(parse(symmetric + "2 2 3\n2 1 1\n2 1 2\n1 1 3\n")), "2x2 | 0:3 1:3 | 0:3");
  // In the order of the file: 1e16 + 1 - 1e16 is 0, any other order is 1.
  EXPECT_EQ(show(parse(general + "1 2 4\n1 2 1e16\n1 2 1\n1 1 9\n1 2 -1e16\n")), "1x2 | 0:9 1:0");
}

TEST(MatrixMarket, readsLooseLayout) {
  const std::string expected = "2x2 | 0:1 | 1:2";
  EXPECT_EQ(show(parse("%%MATRIXMARKET Matrix COORDINATE Real GENERAL\n2 2 2\n1 1 1\n2 2 2\n")),
            expected);
  EXPECT_EQ(show(parse("%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n")),
            expected);
  EXPECT_EQ(show(parse(general + "% a\n\n%b\n  \n2 2 2\n\n% c\n1 1 1\n\n2 2 2\n\n% end")),
            expected);
  EXPECT_EQ(show(parse("%%MatrixMarket  matrix\tcoordinate real general \r\n%\r\n\r\n2 2 2\r\n"
                       "  1\t1   1\r\n2 2 2 \r\n\r\n")),
            expected);
  EXPECT_EQ(show(parse(general + "2 2 2\n1 1 1\n2 2 2")), expected);
  EXPECT_EQ(show(parse(general + "2 2 2\n001 1 1\n2 02 2")), expected);
}

TEST(MatrixMarket, readsEmptyMatrices) {
  EXPECT_EQ(show(parse(general + "0 0 0\n")), "0x0");
  EXPECT_EQ(show(parse(symmetric + "0 0 0")), "0x0");
  EXPECT_EQ(show(parse(general + "2 5 0\n")), "2x5 | |");
  EXPECT_EQ(show(parse(array + "0 3\n")), "0x3");
  EXPECT_EQ(show(parse(array + "3 0\n")), "3x0 | | |");
  EXPECT_EQ(parseVector(array + "0 1\n").extent(0), 0u);
}

/// What a size line may claim: 2^24 and 16 times the bytes that follow it, be it of rows or of
/// columns.
TEST(MatrixMarket, boundsRowsAndColumnsByTheText) {
  const std::string rest = " 1\n1 1 1\n"; // 6 bytes behind the line of sizes
  EXPECT_EQ(parse(general + "1 16777312" + rest).numCols(), 16777312);
  expectError<FileError>([&] { parse(general + "1 16777313" + rest); },
                         {"line 2", "at most 16777312 rows and columns", "16777313 columns"});
  expectError<FileError>([&] { parse(general + "16777313 1" + rest); },
                         {"line 2", "at most 16777312 rows and columns", "16777313 rows"});
}

TEST(MatrixMarket, readsEveryNumber) {
  const auto number = [](const std::string& text) {
    return parse(general + "1 1 1\n1 1 " + text + "\n").values(0);
  };
  EXPECT_EQ(number("+1.25"), 1.25);
  EXPECT_EQ(number("-.5"), -0.5);
  EXPECT_EQ(number("3."), 3.0);
  EXPECT_EQ(number("1.5D+02"), 150.0);
  EXPECT_EQ(number("-2.5d-1"), -0.25);
  EXPECT_EQ(number("1E+3"), 1000.0);
  EXPECT_EQ(number("0.1000000000000000055511151231257827"), 0.1);
  EXPECT_EQ(number("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number("+1.7976931348623157D308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number("1e-400"), 0.0);
  EXPECT_EQ(number("-1e-99999999999999999999"), 0.0);
  EXPECT_EQ(number("1.0D-400"), 0.0);
  EXPECT_EQ(number("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(number("0e999999"), 0.0);
  EXPECT_TRUE(std::signbit(number("-0")));
}

TEST(MatrixMarket, readsVectors) {
  EXPECT_EQ(show(parseVector(array + "3 1\n1\n-2.5\n0\n")), "1 -2.5 0");
  EXPECT_EQ(show(parseVector(general + "4 1 3\n3 1 7\n1 1 2\n3 1 1\n")), "2 0 8 0");
  EXPECT_EQ(show(parseVector(pattern + "2 1 1\n2 1\n")), "0 1");
}

TEST(MatrixMarket, survivesRandomDamage) {
  const std::string good = symmetric + "% c\n3 3 4\n1 1 1.5\n2 1 -2e3\n3 2 1d-2\n3 3 0\n";
  const std::string letters = std::string("0123456789+-.eEdD% \n\r\tNaNinf\xff") + '\0';
  std::mt19937 random(7);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = good;
    for (unsigned change = 0; change <= random() % 3; ++change)
      text[random() % text.size()] = letters[random() % letters.size()];
    text.resize(random() % 4 ? text.size() : random() % text.size());
    try {
      const Matrix a = parse(text);
      EXPECT_EQ(a.graph.row_map(a.numRows()), a.numEntries());
    } catch (const FileError&) {
    }
  }
}

TEST_F(MatrixMarketFiles, readsGzipByContent) {
  const std::string head = general + "2 2 2\n1 1 ", tail = "1\n2 2 2\n";
  const std::string expected = "2x2 | 0:1 | 1:2";
  EXPECT_EQ(show(ainvil::readMatrixMarket(write("a.mtx", head + tail))), expected);
  EXPECT_EQ(show(ainvil::readMatrixMarket(write("plain.gz", head + tail))), expected);
  EXPECT_EQ(show(ainvil::readMatrixMarket(write("b.mtx", gzip(head + tail)))), expected);
  EXPECT_EQ(show(ainvil::readMatrixMarket(write("c.mtx", gzip(head) + gzip(tail)))), expected);
  const std::string large = general + std::string(300000, '\n') + "1 1 1\n1 1 5"; // 1000:1
  EXPECT_EQ(show(ainvil::readMatrixMarket(write("d.mtx", gzip(large)))), "1x1 | 0:5");
  EXPECT_EQ(show(ainvil::readMatrixMarketVector(write("e", gzip(array + "2 1\n1\n2\n")))), "1 2");
}

TEST_F(MatrixMarketFiles, refusesUnreadableFiles) {
  const auto refuse = [](const std::string& path, std::vector<std::string> words) {
    SCOPED_TRACE(path);
    words.push_back(path);
    expectError<FileError>([&] { ainvil::readMatrixMarket(path); }, words);
  };
  refuse(path("missing.mtx"), {"cannot read", "No such file"});
  refuse(path("."), {"cannot read", "Is a directory"});
  refuse(write("empty.mtx", ""), {"line 1", "expected", "the end of the file"});
  const std::string good = gzip(general + "2 2 2\n1 1 1\n2 2 2\n");
  for (size_t size = 2; size < good.size(); ++size)
    refuse(write("cut.mtx.gz", good.substr(0, size)), {"truncated or damaged gzip data"});
  std::string flipped = good;
  flipped[good.size() - 6] ^= 1; // in the checksum
  refuse(write("flipped.mtx.gz", flipped), {"truncated or damaged gzip data", "again"});
}

TEST_F(MatrixMarketFiles, roundTripsExactly) {
  for (const char* name : {"a.mtx", "a.mtx.gz"})
    for (int block_size : {1, 2, 3, 9}) {
      SCOPED_TRACE(testing::Message() << name << " " << block_size);
      const Matrix a = randomMatrix(block_size);
      ainvil::writeMatrixMarket(path(name), a, "first\nsecond");
      EXPECT_TRUE(show(ainvil::readMatrixMarket(path(name))) == show(a));
      const Vector x("Test::x", a.values.extent(0));
      Kokkos::deep_copy(x, a.values);
      ainvil::writeMatrixMarket(path(name), x);
      EXPECT_TRUE(show(ainvil::readMatrixMarketVector(path(name))) == show(x));
    }
  EXPECT_EQ(slurp(path("a.mtx.gz")).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(numFiles(), 2u);

  ainvil::writeMatrixMarket(path("b"), parse(general + "1 2 1\n1 2 0.1\n"), "first\nsecond");
  EXPECT_EQ(slurp(path("b")), general + "% first\n% second\n1 2 1\n1 2 0.1\n");
  ainvil::writeMatrixMarket(path("b"), Matrix());
  EXPECT_EQ(slurp(path("b")), general + "0 0 0\n");
}

TEST_F(MatrixMarketFiles, ignoresTheLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const Matrix a = parse(general + "1 1 1\n1 1 0.5\n");
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  EXPECT_EQ(parse(general + "1 1 1\n1 1 +2.5D0\n").values(0), 2.5);
  ainvil::writeMatrixMarket(path("a"), a);
  std::locale::global(before);
  EXPECT_EQ(slurp(path("a")), general + "1 1 1\n1 1 0.5\n");
}

TEST_F(MatrixMarketFiles, writesNothingThatCannotBeRead) {
  const Vector x("Test::x", 2);
  x(1) = std::numeric_limits<double>::quiet_NaN();
  expectError<ainvil::InvalidArgument>([&] { ainvil::writeMatrixMarket(path("x"), x); },
                                       {"finite", "row 2"});
  EXPECT_EQ(numFiles(), 0u);
}

TEST(MatrixMarket, readsPublicMatrices) {
  const char* variable = std::getenv("AINVIL_MATRIX_DIR");
  const fs::path folder =
      variable ? variable : ainvil::test::sourceFolder() + "/../shared/matrices";
  if (!fs::exists(folder / "1138_bus.mtx.gz"))
    GTEST_SKIP() << "set AINVIL_MATRIX_DIR to a folder with 1138_bus.mtx.gz and steam2.mtx.gz";
  const Matrix bus = ainvil::readMatrixMarket((folder / "1138_bus.mtx.gz").string());
  EXPECT_EQ(bus.numRows(), 1138);
  EXPECT_EQ(bus.numEntries(), 4054);
  EXPECT_EQ(bus.graph.entries(1), 4);
  EXPECT_EQ(bus.values(1), -9.017133);
  const Matrix steam = ainvil::readMatrixMarket((folder / "steam2.mtx.gz").string());
  EXPECT_EQ(steam.numRows(), 600);
  EXPECT_EQ(steam.numEntries(), 13760);
}

} // namespace
