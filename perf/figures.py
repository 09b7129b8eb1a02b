"""What perf/plot.py draws, with Matplotlib: each function yields (name, figure) of the records it is given."""
import math

from records import fail, known, number, phases, plus, ratio, smallest, solves, times

if __name__ == "__main__":
    fail("is no program but what perf/plot.py draws with: run that")
# Asks for Matplotlib; all others come after it.
from drawing import (FLOOR, GREY, MARKERS, PALETTE, Curve, bar, bars, by, converged, coordinate, draw_curves, failure,
                     hatch, legend_below, name_of, plt, style, title)
from matplotlib.ticker import MaxNLocator

LIBRARIES = {"Ainvil": 0, "PETSc": 1, "hypre": 2, "Ifpack2": 4}
PHASES = [("order", ("order", "partition", "reorder")), ("pattern", ("pattern", "symbolic", "plan")),
          ("levels", ("levels",)), ("factors", ("numeric", "cholesky", "columns", "invert")),
          ("inverse", ("isai_solve", "probe", "filter", "transpose", "sweep_scale"))]


def race_name(run):
    restarts = f"({run['restart']})" if run["solver"] == "gmres" else ""
    return f"{run['solver']}{restarts} {run['precond']}"


def thinned(points, most=100):
    """Every so many points one, and the last."""
    step = max(1, math.ceil(len(points) / most))
    return points[::step] + ([points[-1]] if (len(points) - 1) % step else [])


def is_of_race(run):
    return "race_began_seconds" in run


def race(runs):
    """What --recommend has run: the residual of each over the seconds of its set-up and solve. The fastest few are
    named; others are grey and end in a cross where they were dropped or have failed, in a dot where they converged."""
    for (problem,), part in by([run for run in runs if run.get("history_seconds")], "problem").items():
        figure, axes = plt.subplots(figsize=(9, 5.4))
        axes.set_yscale("log")
        done = sorted(filter(converged, part), key=lambda run: run["total_seconds"])
        others = sorted((run for run in part if not converged(run)), key=lambda run: coordinate(run["rel_residual"]))
        named = (done + others)[:5]
        for run in done + others:
            points = thinned([(run["setup_total_seconds"] or 0, 1.0)] +
                             [(x, max(coordinate(y), FLOOR)) for x, y in zip(run["history_seconds"], run["history"])])
            is_named = run in named
            colour = PALETTE[named.index(run)] if is_named else "#AAAAAA"
            label = race_name(run) + (f", {number(run['total_seconds'])} s" if converged(run) else f" ({failure(run)})")
            order = 3 if is_named else 2
            axes.plot(*zip(*points), color=colour, linewidth=1.6 if is_named else 0.7, zorder=order,
                      label=label if is_named else None)
            axes.plot(*points[-1], color=colour, zorder=order, marker="o" if converged(run) else "x", linestyle="")
        axes.plot([], [], color="#AAAAAA", marker="x", label="others, where they were dropped or failed")
        if part[0]["tolerance"] > 0:
            axes.axhline(part[0]["tolerance"], color=GREY, linestyle=":", linewidth=1)
            axes.set_ylim(part[0]["tolerance"] / 10, 30)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds of set-up and solve" + (", processor time" if part[0].get("clock") == "cpu" else ""))
        axes.set_ylabel("||b - A x|| / ||b||")
        figure.suptitle(title(part[0], f", {len(part)} configurations,"))
        legend_below(figure, axes)
        yield f"race-{problem}", figure


def convergence(runs):
    for (problem,), part in by([run for run in runs if run.get("history")], "problem").items():
        figure, axes = plt.subplots(figsize=(9, 5.4))
        axes.set_yscale("log")
        draw_curves(axes, [Curve(name_of(run) + ("" if converged(run) else f" ({failure(run)})"),
                                 range(len(run["history"])), run["history"], residual=True,
                                 color=PALETTE[k % len(PALETTE)], linestyle="-" if k < len(PALETTE) else "--")
                           for k, run in enumerate(part)])
        if part[0]["tolerance"] > 0:
            axes.axhline(part[0]["tolerance"], color=GREY, linestyle=":", linewidth=1)
        axes.set_xlabel(f"iterations of {part[0]['solver']}")
        axes.set_ylabel("||b - A x|| / ||b||")
        figure.suptitle(title(part[0]))
        legend_below(figure, axes)
        yield f"convergence-{problem}", figure


def comparisons(runs):
    """(problem, runs) of Ainvil on one device."""
    for (problem, _), part in by(runs, "problem", "device").items():
        if len(part) > 1 and all(run["library"] == "Ainvil" for run in part):
            yield problem, part


def pieces(run):
    """(what, seconds) of the time to solution."""
    rest = {**run, "setup_seconds": dict(run["setup_seconds"])}
    found = []
    for name, words in PHASES:
        found.append((name, phases(rest, *words)))
        rest["setup_seconds"] = {phase: seconds for phase, seconds in rest["setup_seconds"].items()
                                 if not any(word in phase for word in words)}
    in_phases = sum(seconds for _, seconds in found)
    return [*found, ("rest of the set-up", max(0, (run["setup_total_seconds"] or 0) - in_phases)),
            ("solve", run["solve_seconds"] or 0)]


