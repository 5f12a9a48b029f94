#!/usr/bin/env python3
"""Writes the manual pages and the shells' completions into a folder, from what is there already.

    Scripts/manuals.py FOLDER ROOST ROOSTD

    FOLDER/man1/roost.1, roost-NAME.1     the command line, a page for each command: from its own help
    FOLDER/man8/roostd.8, roost-NAME.8    the supervisor, and a page for each worker: from docs/workers
    FOLDER/man5/supervisor.conf.5         every key: from the remarks of supervisor.conf
    FOLDER/completions/…                  bash, zsh and fish

ROOST and ROOSTD are the built programs. Pages are in mdoc(7). swift-argument-parser has a generator too; it makes one
paragraph of a discussion and its examples, and knows neither workers nor files. SOURCE_DATE_EPOCH dates the pages.
"""
import json
import os
import re
import subprocess
import sys
import time

# The options of every command, which roost(1) explains.
COMMON = {"json", "socket", "color"}
WORKER_PAGES = "docs/workers"


def text(plain):
    """A text as roff prints it unchanged: no escape, no request at the start of a line, in ASCII."""
    plain = plain.replace("\\", "\\e")
    plain = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in plain)
    return re.sub(r"^(\\?[.'])", r"\\&\1", plain, flags=re.M)


def words(plain):
    """An argument of a macro: one word, whatever is in it."""
    plain = text(plain).replace('"', "\\(dq")
    if " " in plain:
        return f'"{plain}"'
    # The name of a macro, or what mdoc takes for a delimiter.
    return "\\&" + plain if re.fullmatch(r"[A-Z][a-z]|[.,:;()!?|\[\]]", plain) else plain


def prose(plain):
    """Markdown in a sentence: code and emphasis in bold, links as their words."""
    plain = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", plain)
    parts = re.split(r"(`[^`]+`|\*\*.+?\*\*)", plain)
    out = []
    for part in parts:
        if part[:1] == "`" and part[-1:] == "`" and len(part) > 2:
            out.append("\\fB" + text(part[1:-1]).replace("-", "\\-") + "\\fR")
        elif part.startswith("**") and part.endswith("**") and len(part) > 4:
            out.append("\\fB" + text(part[2:-2].replace("`", "")) + "\\fR")
        else:
            out.append(text(part))
    joined = re.sub(r"\s+", " ", "".join(out)).strip()
    # A line for each sentence, which is how roff knows where one ends.
    sentences = re.split(r"(?<=[^\s.][.?!]) (?=\S)|(?<=[.?!]\\fR) (?=\S)", joined)
    return "\n".join(line for sentence in sentences for line in wrapped(sentence))


def wrapped(sentence):
    """Lines that people can read in the page's source; none begins like a request."""
    line = ""
    for word in sentence.split(" "):
        if line and len(line) + len(word) > 78:
            yield line
            line = ""
        line = f"{line} {word}" if line else re.sub(r"^([.'])", r"\\&\1", word)
    yield line


def literal(lines):
    shown = "\n".join(text(line.rstrip()).replace("-", "\\-") or "\\&" for line in lines)
    return [".Bd -literal -offset indent", shown, ".Ed"]


class Page:
    def __init__(self, name, section, about):
        seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        day = time.gmtime(seconds)
        about = about.rstrip(".")
        self.name, self.section = name, section
        self.lines = [
            f".Dd {time.strftime('%B', day)} {day.tm_mday}, {day.tm_year}", f".Dt {name.upper()} {section}", ".Os",
            ".Sh NAME", f".Nm {name}", f".Nd {prose(about)}".replace("\n", " ")]

    def add(self, *lines):
        self.lines += lines

    def paragraphs(self, plain, first=False):
        """Blocks between blank lines; what is indented is shown as it is."""
        for block in re.split(r"\n\s*\n", plain.strip("\n")):
            lines = block.split("\n")
            if all(line.startswith("  ") for line in lines):
                self.add(*literal([line[2:] for line in lines]))
            else:
                if not first:
                    self.add(".Pp")
                self.add(prose(block))
            first = False

    def see_also(self, pages):
        pages = sorted(set(pages), key=lambda page: (page[1], page[0]))
        self.add(".Sh SEE ALSO")
        for number, (name, section) in enumerate(pages):
            self.add(f".Xr {name} {section}" + (" ," if number < len(pages) - 1 else ""))

    def write(self, folder):
        path = os.path.join(folder, f"man{self.section}")
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, f"{self.name}.{self.section}"), "w", encoding="ascii") as file:
            file.write("\n".join(self.lines) + "\n")


