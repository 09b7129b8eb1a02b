#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How good the answers of ainvil-solve --recommend are: the time of its configuration over that of the best of a grid of
configurations, and the time of the race over that of the best.

usage: recommend.py BUILD_FOLDER RESULTS.jsonl [--gpu] [--matrices FOLDER] [--budget SECONDS] [--limit SECONDS] PROBLEM...

PROBLEM is one of the gallery, as cavity:60; --matrices adds all files *.mtx.gz of a folder, with b = A times ones. On a host
everything is measured in processor time (--clock cpu): set OMP_NUM_THREADS=1. With --gpu the build is one for a GPU, times are
those of the wall, and the preconditioners are those that make sense there. The grid is every solver below with every
preconditioner below and what the race itself has tried; each gets --limit seconds, or three times what the answer takes and two
seconds for the system. The best few of the grid and the answer are measured once more, the fastest set-up and solve of three.
RESULTS.jsonl gets a line a problem.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SOLVERS = [("cg", 30), ("gmres", 30), ("gmres", 100), ("bicgstab", 30)]
LEVELS = ["ilu", "ilu:storage=float", "ilu:reorder=rcm", "ilu:match=product"] + [
    f"ilu:reorder={order},level={level},breakdown=shift" for order in ("rcm", "nd") for level in (1, 2, 4)] + [
    f"ilu:match=product,reorder={order},level={level},breakdown=shift" for order, level in
    (("rcm", 1), ("rcm", 2), ("nd", 1), ("nd", 4))] + ["ilu:reorder=nd,level=4,breakdown=shift,pivot-tol=1e11"]
SYMMETRIC = ["ic", "ic:storage=float", "ic:level=1", "ic:level=2", "fsai:power=1", "fsai", "ainv", "chebyshev"]
THRESHOLD = [f"ilu:factorization=ilut,drop=1e-{digits}" for digits in (1, 2, 3, 4)] + [
    f"ilu:reorder={order},factorization=ilut,drop=1e-{digits},breakdown=shift,pivot-tol=1e11" for order in ("rcm", "nd")
    for digits in (3, 4)] + [f"ilu:match=product,reorder=nd,factorization=ilut,drop=1e-{digits},breakdown=shift" for digits in (3, 4, 5)]
LATE = ["none", "ilu:level=1", "ilu:level=2", "ilu:poly=10", "ilu:level=4", "ilu:solve=isai"]

GPU_ANY = ["jacobi", "none", "ilu:solve=jacobi,sweeps=3", *(f"ilu:solve=isai{options}" for options in (
    "", ",power=2", ",power=3", ",storage=float", ",power=2,storage=float", ",power=2,storage=bfloat16", ",relax=1"))]
GPU_SYMMETRIC = ["fsai:power=1", "fsai", "fsai:power=3", "fsai:storage=float", "chebyshev", "ic:solve=isai", "ic:solve=isai,power=2",
                 "ic:solve=isai,power=2,storage=float", "ic:solve=jacobi,sweeps=3", "ic", "ic:reorder=rcm,level=1"]
GPU_GENERAL = [*(f"ilu:solve=isai,{options}" for options in (
    "poly=10", "poly=20", "power=2,poly=10", "power=2,poly=20", "storage=float,poly=20", "relax=auto", "level=1",
    "level=1,power=2")), "ilu", "ilu:reorder=block-colour", "ilu:factorization=ilut,drop=1e-2,solve=isai",
               "ilu:factorization=ilut,drop=1e-3,solve=isai,power=2", "ilu:factorization=ilut,drop=1e-3"]
GPU_LATE = ["ilu:match=product", "ilu:match=product,solve=isai,power=2,relax=auto", "ilu:match=product,solve=isai,power=2",
            "ilu:match=product,reorder=rcm,level=1,breakdown=shift",
            "ilu:match=product,reorder=nd,factorization=ilut,drop=1e-4,breakdown=shift",
            "ilu:reorder=nd,factorization=ilut,drop=1e-4,breakdown=shift,pivot-tol=1e11"]


