// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Fuzzes the Matrix Market reader with files. The first byte says what the others are: a file as
/// it is, or text that the target compresses, whole or in two gzip members, so that mutations reach
/// the text behind the checksum. What is read is written and read again.

#include "fuzz/FuzzSupport.hpp"

#include "io/Ainvil_MatrixMarket.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

namespace {

using namespace ainvil;
using fuzz::require;

/// A file in memory that has a path.
class MemoryFile {
public:
  explicit MemoryFile(const std::string& bytes) : descriptor_(memfd_create("ainvil", 0)) {
    require(write(descriptor_, bytes.data(), bytes.size()) == ssize_t(bytes.size()), "no memfd");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

/// A folder for files that are written, removed at the end of the program.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ainvil-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "no temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

std::string gzip(const std::string& text) {
  z_stream stream = {};
  require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct Outcome {
  BsrMatrix<double, HostDevice> matrix;
  std::string text; ///< the matrix, or what the reader says instead
  bool is_matrix = false;
};

template <class Reader>
Outcome outcomeOf(const Reader& reader) {
  try {
    const auto a = reader();
    if (a.numRows() > fuzz::many_rows)
      return {{}, "many rows", false};
    return {a, fuzz::show(a), true};
  } catch (const FileError& error) {
    fuzz::requireSentence(error.what());
    return {{}, error.what(), false};
  }
}

void writeAndReadAgain(const Outcome& read, const char* name) {
  static const Folder folder;
  const std::string copy = folder.file(name);
  writeMatrixMarket(copy, read.matrix, "a copy\nof the input");
  require(outcomeOf([&] { return readMatrixMarket(copy); }).text == read.text,
          "a copy reads differently");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const unsigned kind = data[0] % 3;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t middle = kind == 2 ? bytes.size() * data[0] / 256 : 0;
  const MemoryFile file(kind == 0   ? bytes
                        : kind == 1 ? gzip(bytes)
                                    : gzip(bytes.substr(0, middle)) + gzip(bytes.substr(middle)));
  const Outcome read = outcomeOf([&] { return readMatrixMarket(file.path()); });
  if (kind != 0)
    require(outcomeOf([&] { return parseMatrixMarket(bytes, file.path()); }).text == read.text,
            "compressed text reads differently");
  if (read.is_matrix)
    writeAndReadAgain(read, kind == 0 ? "copy.mtx" : "copy.mtx.gz");
  return 0;
}
