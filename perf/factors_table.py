#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Markdown tables of what perf/factors.py measured: perf/factors_table.py RESULTS.jsonl...

First, a row a matrix: SuperLU, the fastest of Ainvil's with exact triangular solves, and the fastest without, and how many exact runs
relax=auto keeps. Then, a table a kind of factors, with a column a way to apply them. A cell has iterations / entries over those of A / set-up / total in ms, or why there are none.
"""
import sys

from factors import GENERAL, GENERAL_PRODUCTS, INDEFINITE, PRODUCTS, STRATEGIES, SYMMETRIC, SYMMETRIC_PRODUCTS
from records import fail, having, head, iterations, ms, number, ratio, read, row, smallest


def figures(run):
    """A cell."""
    if run is None:
        return ""
    if run["status"] != "converged":
        return run["status"]
    return " / ".join((iterations(run), number(ratio(run["factor_entries"], run["nnz"]), ".2g"),
                       ms(run["setup_total_seconds"]), ms(run["total_seconds"])))


def name(run):
    if run is None:
        return "none"
    return f"`{run['precond']}`" + (", matched" if run["match"] == "product" else "")


def of_superlu(run):
    return run["precond"].startswith("superlu")


def is_exact(run):
    """Whether there may be a substitution: relax=auto falls back to it."""
    return "solve=exact" in run["precond"] or "relax=auto" in run["precond"] and "fallback=none" not in run["precond"]


def fastest(runs):
    return smallest(having(runs, status="converged"), "total_seconds")


def acceptance(records):
    """A row a matrix, and on which of those that SuperLU solves no approximate inverse and no sweeps converge."""
    print(head(["matrix", "SuperLU", "fastest exact", "", "fastest without exact solves", ""]))
    lost, solved = [], 0
    for problem in dict.fromkeys(record["problem"] for record in records):
        runs = having(records, problem=problem)
        peer = next(filter(of_superlu, runs), None)
        ours = [run for run in runs if not of_superlu(run) and run["precond"] != "none"]
        exact = fastest([run for run in ours if is_exact(run)])
        other = fastest([run for run in ours if not is_exact(run)])
        print(row([problem, figures(peer), name(exact), figures(exact), name(other), figures(other)]))
        if peer is not None and peer["status"] == "converged":
            solved += 1
            lost += [problem] if other is None else []
    print(f"\nMatrices that SuperLU solves: {solved}; of these not solved by Ainvil without exact solves: {', '.join(lost) or 'none'}.")


def kept(records):
    """Of the runs that converge with exact solves, those that do with relax=auto, and which do not."""
    converged = {(run["problem"], run.get("match"), run["precond"]): run["status"] == "converged" for run in records}
    exact, auto = STRATEGIES["exact"], STRATEGIES["isai, relax=auto"]
    pairs = [((problem, match, precond), (problem, match, precond.removesuffix(exact) + auto))
             for (problem, match, precond), done in converged.items() if done and precond.endswith(exact)]
    pairs = [pair for pair in pairs if pair[1] in converged]
    lost = [f"{problem}{', matched' if match == 'product' else ''} with `{precond}`"
            for _, (problem, match, precond) in pairs if not converged[problem, match, precond]]
    if pairs:
        print(f"\nRuns that converge with exact solves: {len(pairs)}; of these not with `{auto}`: {', '.join(lost) or 'none'}.")


def kind(records, title, columns):
    """A row a system, of those that have any such run; a column that no system has is left out."""
    found = {run["precond"] for run in records}
    columns = {name: precond for name, precond in columns.items() if precond in found}
    runs = {(run["problem"], run.get("match"), run["precond"]): run for run in records}
    systems = [key for key in dict.fromkeys(key[:2] for key in runs) if any((*key, precond) in runs for precond in columns.values())]
    if not systems:
        return
    print(f"\n**{title}**\n")
    print(head(["matrix", *columns]))
    for problem, match in systems:
        print(row([problem + (", matched" if match == "product" else ""),
                   *(figures(runs.get((problem, match, precond))) for precond in columns.values())]))


def show(records):
    acceptance(records)
    kept(records)
    for title, factors in {**GENERAL, **SYMMETRIC, **INDEFINITE}.items():
        kind(records, f"{title}: `{factors}`", {name: f"{factors},{options}" for name, options in STRATEGIES.items()})
    kind(records, "Products, any matrix", {**GENERAL_PRODUCTS, **PRODUCTS})
    kind(records, "Products, SPD matrices", SYMMETRIC_PRODUCTS)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    records = read(*sys.argv[1:])
    if not records:
        fail(f"{' '.join(sys.argv[1:])} has no records")
    show(records)


if __name__ == "__main__":
    main()
