// SPDX-License-Identifier: BSD-3-Clause
/// Linear systems of the programs, and how their solutions are judged.
#include "perf/solve/SolveFiles.hpp"
#include "program/Interruption.hpp"
#include "solve/SolveOutcome.hpp"
#include "solve/SolveOutputs.hpp"

#include "io/Ainvil_VectorFiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> valuesOf(const HostVector& v) {
  return {v.data(), v.data() + v.extent(0)};
}

class Judgement : public Files {
protected:
  /// Of x for 4 x = 8, where the solver believes to have converged.
  RunRecord judged(double x, bool believed = true) {
    RunRecord record;
    record.converged = believed;
    record.status = believed ? "converged" : "breakdown";
    record.message = believed ? "" : "why";
    record.solution = vectorOf({x});
    judge(command_, system_, record);
    return record;
  }

  CommandLine command_ = diagonal({4});
  LinearSystem system_ = [this] {
    LinearSystem system = makeSystem(command_);
    system.rhs(0) = 8;
    return system;
  }();
};

TEST_F(Judgement, IsByTheResidualWhateverTheSolverSays) {
  command_.tolerance = 0.25;
  for (const bool believed : {false, true}) {
    const RunRecord at_the_bound = judged(1.5, believed); // 2 of 8 are left
    EXPECT_TRUE(at_the_bound.converged);
    EXPECT_EQ(at_the_bound.rel_residual, 0.25);
    EXPECT_EQ(at_the_bound.status, "converged");
    EXPECT_EQ(at_the_bound.message, "");
    EXPECT_TRUE(std::isnan(at_the_bound.scaled_rel_residual));
    EXPECT_FALSE(judged(1.499, believed).converged);
  }
  RunRecord beyond = judged(1);
  EXPECT_EQ(beyond.status, "stagnated");
  EXPECT_NE(beyond.message.find("the recomputed residual is 0.5; rounding keeps it there"),
            std::string::npos)
      << beyond.message;
  beyond = judged(1, false);
  EXPECT_EQ(beyond.status, "breakdown");
  EXPECT_EQ(beyond.message, "why");
  for (const double value : {infinity, std::nan("")}) {
    EXPECT_EQ(judged(value).status, "diverged");
    EXPECT_FALSE(judged(value).converged);
    EXPECT_EQ(judged(value, false).status, "breakdown");
  }
}

TEST_F(Judgement, OffersTheRemedyOfTheSetting) {
  const auto message = [&] { return judged(1).message; };
  const auto advises = [&](const char* what) { return message().find(what) != std::string::npos; };
  EXPECT_TRUE(advises("--scale diagonal")) << message();
  EXPECT_FALSE(advises("--residual")) << message();
  system_.num_weak_diagonals = 1; // it would be refused
  EXPECT_TRUE(advises("--scale norm")) << message();
  command_.scale = "norm";
  EXPECT_TRUE(advises("another --scale") && advises("--residual scaled")) << message();
  command_.scale = "none";
  command_.match = "product"; // refuses --scale
  EXPECT_TRUE(advises("larger --tol") && advises("--residual scaled")) << message();
  EXPECT_FALSE(advises("--scale")) << message();
  command_.decides_scaled = true;
  EXPECT_FALSE(advises("--residual") || advises("--scale")) << message();
  command_.single_precision = true;
  EXPECT_NE(message().find("--precision double"), std::string::npos) << message();
}

TEST_F(Judgement, MayBeRelativeToTheGuess) {
  command_.tolerance = 0.25;
  system_.guess_residual = 4;        // of x = 10 or -6
  system_.scaled_guess_residual = 8; // nothing is scaled
  EXPECT_FALSE(judged(0).converged); // all of b is left
  command_.relative_to_guess = true;
  EXPECT_EQ(toleranceOf(command_, system_), 1);
  EXPECT_TRUE(judged(0).converged);
  EXPECT_EQ(judged(0).rel_residual, 1); // of b, as ever
  EXPECT_FALSE(judged(-0.001).converged);
  command_.absolute_tolerance = 7; // of b = 8: the tighter one
  EXPECT_EQ(toleranceOf(command_, system_), 1);
  command_.absolute_tolerance = 10;
  EXPECT_EQ(toleranceOf(command_, system_), 1.25);
  command_.absolute_tolerance = 0;
  command_.decides_scaled = true;
  EXPECT_EQ(toleranceOf(command_, system_), 2);
  command_.decides_scaled = false;
  for (const double useless : {0.0, infinity, std::nan("")}) {
    system_.guess_residual = useless;
    EXPECT_EQ(toleranceOf(command_, system_), 0.25) << useless;
  }
}

