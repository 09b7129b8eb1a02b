// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_MatrixMarket.hpp"

#include "Ainvil_Files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <tuple>
#include <vector>

namespace ainvil {
namespace {

/// A position in the text that moves over the words of a line and from line to line. The line
/// number is counted only when a message needs it.
class Scanner {
public:
  Scanner(std::string_view text, const std::string& name)
      : begin_(text.data()), end_(begin_ + text.size()), pos_(begin_), name_(name) {}

  template <class... Args>
  [[noreturn]] void fail(const Args&... args) const {
    const Offset line = 1 + std::count(begin_, pos_, '\n');
    throw FileError(message("'", name_, "', line ", line, ": ", args...));
  }

  /// Fails at the next word.
  template <class... Args>
  [[noreturn]] void failExpected(const Args&... expected) {
    std::string found(peek().substr(0, 40));
    for (char& c : found)
      c = ' ' < c && c <= '~' ? c : '?';
    if (!found.empty())
      found = "'" + found + "'";
    else
      found = pos_ == end_ ? "the end of the file" : "the end of the line";
    fail("expected ", expected..., ", but found ", found);
  }

  Offset bytesLeft() const { return end_ - pos_; }

  /// Goes to the next line, this one included, that is neither blank nor a comment; false if none.
  bool findLine() {
    for (skipBlanks(); pos_ != end_ && (*pos_ == '\n' || *pos_ == '%'); skipBlanks()) {
      pos_ = std::find(pos_, end_, '\n');
      pos_ += pos_ != end_;
    }
    return pos_ != end_;
  }

  void endLine() {
    skipBlanks();
    if (pos_ != end_ && *pos_ != '\n')
      failExpected("the end of the line");
    pos_ += pos_ != end_;
  }

  /// Takes the first word.
  void banner() {
    const std::string word = lowerCase(peek());
    if (word != "%%matrixmarket" && word != "%matrixmarket")
      failExpected("a file that begins with %%MatrixMarket");
    pos_ += word.size();
  }

  /// Takes the next word, which is in a blank-separated list, and returns it in lower case.
  std::string keyword(const char* what, const std::string& list) {
    const std::string word = lowerCase(peek());
    if (word == "complex" || word == "hermitian")
      fail(word, " matrices are not supported, expected ", what, ", one of: ", list);
    if ((" " + list + " ").find(" " + word + " ") == std::string::npos)
      failExpected(what, list.find(' ') == std::string::npos ? " " : ", one of: ", list);
    pos_ += word.size();
    return word;
  }

  /// Takes the next word as an integer in [low, high].
  Offset integer(const char* what, Offset low, Offset high) {
    skipBlanks();
    Offset value = 0;
    const auto [next, error] = std::from_chars(pos_, end_, value);
    if (error != std::errc() || !isWordEnd(next) || value < low || value > high)
      failExpected(what, " from ", low, " to ", high);
    pos_ = next;
    return value;
  }

