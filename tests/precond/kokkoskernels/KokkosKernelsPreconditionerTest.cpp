// SPDX-License-Identifier: BSD-3-Clause
#include "kokkoskernels/Ainvil_KokkosKernelsPreconditioner.hpp"

// Kokkos Kernels before 4.0 has no solvers, and there is nothing to test.
#if __has_include(<KokkosSparse_Preconditioner.hpp>)

#include "Ainvil_Gmres.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_gmres.hpp>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Crs = KokkosSparse::CrsMatrix<double, Ordinal, Device, void, Offset>;
using Bsr = KokkosSparse::Experimental::BsrMatrix<double, Ordinal, Device, void, Offset>;

RandomOptions dominant() {
  RandomOptions options;
  options.dominant = true;
  return options;
}

Bsr inBlocks(const BsrMatrix<double, Device>& a) {
  const Kokkos::View<Ordinal*, Device> columns("columns", a.numEntries());
  Kokkos::deep_copy(columns, a.graph.entries);
  const typename Bsr::staticcrsgraph_type graph(columns, a.graph.row_map);
  return Bsr("Ainvil::test", a.numCols(), a.values, graph, a.block_size);
}

/// Iterations of Kokkos Kernels' GMRES(30) to 1e-8 on A x = A times ones.
template <class Matrix>
int iterations(const BsrMatrix<double, Device>& a, Matrix& theirs,
               KokkosKernelsPreconditioner<Matrix>* m) {
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<Offset, Ordinal, double, Exec,
                                                       Device::memory_space, Device::memory_space>;
  const size_t n = a.numPointRows();
  const Kokkos::View<double*, Device> ones("ones", n), b("b", n), x("x", n);
  Kokkos::deep_copy(ones, 1.0);
  MatrixOperator<double, Device>(a).apply(Exec(), asColumn(Vector<const double, Device>(ones)),
                                          asColumn(Vector<double, Device>(b)));
  Handle handle;
  handle.create_gmres_handle(30, 1e-8, 40);
  KokkosSparse::Experimental::gmres(&handle, theirs, b, x, m);
  Kokkos::fence();
  const auto on_host = toHost(x);
  for (const double value : on_host)
    EXPECT_NEAR(value, 1, 1e-5);
  const int count = handle.get_gmres_handle()->get_num_iters();
  handle.destroy_gmres_handle();
  return count;
}

template <class Matrix>
void checkGmres(const BsrMatrix<double, Device>& a, Matrix theirs) {
  const int without = iterations<Matrix>(a, theirs, nullptr);
  for (const char* specification : {"ilu", "ilu:solve=isai,power=2", "jacobi"}) {
    SCOPED_TRACE(specification);
    KokkosKernelsPreconditioner<Matrix> m(theirs, specification);
    EXPECT_FALSE(m.isInitialized());
    m.compute();
    EXPECT_TRUE(m.isInitialized());
    EXPECT_TRUE(m.isComputed());
    const int with = iterations(a, theirs, &m);
    const bool strong = specification != std::string("jacobi");
    EXPECT_LT(with, strong ? without / 2 : without + 5);
  }
}

TEST(KokkosKernelsPreconditioner, InTheirGmres) {
  const auto a = copyTo<Device>(makeProblem("convdiff:12x12x8").matrix);
  checkGmres(a, toKokkos(Exec(), toPoints(Exec(), a)));
  checkGmres(a, inBlocks(a));
}

TEST(KokkosKernelsPreconditioner, AppliesAsTheMethodDoes) {
  const auto a = copyTo<Device>(randomMatrix(40, 40, 2, 0.1, dominant()));
  Bsr theirs = inBlocks(a);
  KokkosKernelsPreconditioner<Bsr> m(theirs, "ilu:solve=isai");
  m.setParameters();
  m.initialize();
  EXPECT_FALSE(m.isComputed());
  const Kokkos::View<double*, Device> x("x", 80), y("y", 80), expected("expected", 80);
  EXPECT_THROW(m.apply(x, y), InvalidArgument);
  m.compute();
  const auto method = createPreconditioner<double, Device>("ilu:solve=isai");
  method->initialize(a);
  method->compute(a);
  Kokkos::deep_copy(x, 2.0);
  for (const char* op : {"N", "T", "C"}) {
    Kokkos::deep_copy(y, 3.0);
    Kokkos::deep_copy(expected, 3.0);
    m.apply(x, y, op, 0.5, -1.0);
    method->apply(Exec(), Vector<const double, Device>(x), Vector<double, Device>(expected),
                  op[0] == 'N' ? Trans::No : Trans::Yes, 0.5, -1.0);
    Kokkos::fence();
    EXPECT_EQ(toHost(y), toHost(expected)) << op;
  }
  EXPECT_THROW(m.apply(x, y, "X"), InvalidArgument);
  EXPECT_TRUE(m.hasTransposeApply());

  // Other values in the same arrays.
  Kokkos::deep_copy(y, 0.0);
  m.apply(x, y);
  const auto before = toHost(y);
  const auto values = toHost(a.values);
  std::vector<double> doubled(values.begin(), values.end());
  for (double& value : doubled)
    value *= 2;
  Kokkos::deep_copy(theirs.values, viewOf<double, Device>(doubled));
  m.compute();
  m.apply(x, y);
  Kokkos::fence();
  const auto after = toHost(y);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(after[i], before[i] / 2, 1e-12 * std::abs(before[i]));
}

} // namespace

#endif
