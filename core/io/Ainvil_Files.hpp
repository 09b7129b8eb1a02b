// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Files that are written whole or not at all, and streams, which take what comes.

#include <string>
#include <utility>

namespace ainvil {

/// The file that writing to `path` makes or replaces: absolute, without dots in place of folders,
/// and links followed, also where they lead to a file that is not there yet. Two paths lead to the
/// same file if this is the same. Where links lead in circles, or may not be read, it is `path`
/// itself.
std::string resolvedPath(const std::string& path);

/// Whether something is there that takes bytes one after the other and gives none back: a pipe, a
/// terminal, /dev/null.
bool isStream(const std::string& path);

/// Writes a file; compressed if `path` ends in `.gz`. A symbolic link of that name stays, and where
/// it leads is written. One thread at a time may write a path.
///
/// The bytes go to a temporary file in the folder of the file, its name + ".part" + process number
/// (with a number in place of a long name), which replaces the file once it is complete. So whoever
/// opens `path` finds what was there before or all of the new bytes, even if the disk is full or
/// the program is killed half-way. After an error the temporary file is gone; only a killed program
/// leaves it. Nothing is forced to the disk (no fsync): what a power failure leaves of a file just
/// written is up to the file system.
/// \throws FileError if the file cannot be written, if `path` is something but a regular file, or
/// if standard output or standard error go to that file
void writeFile(const std::string& path, const std::string& bytes);

/// Finds out before a long run whether writeFile() will be able to write this file; leaves it
/// alone. \throws FileError as writeFile()
void checkWritable(const std::string& path);

/// A text that grows while a program runs.
class GrowingFile {
public:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {} ///< opens nothing
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// The text is this from now on. A file holds it then, by writeFile(). A stream, opened by the
  /// first call, gets what the text is longer by; what it has had stays as it was.
  /// \throws FileError as writeFile()
  void update(const std::string& text);

private:
  std::string path_;
  size_t sent_ = 0; ///< bytes that a stream has had
  int stream_ = -1; ///< its descriptor
};

} // namespace ainvil
