"""The studies of perf/papers.py: which of our programs measure what a paper's table or figure shows, and how
their records and its numbers become a table. New ones go into STUDIES."""
import collections
import itertools
import json
import os

import fsai_table
import table
from records import at_most, head, iterations, known, ms, number, phases, plus, ratio, row, times

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "papers.json"), encoding="utf-8") as numbers:
    DATA = json.load(numbers)

ISAI = [f"ilu:solve=isai,power={p}" for p in (1, 2, 3)]
SIZES = ("full", "quick", "smoke")

# What a program is called with and under which key its records are found; `part` names the file. On a GPU a
# call with `host` is repeated on the host, set-up only, under the key (key, "host").
Call = collections.namedtuple("Call", "key command part host", defaults=("", False))


def by_size(size, *words):
    """The words for that size."""
    return words[SIZES.index(size)].split()


def repeats(size):
    return ["--repeat", os.environ.get("AINVIL_REPEAT", "3" if size == "full" else "1")]


def options(name, values):
    return [word for value in values for word in (name, value)]


def find_matrix(name):
    """Its file, also in lower case: papers and collections differ there."""
    folders = [os.environ.get("AINVIL_MATRIX_DIR"), os.path.join(HERE, "../../shared/matrices")]
    for folder, name, ending in itertools.product(filter(None, folders), (name, name.lower()),
                                                  (".mtx.gz", ".mtx")):
        if os.path.exists(os.path.join(folder, name + ending)):
            return os.path.relpath(os.path.join(folder, name + ending))
    return None


class Case:
    """A matrix of a paper in a run: `source` are the options that take it, or what stands in for it; None where
    there is neither."""

    def __init__(self, name, at):
        self.name = self.label = name
        known = DATA["matrices"].get(name, {})
        file = at.matrix(name)
        blocks = ["--block-size", str(known["block_size"])] if "block_size" in known else []
        self.source = self.stand_in = None
        if file:
            self.source = ["--matrix", file, *blocks]
        elif at.size in known:
            self.source = ["--problem", known[at.size], *blocks]
            self.label = f"{name}: `{known[at.size]}`"
            self.stand_in = known.get("stand_in")


def remarks(cases):
    """What stands in, and what is missing."""
    for case in cases:
        if case.stand_in:
            print(f"\n{case.label} stands in for the paper's matrix: {case.stand_in}.")
    missing = dict.fromkeys(case.name for case in cases if not case.source)
    if missing:
        print(f"\nNot measured, neither in AINVIL_MATRIX_DIR nor in ../shared/matrices: {', '.join(missing)}.")


def ranges(study, rows):
    """(what, key of the paper's range, ours)"""
    print("\n" + head(["what", "ours", "paper"]))
    for what, key, ours in rows:
        print(row([what, ours or "not measured", DATA[study.name]["ranges"][key]]))


def span(values, unit, digits=2):
    values = known(values)
    return f"{min(values):.{digits}g} to {max(values):.{digits}g} {unit}" if values else ""


def host_over_device(results, seconds):
    """How many times longer the calls with `host` took there, and what to say where there is no GPU."""
    ratios = [ratio(seconds(theirs), seconds(ours))
              for key, host in results.items() if isinstance(key, tuple) and key[-1:] == ("host",)
              for ours, theirs in zip(results[key[0]], host)]
    return span(ratios, "x") if ratios else "no GPU here"


def show_cholesky(records):
    print(f"Batched Cholesky, GFLOP/s, and over those of {records[0]['peer'] or 'nobody'}\n")
    print(head(["size", "double", "over", "float", "over"]))
    for size in dict.fromkeys(record["size"] for record in records):
        cells = [size]
        for record in (r for r in records if r["size"] == size):
            ours, peer = record["factor_gflops"], record["peer_gflops"]
            cells += [number(ours, ".4g"), number(ratio(ours, peer), ".2f") if record["peer"] else ""]
        print(row(cells))


class Study:
    """`name` as in the list, `what` it shows; `program` is the one it cannot do without."""
    program = "ainvil-solve"

    def numbers(self):
        return DATA[self.name]


