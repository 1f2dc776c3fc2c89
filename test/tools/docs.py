"""Checks that what the pages of the project point to is there: links and their anchors, files by their paths, and the
operations, attributes, types and passes that the glossary names.

    docs.py ROOT
"""

import glob
import os
import re
import sys


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def find_anchors(text):
    titles = re.findall(r"^#+ (.*)", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def check_links(root, page, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if link.startswith("http"):
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(root, target)):
            yield f"{page}: no file {link}"
        elif anchor and target.endswith(".md") and anchor not in find_anchors(read(root, target)):
            yield f"{page}: no heading {link}"


def check_paths(root, page, text):
    tops = "dialect|passes|codegen|runtime|test|docs|tools|cmake"
    paths = set(re.findall(rf"`((?:{tops})/[\w./-]+)`", text)) | set(re.findall(r"\b(docs/[\w/-]+\.md)\b", text))
    for path in sorted(paths):
        if not any(os.path.exists(os.path.join(root, path + end)) for end in ("", ".h", ".cpp")):
            yield f"{page}: no file {path}"


def check_glossary(root):
    pages = "".join(read(path) for path in glob.glob(os.path.join(root, "docs/dialects/*.md")))
    passes = "".join(read(path) for path in glob.glob(os.path.join(root, "passes/*/*Passes.td")))
    for row in re.findall(r"^\|.*\|$", read(root, "docs/glossary.md"), flags=re.M):
        for name in re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1]):
            if re.fullmatch(r"(attn|tile)-[\w-]+", name):
                found = f'"{name}"' in passes
            elif re.fullmatch(r"[#!]?(attn|tile)\.\w+", name):
                found = name in pages
            else:
                continue
            if not found:
                yield f"docs/glossary.md: nothing is called {name}"


def main(root):
    pages = ["README.md", "CONTRIBUTING.md"]
    pages += [os.path.relpath(path, root) for path in glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True)]
    faults = []
    for page in sorted(pages):
        text = re.sub(r"```.*?```", "", read(root, page), flags=re.S)
        faults += [*check_links(root, page, text), *check_paths(root, page, text)]
    faults += check_glossary(root)
    print("\n".join(faults) or f"{len(pages)} pages point to what is there")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
