// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Words and numbers of a text that is read line by line.

#include "Ainvil_Error.hpp"
#include "Ainvil_Types.hpp"
#include "io/Ainvil_InputFile.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ainvil {
namespace detail {

/// A position in a text in memory or in a file that moves over the words of a line and from line to
/// line. Of a file only some lines are in memory at a time, and a line that is longer than
/// `longest_line` is an error, so that no file can ask for more. All errors are a FileError with
/// the name of the file and the number of the line.
class TextScanner {
public:
  static constexpr std::size_t longest_line = std::size_t(1) << 20; ///< bytes, with its end

  /// Of a text that lives as long as the scanner, as does its name. Lines that begin with one of
  /// the characters of `comments` are passed over by findLine().
  TextScanner(std::string_view text, const std::string& name, std::string_view comments);
  /// Of a file of which nothing was read yet; it must live as long as the scanner.
  TextScanner(InputFile& file, std::string_view comments);

  /// Fails at the line of the position.
  template <class... Args>
  [[noreturn]] void fail(const Args&... args) const {
    failAt(line_, args...);
  }
  /// Fails at a line that was read before.
  template <class... Args>
  [[noreturn]] void failAt(Offset line, const Args&... args) const {
    if (file_ != nullptr)
      file_->checkRest();
    throw FileError(message("'", name_, "', line ", line, ": ", args...));
  }
  /// Fails at the next word.
  template <class... Args>
  [[noreturn]] void failExpected(const Args&... expected) {
    fail("expected ", expected..., ", but found ", found());
  }

  Offset line() const { return line_; } ///< counted from 1
  /// Bytes of the text before the position.
  Offset bytesRead() const { return dropped_ + (pos_ - begin_); }

  /// Goes to the next line, this one included, that is neither blank nor a comment; false if none.
  bool findLine();
  /// Goes behind the end of the line, where nothing but blanks may stand before it.
  void endLine();
  /// The next word of the line, empty if there is none.
  std::string_view peek();
  /// Goes behind the next word.
  void skip() { pos_ += peek().size(); }

  /// Takes the next word as an integer in [low, high].
  Offset integer(const char* what, Offset low, Offset high);
  /// Takes the next word as a finite number, one without fraction and exponent if so wanted.
  double real(bool is_integer);

private:
  bool isWordEnd(const char* p) const;
  void skipBlanks();
  void nextLine();
  bool refill();
  std::string found();

  const std::string& name_;
  std::string_view comments_;
  InputFile* file_ = nullptr;
  Offset line_ = 1;
  const char* pos_;
  const char* begin_;
  const char* end_;          ///< of a line, the last one in memory
  std::vector<char> buffer_; ///< of a file: whole lines up to end_, and the beginning of the next
  char* read_end_ = nullptr; ///< of what was read into it
  Offset dropped_ = 0;       ///< bytes that were in the buffer before
};

} // namespace detail
} // namespace ainvil