# The command line


def flag_words(argument):
    """`-k` and `--kind number` of an option, as mdoc."""
    value = f" Ns = Ns Ar {words(argument['valueName'])}" if argument["kind"] == "option" else ""
    names = []
    for name in argument.get("names") or []:
        dashes = "\\-" if name["kind"] != "short" else ""
        names.append(f"Fl {dashes}{text(name['name'])}" + (value if name["kind"] != "short" else ""))
    if argument["kind"] == "option" and all(n["kind"] == "short" for n in argument.get("names") or []):
        names = [names[0] + f" Ar {words(argument['valueName'])}"] if names else []
    return " , ".join(names)


def item_of(argument):
    if argument["kind"] == "positional":
        return f"Ar {words(argument['valueName'])}"
    return flag_words(argument)


def shown_arguments(command, with_common):
    """The arguments that its page explains."""
    hidden = {"help", "version"} | (set() if with_common else COMMON)
    for argument in command.get("arguments") or []:
        names = {name["name"] for name in argument.get("names") or []}
        if argument["shouldDisplay"] and not names & hidden:
            yield argument


def synopsis(command):
    parts = []
    for argument in shown_arguments(command, False):
        part = item_of(argument)
        if argument["kind"] != "positional":
            part = part.split(" , ")[0]
        if argument["isRepeating"] and argument["kind"] == "positional":
            part += " ..."
        parts.append(f".Op {part}" if argument["isOptional"] else f".{part}")
    return parts


def arguments(page, command, with_common):
    shown = list(shown_arguments(command, with_common))
    if not shown:
        return
    page.add(".Bl -tag -width Ds")
    for argument in shown:
        page.add(f".It {item_of(argument)}", prose(argument.get("abstract") or "\\&"))
        values, default = argument.get("allValueStrings"), argument.get("defaultValue")
        if values:
            page.add(prose("One of " + ", ".join(values) + "."))
        if default and default not in ("false", "true"):
            page.add(prose(f"The default is {default}."))
    page.add(".El")


def command_page(command, others):
    name = "roost-" + command["commandName"]
    page = Page(name, 1, command.get("abstract") or command["commandName"])
    page.add(".Sh SYNOPSIS")

    def synopses(part, path):
        children = [c for c in part.get("subcommands") or [] if c["commandName"] != "help"]
        if not children or list(shown_arguments(part, False)):
            page.add(f".Nm roost {' '.join(words(word) for word in path)}", *synopsis(part))
        for child in children:
            synopses(child, path + [child["commandName"]])

    synopses(command, [command["commandName"]])
    page.add(".Sh DESCRIPTION")
    page.paragraphs(command.get("discussion") or (command.get("abstract") or ""), first=True)
    arguments(page, command, False)

    def parts(part, path):
        for child in part.get("subcommands") or []:
            if child["commandName"] == "help":
                continue
            page.add(f".Ss roost {' '.join(path + [child['commandName']])}")
            page.paragraphs(child.get("abstract") or "", first=True)
            if child.get("discussion"):
                page.paragraphs(child["discussion"])
            arguments(page, child, False)
            parts(child, path + [child["commandName"]])

    parts(command, [command["commandName"]])
    page.add(".Pp", "The options", ".Fl \\-json , \\-socket", "and", ".Fl \\-color ,",
             "the environment and the exit codes are those of", ".Xr roost 1 .")
    page.see_also([("roost", 1), ("roostd", 8)] + others)
    return page


