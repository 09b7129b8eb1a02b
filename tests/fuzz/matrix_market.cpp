// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Fuzzes the Matrix Market reader with text: a FileError of one sentence, or a valid, sorted,
/// finite matrix no larger than the text allows.

#include "fuzz/FuzzSupport.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

namespace {

using namespace ainvil;
using fuzz::require;

const HostDevice::execution_space exec;

/// Calls a reader, and says what it says.
template <class Reader>
bool isRead(const Reader& reader) {
  try {
    reader();
    return true;
  } catch (const FileError& error) {
    fuzz::requireSentence(error.what());
    require(std::string(error.what()).find("'in.mtx'") == 0, error.what());
    return false;
  }
}

void readMatrix(std::string_view text) {
  const auto a = parseMatrixMarket(text, "in.mtx");
  if (a.numRows() <= fuzz::many_rows) {
    validate(exec, a.graph);
    require(isSorted(exec, a.graph), "rows are not sorted");
  }
  require(countNonFinite<double, HostDevice>(exec, a.values) == 0, "values are not finite");
  const Offset bytes = text.size();
  require(2 * a.numEntries() <= bytes, "more entries than the text can hold");
  require(std::max(a.numRows(), a.numCols()) <= 16 * bytes + (1 << 24), "too many rows or columns");
}

void readVector(std::string_view text) {
  const auto x = parseMatrixMarketVector(text, "in.mtx");
  if (Offset(x.extent(0)) > fuzz::many_rows)
    return;
  require(countNonFinite<double, HostDevice>(exec, x) == 0, "values are not finite");
  require(Offset(x.extent(0)) == parseMatrixMarket(text, "in.mtx").numRows(), "another size");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_matrix = isRead([&] { readMatrix(text); });
  const bool is_vector = isRead([&] { readVector(text); });
  require(is_matrix || !is_vector, "a vector, but not a matrix");
  return 0;
}
