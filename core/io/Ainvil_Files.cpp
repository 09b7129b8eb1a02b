// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_Files.hpp"

#include "Ainvil_Error.hpp"

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

/// The temporary file beside a file that is written; gone with the object unless it has replaced
/// that file.
class PartFile {
public:
  explicit PartFile(const std::string& path) : path_(path), target_(resolvedPath(path)) {
    struct stat info = {};
    if (stat(path.c_str(), &info) == 0) {
      if (!S_ISREG(info.st_mode))
        throw FileError(message("cannot write '", path, "': expected a new or a regular file"));
      if (isSameFile(info, STDOUT_FILENO) || isSameFile(info, STDERR_FILENO))
        throw FileError(message("cannot write '", path, "': the program's own output goes there"));
    } else if (errno != ENOENT) {
      fail();
    }
    part_ = temporaryName(target_);
    // One that a killed program of the same number left. The new one must not exist ("x"), so that
    // a link that somebody puts there is not followed.
    std::remove(part_.c_str());
    const bool is_gzip = path.size() >= 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
    file_.reset(gzopen(part_.c_str(), is_gzip ? "wbx1" : "wbxT"));
    if (file_ == nullptr)
      fail();
    exists_ = true;
  }
  ~PartFile() {
    file_.reset();
    if (exists_)
      std::remove(part_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const auto size = static_cast<unsigned>(std::min(bytes.size() - done, zlib_chunk));
      if (gzwrite(file_.get(), &bytes[done], size) <= 0)
        fail();
      done += size;
    }
  }

  void replaceTarget() {
    if (gzclose(file_.release()) != Z_OK || std::rename(part_.c_str(), target_.c_str()) != 0)
      fail();
    exists_ = false;
  }

private:
  [[noreturn]] void fail() const {
    throw FileError(message("cannot write '", path_, "': ", std::strerror(errno)));
  }

  std::string path_, target_, part_;
  bool exists_ = false;
  GzFile file_{nullptr, gzclose};
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

void writeFile(const std::string& path, const std::string& bytes) {
  PartFile part(path);
  part.write(bytes);
  part.replaceTarget();
}

void checkWritable(const std::string& path) {
  PartFile part(path);
}

} // namespace ainvil
