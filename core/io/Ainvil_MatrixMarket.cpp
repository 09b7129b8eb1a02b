// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_MatrixMarket.hpp"

#include "io/Ainvil_Files.hpp"
#include "io/Ainvil_TextScanner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <tuple>
#include <vector>

namespace ainvil {
namespace {

using detail::TextScanner;

std::string lowerCase(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// Takes the first word.
void banner(TextScanner& scan) {
  const std::string word = lowerCase(scan.peek());
  if (word != "%%matrixmarket" && word != "%matrixmarket")
    scan.failExpected("a file that begins with %%MatrixMarket");
  scan.skip();
}

/// Takes the next word, which is in a blank-separated list, and returns it in lower case.
std::string keyword(TextScanner& scan, const char* what, const std::string& list) {
  const std::string word = lowerCase(scan.peek());
  if (word == "complex" || word == "hermitian")
    scan.fail(word, " matrices are not supported, expected ", what, ", one of: ", list);
  if ((" " + list + " ").find(" " + word + " ") == std::string::npos)
    scan.failExpected(what, list.find(' ') == std::string::npos ? " " : ", one of: ", list);
  scan.skip();
  return word;
}

struct Entry {
  Ordinal row, col;
  double value;
};

struct Triplets {
  Ordinal num_rows = 0, num_cols = 0;
  std::vector<Entry> entries;
};

/// Entries as the file lists them, symmetric ones expanded.
Triplets parseTriplets(TextScanner& scan, bool is_vector) {
  banner(scan);
  keyword(scan, "the object", "matrix");
  const bool is_array = keyword(scan, "the format", "coordinate array") == "array";
  const std::string field = keyword(scan, "the field", "real double integer pattern");
  const std::string symmetry = keyword(scan, "the symmetry", "general symmetric skew-symmetric");
  const bool is_pattern = field == "pattern", is_integer = field == "integer";
  const bool is_general = symmetry == "general", is_skew = symmetry == "skew-symmetric";
  if (is_array ? is_pattern || !is_general : is_pattern && is_skew)
    scan.fail("expected general real values, but found ", field, " ", symmetry, " in a",
              is_array ? "n array" : " coordinate", " file, which is not supported");
  scan.endLine();

  scan.findLine();
  constexpr Offset max_ordinal = std::numeric_limits<Ordinal>::max();
  const Offset size_line = scan.line();
  const Offset rows = scan.integer("the number of rows", 0, max_ordinal);
  const Offset cols = scan.integer("the number of columns", 0, max_ordinal);
  const Offset count =
      is_array ? rows * cols : scan.integer("the number of entries", 0, Offset(1) << 60);
  if (is_vector && cols != 1)
    scan.fail("expected a vector, that is 1 column, but found ", cols, " columns");
  if (!is_general && rows != cols)
    scan.fail("expected as many rows as columns in a ", symmetry, " matrix, but found ", rows,
              " rows and ", cols, " columns");
  if (count > 0 && (rows == 0 || cols == 0))
    scan.fail("expected no entries in a matrix of ", rows, " rows and ", cols,
              " columns, but found the number ", count);
  scan.endLine();

  // Nothing is allocated for what is announced, only for entries that are there.
  const Offset header_bytes = scan.bytesRead();
  Triplets a{static_cast<Ordinal>(rows), static_cast<Ordinal>(cols), {}};
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
  // Empty rows are legal, yet one line of text must not claim a row map of 16 GiB.
  const Offset max_size = 16 * (scan.bytesRead() - header_bytes) + (Offset(1) << 24);
  if (std::max(rows, cols) > max_size)
    scan.failAt(size_line, "expected at most ", max_size,
                " rows and columns in a file this small, but found ", rows, " rows and ", cols,
                " columns");
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

/// Entry k of the sorted ones, and where the rows begin that begin with it. Threads write parts of
/// the arrays, so that on machines with several memories each has some: a page lies with the thread
/// that writes it first.
struct StoreEntry {
  const Entry* from;
  size_t nnz;
  Offset* row_map;
  Ordinal* entries;
  double* values;
  Ordinal num_rows;

  void operator()(const size_t k) const { // k = nnz: the end
    const Offset first = k > 0 ? Offset(from[k - 1].row) + 1 : 0;
    const Offset last = k < nnz ? from[k].row : num_rows;
    for (Offset row = first; row <= last; ++row)
      row_map[row] = static_cast<Offset>(k);
    if (k < nnz) {
      entries[k] = from[k].col;
      values[k] = from[k].value;
    }
  }
};

BsrMatrix<double, HostDevice> matrixOf(TextScanner& scan, const std::string& name) {
  const Triplets a = normalized(parseTriplets(scan, false), name);
  const size_t rows = static_cast<size_t>(a.num_rows), nnz = a.entries.size();
  const auto row_map = onHost<Kokkos::View<Offset*, HostDevice>>("Ainvil::row_map", rows + 1);
  const auto entries = onHost<Kokkos::View<Ordinal*, HostDevice>>("Ainvil::entries", nnz);
  const auto values = onHost<Kokkos::View<double*, HostDevice>>("Ainvil::values", nnz);
  using Exec = HostDevice::execution_space;
  const Exec exec;
  Kokkos::parallel_for(
      "Ainvil::readMatrixMarket",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<size_t>>(exec, 0, nnz + 1),
      StoreEntry{a.entries.data(), nnz, row_map.data(), entries.data(), values.data(), a.num_rows});
  compat::fence(exec, "Ainvil::readMatrixMarket");
  return {Graph<HostDevice>(a.num_rows, a.num_cols, row_map, entries), values, 1};
}

Vector<double, HostDevice> vectorOf(TextScanner& scan, const std::string& name) {
  const Triplets a = normalized(parseTriplets(scan, true), name);
  const auto rows = static_cast<size_t>(a.num_rows);
  const auto x = onHost<Vector<double, HostDevice>>("Ainvil::vector", rows);
  std::fill_n(x.data(), rows, 0.0);
  for (const Entry& e : a.entries)
    x(e.row) = e.value;
  return x;
}

std::string textOf(const BsrMatrix<double, HostDevice>& a, const std::string& comment) {
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
  return text;
}

std::string textOf(const MultiVectorArg<const double, HostDevice>& x, const std::string& comment) {
  std::string text = header("array", comment);
  append(text, x.extent(0), ' ');
  append(text, x.extent(1), '\n');
  for (size_t c = 0; c < x.extent(1); ++c)
    for (size_t i = 0; i < x.extent(0); ++i)
      appendFinite(text, x(i, c), static_cast<Offset>(i) + 1);
  return text;
}

constexpr const char* comments = "%";

} // namespace

BsrMatrix<double, HostDevice> parseMatrixMarket(std::string_view text, const std::string& name) {
  return detail::readingFile(name, [&] {
    TextScanner scan(text, name, comments);
    return matrixOf(scan, name);
  });
}

Vector<double, HostDevice> parseMatrixMarketVector(std::string_view text, const std::string& name) {
  return detail::readingFile(name, [&] {
    TextScanner scan(text, name, comments);
    return vectorOf(scan, name);
  });
}

BsrMatrix<double, HostDevice> readMatrixMarket(const std::string& path) {
  return detail::readingFile(path, [&] {
    InputFile file(path);
    TextScanner scan(file, comments);
    return matrixOf(scan, path);
  });
}

Vector<double, HostDevice> readMatrixMarketVector(const std::string& path) {
  return detail::readingFile(path, [&] {
    InputFile file(path);
    return detail::readMatrixMarketVector(file);
  });
}

Vector<double, HostDevice> detail::readMatrixMarketVector(InputFile& file) {
  TextScanner scan(file, comments);
  return vectorOf(scan, file.path());
}

void writeMatrixMarket(const std::string& path, const BsrMatrix<double, HostDevice>& a,
                       const std::string& comment) {
  detail::reportingOutOfMemory(message("writing '", path, "'"),
                               [&] { writeFile(path, textOf(a, comment)); });
}

void writeMatrixMarket(const std::string& path, const MultiVector<double, HostDevice>& x,
                       const std::string& comment) {
  detail::reportingOutOfMemory(message("writing '", path, "'"),
                               [&] { writeFile(path, textOf(x, comment)); });
}

void writeMatrixMarket(const std::string& path, const Vector<double, HostDevice>& x,
                       const std::string& comment) {
  using Column = MultiVectorArg<const double, HostDevice>;
  detail::reportingOutOfMemory(message("writing '", path, "'"), [&] {
    writeFile(path, textOf(Column(x.data(), x.extent(0), 1), comment));
  });
}

} // namespace ainvil
