// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Fuzzes the arrays of block CSR matrices: whatever sets something up from a matrix refuses an
/// invalid one with InvalidArgument, and works on a valid one without reading beyond its arrays.

#include "fuzz/FuzzSupport.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_LinearOperator.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Partition.hpp"
#include "Ainvil_Scaling.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace {

using namespace ainvil;
using fuzz::Bytes;
using fuzz::require;
using Device = DefaultDevice;
using Matrix = BsrMatrix<double, Device>;
using HostVector = Vector<double, Device>;

const Device::execution_space exec;

/// Columns cost nothing as long as nobody asks for a vector or a row map of that size.
constexpr Offset max_vector = 1 << 20;

/// Small numbers, and the ends of a type.
template <class Integer>
Integer integer(Bytes& bytes) {
  const auto value = static_cast<std::int8_t>(bytes.byte());
  return value == -128  ? std::numeric_limits<Integer>::min()
         : value == 127 ? std::numeric_limits<Integer>::max()
                        : Integer(value);
}

double number(Bytes& bytes) {
  const auto value = static_cast<std::int8_t>(bytes.byte());
  return value == -128  ? std::numeric_limits<double>::quiet_NaN()
         : value == 127 ? std::numeric_limits<double>::infinity()
         : value == 126 ? std::numeric_limits<double>::max()
         : value == 125 ? std::numeric_limits<double>::min()
                        : value / 8.0;
}

/// Arrays of exactly the size that is claimed, so that the address sanitizer sees what is read
/// beyond them, on either side.
struct Arrays {
  Ordinal rows, cols;
  int block_size;
  unsigned action; ///< what a valid matrix is used for
  std::vector<Offset> row_map;
  std::vector<Ordinal> entries;
  std::vector<double> values;

  explicit Arrays(Bytes& bytes) {
    rows = integer<Ordinal>(bytes);
    cols = integer<Ordinal>(bytes);
    block_size = integer<int>(bytes);
    action = bytes.byte();
    // An array is not always of the size that the others ask for.
    row_map.resize(std::min<size_t>(bytes.byte(), bytes.left()));
    for (Offset& offset : row_map)
      offset = integer<Offset>(bytes);
    entries.resize(std::min<size_t>(bytes.byte(), bytes.left()));
    for (Ordinal& column : entries)
      column = integer<Ordinal>(bytes);
    const int extra = static_cast<std::int8_t>(bytes.byte());
    const Offset bs = std::min(std::max(block_size, 0), 100);
    values.resize(std::max<Offset>(0, Offset(entries.size()) * bs * bs + extra));
    for (double& value : values)
      value = number(bytes);
    row_map.shrink_to_fit();
    entries.shrink_to_fit();
    values.shrink_to_fit();
  }

  Matrix matrix() {
    return {Graph<Device>(rows, cols,
                          Kokkos::View<const Offset*, Device>(row_map.data(), row_map.size()),
                          Kokkos::View<const Ordinal*, Device>(entries.data(), entries.size())),
            Kokkos::View<double*, Device>(values.data(), values.size()), block_size};
  }

  /// What validate() says in its own words.
  bool isValid() const {
    if (row_map.front() != 0 || row_map.back() != Offset(entries.size()))
      return false;
    for (size_t i = 1; i < row_map.size(); ++i)
      if (row_map[i - 1] > row_map[i])
        return false;
    for (const Ordinal column : entries)
      if (column < 0 || column >= cols)
        return false;
    return true;
  }
};

HostVector ones(Offset n) {
  const HostVector x("x", n);
  Kokkos::deep_copy(x, 1.0);
  return x;
}

void multiply(const Matrix& a) {
  const MatrixOperator<double, Device> product(a);
  if (product.numPointCols() > max_vector)
    return;
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const bool plain = trans == Trans::No;
    const HostVector x = ones(plain ? product.numPointCols() : product.numPointRows());
    const HostVector y = ones(plain ? product.numPointRows() : product.numPointCols());
    product.apply(exec, asColumn(x), asColumn(y), trans, 2.0, 1.0);
  }
}

