// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Times batched Cholesky factorisations, the experiment with 13,000 systems of one size of the
/// paper on FSAI for GPUs (Bernaschi, Carrozzo, Franceschini and Janna 2019), and of mixed sizes.

#include "program/CommandLineOptions.hpp"
#include "program/KokkosProgram.hpp"
#include "studies/BatchedCholeskyPeer.hpp"

#include "Ainvil_BatchedCholesky.hpp"
#include "Ainvil_BuildInfo.hpp"
#include "dense/Ainvil_CholeskyKernels.hpp"
#include "io/Ainvil_Files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

namespace {

using namespace ainvil;
using namespace ainvil::perf;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using detail::packedRow;

struct Options {
  std::string help; ///< not empty: print it and stop

  std::vector<int> sizes = {8, 16, 32, 64, 96, 128, 160, 192, 224, 256};
  int count = 13000;
  int repeat = 5;
  bool mixed = true;
  std::string precision = "both";
  std::string csv, json;
};

/// A_ij in (-1, 1), the same for (j, i), and 2 n on the diagonal: dominant, hence definite.
KOKKOS_INLINE_FUNCTION double entryOf(Offset b, int n, int i, int j) {
  std::uint64_t h = (std::uint64_t(b) * 8191 + std::uint64_t(i > j ? i : j)) * 8191 +
                    std::uint64_t(i > j ? j : i) + 1;
  h *= 0x9E3779B97F4A7C15ull;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
  return i == j ? 2.0 * n : double(h >> 11) * 0x1p-52 - 1;
}

template <class Scalar>
struct PackedBatch {
  std::vector<Ordinal> sizes;
  Kokkos::View<Ordinal*, Device> device_sizes;
  Kokkos::View<Offset*, Device> offsets, vector_offsets;
  Kokkos::View<Scalar*, Device> pristine, values, vectors;
  Kokkos::View<int*, Device> info;

  explicit PackedBatch(const std::vector<Ordinal>& sizes_in)
      : sizes(sizes_in), device_sizes("Ainvil::perf", sizes.size()),
        offsets("Ainvil::perf", sizes.size()), vector_offsets("Ainvil::perf", sizes.size()),
        info("Ainvil::perf", sizes.size()) {
    const auto host_sizes = Kokkos::create_mirror_view(device_sizes);
    const auto host_offsets = Kokkos::create_mirror_view(offsets);
    const auto host_vector_offsets = Kokkos::create_mirror_view(vector_offsets);
    Offset length = 0, vector_length = 0;
    for (size_t b = 0; b < sizes.size(); ++b) {
      host_sizes(b) = sizes[b];
      host_offsets(b) = length;
      host_vector_offsets(b) = vector_length;
      length += packedRow(Offset(sizes[b]));
      vector_length += sizes[b];
    }
    Kokkos::deep_copy(device_sizes, host_sizes);
    Kokkos::deep_copy(offsets, host_offsets);
    Kokkos::deep_copy(vector_offsets, host_vector_offsets);
    pristine = Kokkos::View<Scalar*, Device>("Ainvil::perf", length);
    values = Kokkos::View<Scalar*, Device>("Ainvil::perf", length);
    vectors = Kokkos::View<Scalar*, Device>("Ainvil::perf", vector_length);
    fill();
  }
  void fill() const {
    const auto sizes_of = device_sizes;
    const auto offsets_of = offsets;
    const auto to = pristine;
    Kokkos::parallel_for(
        "Ainvil::perf", Kokkos::TeamPolicy<Exec>(static_cast<int>(sizes.size()), Kokkos::AUTO),
        KOKKOS_LAMBDA(const Kokkos::TeamPolicy<Exec>::member_type& member) {
          const int b = member.league_rank();
          const int n = sizes_of(b);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(member, n), [&](const int i) {
            for (int j = 0; j <= i; ++j)
              to(offsets_of(b) + packedRow(i) + j) = Scalar(entryOf(b, n, i, j));
          });
        });
    Kokkos::fence();
  }
  Offset bytes() const { return Offset(values.extent(0) * sizeof(Scalar)); }
};

/// The same matrices, all of size n, in full storage.
template <class Scalar>
Vector<Scalar, Device> fullMatrices(int n, int count) {
  const Vector<Scalar, Device> full("Ainvil::perf", size_t(n) * n * count);
  Kokkos::parallel_for(
      "Ainvil::perf", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Offset>>(0, full.extent(0)),
      KOKKOS_LAMBDA(const Offset at) {
        const Offset b = at / (n * n);
        const int e = static_cast<int>(at - b * n * n);
        full(at) = Scalar(entryOf(b, n, e / n, e % n));
      });
  Kokkos::fence();
  return full;
}