def breakdown(runs):
    for problem, part in comparisons(runs):
        names = [name for name, _ in pieces(part[0])]
        colours = dict(zip(names, [*PALETTE[:len(names) - 1], GREY]))

        def draw(axes, y, run):
            end = 0
            for name, seconds in pieces(run):
                end = bar(axes, y, 1e3 * seconds, end, color=colours[name], **hatch(run))
            return end, "" if run["solve_seconds"] is not None else "not measured"

        figure, axes = bars(part, draw)
        axes.set_xlabel("ms")
        axes.set_title(title(part[0]))
        shown = {name for run in part for name, seconds in pieces(run) if seconds > 0}
        axes.legend(handles=[plt.Rectangle((0, 0), 1, 1, color=colours[name], label=name)
                             for name in names if name in shown],
                    fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        figure.tight_layout()
        yield f"breakdown-{problem}", figure


def reference(runs):
    """The run that others are compared with, None if there is none."""
    done = [run for run in runs if converged(run) and run["total_seconds"]]
    for name in ("ilu:solve=exact", "ilu", "jacobi"):
        for run in done:
            if run["precond"] == name:
                return run
    return max(done, key=lambda run: run["total_seconds"], default=None)


def speedup(runs):
    for problem, part in comparisons(runs):
        slow = reference(part)
        if slow is None:
            continue

        def draw(axes, y, run):
            faster = ratio(slow["total_seconds"], run["total_seconds"]) if converged(run) else None
            return bar(axes, y, faster or 0, color=PALETTE[0]), number(faster, ".2f") if converged(run) else ""

        figure, axes = bars(part, draw)
        axes.axvline(1, color=GREY, linewidth=1)
        axes.set_xlabel(f"time to solution of {name_of(slow)} over that of the row")
        axes.set_title(title(part[0]))
        figure.tight_layout()
        yield f"speedup-{problem}", figure


def scaling(runs):
    families = by([run for run in runs if ":" in run["problem"]], lambda run: run["problem"].split(":")[0])
    for (family,), part in families.items():
        curves = {name: sorted(same, key=lambda run: run["rows"])
                  for (name,), same in by(part, name_of).items()
                  if len({run["rows"] for run in same}) > 2 and any(map(converged, same))}
        if not curves:
            continue
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.8))
        for axes, key, label in zip(panels, ("setup_total_seconds", "solve_seconds"),
                                    ("set-up", "solve")):
            axes.set_xscale("log")
            axes.set_yscale("log")
            draw_curves(axes, [Curve(name, [run["rows"] for run in same], [times(1e3, run[key]) for run in same],
                                     **style(k)) for k, (name, same) in enumerate(curves.items())])
            failed = [run for same in curves.values() for run in same if not converged(run)]
            if failed:
                axes.plot([run["rows"] for run in failed], [coordinate(times(1e3, run[key])) for run in failed],
                          linestyle="", marker="o", markersize=10, color=GREY, markerfacecolor="none",
                          label="did not converge")
            first = next(iter(curves.values()))[0]
            if first[key]:
                rows = sorted({run["rows"] for same in curves.values() for run in same})
                axes.plot(rows, [1e3 * first[key] * r / first["rows"] for r in rows], color=GREY,
                          linestyle=":", label="proportional to rows")
            axes.set_xlabel("rows")
            axes.set_ylabel(f"{label}, ms")
        figure.suptitle(title({**part[0], "problem": family}))
        legend_below(figure, panels[0])
        yield f"scaling-{family}", figure


def best_of(runs):
    """The fastest that converged, else the one with the smallest residual."""
    return smallest([run for run in runs if converged(run)], "total_seconds") or \
        smallest(runs, "rel_residual") or runs[0]


