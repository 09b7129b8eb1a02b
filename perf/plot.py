#!/usr/bin/env python3
"""Figures from the JSON lines of the executables:
perf/plot.py [--format png|svg] [--out FOLDER] RESULTS.jsonl...

What can be drawn is drawn, a file a figure:
  convergence-PROBLEM  relative residual against iterations (--json-history of ainvil-solve)
  breakdown-PROBLEM    phases of the set-up and the solve, a bar a preconditioner
  speedup-PROBLEM      time to solution of a reference over that of each preconditioner
  scaling-FAMILY       set-up and solve against rows, where a preconditioner solves three sizes
  peers-PROBLEM        time to solution beside other libraries (ainvil-peers)
  residuals-PROBLEM    residual after each sweep (ainvil-triangular-sweeps residuals)
  solve-PROBLEM        iterations and time against sweeps (ainvil-triangular-sweeps solve)
  cholesky             GFLOP/s against the size (ainvil-batched-cholesky)
"""
import argparse
import math
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from records import read

# Colours that the colour-blind can tell apart (Okabe and Ito), and markers for print.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#555555"]
MARKERS = "osD^vP*X"
GREY = "#555555"
FLOOR = 1e-17  # residuals below, zero included, are drawn here
LIBRARIES = {"Ainvil": 0, "PETSc": 1, "hypre": 2, "Ifpack2": 4}
PHASES = [("order", ("order", "partition", "reorder")), ("pattern", ("pattern", "symbolic", "plan")),
          ("levels", ("levels",)), ("factors", ("numeric", "cholesky", "columns", "invert")),
          ("inverse", ("isai_solve", "probe", "filter", "transpose", "sweep_scale"))]

plt.rcParams.update({"font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "legend.frameon": False,
                     "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
                     "lines.linewidth": 1.4, "lines.markersize": 4, "figure.dpi": 150,
                     "svg.hashsalt": "ainvil"})


def style(k):
    return {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k // len(PALETTE) % len(MARKERS)]}


def machine(run):
    cores = run.get("ranks", 1) * run["threads"]
    return f"{run['device']}, {cores} core{'s' if cores > 1 else ''}" if run["exec_space"] != "Cuda" \
        else run["device"]


def title(run, what=""):
    return f"{run['problem']}{what} on {machine(run)}"


def name_of(run):
    """The preconditioner, and what else tells runs on one problem apart."""
    short = run.get("basis") == "float" and run.get("precision") == "double" and "gmres" in run["solver"]
    return run["precond"] + (", basis in float" if short else "")


def by(runs, *keys):
    """Groups of runs with the same values; a key may be a function of the run."""
    groups = {}
    for run in runs:
        values = tuple(key(run) if callable(key) else run.get(key) for key in keys)
        groups.setdefault(values, []).append(run)
    return groups


def number(value):
    return math.nan if value is None else value


def solved(runs):
    return [run for run in runs if run["status"] == "converged"]


def legend_below(figure, axes, columns=2):
    handles, labels = axes.get_legend_handles_labels()
    rows = math.ceil(len(labels) / columns)
    bottom = min(0.6, (0.6 + 0.22 * rows) / figure.get_figheight())
    figure.legend(handles, labels, loc="lower center", ncol=columns)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.88, bottom=bottom + 0.02, wspace=0.22)


def bars(runs, draw):
    """A figure with a horizontal bar a run, labelled with its preconditioner and iterations."""
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.36 * len(runs)))
    draw(axes, range(len(runs)))
    axes.set_yticks(range(len(runs)), [f"{name_of(run)} ({run['iterations']})" for run in runs])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    return figure, axes


def convergence(runs):
    for (problem,), part in by([run for run in runs if run.get("history")], "problem").items():
        figure, axes = plt.subplots(figsize=(9, 5.4))
        for k, run in enumerate(part):
            history = [max(number(r), FLOOR) for r in run["history"]]
            axes.semilogy(history, label=name_of(run), color=PALETTE[k % len(PALETTE)],
                          linestyle="-" if k < len(PALETTE) else "--")
        axes.axhline(part[0]["tolerance"], color=GREY, linestyle=":", linewidth=1)
        axes.set_xlabel(f"iterations of {part[0]['solver']}")
        axes.set_ylabel("||b - A x|| / ||b||")
        figure.suptitle(title(part[0]))
        legend_below(figure, axes)
        yield f"convergence-{problem}", figure