def root_page(tool, section, see):
    """A program itself: roost(1) with its commands in groups, roostd(8)."""
    name = tool["commandName"]
    page = Page(name, section, tool.get("abstract") or name)
    page.add(".Sh SYNOPSIS", f".Nm {name}")
    children = [c for c in tool.get("subcommands") or [] if c["commandName"] != "help" and c.get("shouldDisplay", True)]
    if children:
        page.add(".Op Ar command Op Ar argument ...")
    page.add(*synopsis(tool))
    page.add(".Sh DESCRIPTION")
    page.paragraphs(tool.get("discussion") or "", first=True)
    if children:
        page.add(".Pp", "The commands:", ".Bl -tag -width Ds")
        for child in children:
            page.add(f".It Xr roost-{child['commandName']} 1", prose(child.get("abstract") or ""))
        page.add(".El", ".Pp", "Options of every command:")
        arguments(page, next(c for c in children if c["commandName"] == "status") | {
            "arguments": [a for c in children if c["commandName"] == "status" for a in c["arguments"]
                          if {n["name"] for n in a.get("names") or []} & COMMON]}, True)
    else:
        arguments(page, tool, True)
    if name == "roost":
        page.add(".Sh ENVIRONMENT", ".Bl -tag -width Ds")
        for variable, meaning in [
            ("ROOST_ACCOUNT", "The account that is meant where a command takes an account and none is typed."),
            ("ROOST_SOCKET", "The supervisor's socket."),
            ("ROOST_TRACE", "The trace of all requests of one run: 1 to 16 hexadecimal digits."),
            ("NO_COLOR", "If it is set to anything, output has no colours."),
            ("CLICOLOR_FORCE", "If it is set to anything but 0, output has colours in pipes, too."),
        ]:
            page.add(f".It Ev {variable}", meaning)
        page.add(".El")
    page.see_also(see)
    return page


def help_of(program):
    dump = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout
    return json.loads(dump)["command"]


# Markdown


def table(rows):
    """The first column is the tag, the others follow with their headings."""
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))] for row in rows]
    heading, body = cells[0], cells[2:]
    yield ".Bl -tag -width Ds"
    for row in body:
        yield f".It {prose(row[0]) or '-'}".replace("\n", " ")
        parts = []
        for title, cell in zip(heading[1:], row[1:]):
            cell = cell.replace("\\|", "|")
            parts.append(f"{title}: {cell}" if len(heading) > 2 and title and cell else cell)
        yield prose("; ".join(part for part in parts if part)) or "\\&"
    yield ".El"


def markdown(page, source):
    lines = source.split("\n")
    place = 0
    after_heading = True

    def paragraph():
        nonlocal after_heading
        if not after_heading:
            page.add(".Pp")
        after_heading = False

    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
        elif line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip())
            page.add(f".Ss {words(title)}")
            after_heading = True
            place += 1
        elif line.startswith("```"):
            end = next(i for i in range(place + 1, len(lines)) if lines[i].startswith("```"))
            page.add(*literal(lines[place + 1:end]))
            after_heading = False
            place = end + 1
        elif line.startswith("    "):
            end = place
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            page.add(*literal([code[4:] for code in "\n".join(lines[place:end]).rstrip().split("\n")]))
            after_heading = False
            place = end
        elif line.startswith("|"):
            end = place
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            page.add(*table(lines[place:end]))
            after_heading = False
            place = end
        elif re.match(r"(- |\d+\. )", line):
            page.add(".Bl -bullet" if line.startswith("- ") else ".Bl -enum")
            while place < len(lines) and re.match(r"(- |\d+\. )", lines[place]):
                item = [re.sub(r"^(- |\d+\. )", "", lines[place])]
                place += 1
                while place < len(lines) and lines[place].startswith("  ") and lines[place].strip():
                    item.append(lines[place].strip())
                    place += 1
                page.add(".It", prose(" ".join(item)))
                if place + 1 < len(lines) and not lines[place].strip() and re.match(r"(- |\d+\. )", lines[place + 1]):
                    place += 1
            page.add(".El")
            after_heading = False
        else:
            end = place
            while end < len(lines) and lines[end].strip() and not re.match(r"(#|```|\||- |\d+\. )", lines[end]):
                end += 1
            end = max(end, place + 1)
            paragraph()
            page.add(prose(" ".join(lines[place:end])))
            place = end


