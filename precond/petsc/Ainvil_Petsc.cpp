// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_Petsc.hpp"

#include "petsc/Ainvil_PetscErrors.hpp"
#include "petsc/Ainvil_PetscLocalBlock.hpp"
#include "petsc/Ainvil_PetscOptions.hpp"

#include "Ainvil_Factory.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <limits>

namespace ainvil {
namespace petsc {
namespace {

using Device = HostDevice; // PETSc of Debian has its arrays on the host
using Exec = Device::execution_space;

/// What a PC of this type keeps.
struct State {
  Choice choice;
  PreconditionerPtr<double, Device> m; ///< what the choice asks for; made when it is needed
  LocalBlock block;                    ///< of the matrix last set up
  int patterns = 0;                    ///< calls of initialize()
  int values = 0;                      ///< calls of compute()
  std::string failure;                 ///< why the last set-up must not be applied; empty: nothing
};

State& stateOf(PC pc) {
  return *static_cast<State*>(pc->data);
}

MPI_Comm commOf(PC pc) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(pc));
}

/// Ends a step that all ranks take: the error of one of them is that of all.
PetscErrorCode conclude(PC pc, Outcome& outcome) {
  PetscFunctionBegin;
  PetscCall(agree(commOf(pc), outcome));
  if (outcome.ending == Ending::PetscError)
    PetscCall(outcome.code);
  PetscCheck(outcome.ending != Ending::Refused, commOf(pc), outcome.code, "%s",
             outcome.reason.c_str());
  PetscFunctionReturn(success);
}

// Kokkos -----------------------------------------------------------------------

bool started_kokkos = false;

PetscErrorCode stopKokkos() {
  PetscFunctionBegin;
  if (started_kokkos && Kokkos::is_initialized())
    Kokkos::finalize();
  started_kokkos = false;
  PetscFunctionReturn(success);
}

/// Starts Kokkos unless somebody has; PetscFinalize() ends then what was started here.
void requireRunningKokkos() {
  if (Kokkos::is_initialized())
    return;
  compat::initializeQuietly();
  started_kokkos = true;
  check(PetscRegisterFinalize(stopKokkos));
}

// Parameters -------------------------------------------------------------------

/// Takes another choice. What has been set up for the last one is gone if it is not the same.
void choose(PC pc, const Choice& choice) {
  State& state = stateOf(pc);
  auto m = createPreconditioner<double, Device>(choice.specification);
  if (choice.block_size < 0)
    throw InvalidArgument(message("-pc_ainvil_block_size must be at least 1, or 0 for the block ",
                                  "size of the matrix, but it is ", choice.block_size));
  if (state.m != nullptr && choice.specification == state.choice.specification &&
      choice.block_size == state.choice.block_size)
    return;
  state.choice = choice;
  state.m = std::move(m);
  pc->setupcalled = decltype(pc->setupcalled)(0);
}

/// Reads an option as text; `value` keeps what it is if the option is not given.
template <class Items>
PetscErrorCode readText(Items PetscOptionsObject, const std::string& option,
                        const std::string& help, const std::string& now, std::string& value,
                        bool& given) {
  PetscFunctionBegin;
  char text[1024] = "";
  PetscBool set = PETSC_FALSE;
  PetscCall(PetscOptionsString(option.c_str(), help.c_str(), nullptr, now.c_str(), text,
                               sizeof(text), &set));
  given = set == PETSC_TRUE;
  if (given)
    value = text;
  PetscFunctionReturn(success);
}

/// PETSc writes flags in other words, or as an option without a value.
std::string flagOf(const std::string& text) {
  const auto is_one_of = [&](std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  if (is_one_of({"", "1", "true", "TRUE", "on"}))
    return "yes";
  return is_one_of({"0", "false", "FALSE", "off"}) ? "no" : text;
}

std::string methodNames() {
  std::string names;
  for (const MethodHelp& help : preconditionerHelp())
    names += (names.empty() ? "" : "|") + help.name;
  return names;
}

/// PCSetFromOptions(). `Items` is what the version of PETSc has in this place.
template <class Items>
PetscErrorCode setFromOptions(PC pc, Items PetscOptionsObject) {
  PetscFunctionBegin;
  const Choice now = stateOf(pc).choice;
  Choice next = now;
  GivenOptions given;
  std::string method;
  bool set;
  PetscOptionsHeadBegin(PetscOptionsObject, "Ainvil options");
  PetscCall(readText(PetscOptionsObject, "-pc_ainvil_type", "Method (" + methodNames() + ")",
                     methodOf(now.specification), given.type, set));
  PetscCall(readText(PetscOptionsObject, "-pc_ainvil_spec",
                     "Method and parameters, METHOD:KEY=VALUE,KEY=VALUE", now.specification,
                     given.spec, set));
  PetscInt size = now.block_size;
  PetscCall(PetscOptionsInt("-pc_ainvil_block_size", "Size of blocks; 0: that of the matrix",
                            nullptr, size, &size, nullptr));
  next.block_size = size;
  std::vector<ParameterHelp> parameters;
  Outcome outcome = attempt([&] {
    method = chosenMethod(now.specification, given);
    parameters = methodHelp(method).parameters;
  });
  PetscCall(conclude(pc, outcome));
  for (const ParameterHelp& parameter : parameters) {
    std::string value;
    PetscCall(readText(PetscOptionsObject, optionOf(parameter.key),
                       parameter.meaning() + " (" + parameter.values() + ")",
                       parameter.default_value, value, set));
    if (set)
      given.parameters.emplace_back(parameter.key, parameter.is_flag ? flagOf(value) : value);
  }
  outcome = attempt([&] {
    next.specification = chosenSpecification(now.specification, given);
    createPreconditioner<double, Device>(next.specification); // its errors before the next
    refuseUnknown(pc, method);
    choose(pc, next);
  });
  PetscCall(conclude(pc, outcome));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(success);
}

// Set-up and application -------------------------------------------------------

/// The part of PCSetUp() that a rank does alone.
void setUpHere(PC pc, State& state) {
  const Exec exec;
  if (state.m == nullptr)
    state.m = createPreconditioner<double, Device>(state.choice.specification);
  if (pc->flag != SAME_NONZERO_PATTERN || !state.m->isInitialized()) {
    state.block.initialize(exec, pc->pmat, state.choice.block_size);
    state.m->initialize(exec, state.block.get(exec, pc->pmat));
    ++state.patterns;
  }
  try {
    state.m->compute(exec, state.block.get(exec, pc->pmat));
  } catch (const InvalidArgument& error) {
    // The pattern is right, so it is a value: NaN, as of a Newton step that went too far.
    throw BreakdownError(error.what());
  }
  ++state.values;
  if (!state.m->objection().empty())
    throw BreakdownError(state.m->objection());
}

/// PCSetUp(). What a matrix does not allow makes the KSP end with KSP_DIVERGED_PC_FAILED, on all
/// ranks.
PetscErrorCode setUp(PC pc) {
  PetscFunctionBegin;
  State& state = stateOf(pc);
  pc->failedreason = PC_NOERROR;
  state.failure.clear();
  Outcome outcome = attempt([&] { setUpHere(pc, state); });
  PetscCall(conclude(pc, outcome));
  if (outcome.ending == Ending::Unusable) {
    PetscCheck(!pc->erroriffailure, commOf(pc), outcome.code, "%s", outcome.reason.c_str());
    state.failure = outcome.reason;
    pc->failedreason = PC_FACTOR_NUMERIC_ZEROPIVOT;
    PetscCall(PetscInfo(pc, "%s\n", state.failure.c_str()));
  }
  PetscFunctionReturn(success);
}

/// Columns of an array of PETSc's.
template <class Scalar>
MultiVectorArg<Scalar, Device> columnsOf(Scalar* data, PetscInt rows, PetscInt columns,
                                         PetscInt stride) {
  return Kokkos::subview(MultiVectorArg<Scalar, Device>(data, stride, columns),
                         std::make_pair(PetscInt(0), rows), Kokkos::ALL);
}

/// y = op(M^-1) x. After a failed set-up y is infinite: that is how the norms of a KSP, on all its
/// ranks, learn of it. No communication, so the error of a rank is its own and ends the program.
Outcome applied(const State& state, const double* x, PetscInt x_stride, double* y,
                PetscInt y_stride, PetscInt rows, PetscInt columns, Trans trans) {
  if (!state.failure.empty()) {
    for (PetscInt c = 0; c < columns; ++c)
      std::fill_n(y + size_t(c) * y_stride, rows, std::numeric_limits<double>::infinity());
    return {};
  }
  return attempt([&] {
    const Exec exec;
    state.m->apply(exec, columnsOf(x, rows, columns, x_stride),
                   columnsOf(y, rows, columns, y_stride), trans);
    compat::fence(exec, "Ainvil::petsc"); // PETSc gets its arrays back
  });
}

PetscErrorCode applyVector(PC pc, Vec x, Vec y, Trans trans) {
  PetscFunctionBegin;
  PetscInt rows;
  const PetscScalar* from;
  PetscScalar* to;
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  const PetscInt stride = std::max<PetscInt>(rows, 1);
  const Outcome outcome = applied(stateOf(pc), from, stride, to, stride, rows, 1, trans);
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCheck(outcome.ending == Ending::Fine, PETSC_COMM_SELF, outcome.code, "%s",
             outcome.reason.c_str());
  PetscFunctionReturn(success);
}

PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(applyVector(pc, x, y, Trans::No));
  PetscFunctionReturn(success);
}

PetscErrorCode applyTranspose(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(applyVector(pc, x, y, Trans::Yes));
  PetscFunctionReturn(success);
}

/// All columns of a dense matrix at once.
PetscErrorCode matApply(PC pc, Mat x, Mat y) {
  PetscFunctionBegin;
  PetscInt rows, columns, x_stride, y_stride;
  const PetscScalar* from;
  PetscScalar* to;
  PetscCall(MatGetLocalSize(x, &rows, nullptr));
  PetscCall(MatGetSize(x, nullptr, &columns));
  PetscCall(MatDenseGetLDA(x, &x_stride));
  PetscCall(MatDenseGetLDA(y, &y_stride));
  PetscCall(MatDenseGetArrayRead(x, &from));
  PetscCall(MatDenseGetArrayWrite(y, &to));
  const Outcome outcome = applied(stateOf(pc), from, std::max<PetscInt>(x_stride, 1), to,
                                  std::max<PetscInt>(y_stride, 1), rows, columns, Trans::No);
  PetscCall(MatDenseRestoreArrayWrite(y, &to));
  PetscCall(MatDenseRestoreArrayRead(x, &from));
  PetscCheck(outcome.ending == Ending::Fine, PETSC_COMM_SELF, outcome.code, "%s",
             outcome.reason.c_str());
  PetscFunctionReturn(success);
}

// The rest of a PC -------------------------------------------------------------

/// Lines of PCView(), which -ksp_view shows. Entries are those of all ranks, times of the first.
std::vector<std::string> viewLines(const State& state, const PetscInt64* sums, int ranks) {
  std::vector<std::string> lines;
  const auto add = [&lines](const auto&... parts) { lines.push_back(message(parts...)); };
  if (state.m == nullptr) {
    add("ainvil ", state.choice.specification, ", not set up");
    return lines;
  }
  const Report& report = state.m->report();
  add(state.m->description());
  if (!state.m->isFixed())
    add("varies between applications: take a flexible KSP, as -ksp_type fgmres");
  if (!state.failure.empty())
    add("failed: ", state.failure);
  if (state.values > 0) {
    add("blocks of size ", state.block.blockSize(),
        sums[0] > 0
            ? message(", filled up with ", sums[0], " zeros; -pc_ainvil_block_size 1 goes without")
            : std::string());
    add("entries of the factors: ", sums[1], ", bytes that an application reads: ", sums[2]);
    add("pivots shifted or replaced: ", sums[3],
        ranks == 1 && report.first_breakdown >= 0
            ? message(", first in ", counted("block row", report.first_breakdown))
            : std::string());
    std::string phases;
    for (const auto& [name, seconds] : report.phases.phases())
      phases += message(phases.empty() ? "" : ", ", name, " ", seconds);
    add("seconds of the last set-up", ranks > 1 ? " on the first rank" : "", ": ", phases);
    if (!report.notes.empty())
      add("notes: ", report.notes);
  }
  add("set-ups: ", state.patterns, " of the pattern, ", state.values, " of the values");
  return lines;
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool is_text = PETSC_FALSE;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (is_text == PETSC_FALSE)
    PetscFunctionReturn(success);
  const State& state = stateOf(pc);
  PetscInt64 here[4] = {state.block.padding(), 0, 0, 0}, sums[4];
  if (state.m != nullptr) {
    const Report& report = state.m->report();
    here[1] = report.factor_entries;
    here[2] = report.factor_bytes;
    here[3] = report.breakdowns;
  }
  int ranks;
  PetscCallMPI(MPI_Comm_size(commOf(pc), &ranks));
  PetscCallMPI(MPI_Allreduce(here, sums, 4, MPIU_INT64, MPI_SUM, commOf(pc)));
  std::vector<std::string> lines;
  const Outcome outcome = attempt([&] { lines = viewLines(state, sums, ranks); });
  PetscCheck(outcome.ending == Ending::Fine, PETSC_COMM_SELF, outcome.code, "%s",
             outcome.reason.c_str());
  for (const std::string& line : lines)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", line.c_str()));
  PetscFunctionReturn(success);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  State& state = stateOf(pc);
  state.m.reset();
  state.block = LocalBlock();
  state.patterns = state.values = 0;
  state.failure.clear();
  PetscFunctionReturn(success);
}

PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  delete static_cast<State*>(pc->data);
  pc->data = nullptr;
  PetscFunctionReturn(success);
}

