#!/usr/bin/env python3
"""A client made of docs/methods.json alone: each method is a function, which checks its arguments before it asks.

    generated.py store.count '{"filters":[{"kinds":[1]}]}'
    python3 -c 'from generated import Client; print(Client("me").store_count(filters=[{"kinds": [1]}]))'

The socket is $ROOST_SOCKET. Standard library, and client.py beside this file."""
import json, os, sys

sys.dont_write_bytecode = True  # nothing of the next line is left beside the examples
from client import Refused, Roost

KINDS = {"string": str, "boolean": bool, "array": list, "object": dict, "integer": int, "number": (int, float)}
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "methods.json")

class Client:
    def __init__(self, name, document=DOCUMENT):
        with open(document, encoding="utf-8") as file: described = json.load(file)
        self.definitions, self.roost = described["definitions"], Roost(name)
        self.methods = {method["name"]: method for method in described["methods"] if method["kind"] == "method"}

    def __getattr__(self, name):
        """`store_count` is the method store.count, `supervisor_log_level` supervisor.log-level."""
        found = [method for method in self.methods if method.replace(".", "_").replace("-", "_") == name]
        if not found: raise AttributeError(name)
        return lambda **arguments: self.call(found[0], arguments)

    def call(self, name, arguments):
        """Parts and the terminal answer. ValueError: the schema does not allow it. Refused: Roost does not."""
        found = self.problems(arguments, self.methods[name]["arguments"])
        if found: raise ValueError(f"{name}: {'; '.join(found)}")
        return self.ask(name, arguments)

    def ask(self, name, arguments):
        """The same without a look at the schema first."""
        *parts, answer = self.roost.ask(name, json.dumps(arguments).encode())
        return parts, answer

    def problems(self, value, form, place="arguments"):
        """What is wrong with a value of this form: of arguments, a part or an answer."""
        if form["form"] == "json": return self.mistakes(value, form["schema"], place)
        if form["form"] == "event": return [] if isinstance(value, dict) and "id" in value else [f"{place} is no event"]
        if form["form"] == "nothing": return [] if value is None else [f"{place} is not empty"]
        if form["form"] == "either":
            found = [self.problems(value, one, place) for one in form["of"]]
            return [] if [] in found else found[0]
        return [] if isinstance(value, dict) and "rawBytes" in value else [f"{place} is RAW: {form['name']}"]

    def mistakes(self, value, schema, place):
        if "$ref" in schema: schema = self.definitions[schema["$ref"].removeprefix("#/definitions/")]
        kind = schema.get("type")
        if kind is None: return []
        if not isinstance(value, KINDS[kind]) or isinstance(value, bool) and kind != "boolean":
            return [f"{place} is not {kind}"]
        if value not in schema.get("enum", [value]): return [f"{place} is none of {schema['enum']}"]
        if kind in ("integer", "number") and value < schema.get("minimum", value): return [f"{place} is too small"]
        if kind == "array":
            found = [self.mistakes(one, schema["items"], f"{place}[{index}]") for index, one in enumerate(value)]
            return [text for texts in found for text in texts]
        if kind != "object": return []
        members, rest = schema.get("properties", {}), schema.get("additionalProperties")
        found = [f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value]
        for name, one in value.items():
            if name in members: found += self.mistakes(one, members[name], f"{place}.{name}")
            elif rest: found += self.mistakes(one, rest, f"{place}.{name}")
            else: found.append(f"{place}.{name} is no member")
        return found

if __name__ == "__main__":
    name, arguments = (sys.argv[1:] + ["supervisor.status", "{}"][len(sys.argv) - 1 :])[:2]
    try:
        parts, answer = Client("generated.py").call(name, json.loads(arguments))
        for part in parts + [answer]: print(json.dumps(part, indent=2))
    except (Refused, ValueError) as error: sys.exit(str(error))