/// Median over `repeat` of the seconds of one call, several of them between two fences.
template <class Work>
double secondsOf(int repeat, const Work& work) {
  const auto timed = [&](int calls) {
    Kokkos::fence();
    Kokkos::Timer timer;
    for (int i = 0; i < calls; ++i)
      work();
    Kokkos::fence();
    return timer.seconds() / calls;
  };
  timed(1);
  const int calls = static_cast<int>(std::clamp(0.02 / timed(1), 1.0, 100.0));
  std::vector<double> seconds(repeat);
  for (double& s : seconds)
    s = timed(calls);
  std::nth_element(seconds.begin(), seconds.begin() + repeat / 2, seconds.end());
  return seconds[repeat / 2];
}

/// Seconds of `work`, which spoils `values`; they are put back before each call, and the time of
/// that is subtracted. NaN where that takes longer.
template <class View, class Work>
double secondsInPlace(int repeat, const View& values, const View& pristine, double restore,
                      const Work& work) {
  const double difference = secondsOf(repeat,
                                      [&] {
                                        Kokkos::deep_copy(Exec(), values, pristine);
                                        work();
                                      }) -
                            restore;
  return difference > 0 ? difference : not_measured;
}

template <class View>
double restoreSeconds(int repeat, const View& values, const View& pristine) {
  return secondsOf(repeat, [&] { Kokkos::deep_copy(Exec(), values, pristine); });
}

int countBad(const Kokkos::View<int*, Device>& info) {
  int bad = 0;
  Kokkos::parallel_reduce(
      "Ainvil::perf", Kokkos::RangePolicy<Exec>(0, info.extent(0)),
      KOKKOS_LAMBDA(const int b, int& sum) { sum += info(b) != 0 ? 1 : 0; }, bad);
  return bad;
}

class Report {
public:
  explicit Report(const Options& options) : options_(options), where_(describe(Exec())) {
    std::printf("%d systems a batch on %s, %s; GFLOP/s count n^3 / 3\n", options.count,
                where_.exec_space.c_str(), where_.device.c_str());
    std::printf("%-7s %-9s %10s %9s %7s %7s  %10s %9s  %10s %9s %6s\n", "", "size", "factor s",
                "GFLOP/s", "GB/s", "% copy", "+solve s", "GFLOP/s", "peer s", "GFLOP/s", "ratio");
    csv_ = "precision,size,count,factor_seconds,factor_gflops,factor_gbytes_per_second,"
           "share_of_copy,solve_seconds,solve_gflops,peer,peer_seconds,peer_gflops\n";
  }

  struct Row {
    std::string precision, size, peer;
    double flops = 0, bytes = 0;
    double restore = 0, factor = 0, solve = 0, peer_seconds = 0;
  };
  void add(const Row& row) {
    const double giga = 1e-9;
    // The copy reads and writes as much as the factorisation.
    const double rate = 2 * giga * row.bytes / row.factor, share = row.restore / row.factor;
    const double peer = row.peer_seconds > 0 ? giga * row.flops / row.peer_seconds : 0;
    std::printf("%-7s %-9s %10s %9s %7s %7s  %10s %9s", row.precision.c_str(), row.size.c_str(),
                shown("%.3e", row.factor).c_str(),
                shown("%.1f", giga * row.flops / row.factor).c_str(), shown("%.0f", rate).c_str(),
                shown("%.1f", 100 * share).c_str(), shown("%.3e", row.solve).c_str(),
                shown("%.1f", giga * row.flops / row.solve).c_str());
    if (peer > 0)
      std::printf("  %10.3e %9.1f %6s %s", row.peer_seconds, peer,
                  shown("%.2f", row.peer_seconds / row.factor).c_str(), row.peer.c_str());
    std::printf("\n");
    std::fflush(stdout);
    csv_ += row.precision + "," + row.size + "," + std::to_string(options_.count);
    for (const double value : {row.factor, giga * row.flops / row.factor, rate, share, row.solve,
                               giga * row.flops / row.solve})
      csv_ += "," + number(value);
    csv_ += "," + row.peer + "," + number(row.peer_seconds) + "," + number(peer) + "\n";
    const auto measured = [](double value) {
      return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    };
    json_ += nlohmann::ordered_json({{"program", "ainvil-batched-cholesky"},
                                     {"study", "cholesky"},
                                     {"precision", row.precision},
                                     {"size", row.size},
                                     {"count", options_.count},
                                     {"factor_seconds", row.factor},
                                     {"factor_gflops", giga * row.flops / row.factor},
                                     {"factor_gbytes_per_second", rate},
                                     {"share_of_copy", share},
                                     {"solve_seconds", row.solve},
                                     {"solve_gflops", giga * row.flops / row.solve},
                                     {"peer", row.peer},
                                     {"peer_seconds", measured(row.peer_seconds)},
                                     {"peer_gflops", measured(peer)},
                                     {"exec_space", where_.exec_space},
                                     {"device", where_.device},
                                     {"threads", where_.threads},
                                     {"kokkos_version", compat::kokkosVersion()},
                                     {"git", build_info::git}})
                 .dump() +
             "\n";
  }
  const std::string& csv() const { return csv_; }
  const std::string& json() const { return json_; } ///< a line a row

private:
  static std::string text(const char* format, double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), format, value);
    return buffer;
  }
  /// As in the tables and CSV of the other studies, where it was not measured.
  static std::string shown(const char* format, double value) {
    return std::isnan(value) ? "-" : text(format, value);
  }
  static std::string number(double value) { return std::isnan(value) ? "" : text("%.6g", value); }

  const Options& options_;
  Environment where_;
  std::string csv_, json_;
};

