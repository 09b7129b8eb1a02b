# SPDX-License-Identifier: BSD-3-Clause
"""Records without the figures that may be missing, by perf/records.schema.json: scripts that show records must
bear all of them."""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf"))

import validate

SCHEMA = validate.schema()
# What becomes of a figure: null where that is allowed, 0 where that is, or both.
NULL, ZERO, BOTH = "null", "zero", "null or zero"
# No figures: what was asked for.
SETTINGS = {"sweep", "sweeps", "factor_sweeps", "overlap", "drop", "parts", "tolerance", "newton_tolerance"}


def resolved(part):
    """A part of the schema with what it refers to in its place."""
    others = part.get("allOf", [])
    if "$ref" in part:
        others = others + [SCHEMA["$defs"][part["$ref"].split("/")[-1]]]
    for other in map(resolved, others):
        part = {**other, **part, "properties": {**other.get("properties", {}), **part.get("properties", {})}}
    return part


def figure(value, part, how):
    part = resolved(part)
    if how != ZERO and "null" in part.get("type", []):
        return None
    if isinstance(value, dict) and "additionalProperties" in part:  # phases of a set-up
        return {} if how == NULL else {key: figure(v, part["additionalProperties"], how) for key, v in value.items()}
    if isinstance(value, dict):
        return {key: v if key in SETTINGS else figure(v, part["properties"].get(key, {}), how)
                for key, v in value.items()}
    if isinstance(value, list):
        return [] if how == BOTH else [figure(v, part["items"], how) for v in value]
    return 0 if how != NULL and part.get("minimum") == 0 else value


def without(record, how):
    part = resolved(SCHEMA["$defs"][validate.kind_of(record, SCHEMA)])
    condition = part.get("if", {"properties": {}})["properties"]
    if condition and all(record[key] == value["const"] for key, value in condition.items()):
        properties = {key: {**resolved(part["properties"][key]), **more}
                      for key, more in part["then"]["properties"].items()}
        part = {**part, "properties": {**part["properties"], **properties}}
    return figure(record, part, how)


def unconverged(record):
    return {**record, "status": "not converged" if "steps" in record else "max_iterations"} \
        if "status" in record else record


def variants(records):
    """(what it is, the records); all of them, or every other one."""
    for how, first, step, solved in itertools.product((NULL, ZERO, BOTH), (0, 1), (1, 2), (True, False)):
        if first < step:
            yield (f"{how}, every {step} from {first}, {'' if solved else 'not '}converged",
                   [record if k % step != first % step else without(record if solved else unconverged(record), how)
                    for k, record in enumerate(records)])
