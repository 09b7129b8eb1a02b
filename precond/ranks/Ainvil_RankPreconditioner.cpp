// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/Ainvil_RankPreconditioner.hpp"

#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"
#include "ranks/Ainvil_Outcome.hpp"

#include <limits>

namespace ainvil {
namespace ranks {

bool RankPreconditioner::choose(const Choice& choice, const char* block_size_name) {
  auto m = createPreconditioner<double, Device>(choice.specification);
  if (choice.block_size < 0)
    throw InvalidArgument(message(block_size_name, " must be at least 1, or 0 for the block size ",
                                  "of the matrix, but it is ", choice.block_size));
  if (m_ != nullptr && choice.specification == choice_.specification &&
      choice.block_size == choice_.block_size)
    return false;
  choice_ = choice;
  m_ = std::move(m);
  failure_.clear();
  return true;
}

void RankPreconditioner::reset() {
  m_.reset();
  block_ = LocalBlock();
  x_ = y_ = DeviceColumns();
  patterns_ = values_ = 0;
  failure_.clear();
}

void RankPreconditioner::setPattern(const Exec& exec, const StoredPattern& stored, int block_size) {
  // Anew, so that it is not initialized until setValues() has done so.
  m_ = createPreconditioner<double, Device>(choice_.specification);
  block_.initialize(exec, stored, block_size);
}

void RankPreconditioner::setValues(const Exec& exec, const double* values, Memory memory) {
  const LocalBlock::Matrix a = block_.get(exec, values, memory);
  if (!m_->isInitialized()) {
    m_->initialize(exec, a);
    ++patterns_;
  }
  try {
    m_->compute(exec, a);
  } catch (const InvalidArgument& error) {
    // The pattern is right, so it is a value: NaN, as of a Newton step that went too far.
    throw BreakdownError(error.what());
  }
  ++values_;
  if (!m_->objection().empty())
    throw BreakdownError(m_->objection());
}

void RankPreconditioner::apply(Columns<const double> x, Columns<double> y, int rows, int columns,
                               Trans trans) {
  const Exec exec;
  const auto end_all = [&] {
    fill(exec, y, rows, columns, std::numeric_limits<double>::infinity());
  };
  if (!failure_.empty()) {
    end_all();
    return;
  }
  try {
    if (m_ == nullptr)
      throw InvalidArgument("the preconditioner is applied before it is set up: set it up first");
    m_->apply(exec, x_.toRead(exec, x, rows, columns), y_.toWrite(exec, y, rows, columns), trans);
    y_.giveBack(exec, y, rows, columns);
    if (!on_gpu)
      compat::fence(exec, "Ainvil::RankPreconditioner"); // the other library gets its arrays back
  } catch (...) {
    end_all();
    throw;
  }
}

std::vector<std::string> RankPreconditioner::report(MPI_Comm comm, const Advice& advice) const {
  const Report of_rank = m_ == nullptr ? Report() : m_->report();
  const long long here[4] = {block_.padding(), of_rank.factor_entries, of_rank.factor_bytes,
                             of_rank.breakdowns};
  long long sums[4];
  int num_ranks;
  checkMpi(MPI_Comm_size(comm, &num_ranks));
  checkMpi(MPI_Allreduce(here, sums, 4, MPI_LONG_LONG, MPI_SUM, comm));
  std::vector<std::string> lines;
  const auto add = [&lines](const auto&... parts) { lines.push_back(message(parts...)); };
  if (m_ == nullptr) {
    add("ainvil ", choice_.specification, ", not set up");
    return lines;
  }
  add(m_->description());
  if (!m_->isFixed())
    add("varies between applications: take ", advice.flexible);
  if (!failure_.empty())
    add("failed: ", failure_);
  if (values_ > 0) {
    add("blocks of size ", block_.blockSize(),
        sums[0] > 0
            ? message(", filled up with ", sums[0], " zeros; ", advice.points, " goes without")
            : std::string());
    add("entries of the factors: ", sums[1], ", bytes that an application reads: ", sums[2]);
    add("pivots shifted or replaced: ", sums[3],
        num_ranks == 1 && of_rank.first_breakdown >= 0
            ? message(", first in ", counted("block row", of_rank.first_breakdown))
            : std::string());
    std::string phases;
    for (const auto& [name, seconds] : of_rank.phases.phases())
      phases += message(phases.empty() ? "" : ", ", name, " ", seconds);
    add("seconds of the last set-up", num_ranks > 1 ? " on the first rank" : "", ": ", phases);
    if (!of_rank.notes.empty())
      add("notes: ", of_rank.notes);
  }
  add("set-ups: ", patterns_, " of the pattern, ", values_, " of the values");
  return lines;
}

} // namespace ranks
} // namespace ainvil
