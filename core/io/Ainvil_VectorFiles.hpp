// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Vectors in files of several formats.

#include "Ainvil_Types.hpp"

#include <string>

namespace ainvil {

/// Reads a vector of n scalars. What the file begins with, not its name, tells its format; each may
/// be gzip-compressed.
/// * Matrix Market: see readMatrixMarketVector().
/// * NumPy's .npy, versions 1 to 3 (numpy.lib.format): an array of the shape (n,) or (n, 1) of
///   little-endian numbers in double or single precision, '<f8' or '<f4'.
/// * Anything else is text with one number a line. Blank lines and those that begin with # or % are
///   passed over, lines may end in CRLF, and exponents may be written with D.
///
/// Memory is bounded by the numbers that are there, whatever number is announced. Kokkos must be
/// initialized. Time O(bytes); peak memory is 24 bytes a number, for Matrix Market as there.
/// \throws FileError with the name of the file if it cannot be read, or, with the line of a text or
/// the number of the entry, if it holds something else, NaN or Inf; OutOfMemory with the name
Vector<double, HostDevice> readVector(const std::string& path);

/// The same for one or more columns: a Matrix Market file is a matrix, of which a coordinate file
/// leaves out zeros; files of the other formats have one column. \throws FileError, OutOfMemory as
/// readVector() and readMatrixMarket()
MultiVector<double, HostDevice> readColumns(const std::string& path);

} // namespace ainvil