template <class Scalar>
void measure(const std::string& precision, const std::string& name,
             const std::vector<Ordinal>& sizes, const Options& options, Report& report) {
  Report::Row row;
  row.precision = precision;
  row.size = name;
  for (const Ordinal n : sizes)
    row.flops += double(n) * n * n / 3;
  {
    const PackedBatch<Scalar> batch(sizes);
    const BatchedCholesky<Scalar, Device> cholesky(Exec(), batch.device_sizes);
    const CholeskyBatch<Scalar, Device> a{batch.offsets, batch.values};
    const VectorBatch<Scalar, Device> g{batch.vector_offsets, batch.vectors};
    row.bytes = double(batch.bytes());
    row.restore = restoreSeconds(options.repeat, batch.values, batch.pristine);
    row.factor = secondsInPlace(options.repeat, batch.values, batch.pristine, row.restore,
                                [&] { cholesky.factor(Exec(), a, batch.info); });
    row.solve = secondsInPlace(options.repeat, batch.values, batch.pristine, row.restore,
                               [&] { cholesky.factorSolveLast(Exec(), a, g, batch.info); });
    const int bad = countBad(batch.info);
    if (bad > 0)
      throw std::runtime_error(
          message(bad, " matrices of size ", name, " are said to be indefinite"));
  }
  const int n = sizes.front();
  if (std::all_of(sizes.begin(), sizes.end(), [n](Ordinal size) { return size == n; })) {
    const auto pristine = fullMatrices<Scalar>(n, options.count);
    const Vector<Scalar, Device> values("Ainvil::perf", pristine.extent(0));
    if (const auto peer = CholeskyPeer<Scalar>::create(n, options.count, values)) {
      row.peer = peer->name();
      row.peer_seconds =
          secondsInPlace(options.repeat, values, pristine,
                         restoreSeconds(options.repeat, values, pristine), [&] { peer->factor(); });
    }
  }
  report.add(row);
}

template <class Scalar>
void measureAll(const std::string& precision, const Options& options, Report& report) {
  for (const int n : options.sizes)
    measure<Scalar>(precision, std::to_string(n), std::vector<Ordinal>(options.count, n), options,
                    report);
  if (options.mixed && options.sizes.size() > 1) {
    std::vector<Ordinal> sizes(options.count);
    for (int b = 0; b < options.count; ++b) // a fixed, irregular order
      sizes[b] =
          options.sizes[(std::uint64_t(b) * 0x9E3779B97F4A7C15ull >> 32) % options.sizes.size()];
    measure<Scalar>(precision, "mixed", sizes, options, report);
  }
}

Options parseOptions(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Times batched Cholesky factorisations of packed matrices",
               "ainvil-batched-cholesky");
  app.add_option("--sizes", options.sizes, "sizes, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 8000));
  app.add_option("--count", options.count, "matrices a batch")->check(CLI::Range(1, 100000000));
  addChoice(app, "--precision", options.precision, "of the matrices; default both",
            {"double", "float", "both"});
  app.add_option("--repeat", options.repeat, "the median of as many measurements is reported")
      ->check(CLI::Range(1, 1000));
  app.add_flag("!--no-mixed", options.mixed, "without the batch in which all sizes occur");
  app.add_option("--csv", options.csv, "results as CSV")->type_name("FILE");
  app.add_option("--json", options.json, "results as JSON, one object a row, one line each")
      ->type_name("FILE");
  options.help = parse(app, arguments);
  if (sameFile(options.csv, options.json))
    throw InvalidArgument(message("--csv and --json name the same file '", options.csv, "'"));
  return options;
}

ExitCode run(const Arguments& arguments) {
  const Options options = parseOptions(arguments.own);
  if (!options.help.empty()) {
    std::cout << options.help;
    return success;
  }
  for (const std::string& path : {options.csv, options.json})
    if (!path.empty())
      checkWritable(path);
  const KokkosScope scope(arguments);
  Report report(options);
  if (options.precision != "float")
    measureAll<double>("double", options, report);
  if (options.precision != "double")
    measureAll<float>("float", options, report);
  if (!options.csv.empty())
    writeFile(options.csv, report.csv());
  if (!options.json.empty())
    writeFile(options.json, report.json());
  return success;
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-batched-cholesky", argc, argv, run);
}