/// 3 x 3 blocks of size 2, badly scaled, with rows in an order that needs a matching.
TEST_F(Files, GuessesAreOfTheSystemAsGiven) {
  CommandLine command;
  command.matrix = write("g.mtx", "%%MatrixMarket matrix coordinate real general\n6 6 12\n"
                                  "1 3 1e6\n1 4 2\n2 4 3e-5\n2 3 1\n3 5 4e3\n3 1 1\n4 6 5\n"
                                  "5 1 7e-4\n5 2 1e-4\n6 2 8e5\n4 5 -1\n6 5 2\n");
  command.block_size = 2;
  command.rhs_file = write("b.mtx", "%%MatrixMarket matrix array real general\n6 2\n"
                                    "1\n2\n3\n4\n5\n6\n1e200\n0\n0\n-1e210\n0\n1\n");
  command.rhs = RhsKind::File;
  command.guess_file = write("x.mtx", "%%MatrixMarket matrix array real general\n6 2\n"
                                      "1\n-2\n3\n-4\n5\n-6\n1e201\n2e199\n0\n0\n7\n-1\n");
  const auto columns = readColumns(command.guess_file);
  for (const std::string scale : {"none", "norm", "ruiz"})
    for (const std::string match : {"none", "product"})
      for (const std::string reorder : {"none", "rcm", "colour"}) {
        if (scale != "none" && match != "none")
          continue;
        command.scale = scale;
        command.match = match;
        command.reorder = reorder;
        const LinearSystem all = makeSystem(command);
        ASSERT_EQ(all.numColumns(), 2);
        for (const int c : {0, 1}) {
          const LinearSystem system = all.withColumn(c);
          const HostVector x = originalSolution(system, system.guess);
          for (size_t i = 0; i < 6; ++i)
            EXPECT_NEAR(x(i), columns(i, c), 2e-15 * std::fabs(columns(i, c)))
                << scale << match << reorder << c << i;
          EXPECT_NEAR(relativeResidual(system.original_matrix, system.original_rhs, x),
                      system.guess_residual, 1e-12 * system.guess_residual);
          EXPECT_EQ(relativeResidual(system.matrix, system.rhs, system.guess),
                    system.scaled_guess_residual);
        }
      }
}

TEST_F(Judgement, OfAScaledSystemIsByTheOneThatDecides) {
  command_ = diagonal({4, 1});
  command_.scale = "diagonal";
  system_ = makeSystem(command_);
  ASSERT_EQ(valuesOf(system_.scaling.columns), (std::vector<double>{0.5, 1}));
  ASSERT_EQ(valuesOf(system_.original_rhs), (std::vector<double>{4, 1}));
  ASSERT_EQ(valuesOf(system_.rhs), (std::vector<double>{2, 1}));
  RunRecord record;
  record.solution = vectorOf({1, 1}); // of S A S = I: x = (0.5, 1)
  record.converged = true;
  judge(command_, system_, record);
  EXPECT_DOUBLE_EQ(record.rel_residual, 2 / std::sqrt(17));
  EXPECT_DOUBLE_EQ(record.scaled_rel_residual, 1 / std::sqrt(5));
  command_.tolerance = 0.47;
  judge(command_, system_, record);
  EXPECT_FALSE(record.converged);
  command_.decides_scaled = true;
  judge(command_, system_, record);
  EXPECT_TRUE(record.converged);
}