  /// Takes the next word as a finite number, one without fraction and exponent if so wanted.
  double real(bool is_integer) {
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

private:
  static std::string lowerCase(std::string_view word) {
    std::string lower(word);
    for (char& c : lower)
      c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
  }

  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  bool isWordEnd(const char* p) const { return p == end_ || isBlank(*p) || *p == '\n'; }

  void skipBlanks() {
    while (pos_ != end_ && isBlank(*pos_))
      ++pos_;
  }

  /// The next word of the line, empty if there is none.
  std::string_view peek() {
    skipBlanks();
    const char* last = pos_;
    while (!isWordEnd(last))
      ++last;
    return {pos_, static_cast<size_t>(last - pos_)};
  }

  const char* begin_;
  const char* end_;
  const char* pos_;
  const std::string& name_;
};

struct Entry {
  Ordinal row, col;
  double value;
};

struct Triplets {
  Ordinal num_rows = 0, num_cols = 0;
  std::vector<Entry> entries;
};

/// Entries as the file lists them, symmetric ones expanded.
Triplets parseTriplets(std::string_view text, const std::string& name, bool is_vector) {
  Scanner scan(text, name);
  scan.banner();
  scan.keyword("the object", "matrix");
  const bool is_array = scan.keyword("the format", "coordinate array") == "array";
  const std::string field = scan.keyword("the field", "real double integer pattern");
  const std::string symmetry = scan.keyword("the symmetry", "general symmetric skew-symmetric");
  const bool is_pattern = field == "pattern", is_integer = field == "integer";
  const bool is_general = symmetry == "general", is_skew = symmetry == "skew-symmetric";
  if (is_array ? is_pattern || !is_general : is_pattern && is_skew)
    scan.fail("expected general real values, but found ", field, " ", symmetry, " in a",
              is_array ? "n array" : " coordinate", " file, which is not supported");
  scan.endLine();

  scan.findLine();
  constexpr Offset max_ordinal = std::numeric_limits<Ordinal>::max();
  const Offset rows = scan.integer("the number of rows", 0, max_ordinal);
  const Offset cols = scan.integer("the number of columns", 0, max_ordinal);
  const Offset count =
      is_array ? rows * cols : scan.integer("the number of entries", 0, Offset(1) << 60);
  if (is_vector && cols != 1)
    scan.fail("expected a vector, that is 1 column, but found ", cols, " columns");
  if (!is_general && rows != cols)
    scan.fail("expected as many rows as columns in a ", symmetry, " matrix, but found ", rows,
              " rows and ", cols, " columns");
  // The newline of this line stands for the one that may be missing at the end of the file.
  const Offset bytes = scan.bytesLeft(), shortest_line = is_array ? 2 : is_pattern ? 4 : 6;
  if (count > bytes / shortest_line)
    scan.fail("expected ", count, " entries, but found only ", bytes, " more bytes, room for ",
              bytes / shortest_line, ": the file is not complete, or its size line is wrong");
  if (count > 0 && (rows == 0 || cols == 0))
    scan.fail("expected no entries in a matrix of ", rows, " rows and ", cols,
              " columns, but found the number ", count);
  // Empty rows are legal, yet one line of text must not claim a row map of 16 GiB.
  const Offset max_size = 16 * bytes + (Offset(1) << 24);
  if (std::max(rows, cols) > max_size)
    scan.fail("expected at most ", max_size, " rows and columns in a file this small, but found ",
              rows, " rows and ", cols, " columns");
  scan.endLine();

  Triplets a{static_cast<Ordinal>(rows), static_cast<Ordinal>(cols), {}};
  a.entries.reserve(static_cast<size_t>(is_general ? count : 2 * count));
  for (Offset e = 0; e < count; ++e) {
    if (!scan.findLine())
      scan.failExpected("entry ", e + 1, " of ", count);
    const Offset row = is_array ? e % rows : scan.integer("a row index", 1, rows) - 1;
    const Offset col = is_array ? e / rows : scan.integer("a column index", 1, cols) - 1;
    const double value = is_pattern ? 1.0 : scan.real(is_integer);
    if (!is_general && (row < col || (is_skew && row == col && value != 0)))
      scan.fail("expected a ", symmetry, " matrix to list only its lower triangle",
                is_skew ? " with a zero diagonal" : "", ", but found row ", row + 1, ", column ",
                col + 1);
    scan.endLine();
    const Entry entry{static_cast<Ordinal>(row), static_cast<Ordinal>(col), value};
    a.entries.push_back(entry);
    if (!is_general && row != col)
      a.entries.push_back({entry.col, entry.row, is_skew ? -value : value});
  }
  if (scan.findLine())
    scan.failExpected("the end of the file after entry ", count, " of ", count);
  return a;
}

/// Stable counting sort by one index.
std::vector<Entry> sortedBy(Ordinal Entry::*key, Ordinal size, const std::vector<Entry>& entries) {
  std::vector<size_t> next(static_cast<size_t>(size) + 1, 0);
  for (const Entry& e : entries)
    ++next[static_cast<size_t>(e.*key) + 1];
  for (size_t k = 1; k < next.size(); ++k)
    next[k] += next[k - 1];
  std::vector<Entry> sorted(entries.size());
  for (const Entry& e : entries)
    sorted[next[static_cast<size_t>(e.*key)]++] = e;
  return sorted;
}

/// Sorts by row and column and sums duplicates.
Triplets normalized(Triplets a, const std::string& name) {
  const auto less = [](const Entry& x, const Entry& y) {
    return std::tie(x.row, x.col) < std::tie(y.row, y.col);
  };
  if (!std::is_sorted(a.entries.begin(), a.entries.end(), less)) {
    a.entries = sortedBy(&Entry::col, a.num_cols, a.entries);
    a.entries = sortedBy(&Entry::row, a.num_rows, a.entries);
  }
  auto last = a.entries.begin();
  for (const Entry& e : a.entries)
    if (last == a.entries.begin() || less(*(last - 1), e))
      *last++ = e;
    else if (!std::isfinite((last - 1)->value += e.value))
      throw FileError(message("'", name,
                              "': expected a finite sum of the duplicate entries in row ",
                              e.row + 1, ", column ", e.col + 1, ", but it overflows"));
  a.entries.erase(last, a.entries.end());
  return a;
}

template <class View>
View onHost(const std::string& label, size_t extent) {
  return allocateView<View>(HostDevice::execution_space(), label, extent);
}

template <class Number>
void append(std::string& text, Number value, char separator) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  text.push_back(separator);
}

void appendFinite(std::string& text, double value, Offset row) {
  if (!std::isfinite(value))
    throw InvalidArgument(message("cannot write a Matrix Market file with the value ", value,
                                  " in row ", row, ", expected finite values"));
  append(text, value, '\n');
}

std::string header(const char* format, const std::string& comment) {
  std::string text = message("%%MatrixMarket matrix ", format, " real general\n");
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);)
    text += "% " + line + "\n";
  return text;
}

} // namespace