class IsaiIterations(Study):
    name = "block-isai/table3"
    what = "iterations of GMRES(30) on the lid-driven cavity, exact solves against ISAI of powers 1, 2, 3"

    def cases(self, at):
        return [Case(name, at) for name in self.numbers()["iterations"]]

    def preconds(self):
        return ["ilu:solve=exact", *ISAI]

    def more(self, size):
        """Options of all calls."""
        return []

    def calls(self, at):
        for case in self.cases(at):
            tolerance = "1e-5" if case.name == "cavity" else "1e-8"
            yield Call(case.name, [at.program(), *case.source, "--tol", tolerance, *self.more(at.size),
                                   *options("--precond", self.preconds())])

    def paper(self, case, run):
        return self.numbers()["iterations"][case.name].get(run["precond"], "")

    def show(self, at, results):
        for case in self.cases(at):
            print(f"{case.label}\n\n{head(['strategy', 'iterations', 'paper'])}")
            for run in results[case.name]:
                print(row([run["precond"], iterations(run), self.paper(case, run)]))


class IsaiTimes(IsaiIterations):
    name = "block-isai/tables1-4"
    what = "iterations, phases of the set-up and times of exact solves and ISAI on the four block systems"

    def preconds(self):
        return [*super().preconds(), "ilu:solve=isai,power=1,storage=float", "ilu:solve=isai,power=1,relax=1"]

    def more(self, size):
        return repeats(size)

    def show(self, at, results):
        cases = self.cases(at)
        speedups, shares = [], []
        for k, case in enumerate(cases):
            runs = results[case.name]
            exact = table.exact_of(runs, runs[0]["problem"])
            print("\n" if k else "", end="")
            print(f"{case.label}, {table.system(runs[0])}\n")
            print(head([*table.TITLES[:2], "paper", *table.TITLES[2:]]))
            for run in runs:
                cells = table.cells(run, exact)
                print(row([*cells[:2], self.paper(case, run), *cells[2:]]))
                if run["precond"] in ISAI and run["status"] == "converged":
                    speedups.append(ratio(exact["total_seconds"], run["total_seconds"]))
                    if case.name == "atmosmodd":
                        shares.append(ratio(100 * phases(run, "isai"), run["total_seconds"]))
        ranges(self, [("time to solution, our exact solves over ISAI", "speed-up", span(speedups, "x")),
                      ("pattern and solve of ISAI in the time to solution, atmosmodd", "setup share",
                       span(shares, "%"))])
        remarks(cases)


class BlockJacobi(Study):
    name = "block-jacobi/figures3-11"
    what = "block-Jacobi with local ISAI over ranks: atmosmodd, and three Newton steps of the cavity"
    program = "ainvil-solve-mpi"

    def calls(self, at):
        case = Case("atmosmodd", at)
        for ranks in by_size(at.size, "1 2 4", "1 2", "1 2"):
            mpi = ["mpirun", "-np", ranks, "--bind-to", "none", at.program(self.program)]
            yield Call(("atmosmodd", ranks), [*mpi, *case.source, "--tol", "1e-8", *repeats(at.size),
                                              *options("--precond", [*ISAI, "ilu"])])
            for points in by_size(at.size, "400 500 600", "60", "8"):
                yield Call(("newton", points, ranks),
                           [*mpi, "--problem", f"cavity-newton:{points}", "--tol", "1e-5",
                            "--max-iters", "20000", *options("--precond", [*ISAI[1:], "ilu"])], "newton")

    def show(self, at, results):
        print(head(["precond", "ranks", "iterations", "pattern, ms", "inversion", "set-up", "30 applications",
                    "solve", "set-up and solve"]))
        for key, runs in results.items():
            for run in runs if key[0] == "atmosmodd" else []:
                print(row([run["precond"], run["ranks"], iterations(run), ms(phases(run, "isai_pattern")),
                           ms(phases(run, "isai_solve")), *(ms(run[what]) for what in (
                               "setup_total_seconds", "apply30_seconds", "solve_seconds", "total_seconds"))]))
        print("\nThe cavity: iterations; seconds in the preconditioner and of the solves, step by step.\n")
        print(head(["points", "precond", "ranks", "iterations", "T_p", "T_gmres", "T_gmres, all steps"]))
        counts = set()
        for key, runs in results.items():
            for run in runs if key[0] == "newton" else []:
                steps = run["steps"]
                counts.add(len(steps))
                print(row([key[1], run["precond"], run["ranks"], ", ".join(str(s["iterations"]) for s in steps),
                           *(", ".join(number(s[what]) for s in steps)
                             for what in ("precond_seconds", "solve_seconds")),
                           number(plus(*(s["solve_seconds"] for s in steps)))]))
        ranges(self, [("Newton steps", "steps", ", ".join(str(count) for count in sorted(counts)))])
        remarks([Case("atmosmodd", at)])


