// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Whatever sets something up from a matrix of the user's refuses arrays that do not fit together,
/// instead of reading beyond them.

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_LinearOperator.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Partition.hpp"
#include "Ainvil_Scaling.hpp"
#include "TestSupport.hpp"

#include <climits>
#include <functional>

namespace ainvil {
namespace {

using Device = DefaultDevice;
using Exec = Device::execution_space;
using Matrix = BsrMatrix<double, Device>;
using test::viewOf;

struct EntryPoint {
  std::string what;
  std::function<void(const Matrix&)> run;
};

std::vector<EntryPoint> entryPoints() {
  std::vector<EntryPoint> list = {
      {"fromKokkos",
       [](const Matrix& a) {
         using Crs = KokkosSparse::CrsMatrix<double, Ordinal, Device, void, Offset>;
         const auto columns = viewOf<Ordinal, Device>(test::toHost(a.graph.entries));
         fromKokkos(Exec(), Crs("Ainvil::test", a.numCols(), a.values,
                                Crs::staticcrsgraph_type(columns, a.graph.row_map)));
       }},
      {"toBlocks", [](const Matrix& a) { toBlocks(Exec(), a, 2); }},
      {"toPoints", [](const Matrix& a) { toPoints(Exec(), a.graph, 3); }},
      {"scaling by norms",
       [](const Matrix& a) { scalingFactors(Exec(), a, ScalingRule::ColumnNorm); }},
      {"scaling by the diagonal",
       [](const Matrix& a) { scalingFactors(Exec(), a, ScalingRule::Diagonal); }},
      {"permuted",
       [](const Matrix& a) {
         permuted(Exec(), identityPermutation<Device>(Exec(), a.numRows()), a);
       }},
      {"MatrixOperator", [](const Matrix& a) { MatrixOperator<double, Device>{a}; }}};
  for (const std::string method : {"none", "jacobi", "ilu", "ic", "fsai", "ainv"})
    list.push_back({method, [=](const Matrix& a) {
                      createPreconditioner<double, Device>(method)->initialize(a);
                    }});
  return list;
}

Matrix matrixOf(const std::vector<Offset>& row_map, const std::vector<Ordinal>& entries) {
  const Ordinal n = static_cast<Ordinal>(row_map.size()) - 1;
  return {Graph<Device>(n, n, viewOf<Offset, Device>(row_map), viewOf<Ordinal, Device>(entries)),
          viewOf<double, Device>(std::vector<double>(entries.size(), 1.0)), 1};
}

/// Orderings and partitions are found on the host.
void addHostEntryPoints(std::vector<EntryPoint>& list) {
  list.push_back({"partition", [](const Matrix& a) { partition(copyTo<HostDevice>(a.graph), 1); }});
  for (const Ordering method : {Ordering::Natural, Ordering::Rcm, Ordering::NestedDissection,
                                Ordering::Multicolour, Ordering::BlockMulticolour})
    list.push_back(
        {"ordering", [=](const Matrix& a) { ordering(method, copyTo<HostDevice>(a.graph)); }});
}

TEST(InvalidMatrix, IsRefusedByEveryEntryPoint) {
  const std::string row_map = "the row map must ascend from 0 to the number of entries, 4, but it "
                              "does not at offset ";
  const struct {
    Matrix matrix;
    std::string sentence;
  } cases[] = {
      {matrixOf({0, 2, 1, 3, 4}, {0, 1, 2, 3}), row_map + "1"},
      {matrixOf({0, 1, 2, 3, 1000000}, {0, 1, 2, 3}), row_map + "4"},
      {matrixOf({0, 1, Offset(1) << 40, 3, 4}, {0, 1, 2, 3}), row_map + "2"},
      {matrixOf({0, 1, -1000000, 3, 4}, {0, 1, 2, 3}), row_map + "1"},
      {matrixOf({0, 1, 2, 3, 4}, {0, 1000000, 2, 3}), "1 column indices lie outside [0, 4)"},
      {matrixOf({0, 1, 2, 3, 4}, {0, 1, -1, -1000000}), "2 column indices lie outside [0, 4)"},
  };
  std::vector<EntryPoint> list = entryPoints();
  addHostEntryPoints(list);
  for (const EntryPoint& entry_point : list) {
    SCOPED_TRACE(entry_point.what);
    EXPECT_NO_THROW(entry_point.run(matrixOf({0, 1, 2, 3, 4}, {0, 1, 2, 3})));
    for (const auto& c : cases)
      try {
        entry_point.run(c.matrix);
        ADD_FAILURE() << "accepted: " << c.sentence;
      } catch (const InvalidArgument& error) {
        EXPECT_EQ(error.what(), c.sentence);
      }
  }
}

TEST(InvalidMatrix, IsNotOneWithoutArrays) {
  for (const EntryPoint& entry_point : entryPoints())
    EXPECT_NO_THROW(entry_point.run(Matrix())) << entry_point.what;
}

/// Sizes of blocks whose scalars an int cannot count, also where there is none of them.
TEST(InvalidMatrix, HasBlocksTooLarge) {
  const auto none = [](int bs) { return Matrix(matrixOf({0, 0}, {}).graph, {}, bs); };
  const auto one = [](int bs) { return Matrix(matrixOf({0, 1}, {0}).graph, {}, bs); };
  EXPECT_NO_THROW(none(4096));
  for (const int bs : {-1, 0, 4097, 1 << 16, INT_MAX}) {
    EXPECT_THROW(none(bs), InvalidArgument) << bs;
    EXPECT_THROW(one(bs), InvalidArgument) << bs;
    EXPECT_THROW(toBlocks(Exec(), none(1), bs), InvalidArgument) << bs;
    EXPECT_THROW(toPoints(Exec(), none(1).graph, bs), InvalidArgument) << bs;
  }
}

} // namespace
} // namespace ainvil
