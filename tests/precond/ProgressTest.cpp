// SPDX-License-Identifier: BSD-3-Clause
// What setProgress() is told by phases of rows: of patterns, of the matching.

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "precond/PrecondSupport.hpp"

#include <stdexcept>
#include <thread>

namespace ainvil {
namespace test {
namespace {

constexpr bool on_gpu = compat::IsGpu<Exec>::value;

/// Rows in a random order, a few of whose entries are as large as those of a permutation: passes
/// over the entries leave hundreds of rows to the searches of the matching.
HostBsr tangled() {
  const Ordinal n = 4000;
  RandomOptions options;
  options.diagonal = false;
  options.seed = 31;
  Rows rows = randomRows(n, n, std::vector<Ordinal>{1, 3, 5, 2}, options);
  for (Ordinal i = 0; i < n; ++i) {
    const Ordinal j = static_cast<Ordinal>((Offset(i) * 1237 + 5) % n);
    if (std::find(rows[i].begin(), rows[i].end(), j) == rows[i].end())
      rows[i].push_back(j);
  }
  return randomMatrix(rows, n, 1, options);
}

struct Case {
  const char* specification;
  const char* problem; ///< of the gallery, or "tangled"
  std::vector<std::string> phases;
  size_t in_initialize = 0; ///< so many of the phases
  /// Of a launch of the host by a thread, at least, where it has launches; on GPUs there is one.
  Ordinal rows_of_launch = 0;

  size_t fewestCalls(Ordinal num_rows) const {
    if (rows_of_launch == 0)
      return 90;
    return on_gpu ? 1 : std::min(90, num_rows / (rows_of_launch * Exec().concurrency()));
  }

  HostBsr matrix() const {
    return problem == std::string("tangled") ? tangled() : makeProblem(problem).matrix;
  }
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.specification << " on " << c.problem;
}

const std::string found = "rows of the pattern", matched = "rows matched";

const Case cases[] = {
    {"ilu:factorization=ilut,search=sequential", "convdiff:11x12x9", {found}},
    {"ilu:factorization=ilut,search=parallel", "convdiff:11x12x9", {found}},
    {"ilu:factorization=ilut,search=parallel,steps=1", "convdiff:16x15x14", {found}},
    {"ilu:factorization=ilut,search=sequential", "cavity:25", {found}},
    {"ilu:factorization=ilut,search=parallel", "cavity:25", {found}},
    {"ic:factorization=ict,search=sequential", "poisson5:31x27", {found}},
    {"ic:factorization=ict,search=parallel", "poisson5:31x27", {found}},
    {"ilu:level=2", "poisson5:121x107", {found}, 1, 64},
    {"ilu:level=2", "circuit:12000", {found}, 1, 64},
    {"ic:level=2", "poisson5:121x107", {found}, 1, 64},
    {"fsai", "poisson5:181x170", {"rows"}, 0, 128},
    {"fsai:adaptive=3", "poisson5:61x57", {found, "rows"}, 1, 128},
    {"ilu:match=product,breakdown=shift", "tangled", {matched}},
    {"ilu:match=product,factorization=ilut,search=sequential,breakdown=shift",
     "tangled",
     {matched, found}},
};

class Progress : public ::testing::TestWithParam<Case> {
protected:
  Progress() : a_(copyTo<Device>(GetParam().matrix())) {}

  PreconditionerPtr<double, Device> make() const {
    return createPreconditioner<double, Device>(GetParam().specification);
  }
  static void setUp(Preconditioner<double, Device>& m, const DeviceBsr& a) {
    m.initialize(a);
    m.compute(a);
  }
  std::vector<double> appliedBy(const Preconditioner<double, Device>& m) const {
    const size_t n = size_t(a_.numPointRows());
    const auto y = poisoned(n, 1);
    m.apply(Exec(), toDevice(Random(5).vector(n), n, 1), y);
    return toHost(y);
  }

  DeviceBsr a_;
};

TEST_P(Progress, CountsUpToAllRowsAndChangesNothing) {
  const auto plain = make(), told = make();
  setUp(*plain, a_);
  std::vector<std::string> phases;
  std::vector<std::vector<Offset>> counts;
  const std::thread::id caller = std::this_thread::get_id();
  told->setProgress([&](const char* phase, Offset done, Offset total) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(total, a_.numRows());
    if (phases.empty() || phases.back() != phase) {
      phases.emplace_back(phase);
      counts.emplace_back();
    }
    counts.back().push_back(done);
  });
  setUp(*told, a_);
  EXPECT_EQ(phases, GetParam().phases);
  for (const auto& done : counts) {
    EXPECT_GT(done.front(), 0);
    for (size_t k = 1; k < done.size(); ++k)
      EXPECT_GE(done[k], done[k - 1]);
    EXPECT_EQ(done.back(), a_.numRows());
    EXPECT_GE(done.size(), GetParam().fewestCalls(a_.numRows()));
    EXPECT_LE(done.size(), 300u);
  }
  EXPECT_EQ(appliedBy(*told), appliedBy(*plain));
}

TEST_P(Progress, EndsTheSetUpWithWhatItThrows) {
  const auto plain = make(), told = make();
  setUp(*plain, a_);
  const auto result = appliedBy(*plain);
  size_t phases = 0;
  for (const std::string& in_phase : GetParam().phases) {
    const bool in_initialize = phases++ < GetParam().in_initialize;
    told->setProgress([&](const char* phase, Offset done, Offset total) {
      if (phase == in_phase && done >= total / 2)
        throw std::runtime_error("enough");
    });
    EXPECT_THROW(setUp(*told, a_), std::runtime_error);
    EXPECT_EQ(told->isInitialized(), !in_initialize);
    EXPECT_FALSE(told->isComputed());
    told->setProgress({});
    if (in_initialize)
      told->initialize(a_);
    told->compute(a_);
    EXPECT_EQ(appliedBy(*told), result);
  }
}

INSTANTIATE_TEST_SUITE_P(Phases, Progress, ::testing::ValuesIn(cases));

/// Where pivots break down the pattern is searched again, of a shifted matrix.
TEST(ProgressOfSearches, BeginsAnewWithAShift) {
  HostBsr a = makeProblem("poisson5:30x20").matrix;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (a.graph.entries(e) == i)
        a.values(e) -= 1.5;
  const auto m = createPreconditioner<double, Device>(
      "ic:factorization=ict,search=sequential,breakdown=shift");
  std::vector<Offset> counts;
  m->setProgress([&](const char*, Offset done, Offset) { counts.push_back(done); });
  test::setUp(*m, a);
  EXPECT_FALSE(std::is_sorted(counts.begin(), counts.end()));
  EXPECT_EQ(counts.back(), a.numRows());
}

} // namespace
} // namespace test
} // namespace ainvil
