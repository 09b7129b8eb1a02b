// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Candidates.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <algorithm>

namespace {

using namespace ainvil;
using namespace ainvil::detail;

MatrixTraits traitsOfProblem(const std::string& name) {
  const auto a = copyTo<DefaultDevice>(makeProblem(name).matrix);
  return traitsOf<double, DefaultDevice>({}, a);
}

MatrixTraits inPoints(const std::string& name) {
  const DefaultDevice::execution_space exec;
  const auto a =
      toPoints<double, DefaultDevice>(exec, copyTo<DefaultDevice>(makeProblem(name).matrix));
  return traitsOf<double, DefaultDevice>(exec, a);
}

TEST(Changed, TakesTheValueInPlaceOrBehind) {
  const std::string text = "ilu:level=2,solve=isai,power=3";
  EXPECT_EQ(changed(text, "level", "3"), "ilu:level=3,solve=isai,power=3");
  EXPECT_EQ(changed(text, "power", "4"), "ilu:level=2,solve=isai,power=4");
  EXPECT_EQ(changed(text, "relax", "1"), "ilu:level=2,solve=isai,power=3,relax=1");
  EXPECT_EQ(changed("jacobi", "poly", "5"), "jacobi:poly=5");
}

TEST(Changed, TheSameHasTheSameText) {
  EXPECT_EQ(changed("ilu", "level", "0"), "ilu");
  EXPECT_EQ(changed("ilu:level=1,solve=isai", "level", "0"), "ilu:solve=isai");
  EXPECT_EQ(changed(changed("ilu", "level", "1"), "match", "product"),
            changed(changed("ilu", "match", "product"), "level", "1"));
  EXPECT_EQ(changed("ilu:solve=isai,storage=float", "poly", "10"),
            changed("ilu:solve=isai,poly=10", "storage", "float"));
  EXPECT_EQ(changed("ilu:solve=isai,relax=1", "power", "2"),
            changed("ilu:solve=isai,power=2", "relax", "1"));
}

TEST(MatrixTraits, SeesSymmetryBlocksAndDiagonals) {
  const MatrixTraits laplace = traitsOfProblem("poisson5:12");
  EXPECT_EQ(laplace.rows, 144);
  EXPECT_EQ(laplace.longest_row, 5);
  EXPECT_TRUE(laplace.maybeSpd());
  EXPECT_EQ(laplace.dominant_rows, 144);
  EXPECT_EQ(laplace.weak_diagonals, 0);
  EXPECT_EQ(laplace.natural_block_size, 1);

  const MatrixTraits cavity = traitsOfProblem("cavity:8");
  EXPECT_FALSE(cavity.symmetric);
  EXPECT_EQ(cavity.natural_block_size, 3);
  EXPECT_EQ(inPoints("cavity:8").natural_block_size, 3);
}

TEST(MatrixTraits, CountsZerosOnTheDiagonalAndProductsOfFill) {
  // An arrow whose long row and column come first: ILU(1) fills it up. One diagonal entry is zero.
  std::vector<int> row_map = {0}, columns;
  std::vector<double> values;
  constexpr int n = 40;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      if (i == 0 || j == 0 || i == j) {
        columns.push_back(j);
        values.push_back(i == 7 && j == 7 ? 0 : 1 + i + j);
      }
    row_map.push_back(static_cast<int>(columns.size()));
  }
  const auto a = csr(n, row_map, columns, values);
  const auto traits = traitsOf<double, DefaultDevice>({}, a);
  EXPECT_EQ(traits.weak_diagonals, 1);
  EXPECT_EQ(traits.longest_row, n);
  EXPECT_TRUE(traits.symmetric);
  EXPECT_FALSE(traits.positive_diagonal);
  EXPECT_NEAR(traits.fill_products, double((n - 1) * (n - 1)) / double(columns.size()), 1e-9);
}

