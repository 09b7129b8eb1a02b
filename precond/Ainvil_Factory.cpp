// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Factory.hpp"

#include "Ainvil_Ainv.hpp"
#include "Ainvil_Fsai.hpp"
#include "Ainvil_Ilu.hpp"
#include "Ainvil_Jacobi.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace ainvil {
namespace {

const std::vector<ParameterHelp> breakdown_help = {
    {"breakdown", "fail|shift|replace", "what to do with a singular pivot block"},
    {"shift", "1e-3", "relative size of the shift of breakdown=shift"}};

std::vector<ParameterHelp> withBreakdown(std::vector<ParameterHelp> parameters) {
  parameters.insert(parameters.end(), breakdown_help.begin(), breakdown_help.end());
  return parameters;
}

/// For methods that invert the pivots of an elimination or the diagonal.
std::vector<ParameterHelp> withPivots(std::vector<ParameterHelp> parameters) {
  parameters = withBreakdown(std::move(parameters));
  parameters.push_back(
      {"pivot-tol", "10", "a pivot counts as zero at so many eps times its row's largest entry"});
  return parameters;
}

template <class Enum>
using Choices = std::vector<std::pair<std::string, Enum>>;

std::string knownMethods() {
  std::string known;
  for (const MethodHelp& method : preconditionerHelp())
    known += known.empty() ? method.name : ", " + method.name;
  return known;
}

/// The key=value pairs of a specification, taken one by one; what is left over is an error.
class Options {
public:
  explicit Options(const std::string& specification) : specification_(specification) {
    if (specification.empty())
      fail(message("it is empty, known methods are ", knownMethods()));
    const size_t colon = specification.find(':');
    method_ = specification.substr(0, colon);
    size_t begin = colon == std::string::npos ? specification.size() : colon + 1;
    if (colon != std::string::npos && begin == specification.size())
      fail("nothing follows the colon");
    while (begin < specification.size()) {
      const size_t end = std::min(specification.find(',', begin), specification.size());
      const std::string pair = specification.substr(begin, end - begin);
      const size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
        fail(message("'", pair, "' is not of the form key=value"));
      if (!values_.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
        fail(message("key '", pair.substr(0, equals), "' is given twice"));
      begin = end + 1;
    }
    if (specification.back() == ',')
      fail("nothing follows the last comma");
  }

  const std::string& method() const { return method_; }

  bool has(const std::string& key) const { return values_.count(key) > 0; }

  /// Takes the key if its value is this word.
  bool tryWord(const std::string& key, const std::string& word) {
    const auto found = values_.find(key);
    if (found == values_.end() || found->second != word)
      return false;
    values_.erase(found);
    return true;
  }

  int integer(const std::string& key, int fallback, int lowest) {
    if (!has(key))
      return fallback;
    constexpr int highest = 1000000;
    const std::string text = take(key);
    int value = 0;
    if (!isNumber(text, value) || value < lowest || value > highest)
      fail(message("'", key, "' must be an integer from ", lowest, " to ", highest, ", but it is '",
                   text, "'"));
    return value;
  }

  double positive(const std::string& key, double fallback) {
    return number(key, fallback, "a positive number", [](double value) { return value > 0; });
  }

  double nonNegative(const std::string& key, double fallback) {
    return number(key, fallback, "a number of at least 0", [](double value) { return value >= 0; });
  }

  template <class Enum>
  Enum choice(const std::string& key, Enum fallback, const Choices<Enum>& choices) {
    if (!has(key))
      return fallback;
    const std::string text = take(key);
    std::string accepted;
    for (const auto& [name, value] : choices) {
      if (name == text)
        return value;
      accepted += accepted.empty() ? name : ", " + name;
    }
    fail(message("'", key, "' must be one of ", accepted, ", but it is '", text, "'"));
  }

  /// Refuses what has not been taken: a key of the method that has no effect here, or none of it.
  void finish() const {
    if (values_.empty())
      return;
    const std::string& key = values_.begin()->first;
    std::string known;
    for (const MethodHelp& method : preconditionerHelp())
      if (method.name == method_)
        for (const ParameterHelp& parameter : method.parameters) {
          if (parameter.key == key)
            fail(message("key '", key, "' has no effect with the other parameters given"));
          known += known.empty() ? parameter.key : ", " + parameter.key;
        }
    fail(message("unknown key '", key, "', ",
                 known.empty() ? "'" + method_ + "' takes none" : "known are " + known));
  }

  /// The method with these parameters; what its constructor refuses is told like all the rest.
  template <class Method, class Parameters>
  std::unique_ptr<Method> make(const Parameters& parameters) const {
    try {
      return std::make_unique<Method>(parameters);
    } catch (const InvalidArgument& error) {
      fail(error.what());
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw InvalidArgument(message("preconditioner '", specification_, "': ", why));
  }

private:
  /// True if all of the text is a number of the type, whatever the locale.
  template <class Number>
  static bool isNumber(const std::string& text, Number& value) {
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && next == end;
  }

  template <class Accept>
  double number(const std::string& key, double fallback, const char* what, const Accept& accept) {
    if (!has(key))
      return fallback;
    const std::string text = take(key);
    double value = 0;
    if (!isNumber(text, value) || !accept(value) || !std::isfinite(value))
      fail(message("'", key, "' must be ", what, ", but it is '", text, "'"));
    return value;
  }

  std::string take(const std::string& key) {
    const std::string value = values_.at(key);
    values_.erase(key);
    return value;
  }

  std::string specification_;
  std::string method_;
  std::map<std::string, std::string> values_;
};

BreakdownPolicy breakdownPolicy(Options& options) {
  return options.choice("breakdown", BreakdownPolicy::Fail,
                        {{"fail", BreakdownPolicy::Fail},
                         {"shift", BreakdownPolicy::Shift},
                         {"replace", BreakdownPolicy::Replace}});
}

template <class Scalar>
Storage storage(Options& options) {
  return options.choice(
      "storage", Storage::Native,
      std::is_same<Scalar, float>::value
          ? Choices<Storage>{{"float", Storage::Native}, {"bfloat16", Storage::BFloat16}}
          : Choices<Storage>{{"double", Storage::Native},
                             {"float", Storage::Float},
                             {"bfloat16", Storage::BFloat16}});
}

double breakdownShift(Options& options, BreakdownPolicy policy) {
  return policy == BreakdownPolicy::Shift ? options.positive("shift", 1e-3) : 1e-3;
}

template <class Device>
IsaiParameters<Device> isaiParameters(Options& options) {
  IsaiParameters<Device> isai;
  isai.power = options.integer("power", isai.power, 1);
  isai.side =
      options.choice("side", isai.side, {{"rows", IsaiSide::Rows}, {"columns", IsaiSide::Columns}});
  const int automatic = IsaiParameters<Device>::relax_auto;
  isai.relax =
      options.tryWord("relax", "auto") ? automatic : options.integer("relax", isai.relax, 0);
  if (isai.relax == automatic) {
    isai.relax_threshold = options.positive("relax-threshold", isai.relax_threshold);
    isai.relax_limit = options.integer("relax-limit", isai.relax_limit, 0);
  }
  return isai;
}

SweepParameters sweepParameters(Options& options, SweepMode mode) {
  SweepParameters sweep;
  sweep.mode = mode;
  sweep.start = options.choice("start", sweep.start,
                               {{"diagonal", SweepStart::Diagonal}, {"zero", SweepStart::Zero}});
  sweep.sweeps = options.integer("sweeps", sweep.sweeps, sweep.start == SweepStart::Zero ? 1 : 0);
  sweep.damping = options.positive("damping", sweep.damping);
  sweep.divergence_limit = options.positive("divergence-limit", sweep.divergence_limit);
  if (mode == SweepMode::Async)
    sweep.order = options.choice("order", sweep.order,
                                 {{"along", SweepOrder::Along}, {"against", SweepOrder::Against}});
  return sweep;
}

template <class Device>
TriangularParameters<Device> triangularParameters(Options& options) {
  enum class Solve { Exact, Isai, Jacobi, Async };
  switch (options.choice("solve", Solve::Exact,
                         {{"exact", Solve::Exact},
                          {"isai", Solve::Isai},
                          {"jacobi", Solve::Jacobi},
                          {"async", Solve::Async}})) {
  case Solve::Isai:
    return isaiParameters<Device>(options);
  case Solve::Jacobi:
    return sweepParameters(options, SweepMode::Jacobi);
  case Solve::Async:
    return sweepParameters(options, SweepMode::Async);
  default:
    return ExactParameters();
  }
}

template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> makeIlu(Options& options) {
  IluParameters<Device> parameters;
  parameters.factorization.level = options.integer("level", 0, 0);
  parameters.factorization.breakdown = breakdownPolicy(options);
  parameters.factorization.shift = breakdownShift(options, parameters.factorization.breakdown);
  parameters.factorization.pivot_tolerance =
      options.nonNegative("pivot-tol", parameters.factorization.pivot_tolerance);
  parameters.factorization.sweeps = options.integer("iterative", 0, 0);
  parameters.solve = triangularParameters<Device>(options);
  parameters.storage = storage<Scalar>(options);
  options.finish();
  return options.make<Ilu<Scalar, Device>>(parameters);
}

template <class Scalar, class Device>
FsaiParameters<Device> takeFsaiParameters(Options& options) {
  FsaiParameters<Device> parameters;
  parameters.tau = options.nonNegative("tau", parameters.tau);
  FsaiAdaptive& adaptive = parameters.adaptive;
  adaptive.steps = options.integer("adaptive", adaptive.steps, 0);
  if (adaptive.steps > 0) {
    adaptive.power = options.integer("power", adaptive.power, 0);
    adaptive.per_step = options.integer("per-step", adaptive.per_step, 1);
    adaptive.tolerance = options.nonNegative("tolerance", adaptive.tolerance);
  } else {
    parameters.power = options.integer("power", parameters.power, 0);
  }
  parameters.max_row = options.integer("max-row", parameters.max_row, 0);
  parameters.filter = options.nonNegative("filter", parameters.filter);
  parameters.storage = storage<Scalar>(options);
  parameters.breakdown = breakdownPolicy(options);
  parameters.shift = breakdownShift(options, parameters.breakdown);
  parameters.chunk_bytes = Offset(options.integer("chunk-mib", 256, 1)) << 20;
  options.finish();
  return parameters;
}

template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> makeAinv(Options& options) {
  AinvParameters parameters;
  enum class Variant { Plain, Stabilized, Blocks };
  const Variant variant = options.choice(
      "variant", Variant::Stabilized,
      {{"ainv", Variant::Plain}, {"sainv", Variant::Stabilized}, {"bainv", Variant::Blocks}});
  parameters.stabilized = variant != Variant::Plain;
  if (variant == Variant::Blocks && !options.has("parts"))
    options.fail("variant=bainv needs parts=, the number of parts");
  parameters.parts = options.integer("parts", parameters.parts, 1);
  parameters.symmetric = options.choice<bool>("symmetric", true, {{"yes", true}, {"no", false}});
  parameters.drop = options.nonNegative("drop", parameters.drop);
  parameters.drop_rule = options.choice("drop-rule", parameters.drop_rule,
                                        {{"auto", DropRule::Auto},
                                         {"absolute", DropRule::Absolute},
                                         {"relative", DropRule::Relative}});
  parameters.max_column = options.integer("max-col", parameters.max_column, 0);
  parameters.max_fill = options.nonNegative("max-fill", parameters.max_fill);
  parameters.order = options.choice(
      "order", parameters.order,
      {{"natural", Ordering::Natural}, {"rcm", Ordering::Rcm}, {"nd", Ordering::NestedDissection}});
  parameters.storage = storage<Scalar>(options);
  parameters.breakdown = breakdownPolicy(options);
  parameters.shift = breakdownShift(options, parameters.breakdown);
  options.finish();
  return options.make<Ainv<Scalar, Device>>(parameters);
}

template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> makeJacobi(Options& options) {
  JacobiParameters parameters;
  parameters.point = options.choice<bool>("variant", false, {{"block", false}, {"point", true}});
  parameters.breakdown = breakdownPolicy(options);
  parameters.shift = breakdownShift(options, parameters.breakdown);
  parameters.pivot_tolerance = options.nonNegative("pivot-tol", parameters.pivot_tolerance);
  options.finish();
  return options.make<Jacobi<Scalar, Device>>(parameters);
}

} // namespace

const std::vector<MethodHelp>& preconditionerHelp() {
  static const std::vector<MethodHelp> help = {
      {"none", "no preconditioner", {}},
      {"jacobi", "inverted diagonal blocks",
       withPivots({{"variant", "block|point", "blocks of the matrix, or its scalar diagonal"}})},
      {"ilu", "block ILU(k), block size of the matrix",
       withPivots(
           {{"level", "0", "fill level k"},
            {"iterative", "0|n", "factors by n sweeps over all rows instead of level by level"},
            {"solve", "exact|isai|jacobi|async",
             "substitution, products with approximate inverses, or sweeps"},
            {"power", "1", "isai: pattern power p of |L|^p, |U|^p"},
            {"side", "rows|columns", "isai: (M T) = I or (T M) = I on the pattern"},
            {"relax", "0|n|auto", "isai: relaxation steps of one application"},
            {"relax-threshold", "0.05", "relax=auto: accepted residual of random probes"},
            {"relax-limit", "12", "relax=auto: most steps"},
            {"sweeps", "5", "jacobi, async: sweeps of one application"},
            {"damping", "1", "jacobi, async: damping factor, between 0 and 2"},
            {"start", "diagonal|zero", "jacobi, async: from D^-1 b or from 0"},
            {"order", "along|against", "async: rows started along the dependencies or against"},
            {"divergence-limit", "1e3", "jacobi, async: residual of random probes not accepted"},
            {"storage", "double|float|bfloat16",
             "precision in which the applied factors are stored"}})},
      {"fsai", "factored sparse approximate inverse, for SPD matrices",
       withBreakdown(
           {{"tau", "0.01", "pattern: entries of A above tau sqrt(a_ii a_jj)"},
            {"power", "2",
             "pattern: steps of B <- Low(B A); adaptive: what it grows from, default 0",
             "adaptive"},
            {"max-row", "0|n", "pattern: most blocks a row, 0 for any number"},
            {"adaptive", "0|n", "steps in which rows take the blocks that gain most, 0 for none"},
            {"per-step", "4", "adaptive: blocks a row takes in a step"},
            {"tolerance", "0.01", "adaptive: rows whose psi falls by less in a step stop"},
            {"filter", "0.05", "drop blocks of G below this part of their row's norm"},
            {"storage", "double|float|bfloat16", "precision in which G is stored"},
            {"chunk-mib", "256", "memory for local systems that do not fit fast memory, MiB"}})},
      {"ainv", "factored approximate inverse by incomplete conjugation",
       withBreakdown(
           {{"variant", "sainv|ainv|bainv",
             "stabilised; plain; stabilised, without the entries between parts"},
            {"drop", "0.1", "drop tolerance for the entries of Z, 0 for none"},
            {"drop-rule", "auto|absolute|relative",
             "of Z; of Z for A scaled to a unit diagonal; auto: this if symmetric=yes"},
            {"max-col", "0|n", "most entries a column of Z, 0 for any number"},
            {"max-fill", "20", "give up beyond so many times the entries of A, 0 for never"},
            {"parts", "1|n", "leave out the entries of A between n parts; bainv needs it"},
            {"order", "natural|rcm|nd", "elimination order"},
            {"symmetric", "yes|no", "one factor Z, or Z and W for any matrix"},
            {"storage", "double|float|bfloat16", "precision in which the factors are stored"}})}};
  return help;
}

template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> detail::makePreconditioner(const std::string& specification) {
  Options options(specification);
  if (options.method() == "none") {
    options.finish();
    return std::make_unique<Identity<Scalar, Device>>();
  }
  if (options.method() == "jacobi")
    return makeJacobi<Scalar, Device>(options);
  if (options.method() == "ilu")
    return makeIlu<Scalar, Device>(options);
  if (options.method() == "fsai")
    return options.make<Fsai<Scalar, Device>>(takeFsaiParameters<Scalar, Device>(options));
  if (options.method() == "ainv")
    return makeAinv<Scalar, Device>(options);
  options.fail(message("unknown method '", options.method(), "', known are ", knownMethods()));
}

template <class Scalar, class Device>
FsaiParameters<Device> fsaiParameters(const std::string& specification) {
  Options options(specification);
  if (options.method() != "fsai")
    options.fail("the method must be fsai");
  return takeFsaiParameters<Scalar, Device>(options);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template FsaiParameters<DEVICE> fsaiParameters<double, DEVICE>(const std::string&);              \
  template FsaiParameters<DEVICE> fsaiParameters<float, DEVICE>(const std::string&);               \
  template PreconditionerPtr<double, DEVICE> detail::makePreconditioner<double, DEVICE>(           \
      const std::string&);                                                                         \
  template PreconditionerPtr<float, DEVICE> detail::makePreconditioner<float, DEVICE>(             \
      const std::string&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
