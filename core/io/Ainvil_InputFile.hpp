// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Files that are read from beginning to end.

#include "backend/Ainvil_Allocation.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace ainvil {

/// The bytes of a file, or of a pipe or device until it ends, one piece after the other, so that
/// memory is needed for what a reader keeps and not for what a file holds. Compression is
/// recognised by content, not by name: where a file begins with gzip members they are unpacked, one
/// behind the other. Behind them may be zeros, with which tapes and disks fill their blocks, and
/// nothing else.
///
/// \throws FileError from all functions, with the name of the file, if it cannot be read, or its
/// gzip data is truncated, damaged or followed by something else
class InputFile {
public:
  /// Opens the file and reads its beginning.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const; ///< as it was given
  /// The next size bytes, fewer only at the end of the file. Returns how many.
  std::size_t read(char* to, std::size_t size);
  /// The first bytes of the unpacked file, at most 16, whatever was read since.
  std::string_view beginning() const;
  /// To be called before telling that what was read makes no sense: damage that only the checksum
  /// at the end of gzip data reveals is the better explanation, so this reads on to there, within
  /// reason. \throws FileError if it finds any
  void checkRest();

private:
  struct Implementation; // keeps zlib out of headers
  std::unique_ptr<Implementation> implementation_;
};

namespace detail {

/// work(), which reads that file. \throws OutOfMemory, with the name of the file, too
template <class Work>
auto readingFile(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(message(error.what(), " (while reading '", name, "')"));
  } catch (const std::bad_alloc&) {
    rethrowOutOfMemory(message("reading '", name, "'"));
  }
}

} // namespace detail
} // namespace ainvil