def run(program, arguments, limit):
    """The records of a run, as far as it came."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.jsonl")
        begin = time.monotonic()
        try:
            subprocess.run([program, *arguments, "--quiet", "--json", path], timeout=limit,
                           check=False, capture_output=True)
        except subprocess.TimeoutExpired:
            pass
        seconds = time.monotonic() - begin
        if not os.path.exists(path):
            return [], seconds
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file], seconds


def key(record):
    return record["solver"], record["restart"], record["block_size"], record["precond"]


def best_of(records):
    done = [record for record in records if record["status"] == "converged"]
    return min(done, key=lambda record: record["total_seconds"], default=None)


def measured(program, system, configuration, limit):
    """Seconds of a configuration, the fastest of three; None if it does not converge."""
    solver, restart, block_size, precond = configuration
    found = best_of(run(program, [*system, "--solver", solver, "--restart", str(restart), "--block-size", str(block_size),
                                  "--precond", precond, "--repeat", "3"], 3 * limit)[0])
    return None if found is None else found["total_seconds"]


def host_grid(program, system, limit, symmetric):
    """All records of the grid, a process a configuration: memory of one does not slow the next."""
    records = []
    for solver, restart in SOLVERS:
        if solver == "cg" and not symmetric:
            continue
        for precond in ["jacobi", *(SYMMETRIC if solver == "cg" else THRESHOLD), *LEVELS, *LATE]:
            records += run(program, [*system, "--solver", solver, "--restart", str(restart), "--max-iters", "3000",
                                     "--precond", precond], limit)[0]
    return records


def gpu_grid(program, system, limit, symmetric, seconds):
    """The same, a process a solver, for a GPU takes longer to start than most solves; each solve ends after so many seconds.
    Where a set-up takes the time of a process, the next one goes on behind it."""
    records = []
    for solver, restart in SOLVERS:
        if solver == "cg" and not symmetric:
            continue
        left = GPU_ANY + (GPU_SYMMETRIC if solver == "cg" else GPU_GENERAL + GPU_LATE)
        while left:
            done, _ = run(program, [*system, "--solver", solver, "--restart", str(restart), "--max-iters", "3000", "--time-limit",
                                    str(seconds), *(word for precond in left for word in ("--precond", precond))], limit)
            records += done
            left = left[len(done) + 1:]
    return records


def study(program, name, system, budget, limit, gpu):
    race, _ = run(program, [*system, "--recommend", "--budget", str(budget)], budget + limit)
    race_seconds = max((record["race_ended_seconds"] for record in race), default=0)
    answer = best_of(race)
    symmetric = any(record["solver"] == "cg" for record in race)
    if gpu:
        grid = gpu_grid(program, system, limit, symmetric, limit if answer is None else 3 * answer["total_seconds"] + 0.01)
    else:
        most = limit if answer is None else min(limit, 3 * answer["total_seconds"] + 2)
        grid = host_grid(program, system, most, symmetric)
    done = [record for record in grid + race if record["status"] == "converged"]
    done.sort(key=lambda record: record["total_seconds"])
    finalists = list(dict.fromkeys(map(key, done)))[:5 if gpu else 3]
    if answer is not None and key(answer) not in finalists:
        finalists.append(key(answer))
    times = {configuration: measured(program, system, configuration, limit) for configuration in finalists}
    times = {configuration: seconds for configuration, seconds in times.items() if seconds is not None}
    result = {"problem": name, "any_converged": bool(done), "race_converged": answer is not None,
              "race_seconds": race_seconds, "race_entries": len(race), "grid_entries": len(grid)}
    if times:
        best = min(times, key=times.get)
        result |= {"best": best, "best_seconds": times[best]}
        if answer is not None and key(answer) in times:
            result |= {"answer": key(answer), "answer_seconds": times[key(answer)],
                       "regret": times[key(answer)] / times[best]}
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("results")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--matrices")
    parser.add_argument("--budget", type=float, default=30)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("problems", nargs="*")
    arguments = parser.parse_intermixed_args()
    program = os.path.join(arguments.build, "bin", "ainvil-solve")
    clock = [] if arguments.gpu else ["--clock", "cpu"]
    systems = [(problem, ["--problem", problem, *clock]) for problem in arguments.problems]
    for path in sorted(glob.glob(os.path.join(arguments.matrices, "*.mtx.gz"))) if arguments.matrices else []:
        if not path.endswith("_b.mtx.gz"):
            systems.append((os.path.basename(path)[:-7], ["--matrix", path, "--rhs", "rowsum", *clock]))
    results = []
    with open(arguments.results, "w", encoding="utf-8") as file:
        for name, system in systems:
            result = study(program, name, system, arguments.budget, arguments.limit, arguments.gpu)
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            number = lambda field: format(result.get(field, float("nan")), ".3g")
            print(f"{name}: regret {number('regret')}, race {number('race_seconds')} s, best {number('best_seconds')} s "
                  f"{' '.join(map(str, result.get('best', ['-'])))}, answer {' '.join(map(str, result.get('answer', ['-'])))}",
                  flush=True)
    regrets = [result["regret"] for result in results if "regret" in result]
    if regrets:
        print(f"regret: median {statistics.median(regrets):.3g}, worst {max(regrets):.3g}")
    over = [result["problem"] for result in results if "best_seconds" in result and
            result["race_seconds"] > 3 * result["best_seconds"] + 1]
    missed = [result["problem"] for result in results if result["any_converged"] and not result["race_converged"]]
    print(f"races of more than 3 x the best + 1 s: {', '.join(over) or 'none'}")
    print(f"solved by the grid and not by the race: {', '.join(missed) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
