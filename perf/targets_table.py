#!/usr/bin/env python3
"""Ainvil's targets on a GPU against what perf/targets.sh measured, as Markdown tables:
perf/targets_table.py FOLDER
perf/targets_table.py --faster-policy PROBLEM FILE.jsonl

A row a case: the target, the ratio that is held against it, the numbers behind the ratio in their order, and
whether the target is met. Lines without numbers were not measured: without a GPU and
cuSPARSE there is nothing to compare with. The second form names the preconditioner of the problem whose
applications are fastest.
"""
import os
import sys

import host_and_gpu_table
from records import fail, having, machine, ms, number, phases, plus, ratio, row, smallest, stored, times

# Ginkgo of late 2025 on an NVIDIA H200, not in this run: its scalar ISAI of power 1, 2, 3, set-up and
# GMRES(30) to 1e-5, milliseconds.
GINKGO = {"cavity:300": (412, 391, 383), "cavity:600": (1627, 1462, 1704)}
BEYOND_CACHE = 60e6  # bytes; below, the L2 cache of an H200 helps


def problems(records):
    return list(dict.fromkeys(record["problem"] for record in records))


def fastest(records, key, **where):
    """The record with the smallest number under a key among those that have the given values."""
    return smallest(having(records, **where), key)


class Table:
    """Rows, and how many targets are met. A bound is (">=" or "<=", number); None where there is none. Without a
    measured value a target is neither met nor missed."""

    def __init__(self):
        self.rows = []
        self.counts = {"yes": 0, "no": 0}

    def add(self, what, case, bound, value, behind, unit="x"):
        met = ""
        if bound and value is not None:
            met = "yes" if (value >= bound[1] if bound[0] == ">=" else value <= bound[1]) else "no"
            self.counts[met] += 1
        target = f"{bound[0]} {bound[1]:g} {unit}" if bound else ""
        measured = "not measured" if value is None else f"{value:.3g} {unit}"
        self.rows.append((what, case, target, measured, behind, met))

    def missing(self, what, why="not measured"):
        self.rows.append((what, "", "", "", why, ""))

    def show(self):
        titles = ("what", "case", "target", "measured", "behind it", "met")
        print(row(titles) + "\n|---|---|--:|--:|---|---|")
        for cells in self.rows:
            print(row(cells))
        print(f"\n{self.counts['yes']} of {sum(self.counts.values())} met.")


def best_isai(data, problem):
    """With either basis."""
    runs = [run for name in ("isai", "isai-float-basis") for run in data[name] if run["status"] == "converged"]
    return fastest(runs, "total_seconds", problem=problem)


def spent(run):
    basis = ", basis in float" if run["basis"] == "float" else ""
    return f"{run['precond']}{basis}: {ms(run['setup_total_seconds'])} + {ms(run['solve_seconds'])} ms, " \
           f"{run['iterations']} iterations"


def exact_solves(table, data):
    what = "GMRES(30) + ILU(0), set-up included, against exact solves of cuSPARSE"
    count = len(table.rows)
    for problem in problems(data["isai"]):
        ours = best_isai(data, problem)
        theirs = fastest(data["cusparse"], "total_seconds", problem=problem, status="converged")
        if ours and theirs:
            table.add(what, problem, (">=", 20 if problem.startswith("cavity") else 7),
                      ratio(theirs["total_seconds"], ours["total_seconds"]), f"{spent(theirs)} / {spent(ours)}")
    if len(table.rows) == count:
        table.missing(what)


def ginkgo(table, data):
    what = "the same against Ginkgo's ISAI (constants of another run)"
    for problem, theirs in GINKGO.items():
        ours = best_isai(data, problem)
        if ours:
            same = []
            for power, total in enumerate(theirs, 1):
                run = fastest(data["isai"], "total_seconds", problem=problem,
                              precond=f"ilu:solve=isai,power={power}")
                if run:
                    same.append(f"p = {power}: {total} / {ms(run['total_seconds'])}")
            table.add(what, problem, (">=", 4), ratio(1e-3 * min(theirs), ours["total_seconds"]),
                      f"{min(theirs)} ms / {spent(ours)}; " + ", ".join(same))
    if not any(run["problem"] in GINKGO for run in data["isai"]):
        table.missing(what)