class SweepsCost(Study):
    name = "sweeps/table2"
    what = "time of a Jacobi or asynchronous sweep against exact triangular solves and products"
    program = "ainvil-triangular-sweeps"
    methods = {"jacobi": "sweep", "async": "async sweep", "spmv-even": "even", "spmv": "SpMV", "exact": "exact",
               "kokkos-kernels": "Kokkos Kernels", "cusparse": "cuSPARSE"}

    def calls(self, at):
        problems = by_size(at.size, "cavity:300 laplace27:64 convdiff:74x74x29 poisson5:1000 circuit:116835",
                           "poisson5:100x100 laplace27:16 cavity:60 circuit:2000", "poisson5:8")
        yield Call("cost", [at.program(self.program), "cost", *options("--problem", problems),
                            *repeats(at.size)])

    def show(self, at, results):
        print("Microseconds, L of ILU(0); even: a product of as many entries in rows of equal length.\n")
        print(head(["problem", "levels", "longest row", *self.methods.values(), "fastest exact / sweep"]))
        lower = [record for record in results["cost"] if record["factor"] == "lower"]
        for problem, records in itertools.groupby(lower, key=lambda record: record["problem"]):
            records = list(records)
            seconds = {record["method"]: record["seconds"] for record in records}
            exact = min(known(map(seconds.get, ("exact", "kokkos-kernels", "cusparse"))), default=None)
            print(row([problem, number(records[0]["levels"], "d"), records[0]["longest_row"],
                       *(number(seconds[m], unit=1e-6) if m in seconds else "" for m in self.methods),
                       number(ratio(exact, seconds["jacobi"]))]))


