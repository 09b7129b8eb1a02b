// SPDX-License-Identifier: BSD-3-Clause
#include "solve/TpetraSolve.hpp"

#include "peers/CusparseIlu.hpp"
#include "solve/MueLu.hpp"
#include "solve/TpetraKrylov.hpp"

#include "Ainvil_Partition.hpp"
#include "Ainvil_TpetraCollective.hpp"

#include <Ifpack2_AdditiveSchwarz.hpp>

#include <algorithm>
#include <cstdlib>

namespace ainvil {
namespace perf {
namespace {

using Teuchos::ParameterList;
using OurPreconditioner = tpetra::Preconditioner<TpetraRow>;
using MultiVector = Tpetra::MultiVector<>;

/// cuSPARSE's exact triangular solves on the diagonal block of each rank.
class CusparseBlockJacobi final : public tpetra::BlockJacobi<TpetraRow> {
public:
  CusparseBlockJacobi(const Teuchos::RCP<const TpetraRow>& a, std::string specification)
      : BlockJacobi(a, "none"), specification_(std::move(specification)) {}

protected:
  PreconditionerPtr<double, tpetra::Map::node_type::device_type> createLocal() const override {
    return createCusparseIlu(specification_);
  }

private:
  std::string specification_;
};

bool isOurs(const std::string& specification) {
  return isCusparseIlu(specification) || tpetra::isOwnName(specification);
}

bool isMueLu(const std::string& specification) {
  return tpetra::methodOf(specification) == "muelu";
}

void set(ParameterList& list, const std::string& name, const std::string& value) {
  const size_t slash = name.find('/');
  char* end_of_number;
  const double number = std::strtod(value.c_str(), &end_of_number);
  if (slash != std::string::npos)
    set(list.sublist(name.substr(0, slash)), name.substr(slash + 1), value);
  else if (value.empty() || *end_of_number != '\0')
    list.set(name, value);
  else if (value.find_first_of(".eE") == std::string::npos)
    list.set(name, static_cast<int>(number));
  else
    list.set(name, number);
}

/// "RILUK:fact: iluk level-of-fill=1" as name and list; numbers are told by their looks, and a
/// slash ends the name of a sublist.
std::pair<std::string, ParameterList> ofTrilinos(const std::string& specification) {
  const size_t colon = specification.find(':');
  ParameterList list;
  size_t begin = colon;
  while (begin < specification.size()) {
    const size_t end = std::min(specification.find(',', ++begin), specification.size());
    const std::string pair = specification.substr(begin, end - begin);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos)
      throw InvalidArgument(message("preconditioner '", specification, "': '", pair,
                                    "' is not of the form NAME=VALUE"));
    set(list, pair.substr(0, equals), pair.substr(equals + 1));
    begin = end;
  }
  return {specification.substr(0, colon), list};
}

} // namespace

double maxOverRanks(const tpetra::Comm& comm, double value) {
  double largest = value;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MAX, value, Teuchos::outArg(largest));
  return largest;
}

Offset sumOverRanks(const tpetra::Comm& comm, Offset value) {
  long long sum = 0;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_SUM, static_cast<long long>(value),
                     Teuchos::outArg(sum));
  return sum;
}

Teuchos::RCP<const tpetra::Map> makeRowMap(const CommandLine& command, Ordinal num_rows,
                                           const std::function<Graph<HostDevice>()>& makeGraph,
                                           const Teuchos::RCP<const tpetra::Comm>& comm) {
  const int ranks = comm->getSize();
  std::vector<int> owners;
  tpetra::onAllRanks(*comm, [&] {
    if (comm->getRank() != 0)
      return;
    owners.resize(num_rows);
    if (command.by_metis && ranks > 1) {
      const auto parts = partition(makeGraph(), ranks);
      std::copy(parts.part_of.data(), parts.part_of.data() + owners.size(), owners.begin());
    } else {
      for (size_t i = 0; i < owners.size(); ++i)
        owners[i] = static_cast<int>(i * ranks / owners.size());
    }
  });
  return tpetra::makeRowMap(comm, owners);
}

void checkSpecification(const CommandLine& command, const std::string& specification) {
  if (isCusparseIlu(specification)) {
    createCusparseIlu(specification);
    return;
  }
  if (isOurs(specification)) {
    const auto m =
        createPreconditioner<double, HostDevice>(tpetra::localSpecification(specification));
    if (!m->isFixed() && !takesVarying(command))
      throw InvalidArgument(message("preconditioner '", specification,
                                    "' is another linear map at every application, but ",
                                    command.belos.empty() ? command.solver : command.belos,
                                    " relies on a fixed one; take --solver fgmres"));
    return;
  }
  const auto [name, list] = ofTrilinos(specification);
  if (isMueLu(specification)) {
    requireMueLu();
    return;
  }
  Teuchos::RCP<Ifpack2::Preconditioner<>> m;
  try {
    m = tpetra::create<TpetraRow>(name, Teuchos::null);
  } catch (const std::exception&) {
    throw InvalidArgument(message("preconditioner '", specification,
                                  "': the method is neither one of Ainvil's (none, jacobi, ilu, "
                                  "fsai, local-fsai, ainv) nor one of this Ifpack2's"));
  }
  try {
    m->setParameters(list);
  } catch (const std::exception& error) {
    throw InvalidArgument(message("preconditioner '", specification, "': ", error.what()));
  }
}