TEST_F(Judgement, FailuresHaveTheStatusOfTheirKind) {
  const auto recorded = [](const std::exception& error) {
    RunRecord record;
    record.converged = true;
    recordFailure(error, record);
    EXPECT_FALSE(record.converged);
    return record.status + ": " + record.message;
  };
  EXPECT_EQ(recorded(BreakdownError("b")), "breakdown: b");
  EXPECT_EQ(recorded(OutOfMemory("o")), "out_of_memory: o");
  EXPECT_EQ(recorded(std::bad_alloc()), "out_of_memory: there is not enough memory");
  EXPECT_EQ(recorded(Interrupted("i")), "interrupted: i");
  EXPECT_EQ(recorded(InvalidArgument("a")), "refused: a");
  EXPECT_EQ(recorded(Error("e")), "refused: e");
  EXPECT_EQ(recorded(std::runtime_error("r")), "failed: r");
}

/// Times of a set-up and of applications are the least already.
TEST(Repetitions, AreToldByOneOfThem) {
  struct Repetition {
    bool converged;
    int iterations;
    double solve_seconds;
  };
  const auto told = [](const std::vector<Repetition>& repetitions) {
    RunRecord record;
    for (const Repetition& repetition : repetitions) {
      const RunRecord before = beginRepetition(record);
      record.converged = repetition.converged;
      record.iterations = repetition.iterations;
      record.solve_seconds = repetition.solve_seconds;
      record.setup_seconds = std::fmin(record.setup_seconds, 1 / repetition.solve_seconds);
      record.notes = message("of ", repetition.iterations);
      endRepetition(before, record);
    }
    return message(record.converged, " ", record.iterations, " ", record.solve_seconds, " ",
                   record.setup_seconds, " ", record.allNotes());
  };
  EXPECT_EQ(told({{true, 7, 2}}), "1 7 2 0.5 of 7");
  EXPECT_EQ(told({{true, 7, 4}, {true, 7, 2}, {true, 7, 5}}), "1 7 2 0.2 of 7");
  EXPECT_EQ(told({{true, 7, 2}, {true, 9, 4}, {true, 8, 8}}),
            "1 7 2 0.125 of 7, repetitions took 7 to 9 iterations");
  EXPECT_EQ(told({{true, 7, 4}, {true, 9, 2}}),
            "1 9 2 0.25 of 9, repetitions took 7 to 9 iterations");
  EXPECT_EQ(told({{true, 7, 1}, {false, 9, 4}, {true, 7, 2}}),
            "0 9 4 0.25 of 9, repetitions took 7 to 9 iterations");
}

/// One that fails has nothing of those before it but their set-ups and applications.
TEST(Repetitions, FailAlone) {
  RunRecord record;
  const RunRecord before = beginRepetition(record);
  record.precond = "ilu";
  record.setup_seconds = record.first_setup_seconds = record.apply30_seconds = 3;
  record.solve_seconds = 2;
  record.iterations = 7;
  record.rel_residual = 1e-9;
  record.history = {1, 1e-9};
  endRepetition(before, record);
  beginRepetition(record);
  recordFailure(std::bad_alloc(), record);
  EXPECT_EQ(record.precond, "ilu");
  EXPECT_EQ(record.setup_seconds, 3);
  EXPECT_EQ(record.first_setup_seconds, 3);
  EXPECT_EQ(record.apply30_seconds, 3);
  EXPECT_TRUE(std::isnan(record.solve_seconds));
  EXPECT_TRUE(std::isnan(record.rel_residual));
  EXPECT_EQ(record.iterations, 0);
  EXPECT_TRUE(record.history.empty());
}

/// A residual that is no number is worse than any that is, wherever its column is.
TEST(Columns, AreSummedUpByTheWorst) {
  const auto worst = [](const std::vector<double>& residuals, std::vector<bool> converged = {}) {
    RunRecord record;
    for (size_t c = 0; c < residuals.size(); ++c) {
      RunRecord column;
      column.rel_residual = residuals[c];
      column.converged = c < converged.size() && converged[c];
      column.message = message("column ", c);
      record.columns.push_back(column);
    }
    sumUpColumns(record);
    return record.message;
  };
  const double nan = std::nan("");
  EXPECT_EQ(worst({0.1, 0.3, 0.2}), "right-hand side 2: column 1");
  EXPECT_EQ(worst({0.1, nan, 0.2}), "right-hand side 2: column 1");
  EXPECT_EQ(worst({0.1, 0.2, infinity, nan}), "right-hand side 4: column 3");
  EXPECT_EQ(worst({0.1, 0.3, 0.2}, {false, true, true}), "right-hand side 1: column 0");
}

