// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Jacobi.hpp"

#include "graph/Ainvil_RowSearch.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

#include <limits>

namespace ainvil {
namespace {

using detail::Range;

/// D_i^-1 for the diagonal block (or, with size 1 within larger blocks, scalar) i of A, one a
/// thread.
template <int BS, class Scalar, class Device>
struct InvertDiagonal {
  BsrMatrix<Scalar, Device> a;
  int size; ///< of the inverted blocks: the matrix's block size or 1
  Kokkos::View<Scalar*, Device> diagonal, inverse;
  Kokkos::View<int*, Device> pivots;
  Kokkos::View<Scalar*, Device> scales;
  detail::PivotInverter<Scalar, Device> inverter;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const int bs = a.block_size;
    const int per_block = bs / size;
    const Ordinal row = static_cast<Ordinal>(item / per_block);
    const int first = static_cast<int>(item - Offset(row) * per_block) * size;
    const Offset at =
        detail::findEntry(a.graph.entries, a.graph.row_map(row), a.graph.row_map(row + 1), row);
    Scalar* d = diagonal.data() + item * size * size;
    for (int r = 0; r < size; ++r)
      for (int c = 0; c < size; ++c)
        d[r * size + c] = at < 0 ? Scalar(0) : a.values((at * bs + first + r) * bs + first + c);
    inverter.template invert<BS>(row, size, d, inverter.row_sizes.data() + item * size,
                                 inverse.data() + item * size * size, pivots.data() + item * size,
                                 scales.data() + 2 * item * size);
  }
};

} // namespace

template <class Scalar, class Device>
Jacobi<Scalar, Device>::Jacobi(JacobiParameters parameters) : parameters_(parameters) {
  if (!(parameters_.shift > 0))
    throw InvalidArgument(message("the shift must be positive, but it is ", parameters_.shift));
  if (!(parameters_.pivot_tolerance >= 0))
    throw InvalidArgument(message("the pivot tolerance must not be negative, but it is ",
                                  parameters_.pivot_tolerance));
}

template <class Scalar, class Device>
const ParameterTable<JacobiParameters>& Jacobi<Scalar, Device>::parameterTable() {
  using P = JacobiParameters;
  const auto make = [] {
    ParameterTable<P> table;
    table
        .choice("variant", "jacobi: variant", &P::point,
                std::vector<std::pair<std::string, bool>>{{"block", false}, {"point", true}},
                "blocks of the matrix, or its scalar diagonal")
        .details("b^2 values a block row against b.")
        .describedBy({"variant"});
    detail::addPivots(table, "block", "eps (of double)");
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
std::string Jacobi<Scalar, Device>::description() const {
  return message("jacobi: {", parameterTable().describe(parameters_), "}");
}

template <class Scalar, class Device>
void Jacobi<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  detail::checkDiagonal(exec, a.graph, parameters_.breakdown);
  block_size_ = parameters_.point ? 1 : a.block_size;
  const Offset entries = a.numPointRows() * block_size_;
  diagonal_ = allocate<Scalar, Device>(exec, "Ainvil::diagonal", entries);
  inverse_ = allocate<Scalar, Device>(exec, "Ainvil::diagonal_inverse", entries);
  pivots_ = allocate<int, Device>(exec, "Ainvil::pivots", a.numPointRows());
  scales_ = allocate<Scalar, Device>(exec, "Ainvil::scales", 2 * a.numPointRows());
  // The diagonal is given, not computed: what rounding has left of it is that of whoever assembled
  // A, in double as a rule.
  pivot_inverter_ = detail::PivotInverter<Scalar, Device>(
      exec, parameters_.breakdown, parameters_.shift,
      parameters_.pivot_tolerance * std::numeric_limits<double>::epsilon(), a.numPointRows());
}

template <class Scalar, class Device>
void Jacobi<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.phases.time(exec, "Jacobi", "invert", [&] {
    pivot_inverter_.start(exec, a);
    detail::dispatchBlockSize(block_size_, [&](auto bs) {
      Kokkos::parallel_for(
          "Ainvil::Jacobi[invert]", Range<execution_space>(exec, 0, a.numPointRows() / block_size_),
          InvertDiagonal<decltype(bs)::value, Scalar, Device>{a, block_size_, diagonal_, inverse_,
                                                              pivots_, scales_, pivot_inverter_});
    });
    pivot_inverter_.check(exec, report_);
  });
  report_.factor_entries = static_cast<Offset>(inverse_.extent(0));
  report_.factor_bytes = report_.factor_entries * Offset(sizeof(Scalar));
}

template <class Scalar, class Device>
void Jacobi<Scalar, Device>::doApply(const execution_space& exec,
                                     MultiVectorArg<const Scalar, Device> x,
                                     MultiVectorArg<Scalar, Device> y, Trans trans) const {
  blockDiagonalProduct<Scalar, Scalar, Device>(exec, trans, Scalar(1), inverse_, block_size_, x,
                                               Scalar(0), y);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Jacobi<double, DEVICE>;                                                           \
  template class Jacobi<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