TpetraPreconditioner::TpetraPreconditioner(const CommandLine& command,
                                           const std::string& specification,
                                           const Teuchos::RCP<const TpetraRow>& a, int block_size) {
  const bool ours = isOurs(specification);
  std::string name = specification;
  ParameterList list;
  if (!ours)
    std::tie(name, list) = ofTrilinos(specification);
  const bool nested =
      command.overlap > 0 && tpetra::methodOf(specification) != "fsai" && !isMueLu(specification);
  const Teuchos::RCP<const TpetraRow> inner_matrix = nested && ours ? Teuchos::null : a;
  if (isMueLu(specification))
    inner_ = createMueLu(a, block_size, list);
  else if (isCusparseIlu(specification))
    inner_ = Teuchos::rcp(new CusparseBlockJacobi(inner_matrix, specification));
  else
    inner_ = tpetra::create<TpetraRow>(name, inner_matrix);
  const auto* over_ranks = dynamic_cast<tpetra::DistributedFsai<TpetraRow>*>(inner_.get());
  if (ours && over_ranks == nullptr && block_size > 1)
    list.set("block: size", block_size);
  if (ours && !isCusparseIlu(specification) && takesVarying(command))
    list.set(tpetra::allow_varying, true);
  if (!isMueLu(specification))
    inner_->setParameters(list);
  outer_ = inner_;
  if (!nested)
    return;
  const auto schwarz = Teuchos::rcp(new Ifpack2::AdditiveSchwarz<TpetraRow>(a));
  ParameterList around;
  around.set("schwarz: overlap level", command.overlap);
  schwarz->setParameters(around);
  schwarz->setInnerPreconditioner(inner_);
  outer_ = schwarz;
}

// Trilinos' preconditioners throw on the rank concerned alone, after all communication; ours where
// AdditiveSchwarz has given them the matrix of one rank.
void TpetraPreconditioner::initialize() const {
  tpetra::onAllRanks(*outer_->getMatrix()->getComm(), [&] { outer_->initialize(); });
}

void TpetraPreconditioner::compute() const {
  tpetra::onAllRanks(*outer_->getMatrix()->getComm(), [&] { outer_->compute(); });
}

void TpetraPreconditioner::report(const tpetra::Comm& comm, RunRecord& record) const {
  record.setup_phases.clear();
  if (sharesRows() || dynamic_cast<OurPreconditioner*>(inner_.get()) == nullptr) {
    record.setup_phases.emplace_back("initialize", maxOverRanks(comm, outer_->getInitializeTime()));
    record.setup_phases.emplace_back("compute", maxOverRanks(comm, outer_->getComputeTime()));
  }
  const auto* ours = dynamic_cast<OurPreconditioner*>(inner_.get());
  if (ours == nullptr)
    return;
  const Report& report = ours->localReport();
  // The phases of rank 0: others have the same, or had nothing to do in one.
  int count = static_cast<int>(report.phases.phases().size());
  Teuchos::broadcast(comm, 0, Teuchos::outArg(count));
  for (int i = 0; i < count; ++i) {
    std::string name = comm.getRank() == 0 ? report.phases.phases()[i].first : "";
    int length = static_cast<int>(name.size());
    Teuchos::broadcast(comm, 0, Teuchos::outArg(length));
    name.resize(length);
    Teuchos::broadcast(comm, 0, length, &name[0]);
    double seconds = 0;
    for (const PhaseTimes::Phase& phase : report.phases.phases())
      if (phase.first == name)
        seconds = phase.second;
    record.setup_phases.emplace_back(name, maxOverRanks(comm, seconds));
  }
  record.factor_entries = sumOverRanks(comm, report.factor_entries);
  record.factor_bytes = sumOverRanks(comm, report.factor_bytes);
  record.breakdowns = sumOverRanks(comm, report.breakdowns);
  record.notes = report.notes;
}

double timeApplications(const tpetra::Comm& comm, const Ifpack2::Preconditioner<>& m, int count) {
  MultiVector x(m.getDomainMap(), 1), y(m.getRangeMap(), 1);
  x.putScalar(1);
  m.apply(x, y);
  return timedOverRanks(comm, [&] {
    for (int i = 0; i < count; ++i)
      m.apply(x, y);
  });
}

} // namespace perf
} // namespace ainvil