def products(table, data):
    records = data["products"]
    compared = [record for record in records if record["method"] == "cusparse"]
    for theirs in compared:
        ours = fastest(records, "seconds", problem=theirs["problem"], method="spmv")
        if ours:
            table.add("block SpMV against bsrmv", theirs["problem"], (">=", 1.8),
                      ratio(theirs["seconds"], ours["seconds"]),
                      f"{number(theirs['seconds'], '.4g', 1e-6)} / {number(ours['seconds'], '.4g', 1e-6)} us")
    if not compared:
        table.missing("block SpMV against bsrmv")
    for ours in records:
        if ours["method"] == "spmv":
            large = ours["bytes"] > BEYOND_CACHE
            table.add("block SpMV, share of copy bandwidth", ours["problem"], (">=", 85) if large else None,
                      times(100, ours["share_of_copy"]),
                      f"{number(ours['bytes_per_second'], unit=1e12)} TB/s" + ("" if large else ", fits a cache"), "%")


def isai_setup(table, data):
    for run in data["isai"]:
        power = run["precond"].removeprefix("ilu:solve=isai,power=")
        if power in ("1", "2", "3") and run["status"] == "converged":
            seconds = phases(run, "isai")
            table.add("pattern and solve of ISAI in the time to solution", f"{run['problem']}, p = {power}",
                      ("<=", 10 if power == "3" else 5), times(100, ratio(seconds, run["total_seconds"])),
                      f"{ms(seconds)} of {ms(run['total_seconds'])} ms", "%")


def short_storage(table, data):
    for what, study in (("storage=float", "isai"), ("storage=bfloat16", "isai-float-basis")):
        for short in data[study]:
            precond, _, storage = short["precond"].rpartition(",")
            double = fastest(data[study], "total_seconds", problem=short["problem"], precond=precond)
            if storage != what or not double or "relax" in precond or short["status"] != "converged":
                continue
            case = f"{short['problem']}, p = {precond.split('power=')[1]}"
            table.add(f"{what}, time of an application", case, ("<=", 0.6),
                      ratio(short["apply30_seconds"], double["apply30_seconds"]),
                      f"30: {ms(short['apply30_seconds'])} / {ms(double['apply30_seconds'])} ms")
            table.add(f"{what}, more iterations", case, ("<=", 2),
                      times(100, ratio(short["iterations"] - double["iterations"], double["iterations"])),
                      f"{short['iterations']} / {double['iterations']}", "%")


def factorisation(table, data):
    records = data["factors"]
    compared = [record for record in records if record["method"] == "cusparse"]
    for theirs in compared:
        ours = fastest(records, "numeric_seconds", problem=theirs["problem"], method="levels")
        if ours is None:
            continue
        blocks = theirs["block_size"] > 1
        name = "bsrilu02" if blocks else "csrilu02"
        analysis, factor = theirs["setup_seconds"], theirs["numeric_seconds"]
        levels, numeric = ours["setup_seconds"], ours["numeric_seconds"]
        them = f"{ms(analysis)} + {ms(factor)}"
        table.add(f"ILU(0) against analysis and factor of {name}", theirs["problem"],
                  (">=", 1.5) if blocks else None,
                  ratio(plus(analysis, factor), plus(levels, numeric)),
                  f"{them} / {ms(levels)} + {ms(numeric)} ms")
        table.add("from the second compute", theirs["problem"], (">=", 3) if blocks else None,
                  ratio(plus(analysis, factor), numeric),
                  f"{them} / {ms(numeric)} ms; against the factor alone {number(ratio(factor, numeric), '.2f')} x")
    if not compared:
        table.missing("ILU(0) against analysis and factor of bsrilu02")


def cholesky(table, data):
    what = "batched Cholesky against potrfBatched of cuSOLVER"
    compared = [record for record in data["cholesky"] if record["peer"] == "cuSOLVER"]
    for record in compared:
        size = int(record["size"])
        table.add(what, f"{size}, {record['precision']}", (">=", 3 if size <= 64 else 1),
                  ratio(record["peer_seconds"], record["factor_seconds"]),
                  f"{number(record['factor_gflops'], '.0f')} / {number(record['peer_gflops'], '.0f')} GFLOP/s")
    if not compared:
        table.missing(what)


def setup_on_gpu(table, data):
    host_cores = max((run["threads"] for run in data["setups-host"]), default=1)
    seen = set()
    for run in data["setups"]:
        case = (run["problem"], run["precond"])
        if case in seen:
            continue
        seen.add(case)
        where = dict(zip(("problem", "precond"), case))
        gpu = fastest(data["setups"], "setup_total_seconds", **where)
        host = fastest(data["setups-host"], "setup_total_seconds", **where)
        if gpu is None or host is None:
            continue
        cores = f"{host_cores} host core{'s' if host_cores > 1 else ''}"
        if run["precond"].startswith("fsai"):
            table.add(f"FSAI set-up against {cores}", run["problem"],
                      (">=", 20) if run["rows"] >= 1e6 else None,
                      ratio(host["setup_total_seconds"], gpu["setup_total_seconds"]),
                      f"{ms(host['setup_total_seconds'])} / {ms(gpu['setup_total_seconds'])} ms")
        else:
            seconds = [min(phases(r, "columns") for r in data[name]
                           if (r["problem"], r["precond"]) == case) for name in ("setups-host", "setups")]
            table.add(f"SAINV columns against {cores}", f"{run['problem']}, {run['precond']}",
                      (">=", 5) if run["rows"] > 5e4 else None, ratio(*seconds),
                      f"{ms(seconds[0])} / {ms(seconds[1])} ms, {run['iterations']} iterations")


