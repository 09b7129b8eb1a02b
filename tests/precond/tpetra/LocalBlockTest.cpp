// SPDX-License-Identifier: BSD-3-Clause
/// The diagonal block of a rank, against rows and columns taken one by one.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_TpetraLocalBlock.hpp"
#include "KokkosObservers.hpp"

namespace ainvil {
namespace {

using namespace test;
using Local =
    tpetra::LocalBlock<double, int, tpetra::Map::global_ordinal_type, tpetra::Map::node_type>;

/// The matrix, its local columns numbered the other way round: those of other ranks come first.
RCP<const TpetraCrs> withColumnsReversed(const TpetraCrs& a) {
  const tpetra::Map &rows = *a.getRowMap(), &columns = *a.getColMap();
  std::vector<tpetra::Map::global_ordinal_type> numbers;
  for (Ordinal c = tpetra::compat::numLocalElements(columns); c-- > 0;)
    numbers.push_back(columns.getGlobalElement(c));
  const auto reversed =
      rcp(new TpetraCrs(a.getRowMap(), tpetra::makeMap(numbers, rows), a.getGlobalNumCols()));
  TpetraCrs::nonconst_global_inds_host_view_type indices("indices", a.getGlobalNumCols());
  TpetraCrs::nonconst_values_host_view_type values("values", a.getGlobalNumCols());
  for (Ordinal i = 0; i < tpetra::compat::numLocalElements(rows); ++i) {
    size_t length = 0;
    a.getGlobalRowCopy(rows.getGlobalElement(i), indices, values, length);
    reversed->insertGlobalValues(rows.getGlobalElement(i), static_cast<int>(length), values.data(),
                                 indices.data());
  }
  reversed->fillComplete(a.getDomainMap(), a.getRangeMap());
  return reversed;
}

/// The rows of the calling rank, and of their entries those in its own columns.
HostBsr ownBlock(const HostBsr& a, const std::vector<int>& owners) {
  std::vector<Ordinal> numbers(owners.size(), -1);
  Ordinal n = 0;
  for (size_t i = 0; i < owners.size(); ++i)
    if (owners[i] == world()->getRank())
      numbers[i] = n++;
  Rows rows;
  std::vector<double> values;
  const int bs2 = a.block_size * a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    if (numbers[i] < 0)
      continue;
    rows.emplace_back();
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      if (numbers[a.graph.entries(e)] < 0)
        continue;
      rows.back().push_back(numbers[a.graph.entries(e)]);
      values.insert(values.end(), a.values.data() + e * bs2, a.values.data() + (e + 1) * bs2);
    }
  }
  return {makeGraph(rows, n), viewOf<double>(values), a.block_size};
}

void expectSame(const HostBsr& a, const HostBsr& b) {
  EXPECT_EQ(rowsOf(a.graph), rowsOf(b.graph));
  EXPECT_EQ(a.block_size, b.block_size);
  EXPECT_EQ(toHost(a.values), toHost(b.values));
}

class LocalBlock : public ::testing::Test {
protected:
  const HostBsr a_ = matrixOn(randomPattern(57, 5, 81), 2, 81);
  const RCP<const TpetraCrs> crs_ = crsMatrix(a_, Spread::Parts);
};

/// Own columns come first in the rows, and points fill their blocks: no index for a value is kept.
TEST_F(LocalBlock, OfWholeBlocksNeedsNoIndices) {
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
    const HostBsr block = ownBlock(a_, owners(57, spread));
    const auto points = crsMatrix(a_, spread);
    const auto blocks = blockMatrix(a_, spread);
    const AllocationCounter counter;
    Local of_points(Exec(), *points, 2), of_blocks(Exec(), *blocks);
    expectSame(copyTo<HostDevice>(of_points.get(Exec(), *points)), block);
    expectSame(copyTo<HostDevice>(of_blocks.get(Exec(), *blocks)), block);
    EXPECT_EQ(counter.labels().find("'Ainvil::source'"), std::string::npos) << counter.labels();
  }
}

/// The same block where own columns come last and backwards.
TEST_F(LocalBlock, OfColumnsInAnyOrder) {
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
    const auto reversed = withColumnsReversed(*crsMatrix(a_, spread));
    Local local(Exec(), *reversed, 2);
    expectSame(copyTo<HostDevice>(local.get(Exec(), *reversed)), ownBlock(a_, owners(57, spread)));
  }
}

TEST_F(LocalBlock, ValuesAreNotCopiedOnOneRank) {
  Local crs(Exec(), *crs_);
  const auto blocks = blockMatrix(a_, Spread::Parts);
  Local in_blocks(Exec(), *blocks);
  const bool shares_points =
      crs.get(Exec(), *crs_).values.data() == crs_->getLocalMatrixDevice().values.data();
  const bool shares_blocks =
      in_blocks.get(Exec(), *blocks).values.data() == blocks->getValuesDevice().data();
  EXPECT_EQ(shares_points, ranks() == 1);
  EXPECT_EQ(shares_blocks, ranks() == 1);
}

TEST_F(LocalBlock, RefusesAMatrixOfAnotherSize) {
  Local local(Exec(), *crs_);
  EXPECT_NO_THROW(local.get(Exec(), *crs_));
  const auto other = crsMatrix(matrixOn(randomPattern(40, 5, 82), 1, 82), Spread::Parts);
  EXPECT_THROW(local.get(Exec(), *other), InvalidArgument);
}

} // namespace
} // namespace ainvil