def breakdown(runs):
    for (problem, _), part in by(solved(runs), "problem", "device").items():
        if len(part) < 2 or any(run["library"] != "Ainvil" for run in part):
            continue
        pieces = []
        for run in part:
            rest = dict(run["setup_seconds"])
            piece = []
            for _, words in PHASES:
                mine = [name for name in rest if any(word in name for word in words)]
                piece.append(sum(rest.pop(name) for name in mine))
            piece.append(max(0, run["setup_total_seconds"] - sum(piece)))
            pieces.append(piece + [run["solve_seconds"]])
        names = [name for name, _ in PHASES] + ["rest of the set-up", "solve"]

        def draw(axes, positions):
            left = [0.0] * len(part)
            for k, name in enumerate(names):
                widths = [1e3 * piece[k] for piece in pieces]
                if max(widths) > 0:
                    axes.barh(positions, widths, left=left, height=0.7, label=name,
                              color=GREY if name == "solve" else PALETTE[k])
                left = [a + b for a, b in zip(left, widths)]

        figure, axes = bars(part, draw)
        axes.set_xlabel("ms")
        axes.set_title(title(part[0]))
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        figure.tight_layout()
        yield f"breakdown-{problem}", figure


def reference(runs):
    for name in ("ilu:solve=exact", "ilu", "jacobi"):
        for run in runs:
            if run["precond"] == name:
                return run
    return max(runs, key=lambda run: run["total_seconds"])


def speedup(runs):
    for (problem, _), part in by(solved(runs), "problem", "device").items():
        if len(part) < 2 or any(run["library"] != "Ainvil" for run in part):
            continue
        slow = reference(part)
        ratios = [slow["total_seconds"] / run["total_seconds"] for run in part]

        def draw(axes, positions):
            drawn = axes.barh(positions, ratios, height=0.7, color=PALETTE[0])
            axes.bar_label(drawn, fmt="%.2f", padding=3, fontsize=8)
            axes.axvline(1, color=GREY, linewidth=1)

        figure, axes = bars(part, draw)
        axes.set_xlabel(f"time to solution of {name_of(slow)} over that of the row")
        axes.set_title(title(part[0]))
        figure.tight_layout()
        yield f"speedup-{problem}", figure


def scaling(runs):
    families = {}
    for run in solved(runs):
        if ":" in run["problem"]:
            families.setdefault(run["problem"].split(":")[0], []).append(run)
    for family, part in families.items():
        curves = {name: sorted(same, key=lambda run: run["rows"])
                  for (name,), same in by(part, name_of).items()
                  if len({run["rows"] for run in same}) > 2}
        if not curves:
            continue
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.8))
        for axes, key, label in zip(panels, ("setup_total_seconds", "solve_seconds"),
                                    ("set-up", "solve")):
            for k, (name, same) in enumerate(curves.items()):
                axes.loglog([run["rows"] for run in same], [1e3 * run[key] for run in same],
                            label=name, **style(k))
            first = next(iter(curves.values()))
            rows = [first[0]["rows"], first[-1]["rows"]]
            axes.loglog(rows, [1e3 * first[0][key] * r / rows[0] for r in rows], color=GREY,
                        linestyle=":", label="proportional to rows")
            axes.set_xlabel("rows")
            axes.set_ylabel(f"{label}, ms")
        figure.suptitle(title({**part[0], "problem": family}))
        legend_below(figure, panels[0])
        yield f"scaling-{family}", figure


def peers(runs):
    for (problem, tolerance), part in by(solved(runs), "problem", "tolerance").items():
        cores = {run["ranks"] * run["threads"] for run in part}
        if all(run["library"] == "Ainvil" for run in part):
            continue
        for count in sorted(cores):
            best = {}
            for run in part:
                if run["ranks"] * run["threads"] == count:
                    old = best.get(run["precond"])
                    if old is None or run["total_seconds"] < old["total_seconds"]:
                        best[run["precond"]] = run
            rows = sorted(best.values(), key=lambda run: run["total_seconds"])

            def draw(axes, positions):
                for y, run in zip(positions, rows):
                    library = run["library"].split()[0]
                    colour = PALETTE[LIBRARIES.get(library, 7)]
                    setup, solve = run["setup_total_seconds"], run["solve_seconds"]
                    axes.barh(y, setup, height=0.7, color=colour, alpha=0.45)
                    axes.barh(y, solve, left=setup, height=0.7, color=colour)
                    axes.text(setup + solve, y, f" {setup + solve:.3g}", va="center", fontsize=8)

            figure, axes = bars(rows, draw)
            axes.legend(handles=[plt.Rectangle((0, 0), 1, 1, color=PALETTE[k], label=name)
                                 for name, k in LIBRARIES.items()], loc="lower right")
            axes.set_xlabel(f"seconds, set-up (pale) and solve to {tolerance:g}")
            axes.set_title(title(rows[0]))
            figure.tight_layout()
            yield f"peers-{problem}-{count}", figure


SWEEPS = {"jacobi": ("Jacobi", 0), "async": ("asynchronous, along the dependencies", 1),
          "async-against": ("asynchronous, against them", 2),
          "factor": ("ILU by sweeps, exact solves", 3), "exact": ("exact ILU and solves", 7)}


