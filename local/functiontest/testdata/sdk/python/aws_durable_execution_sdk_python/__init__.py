"""Stands in for AWS's durable execution SDK for Python in tests of this project: the place at which it calls functions of the
user has the same shape, and it speaks the same protocol, one operation at a time."""

import json
import os
import urllib.parse
import urllib.request

from aws_durable_execution_sdk_python.state import ExecutionState, OperationIdentifier


class Suspended(BaseException):
    pass


class StepFailed(Exception):
    pass


class DurableContext:
    def __init__(self, execution, prefix="", parent=None):
        self.execution, self.prefix, self.parent, self.count = execution, prefix, parent, 0

    def start(self, kind, sub_type, name, **more):
        self.count += 1
        identifier = OperationIdentifier(self.prefix + str(self.count), sub_type, kind, self.parent, name)
        if identifier.operation_id not in self.execution.operations:
            self.update(identifier, "START", **more)
        return identifier, self.execution.operations[identifier.operation_id]

    def update(self, identifier, action, **more):
        self.execution.checkpoint({"Id": identifier.operation_id, "ParentId": self.parent, "Name": identifier.name,
                                   "Type": identifier.type, "SubType": identifier.sub_type, "Action": action, **more})

    def step(self, func, name=None, retries=()):
        identifier, o = self.start("STEP", "Step", name or getattr(func, "_original_name", None))
        details = o.get("StepDetails", {})
        if o["Status"] == "SUCCEEDED":
            return json.loads(details["Result"])
        if o["Status"] == "FAILED":
            raise StepFailed(details["Error"]["ErrorType"])
        if o["Status"] == "PENDING":
            raise Suspended
        if o["Status"] == "READY":
            self.update(identifier, "START")
        attempt = details.get("Attempt", 0) + 1
        try:
            result = self.execution.wrap_user_function(func, identifier, False, attempt)(None)
        except Exception as e:
            error = {"ErrorType": type(e).__name__, "ErrorMessage": str(e)}
            if attempt <= len(retries):
                self.update(identifier, "RETRY", Error=error, StepOptions={"NextAttemptDelaySeconds": retries[attempt - 1]})
                raise Suspended
            self.update(identifier, "FAIL", Error=error)
            raise
        self.update(identifier, "SUCCEED", Payload=json.dumps(result))
        return result

    def wait_for_callback(self, submitter, name=None):
        def inner(context):
            _, o = context.start("CALLBACK", "Callback", name + " create callback id")
            context.step(lambda _: submitter(o["CallbackDetails"]["CallbackId"], None), name + " submitter")
            if o["Status"] == "STARTED":
                raise Suspended
            return o["CallbackDetails"]["Result"]

        return self.child(inner, name, "WaitForCallback")

    def child(self, func, name, sub_type="RunInChildContext"):
        identifier, o = self.start("CONTEXT", sub_type, name)
        if o["Status"] == "SUCCEEDED":
            return json.loads(o["ContextDetails"]["Result"])
        context = DurableContext(self.execution, identifier.operation_id + "-", identifier.operation_id)
        result = self.execution.wrap_user_function(lambda: func(context), identifier)()
        self.update(identifier, "SUCCEED", Payload=json.dumps(result))
        return result


def durable_step(func):
    def named(*args):
        def call(_):
            return func(*args)
        call._original_name = func.__name__
        return call
    return named


class Execution(ExecutionState):
    def __init__(self, event):
        super().__init__()
        self.token, self.operations = event["CheckpointToken"], {}
        self.url = "%s/2025-12-01/durable-executions/%s/checkpoint" % (os.environ["AWS_ENDPOINT_URL"],
                                                                      urllib.parse.quote(event["DurableExecutionArn"], safe=""))
        self.merge(event["InitialExecutionState"]["Operations"])

    def merge(self, operations):
        for o in operations:
            self.operations[o["Id"]] = o

    def checkpoint(self, update):
        body = json.dumps({"CheckpointToken": self.token, "Updates": [{k: v for k, v in update.items() if v is not None}]})
        request = urllib.request.Request(self.url, body.encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            said = json.loads(response.read())
        self.token = said["CheckpointToken"]
        self.merge(said.get("NewExecutionState", {}).get("Operations", []))


def durable_execution(handler):
    def invoke(event, _):
        execution = Execution(event)
        given = json.loads(event["InitialExecutionState"]["Operations"][0]["ExecutionDetails"]["InputPayload"])
        try:
            return {"Status": "SUCCEEDED", "Result": json.dumps(handler(given, DurableContext(execution)))}
        except Suspended:
            return {"Status": "PENDING"}
        except Exception as e:
            return {"Status": "FAILED", "Error": {"ErrorType": type(e).__name__, "ErrorMessage": str(e)}}
    return invoke