void precondition(const Matrix& a, const std::string& specification) {
  const auto m = createPreconditioner<double, Device>(specification);
  m->initialize(exec, a);
  m->compute(exec, a);
  const HostVector x = ones(m->numPointRows()), y = ones(m->numPointRows());
  for (const Trans trans : {Trans::No, Trans::Yes})
    m->apply(exec, x, y, trans);
}

void useKokkosKernels(const Matrix& a) {
  using Crs = KokkosSparse::CrsMatrix<double, Ordinal, Device, void, Offset>;
  const Kokkos::View<Ordinal*, Device> entries("entries", a.graph.entries.extent(0));
  Kokkos::deep_copy(entries, a.graph.entries);
  const Kokkos::View<double*, Device> values("values", entries.extent(0));
  const Crs::staticcrsgraph_type graph(entries, a.graph.row_map);
  fromKokkos(exec, Crs("crs", a.numCols(), values, graph));
}

using Action = std::function<void(const Matrix&)>;

/// Everything that sets something up from a matrix.
std::vector<Action> allActions() {
  std::vector<Action> actions = {
      [](const Matrix& a) { toBlocks(exec, a, 2 * a.block_size); },
      [](const Matrix& a) { toBlocks(exec, a.graph, 3); },
      [](const Matrix& a) { toPoints(exec, a.graph, a.block_size); },
      [](const Matrix& a) { scalingFactors(exec, a, ScalingRule::Diagonal); },
      [](const Matrix& a) { scalingFactors(exec, a, ScalingRule::ColumnNorm); },
      [](const Matrix& a) { ordering(Ordering::Natural, a.graph); },
      [](const Matrix& a) { reverseCuthillMcKee(a.graph); },
      [](const Matrix& a) { nestedDissection(a.graph); },
      [](const Matrix& a) { partition(a.graph, 2); },
      [](const Matrix& a) { permuted(exec, identityPermutation<Device>(exec, a.numRows()), a); },
      multiply,
      useKokkosKernels};
  for (const char* specification :
       {"ilu:breakdown=replace", "ilu:level=2,breakdown=shift", "ilu:iterative=2,breakdown=replace",
        "ilu:solve=isai,power=2,breakdown=replace",
        "ilu:solve=isai,side=columns,relax=auto,breakdown=replace",
        "ilu:solve=jacobi,breakdown=replace", "ilu:solve=async,breakdown=replace",
        "ilu:storage=float,breakdown=replace", "jacobi", "jacobi:variant=point,breakdown=replace",
        "ic", "ic:breakdown=replace", "fsai:breakdown=replace", "fsai:adaptive=2,breakdown=shift",
        "ainv:breakdown=replace", "ainv:symmetric=no,order=rcm,breakdown=replace",
        "ainv:variant=bainv,parts=2,breakdown=shift", "ainv:blocks=yes,breakdown=replace",
        "ainv:blocks=yes,symmetric=no,breakdown=shift"})
    actions.push_back([=](const Matrix& a) { precondition(a, specification); });
  return actions;
}

/// Runs what may throw Error, but must throw it if the matrix is not valid.
void run(const Action& action, const Matrix& a, bool valid) {
  try {
    action(a);
    require(valid, "an invalid matrix was taken");
  } catch (const Error& error) {
    fuzz::requireSentence(error.what());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Action> actions = allActions();
  Bytes bytes(data, size);
  Arrays arrays(bytes);
  Matrix a;
  try {
    a = arrays.matrix();
  } catch (const InvalidArgument& error) {
    fuzz::requireSentence(error.what());
    return 0;
  }
  const bool valid = arrays.isValid();
  run([](const Matrix& b) { validate(exec, b.graph); }, a, valid);
  // Refusals are cheap; of what takes the matrix, one action at a time.
  for (size_t k = 0; k < actions.size(); ++k)
    if (!valid || k == arrays.action % actions.size())
      run(actions[k], a, valid);
  if (valid && a.numCols() <= max_vector) {
    const Graph<Device> transposed = transpose(exec, a.graph).graph;
    validate(exec, transposed);
    require(transposed.numEntries() == a.numEntries(), "entries were lost");
  }
  return 0;
}