BsrMatrix<double, HostDevice> parseMatrixMarket(std::string_view text, const std::string& name) {
  const Triplets a = normalized(parseTriplets(text, name, false), name);
  const size_t rows = static_cast<size_t>(a.num_rows), nnz = a.entries.size();
  const auto row_map = onHost<Kokkos::View<Offset*, HostDevice>>("Ainvil::row_map", rows + 1);
  const auto entries = onHost<Kokkos::View<Ordinal*, HostDevice>>("Ainvil::entries", nnz);
  const auto values = onHost<Kokkos::View<double*, HostDevice>>("Ainvil::values", nnz);
  size_t k = 0;
  for (size_t i = 0; i < rows; ++i) {
    row_map(i) = static_cast<Offset>(k);
    for (; k < nnz && a.entries[k].row == static_cast<Ordinal>(i); ++k) {
      entries(k) = a.entries[k].col;
      values(k) = a.entries[k].value;
    }
  }
  row_map(rows) = static_cast<Offset>(nnz);
  return {Graph<HostDevice>(a.num_rows, a.num_cols, row_map, entries), values, 1};
}

Vector<double, HostDevice> parseMatrixMarketVector(std::string_view text, const std::string& name) {
  const Triplets a = normalized(parseTriplets(text, name, true), name);
  const auto rows = static_cast<size_t>(a.num_rows);
  const auto x = onHost<Vector<double, HostDevice>>("Ainvil::vector", rows);
  std::fill_n(x.data(), rows, 0.0);
  for (const Entry& e : a.entries)
    x(e.row) = e.value;
  return x;
}

BsrMatrix<double, HostDevice> readMatrixMarket(const std::string& path) {
  return parseMatrixMarket(readFile(path), path);
}

Vector<double, HostDevice> readMatrixMarketVector(const std::string& path) {
  return parseMatrixMarketVector(readFile(path), path);
}

void writeMatrixMarket(const std::string& path, const BsrMatrix<double, HostDevice>& a,
                       const std::string& comment) {
  std::string text = header("coordinate", comment);
  append(text, a.numPointRows(), ' ');
  append(text, a.numPointCols(), ' ');
  append(text, a.numScalars(), '\n');
  const int b = a.block_size;
  for (Offset row = 0; row < a.numPointRows(); ++row)
    for (Offset e = a.graph.row_map(row / b); e < a.graph.row_map(row / b + 1); ++e)
      for (int c = 0; c < b; ++c) {
        append(text, row + 1, ' ');
        append(text, Offset(a.graph.entries(e)) * b + c + 1, ' ');
        appendFinite(text, a.values((e * b + row % b) * b + c), row + 1);
      }
  writeFile(path, text);
}

void writeMatrixMarket(const std::string& path, const Vector<double, HostDevice>& x,
                       const std::string& comment) {
  std::string text = header("array", comment);
  append(text, x.extent(0), ' ');
  append(text, 1, '\n');
  for (size_t i = 0; i < x.extent(0); ++i)
    appendFinite(text, x(i), static_cast<Offset>(i) + 1);
  writeFile(path, text);
}

} // namespace ainvil
