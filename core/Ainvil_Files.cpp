// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Files.hpp"

#include "Ainvil_Error.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ainvil {
namespace {

using GzFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;
constexpr size_t zlib_chunk = size_t(1) << 30; // zlib counts in 32 bits

/// Opens the temporary file for `path`. One that a killed program of the same number left is taken
/// away first, and a link that somebody else put there is not followed.
GzFile openPart(const std::string& path, const std::string& part) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw FileError(message("cannot write '", path, "': expected a new or a regular file"));
  std::remove(part.c_str());
  const bool is_gzip = path.size() >= 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  GzFile file(gzopen(part.c_str(), is_gzip ? "wbx1" : "wbxT"), gzclose);
  if (file == nullptr)
    throw FileError(message("cannot write '", path, "': ", std::strerror(errno)));
  return file;
}

std::string temporaryName(const std::string& path) {
  return path + ".part" + std::to_string(getpid());
}

} // namespace

std::string readFile(const std::string& path) {
  const auto check = [&](bool ok) {
    if (!ok)
      throw FileError(message("cannot read '", path, "': ", std::strerror(errno)));
  };
  struct stat info = {};
  check(stat(path.c_str(), &info) == 0);
  const GzFile file(gzopen(path.c_str(), "rb"), gzclose);
  check(file != nullptr);
  gzbuffer(file.get(), 1 << 18);

  // The size is a hint, since pipes have none; one byte more meets the end without growing.
  std::string bytes(static_cast<size_t>(std::max<off_t>(info.st_size + 1, 1 << 16)), '\0');
  size_t used = 0;
  while (true) {
    const size_t room = std::min(bytes.size() - used, zlib_chunk);
    const int got = gzread(file.get(), &bytes[used], static_cast<unsigned>(room));
    if (got <= 0)
      break;
    used += static_cast<size_t>(got);
    if (used == bytes.size())
      bytes.resize(2 * bytes.size());
  }
  int code = Z_OK;
  const char* reason = gzerror(file.get(), &code);
  check(code != Z_ERRNO);
  if (code != Z_OK) // zlib's reason starts with the path
    throw FileError(message("truncated or damaged gzip data after ", used,
                            " uncompressed bytes in ", reason,
                            ", so copy or download the file again"));
  bytes.resize(used);
  return bytes;
}

void writeFile(const std::string& path, const std::string& bytes) {
  const std::string part = temporaryName(path);
  GzFile file = openPart(path, part);
  bool ok = true;
  for (size_t done = 0; ok && done < bytes.size();) {
    const auto size = static_cast<unsigned>(std::min(bytes.size() - done, zlib_chunk));
    ok = gzwrite(file.get(), &bytes[done], size) > 0;
    done += size;
  }
  ok = ok && gzclose(file.release()) == Z_OK && std::rename(part.c_str(), path.c_str()) == 0;
  if (!ok) {
    const std::string reason = std::strerror(errno);
    file.reset();
    std::remove(part.c_str());
    throw FileError(message("cannot write '", path, "': ", reason));
  }
}

void checkWritable(const std::string& path) {
  const std::string part = temporaryName(path);
  openPart(path, part);
  std::remove(part.c_str());
}

} // namespace ainvil
