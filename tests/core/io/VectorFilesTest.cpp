// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_VectorFiles.hpp"

#include "TestSupport.hpp"
#include "io/Ainvil_Files.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <sstream>

namespace ainvil {
namespace {

namespace fs = std::filesystem;

/// As NumPy writes it on a little-endian machine, with a header of the given version; header_bytes
/// is its length, 0 for NumPy's own.
template <class Number>
std::string npy(const std::vector<Number>& values, const std::string& shape, char version = 1,
                const std::string& order = "False", size_t header_bytes = 0) {
  const std::string type = sizeof(Number) == 8 ? "'<f8'" : "'<f4'";
  std::string header =
      "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(header_bytes > 0 ? header_bytes - 1 : (header.size() / 64 + 1) * 64 - 1, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k)
    bytes += static_cast<char>(header.size() >> (8 * k) & 255);
  bytes += header;
  const size_t begin = bytes.size();
  bytes.resize(begin + values.size() * sizeof(Number));
  if (!values.empty())
    std::memcpy(&bytes[begin], values.data(), values.size() * sizeof(Number));
  return bytes;
}

class VectorFiles : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  /// What is read from a file with these bytes, plain and compressed.
  std::vector<double> read(const std::string& bytes) const {
    const std::string plain = (folder_ / "b").string(), packed = plain + ".gz";
    writeFile(plain, bytes);
    writeFile(packed, bytes);
    const auto x = readVector(plain), y = readVector(packed);
    const std::vector<double> values(x.data(), x.data() + x.extent(0));
    EXPECT_EQ(values, std::vector<double>(y.data(), y.data() + y.extent(0)));
    return values;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("ainvil_vector_" + std::to_string(getpid()));
};

using Values = std::vector<double>;

TEST_F(VectorFiles, MayBeText) {
  const Values expected = {1, -2.5, 3e-7, 400};
  EXPECT_EQ(read("1\n-2.5\n3e-7\n400\n"), expected);
  EXPECT_EQ(read("  1 \r\n\r\n# NumPy writes such lines\n-2.5\n%x\n\t3D-7\n+400"), expected);
  EXPECT_EQ(read(""), Values());
  EXPECT_EQ(read("% MatrixMarket\n7\n"), Values{7}); // no banner, a comment
  EXPECT_EQ(read("0"), Values{0});
}

TEST_F(VectorFiles, MayBeMatrixMarket) {
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"), (Values{1, 2, 3}));
  EXPECT_EQ(read("%matrixmarket MATRIX coordinate real general\n3 1 1\n2 1 5\n"),
            (Values{0, 5, 0}));
}

TEST_F(VectorFiles, MayBeNumPyArrays) {
  const Values values = {1, -2.5, 1e300, 4.9e-324};
  for (const char version : {1, 2, 3})
    for (const char* shape : {"(4,)", "(4, 1)", "(4,1)", "( 4 , 1 , )"})
      for (const char* order : {"False", "True"})
        EXPECT_EQ(read(npy(values, shape, version, order)), values) << shape;
  EXPECT_EQ(read(npy(std::vector<float>{1.5f, -1e-40f}, "(2,)")), (Values{1.5, -1e-40f}));
  EXPECT_EQ(read(npy(Values(), "(0,)")), Values());
}

TEST_F(VectorFiles, HaveOneColumn) {
  const Values values = {1, 2};
  for (const char* shape : {"(2, 0)", "(2, 2)", "(2, 10)"})
    EXPECT_THROW(read(npy(values, shape)), FileError) << shape;
}

TEST_F(VectorFiles, MayHaveTheLongestHeaderThatIsAllowed) {
  const Values values = {1, 2};
  const size_t longest = 1 << 16;
  EXPECT_EQ(read(npy(values, "(2,)", 2, "False", longest)), values);
  EXPECT_THROW(read(npy(values, "(2,)", 2, "False", longest + 1)), FileError);
}

/// More than is in memory at a time, with lines that begin in one piece and end in the next.
TEST_F(VectorFiles, MayBeLong) {
  const Values values = test::Random(5).vector(300001);
  EXPECT_EQ(read(npy(values, "(300001,)")), values);
  std::ostringstream text;
  text.precision(17);
  for (const double value : values)
    text << value << "\n";
  ASSERT_GT(text.str().size(), size_t(5) << 20);
  EXPECT_EQ(read(text.str()), values);
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n300001 1\n" + text.str()), values);
  try {
    read(text.str() + "x\n");
    FAIL() << "not a number";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("line 300002: expected a finite number"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
} // namespace ainvil
