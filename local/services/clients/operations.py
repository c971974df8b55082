"""Every operation of Step Functions, and some of Lambda and CloudWatch Logs, by boto3 against a running stepback serve.

Run by run.sh, which sets AWS_ENDPOINT_URL. Exits with an error where an answer is not what AWS would answer."""

import io
import json
import threading
import time
import zipfile

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

CONFIG = Config(inject_host_prefix=False, retries={"max_attempts": 1}, read_timeout=70)
sfn = boto3.client("stepfunctions", config=CONFIG)
lambdas = boto3.client("lambda", config=CONFIG)
logs = boto3.client("logs", config=CONFIG)

ROLE = "arn:aws:iam::000000000000:role/r"
PASS = json.dumps({"StartAt": "P", "States": {"P": {"Type": "Pass", "Result": {"a": 1}, "End": True}}})
WAIT = json.dumps({"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": True}}})
FAIL = json.dumps({"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E", "Cause": "C"}}})

called = set()
sfn.meta.events.register("before-call.stepfunctions.*", lambda model, **_: called.add(model.name))


def refused(code, call, **parameters):
    """Expects an error of this code."""
    try:
        answer = call(**parameters)
    except ClientError as e:
        assert e.response["Error"]["Code"] == code, f"{e}, want {code}"
        return e.response["Error"]["Message"]
    raise AssertionError(f"{parameters} was answered with {answer}, want {code}")