/// In scalars, whatever the blocks: those of a matrix in points are the same.
TEST(MatrixTraits, CountsScalarsInBlocks) {
  const MatrixTraits blocks = traitsOfProblem("cavity:8"), points = inPoints("cavity:8");
  ASSERT_EQ(blocks.block_size, 3);
  EXPECT_EQ(blocks.rows, points.rows);
  EXPECT_EQ(blocks.entries, points.entries);
  EXPECT_EQ(blocks.longest_row, points.longest_row);
  EXPECT_EQ(blocks.dominant_rows, points.dominant_rows);
}

TEST(MatrixTraits, AFullMatrixIsNotOneBlock) {
  const auto full = [](int n) {
    std::vector<int> row_map(1, 0), columns;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        columns.push_back(j);
      row_map.push_back(static_cast<int>(columns.size()));
    }
    const std::vector<double> values(columns.size(), 1.0);
    return traitsOf<double, DefaultDevice>({}, csr(n, row_map, columns, values)).natural_block_size;
  };
  EXPECT_EQ(full(5), 1);
  EXPECT_EQ(full(10), 5);
}

/// Whatever the race may try exists: no key without effect, no misspelt method.
TEST(Candidates, AllAndTheirNeighboursAreUnderstood) {
  for (const char* name : {"poisson5:6", "cavity:4"})
    for (const bool gpu : {false, true})
      for (const bool zeros : {false, true}) {
        MatrixTraits traits = inPoints(name);
        traits.weak_diagonals = zeros ? 3 : 0;
        std::vector<Candidate> list = firstCandidates(traits, gpu, false);
        for (size_t i = 0; i < list.size() && i < 400; ++i) {
          SCOPED_TRACE(list[i].precond);
          const auto m = createPreconditioner<double, DefaultDevice>(list[i].precond);
          if (!list[i].parent.empty()) {
            EXPECT_NO_THROW((createPreconditioner<double, DefaultDevice>(list[i].parent)));
          }
          for (const auto& [solver, restart] : list[i].solvers) {
            SolverOptions options;
            options.restart = restart;
            EXPECT_NO_THROW(
                (createSolver<double, DefaultDevice>(solver, options)->checkPreconditioner(*m)));
            RaceEntry entry;
            static_cast<Configuration&>(entry) = {solver, restart, list[i].precond,
                                                  list[i].block_size};
            entry.iterations = 100;
            if (list[i].precond.size() < 90)
              for (const Candidate& next : neighbours(entry, traits, gpu))
                list.push_back(next);
          }
        }
      }
}

TEST(Candidates, ZerosOnTheDiagonalPutMatchingFirst) {
  MatrixTraits traits = traitsOfProblem("cavity:4");
  EXPECT_EQ(firstCandidates(traits, false, false).front().precond, "ilu");
  traits.weak_diagonals = 1;
  EXPECT_EQ(firstCandidates(traits, false, false).front().precond, "ilu:match=product");
}

TEST(Candidates, PolynomialsGrowAsLongAsTheyLeaveSomethingToDo) {
  const MatrixTraits traits = traitsOfProblem("cavity:4");
  RaceEntry entry;
  entry.solver = "gmres";
  entry.block_size = traits.block_size;
  const auto tries = [&](const std::string& of, int iterations, bool gpu, const std::string& what) {
    entry.precond = of;
    entry.iterations = iterations;
    const auto list = neighbours(entry, traits, gpu);
    return std::any_of(list.begin(), list.end(),
                       [&](const Candidate& next) { return next.precond == what; });
  };
  EXPECT_TRUE(tries("ilu", 61, false, "ilu:poly=10"));
  EXPECT_FALSE(tries("ilu", 60, false, "ilu:poly=10"));
  EXPECT_TRUE(tries("ilu", 61, true, "ilu:poly=20,poly-storage=float"));
  EXPECT_TRUE(tries("ilu:poly=20,poly-storage=float", 21, true, "ilu:poly=40,poly-storage=float"));
  EXPECT_FALSE(tries("ilu:poly=20,poly-storage=float", 20, true, "ilu:poly=40,poly-storage=float"));
  EXPECT_FALSE(tries("ilu:poly=80", 100, false, "ilu:poly=160"));
}

