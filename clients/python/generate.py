#!/usr/bin/env python3
"""Writes roost/methods.pyi and roost/streams.py: what docs/methods.json says of the methods that clients may call.

    generate.py             writes both
    generate.py --check     exits with 1 if one of them is not what would be written
"""

import json
import keyword
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "docs" / "methods.json"
SIMPLE = {"string": "str", "boolean": "bool", "integer": "int", "number": "float"}
HEAD = '"""Made from docs/methods.json by generate.py (`make methods`): {}"""\n'

document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
definitions = document["definitions"]


def class_name(name):
    """`AccountForgotten.Part` is AccountForgottenPart."""
    return name.replace(".", "")


def python_name(name):
    """A name in Python: `import_`, `log_level`."""
    name = name.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def referred(schema):
    """The definition that a schema refers to, and its name."""
    name = schema["$ref"].removeprefix("#/definitions/")
    return name, definitions[name]


def schema_type(schema):
    """The type of a value."""
    if "$ref" in schema:
        name, definition = referred(schema)
        return class_name(name) if definition.get("properties") else "Dict[str, Any]"
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(word) for word in schema['enum'])}]"
    if schema.get("type") == "array":
        return f"List[{schema_type(schema['items'])}]"
    if schema.get("type") == "object":
        rest = schema.get("additionalProperties")
        return f"Dict[str, {schema_type(rest) if rest else 'Any'}]"
    return SIMPLE.get(schema.get("type"), "Any")


def form_type(form):
    """The type of a payload."""
    if form["form"] == "either":
        types = [form_type(one) for one in form["of"]]
        return " | ".join(dict.fromkeys(types))
    if form["form"] == "json":
        return schema_type(form["schema"])
    return {"nothing": "None", "event": "Event", "raw": "bytes"}[form["form"]]


def typed_dicts():
    """A TypedDict for each definition. Those with a name that Python has for itself are written as a call."""
    for name, definition in sorted(definitions.items()):
        members = definition.get("properties", {})
        required = definition.get("required", [])
        types = {member: schema_type(schema) for member, schema in members.items()}
        types = {member: type if member in required else f"NotRequired[{type}]" for member, type in types.items()}
        if any(keyword.iskeyword(member) for member in types):
            fields = ", ".join(f"{member!r}: {type}" for member, type in sorted(types.items()))
            yield f"{class_name(name)} = TypedDict({class_name(name)!r}, {{{fields}}})\n"
        elif types:
            yield f"class {class_name(name)}(TypedDict):"
            yield from (f"    {member}: {type}" for member, type in sorted(types.items()))
            yield ""


def parameters(form):
    """The parameters of a method, behind `self`."""
    if form["form"] != "json":
        return "" if form["form"] == "nothing" else f", payload: {form_type(form)}, /"
    schema = referred(form["schema"])[1] if "$ref" in form["schema"] else form["schema"]
    members, required = schema.get("properties", {}), schema.get("required", [])
    names = sorted(members, key=lambda member: (member not in required, member))
    texts = [f"{python_name(member)}: {schema_type(members[member])}" for member in names if member in required]
    texts += [f"{python_name(member)}: {schema_type(members[member])} | None = None"
              for member in names if member not in required]
    return f", *, {', '.join(texts)}" if texts else ""


def signature(name, method):
    """A method as a function with its text."""
    result = form_type(method["answer"])
    if "parts" in method:
        result = f"Stream[{form_type(method['parts'])}, {result}]"
    yield f"    def {name}(self{parameters(method['arguments'])}) -> {result}:"
    yield f"        {json.dumps(method['text'], ensure_ascii=False)}"


def classes(name, tree):
    """A class for each beginning of names; the inner ones first."""
    lines = [f"class {name}:"]
    for part, (method, inner) in sorted(tree.items()):
        if inner:
            words = "".join(word.title() for word in part.split("-"))
            inner_name = f"{name.removesuffix('Methods')}{words}Methods"
            yield from classes(inner_name, {**inner, **({"": (method, {})} if method else {})})
            lines.append(f"    {python_name(part)}: {inner_name}")
        else:
            lines += signature(python_name(part) if part else "__call__", method)
    if name == "Methods":
        for topic in topics():
            event = form_type(topic["value"])
            lines += ["    @overload",
                      f"    def subscribe(self, topic: Literal[\"{topic['name']}\"]) -> Subscription[{event}]:",
                      f"        {json.dumps(topic['text'], ensure_ascii=False)}"]
        lines += ["    @overload", "    def subscribe(self, topic: str) -> Subscription[Any]: ..."]
    yield from lines + [""]


def methods():
    """The methods that clients may call."""
    return [one for one in document["methods"] if one["kind"] == "method" and "client" in one["callers"]]


def topics():
    """The topics that clients may subscribe to."""
    return [one for one in document["methods"] if one["kind"] == "topic" and "client" in one["callers"]]


def stub():
    """methods.pyi."""
    tree = {}
    for method in methods():
        place, (*parts, last) = tree, method["name"].split(".")
        for part in parts:
            place = place.setdefault(part, (None, {}))[1]
        place[last] = (method, place.get(last, (None, {}))[1])
    lines = [HEAD.format("the types of Roost's methods."),
             "from typing import Any, Dict, List, Literal, overload",
             "from typing_extensions import NotRequired, TypedDict",
             "from roost.client import Stream, Subscription", "",
             "class Event(TypedDict):", "    id: str", "    pubkey: str", "    created_at: int", "    kind: int",
             "    tags: list[list[str]]", "    content: str", "    sig: str", ""]
    return "\n".join([*lines, *typed_dicts(), *classes("Methods", tree)])


def streams():
    """streams.py."""
    names = " ".join(sorted(method["name"] for method in methods() if "parts" in method))
    text = "\n".join(textwrap.wrap(names, 112, initial_indent="    ", subsequent_indent="    "))
    head = HEAD.format("the methods that answer in parts.")
    return f'{head}\nSTREAMS = frozenset(\n    """\n{text}\n    """.split())\n'


def main():
    stale = []
    for name, text in (("methods.pyi", stub()), ("streams.py", streams())):
        file = HERE / "roost" / name
        if "--check" not in sys.argv[1:]:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"not current: {', '.join(stale)}; run 'make methods'")


if __name__ == "__main__":
    main()
