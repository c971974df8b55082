"""Runs a Python function of AWS Lambda: takes events from the Lambda Runtime API and answers them as AWS's own client does."""

import decimal
import http.client
import importlib
import importlib.machinery
import json
import logging
import os
import subprocess
import sys
import time
import traceback

API = os.environ["AWS_LAMBDA_RUNTIME_API"]
BASE = "/2018-06-01/runtime/"
ROOT = os.environ.get("LAMBDA_TASK_ROOT", os.getcwd())
SHOWN_ROOT = "/var/task"  # where the code is on AWS
THIS = os.path.abspath(__file__)


class LambdaContext:
    """What the function is told about its invocation."""

    def __init__(self, headers):
        self.aws_request_id = headers["Lambda-Runtime-Aws-Request-Id"]
        self.invoked_function_arn = headers["Lambda-Runtime-Invoked-Function-Arn"]
        self.function_name = os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
        self.function_version = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION")
        self.memory_limit_in_mb = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
        self.log_group_name = os.environ.get("AWS_LAMBDA_LOG_GROUP_NAME")
        self.log_stream_name = os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME")
        self.client_context = client_context(headers.get("Lambda-Runtime-Client-Context"))
        self.identity = CognitoIdentity()
        self.tenant_id = headers.get("Lambda-Runtime-Aws-Tenant-Id")
        self._deadline_ms = int(headers["Lambda-Runtime-Deadline-Ms"])

    def get_remaining_time_in_millis(self):
        return max(0, self._deadline_ms - int(time.time() * 1000))

    def log(self, message):
        sys.stdout.write(str(message))


class CognitoIdentity:
    cognito_identity_id = None
    cognito_identity_pool_id = None


class ClientContext:
    def __init__(self, values):
        self.custom = values.get("custom")
        self.env = values.get("env")
        self.client = values.get("client")


def client_context(text):
    return ClientContext(json.loads(text)) if text else None


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, decimal.Decimal):
            return int(o) if o == o.to_integral_value() else float(o)
        return super().default(o)


def encode(value):
    ascii_only = sys.version_info < (3, 12)
    return json.dumps(value, cls=Encoder, ensure_ascii=ascii_only).encode("utf-8")


class Runtime:
    """A connection to the Runtime API."""

    def __init__(self):
        self.connection = http.client.HTTPConnection(API)

    def next(self):
        self.connection.request("GET", BASE + "invocation/next")
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            sys.exit(1)
        return response.headers, body

    def post(self, path, body, error_type=None):
        headers = {"Content-Type": "application/json"}
        if error_type:
            headers["Lambda-Runtime-Function-Error-Type"] = error_type
        self.connection.request("POST", BASE + path, body, headers)
        self.connection.getresponse().read()


def failure(error_type, message, trace=(), request_id=""):
    return {"errorMessage": message, "errorType": error_type, "requestId": request_id, "stackTrace": list(trace)}


def frames(tb):
    """The stack of the function, without this file, the import machinery and marks below the lines."""
    kept = [(f.filename, f.lineno, f.name, f.line) for f in traceback.extract_tb(tb) if f.filename != THIS and not f.filename.startswith("<frozen importlib")]
    return [line.replace(ROOT, SHOWN_ROOT) for line in traceback.format_list(kept)]


def report(error):
    """Logs an error as AWS's client does."""
    lines = "".join(["[ERROR] ", error["errorType"], ": ", error["errorMessage"], "\n"])
    if error["stackTrace"]:
        lines += "Traceback (most recent call last):\n" + "".join(error["stackTrace"])
    sys.stdout.write(lines if lines.endswith("\n") else lines + "\n")
    sys.stdout.flush()


class Brought:
    """Finds what AWS's runtime or a public layer brings along: asks the Runtime API in which directory it is, or why there is none."""

    RUNTIME = ("boto3", "botocore")
    LAYERS = ("aws_lambda_powertools", "aws_xray_sdk", "fastjsonschema", "jmespath", "pydantic")
    reason = ""

    def find_spec(self, name, path=None, target=None):
        if name not in self.RUNTIME + self.LAYERS or self.reason:
            return None
        host, port = API.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port))
        connection.request("POST", "/stepback/packages", "boto3" if name in self.RUNTIME else name)
        response = connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            reason = json.loads(text)["errorMessage"]
            if name in self.LAYERS and "does not bring it along" in reason:
                return None
            self.reason = reason
            raise ModuleNotFoundError("No module named %r\n%s" % (name, self.reason), name=name)
        if text in sys.path:
            return None
        sys.path.append(text)
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name)


