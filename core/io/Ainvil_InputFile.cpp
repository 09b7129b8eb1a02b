// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_InputFile.hpp"

#include "Ainvil_Error.hpp"
#include "Ainvil_Types.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

namespace ainvil {

struct InputFile::Implementation {
  explicit Implementation(const std::string& file_path)
      : path(file_path), descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)), packed(chunk) {
    if (descriptor < 0)
      failToRead();
  }
  ~Implementation() {
    if (is_gzip)
      inflateEnd(&stream);
    close(descriptor);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[noreturn]] void failToRead() const {
    throw FileError(message("cannot read '", path, "': ", std::strerror(errno)));
  }
  [[noreturn]] void failToUnpack(const char* reason) const {
    throw FileError(message("truncated or damaged gzip data after ", num_unpacked,
                            " uncompressed bytes in '", path, "': ", reason,
                            ", so copy or download the file again"));
  }

  /// As InputFile::read(), of the bytes of the file as they are.
  size_t readPacked(Bytef* to, size_t size) {
    size_t done = 0;
    while (done < size && !is_exhausted) {
      const ssize_t got = ::read(descriptor, to + done, std::min(size - done, most_a_call));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        failToRead();
      is_exhausted = got == 0;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  /// Whether there are bytes to unpack; reads more if there are none at hand.
  bool refill() {
    if (stream.avail_in == 0) {
      stream.next_in = packed.data();
      stream.avail_in = static_cast<uInt>(readPacked(packed.data(), chunk));
    }
    return stream.avail_in > 0;
  }

  /// Finds out whether the file is a gzip file.
  void start() {
    stream.next_in = packed.data();
    stream.avail_in = static_cast<uInt>(readPacked(packed.data(), chunk));
    is_gzip = stream.avail_in >= 2 && packed[0] == 0x1f && packed[1] == 0x8b;
    constexpr int gzip_of_any_window = 15 + 16;
    if (is_gzip && inflateInit2(&stream, gzip_of_any_window) != Z_OK)
      throw std::bad_alloc();
  }

  /// Goes on to the next member of gzip data. False, if it was the last one.
  bool nextMember() {
    if (!refill())
      return false;
    if (*stream.next_in == 0x1f) { // if it is none, inflate() says so
      inflateReset(&stream);
      return true;
    }
    do {
      if (std::any_of(stream.next_in, stream.next_in + stream.avail_in,
                      [](Bytef byte) { return byte != 0; }))
        throw FileError(message("cannot read '", path, "': behind its gzip data is something ",
                                "else, so take that away, or copy or download the file again"));
      stream.avail_in = 0;
    } while (refill());
    return false;
  }

  size_t unpack(char* to, size_t size) {
    size_t done = 0;
    while (done < size && !at_end) {
      if (!refill())
        failToUnpack("unexpected end of file");
      stream.next_out = reinterpret_cast<Bytef*>(to + done);
      const size_t room = std::min(size - done, most_a_call);
      stream.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream, Z_NO_FLUSH);
      done += room - stream.avail_out;
      num_unpacked += static_cast<Offset>(room - stream.avail_out);
      if (code == Z_STREAM_END)
        at_end = !nextMember();
      else if (code == Z_MEM_ERROR)
        throw std::bad_alloc();
      else if (code != Z_OK && code != Z_BUF_ERROR)
        failToUnpack(stream.msg != nullptr ? stream.msg : "not in gzip format");
    }
    return done;
  }

  size_t read(char* to, size_t size) {
    if (is_gzip)
      return unpack(to, size);
    const size_t at_hand = std::min<size_t>(size, stream.avail_in);
    std::copy_n(stream.next_in, at_hand, to);
    stream.next_in += at_hand;
    stream.avail_in -= static_cast<uInt>(at_hand);
    return at_hand + readPacked(reinterpret_cast<Bytef*>(to + at_hand), size - at_hand);
  }

  static constexpr size_t chunk = size_t(1) << 18;
  static constexpr size_t most_a_call = size_t(1) << 30; ///< read() and zlib count in 31 bits

  std::string path;
  int descriptor;
  std::vector<Bytef> packed; ///< bytes of the file of which some are still to be read
  z_stream stream = {};      ///< the rest of them, also if they are not gzip data
  bool is_exhausted = false; ///< terminals would go on behind their end
  bool is_gzip = false, at_end = false;
  Offset num_unpacked = 0;
  char first[16];                      ///< bytes of the unpacked file
  size_t num_first = 0, num_taken = 0; ///< of these
};

InputFile::InputFile(const std::string& path)
    : implementation_(std::make_unique<Implementation>(path)) {
  Implementation& file = *implementation_;
  file.start();
  file.num_first = file.read(file.first, sizeof(file.first));
}

InputFile::~InputFile() = default;

const std::string& InputFile::path() const {
  return implementation_->path;
}

std::size_t InputFile::read(char* to, std::size_t size) {
  Implementation& file = *implementation_;
  const size_t at_hand = std::min(size, file.num_first - file.num_taken);
  std::copy_n(file.first + file.num_taken, at_hand, to);
  file.num_taken += at_hand;
  return at_hand + file.read(to + at_hand, size - at_hand);
}

std::string_view InputFile::beginning() const {
  return {implementation_->first, implementation_->num_first};
}

void InputFile::checkRest() {
  constexpr Offset within_reason = Offset(1) << 28; // 256 MiB, about a second
  Implementation& file = *implementation_;
  if (!file.is_gzip)
    return;
  std::vector<char> nowhere(Implementation::chunk);
  const Offset last = file.num_unpacked + within_reason;
  while (file.num_unpacked < last && read(nowhere.data(), nowhere.size()) == nowhere.size())
    ;
}

} // namespace ainvil
