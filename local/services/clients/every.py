"""Every operation that stepback serve says it serves, by boto3: with an input made of AWS's model. What it names is not there, so
that most answers are refusals; each has to be one that boto3 can read, and none may be a 5xx.

Run by run.sh as every.py STEPBACK INPUTS; it writes the inputs to a file, for every.mjs to send the same by the SDK for JavaScript."""

import base64
import datetime
import json
import subprocess
import sys

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

stepback, inputs_file = sys.argv[1:]
CONFIG = Config(inject_host_prefix=False, retries={"max_attempts": 0}, read_timeout=30, parameter_validation=False)
session = botocore.session.get_session()

# What services are called by stepback, by boto3 and by the packages of the SDK for JavaScript.
NAMES = {"cloudwatchlogs": ("logs", "cloudwatch-logs"), "sfn": ("stepfunctions", "sfn"), "eventbridge": ("events", "eventbridge"),
         "secretsmanager": ("secretsmanager", "secrets-manager"), "dynamodbstreams": ("dynamodbstreams", "dynamodb-streams")}

ARNS = {"lambda": "arn:aws:lambda:us-east-1:000000000000:function:nobody", "sns": "arn:aws:sns:us-east-1:000000000000:nobody",
        "sqs": "arn:aws:sqs:us-east-1:000000000000:nobody", "iam": "arn:aws:iam::000000000000:role/nobody",
        "stepfunctions": "arn:aws:states:us-east-1:000000000000:stateMachine:nobody",
        "logs": "arn:aws:logs:us-east-1:000000000000:log-group:nobody", "ecr": "arn:aws:ecr:us-east-1:000000000000:repository/nobody",
        "scheduler": "arn:aws:scheduler:us-east-1:000000000000:schedule-group/nobody"}


def text(service, name, shape):
    if shape.enum:
        return shape.enum[0]
    lower = name.lower()
    if "arn" in lower or lower == "resource":
        return ARNS.get(service, "arn:aws:%s:us-east-1:000000000000:thing/nobody" % service)
    if "url" in lower:
        return "http://localhost:4566/000000000000/nobody"
    if "document" in lower or lower in ("policy", "definition", "input", "repositorypolicytext", "dashboardbody", "event", "eventpattern"):
        return '{"Version":"2012-10-17","Statement":[]}'
    least = int(shape.metadata.get("min", 0))
    return "nobody".ljust(least, "x")


def sample(service, shape, name="", depth=0):
    """A value of a shape: all required members, and nothing else."""
    kind = shape.type_name
    if kind == "structure":
        members = {k: sample(service, v, k, depth + 1) for k, v in shape.members.items() if k in shape.required_members}
        if not members and depth and shape.members and not getattr(shape, "is_document_type", False):
            k, v = next(iter(shape.members.items()))
            if depth < 4:
                members = {k: sample(service, v, k, depth + 1)}
        return members
    if kind == "list":
        return [sample(service, shape.member, name, depth + 1)]
    if kind == "map":
        return {"k": sample(service, shape.value, name, depth + 1)} if depth < 5 else {}
    if kind in ("integer", "long"):
        return max(1, int(shape.metadata.get("min", 1)))
    if kind in ("float", "double"):
        return 1.5
    return {"boolean": True, "timestamp": datetime.datetime(2026, 11, 23, tzinfo=datetime.timezone.utc), "blob": b"{}",
            "string": None}.get(kind) if kind != "string" else text(service, name, shape)


def plain(value):
    """A value as JSON that every.mjs understands."""
    if isinstance(value, bytes):
        return {"$blob": base64.b64encode(value).decode()}
    if isinstance(value, datetime.datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


served = json.loads(subprocess.run([stepback, "services", "--json"], capture_output=True, text=True, check=True).stdout)
failed, count, inputs = 0, 0, []
for service in served:
    model = service["model"]
    boto, package = NAMES.get(model, (model, model))
    client = boto3.client(boto, config=CONFIG)
    operations = [o["name"] for o in service["operations"] if o["state"] in ("supported", "partial")]
    known = session.get_service_model(boto)
    for operation in operations:
        if operation not in known.operation_names:
            continue  # of a newer model than this boto3's
        shape = known.operation_model(operation).input_shape
        given = sample(boto, shape) if shape else {}
        inputs.append({"package": package, "operation": operation, "input": plain(given)})
        method = next(m for m, o in client.meta.method_to_api_mapping.items() if o == operation)
        count += 1
        try:
            getattr(client, method)(**given)
        except ClientError as e:
            if e.response["ResponseMetadata"]["HTTPStatusCode"] >= 500 or not e.response["Error"]["Code"]:
                failed += 1
                print("  %s %s: %s" % (boto, operation, e), file=sys.stderr)
        except Exception as e:  # the others are tried as well
            failed += 1
            print("  %s %s: %s: %s" % (boto, operation, type(e).__name__, e), file=sys.stderr)
with open(inputs_file, "w") as f:
    json.dump(inputs, f)
print("  every operation of %d services, %d in all: %d answers cannot be read" % (len({i["package"] for i in inputs}), count, failed))
if {i["package"] for i in inputs} != {NAMES.get(s["model"], (s["model"], s["model"]))[1] for s in served if s["supported"] + s["partial"]}:
    failed += 1
    print("  a service is listed by `stepback services --json`, and none of its operations was called", file=sys.stderr)
sys.exit(1 if failed else 0)
