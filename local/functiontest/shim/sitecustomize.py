"""Replaces the bodies of steps in AWS's durable execution SDK for Python, when it is imported. Before each attempt of a step
it asks the test for a response, at STEPBACK_TEST; the step's own body runs only if the test has none."""

import functools
import importlib.abc
import importlib.util
import inspect
import json
import os
import random
import sys
import urllib.request

SDK = "aws_durable_execution_sdk_python"
TEST = os.environ["STEPBACK_TEST"]

# The jitter of retries comes from this generator: with a seed, it is the same in each run.
random.seed(int(os.environ["STEPBACK_TEST_SEED"]))
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(where, body):
    request = urllib.request.Request(TEST + where, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with opener.open(request) as response:
        text = response.read()
    return json.loads(text) if text else None


def exception(name, cause):
    """An error of the class with this name in the function's modules or in Python, or of a new one."""
    module, _, last = name.rpartition(".")
    root = os.environ.get("LAMBDA_TASK_ROOT", os.getcwd())
    places = [sys.modules.get(module)] if module else []
    places += [m for m in list(sys.modules.values()) if (getattr(m, "__file__", None) or "").startswith(root)]
    places.append(sys.modules["builtins"])
    for place in places:
        found = getattr(place, last, None)
        if isinstance(found, type) and issubclass(found, Exception):
            try:
                return found(cause)
            except TypeError:  # it takes other arguments
                made = found.__new__(found)
                made.args = (cause,)
                return made
    return type(last, (Exception,), {})(cause)


contexts = {}  # by ID


def value(enum):
    return getattr(enum, "value", enum)


def within(identifier):
    """The names of the contexts around an operation, from the outermost."""
    names = []
    context = contexts.get(identifier.parent_id)
    while context is not None:
        if context.name:
            names.insert(0, context.name)
        context = contexts.get(context.parent_id)
    return names


def mocked(function, identifier):
    question = {"name": identifier.name or "", "kind": "step", "within": within(identifier)}
    parent = contexts.get(identifier.parent_id)
    if value(identifier.sub_type) == "WaitForCondition":
        question["kind"] = "condition"
    elif parent is not None and value(parent.sub_type) == "WaitForCallback":
        question.update(name=parent.name or "", kind="submitter")

    def respond():
        answer = post("/step", question)
        if answer.get("crash"):
            os._exit(1)
        if answer.get("error"):
            raise exception(answer["error"], answer.get("cause", ""))
        return answer

    @functools.wraps(function)
    def ask(*args, **named):
        answer = respond()
        return function(*args, **named) if answer.get("run") else answer.get("return")

    @functools.wraps(function)
    async def ask_async(*args, **named):
        answer = respond()
        return await function(*args, **named) if answer.get("run") else answer.get("return")

    return ask_async if inspect.iscoroutinefunction(function) else ask


def replace(state):
    """Has the SDK's state of an execution ask before it calls a function of the user."""
    wrap = getattr(state.ExecutionState, "wrap_user_function", None)
    if wrap is None:
        post("/hello", {"sdk": "python", "problem": "its version of " + SDK + " has no place at which steps can be replaced; install a later one"})
        os._exit(1)

    def wrapped(self, user_function, operation_identifier, *args, **named):
        kind = value(operation_identifier.type)
        if kind == "CONTEXT":
            contexts[operation_identifier.operation_id] = operation_identifier
        elif kind == "STEP":
            user_function = mocked(user_function, operation_identifier)
        return wrap(self, user_function, operation_identifier, *args, **named)

    begin = state.ExecutionState.__init__

    def begun(self, *args, **named):
        post("/hello", {"sdk": "python"})
        begin(self, *args, **named)

    state.ExecutionState.wrap_user_function = wrapped
    state.ExecutionState.__init__ = begun


class Loader(importlib.abc.Loader):
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        replace(module)


class Finder(importlib.abc.MetaPathFinder):
    searching = False

    def find_spec(self, name, path=None, target=None):
        if name != SDK + ".state" or self.searching:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searching = False
        if spec is not None:
            spec.loader = Loader(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
