"""The inputs of every.py by the AWS CLI: each command as a user types it, with --cli-input-json. Its exit status tells what came of
it: 0, or 254 for an answer that is an error of the service. Run by run.sh as every_cli.py INPUTS, in one process, since starting
the CLI takes longer than the call. Version 1 of the CLI, which is a package of Python, is needed for that."""

import base64
import contextlib
import io
import json
import os
import sys
import tempfile

from awscli.clidriver import create_clidriver
from botocore import xform_name

NAMES = {"cloudwatch-logs": "logs", "sfn": "stepfunctions", "eventbridge": "events", "secrets-manager": "secretsmanager",
         "dynamodb-streams": "dynamodbstreams", "s3": "s3api"}
os.environ.update(AWS_PAGER="", AWS_MAX_ATTEMPTS="1")
driver = create_clidriver()
commands = driver.create_help_command().command_table
session = driver.session
work = tempfile.mkdtemp()


def typed(value):
    """A value as --cli-input-json has it: blobs in base64."""
    if isinstance(value, dict):
        if "$blob" in value:
            return base64.b64decode(value["$blob"]).decode()
        if "$time" in value:
            return value["$time"]
        return {k: typed(v) for k, v in value.items()}
    return [typed(v) for v in value] if isinstance(value, list) else value


def streams(shape):
    """The member of a shape that is a stream; None for none."""
    if shape is None:
        return None
    return next((k for k, v in shape.members.items() if v.serialization.get("streaming") or getattr(v, "is_event_stream", False)), None) \
        or (shape.serialization.get("payload") if shape.serialization.get("payload") and
            shape.members[shape.serialization["payload"]].type_name == "blob" else None)


failed = count = 0
services = set()
for request in json.load(open(sys.argv[1])):
    command = NAMES.get(request["package"], request["package"])
    service = {"s3api": "s3"}.get(command, command)
    operation = session.get_service_model(service).operation_model(request["operation"])
    name = xform_name(request["operation"], "-")
    if operation.has_event_stream_output and name not in commands[command].create_help_command().command_table:
        continue  # the CLI has no commands for most operations that answer with events
    given = typed(request["input"])
    # Version 1 of the CLI has an endpoint of its own for SQS, and asks AWS whatever AWS_ENDPOINT_URL says.
    args = [command, name, "--output", "json", "--no-paginate", "--endpoint-url",
            os.environ["AWS_ENDPOINT_URL"]]
    body = streams(operation.input_shape)
    if body and body in given:
        path = os.path.join(work, "body")
        with open(path, "w") as f:
            f.write(given.pop(body))
        args += ["--" + xform_name(body, "-"), path if operation.input_shape.members[body].serialization.get("streaming") else "fileb://" + path]
    if streams(operation.output_shape) or operation.has_event_stream_output:  # whose commands take no JSON
        for member, value in given.items():
            args += ["--" + xform_name(member, "-"), value if isinstance(value, str) else json.dumps(value)]
        if not operation.has_event_stream_output:
            args.append(os.path.join(work, "out"))
    elif given:
        args += ["--cli-input-json", json.dumps(given)]
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        try:
            status = driver.main(args)
        except SystemExit as e:
            status = e.code
    count += 1
    services.add(command)
    text = told.getvalue().strip()
    if status == 0 or (status in (254, 255) and "An error occurred (" in text and "An error occurred (500)" not in text
                       and "(InternalError)" not in text and "(InternalFailure)" not in text):
        continue
    if status == 252 or "Parameter validation failed" in text or "is not a valid" in text:
        continue  # refused by the CLI before it asks
    failed += 1
    print("  %s %s: %s %s" % (command, args[1], status, text[-300:]), file=sys.stderr)
print("  every operation of %d services, %d in all: %d answers cannot be read" % (len(services), count, failed))
sys.exit(1 if failed else 0)