def load(name):
    """Imports the handler; returns it and the error that makes every invocation fail."""
    try:
        module, function = name.rsplit(".", 1)
    except ValueError as e:
        return None, failure("Runtime.MalformedHandlerName", "Bad handler '%s': %s" % (name, e))
    try:
        loaded = importlib.import_module(module.replace("/", "."))
    except ImportError as e:
        return None, failure("Runtime.ImportModuleError", "Unable to import module '%s': %s" % (module, e))
    except SyntaxError as e:
        return None, failure("Runtime.UserCodeSyntaxError", "Syntax error in module '%s': %s" % (module, e),
                             ['  File "%s" Line %s\n    %s\n' % (str(e.filename).replace(ROOT, SHOWN_ROOT), e.lineno, (e.text or "").strip())])
    except Exception as e:
        return None, failure(type(e).__name__, str(e), frames(e.__traceback__))
    handler = getattr(loaded, function, None)
    if handler is None:
        return None, failure("Runtime.HandlerNotFound", "Handler '%s' missing on module '%s'" % (function, module))
    return handler, None


def invoke(handler, headers, body):
    """Calls the function; returns its answer or its error, as (body, error type)."""
    request_id = headers["Lambda-Runtime-Aws-Request-Id"]
    try:
        event = json.loads(body)
    except Exception as e:
        error = failure("Runtime.UnmarshalError", "Unable to unmarshal input: " + str(e), request_id=request_id)
        report(error)
        return encode(error), error["errorType"]
    try:
        answer = handler(event, LambdaContext(headers))
    except Exception as e:
        error = failure(type(e).__name__, str(e), frames(e.__traceback__), request_id)
        report(error)
        return encode(error), error["errorType"]
    try:
        return encode(answer), None
    except Exception as e:
        error = failure("Runtime.MarshalError", "Unable to marshal response: " + str(e), request_id=request_id)
        report(error)
        return encode(error), error["errorType"]


class Stamp(logging.Filter):
    """Gives log records the id of the request that runs."""

    request_id = ""

    def filter(self, record):
        record.aws_request_id = Stamp.request_id
        return True


STANDARD = set(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "aws_request_id", "taskName"}


class JSONFormatter(logging.Formatter):
    """Formats records as AWS's client does for functions that log in JSON."""

    def format(self, record):
        line = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)), "level": record.levelname,
                "message": record.getMessage(), "logger": record.name}
        if record.exc_info and record.exc_info[0]:
            line["errorType"], line["errorMessage"] = record.exc_info[0].__name__, str(record.exc_info[1])
            line["stackTrace"] = frames(record.exc_info[2])
        line["requestId"] = record.aws_request_id
        line.update((k, v) for k, v in record.__dict__.items() if k not in STANDARD)
        return json.dumps({k: v for k, v in line.items() if v is not None}, default=str, ensure_ascii=False)


def open_log():
    handler = logging.StreamHandler(sys.stdout)
    handler.addFilter(Stamp())
    root = logging.getLogger()
    root.addHandler(handler)
    if os.environ.get("AWS_LAMBDA_LOG_FORMAT") == "JSON":
        handler.setFormatter(JSONFormatter())
        level = os.environ.get("AWS_LAMBDA_LOG_LEVEL", "INFO")
        root.setLevel({"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "CRITICAL"}.get(level, level))
        return
    formatter = logging.Formatter("[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t%(aws_request_id)s\t%(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)


def from_layers(opt):
    """Has programs that are started by their paths below /opt found in the function's layers, which are elsewhere here."""
    start = subprocess.Popen.__init__

    def found(program):
        if not isinstance(program, str) or not program.startswith("/opt/") or os.path.exists(program):
            return None
        local = opt + program[len("/opt"):]
        if not os.path.isfile(local):
            return None
        with open(local, "rb") as f:
            first = f.readline()
        if first.startswith(b"#!") and b"python" in first:  # of an interpreter that is elsewhere, too
            return [sys.executable, local]
        return [local]

    def started(self, args, *rest, **named):
        if isinstance(args, (list, tuple)) and args and not named.get("shell"):
            program = found(args[0])
            if program:
                args = program + list(args[1:])
        start(self, args, *rest, **named)

    subprocess.Popen.__init__ = started


def main():
    sys.path[0] = ROOT
    if os.environ.get("STEPBACK_LAMBDA_OPT"):
        from_layers(os.environ["STEPBACK_LAMBDA_OPT"])
    sys.meta_path.append(Brought())
    open_log()
    runtime = Runtime()
    handler, error = load(os.environ.get("_HANDLER", ""))
    if error:
        report(error)
        runtime.post("init/error", encode(error), error["errorType"])
        sys.exit(1)
    while True:
        headers, body = runtime.next()
        request_id = Stamp.request_id = headers["Lambda-Runtime-Aws-Request-Id"]
        os.environ["_X_AMZN_TRACE_ID"] = headers.get("Lambda-Runtime-Trace-Id", "")
        answer, error_type = invoke(handler, headers, body)
        sys.stdout.flush()
        sys.stderr.flush()
        runtime.post("invocation/%s/%s" % (request_id, "error" if error_type else "response"), answer, error_type)


if __name__ == "__main__":
    main()
