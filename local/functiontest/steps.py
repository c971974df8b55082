# Lists the steps of a Python file whose names it states, as JSON: the calls of step, wait_for_callback and wait_for_condition
# with a literal name, or with a function that a decorator of the SDK has named.
import ast
import json
import sys

CALLS = {"step": 1, "wait_for_callback": 1, "wait_for_condition": 2}  # and the position of the name
DECORATORS = {"durable_step", "durable_wait_for_callback"}


def last(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


with open(sys.argv[1], encoding="utf-8") as file:
    tree = ast.parse(file.read())
decorated = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)
             and any(last(d.func if isinstance(d, ast.Call) else d) in DECORATORS for d in n.decorator_list)}
found = []
for node in ast.walk(tree):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in CALLS:
        continue
    position = CALLS[node.func.attr]
    name = next((text(k.value) for k in node.keywords if k.arg == "name"), "")
    if not name and len(node.args) > position:
        name = text(node.args[position])
    if not name and node.args and isinstance(node.args[0], ast.Call) and last(node.args[0].func) in decorated:
        name = last(node.args[0].func)
    if name:
        found.append((node.lineno, {"kind": node.func.attr, "name": name}))
print(json.dumps([one for _, one in sorted(found, key=lambda f: f[0])]))
