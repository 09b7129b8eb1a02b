#!/usr/bin/env python3
"""Checks the JSON lines that the executables write against perf/records.schema.json:
perf/validate.py RESULTS.jsonl...

Needs python3-jsonschema. Says which line breaks the schema, and where; exit code 1 then.
"""
import json
import os
import sys

from records import fail, read

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "records.schema.json")


def schema():
    with open(SCHEMA, encoding="utf-8") as file:
        return json.load(file)


def kind_of(record, whole):
    """The definition that a record claims to follow, for a message about that one."""
    for reference in whole["oneOf"]:
        name = reference["$ref"].split("/")[-1]
        properties = whole["$defs"][name]["properties"]
        if "study" in properties:
            study = properties["study"]
            if (record.get("program") == properties["program"]["const"]
                    and record.get("study") in study.get("enum", [study.get("const")])):
                return name
        elif record and "study" not in record and ("steps" in record) == ("steps" in properties):
            return name
    return None


def problems(records):
    """One sentence for each record that breaks the schema, records counted from 1."""
    try:
        import jsonschema
    except ImportError:
        fail("needs Python's jsonschema: apt-get install python3-jsonschema, or pip install jsonschema")
    whole = schema()
    for number, record in enumerate(records, 1):
        name = kind_of(record, whole) if isinstance(record, dict) else None
        if name is None:
            yield f"record {number} is of no known kind"
            continue
        one = {"$schema": whole["$schema"], "$defs": whole["$defs"], "$ref": f"#/$defs/{name}"}
        validator = jsonschema.Draft202012Validator(one)
        # A wrong value also makes its whole group of keys unexpected, which says less.
        errors = sorted(validator.iter_errors(record),
                        key=lambda error: error.validator == "unevaluatedProperties")
        if errors:
            error = errors[0]
            where = "/".join(str(key) for key in error.absolute_path)
            yield f"record {number} ({name}): {where + ': ' if where else ''}{error.message}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bad = 0
    for path in sys.argv[1:]:
        records = read(path)
        found = list(problems(records))
        for problem in found:
            print(f"{path}: {problem}")
        print(f"{path}: {len(records)} records, {len(found)} bad")
        bad += len(found) + (not records)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