class SweepsConvergence(Study):
    name = "sweeps/figures2-5"
    what = "what k sweeps leave of a triangular system; iterations and time of FGMRES(50) against the sweeps"
    program = "ainvil-triangular-sweeps"

    def calls(self, at):
        program = at.program(self.program)
        problems = by_size(at.size, "laplace27:64 cavity:300", "laplace27:16 poisson5:100x100", "poisson5:8")
        runs = options("--runs", by_size(at.size, "50", "50", "5"))
        yield Call("residuals", [program, "residuals", *options("--problem", problems), *runs,
                                 *repeats(at.size)], "residuals")
        for key, problems, reorder in (
                ("rcm", ("laplace27:64", "laplace27:16", "laplace27:5"), ["--reorder", "rcm"]),
                ("natural", ("convdiff:74x74x29", "poisson5:100x100", "poisson5:8"), [])):
            yield Call(key, [program, "solve", "--problem", *by_size(at.size, *problems), *reorder,
                             *repeats(at.size)], "solve")

    def residuals(self, records):
        print("Relative residual of L x = 1; asynchronous sweeps: mean and standard deviation.\n")
        print(head(["problem", "sweeps", "Jacobi", "async along", "async against"]))
        cells = {}
        for record in records:
            if record["factor"] == "lower" and record["sweep"] in (0, 1, 2, 4, 8, 16):
                text = number(record["residual_mean"], ".2e")
                if record["method"] != "jacobi":
                    text += f" +- {number(record['residual_std'], '.0e')}"
                cells.setdefault((record["problem"], record["sweep"]), {})[record["method"]] = text
        for (problem, sweep), found in cells.items():
            print(row([problem, sweep, *(found.get(m, "") for m in ("jacobi", "async", "async-against"))]))

    def solves(self, records):
        """Prints a table; true where sweeps with up to a fifth more iterations are faster than exact solves."""
        exact = next(r for r in records if r["method"] == "exact" and r["factor_sweeps"] == 0)
        sweeps = sorted({r["sweeps"] for r in records if r["sweeps"]})
        order = ", reverse Cuthill-McKee" if exact["reorder"] == "rcm" else ""
        print(f"\n{exact['problem']}{order}; set-up and solve in ms, against sweeps of a triangular solve\n")
        print(head(["", "exact", *sweeps]))
        for method, (what, text) in itertools.product(("jacobi", "async"), (
                ("iterations", lambda r: number(r["iterations"], "g")), ("ms", lambda r: ms(r["total_seconds"])))):
            found = {r["sweeps"]: r for r in records if r["method"] == method}
            print(row([f"{method}, {what}", *(text(r) if r and r["status"] == "converged" else ""
                                              for r in (exact, *map(found.get, sweeps)))]))
        return any(r["status"] == "converged" and at_most(r["iterations"], times(1.2, exact["iterations"])) and
                   at_most(r["total_seconds"], exact["total_seconds"]) for r in records if r["sweeps"])

    def show(self, at, results):
        self.residuals(results["residuals"])
        wins = [self.solves(results[key]) for key in ("rcm", "natural")]
        ranges(self, [("sweeps that need at most a fifth more iterations beat exact solves in time", "wins",
                       f"{sum(wins)} of {len(wins)} cases")])


class Fsai(Study):
    name = "fsai/tables1-7"
    what = "densities and iterations of FSAI against Jacobi, set-up on GPU and host, batched Cholesky"

    def cases(self, at):
        return [Case(name, at) for name in self.numbers()["fsai"]]

    def precond(self, case):
        paper = self.numbers()["fsai"][case.name]
        return "fsai:" + ",".join(f"{key}={paper[key]:g}" for key in ("tau", "power", "filter"))

    def calls(self, at):
        for case in self.cases(at):
            if case.source:
                yield Call(case.name, [at.program(), *case.source, "--solver", "cg", "--tol", "1e-8",
                                       "--max-iters", "10000", *repeats(at.size),
                                       *options("--precond", ["jacobi", self.precond(case)])], host=True)
        problems = by_size(at.size, "laplace7:64 jump:64 elasticity:20x12x12",
                           "laplace7:24 jump:24 elasticity:12x8x8", "laplace7:5")
        yield Call("settings", [os.path.relpath(os.path.join(HERE, "fsai_table.py")), at.program(), *problems],
                   "settings")
        sizes = by_size(at.size, "--sizes 16,32,64,96,128,160,192,224,256",
                        "--count 500 --sizes 16,32,64,128", "--count 10 --sizes 8,16")
        yield Call("cholesky", [at.program("ainvil-batched-cholesky"), "--no-mixed", *sizes,
                                *repeats(at.size)], "cholesky")

    def show(self, at, results):
        cases = self.cases(at)
        print(head(["matrix", "FSAI", "Jacobi", "paper", "iterations", "paper", "density", "paper", "filtered",
                    "paper"], left=2))
        for case in cases:
            paper = self.numbers()["fsai"][case.name]
            ours = [""] * 4
            if case.name in results:
                jacobi, fsai = results[case.name]
                ours = [iterations(jacobi), iterations(fsai), fsai_table.note(fsai, "density"),
                        fsai_table.note(fsai, "filtered")]
            cells = [case.label, self.precond(case)]
            for mine, key in zip(ours, ("jacobi", "iterations", "density", "filtered")):
                cells += [mine, paper[key]]
            print(row(cells))
        remarks(cases)
        print("\nOur problems and settings tau/power/filter: density before and after the filter, iterations, "
              f"share of Jacobi's.\n\n{head(fsai_table.titles(fsai_table.SETTINGS))}")
        for problem, records in itertools.groupby(results["settings"], key=lambda record: record["problem"]):
            print(row(fsai_table.cells(problem, list(records))))
        cholesky = results["cholesky"]
        print()
        show_cholesky(cholesky)
        ranges(self, [("FSAI set-up, all host cores over the GPU", "setup",
                       host_over_device(results, lambda run: run["setup_total_seconds"]
                                        if run["precond"] != "jacobi" else None)),
                      (f"{cholesky[0]['count']} Cholesky factorisations of one size", "cholesky",
                       span([record["factor_gflops"] for record in cholesky], "GFLOP/s", 3))])