def worker_page(name, source):
    lines = source.split("\n")
    body = "\n".join(lines[1:]).strip("\n")
    first = re.split(r"\n\s*\n", body)[0]
    about = re.split(r"(?<=[.:]) ", prose(first).replace("\n", " "))[0].rstrip(".:")
    page = Page(f"roost-{name}", 8, "\\&")
    page.lines[-1] = f".Nd {about}"
    page.add(".Sh DESCRIPTION")
    markdown(page, body)
    page.see_also([("roost", 1), ("supervisor.conf", 5), ("roostd", 8)])
    return page


# supervisor.conf


def configuration_page(source):
    page = Page("supervisor.conf", 5, "which programs roostd runs, and with which limits")
    page.add(".Sh DESCRIPTION")
    remark, is_list, is_first = [], False, True

    def flush():
        nonlocal is_first
        if remark:
            page.paragraphs("\n".join(remark), first=is_first)
            is_first = False
        remark.clear()

    def end_list():
        nonlocal is_list
        if is_list:
            page.add(".El")
        is_list = False

    lines = source.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line == "#" or line.startswith("# "):
            remark.append(line[2:] if line.startswith("# ") else "")
        elif not line.strip():
            if remark and not is_list:
                flush()
            elif remark:
                remark.append("")
        elif re.match(r"#?\[", line):
            end_list()
            flush()
            page.add(f".Sh {words(line.lstrip('#'))}\\&")
            is_first = True
        else:
            # A setting; one of several lines ends with the line that closes its brackets.
            setting = [line.lstrip("#")]
            while sum(map(setting_depth, setting)) > 0 and place < len(lines):
                setting.append(lines[place].lstrip("#"))
                place += 1
            if not is_list:
                page.add(".Bl -tag -width Ds")
                is_list = True
            page.add(f".It Li {words(' '.join(part.strip() for part in setting))}")
            explained = "\n".join(remark).strip("\n")
            remark.clear()
            if explained:
                page.paragraphs(explained, first=True)
    end_list()
    flush()
    page.see_also([("roost", 1), ("roostd", 8)])
    return page


def setting_depth(line):
    bare = re.sub(r'"[^"]*"', "", line)
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: Scripts/manuals.py FOLDER ROOST ROOSTD")
    folder, roost, roostd = sys.argv[1:]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    tool = help_of(roost)
    commands = [c for c in tool["subcommands"] if c["commandName"] != "help" and c.get("shouldDisplay", True)]
    workers = sorted(entry[:-3] for entry in os.listdir(os.path.join(root, WORKER_PAGES)) if entry.endswith(".md"))
    root_page(tool, 1, [("supervisor.conf", 5), ("roostd", 8)]).write(folder)
    for command in commands:
        command_page(command, []).write(folder)
    beside = [("roost", 1), ("supervisor.conf", 5)] + [(f"roost-{worker}", 8) for worker in workers]
    root_page(help_of(roostd), 8, beside).write(folder)
    for worker in workers:
        with open(os.path.join(root, WORKER_PAGES, worker + ".md"), encoding="utf-8") as file:
            worker_page(worker, file.read()).write(folder)
    with open(os.path.join(root, "supervisor.conf"), encoding="utf-8") as file:
        configuration_page(file.read()).write(folder)
    for shell, place in [("bash", "bash/roost"), ("zsh", "zsh/_roost"), ("fish", "fish/roost.fish")]:
        path = os.path.join(folder, "completions", place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            subprocess.run([roost, "--generate-completion-script", shell], check=True, stdout=file)


main()
