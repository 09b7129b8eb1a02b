// SPDX-License-Identifier: BSD-3-Clause
/// Each type of matrix and each method against Ainvil on the diagonal block of every rank.
#include "precond/petsc/PetscSupport.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;

/// A type of matrices in blocks of a size.
struct Kind {
  const char *name, *type;
  int block_size;

  friend std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }
};

const Kind kinds[] = {
    {"aij", MATAIJ, 1},
    {"aijInBlocks", MATAIJ, 3},
    {"baij", MATBAIJ, 3},
    {"baijOf1", MATBAIJ, 1},
    {"sbaij", MATSBAIJ, 3},
    {"sbaijOf1", MATSBAIJ, 1},
    {"aijcusparse", "aijcusparse", 1},
    {"aijcusparseInBlocks", "aijcusparse", 3},
    {"aijkokkos", "aijkokkos", 1},
    {"aijkokkosInBlocks", "aijkokkos", 3},
};

class EachType : public ::testing::TestWithParam<Kind> {
protected:
  EachType()
      : system_(bandSystem(41, 3, GetParam().block_size, GetParam().type == std::string(MATSBAIJ),
                           5)) {}

  void SetUp() override {
    if (!hasMatType(GetParam().type))
      GTEST_SKIP() << "this PETSc has no " << GetParam().type << ", or no GPU";
  }

  void expectAinvils(const std::string& specification, Spread spread = Spread::Even) {
    SCOPED_TRACE(specification);
    Mat a = matrixOf(system_, GetParam().type, spread);
    const System local = localPart(system_, spread);
    const std::vector<double> x = randomNumbers(local.numRows(), 3 + rankOfWorld());
    {
      const Precond m(a, "-pc_ainvil_spec " + specification);
      for (const bool transposed : {false, true})
        EXPECT_LE(difference(m.apply(x, transposed),
                             reference::applied(local, specification, x, transposed)),
                  1e-13);
    }
    check(MatDestroy(&a));
  }

  const System system_;
};

TEST_P(EachType, AppliesWhatAinvilDoes) {
  for (const char* specification :
       {"none", "jacobi", "ilu", "ilu:level=1,solve=isai,power=2", "ilu:solve=jacobi,sweeps=3",
        "ilu:solve=isai,storage=float", "ainv:symmetric=no", "chebyshev:largest=2"})
    expectAinvils(specification);
}

TEST_P(EachType, RanksMayHaveNoRows) {
  for (const char* specification : {"jacobi", "ilu:solve=isai", "ainv:symmetric=no"})
    expectAinvils(specification, Spread::Last);
}