class Thesis(Study):
    name = "thesis/tables7.2-7.9"
    what = ("entries and iterations of SAINV in natural order; AINV, SAINV, BAINV by parts and by size; CG and PCG on "
            "CSR and COO")

    def cases(self, at):
        """(key, row of the thesis, case); toys leave only the smallest."""
        rows = self.numbers()["sainv"]
        return [(f"{paper['matrix']}, {paper['drop']}", paper, Case(paper["matrix"], at)) for paper in rows]

    def calls(self, at):
        for key, paper, case in self.cases(at):
            if case.source and (at.size != "smoke" or paper["matrix"] == "1138_bus"):
                yield Call(key, [at.program(), *case.source, *"--scale norm --residual scaled --rhs scaled-rowsum --solver cg "
                                 "--tol 1e-5".split(), *repeats(at.size),
                                 "--precond", f"ainv:variant=sainv,drop={paper['drop']},drop-rule=absolute"], "sainv", host=True)
        gallery = by_size(at.size, "poisson5:316 laplace7:46 jump:64 shell:80", "poisson5:80 laplace7:16",
                          "poisson5:8")
        for study in ("compare", "parts", "size", "formats"):
            yield Call(study, [at.program("ainvil-inverse-factors"), study, *options("--problem", gallery),
                               *repeats(at.size)], study)

    def show(self, at, results):
        print(head(["matrix", "tau", "entries of Z", "thesis", "reference", "iterations", "reference"]))
        for key, paper, _ in self.cases(at):
            run = results[key][0] if key in results else None
            print(row([paper["matrix"], paper["drop"], run["factor_entries"] if run else "", paper["entries"],
                       paper["reference"], iterations(run) if run else "", paper["iterations"]]))
        if at.size == "smoke":
            print("\nToys: the larger matrices are left out.")
        for study, what in (("compare", "methods"), ("parts", "parts of BAINV"), ("size", "as many entries")):
            print(f"\n{what}, nested dissection; ms\n")
            print(head(["problem", "method", "drop", "parts", "entries", "iterations", "set-up", "solve",
                        "total"], left=2))
            for run in results[study]:
                print(row([run["problem"], run["method"], *("" if run[k] is None else run[k] for k in (
                    "drop", "parts", "factor_entries")), iterations(run),
                           *(ms(run[f"{k}_seconds"]) for k in ("setup", "solve", "total"))]))
        print("\nFormats, on a GPU cuSPARSE's too: a product with A or an application of SAINV, and CG\n")
        print(head(["problem", "method", "format", "entries", "longest row", "product, us", "iterations", "solve, ms"],
                   left=3))
        for run in results["formats"]:
            print(row([run["problem"], run["method"], run["format"], run["matrix_entries"], run["longest_row"],
                       number(run["product_seconds"], unit=1e-6), iterations(run), ms(run["solve_seconds"])]))
        ranges(self, [("columns of SAINV, all host cores over the GPU", "columns",
                       host_over_device(results, lambda run: phases(run, "columns")))])
        remarks([case for _, _, case in self.cases(at)])


STUDIES = {study.name: study for study in (
    IsaiIterations(), IsaiTimes(), BlockJacobi(), SweepsCost(), SweepsConvergence(), Fsai(), Thesis())}
