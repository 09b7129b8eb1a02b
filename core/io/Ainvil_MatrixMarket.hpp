// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Matrix Market files (Boisvert, Pozo, Remington, NIST IR 5935, 1996), plain or gzip-compressed.
///
/// Read are `matrix coordinate` and `matrix array`, with the fields `real`, `double`, `integer` and
/// `pattern` (every entry 1.0) and the symmetries `general`, `symmetric` and `skew-symmetric` (both
/// expanded). Comment and blank lines may stand anywhere below the banner, lines may end in CRLF,
/// exponents may be written with D, and a banner with one '%' instead of two is taken, because such
/// files circulate. Values too small for a double become denormal or zero; explicit zeros are kept.
/// An array must be general. Compression is recognised by content, not by name; behind gzip data
/// nothing but zeros may follow. Pipes and devices are read until they end.
///
/// Everything else is a FileError whose sentence names the file, the line, what was expected and
/// what was found there. Memory is bounded by the entries that are there: nothing is allocated for
/// numbers that are only announced. A line may have 2^20 bytes. Empty rows are legal, so there may
/// be 2^24 rows and columns, and 16 more a byte of the uncompressed text. Where memory ends,
/// OutOfMemory names the file, too.
///
/// Files are read and written on the calling thread, whatever the locale. Kokkos must be
/// initialized.

#include "Ainvil_BsrMatrix.hpp"
#include "io/Ainvil_InputFile.hpp"

#include <string>
#include <string_view>

namespace ainvil {

/// Reads a matrix: block size 1, columns strictly ascending in each row, duplicate entries summed
/// in the order of the file. A dense (array) file gives a matrix with every entry stored.
/// Time O(bytes + entries + rows + columns), without comparison sorting; peak memory is 48 bytes an
/// entry and 8 bytes a row and column.
BsrMatrix<double, HostDevice> readMatrixMarket(const std::string& path);

/// Reads a vector: a matrix of n rows and exactly one column, n scalars. What a coordinate file
/// leaves out is zero.
Vector<double, HostDevice> readMatrixMarketVector(const std::string& path);

/// The same for uncompressed text in memory. `name` stands for the file in messages.
BsrMatrix<double, HostDevice> parseMatrixMarket(std::string_view text, const std::string& name);
/// Likewise for a vector.
Vector<double, HostDevice> parseMatrixMarketVector(std::string_view text, const std::string& name);

namespace detail {
/// As readMatrixMarketVector(), of a file that is open, with nothing read yet.
Vector<double, HostDevice> readMatrixMarketVector(InputFile& file);
} // namespace detail

/// Writes `coordinate real general`, a block matrix as its point entries, row by row in storage
/// order, explicit zeros included. Numbers have the fewest digits, at most 17, that read back to
/// exactly the same double. A path that ends in `.gz` is compressed. Every line of `comment`
/// becomes a comment line below the banner.
///
/// The graph must be valid. The file is there with all of its text or not at all: see writeFile().
/// \throws FileError as writeFile(), and InvalidArgument if a value is not finite, since no reader
/// would take it; nothing is touched then
void writeMatrixMarket(const std::string& path, const BsrMatrix<double, HostDevice>& a,
                       const std::string& comment = {});

/// Writes columns of n scalars as an n x k `array real general`, under the same rules.
void writeMatrixMarket(const std::string& path, const MultiVector<double, HostDevice>& x,
                       const std::string& comment = {});

/// Writes a vector of n scalars as an n x 1 `array real general`, under the same rules.
void writeMatrixMarket(const std::string& path, const Vector<double, HostDevice>& x,
                       const std::string& comment = {});

} // namespace ainvil
