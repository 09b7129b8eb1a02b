// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_VectorFiles.hpp"

#include "io/Ainvil_MatrixMarket.hpp"
#include "io/Ainvil_TextScanner.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ainvil {
namespace {

using HostVector = Vector<double, HostDevice>;

constexpr std::string_view npy_magic = "\x93NUMPY";

HostVector viewOf(const std::vector<double>& values) {
  const auto x =
      allocateView<HostVector>(HostDevice::execution_space(), "Ainvil::vector", values.size());
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

/// In capitals or not.
bool beginsWith(const InputFile& file, std::string_view text) {
  const std::string_view start = file.beginning().substr(0, text.size());
  return std::equal(
      start.begin(), start.end(), text.begin(), text.end(),
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

std::vector<double> numbersOfText(InputFile& file) {
  detail::TextScanner scan(file, "#%");
  std::vector<double> values;
  while (scan.findLine()) {
    values.push_back(scan.real(false));
    scan.endLine();
  }
  return values;
}

/// A file in NumPy's format: the magic string, two bytes of version, the length of the header in 2
/// bytes (version 1) or 4, the header, which is a dictionary of Python as text, and the numbers.
class NpyReader {
public:
  explicit NpyReader(InputFile& file) : file_(file) {}

  std::vector<double> numbers() {
    readHeader();
    const auto size = static_cast<size_t>(item_size_);
    std::vector<double> values;
    std::vector<char> bytes(size << 15);
    for (Offset left = count_; left > 0;) {
      const Offset wanted = std::min<Offset>(left, Offset(1) << 15);
      const size_t got = file_.read(bytes.data(), static_cast<size_t>(wanted) * size) / size;
      for (size_t k = 0; k < got; ++k)
        values.push_back(finite(number(&bytes[k * size]), values.size()));
      if (Offset(got) < wanted)
        fail("expected ", count_, " numbers, but the file ends after ", values.size());
      left -= wanted;
    }
    if (file_.read(bytes.data(), 1) > 0)
      fail("expected the end of the file after ", count_, " numbers, but there is more");
    return values;
  }

private:
  template <class... Args>
  [[noreturn]] void fail(const Args&... args) {
    file_.checkRest();
    throw FileError(message("'", file_.path(), "': ", args...));
  }

  std::string take(size_t size) {
    std::string bytes(size, '\0');
    if (file_.read(bytes.data(), size) < size)
      fail("the header of NumPy's format is cut off");
    return bytes;
  }

  void readHeader() {
    const std::string start = take(npy_magic.size() + 2);
    const int version = static_cast<unsigned char>(start[npy_magic.size()]);
    if (version < 1 || version > 3)
      fail("expected NumPy's format in version 1, 2 or 3, but found ", version);
    size_t length = 0;
    const std::string digits = take(version == 1 ? 2 : 4); // the lowest first
    for (size_t k = digits.size(); k-- > 0;)
      length = 256 * length + static_cast<unsigned char>(digits[k]);
    constexpr size_t longest = 1 << 16;
    if (length > longest)
      fail("expected a header of at most ", longest, " bytes, but found ", length);
    const std::string header = take(length);

    const std::string type = valueOf(header, "'descr'");
    if (type != "'<f8'" && type != "'<f4'")
      fail("expected numbers of the type '<f8' or '<f4', but found ", type);
    item_size_ = type[3] - '0';
    const std::string order = valueOf(header, "'fortran_order'"); // of a column says nothing
    if (order != "True" && order != "False")
      fail("expected True or False for 'fortran_order', but found ", order);
    readShape(valueOf(header, "'shape'"));
  }

  /// What stands behind a key, up to the comma or bracket that ends it.
  std::string valueOf(const std::string& header, const std::string& key) {
    size_t begin = header.find(key);
    begin = begin == std::string::npos ? begin : header.find(':', begin + key.size());
    begin = begin == std::string::npos ? begin : header.find_first_not_of(": ", begin);
    if (begin == std::string::npos)
      fail("expected ", key, " in the header of NumPy's format, but it is not there");
    size_t end = header.find_first_of(header[begin] == '(' ? ")" : ",}", begin);
    if (end != std::string::npos && header[end] == ')')
      ++end;
    std::string value = header.substr(begin, std::min<size_t>(end - begin, 40));
    for (char& c : value)
      c = ' ' <= c && c <= '~' ? c : '?';
    return value;
  }

  /// (n,) or (n, 1)
  void readShape(const std::string& shape) {
    const char* next = shape.data();
    const char* const end = next + shape.size();
    const auto skip = [&](char c) {
      while (next != end && *next == ' ')
        ++next;
      const bool found = next != end && *next == c;
      next += found;
      return found;
    };
    const auto integer = [&](Offset& value) {
      skip(' ');
      const auto [behind, error] = std::from_chars(next, end, value);
      next = behind;
      return error == std::errc() && value >= 0;
    };
    Offset columns = 1;
    bool ok = skip('(') && integer(count_) && skip(',');
    if (ok && !skip(')')) {
      ok = integer(columns) && columns == 1;
      skip(',');
      ok = ok && skip(')');
    }
    if (!ok)
      fail("expected an array of the shape (n,) or (n, 1), but found ", shape);
  }

  double number(const char* bytes) const {
    std::uint64_t bits = 0;
    for (int k = item_size_; k-- > 0;)
      bits = 256 * bits + static_cast<unsigned char>(bytes[k]);
    if (item_size_ == 8) {
      double value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    const auto bits32 = static_cast<std::uint32_t>(bits);
    float value;
    std::memcpy(&value, &bits32, sizeof(value));
    return value;
  }

  double finite(double value, size_t index) {
    if (!std::isfinite(value))
      fail("expected finite numbers, but entry ", index + 1, " (counted from 1) is ", value);
    return value;
  }

  InputFile& file_;
  int item_size_ = 8; ///< bytes of a number
  Offset count_ = 0;
};

} // namespace

MultiVector<double, HostDevice> readColumns(const std::string& path) {
  using Columns = MultiVector<double, HostDevice>;
  const HostDevice::execution_space exec;
  const bool is_matrix = detail::readingFile(path, [&] {
    const InputFile file(path);
    return beginsWith(file, "%%MatrixMarket") || beginsWith(file, "%MatrixMarket");
  });
  if (!is_matrix) {
    const HostVector x = readVector(path);
    const auto columns = allocateView<Columns>(exec, "Ainvil::vector", x.extent(0), size_t(1));
    std::copy_n(x.data(), x.extent(0), columns.data());
    return columns;
  }
  const BsrMatrix<double, HostDevice> a = readMatrixMarket(path);
  const auto columns =
      allocateView<Columns>(exec, "Ainvil::vector", size_t(a.numRows()), size_t(a.numCols()));
  Kokkos::deep_copy(columns, 0.0);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      columns(i, a.graph.entries(e)) = a.values(e);
  return columns;
}

Vector<double, HostDevice> readVector(const std::string& path) {
  return detail::readingFile(path, [&] {
    InputFile file(path);
    if (beginsWith(file, npy_magic))
      return viewOf(NpyReader(file).numbers());
    if (beginsWith(file, "%%MatrixMarket") || beginsWith(file, "%MatrixMarket"))
      return detail::readMatrixMarketVector(file);
    return viewOf(numbersOfText(file));
  });
}

} // namespace ainvil
