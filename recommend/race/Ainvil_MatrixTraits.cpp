// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_MatrixTraits.hpp"

#include "graph/Ainvil_Symmetry.hpp"
#include "graph/Ainvil_WeakDiagonals.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace detail {
namespace {

/// Diagonals, block by block row.
template <class Scalar>
void lookAtRows(const BsrMatrix<Scalar, HostDevice>& a, MatrixTraits& traits) {
  const int bs = a.block_size;
  traits.positive_diagonal = true;
  for (Ordinal row = 0; row < a.numRows(); ++row) {
    const Offset begin = a.graph.row_map(row), end = a.graph.row_map(row + 1);
    traits.longest_row = std::max(traits.longest_row, (end - begin) * bs);
    for (int r = 0; r < bs; ++r) {
      double diagonal = 0, others = 0;
      for (Offset e = begin; e < end; ++e)
        for (int c = 0; c < bs; ++c) {
          const double value = a.values((e * bs + r) * bs + c);
          if (a.graph.entries(e) == row && r == c)
            diagonal = value;
          else
            others += std::fabs(value);
        }
      traits.positive_diagonal = traits.positive_diagonal && diagonal > 0;
      traits.dominant_rows += std::fabs(diagonal) >= others * (1 - 1e-12) ? 1 : 0;
    }
  }
}

/// Blocks of this size that hold an entry.
template <class Device>
Offset countBlocks(const Graph<Device>& graph, int size) {
  std::vector<Ordinal> last(graph.num_cols / size, -1);
  Offset count = 0;
  for (Ordinal row = 0; row < graph.num_rows; ++row)
    for (Offset e = graph.row_map(row); e < graph.row_map(row + 1); ++e) {
      Ordinal& seen = last[graph.entries(e) / size];
      count += seen == row / size ? 0 : 1;
      seen = row / size;
    }
  return count;
}

template <class Device>
int naturalBlockSize(const Graph<Device>& graph) {
  constexpr double full = 0.7; // what is stored besides is zeros
  for (int size = 8; size > 1; --size)
    if (graph.num_rows % size == 0 && graph.num_rows > size &&
        double(graph.numEntries()) >= full * size * size * double(countBlocks(graph, size)))
      return size;
  return 1;
}

template <class Device>
double fillProducts(const Graph<Device>& graph) {
  std::vector<double> below(graph.num_rows), right(graph.num_rows);
  for (Ordinal row = 0; row < graph.num_rows; ++row)
    for (Offset e = graph.row_map(row); e < graph.row_map(row + 1); ++e) {
      const Ordinal column = graph.entries(e);
      below[column] += column < row ? 1 : 0;
      right[row] += column > row ? 1 : 0;
    }
  double products = 0;
  for (Ordinal k = 0; k < graph.num_rows; ++k)
    products += below[k] * right[k];
  return products / std::max(1.0, double(graph.numEntries()));
}

} // namespace

std::vector<std::string> MatrixTraits::text() const {
  std::vector<std::string> lines;
  const auto percent = [&](Offset part) {
    return static_cast<int>(std::floor(100.0 * double(part) / double(std::max<Offset>(rows, 1))));
  };
  lines.push_back(message(rows, " rows, ", entries, " entries, ",
                          double(entries * 10 / std::max<Offset>(rows, 1)) / 10,
                          " a row, the longest has ", longest_row));
  lines.push_back(!symmetric           ? "not symmetric"
                  : !positive_diagonal ? "symmetric, the diagonal not positive"
                  : indefinite         ? "symmetric, but indefinite (CG found p.A p <= 0)"
                                       : "symmetric with a positive diagonal, not seen to be "
                                         "indefinite by a few steps of CG");
  lines.push_back(message(percent(dominant_rows), " % of the rows are diagonally dominant"));
  if (weak_diagonals > 0)
    lines.push_back(message("the diagonal is zero to rounding in ", weak_diagonals, " rows"));
  if (natural_block_size > 1 && block_size == 1)
    lines.push_back(message("entries fill blocks of size ", natural_block_size));
  return lines;
}

template <class Scalar, class Device>
MatrixTraits traitsOf(const typename Device::execution_space& exec,
                      const BsrMatrix<Scalar, Device>& a) {
  MatrixTraits traits;
  traits.rows = a.numPointRows();
  traits.entries = a.numScalars();
  traits.block_size = traits.natural_block_size = a.block_size;
  const auto on_host = copyTo<HostDevice>(a);
  lookAtRows(on_host, traits);
  traits.weak_diagonals = countWeakDiagonals(on_host);
  traits.symmetric =
      countAsymmetric<Scalar, Device>(exec, a, symmetryRoom<Device>(exec, a.numRows())).blocks == 0;
  if (a.block_size == 1)
    traits.natural_block_size = naturalBlockSize(on_host.graph);
  traits.fill_products = fillProducts(on_host.graph);
  return traits;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template MatrixTraits traitsOf(const DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