/// PCSetType(pc, "ainvil").
PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  Outcome outcome = attempt([pc] {
    requireRunningKokkos();
    pc->data = new State;
  });
  PetscCall(conclude(pc, outcome));
  pc->ops->setup = setUp;
  pc->ops->apply = apply;
  pc->ops->applytranspose = applyTranspose;
  pc->ops->matapply = matApply;
  pc->ops->reset = reset;
  pc->ops->destroy = destroy;
  pc->ops->setfromoptions = setFromOptions;
  pc->ops->view = view;
  PetscFunctionReturn(success);
}

} // namespace

PetscErrorCode registerPC() {
  PetscFunctionBegin;
  PetscCall(PCRegister(PCAINVIL, create));
  PetscFunctionReturn(success);
}

PetscErrorCode setSpecification(PC pc, const char* specification) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscBool is_ours = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCAINVIL, &is_ours));
  PetscCheck(is_ours == PETSC_TRUE, commOf(pc), PETSC_ERR_ARG_WRONG,
             "the PC is not of type ainvil: call PCSetType(pc, PCAINVIL) first");
  PetscCheck(specification != nullptr, commOf(pc), PETSC_ERR_ARG_NULL,
             "there is no specification: give one as \"ilu:solve=isai\"");
  Outcome outcome = attempt([&] { choose(pc, {specification, stateOf(pc).choice.block_size}); });
  PetscCall(conclude(pc, outcome));
  PetscFunctionReturn(success);
}

} // namespace petsc
} // namespace ainvil

/// What PETSc calls when it loads the plug-in; the name is that of the file.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_ainvil_petsc(void);
PetscErrorCode PetscDLLibraryRegister_ainvil_petsc(void) {
  PetscFunctionBegin;
  PetscCall(ainvil::petsc::registerPC());
  PetscFunctionReturn(ainvil::petsc::success);
}
