// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_Petsc.hpp"

#include "petsc/Ainvil_PetscArrays.hpp"
#include "petsc/Ainvil_PetscErrors.hpp"
#include "petsc/Ainvil_PetscLocalBlock.hpp"
#include "petsc/Ainvil_PetscOptions.hpp"

#include "Ainvil_Factory.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"
#include "ranks/Ainvil_RankPreconditioner.hpp"
#include "ranks/Ainvil_RunningKokkos.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>

namespace ainvil {
namespace petsc {
namespace {

using ranks::attempt;
using ranks::Choice;
using ranks::Columns;
using ranks::Ending;
using ranks::Outcome;
using State = ranks::RankPreconditioner; ///< what a PC of this type keeps

State& stateOf(PC pc) {
  return *static_cast<State*>(pc->data);
}

MPI_Comm commOf(PC pc) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(pc));
}

/// Ends a step that all ranks take: the error of one of them is that of all.
PetscErrorCode conclude(PC pc, Outcome& outcome) {
  PetscFunctionBegin;
  agree(commOf(pc), outcome);
  if (outcome.ending == Ending::Foreign)
    PetscCall(codeOf(outcome));
  PetscCheck(outcome.ending <= Ending::Unusable, commOf(pc), codeOf(outcome), "%s",
             outcome.reason.c_str());
  PetscFunctionReturn(success);
}

// Parameters -------------------------------------------------------------------

/// Takes another choice. What has been set up for the last one is gone if it is not the same.
void choose(PC pc, const Choice& choice) {
  if (stateOf(pc).choose(choice, "-pc_ainvil_block_size"))
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
  const Choice now = stateOf(pc).choice();
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
    createPreconditioner<double, HostDevice>(next.specification); // its errors before the next
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
  const State::Exec exec;
  const LocalMat local = localMat(pc->pmat);
  if (pc->flag != SAME_NONZERO_PATTERN || state.needsPattern()) {
    PetscInt block_size = state.choice().block_size;
    if (block_size == 0)
      check(MatGetBlockSize(pc->pmat, &block_size));
    const HostDevice::execution_space host;
    state.setPattern(exec, storedPattern(host, local, block_size), block_size);
  }
  const ValuesOf values(local);
  state.setValues(exec, values.data(), values.memory());
}

/// PCSetUp(). What a matrix does not allow makes the KSP end with KSP_DIVERGED_PC_FAILED, on all
/// ranks.
PetscErrorCode setUp(PC pc) {
  PetscFunctionBegin;
  State& state = stateOf(pc);
  pc->failedreason = PC_NOERROR;
  state.setFailure("");
  bool in_order; // setUpHere() waits in any case
  PetscCall(waitForPetsc(in_order));
  Outcome outcome = attempt([&] { setUpHere(pc, state); });
  PetscCall(conclude(pc, outcome));
  if (outcome.ending == Ending::Unusable) {
    PetscCheck(!pc->erroriffailure, commOf(pc), codeOf(outcome), "%s", outcome.reason.c_str());
    state.setFailure(outcome.reason);
    pc->failedreason = PC_FACTOR_NUMERIC_ZEROPIVOT;
    PetscCall(PetscInfo(pc, "%s\n", state.failure().c_str()));
  }
  PetscFunctionReturn(success);
}

/// Columns of a dense matrix, of which x and y are the first; the strides are those to the next.
struct Rest {
  PetscInt columns = 1, x_stride = 0, y_stride = 0;
};

PetscErrorCode applyTo(PC pc, Vec x, Vec y, Trans trans, Rest rest = {}) {
  PetscFunctionBegin;
  PetscInt rows;
  PetscCall(VecGetLocalSize(x, &rows));
  Columns<const double> from{nullptr, std::max(rows, rest.x_stride)};
  Columns<double> to{nullptr, std::max(rows, rest.y_stride)};
  PetscCall(getArrayRead(x, from));
  PetscCall(getArrayWrite(y, to));
  bool in_order;
  PetscCall(waitForPetsc(in_order));
  // No communication, so the error of a rank is its own and ends the program.
  const Outcome outcome = attempt([&] {
    stateOf(pc).apply(from, to, rows, rest.columns, trans);
    if (!in_order)
      compat::fence(State::Exec(), "Ainvil::petsc::applyTo");
  });
  PetscCall(restoreArrayWrite(y, to));
  PetscCall(restoreArrayRead(x, from));
  PetscCheck(outcome.ending == Ending::Fine, PETSC_COMM_SELF, codeOf(outcome), "%s",
             outcome.reason.c_str());
  PetscFunctionReturn(success);
}

PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(applyTo(pc, x, y, Trans::No));
  PetscFunctionReturn(success);
}

PetscErrorCode applyTranspose(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(applyTo(pc, x, y, Trans::Yes));
  PetscFunctionReturn(success);
}

/// All columns of a dense matrix at once.
PetscErrorCode matApply(PC pc, Mat x, Mat y) {
  PetscFunctionBegin;
  Rest rest;
  PetscCall(MatGetSize(x, nullptr, &rest.columns));
  if (rest.columns == 0)
    PetscFunctionReturn(success);
  PetscCall(MatDenseGetLDA(x, &rest.x_stride));
  PetscCall(MatDenseGetLDA(y, &rest.y_stride));
  // The first columns as vectors, which PETSc has on the GPU if the matrices are there.
  Vec first_of_x, first_of_y;
  PetscCall(MatDenseGetColumnVecRead(x, 0, &first_of_x));
  PetscCall(MatDenseGetColumnVecWrite(y, 0, &first_of_y));
  const PetscErrorCode code = applyTo(pc, first_of_x, first_of_y, Trans::No, rest);
  PetscCall(MatDenseRestoreColumnVecWrite(y, 0, &first_of_y));
  PetscCall(MatDenseRestoreColumnVecRead(x, 0, &first_of_x));
  PetscCall(code); // the matrices are usable whatever it is
  PetscFunctionReturn(success);
}

// The rest of a PC -------------------------------------------------------------

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool is_text = PETSC_FALSE;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (is_text == PETSC_FALSE)
    PetscFunctionReturn(success);
  const ranks::Advice advice{"a flexible KSP, as -ksp_type fgmres", "-pc_ainvil_block_size 1"};
  std::vector<std::string> lines;
  const Outcome outcome = attempt([&] { lines = stateOf(pc).report(commOf(pc), advice); });
  PetscCheck(outcome.ending == Ending::Fine, PETSC_COMM_SELF, codeOf(outcome), "%s",
             outcome.reason.c_str());
  for (const std::string& line : lines)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", line.c_str()));
  PetscFunctionReturn(success);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  stateOf(pc).reset();
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
  int gpu;
  PetscCall(gpuOfPetsc(gpu));
  Outcome outcome = attempt([&] {
    ranks::requireRunningKokkos(gpu);
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
  Outcome outcome = attempt([&] { choose(pc, {specification, stateOf(pc).choice().block_size}); });
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
