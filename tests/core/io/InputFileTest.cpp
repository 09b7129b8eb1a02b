// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_InputFile.hpp"

#include "core/io/FilesSupport.hpp"
#include "io/Ainvil_Files.hpp"
#include "io/Ainvil_MatrixMarket.hpp"
#include "io/Ainvil_VectorFiles.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <random>

namespace ainvil {
namespace {

using namespace test;

TEST_F(Files, AreRefusedWhenUnreadable) {
  const std::string missing = path("missing");
  EXPECT_EQ(refusal([&] { readFile(missing); }),
            "cannot read '" + missing + "': No such file or directory");
  const std::string folder = folder_.string();
  EXPECT_EQ(refusal([&] { readFile(folder); }), "cannot read '" + folder + "': Is a directory");
}

TEST_F(Files, HaveNothingButZerosBehindGzipData) {
  writeFile(path("a.gz"), "text");
  const std::string packed = slurp(path("a.gz"));
  EXPECT_EQ(readFile(put("zeros.gz", packed + std::string(1 << 20, '\0'))), "text");
  EXPECT_EQ(readFile(put("two.gz", packed + packed)), "texttext");
  const std::string zeros(1 << 20, '\0');
  for (const std::string& garbage : {std::string("x"), std::string("\n"), zeros + "x", "x" + zeros,
                                     packed + "x", std::string("\0\x1f\x8b", 3)}) {
    const std::string file = put("b.gz", packed + garbage);
    EXPECT_EQ(refusal([&] { readFile(file); }),
              "cannot read '" + file +
                  "': behind its gzip data is something else, so take that "
                  "away, or copy or download the file again")
        << garbage.size();
  }
  const std::string cut = put("c.gz", packed + packed.substr(0, packed.size() - 1));
  EXPECT_EQ(refusal([&] { readFile(cut); }),
            "truncated or damaged gzip data after 8 uncompressed bytes in '" + cut +
                "': unexpected end of file, so copy or download the file again");
}

/// A number that cannot be read may be what damage has left of one: where the data is damaged, that
/// is told, be it far behind the number.
TEST_F(Files, AreDamagedRatherThanMisread) {
  std::mt19937 generator(5);
  std::string text = "%%MatrixMarket matrix array real general\n400000 1\nx\n";
  for (int k = 1; k < 400000; ++k)
    text += std::to_string(generator()) + "\n";
  writeFile(path("whole.gz"), text);
  const std::string packed = slurp(path("whole.gz"));
  const auto told = [&](const std::string& file) {
    return refusal([&] { readMatrixMarketVector(file); });
  };
  EXPECT_NE(told(path("whole.gz")).find("line 3: "), std::string::npos) << told(path("whole.gz"));
  const std::string cut = put("cut.gz", packed.substr(0, packed.size() - 1));
  EXPECT_EQ(told(cut), message("truncated or damaged gzip data after ", text.size(),
                               " uncompressed bytes in '", cut,
                               "': unexpected end of file, so copy or download the file again"));
}

/// Whatever is read as a matrix.
std::string refusalOfMatrix(const std::string& path) {
  return refusal([&] { readMatrixMarket(path); });
}

TEST_F(Files, MayBePipesAndDevices) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n";
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(path("pipe")) << text;
    _exit(0);
  }
  EXPECT_EQ(readMatrixMarket(path("pipe")).values(0), 5);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  const std::string no_banner = "line 1: expected a file that begins with %%MatrixMarket, but "
                                "found the end of the file";
  EXPECT_EQ(refusalOfMatrix("/dev/null"), "'/dev/null', " + no_banner);
  EXPECT_EQ(refusalOfMatrix("/dev/zero"),
            "'/dev/zero', line 1: expected lines of at most 1048576 bytes, but found a longer one");
}

/// Bytes of the address space that are taken.
rlim_t addressSpace() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// The address space may grow by so many bytes as long as it lives.
class AddressSpaceLimit {
public:
  explicit AddressSpaceLimit(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &old_);
    const rlimit small = {addressSpace() + bytes, old_.rlim_max};
    setrlimit(RLIMIT_AS, &small);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &old_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

private:
  rlimit old_;
};

/// Text that repeats `line`, gzip-compressed, after `head`.
std::string bomb(const std::string& head, const std::string& line, size_t bytes) {
  std::string text = head;
  while (text.size() < bytes)
    text += line;
  return text;
}

TEST_F(Files, CannotAskForMoreMemoryThanTheyFill) {
  if (addressSpace() > rlim_t(1) << 40)
    GTEST_SKIP() << "a sanitizer takes addresses of its own and ends the program without memory";
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  constexpr size_t size = size_t(1) << 27;
  const struct {
    const char* what;
    std::string head, line, reason;
  } cases[] = {
      {"announced entries", banner + "9 9 1000000000000\n", "",
       "line 3: expected entry 1 of "
       "1000000000000, but found the end of the file"},
      {"announced numbers", "%%MatrixMarket matrix array real general\n2000000000 2000000000\n", "",
       "line 3: expected entry 1 of 4000000000000000000, but found the end of the file"},
      {"blank lines", banner, "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
       "expected the number of rows"},
      {"comments", banner + "1 1 0\n", "% a comment that comes again and again\n", "no error"},
      {"a line without end", banner + "1 1 0\n", std::string(1 << 10, ' '),
       "line 3: expected lines of at most 1048576 bytes"},
      {"zeros", "", std::string(1 << 10, '\0'), "line 1: expected lines of at most 1048576 bytes"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    writeFile(path("bomb.gz"), c.line.empty() ? c.head : bomb(c.head, c.line, size));
    EXPECT_LT(fs::file_size(path("bomb.gz")), size / 100);
    const AddressSpaceLimit small(size / 4);
    EXPECT_NE(refusalOfMatrix(path("bomb.gz")).find(c.reason), std::string::npos)
        << refusalOfMatrix(path("bomb.gz"));
  }
}

TEST_F(Files, AreNamedWhereMemoryEnds) {
  if (addressSpace() > rlim_t(1) << 40)
    GTEST_SKIP() << "a sanitizer takes addresses of its own and ends the program without memory";
  writeFile(path("large.gz"),
            bomb("%%MatrixMarket matrix array real general\n16000000 1\n", "1\n", 32000000));
  writeFile(path("large.txt"), bomb("", "1\n", 32000000));
  const auto sentence = [](const auto& read) {
    const AddressSpaceLimit small(64 << 20);
    try {
      read();
      return std::string("no error");
    } catch (const OutOfMemory& error) {
      return std::string(error.what());
    }
  };
  for (const char* name : {"large.gz", "large.txt"}) {
    const std::string text = sentence([&] { readVector(path(name)); });
    EXPECT_EQ(text.rfind("out of memory: ", 0), 0u) << text;
    EXPECT_NE(text.find("'" + path(name) + "'"), std::string::npos) << text;
  }
  const std::string text = sentence([&] { readMatrixMarket(path("large.gz")); });
  EXPECT_NE(text.find("'" + path("large.gz") + "'"), std::string::npos) << text;
}

} // namespace
} // namespace ainvil
