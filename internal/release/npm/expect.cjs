"use strict";

// Matchers for expect.extend of vitest and jest. They receive an Execution.

function execution(received, name) {
  if (received === null || typeof received !== "object" || typeof received.attempts !== "function") {
    throw new TypeError(`${name}: expect(…) needs an execution, as await sb.run(…) returns it`);
  }
  return received;
}

const ended = (x) => `${x.status}${x.error ? ` with ${x.error}: ${x.cause}` : ""}`;

function toHaveSucceeded(received, output) {
  const x = execution(received, "toHaveSucceeded");
  const pass = x.status === "SUCCEEDED" && (output === undefined || this.equals(x.output, output));
  return { pass, message: () => `the execution ended ${ended(x)}${x.status === "SUCCEEDED" ? ` and returned ${JSON.stringify(x.output)}` : ""}` };
}

function toHaveFailed(received, error) {
  const x = execution(received, "toHaveFailed");
  const pass = x.status !== "SUCCEEDED" && (error === undefined || x.error === error);
  return { pass, message: () => `the execution ended ${ended(x)}${error === undefined ? "" : `; expected ${error}`}` };
}

function toHaveAttempts(received, state, attempts) {
  const found = execution(received, "toHaveAttempts").attempts(state);
  return { pass: found === attempts, message: () => `${state} was attempted ${found} times; expected ${attempts}` };
}

// A wait is expected as the number of seconds, or as [least, most] for a Retry with jitter. It may take up to tolerance
// seconds longer, because a waiting execution in real time is not always resumed at once. By default tolerance is one real second.
function toHaveWaits(received, state, expected, { tolerance } = {}) {
  const x = execution(received, "toHaveWaits");
  tolerance ??= x.virtualTime ? 0.05 : Math.max(0.05, x.timeScale ?? 1);
  const found = x.waits(state);
  const pass = found.length === expected.length && found.every((wait, i) => {
    const [least, most] = Array.isArray(expected[i]) ? expected[i] : [expected[i], expected[i]];
    return wait >= least - 0.05 && wait <= most + tolerance;
  });
  return { pass, message: () => `${state} waited ${JSON.stringify(found)} seconds between attempts; expected ${JSON.stringify(expected)}` };
}

module.exports = { toHaveSucceeded, toHaveFailed, toHaveAttempts, toHaveWaits };
