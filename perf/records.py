"""The JSON lines of our programs, and Markdown tables of them: what the scripts of this folder share."""
import json


def read(*paths):
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            records += [json.loads(line) for line in lines]
    return records


def write(path, records):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(titles, left=1):
    """Titles and the line below them; all but the first `left` columns are flush right."""
    return row(titles) + "\n" + "|---" * left + "|--:" * (len(titles) - left) + "|"


def ms(seconds):
    return "" if seconds is None else f"{1e3 * seconds:.4g}"


def iterations(run):
    """Their number, or why there is none."""
    return str(run["iterations"]) if run["status"] == "converged" else run["status"]


def phases(run, *words):
    """Seconds of the phases of the set-up whose name has one of the words."""
    return sum(seconds for name, seconds in run["setup_seconds"].items()
               if any(word in name for word in words))


def machine(run):
    return (f"{run['exec_space']} on {run['device']}, {run['threads']} host threads, Kokkos "
            f"{run['kokkos_version']}, commit {run['git']}")
