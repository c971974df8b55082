"""Starts stepback serve, runs executions, and reports their attempts and waits."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid

__version__ = "@PYVERSION@"
__all__ = ["ApiError", "Account", "Execution", "Server", "binary"]


def binary():
    """Returns the path of the stepback binary. Raises FileNotFoundError if this installation lacks it."""
    name = "stepback" + (".exe" if sys.platform == "win32" else "")
    package = os.path.dirname(os.path.abspath(__file__))
    candidates = [os.path.join(os.path.dirname(package), "bin", name)]  # pip install --target
    places = [sysconfig.get_paths()]
    if sys.version_info >= (3, 10):
        places.append(sysconfig.get_paths(sysconfig.get_preferred_scheme("user")))
    # Two versions may be installed, for all users and for one: the binary of this package is where its scheme has it.
    own = [place for place in places if os.path.dirname(package) in (place["purelib"], place["platlib"])]
    candidates += [os.path.join(place["scripts"], name) for place in own or places[:1]]
    for path in candidates:
        if os.path.isfile(path) and os.path.getsize(path) > 0 and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"stepback: no binary at {', '.join(candidates)}: install the wheel again")


class ApiError(Exception):
    """An error of the Step Functions API; code is AWS's error code."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Server:
    """A process of stepback serve on a free port.

    data is its directory; by default data are kept in memory and are gone after stop().

    virtual_time: waits (Retry, Wait, timeouts, delays of queues) take no time; timestamps advance as if they had. Functions
    run for real, and time stands still meanwhile.

    time_scale: seconds that pass in each real second, from 0.01 to 3600: with 60, a wait of an hour takes a minute. Unlike
    in virtual time, everything keeps its order and time passes while functions run, so their timeouts are that much
    shorter. Not together with virtual_time.

    seed: an integer from 1. With the same seed, the executions that Account.run starts have the same jitter and random
    values in every server, by their account and order. Not together with data. By default they differ each time.
    """

    def __init__(self, data=None, args=(), virtual_time=False, seed=None, time_scale=1):
        if seed is not None and (not isinstance(seed, int) or seed < 1):
            raise ValueError(f"seed is an integer from 1, not {seed!r}")
        if seed is not None and data is not None:
            raise ValueError("seed is for a new server: leave out data, whose executions have the same names")
        if not 0.01 <= time_scale <= 3600:
            raise ValueError(f"time_scale is a number from 0.01 to 3600, not {time_scale!r}")
        if virtual_time and time_scale != 1:
            raise ValueError("give virtual_time or time_scale, not both: virtual time skips waits")
        self.virtual_time, self.time_scale, self.seed = virtual_time, time_scale, seed
        # Without data, the server keeps them in memory and removes them when it ends. On Windows terminate() gives it no
        # time for that.
        self._temporary = tempfile.mkdtemp(prefix="stepback-") if data is None and sys.platform == "win32" else None
        command = [binary(), "serve", "--listen", "127.0.0.1:0", "--data", data or self._temporary or "memory"]
        if virtual_time:
            command.append("--virtual-time")
        if time_scale != 1:
            command += ["--time-scale", str(time_scale)]
        if seed is not None:
            command += ["--engine-seed", str(seed)]
        command += args
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = []
        for line in self._process.stdout:
            printed.append(line)
            serving = re.search(r"serving on (http://\S+)", line)
            if serving:
                self.endpoint = serving.group(1)
                break
        else:
            status = self._process.wait()
            self._remove()
            raise RuntimeError(f"stepback serve ended with status {status}: {''.join(printed)}")
        # Read on, so that the process never waits for a full pipe.
        self._reader = threading.Thread(target=self._process.stdout.read, daemon=True)
        self._reader.start()

    def account(self, account="000000000000", region="us-east-1"):
        """Returns an account of the server; accounts share nothing."""
        return Account(self.endpoint, account, region, seeded=self.seed is not None)

    def stop(self):
        """Ends the server. Data that were not given a directory are removed."""
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._remove()

    def _remove(self):
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)