def eventually(check, seconds=30):
    """Waits until a check returns something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := check():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not happen within %d seconds" % seconds)


def create(name, definition, **more):
    return sfn.create_state_machine(name=name, definition=definition, roleArn=ROLE, **more)["stateMachineArn"]


def ended(execution):
    def check():
        d = sfn.describe_execution(executionArn=execution)
        return d if d["status"] != "RUNNING" else None

    return eventually(check)


def state_machines():
    machine = create("machine", PASS, tags=[{"key": "k", "value": "v"}], publish=True, versionDescription="first")
    assert machine == create("machine", PASS, publish=True, versionDescription="first"), "creating is idempotent"
    refused("StateMachineAlreadyExists", sfn.create_state_machine, name="machine", definition=WAIT, roleArn=ROLE)
    refused("InvalidName", sfn.create_state_machine, name="a b", definition=PASS, roleArn=ROLE)
    refused("InvalidDefinition", sfn.create_state_machine, name="x", definition="{}", roleArn=ROLE)
    d = sfn.describe_state_machine(stateMachineArn=machine)
    assert d["status"] == "ACTIVE" and d["definition"] == PASS and d["type"] == "STANDARD" and "revisionId" not in d, d
    d = sfn.describe_state_machine(stateMachineArn=machine, includedData="METADATA_ONLY")
    assert not d.get("definition"), d
    u = sfn.update_state_machine(stateMachineArn=machine, definition=WAIT, publish=True, versionDescription="second")
    assert u["stateMachineVersionArn"] == machine + ":2" and u["revisionId"], u
    refused("MissingRequiredParameter", sfn.update_state_machine, stateMachineArn=machine)
    v = sfn.validate_state_machine_definition(definition=PASS)
    assert v["result"] == "OK" and v["diagnostics"] == [] and v["truncated"] is False, v
    v = sfn.validate_state_machine_definition(definition="{", maxResults=1)
    assert v["result"] == "FAIL" and v["diagnostics"][0]["severity"] == "ERROR", v
    for i in range(5):
        create(f"page-{i}", PASS)
    names = [m["name"] for p in sfn.get_paginator("list_state_machines").paginate(PaginationConfig={"PageSize": 2}) for m in p["stateMachines"]]
    assert names[-5:] == [f"page-{i}" for i in range(5)] and "machine" in names, names
    for page in sfn.get_paginator("list_state_machines").paginate(PaginationConfig={"PageSize": 2}):
        for m in page["stateMachines"]:
            if m["name"].startswith("page-"):
                sfn.delete_state_machine(stateMachineArn=m["stateMachineArn"])
    assert not [m for m in sfn.list_state_machines()["stateMachines"] if m["name"].startswith("page-")]
    return machine


def versions_and_aliases(machine):
    assert sfn.publish_state_machine_version(stateMachineArn=machine)["stateMachineVersionArn"] == machine + ":2"
    refused("ConflictException", sfn.publish_state_machine_version, stateMachineArn=machine, revisionId="other")
    got = [v["stateMachineVersionArn"] for v in sfn.list_state_machine_versions(stateMachineArn=machine)["stateMachineVersions"]]
    assert got == [machine + ":2", machine + ":1"], got
    routes = [{"stateMachineVersionArn": machine + ":1", "weight": 100}]
    alias = sfn.create_state_machine_alias(name="live", description="d", routingConfiguration=routes)["stateMachineAliasArn"]
    d = sfn.describe_state_machine_alias(stateMachineAliasArn=alias)
    assert d["routingConfiguration"] == routes and d["description"] == "d", d
    split = [{"stateMachineVersionArn": machine + ":1", "weight": 50}, {"stateMachineVersionArn": machine + ":2", "weight": 50}]
    sfn.update_state_machine_alias(stateMachineAliasArn=alias, routingConfiguration=split)
    refused("ValidationException", sfn.update_state_machine_alias, stateMachineAliasArn=alias, routingConfiguration=split[:1])
    assert sfn.list_state_machine_aliases(stateMachineArn=machine)["stateMachineAliases"][0]["stateMachineAliasArn"] == alias
    refused("ConflictException", sfn.delete_state_machine_version, stateMachineVersionArn=machine + ":1")
    seen = set()
    for _ in range(40):  # one in a trillion that all go the same way
        x = sfn.start_execution(stateMachineArn=alias)["executionArn"]
        seen.add(sfn.describe_execution(executionArn=x)["stateMachineVersionArn"])
        sfn.stop_execution(executionArn=x)
    assert seen == {machine + ":1", machine + ":2"}, seen
    sfn.delete_state_machine_alias(stateMachineAliasArn=alias)
    refused("ResourceNotFound", sfn.describe_state_machine_alias, stateMachineAliasArn=alias)
    sfn.delete_state_machine_version(stateMachineVersionArn=machine + ":1")


def executions(machine):
    x = sfn.start_execution(stateMachineArn=machine, name="x", input='{"b": 2}', traceHeader="Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1")
    again = sfn.start_execution(stateMachineArn=machine, name="x", input='{"b": 2}')
    assert again["executionArn"] == x["executionArn"] and again["startDate"] == x["startDate"], again
    refused("ExecutionAlreadyExists", sfn.start_execution, stateMachineArn=machine, name="x", input="{}")
    refused("InvalidExecutionInput", sfn.start_execution, stateMachineArn=machine, input="{")
    stopped = sfn.stop_execution(executionArn=x["executionArn"], error="Enough", cause="of it")["stopDate"]
    d = sfn.describe_execution(executionArn=x["executionArn"])
    assert (d["status"], d["error"], d["cause"], d["stopDate"]) == ("ABORTED", "Enough", "of it", stopped) and d["traceHeader"], d
    refused("ExecutionAlreadyExists", sfn.start_execution, stateMachineArn=machine, name="x", input='{"b": 2}')
    d = sfn.describe_state_machine_for_execution(executionArn=x["executionArn"])
    assert d["definition"] == WAIT and d["name"] == "machine", d
    paginator = sfn.get_paginator("get_execution_history")
    events = [e for p in paginator.paginate(executionArn=x["executionArn"], PaginationConfig={"PageSize": 1}) for e in p["events"]]
    assert [e["id"] for e in events] == list(range(1, len(events) + 1)) and events[-1]["type"] == "ExecutionAborted", events
    found = sfn.get_paginator("list_executions").paginate(stateMachineArn=machine, statusFilter="ABORTED", PaginationConfig={"PageSize": 10})
    assert len([e for p in found for e in p["executions"]]) == 41 - len(sfn.list_executions(stateMachineArn=machine, statusFilter="SUCCEEDED")["executions"])
    refused("InvalidToken", sfn.list_executions, stateMachineArn=machine, nextToken="nonsense")
    refused("ExecutionDoesNotExist", sfn.describe_execution, executionArn=x["executionArn"] + "y")


def express():
    machine = create("express", PASS, type="EXPRESS")
    s = sfn.start_sync_execution(stateMachineArn=machine, name="s", input="[]")
    assert s["status"] == "SUCCEEDED" and s["output"] == '{"a":1}' and s["billingDetails"]["billedDurationInMilliseconds"] >= 100, s
    failed = sfn.start_sync_execution(stateMachineArn=create("express-fail", FAIL, type="EXPRESS"))
    assert (failed["status"], failed["error"], failed["cause"]) == ("FAILED", "E", "C"), failed
    assert ":express:express:" in sfn.start_execution(stateMachineArn=machine)["executionArn"]
    refused("StateMachineTypeNotSupported", sfn.list_executions, stateMachineArn=machine)
    refused("InvalidArn", sfn.describe_execution, executionArn=s["executionArn"])


def activities():
    activity = sfn.create_activity(name="work", tags=[{"key": "k", "value": "v"}])["activityArn"]
    assert sfn.describe_activity(activityArn=activity)["name"] == "work"
    assert [a["name"] for a in sfn.list_activities()["activities"]] == ["work"]
    task = {"Type": "Task", "Resource": activity, "HeartbeatSeconds": 60, "End": True}
    machine = create("activities", json.dumps({"StartAt": "A", "States": {"A": task}}))
    for report, want in (("success", "SUCCEEDED"), ("failure", "FAILED")):
        taken = {}
        poller = threading.Thread(target=lambda: taken.update(sfn.get_activity_task(activityArn=activity, workerName="w")))
        poller.start()
        x = sfn.start_execution(stateMachineArn=machine, input='{"n": 1}')["executionArn"]
        poller.join()
        assert json.loads(taken["input"]) == {"n": 1}, taken
        sfn.send_task_heartbeat(taskToken=taken["taskToken"])
        if report == "success":
            refused("InvalidOutput", sfn.send_task_success, taskToken=taken["taskToken"], output="{")
            sfn.send_task_success(taskToken=taken["taskToken"], output='"done"')
        else:
            sfn.send_task_failure(taskToken=taken["taskToken"], error="E", cause="C")
        assert ended(x)["status"] == want
        refused("TaskTimedOut", sfn.send_task_success, taskToken=taken["taskToken"], output="1")
    refused("InvalidToken", sfn.send_task_heartbeat, taskToken="nonsense")
    sfn.delete_activity(activityArn=activity)
    refused("ActivityDoesNotExist", sfn.describe_activity, activityArn=activity)


def map_runs():
    processor = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "W",
                 "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": True}}}
    machine = create("mapping", json.dumps({"StartAt": "M", "States": {"M": {
        "Type": "Map", "Label": "L", "MaxConcurrency": 1, "ItemProcessor": processor, "End": True}}}))
    x = sfn.start_execution(stateMachineArn=machine, input="[1, 2, 3]")["executionArn"]
    run = eventually(lambda: sfn.list_map_runs(executionArn=x)["mapRuns"])[0]["mapRunArn"]
    sfn.update_map_run(mapRunArn=run, maxConcurrency=2)
    d = eventually(lambda: (d := sfn.describe_map_run(mapRunArn=run))["itemCounts"]["running"] == 2 and d)
    assert (d["maxConcurrency"], d["status"]) == (2, "RUNNING"), d
    children = sfn.list_executions(mapRunArn=run)["executions"]
    assert len(children) == 2 and children[0]["mapRunArn"] == run, children
    assert sfn.describe_state_machine(stateMachineArn=machine + "/L")["label"] == "L"
    sfn.stop_execution(executionArn=x)
    assert eventually(lambda: sfn.describe_map_run(mapRunArn=run)["status"] == "ABORTED")


def redrive():
    machine = create("redriven", FAIL)
    x = sfn.start_execution(stateMachineArn=machine)["executionArn"]
    assert ended(x)["redriveStatus"] == "REDRIVABLE"
    token = "once"
    redriven = sfn.redrive_execution(executionArn=x, clientToken=token)["redriveDate"]
    assert sfn.redrive_execution(executionArn=x, clientToken=token)["redriveDate"] == redriven, "redriving is idempotent"
    refused("ExecutionNotRedrivable", sfn.redrive_execution, executionArn=sfn.start_execution(stateMachineArn=create("running", WAIT))["executionArn"])
    assert eventually(lambda: sfn.describe_execution(executionArn=x)["redriveCount"] == 1 and ended(x))["status"] == "FAILED"


def test_state():
    t = sfn.test_state(definition=json.dumps({"Type": "Pass", "Result": 1, "End": True}), inspectionLevel="DEBUG")
    assert t["status"] == "SUCCEEDED" and t["output"] == "1" and t["inspectionData"]["input"] == "{}", t


def tags(machine):
    sfn.tag_resource(resourceArn=machine, tags=[{"key": "a", "value": "b"}])
    sfn.untag_resource(resourceArn=machine, tagKeys=["k"])
    assert sfn.list_tags_for_resource(resourceArn=machine)["tags"] == [{"key": "a", "value": "b"}]
    refused("TooManyTags", sfn.tag_resource, resourceArn=machine, tags=[{"key": str(i), "value": ""} for i in range(50)])


def functions_and_logs():
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as z:
        z.writestr("main.py", "def handler(event, context):\n    print('got', event)\n    return {'double': event['n'] * 2}\n")
    lambdas.create_function(FunctionName="double", Runtime="python3.12", Handler="main.handler", Role=ROLE, Code={"ZipFile": code.getvalue()})
    lambdas.get_waiter("function_active_v2").wait(FunctionName="double")
    answer = lambdas.invoke(FunctionName="double", Payload=b'{"n": 21}')
    assert json.load(answer["Payload"]) == {"double": 42}, answer
    version = lambdas.publish_version(FunctionName="double")["Version"]
    lambdas.create_alias(FunctionName="double", Name="live", FunctionVersion=version)
    group = "/aws/vendedlogs/states/logged"
    logs.create_log_group(logGroupName=group, tags={"k": "v"})
    logs.put_retention_policy(logGroupName=group, retentionInDays=7)
    destination = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"][0]["arn"]
    task = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "OutputPath": "$.Payload", "End": True,
            "Parameters": {"FunctionName": "double:live", "Payload.$": "$"}}
    machine = create("logged", json.dumps({"StartAt": "T", "States": {"T": task}}), loggingConfiguration={
        "level": "ALL", "includeExecutionData": True, "destinations": [{"cloudWatchLogsLogGroup": {"logGroupArn": destination}}]})
    x = ended(sfn.start_execution(stateMachineArn=machine, input='{"n": 4}')["executionArn"])
    assert x["output"] == '{"double":8}', x
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=group, logStreamNamePrefix="states/", PaginationConfig={"PageSize": 3})
    records = [json.loads(e["message"]) for p in pages for e in p["events"]]
    assert records[0]["type"] == "ExecutionStarted" and records[-1]["details"]["output"] == '{"double":8}', records
    failed = logs.filter_log_events(logGroupName=group, filterPattern='{ $.type = "*Failed" }')["events"]
    assert failed == [], failed
    printed = logs.filter_log_events(logGroupName="/aws/lambda/double", filterPattern='"got"')["events"]
    assert len(printed) == 2, printed
    lambdas.delete_function(FunctionName="double")
    logs.delete_log_group(logGroupName=group)
    refused("InvalidLoggingConfiguration", sfn.create_state_machine, name="unlogged", definition=PASS, roleArn=ROLE, loggingConfiguration={
        "level": "ALL", "destinations": [{"cloudWatchLogsLogGroup": {"logGroupArn": destination}}]})


def deletion(machine):
    x = sfn.start_execution(stateMachineArn=machine)["executionArn"]
    sfn.delete_state_machine(stateMachineArn=machine)
    assert ended(x)["status"] == "ABORTED"
    eventually(lambda: machine not in [m["stateMachineArn"] for m in sfn.list_state_machines()["stateMachines"]])
    refused("StateMachineDoesNotExist", sfn.describe_state_machine, stateMachineArn=machine)
    sfn.delete_state_machine(stateMachineArn=machine)  # is no error


def scopes():
    other = boto3.client("stepfunctions", region_name="eu-west-1", aws_access_key_id="123456789012",
                         aws_secret_access_key="local", config=CONFIG)
    assert other.list_state_machines()["stateMachines"] == []
    arn = other.create_state_machine(name="m", definition=PASS, roleArn=ROLE)["stateMachineArn"]
    assert arn == "arn:aws:states:eu-west-1:123456789012:stateMachine:m", arn
    refused("StateMachineDoesNotExist", sfn.describe_state_machine, stateMachineArn=arn)


machine = state_machines()
for step in (versions_and_aliases, executions, tags, deletion):
    step(machine)
for step in (express, activities, map_runs, redrive, test_state, functions_and_logs, scopes):
    step()
missing = set(sfn.meta.service_model.operation_names) - called
assert not missing, f"not called: {sorted(missing)}"
print(f"  boto3 {boto3.__version__}: {len(called)} operations of Step Functions, and Lambda, CloudWatch Logs: ok")
