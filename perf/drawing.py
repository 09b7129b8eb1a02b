"""What all figures of perf/plot.py share: colours, axes, curves and bars that show what did not converge."""
import math

from records import NO_MATPLOTLIB, besides, fail, number

if __name__ == "__main__":
    fail("is no program but what perf/plot.py draws with: run that")
try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    fail(NO_MATPLOTLIB)

# Colours that the colour-blind can tell apart (Okabe and Ito), and markers for print.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#555555"]
MARKERS = "osD^vP*X"
GREY = "#555555"
HATCH = "////"  # of runs that did not converge
FLOOR = 1e-17  # residuals below, zero included, are drawn here

plt.rcParams.update({"font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "legend.frameon": False,
                     "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
                     "lines.linewidth": 1.4, "lines.markersize": 4, "figure.dpi": 150,
                     "svg.hashsalt": "ainvil", "svg.fonttype": "none"})


def save(figure, path):
    figure.savefig(path)
    plt.close(figure)


def style(k):
    return {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k // len(PALETTE) % len(MARKERS)]}


def machine(run):
    cores = run.get("ranks", 1) * run["threads"]
    return f"{run['device']}, {cores} core{'s' if cores > 1 else ''}" if run["exec_space"] != "Cuda" \
        else run["device"]


def title(run, what=""):
    return f"{run['problem']}{what} on {machine(run)}"


def name_of(run):
    return run["precond"] + besides(run)


def by(runs, *keys):
    """Groups of runs with the same values; a key may be a function of the run."""
    groups = {}
    for run in runs:
        values = tuple(key(run) if callable(key) else run.get(key) for key in keys)
        groups.setdefault(values, []).append(run)
    return groups


def coordinate(value):
    """What Matplotlib leaves out, where the value is missing."""
    return math.nan if value is None else value


def converged(run):
    return run["status"] == "converged"


def failure(run):
    return "" if converged(run) else f"{run['status']}, residual {number(run['rel_residual'], '.1e')}"


class Curve:
    """Points, and how they are drawn; `residual` where y is one and so is never below FLOOR."""

    def __init__(self, label, x, y, residual=False, **how):
        self.label, self.x, self.how = label, list(x), how
        self.y = [max(coordinate(value), FLOOR) if residual else coordinate(value) for value in y]


def scaled(axes, values):
    """Heights in the figure, as parts of the range of the y-axis."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        low, high = math.log10(low), math.log10(high)
        values = [math.log10(value) if value > 0 else math.nan for value in values]
    return [(value - low) / (high - low) for value in values]


def share_of_covered(axes, one, other):
    """The share of their points at which no eye can tell them apart."""
    shared = sorted(set(one.x) & set(other.x))
    heights = [scaled(axes, [curve.y[curve.x.index(x)] for x in shared]) for curve in (one, other)]
    points = max(len(curve.x) - sum(map(math.isnan, curve.y)) for curve in (one, other))
    return sum(abs(a - b) < 0.01 for a, b in zip(*heights)) / max(points, 1)


def draw_curves(axes, curves):
    """Where half of a curve or more would cover another one, both take turns in dashes, their markers are rings of
    growing size, and the legend names the first of them."""
    for curve in curves:  # sets the range of the axes
        curve.line = axes.plot(curve.x, curve.y, label=curve.label, **curve.how)[0]
    groups = []
    for curve in curves:
        same = next((group for group in groups if share_of_covered(axes, group[0], curve) >= 0.5), None)
        if same:
            same.append(curve)
        else:
            groups.append([curve])
    for group in groups:
        for k, curve in enumerate(group if len(group) > 1 else []):
            curve.line.set_linestyle((5 * k, (5, 5 * (len(group) - 1))))
            if k > 0:
                curve.line.set_markerfacecolor("none")
                curve.line.set_markersize(curve.line.get_markersize() + 3 * k)
                how = "same as" if share_of_covered(axes, group[0], curve) > 0.97 else "partly same as"
                curve.line.set_label(f"{curve.label}, {how} {group[0].label}")


def legend_below(figure, axes):
    handles, labels = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, labels), default=0) < 50 else 1
    rows = math.ceil(len(labels) / columns)
    bottom = min(0.6, (0.6 + 0.22 * rows) / figure.get_figheight())
    figure.legend(handles, labels, loc="lower center", ncol=columns)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.88, bottom=bottom + 0.02, wspace=0.22)


def bars(runs, draw):
    """A figure with a horizontal bar a run, labelled with its preconditioner and iterations. draw(axes, y, run)
    returns where the bar ends and what is written there."""
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.36 * len(runs)))
    for y, run in enumerate(runs):
        end, text = draw(axes, y, run)
        text = ", ".join(filter(None, (text, failure(run))))
        axes.annotate(text, (end, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(runs)), [f"{name_of(run)} ({run['iterations']})" for run in runs])
    axes.margins(x=0.12)
    axes.set_xlim(left=0)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    return figure, axes


def bar(axes, y, width, left=0, **how):
    axes.barh(y, width, left=left, height=0.7, **how)
    return left + width


def hatch(run):
    return {} if converged(run) else {"hatch": HATCH, "edgecolor": "white"}
