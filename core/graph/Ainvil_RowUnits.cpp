// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_RowUnits.hpp"

#include "backend/Ainvil_RowTeams.hpp"

#include <algorithm>
#include <utility>

namespace ainvil {
namespace detail {
namespace {

using Exec = HostDevice::execution_space;

constexpr Ordinal chain_of_its_own = 4; // rows

/// linked(p) = whether the row at position p > 0 has an entry in the one at p - 1, which is next to
/// the diagonal.
struct FindLinks {
  KernelGraph graph;
  RowPositions at;
  unsigned char* linked;

  void operator()(const Offset p) const {
    const Ordinal row = at(static_cast<Ordinal>(p)), before = at.lower ? row - 1 : row + 1;
    Offset begin = graph.row_map(row), end = graph.row_map(row + 1);
    if (at.lower)
      while (begin < end && graph.entries(end - 1) > before)
        --end;
    else
      while (begin < end && graph.entries(begin) < before)
        ++begin;
    linked[p] = begin < end && graph.entries(at.lower ? end - 1 : begin) == before;
  }
};

std::vector<Ordinal> cutChains(const std::vector<unsigned char>& linked, Ordinal longest,
                               Ordinal shortest) {
  const auto n = static_cast<Ordinal>(linked.size());
  std::vector<Ordinal> first;
  bool has_room = false; // the last unit, for a short chain
  for (Ordinal begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && linked[end])
      ++end;
    const Ordinal length = end - begin;
    if (length >= std::min(chain_of_its_own, shortest)) {
      const Ordinal parts = (length + longest - 1) / longest;
      for (Offset part = 0; part < parts; ++part)
        first.push_back(begin + static_cast<Ordinal>(part * length / parts));
      has_room = false;
    } else {
      if (!has_room || end - first.back() > shortest)
        first.push_back(begin);
      has_room = true;
    }
  }
  first.push_back(n);
  return first;
}

/// work(u) = entries and rows of the unit, unit_of(i) = u for its rows.
struct FillUnits {
  KernelGraph graph;
  RowPositions at;
  KernelArray<const Ordinal> first;
  Offset* work;
  Ordinal* unit_of;

  void operator()(const Offset u) const {
    const Ordinal begin = first(u), end = first(u + 1);
    for (Ordinal p = begin; p < end; ++p)
      unit_of[at(p)] = static_cast<Ordinal>(u);
    const Ordinal row = std::min(at(begin), at(end - 1));
    work[u] = graph.row_map(row + end - begin) - graph.row_map(row) + end - begin;
  }
};

/// The sources of the units of a part, each once: if `counts` their numbers into first_source, else
/// themselves. mark(part, v) tells the unit that had v last.
struct FindSources {
  KernelGraph graph;
  RowPositions at;
  Ordinal num_units;
  KernelArray<const Ordinal> part_begins, first, unit_of;
  Ordinal* marks;
  Offset* first_source;
  Ordinal* sources;
  bool counts;

  void operator()(const Offset part) const {
    Ordinal* const mark = marks + part * num_units;
    for (Ordinal u = part_begins(part); u < part_begins(part + 1); ++u) {
      const Ordinal seen = counts ? u : -1 - u; // units of the other pass do not look seen
      Offset found = counts ? 0 : first_source[u];
      for (Ordinal p = first(u); p < first(u + 1); ++p)
        for (Offset e = graph.row_map(at(p)); e < graph.row_map(at(p) + 1); ++e) {
          const Ordinal source = unit_of(graph.entries(e));
          if (source >= u || mark[source] == seen)
            continue;
          mark[source] = seen;
          if (!counts)
            sources[found] = source;
          ++found;
        }
      if (counts)
        first_source[u] = found;
    }
  }
};

/// Makes offsets of counts, of which the last one is 0.
void addUp(std::vector<Offset>& counts) {
  Offset sum = 0;
  for (Offset& count : counts)
    sum += std::exchange(count, sum);
}

/// Where parts of about as much work begin; one behind the last.
std::vector<Ordinal> partBegins(const RowUnits& units, int parts) {
  std::vector<Ordinal> begins;
  for (Offset part = 0; part <= parts; ++part) {
    const Offset before = units.work.back() / parts * part;
    begins.push_back(static_cast<Ordinal>(
        std::lower_bound(units.work.begin(), units.work.end(), before) - units.work.begin()));
  }
  begins.back() = units.count();
  return begins;
}

} // namespace

RowUnits rowUnits(const Exec& exec, const KernelGraph& graph, Uplo uplo, Ordinal longest,
                  Ordinal shortest) {
  const Ordinal n = graph.num_rows;
  const RowPositions at{n, uplo == Uplo::Lower};
  std::vector<unsigned char> linked(n);
  Kokkos::parallel_for("Ainvil::rowUnits[links]", Range<Exec>(exec, 0, n),
                       FindLinks{graph, at, linked.data()});
  compat::fence(exec, "Ainvil::rowUnits");
  RowUnits units;
  units.first = cutChains(linked, longest, shortest);
  const Ordinal count = units.count();
  units.work.resize(size_t(count) + 1);
  units.first_source.resize(size_t(count) + 1);
  std::vector<Ordinal> unit_of(n);
  Kokkos::parallel_for("Ainvil::rowUnits[fill]", Range<Exec>(exec, 0, count),
                       FillUnits{graph, at, units.first, units.work.data(), unit_of.data()});
  compat::fence(exec, "Ainvil::rowUnits");
  addUp(units.work);
  // A part has a mark for every unit: together not more than four for every row.
  const int parts = std::max(1, std::min<int>(exec.concurrency(), 4 * Offset(n) / (count + 1)));
  const std::vector<Ordinal> part_begins = partBegins(units, parts);
  std::vector<Ordinal> marks(size_t(parts) * count, count);
  const auto find = [&](bool counts) {
    Kokkos::parallel_for("Ainvil::rowUnits[sources]", Range<Exec>(exec, 0, parts),
                         FindSources{graph, at, count, part_begins, units.first, unit_of,
                                     marks.data(), units.first_source.data(), units.sources.data(),
                                     counts});
    compat::fence(exec, "Ainvil::rowUnits");
  };
  find(true);
  addUp(units.first_source);
  units.sources.resize(size_t(units.first_source.back()));
  find(false);
  return units;
}

void joinUnits(const RowUnits& units, Offset most_work, Joining joining, RowGroups& groups) {
  groups.first.clear();
  groups.step.clear();
  groups.group.resize(size_t(units.count()));
  for (Ordinal u = 0; u < units.count(); ++u) {
    const Ordinal last = groups.count() - 1;
    bool depends = false;
    Ordinal step = 0; // after all groups but the last
    for (Offset k = units.first_source[u]; k < units.first_source[u + 1]; ++k) {
      const Ordinal source = groups.group[units.sources[k]];
      if (source == last)
        depends = true;
      else
        step = std::max(step, groups.step[source] + 1);
    }
    const auto joins = [&] {
      if (last < 0 || units.work[u + 1] - units.work[groups.first[last]] > most_work)
        return false;
      const Ordinal its = groups.step[last];
      return step == its || (depends && (step < its || joining == Joining::Chained));
    };
    if (joins()) {
      groups.step[last] = std::max(groups.step[last], step);
      groups.group[u] = last;
      continue;
    }
    groups.first.push_back(u);
    groups.step.push_back(depends ? std::max(step, groups.step[last] + 1) : step);
    groups.group[u] = last + 1;
  }
  groups.first.push_back(units.count());
}

} // namespace detail
} // namespace ainvil