TEST_P(EachType, ManyColumns) {
  Mat a = matrixOf(system_, GetParam().type);
  PetscInt rows;
  check(MatGetLocalSize(a, &rows, nullptr));
  constexpr PetscInt columns = 5, gap = 7;
  std::vector<double> from = randomNumbers(columns * (rows + gap), 9),
                      to(columns * (rows + 2 * gap), 4);
  // Columns with gaps between them.
  const auto dense = [&](std::vector<double>& data, PetscInt stride) {
    Mat m;
    check(MatCreate(PETSC_COMM_WORLD, &m));
    check(MatSetSizes(m, rows, PETSC_DECIDE, PETSC_DETERMINE, columns));
    check(MatSetType(m, MATDENSE));
    check(MatDenseSetLDA(m, stride));
    check(MatSeqDenseSetPreallocation(m, data.data()));
    check(MatMPIDenseSetPreallocation(m, data.data()));
    check(MatAssemblyBegin(m, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(m, MAT_FINAL_ASSEMBLY));
    return m;
  };
  Mat x = dense(from, rows + gap), y = dense(to, rows + 2 * gap);
  {
    const Precond m(a, "-pc_ainvil_type ilu -pc_ainvil_solve isai");
    check(PCMatApply(m.pc(), x, y));
    for (PetscInt c = 0; c < columns; ++c) {
      const auto begin = from.begin() + c * (rows + gap);
      const std::vector<double> one = m.apply({begin, begin + rows});
      const double* const at = to.data() + c * (rows + 2 * gap);
      EXPECT_LE(difference({at, at + rows}, one), 1e-15);
      for (PetscInt i = rows; i < rows + 2 * gap; ++i)
        EXPECT_EQ(at[i], 4);
    }
  }
  check(MatDestroy(&x));
  check(MatDestroy(&y));
  check(MatDestroy(&a));
}

INSTANTIATE_TEST_SUITE_P(Petsc, EachType, ::testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

std::vector<std::string> allTypes() {
  std::vector<std::string> types = generalTypes();
  types.push_back(MATSBAIJ);
  return types;
}

/// The matrix in points.
System inPoints(const System& system) {
  System points;
  const int bs = system.block_size;
  points.row_map = {0};
  for (int row = 0; row < system.numBlockRows(); ++row)
    for (int i = 0; i < bs; ++i) {
      for (int e = system.row_map[row]; e < system.row_map[row + 1]; ++e)
        for (int j = 0; j < bs; ++j) {
          points.entries.push_back(system.entries[e] * bs + j);
          points.values.push_back(system.values[(size_t(e) * bs + i) * bs + j]);
        }
      points.row_map.push_back(static_cast<int>(points.entries.size()));
    }
  points.rhs.assign(points.numRows(), 1);
  return points;
}

TEST(PetscBlocks, SizeIsAsAsked) {
  // 4 is that of the matrix; each of the ranks has a multiple of 4 rows.
  for (const std::string& type : allTypes()) {
    SCOPED_TRACE(type);
    const System blocks = bandSystem(31, 2, 4, type == MATSBAIJ, 7);
    Mat a = matrixOf(blocks, type);
    const System local = localPart(blocks, Spread::Even), points = inPoints(local);
    const std::vector<double> x = randomNumbers(local.numRows(), 1 + rankOfWorld());
    {
      const Precond m(a, "-pc_ainvil_type ilu -pc_ainvil_block_size 1");
      EXPECT_LE(difference(m.apply(x), reference::applied(points, "ilu", x, false)), 1e-13);
      EXPECT_TRUE(has(m.view(), "blocks of size 1\n"));
    }
    {
      // Block Jacobi of another size: the blocks of the diagonal.
      const Precond m(a, "-pc_ainvil_type jacobi -pc_ainvil_block_size 2");
      System diagonal;
      diagonal.block_size = 2;
      diagonal.row_map = {0};
      for (int row = 0; row < points.numRows(); ++row)
        for (int e = points.row_map[row]; e < points.row_map[row + 1]; ++e)
          if (points.entries[e] / 2 == row / 2)
            diagonal.values.push_back(points.values[e]);
      for (int row = 0; row < points.numRows() / 2; ++row) {
        diagonal.entries.push_back(row);
        diagonal.row_map.push_back(row + 1);
      }
      EXPECT_LE(difference(m.apply(x), reference::applied(diagonal, "jacobi", x, false)), 1e-13);
      EXPECT_TRUE(has(m.view(), "blocks of size 2\n"));
    }
    check(MatDestroy(&a));
  }
}

TEST(PetscBlocks, IncompleteOnesAreFilledUpAndTold) {
  // A diagonal matrix in points that says it has blocks of 3.
  const int local_blocks = 4, n = 3 * local_blocks;
  Mat a;
  check(MatCreateAIJ(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 0,
                     nullptr, &a));
  check(MatSetBlockSize(a, 3));
  PetscInt first, end;
  check(MatGetOwnershipRange(a, &first, &end));
  for (PetscInt row = first; row < end; ++row)
    check(MatSetValue(a, row, row, row + 2, INSERT_VALUES));
  check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  const std::vector<double> x = randomNumbers(n, 4);
  std::vector<double> expected = x;
  for (int i = 0; i < n; ++i)
    expected[i] /= first + i + 2;
  for (const char* options : {"", "-pc_ainvil_block_size 1"}) {
    const Precond m(a, options);
    EXPECT_LE(difference(m.apply(x), expected), 1e-15);
    const std::string zeros = "filled up with " + std::to_string(6 * local_blocks * numRanks()) +
                              " zeros; -pc_ainvil_block_size 1 goes without";
    EXPECT_EQ(has(m.view(), zeros), *options == '\0');
  }
  check(MatDestroy(&a));
}

TEST(PetscExactness, FullPatternsGiveTheInverse) {
  for (const std::string& type : allTypes())
    for (const char* method : {"ilu", "ilu:level=2,solve=isai,power=40"}) {
      SCOPED_TRACE(type + " " + method);
      // Full on each rank, nothing between ranks.
      const System one = bandSystem(13, 12, 3, type == MATSBAIJ, 11);
      Mat a = matrixOf(one, type, Spread::Last);
      const Precond m(a, std::string("-pc_ainvil_spec ") + method);
      PetscInt n;
      check(MatGetLocalSize(a, &n, nullptr));
      const std::vector<double> x = randomNumbers(n, 8);
      Vec mx = vectorOf(a, m.apply(x)), amx;
      check(VecDuplicate(mx, &amx));
      check(MatMult(a, mx, amx));
      EXPECT_LE(difference(localNumbers(amx), x), 1e-12);
      check(VecDestroy(&mx));
      check(VecDestroy(&amx));
      check(MatDestroy(&a));
    }
}

TEST(PetscExactness, TransposedSolve) {
  const System system = bandSystem(60, 2, 2, false, 13);
  Mat a = matrixOf(system, MATAIJ);
  {
    const Solver solver(a, "-pc_ainvil_type ilu -pc_ainvil_solve isai");
    Vec b, x, r;
    check(MatCreateVecs(a, &x, &b));
    check(VecDuplicate(b, &r));
    check(VecSet(b, 1));
    check(KSPSolveTranspose(solver.ksp(), b, x));
    check(MatMultTranspose(a, x, r));
    check(VecAXPY(r, -1, b));
    PetscReal norm, of_b;
    check(VecNorm(r, NORM_2, &norm));
    check(VecNorm(b, NORM_2, &of_b));
    EXPECT_LE(norm, 1.01e-8 * of_b);
    EXPECT_LE(solver.iterations(), 20);
    check(VecDestroy(&b));
    check(VecDestroy(&x));
    check(VecDestroy(&r));
  }
  check(MatDestroy(&a));
}

class OnGpu : public ::testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    if (!hasMatType(GetParam()))
      GTEST_SKIP() << "this PETSc has no " << GetParam() << ", or no GPU";
    a_ = matrixOf(bandSystem(50, 3, 2, false, 19), GetParam());
  }
  void TearDown() override { check(MatDestroy(&a_)); }

  Mat a_ = nullptr;
};

