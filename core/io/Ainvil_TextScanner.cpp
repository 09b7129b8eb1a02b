// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_TextScanner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <system_error>

namespace ainvil {
namespace detail {
namespace {

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

} // namespace

TextScanner::TextScanner(std::string_view text, const std::string& name, std::string_view comments)
    : name_(name), comments_(comments), pos_(text.data()), begin_(pos_), end_(pos_ + text.size()) {}

TextScanner::TextScanner(InputFile& file, std::string_view comments)
    : name_(file.path()), comments_(comments), file_(&file), buffer_(longest_line),
      read_end_(buffer_.data()) {
  pos_ = begin_ = end_ = read_end_;
  refill();
}

/// The next lines of the file, as many as there is room for. False at its end. The position is at
/// the end of those before.
bool TextScanner::refill() {
  if (file_ == nullptr)
    return false;
  char* const first = buffer_.data();
  dropped_ += end_ - begin_;
  read_end_ = std::copy(const_cast<char*>(end_), read_end_, first);
  const size_t room = buffer_.size() - static_cast<size_t>(read_end_ - first);
  const size_t got = file_->read(read_end_, room);
  read_end_ += got;
  pos_ = first;
  end_ = read_end_;
  if (got == room) { // perhaps not the end of the file
    while (end_ != first && end_[-1] != '\n')
      --end_;
    if (end_ == first)
      fail("expected lines of at most ", longest_line, " bytes, but found a longer one");
  }
  return end_ != first;
}

bool TextScanner::isWordEnd(const char* p) const {
  return p == end_ || isBlank(*p) || *p == '\n';
}

void TextScanner::skipBlanks() {
  while (pos_ != end_ && isBlank(*pos_))
    ++pos_;
}

void TextScanner::nextLine() {
  pos_ = std::find(pos_, end_, '\n');
  if (pos_ != end_) {
    ++pos_;
    ++line_;
  }
}

bool TextScanner::findLine() {
  for (;;) {
    skipBlanks();
    if (pos_ == end_) {
      if (!refill())
        return false;
    } else if (*pos_ == '\n' || comments_.find(*pos_) != std::string_view::npos) {
      nextLine();
    } else {
      return true;
    }
  }
}

void TextScanner::endLine() {
  skipBlanks();
  if (pos_ != end_ && *pos_ != '\n')
    failExpected("the end of the line");
  nextLine();
}

std::string_view TextScanner::peek() {
  skipBlanks();
  const char* last = pos_;
  while (!isWordEnd(last))
    ++last;
  return {pos_, static_cast<size_t>(last - pos_)};
}

/// The next word, for messages.
std::string TextScanner::found() {
  std::string word(peek().substr(0, 40));
  if (word.empty())
    return pos_ == end_ ? "the end of the file" : "the end of the line";
  for (char& c : word)
    c = ' ' < c && c <= '~' ? c : '?';
  return "'" + word + "'";
}

Offset TextScanner::integer(const char* what, Offset low, Offset high) {
  skipBlanks();
  Offset value = 0;
  const auto [next, error] = std::from_chars(pos_, end_, value);
  if (error != std::errc() || !isWordEnd(next) || value < low || value > high)
    failExpected(what, " from ", low, " to ", high);
  pos_ = next;
  return value;
}

double TextScanner::real(bool is_integer) {
  skipBlanks();
  double value = 0;
  auto [next, error] = std::from_chars(pos_, end_, value);
  if (error != std::errc() || !isWordEnd(next) || !std::isfinite(value)) {
    // A leading plus, a Fortran exponent and an underflow are rare enough for a stream.
    std::string word(peek());
    next = pos_ + word.size();
    std::replace(word.begin(), word.end(), 'd', 'e');
    std::replace(word.begin(), word.end(), 'D', 'e');
    std::istringstream stream(word);
    stream.imbue(std::locale::classic());
    if (!(stream >> value) || !stream.eof())
      failExpected("a finite number in the range of double");
  }
  if (is_integer && std::any_of(pos_, next, [](char c) { return c > '9' || c == '.'; }))
    failExpected("an integer");
  pos_ = next;
  return value;
}

} // namespace detail
} // namespace ainvil
