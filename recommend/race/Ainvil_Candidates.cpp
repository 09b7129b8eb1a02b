// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Candidates.hpp"

#include "Ainvil_Error.hpp"
#include "parameters/Ainvil_SpecificationText.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ainvil {
namespace detail {
namespace {

using Solvers = std::vector<std::pair<std::string, int>>;

const int usual_restart = Configuration().restart;
const std::pair<std::string, int> gmres{"gmres", usual_restart}, gmres100{"gmres", 100},
    bicgstab{"bicgstab", usual_restart}, cg{"cg", usual_restart};

/// Nearly complete factors are for matrices of so many rows at most.
constexpr Offset small_rows = 50000;
/// ILU(1) in the order of the matrix is for matrices of so few products of fill an entry: where
/// some rows and columns are long it fills the matrix up.
constexpr double few_products = 12;

/// What modified factors add of the dropped entries to the diagonal, to begin with. Of the whole,
/// 1, one step solves for b = A times ones, whatever the matrix.
constexpr const char* first_weight = "0.95";

/// The larger the grid, the nearer to 1 is the best one. Empty behind the last.
std::string nextWeight(const std::string& weight) {
  return weight == first_weight ? "0.99" : weight == "0.99" ? "0.998" : "";
}

/// Whose factors may be of level 1 without another order.
bool fillsLittle(const MatrixTraits& traits) {
  return traits.fill_products <= few_products;
}

/// How much longer than with level 1 the set-up with level 4 takes: few products an entry are those
/// of a grid in the plane, where the factors grow slowly.
double growthOfFill(const MatrixTraits& traits) {
  constexpr double growth_in_the_plane = 6, products_in_the_plane = 0.8;
  return growth_in_the_plane *
         std::pow(std::max(1.0, traits.fill_products / products_in_the_plane), 1.5);
}

/// For matrices that nothing usual solves: rows exchanged for large diagonals, pivots shifted, and
/// more fill in an order that bounds it. Cheaper ones first.
std::vector<Candidate> lastResorts(const MatrixTraits& traits, bool gpu, bool single_precision) {
  const int bs = traits.block_size;
  const Solvers both{gmres, bicgstab}, all{gmres, bicgstab, gmres100};
  Solvers both_and_cg = both, all_and_cg = all;
  if (traits.maybeSpd())
    for (Solvers* solvers : {&both_and_cg, &all_and_cg})
      solvers->insert(solvers->begin(), cg);
  const std::string tolerant = std::string("breakdown=shift,pivot-tol=") +
                               (single_precision ? "200" : "1e11"); // pivots below 2e-5 of a row
  const std::string matched = "ilu:match=product",
                    rcm1 = matched + ",reorder=rcm,level=1,breakdown=shift",
                    nd1 = matched + ",reorder=nd,level=1,breakdown=shift",
                    nd_threshold =
                        matched + ",reorder=nd,factorization=ilut,drop=1e-4,breakdown=shift";
  const double of_level4 = growthOfFill(traits) / 3;
  std::vector<Candidate> list{
      {matched, bs, both_and_cg},
      {rcm1, bs, all_and_cg, matched, 1},
      {nd_threshold, bs, both, nd1, 2},
      {nd1, bs, both_and_cg, rcm1, 1.5},
      {"ilu:reorder=nd,factorization=ilut,drop=1e-4," + tolerant, bs, all, nd_threshold, 1},
      {"ilu:reorder=nd,level=4," + tolerant, bs, all_and_cg, nd1, of_level4},
      {matched + ",reorder=nd,level=4,breakdown=shift", bs, both_and_cg, nd1, of_level4}};
  if (gpu)
    list.insert(list.begin() + 1, {matched + ",solve=isai,power=2,relax=auto", bs, both});
  if (traits.rows <= small_rows)
    list.push_back({matched + ",reorder=nd,factorization=ilut,drop=1e-5,breakdown=shift", bs, both,
                    nd_threshold, 2});
  list.push_back({"ilu:reorder=rcm,level=1," + tolerant, bs, both_and_cg, "ilu", 2});
  return list;
}

std::vector<Candidate> ofHosts(const MatrixTraits& traits) {
  const int bs = traits.block_size, natural = traits.natural_block_size;
  const Solvers both{gmres, bicgstab};
  const std::string rcm1 = "ilu:reorder=rcm,level=1,breakdown=shift",
                    nd4 = "ilu:reorder=nd,level=4,breakdown=shift",
                    threshold = "ilu:factorization=ilut,drop=1e-2",
                    modified_ic = std::string("ic:modified=") + first_weight,
                    modified_ilu = std::string("ilu:modified=") + first_weight;
  std::vector<Candidate> list;
  if (traits.maybeSpd()) {
    list = {{"ic", bs, {cg}},
            {"jacobi", bs, {cg}},
            {"none", bs, {cg}},
            {modified_ic, bs, {cg}, "ic", 1},
            {"fsai:power=1", bs, {cg}, "ic", 1}};
    if (natural != bs)
      list.insert(list.begin() + 1, {"ic", natural, {cg}});
    if (fillsLittle(traits))
      list.push_back({"ic:level=1", bs, {cg}, "ic", 2});
    list.push_back({rcm1, bs, {cg}, "ic", 1});
    list.push_back({"ilu", bs, both, "ic", 1});
    list.push_back({nd4, bs, {cg}, rcm1, growthOfFill(traits)});
    list.push_back({threshold, bs, {bicgstab}, "ilu", 8});
    list.push_back({"ainv", bs, {cg}, "ic", 10});
  } else {
    list = {{"ilu", bs, both}, {"none", bs, {gmres}}};
    if (natural != bs)
      list.push_back({"ilu", natural, both});
    list.push_back({modified_ilu, bs, both, "ilu", 1});
    if (fillsLittle(traits))
      list.push_back({"ilu:level=1", bs, both, "ilu", 2});
    list.push_back({threshold, bs, {bicgstab, gmres}, "ilu", 8});
    list.push_back({"jacobi", bs, {bicgstab, gmres}});
    list.push_back({"ilu:reorder=rcm", bs, both, "ilu", 1});
    list.push_back({rcm1, bs, both, "ilu:reorder=rcm", 1.5});
    if (fillsLittle(traits))
      list.push_back({"ilu:level=1", bs, {gmres100}, "ilu", 2});
    list.push_back({"ilu:factorization=ilut,drop=1e-3", bs, both, threshold, 4});
    list.push_back({nd4, bs, both, rcm1, growthOfFill(traits)});
  }
  return list;
}

std::vector<Candidate> ofGpus(const MatrixTraits& traits) {
  const int bs = traits.block_size, natural = traits.natural_block_size;
  const Solvers both{gmres, bicgstab};
  std::vector<Candidate> list;
  if (traits.maybeSpd()) {
    list = {{"fsai:power=1", bs, {cg}},
            {"jacobi", bs, {cg}},
            {"ic:solve=isai", bs, {cg}},
            {"fsai", bs, {cg}, "fsai:power=1", 1},
            {"ic:solve=isai,power=2", bs, {cg}, "ic:solve=isai", 1},
            {"ic:solve=jacobi,sweeps=3", bs, {cg}},
            {"ilu:solve=isai", bs, both},
            {"none", bs, {cg}},
            {"ic", bs, {cg}}};
    if (natural != bs)
      list.insert(list.begin() + 2, {"fsai:power=1", natural, {cg}});
  } else {
    list = {{"ilu:solve=isai", bs, both},
            {"ilu:solve=isai,power=2", bs, both, "ilu:solve=isai", 1},
            {"ilu:solve=isai,poly=20", bs, {gmres}, "ilu:solve=isai", 2},
            {"ilu:solve=isai,power=3", bs, both, "ilu:solve=isai,power=2", 1.3},
            {"jacobi", bs, {bicgstab, gmres}},
            {"ilu:solve=jacobi,sweeps=3", bs, both},
            {"ilu:solve=isai,relax=1", bs, both},
            {"ilu:solve=isai,relax=auto", bs, {gmres}},
            {"none", bs, {gmres}},
            {"ilu:factorization=ilut,drop=1e-2,solve=isai", bs, both, "ilu:solve=isai", 8},
            {"ilu", bs, both}};
    if (natural != bs)
      list.insert(list.begin() + 1, {"ilu:solve=isai", natural, both});
  }
  return list;
}

} // namespace

std::string changed(const std::string& specification, const std::string& key,
                    const std::string& value) {
  SpecificationText from(specification), result(from.method());
  from.set(key, value);
  if (from.value("level") == "0")
    from.remove("level");
  const auto move = [&](const std::string& name) {
    if (!from.has(name))
      return;
    result.set(name, from.value(name));
    from.remove(name);
  };
  const std::vector<std::string> last{"power", "relax", "storage", "poly", "poly-storage"};
  for (const char* first : {"match", "reorder", "level"})
    move(first);
  for (const std::string& name : from.keys())
    if (std::find(last.begin(), last.end(), name) == last.end())
      move(name);
  for (const std::string& name : last)
    move(name);
  return result.text();
}

std::vector<Candidate> firstCandidates(const MatrixTraits& traits, bool gpu,
                                       bool single_precision) {
  auto list = gpu ? ofGpus(traits) : ofHosts(traits);
  const auto last = lastResorts(traits, gpu, single_precision);
  // Zeros on the diagonal: what is made for them takes turns with what may do in spite of them.
  const bool zeros = traits.weak_diagonals > 0;
  for (size_t i = 0; i < last.size(); ++i)
    list.insert(zeros ? list.begin() + std::min(2 * i, list.size()) : list.end(), last[i]);
  return list;
}

std::vector<Candidate> neighbours(const RaceEntry& entry, const MatrixTraits& traits, bool gpu) {
  std::vector<Candidate> list;
  const SpecificationText spec(entry.precond);
  const auto number = [&](const char* key, int otherwise) {
    const std::string text = spec.value(key);
    return text.empty() ? otherwise : std::atoi(text.c_str());
  };
  const auto with = [&](const char* key, const std::string& value) {
    return changed(entry.precond, key, value);
  };
  const std::string& method = spec.method();
  const Solvers same{{entry.solver, entry.restart}};
  const auto add = [&](const std::string& other, double growth) {
    list.push_back({other, entry.block_size, same, entry.precond, growth});
  };
  const auto addSolver = [&](const std::string& solver, int restart) {
    list.push_back({entry.precond, entry.block_size, {{solver, restart}}});
  };
  const bool restarts = entry.solver == "gmres" && entry.iterations > entry.restart;
  if (restarts && entry.restart < 200)
    addSolver("gmres", entry.restart < 100 ? 100 : 200);
  if (traits.maybeSpd() && entry.solver != "cg")
    addSolver("cg", usual_restart);
  else if (entry.solver == "gmres" && entry.iterations > 3)
    addSolver("bicgstab", usual_restart);
  else if (entry.solver == "bicgstab")
    addSolver("gmres", entry.iterations > 15 ? 100 : usual_restart);

  const bool few = entry.iterations <= 3; // there is no more to be gained by better factors
  const bool factors = method == "ilu" || method == "ic";
  const bool by_threshold = spec.value("factorization") == "ilut";
  if (by_threshold) {
    const std::string text = spec.value("drop");
    const int digits =
        text.empty() ? 3 : static_cast<int>(std::lround(-std::log10(std::atof(text.c_str()))));
    if (!few)
      add(with("drop", message("1e-", digits + 1)), 3);
    if (digits > 1)
      add(with("drop", message("1e-", digits - 1)), 0);
    for (const char* order : {"rcm", "nd"})
      if (spec.value("reorder") != order)
        add(with("reorder", order), 0.5);
  } else if (factors) {
    const int level = number("level", 0);
    const bool ordered = !spec.value("reorder").empty();
    if (!few && (ordered || fillsLittle(traits))) {
      add(with("level", std::to_string(level + 1)), level == 0 ? 2 : 1.2);
      if (level > 0)
        add(with("level", std::to_string(level + 2)), 1.5);
    }
    if (level > 0 && ordered)
      add(with("level", std::to_string(level - 1)), 0);
    // Orders that scatter neighbours drop entries that tell little of each other.
    const std::string weight = spec.value("modified"),
                      next = weight.empty() ? first_weight : nextWeight(weight);
    if (!few && !next.empty() && spec.value("reorder") != "nd")
      add(with("modified", next), 1);
    if (method == "ilu" && spec.value("reorder") == "nd")
      add(with("reorder", "rcm"), 0.5);
    if (method == "ilu" && spec.value("reorder") == "rcm" && level > 0)
      add(with("reorder", "nd"), 0.7);
    if (method == "ilu" && spec.value("match").empty() && spec.value("scale").empty() && ordered)
      add(with("match", "product"), 1);
  }
  if (spec.value("solve") == "isai") {
    add(with("power", std::to_string(number("power", 1) + 1)), 1.2);
    if (spec.value("relax").empty())
      add(with("relax", "1"), 1);
  }
  if (method == "fsai") {
    const int power = number("power", 2);
    add(with("power", std::to_string(power + 1)), 1.5);
  }
  if (method != "none" && method != "jacobi" && method != "chebyshev" && !few) {
    if (spec.value("storage").empty())
      add(with("storage", "float"), 1);
    if (gpu && spec.value("storage") == "float")
      add(with("storage", "bfloat16"), 1);
  }
  // On GPUs inner products cost more, which pays for a higher degree, and reading A is most of a
  // product: in float it is half. Hosts have gained nothing by float.
  const int degree = number("poly", 0);
  const auto addPolynomial = [&](const std::string& other) {
    list.push_back({other, entry.block_size, {gmres}, entry.precond, 1});
  };
  if (degree == 0 && entry.iterations > 60 && entry.solver != "cg")
    addPolynomial(gpu ? changed(with("poly", "20"), "poly-storage", "float") : with("poly", "10"));
  if (degree > 0 && degree < 80 && entry.iterations > 20)
    addPolynomial(with("poly", std::to_string(2 * degree)));
  if (method == "jacobi" && traits.maybeSpd() && spec.value("poly").empty())
    list.push_back({"chebyshev", entry.block_size, same});
  if (entry.block_size == 1 && traits.natural_block_size > 1 && spec.value("match").empty())
    list.push_back({entry.precond, traits.natural_block_size, same});
  return list;
}

} // namespace detail
} // namespace ainvil