TEST_P(OnGpu, ValuesAndVectorsAreTakenThere) {
  const Precond m(a_, "-pc_ainvil_spec ilu:solve=isai");
  Vec x, y, half;
  check(MatCreateVecs(a_, &x, &y));
  check(VecDuplicate(y, &half));
  check(VecSet(x, 3));
  check(VecSet(half, NAN));
  check(PCApply(m.pc(), x, y));
  const double copies = numCopiesOfGpu();
  check(MatScale(a_, 2));
  check(PCSetUp(m.pc()));
  check(PCApply(m.pc(), x, half));
  EXPECT_EQ(numCopiesOfGpu(), copies);
  check(VecScale(half, 2));
  EXPECT_LE(difference(localNumbers(half), localNumbers(y)), 1e-13);
  check(VecDestroy(&x));
  check(VecDestroy(&y));
  check(VecDestroy(&half));
}

TEST_P(OnGpu, ManyColumnsAreTakenThere) {
  const Precond m(a_, "-pc_ainvil_spec ilu:solve=isai");
  PetscInt rows;
  check(MatGetLocalSize(a_, &rows, nullptr));
  constexpr PetscInt columns = 3;
  Mat x, y;
  check(
      MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, nullptr, &x));
  check(MatSetRandom(x, nullptr));
  check(MatConvert(x, "densecuda", MAT_INPLACE_MATRIX, &x));
  check(MatDuplicate(x, MAT_COPY_VALUES, &y));
  check(PCMatApply(m.pc(), x, y)); // also brings x to the GPU
  const double copies = numCopiesOfGpu();
  check(PCMatApply(m.pc(), x, y));
  EXPECT_EQ(numCopiesOfGpu(), copies);
  for (PetscInt c = 0; c < columns; ++c) {
    Vec column;
    check(MatDenseGetColumnVecRead(x, c, &column));
    const std::vector<double> expected = m.apply(localNumbers(column));
    check(MatDenseRestoreColumnVecRead(x, c, &column));
    check(MatDenseGetColumnVecRead(y, c, &column));
    EXPECT_LE(difference(localNumbers(column), expected), 1e-15);
    check(MatDenseRestoreColumnVecRead(y, c, &column));
  }
  check(MatDestroy(&x));
  check(MatDestroy(&y));
}

INSTANTIATE_TEST_SUITE_P(Petsc, OnGpu, ::testing::Values("aijcusparse", "aijkokkos"));

} // namespace
} // namespace ainvil