class Account:
    """An AWS account at a server. env has the variables with which boto3 uses it."""

    def __init__(self, endpoint, account, region, seeded=False):
        self.endpoint, self.account, self.region = endpoint, account, region
        self._seeded, self._runs = seeded, 0
        self.env = {
            "AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region, "AWS_DEFAULT_REGION": region,
            "AWS_ACCESS_KEY_ID": account, "AWS_SECRET_ACCESS_KEY": "local", "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
        }

    def call(self, operation, **request):
        """Calls an operation of the Step Functions API. Raises ApiError if it is refused."""
        asked = urllib.request.Request(self.endpoint, json.dumps(request).encode(), {
            "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AWSStepFunctions.{operation}",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={self.account}/20260101/{self.region}/states/aws4_request, SignedHeaders=host, Signature=0",
        })
        try:
            with urllib.request.urlopen(asked) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as err:
            body = json.load(err)
            raise ApiError(body.get("__type", "Error").split("#")[-1], body.get("message", "")) from None

    def run(self, machine, input=None):
        """Runs an execution and waits until it ends.

        machine is a definition (a dict, or text that begins with "{"), a state machine's name, or its ARN.
        """
        # The random values of an execution follow from the seed and its ARN, so a seed needs names that repeat, too.
        self._runs += 1
        name = f"test-{self._runs}" if self._seeded else f"test-{uuid.uuid4()}"
        started = self.call("StartExecution", stateMachineArn=self._machine(machine, name), name=name, input=json.dumps({} if input is None else input))
        arn, wait = started["executionArn"], 0.005
        while True:
            described = self.call("DescribeExecution", executionArn=arn)
            if described["status"] != "RUNNING":
                break
            time.sleep(wait)
            wait = min(wait * 2, 0.25)
        events, more = [], {}
        while True:
            page = self.call("GetExecutionHistory", executionArn=arn, maxResults=1000, **more)
            events += page["events"]
            if not page.get("nextToken"):
                return Execution(described, events)
            more = {"nextToken": page["nextToken"]}

    def _machine(self, machine, name):
        if isinstance(machine, str):
            if machine.startswith("arn:"):
                return machine
            if not machine.lstrip().startswith("{"):
                return f"arn:aws:states:{self.region}:{self.account}:stateMachine:{machine}"
        definition = machine if isinstance(machine, str) else json.dumps(machine)
        created = self.call("CreateStateMachine", name=name, definition=definition, roleArn=f"arn:aws:iam::{self.account}:role/stepback")
        return created["stateMachineArn"]


class Execution:
    """An execution that has ended: status, output, error, cause, and the events of its history."""

    _BEGINS = re.compile(r"(Task|LambdaFunction|Activity)Scheduled")
    _FAILS = re.compile(r"(Task|LambdaFunction|Activity)(Failed|TimedOut|SubmitFailed|StartFailed|ScheduleFailed)")

    def __init__(self, described, events):
        self.arn, self.status, self.events = described["executionArn"], described["status"], events
        self.output = json.loads(described["output"]) if "output" in described else None
        self.error, self.cause = described.get("error"), described.get("cause")

    def _of(self, state):
        """Returns the events of a state that begin (True) or fail (False) an attempt, with their times."""
        states, found = {}, []
        for e in self.events:
            entered = e.get("stateEnteredEventDetails")
            states[e["id"]] = entered["name"] if entered else states.get(e.get("previousEventId"))
            if states[e["id"]] != state:
                continue
            if self._BEGINS.fullmatch(e["type"]):
                found.append((True, e["timestamp"]))
            elif self._FAILS.fullmatch(e["type"]):
                found.append((False, e["timestamp"]))
        return found

    def attempts(self, state):
        """Returns how often the task of a state was attempted."""
        return sum(begins for begins, _ in self._of(state))

    def waits(self, state):
        """Returns the seconds from each failed attempt of a state to its retry."""
        waits, failed = [], None
        for begins, at in self._of(state):
            if begins and failed is not None:
                waits.append(round(at - failed, 3))  # timestamps are whole milliseconds
            failed = None if begins else at
        return waits
