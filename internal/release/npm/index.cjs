"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

function binary() {
  const target = `${process.platform}-${process.arch}`;
  const file = `@stepback/${target}/bin/stepback${process.platform === "win32" ? ".exe" : ""}`;
  let found;
  try {
    found = require.resolve(file);
  } catch {
    const platforms = Object.keys(require("./package.json").optionalDependencies);
    throw new Error(
      platforms.includes(`@stepback/${target}`)
        ? `the package @stepback/${target} is not installed: install without --omit=optional (--no-optional), on the machine that runs it`
        : `there is no binary for ${target}, only ${platforms.map((p) => p.slice("@stepback/".length)).join(", ")}: build from source with Go`
    );
  }
  const { version, binarySize } = require(`@stepback/${target}/package.json`);
  const { version: own } = require("./package.json");
  if (version !== own) {
    throw new Error(`stepback ${own} found @stepback/${target} ${version}: remove node_modules and install again`);
  }
  try {
    fs.accessSync(found, fs.constants.X_OK);
    const { size } = fs.statSync(found);
    if (size !== binarySize) throw new Error(`it has ${size} of ${binarySize} bytes`);
  } catch (err) {
    throw new Error(`${found} cannot be run (${err.code ?? err.message}): remove node_modules and install again`);
  }
  return found;
}

async function start({ data, args = [], account = "000000000000", region = "us-east-1", virtualTime = false, timeScale = 1, seed } = {}) {
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed > 0)) throw new TypeError(`seed is an integer from 1, not ${seed}`);
  if (!(timeScale >= 0.01 && timeScale <= 3600)) throw new TypeError(`timeScale is a number from 0.01 to 3600, not ${timeScale}`);
  if (virtualTime && timeScale !== 1) throw new TypeError("give virtualTime or timeScale, not both: virtual time skips waits");
  if (seed !== undefined && data !== undefined) throw new TypeError("seed is for a new server: leave out data, whose executions have the same names");
  // Without data, the server keeps them in memory and removes them when it ends. On Windows a signal gives it no time for that.
  const temporary = data === undefined && process.platform === "win32";
  const dir = temporary ? fs.mkdtempSync(path.join(os.tmpdir(), "stepback-")) : (data ?? "memory");
  const flags = ["serve", "--listen", "127.0.0.1:0", "--data", dir];
  if (virtualTime) flags.push("--virtual-time");
  if (timeScale !== 1) flags.push("--time-scale", String(timeScale));
  if (seed !== undefined) flags.push("--engine-seed", String(seed));
  const child = spawn(binary(), [...flags, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const remove = () => temporary && fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  const kill = () => child.kill("SIGTERM");
  process.once("exit", kill);
  const endpoint = await new Promise((resolve, reject) => {
    let printed = "";
    const read = (chunk) => {
      printed = (printed + chunk).slice(-4096);
      const serving = /serving on (http:\/\/\S+)/.exec(printed);
      if (serving) resolve(serving[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`stepback serve ended with status ${code}: ${printed}`)));
  }).catch((err) => {
    process.removeListener("exit", kill);
    remove();
    throw err;
  });
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    process.removeListener("exit", kill);
    remove();
  };
  return new Server({ endpoint, account, region, virtualTime, timeScale, seed, stop });
}

class Server {
  #runs = 0;

  constructor(options) {
    Object.assign(this, options);
    const { endpoint, account, region } = options;
    this.env = {
      AWS_ENDPOINT_URL: endpoint, AWS_REGION: region, AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: account, AWS_SECRET_ACCESS_KEY: "local", AWS_DISABLE_HOST_PREFIX_INJECTION: "true",
    };
  }

  async call(operation, request = {}) {
    const answer = await fetch(this.endpoint, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": `AWSStepFunctions.${operation}`,
        Authorization: `AWS4-HMAC-SHA256 Credential=${this.account}/20260101/${this.region}/states/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify(request),
    });
    const body = await answer.json();
    if (!answer.ok) {
      const err = new Error(body.message ?? body.Message ?? answer.statusText);
      err.name = String(body.__type ?? "Error").split("#").pop();
      throw err;
    }
    return body;
  }

  async run(machine, input = {}) {
    // The random values of an execution follow from the seed and its name, so a seed needs names that repeat, too.
    this.#runs += 1;
    const name = this.seed === undefined ? `test-${process.pid}-${Math.random().toString(36).slice(2)}` : `test-${this.#runs}`;
    const stateMachineArn = await this.#machine(machine, name);
    const { executionArn } = await this.call("StartExecution", { stateMachineArn, name, input: JSON.stringify(input) });
    for (let wait = 5; ; wait = Math.min(wait * 2, 250)) {
      const x = await this.call("DescribeExecution", { executionArn });
      if (x.status !== "RUNNING") {
        const events = [];
        for (let nextToken; ; ) {
          const page = await this.call("GetExecutionHistory", { executionArn, maxResults: 1000, nextToken });
          events.push(...page.events);
          if (!(nextToken = page.nextToken)) break;
        }
        return new Execution(x, events, this.virtualTime, this.timeScale);
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #machine(machine, name) {
    if (typeof machine === "string" && machine.startsWith("arn:")) return machine;
    if (typeof machine === "string" && !machine.trimStart().startsWith("{")) {
      return `arn:aws:states:${this.region}:${this.account}:stateMachine:${machine}`;
    }
    const definition = typeof machine === "string" ? machine : JSON.stringify(machine);
    const roleArn = `arn:aws:iam::${this.account}:role/stepback`;
    return (await this.call("CreateStateMachine", { name, definition, roleArn })).stateMachineArn;
  }
}

class Execution {
  constructor(described, events, virtualTime, timeScale) {
    this.virtualTime = virtualTime;
    this.timeScale = timeScale;
    this.arn = described.executionArn;
    this.status = described.status;
    this.output = described.output === undefined ? undefined : JSON.parse(described.output);
    this.error = described.error;
    this.cause = described.cause;
    this.events = events;
  }

  /** The events of a state that begin and that fail an attempt, in order. */
  #of(state) {
    const states = new Map();
    const found = [];
    for (const e of this.events) {
      const entered = e.stateEnteredEventDetails?.name;
      const of = entered ?? states.get(e.previousEventId);
      states.set(e.id, of);
      if (of !== state) continue;
      if (/^(Task|LambdaFunction|Activity)Scheduled$/.test(e.type)) found.push({ begins: true, at: e.timestamp });
      if (/^(Task|LambdaFunction|Activity)(Failed|TimedOut|SubmitFailed|StartFailed|ScheduleFailed)$/.test(e.type)) found.push({ begins: false, at: e.timestamp });
    }
    return found;
  }

  attempts(state) {
    return this.#of(state).filter((e) => e.begins).length;
  }

  waits(state) {
    const waits = [];
    let failed;
    for (const e of this.#of(state)) {
      if (e.begins && failed !== undefined) waits.push(Math.round((e.at - failed) * 1000) / 1000); // timestamps are whole milliseconds
      failed = e.begins ? undefined : e.at;
    }
    return waits;
  }
}

module.exports = { binary, start };