def spsv_bound(data, problem, iterations):
    """What GMRES or CG with SpSV takes at least: analysis and solves with both factors. None if not measured."""
    triangles = [record for record in data["triangles"]
                 if (record["problem"], record["method"]) == (problem, "cusparse")]
    if len(triangles) != 2:
        return None
    factor = fastest(data["factors"], "numeric_seconds", problem=problem, method="cusparse")
    setup = [record["setup_seconds"] for record in triangles]
    if factor:
        setup += [factor["setup_seconds"], factor["numeric_seconds"]]
    return plus(*setup, *(times(iterations, record["seconds"]) for record in triangles))


def sweeps(table, data):
    what = "m Jacobi sweeps against exact solves of cuSPARSE, time to solution"
    for problem in problems(data["sweeps"]):
        theirs = fastest(data["cusparse"], "total_seconds", problem=problem, status="converged")
        exact = theirs or fastest(data["exact-host"], "solve_seconds", problem=problem, status="converged")
        if exact is None:
            table.missing(f"{what}: {problem}", "not measured: iterations of exact solves")
            continue
        runs = [run for run in data["sweeps"] if run["problem"] == problem and
                run["status"] == "converged" and run["iterations"] <= 1.2 * exact["iterations"]]
        if not runs:
            table.missing(f"{what}: {problem}", f"no m stays within 20 % of {exact['iterations']} iterations")
            continue
        ours = min(runs, key=lambda run: int(run["precond"].split("sweeps=")[1]))
        bound = spsv_bound(data, problem, exact["iterations"])
        found = []
        if theirs:
            found.append((theirs["total_seconds"], spent(theirs)))
        if bound is not None:
            found.append((bound, f"SpSV, at least {ms(bound)} ms, {exact['iterations']} iterations"))
        if found:
            table.add(what, problem, (">=", 1), ratio(min(found)[0], ours["total_seconds"]),
                      " or ".join(text for _, text in sorted(found)) + f" / {spent(ours)}")
        else:
            table.missing(f"{what}: {problem}",
                          f"not measured; {spent(ours)}, exact {exact['iterations']} iterations")


def growth(table, data):
    """From one size of a problem to the next, for four times the rows."""
    last = {}
    for run in data["growth"]:
        key = run["problem"].split(":")[0], run["precond"]
        old, last[key] = last.get(key), run
        if old is None or not run["iterations"] or not old["iterations"]:
            continue
        more = 4 * old["rows"] / run["rows"]
        case = f"{old['problem']} to {run['problem'].split(':')[1]}, {run['precond']}"
        for what, seconds in (("set-up", lambda r: r["setup_total_seconds"]),
                              ("solve, an iteration", lambda r: ratio(r["solve_seconds"], r["iterations"]))):
            table.add(f"cost of four times the rows, {what}", case, ("<=", 4.4),
                      times(more, ratio(seconds(run), seconds(old))),
                      f"{ms(seconds(run))} / {ms(seconds(old))} ms for {run['rows'] / old['rows']:.2f} x")


LINES = (exact_solves, ginkgo, products, isai_setup, short_storage, factorisation, cholesky, setup_on_gpu,
         sweeps, growth)
FILES = ("isai", "isai-float-basis", "cusparse", "products", "factors", "cholesky", "setups", "setups-host", "sweeps",
         "exact-host", "triangles", "growth")


def show(data):
    """The table of {file: records}, and how many targets are met."""
    table = Table()
    for line in LINES:
        line(table, data)
    table.show()


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--faster-policy":
        folder, name = os.path.split(sys.argv[3])
        records = stored(folder, name.removesuffix(".jsonl"))
        run = fastest(records, "apply30_seconds", problem=sys.argv[2])
        if run is None:
            fail(f"no line of {sys.argv[3]} has the time of applications on {sys.argv[2]}")
        print(run["precond"])
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    data = {name: stored(folder, name) for name in FILES}
    if not data["isai"]:
        fail(f"{folder} has no isai.jsonl of perf/targets.sh")
    print(machine(data["isai"][0]) + "\n")
    show(data)
    host_and_gpu_table.show(stored(folder, "on-device"), stored(folder, "on-host"))


if __name__ == "__main__":
    main()
