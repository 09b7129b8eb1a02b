// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_Files.hpp"

#include "Ainvil_Error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

namespace ainvil {
namespace {

namespace fs = std::filesystem;

using GzFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;
constexpr size_t zlib_chunk = size_t(1) << 30; // zlib counts in 32 bits

/// In the folder of `target`, so that renaming does not copy. The name of the file is in it where
/// that does not make it too long.
std::string temporaryName(const fs::path& target) {
  constexpr size_t longest = 255; // of file systems today, in bytes
  const std::string ending = ".part" + std::to_string(getpid());
  std::string name = target.filename().string();
  if (name.size() + ending.size() > longest)
    name = std::to_string(std::hash<std::string>()(name));
  return (target.parent_path() / (name + ending)).string();
}

/// Whether a stream of this process writes to the file. Replaced, it would take what is written to
/// the stream along.
bool isSameFile(const struct stat& file, int stream) {
  struct stat info = {};
  return fstat(stream, &info) == 0 && info.st_dev == file.st_dev && info.st_ino == file.st_ino;
}

[[noreturn]] void failToWrite(const std::string& path) {
  throw FileError(message("cannot write '", path, "': ", std::strerror(errno)));
}

/// Refuses what is there already and cannot be written, or must not be.
void checkTarget(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT)
      failToWrite(path);
    return;
  }
  if (!S_ISREG(info.st_mode) && !isStream(path))
    throw FileError(message("cannot write '", path, "': expected a new or a regular file, a pipe ",
                            "or a device like /dev/null"));
  if (!S_ISCHR(info.st_mode) &&
      (isSameFile(info, STDOUT_FILENO) || isSameFile(info, STDERR_FILENO)))
    throw FileError(message("cannot write '", path, "': the program's own output goes there"));
  if (!S_ISREG(info.st_mode) && access(path.c_str(), W_OK) != 0)
    failToWrite(path);
}

/// The descriptor of a stream. Waits until somebody reads a pipe that has a name. One that has none
/// (/dev/fd/63 is what a shell makes of >(command)) has been left by its reader.
int openStream(const std::string& path) {
  constexpr int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC;
  int stream = open(path.c_str(), flags | O_NONBLOCK);
  if (stream >= 0) {
    fcntl(stream, F_SETFL, flags);
  } else if (errno == ENXIO) {
    std::error_code error;
    const bool is_nameless = fs::read_symlink(path, error).string().rfind("pipe:", 0) == 0;
    stream = is_nameless ? -1 : open(path.c_str(), flags);
    if (is_nameless)
      errno = EPIPE;
  }
  if (stream < 0)
    failToWrite(path);
  return stream;
}

/// A descriptor that is written to; compressed if the name `path`, under which the user knows it,
/// ends in `.gz`.
class OpenFile {
public:
  OpenFile(std::string path, int descriptor) : path_(std::move(path)) {
    const bool is_gzip = path_.size() >= 3 && path_.compare(path_.size() - 3, 3, ".gz") == 0;
    file_.reset(descriptor < 0 ? nullptr : gzdopen(descriptor, is_gzip ? "wb1" : "wbT"));
    if (file_ == nullptr)
      failToWrite(path_);
  }

  void write(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const auto size = static_cast<unsigned>(std::min(bytes.size() - done, zlib_chunk));
      if (gzwrite(file_.get(), &bytes[done], size) <= 0)
        failToWrite(path_);
      done += size;
    }
  }

  void close() {
    if (gzclose(file_.release()) != Z_OK)
      failToWrite(path_);
  }

private:
  std::string path_;
  GzFile file_{nullptr, gzclose};
};

/// The temporary file beside a file that is written; gone with the object unless it has replaced
/// that file.
class PartFile {
public:
  explicit PartFile(const std::string& path)
      : path_(path), target_(resolvedPath(path)), part_(temporaryName(target_)) {
    std::remove(part_.c_str()); // one that a killed program of the same number left
    // Nothing may be there, not even a link, which would be followed.
    file_ = std::make_unique<OpenFile>(
        path, open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  }
  ~PartFile() {
    if (file_ != nullptr) {
      file_.reset();
      std::remove(part_.c_str());
    }
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(const std::string& bytes) { file_->write(bytes); }

  void replaceTarget() {
    file_->close();
    if (std::rename(part_.c_str(), target_.c_str()) != 0)
      failToWrite(path_);
    file_.reset();
  }

private:
  std::string path_, target_, part_;
  std::unique_ptr<OpenFile> file_;
};

} // namespace

std::string resolvedPath(const std::string& path) {
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  constexpr int most_links = 40; // as Linux
  for (int links = 0; links <= most_links && fs::is_symlink(target, error); ++links)
    target = target.parent_path() / fs::read_symlink(target, error);
  const fs::path canonical = fs::weakly_canonical(target, error);
  return error ? path : canonical.string();
}

bool isStream(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode));
}

void writeFile(const std::string& path, const std::string& bytes) {
  checkTarget(path);
  if (isStream(path)) {
    OpenFile stream(path, openStream(path));
    stream.write(bytes);
    stream.close();
    return;
  }
  PartFile part(path);
  part.write(bytes);
  part.replaceTarget();
}

void checkWritable(const std::string& path) {
  checkTarget(path);
  if (!isStream(path)) // opening a pipe would wait for its reader
    PartFile part(path);
}

GrowingFile::~GrowingFile() {
  if (stream_ >= 0)
    close(stream_);
}

void GrowingFile::update(const std::string& text) {
  if (stream_ < 0 && !isStream(path_)) {
    writeFile(path_, text);
    return;
  }
  if (stream_ < 0) {
    checkTarget(path_);
    stream_ = openStream(path_);
  }
  while (sent_ < text.size()) {
    const ssize_t written = ::write(stream_, &text[sent_], text.size() - sent_);
    if (written < 0 && errno != EINTR)
      failToWrite(path_);
    sent_ += static_cast<size_t>(std::max<ssize_t>(written, 0));
  }
}

} // namespace ainvil