/// More vectors serve where GMRES has restarted, better factors where there are iterations to save.
TEST(Candidates, NeighboursDependOnTheIterations) {
  const MatrixTraits traits = traitsOfProblem("cavity:4");
  RaceEntry entry;
  entry.solver = "gmres";
  entry.restart = 30;
  entry.precond = "ilu:reorder=rcm,level=1";
  entry.block_size = traits.block_size;
  const auto triesAfter = [&](int iterations, const std::string& precond, int restart) {
    entry.iterations = iterations;
    const auto list = neighbours(entry, traits, false);
    return std::any_of(list.begin(), list.end(), [&](const Candidate& next) {
      return next.precond == precond && next.solvers.front().first == "gmres" &&
             next.solvers.front().second == restart;
    });
  };
  EXPECT_FALSE(triesAfter(30, entry.precond, 100));
  EXPECT_TRUE(triesAfter(31, entry.precond, 100));
  EXPECT_FALSE(triesAfter(3, "ilu:reorder=rcm,level=2", 30));
  EXPECT_TRUE(triesAfter(4, "ilu:reorder=rcm,level=2", 30));
}

/// Towards 1, but not there; with every level, and not where there is nothing to save.
TEST(Candidates, ModifiedFactorsTakeMoreOfWhatIsDropped) {
  const MatrixTraits cavity = traitsOfProblem("cavity:4"), poisson = traitsOfProblem("poisson5:6");
  const auto begins = [](const MatrixTraits& traits, const std::string& with) {
    const auto list = firstCandidates(traits, false, false);
    return std::any_of(list.begin(), list.end(),
                       [&](const Candidate& candidate) { return candidate.precond == with; });
  };
  EXPECT_TRUE(begins(cavity, "ilu:modified=0.95"));
  EXPECT_TRUE(begins(poisson, "ic:modified=0.95"));
  const auto follow = [&](const MatrixTraits& traits, const std::string& of, int iterations) {
    RaceEntry entry;
    entry.solver = "gmres";
    entry.precond = of;
    entry.block_size = traits.block_size;
    entry.iterations = iterations;
    std::vector<std::string> modified;
    for (const Candidate& next : neighbours(entry, traits, false))
      if (next.precond.find("modified=") != std::string::npos)
        modified.push_back(next.precond);
    return modified;
  };
  const auto has = [](const std::vector<std::string>& list, const std::string& what) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  EXPECT_TRUE(has(follow(cavity, "ilu", 50), "ilu:modified=0.95"));
  EXPECT_TRUE(has(follow(cavity, "ilu:modified=0.95", 50), "ilu:modified=0.99"));
  EXPECT_TRUE(has(follow(cavity, "ilu:modified=0.95", 50), "ilu:level=1,modified=0.95"));
  EXPECT_TRUE(has(follow(cavity, "ilu:modified=0.99", 50), "ilu:modified=0.998"));
  EXPECT_TRUE(has(follow(poisson, "ic:level=1", 50), "ic:level=1,modified=0.95"));
  for (const std::string& after : follow(cavity, "ilu:modified=0.998", 50))
    EXPECT_NE(after.find("modified=0.998"), std::string::npos) << after;
  EXPECT_TRUE(follow(cavity, "ilu", 3).empty());
  EXPECT_TRUE(follow(cavity, "ilu:factorization=ilut,drop=1e-2", 50).empty());
  EXPECT_TRUE(follow(cavity, "ilu:reorder=nd,level=4,breakdown=shift", 50).empty());
}

TEST(Candidates, CgIsForWhatMayBeSpd) {
  const auto usesCg = [](const MatrixTraits& traits) {
    const auto list = firstCandidates(traits, false, false);
    return std::any_of(list.begin(), list.end(), [](const Candidate& candidate) {
      return candidate.solvers.front().first == "cg";
    });
  };
  MatrixTraits traits = traitsOfProblem("poisson5:6");
  EXPECT_TRUE(usesCg(traits));
  traits.indefinite = true;
  EXPECT_FALSE(usesCg(traits));
  EXPECT_FALSE(usesCg(traitsOfProblem("cavity:4")));
}

} // namespace