def sweep_curve(axes, method, rows, x, y, scale=1.0):
    rows = sorted(rows, key=lambda row: row[x])
    label, k = SWEEPS[method]
    axes.plot([row[x] for row in rows], [max(scale * number(row[y]), FLOOR) for row in rows],
              color=PALETTE[k], marker=MARKERS[k], label=label,
              linestyle=":" if method == "async-against" else "-")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def residuals(rows):
    for (problem,), part in by(rows, "problem").items():
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True)
        for axes, factor in zip(panels, ("lower", "upper")):
            for method in ("jacobi", "async", "async-against"):
                same = [row for row in part if (row["factor"], row["method"]) == (factor, method)]
                if not same:
                    continue
                sweep_curve(axes, method, same, "sweep", "residual_mean")
                same.sort(key=lambda row: row["sweep"])
                mean = [number(row["residual_mean"]) for row in same]
                std = [number(row["residual_std"]) for row in same]
                axes.fill_between([row["sweep"] for row in same],
                                  [max(m - s, FLOOR) for m, s in zip(mean, std)],
                                  [max(m + s, FLOOR) for m, s in zip(mean, std)],
                                  color=PALETTE[SWEEPS[method][1]], alpha=0.2, linewidth=0)
                name = "L" if factor == "lower" else "U"
                axes.set_title(f"{name} x = 1, {same[0]['levels']} levels")
            axes.set_yscale("log")
            axes.set_xlabel("sweeps")
        panels[0].set_ylabel("relative residual")
        figure.suptitle(title(part[0]))
        legend_below(figure, panels[0])
        yield f"residuals-{problem}", figure


def sweep_solves(rows):
    for (problem,), part in by(solved(rows), "problem").items():
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.4))
        exact = [row for row in part if (row["method"], row["factor_sweeps"]) == ("exact", 0)]
        for axes, key, scale in zip(panels, ("iterations", "total_seconds"), (1.0, 1e3)):
            for method in ("jacobi", "async"):
                sweep_curve(axes, method, [row for row in part if row["method"] == method],
                            "sweeps", key, scale)
            sweep_curve(axes, "factor", [row for row in part if row["factor_sweeps"] != 0],
                        "factor_sweeps", key, scale)
            for row in exact:
                axes.axhline(scale * number(row[key]), color=GREY, linestyle="--",
                             label=SWEEPS["exact"][0])
            axes.set_xlabel("sweeps")
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("FGMRES iterations")
        panels[1].set_ylabel("set-up and solve, ms")
        times = [row["total_seconds"] for row in part]
        if max(times) > 20 * min(times):
            panels[1].set_yscale("log")
            panels[1].set_ylim(auto=True)
        figure.suptitle(title(part[0]))
        legend_below(figure, panels[0])
        yield f"solve-{problem}", figure


def cholesky(rows):
    rows = [row for row in rows if row["size"] != "mixed"]
    figure, axes = plt.subplots(figsize=(9, 4.8))
    for k, ((precision,), part) in enumerate(by(rows, "precision").items()):
        sizes = [int(row["size"]) for row in part]
        axes.plot(sizes, [row["factor_gflops"] for row in part], label=f"Ainvil, {precision}",
                  **style(k))
        if any(row["peer_gflops"] for row in part):
            axes.plot(sizes, [number(row["peer_gflops"]) for row in part], linestyle="--",
                      label=f"{part[0]['peer']}, {precision}", **style(k))
    axes.set_xlabel("size")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"{rows[0]['count']} factorisations on {rows[0]['device']}")
    axes.legend()
    yield "cholesky", figure


def figures(records):
    solves = [record for record in records if "solve_seconds" in record and "precond" in record]
    for draw in (convergence, breakdown, speedup, scaling, peers):
        yield from draw(solves)
    for study, draw in (("residuals", residuals), ("solve", sweep_solves), ("cholesky", cholesky)):
        rows = [record for record in records if record.get("study") == study]
        if rows:
            yield from draw(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--out", default=".", help="folder for the figures")
    parser.add_argument("jsonl", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    # A figure a file of results: the same problem may occur in several.
    names = set()
    for path in options.jsonl:
        for what, figure in figures(read(path)):
            kind, _, problem = what.partition("-")
            safe = "".join(c if c.isalnum() or c in ".-" else "-" for c in os.path.basename(problem))
            name = f"{kind}-{safe}" if problem else kind
            while name in names:
                name += "-again"
            names.add(name)
            target = os.path.join(options.out, f"{name}.{options.format}")
            figure.savefig(target)
            plt.close(figure)
            print(target, flush=True)
    if not names:
        sys.exit("perf/plot.py: nothing to draw in " + " ".join(options.jsonl))


main()
