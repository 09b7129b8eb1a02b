// SPDX-License-Identifier: BSD-3-Clause
/// The diagonal block of a rank, against rows and columns taken one by one.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"
#include "KokkosObservers.hpp"

#include <algorithm>

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

/// Points that do not fill their blocks, and values that have changed.
TEST_F(LocalBlock, OfPartsOfBlocks) {
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty}) {
    // Blocks of 2 x 2 points spread alike; the last point of each is missing.
    const HostBsr points = toPoints(HostDevice::execution_space(), a_);
    Rows rows = rowsOf(points.graph);
    for (size_t i = 1; i < rows.size(); i += 2)
      rows[i].erase(
          std::remove_if(rows[i].begin(), rows[i].end(),
                         [&](Ordinal j) { return j / 2 != Ordinal(i) / 2 && j % 2 == 1; }),
          rows[i].end());
    std::vector<double> values(makeGraph(rows).numEntries());
    for (size_t e = 0; e < values.size(); ++e)
      values[e] = double(e) + 1;
    const HostBsr partial(makeGraph(rows), viewOf<double>(values), 1);
    std::vector<int> of_points;
    for (const int owner : owners(57, spread))
      of_points.insert(of_points.end(), 2, owner);
    const auto a = tpetra::distribute(partial, tpetra::makeRowMap(world(), of_points));
    Local local(Exec(), *a, 2);
    const HostBsr block = toBlocks(HostDevice::execution_space(), ownBlock(partial, of_points), 2);
    expectSame(copyTo<HostDevice>(local.get(Exec(), *a)), block);
    const auto twice = rcp(new TpetraCrs(*a, Teuchos::Copy));
    twice->resumeFill();
    twice->scale(2);
    twice->fillComplete();
    for (size_t v = 0; v < block.values.extent(0); ++v)
      block.values(v) *= 2;
    expectSame(copyTo<HostDevice>(local.get(Exec(), *twice)), block);
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