TEST_F(Judgement, ResidualNeitherOverflowsNorUnderflows) {
  for (const double size : {1e-300, 1.0, 1e300}) {
    const LinearSystem system = makeSystem(diagonal({size, size}));
    EXPECT_DOUBLE_EQ(
        relativeResidual(system.matrix, vectorOf({3 * size, 4 * size}), vectorOf({3, 2})), 0.4);
  }
  const auto& a = system_.matrix;
  EXPECT_EQ(relativeResidual(a, vectorOf({0}), vectorOf({0})), 0);
  EXPECT_EQ(relativeResidual(a, vectorOf({0}), vectorOf({0.5})), 2); // absolute
  EXPECT_EQ(relativeResidual(a, vectorOf({8}), vectorOf({-infinity})), infinity);
}

/// The second unknown is in no equation.
TEST_F(Judgement, UnknownsWithoutEntriesCount) {
  CommandLine command;
  command.matrix = write("b.mtx", "%%MatrixMarket matrix coordinate real general\n"
                                  "2 2 2\n1 1 1\n2 1 1\n");
  const LinearSystem system = makeSystem(command);
  const auto residual = [&](double x) {
    return relativeResidual(system.matrix, system.rhs, vectorOf({1, x}));
  };
  EXPECT_EQ(residual(5), 0);
  EXPECT_TRUE(std::isnan(residual(std::nan(""))));
  EXPECT_EQ(residual(infinity), infinity);
}

TEST_F(Files, RandomRightHandSidesAreThoseOfTheirSeed) {
  CommandLine command = diagonal(std::vector<double>(1000, 1.0));
  command.rhs = RhsKind::Random;
  for (const std::uint64_t seed : {1, 2}) {
    command.rhs_seed = seed;
    const HostVector b = makeSystem(command).rhs;
    std::mt19937_64 generator(seed);
    double sum = 0, smallest = 1, largest = -1;
    for (size_t i = 0; i < 1000; ++i) {
      EXPECT_NEAR(b(i), double(generator()) / 9223372036854775808.0 - 1, 1e-15) << i;
      sum += b(i);
      smallest = std::min(smallest, b(i));
      largest = std::max(largest, b(i));
    }
    EXPECT_NEAR(sum / 1000, 0, 0.1);
    EXPECT_LT(smallest, -0.99);
    EXPECT_GT(largest, 0.99);
  }
}

TEST_F(Files, OutputsKeepTheBestSolution) {
  CommandLine command = diagonal({1, 1});
  command.solution = folder_ + "/x.mtx";
  command.json = folder_ + "/o.json";
  const LinearSystem system = makeSystem(command);
  SolveOutputs outputs(command, system);
  EXPECT_TRUE(outputs.allConverged());
  const auto add = [&](bool converged, double seconds, double residual, double x) {
    RunRecord record;
    record.precond = "p" + std::to_string(outputs.records().size());
    record.converged = converged;
    record.status = converged ? "converged" : "stagnated";
    record.setup_seconds = 0;
    record.solve_seconds = seconds;
    record.rel_residual = residual;
    record.solution = vectorOf({x, x});
    outputs.add(std::move(record), "line\n");
    return read(command.solution);
  };
  EXPECT_EQ(add(false, 1, infinity, 1), ""); // nothing worth it
  EXPECT_NE(add(false, 1, 0.5, 2).find("p1: stagnated, relative residual 0.5\n"),
            std::string::npos);
  EXPECT_NE(add(true, 3, 1e-9, 3).find("p2: converged"), std::string::npos);
  EXPECT_FALSE(outputs.allConverged());
  EXPECT_NE(add(true, 4, 1e-12, 4).find("p2: converged"), std::string::npos); // slower
  const std::string last = add(true, 2, 1e-9, 5);
  EXPECT_NE(last.find("p4: converged"), std::string::npos) << last;
  EXPECT_EQ(last.substr(last.rfind("2 1\n")), "2 1\n5\n5\n");
  EXPECT_EQ(read(command.json), "line\nline\nline\nline\nline\n");
  EXPECT_FALSE(outputs.failed());
}

} // namespace
} // namespace perf
} // namespace ainvil