def peers(runs):
    for (problem, tolerance), part in by(runs, "problem", "tolerance").items():
        if all(run["library"] == "Ainvil" for run in part):
            continue
        for (count,), same in sorted(by(part, lambda run: run["ranks"] * run["threads"]).items()):
            rows = sorted((best_of(group) for group in by(same, name_of).values()),
                          key=lambda run: (not converged(run), run["total_seconds"] or 0))

            def draw(axes, y, run):
                colour = PALETTE[LIBRARIES.get(run["library"].split()[0], 7)]
                end = bar(axes, y, run["setup_total_seconds"] or 0, color=colour, alpha=0.45, **hatch(run))
                end = bar(axes, y, run["solve_seconds"] or 0, end, color=colour, **hatch(run))
                return end, number(plus(run["setup_total_seconds"], run["solve_seconds"]))

            figure, axes = bars(rows, draw)
            axes.legend(handles=[plt.Rectangle((0, 0), 1, 1, color=PALETTE[k], label=name)
                                 for name, k in LIBRARIES.items()],
                        fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
            axes.set_xlabel(f"seconds, set-up (pale) and solve to {tolerance:g}")
            axes.set_title(title(rows[0]))
            figure.tight_layout()
            yield f"peers-{problem}-{count}", figure


SWEEPS = {"jacobi": ("Jacobi", 0), "async": ("asynchronous, along the dependencies", 1),
          "async-against": ("asynchronous, against them", 2),
          "factor": ("ILU by sweeps, exact solves", 3), "exact": ("exact ILU and solves", 7)}


def sweep_curve(method, rows, x, y, unit=1.0, residual=False):
    rows = sorted(rows, key=lambda row: row[x])
    label, k = SWEEPS[method]
    return Curve(label, [row[x] for row in rows], [times(1 / unit, row[y]) for row in rows], residual,
                 color=PALETTE[k], marker=MARKERS[k], linestyle=":" if method == "async-against" else "-")


def residuals(rows):
    for (problem,), part in by(rows, "problem").items():
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True)
        for axes, factor in zip(panels, ("lower", "upper")):
            axes.set_yscale("log")
            curves = []
            for method in ("jacobi", "async", "async-against"):
                same = sorted((row for row in part if (row["factor"], row["method"]) == (factor, method)),
                              key=lambda row: row["sweep"])
                if not same:
                    continue
                curves.append(sweep_curve(method, same, "sweep", "residual_mean", residual=True))
                mean = [coordinate(row["residual_mean"]) for row in same]
                std = [coordinate(row["residual_std"]) for row in same]
                axes.fill_between([row["sweep"] for row in same],
                                  [max(m - s, FLOOR) for m, s in zip(mean, std)],
                                  [max(m + s, FLOOR) for m, s in zip(mean, std)],
                                  color=PALETTE[SWEEPS[method][1]], alpha=0.2, linewidth=0)
                name = "L" if factor == "lower" else "U"
                axes.set_title(f"{name} x = 1, {number(same[0]['levels'], 'd')} levels")
            draw_curves(axes, curves)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_xlabel("sweeps")
        panels[0].set_ylabel("relative residual")
        figure.suptitle(title(part[0]))
        legend_below(figure, panels[0])
        yield f"residuals-{problem}", figure


def sweep_solves(rows):
    for (problem,), part in by(rows, "problem").items():
        done = [row for row in part if converged(row)]
        figure, panels = plt.subplots(1, 2, figsize=(9, 4.4))
        exact = [row for row in done if (row["method"], row["factor_sweeps"]) == ("exact", 0)]
        for axes, key, unit in zip(panels, ("iterations", "total_seconds"), (1.0, 1e-3)):
            sets = [(method, "sweeps", [row for row in part if row["method"] == method])
                    for method in ("jacobi", "async")]
            sets.append(("factor", "factor_sweeps", [row for row in part if row["factor_sweeps"] != 0]))
            draw_curves(axes, [sweep_curve(method, [row for row in same if converged(row)], x, key, unit)
                               for method, x, same in sets])
            failed = {row[x] for _, x, same in sets for row in same if not converged(row)}
            if failed:
                axes.plot(sorted(failed), [0.02] * len(failed), linestyle="", marker="x", color=GREY,
                          transform=axes.get_xaxis_transform(), label="one of them did not converge")
            for row in exact:
                axes.axhline(coordinate(times(1 / unit, row[key])), color=GREY, linestyle="--",
                             label=SWEEPS["exact"][0])
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_xlabel("sweeps")
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("FGMRES iterations")
        panels[1].set_ylabel("set-up and solve, ms")
        seconds = known(row["total_seconds"] for row in done)
        if seconds and max(seconds) > 20 * min(seconds) > 0:
            panels[1].set_yscale("log")
            panels[1].set_ylim(auto=True)
        figure.suptitle(title(part[0]))
        legend_below(figure, panels[0])
        yield f"solve-{problem}", figure


def cholesky(rows):
    rows = [row for row in rows if row["size"] != "mixed"]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(9, 4.8))
    curves = []
    for k, ((precision,), part) in enumerate(by(rows, "precision").items()):
        sizes = [int(row["size"]) for row in part]
        curves.append(Curve(f"Ainvil, {precision}", sizes, [row["factor_gflops"] for row in part], **style(k)))
        if any(row["peer_gflops"] for row in part):
            curves.append(Curve(f"{part[0]['peer']}, {precision}", sizes, [row["peer_gflops"] for row in part],
                                linestyle="--", **style(k)))
    draw_curves(axes, curves)
    axes.set_xlabel("size")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"{rows[0]['count']} factorisations on {rows[0]['device']}")
    axes.legend()
    yield "cholesky", figure


def figures(records):
    yield from race(list(filter(is_of_race, records)))
    runs = [run for run in solves(records) if not is_of_race(run)]
    for draw in (convergence, breakdown, speedup, scaling, peers):
        yield from draw(runs)
    for study, draw in (("residuals", residuals), ("solve", sweep_solves), ("cholesky", cholesky)):
        rows = [record for record in records if record.get("study") == study]
        if rows:
            yield from draw(rows)
