// Durable functions on AWS's SDK for JavaScript, for durable.mjs. Each appends a line to the file EFFECTS when it has a side
// effect, so that the effects of an execution can be counted from outside.
import { appendFileSync } from 'node:fs';
import { createRetryStrategy, JitterStrategy, StepSemantics, withDurableExecution } from '@aws/durable-execution-sdk-js';

const effect = (...words) => appendFileSync(process.env.EFFECTS, words.join(' ') + '\n');
const often = createRetryStrategy({ maxAttempts: 4, initialDelay: { seconds: 1 }, maxDelay: { seconds: 2 }, jitter: JitterStrategy.NONE });
const never = { retryStrategy: () => ({ shouldRetry: false }) };

// retries has a step that fails as often as the event says.
export const retries = withDurableExecution(async (event, context) => {
  const sum = await context.step('charge', async ({ attempt }) => {
    if ((attempt ?? 1) <= event.failures) throw new Error('declined');
    return event.amount;
  }, { retryStrategy: often });
  return { charged: sum };
});

// approval waits for a callback that the caller of the test sends.
export const approval = withDurableExecution(async (event, context) => {
  const said = await context.waitForCallback('approval', async (id) => effect('callback', id), { timeout: { seconds: 60 } });
  return JSON.parse(said);
});

// expiry waits for a callback that never comes, until its timeout or, if the event says so, until a heartbeat is missing.
export const expiry = withDurableExecution(async (event, context) => {
  try {
    const limit = { seconds: 1 };
    await context.waitForCallback('approval', async () => {}, event.heartbeat ? { heartbeatTimeout: limit } : { timeout: limit });
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
});

// batch maps items, with a wait in the middle.
export const batch = withDurableExecution(async (event, context) => {
  const doubled = await context.map('double', event.items, async (ctx, item) => ctx.step('double', async () => 2 * item));
  await context.wait('rest', { seconds: 1 });
  const both = await context.parallel('both', [
    async (ctx) => ctx.step('left', async () => 'l'),
    async (ctx) => ctx.runInChildContext('right', async (c) => c.step('deep', async () => 'r')),
  ]);
  return { doubled: doubled.getResults(), both: both.getResults() };
});

// polling waits for a condition.
export const polling = withDurableExecution(async (event, context) => context.waitForCondition('poll', async (n) => n + 1, {
  initialState: 0,
  waitStrategy: (n) => (n < 3 ? { shouldContinue: true, delay: { seconds: 1 } } : { shouldContinue: false }),
}));

// chain invokes another durable function.
export const chain = withDurableExecution(async (event, context) => context.invoke('retries', event.function, { failures: 1, amount: 5 }));

// fails has a step that is not retried.
export const fails = withDurableExecution(async (event, context) => context.step('charge', async () => {
  throw new TypeError('no card');
}, never));

// crash ends its process in the first attempt of a step that must not run twice.
export const crash = withDurableExecution(async (event, context) => {
  try {
    await context.step('once', async () => {
      effect('once', event.id);
      process.exit(1);
    }, { semantics: StepSemantics.AtMostOncePerRetry, ...never });
  } catch (e) {
    return e.name;
  }
});

// long has many steps with effects, for tests that kill the server meanwhile: odd steps run at most once.
export const long = withDurableExecution(async (event, context) => {
  const done = [];
  for (let i = 0; i < event.steps; i++) {
    const semantics = i % 2 ? StepSemantics.AtMostOncePerRetry : StepSemantics.AtLeastOncePerRetry;
    try {
      done.push(await context.step('s' + i, async () => {
        effect('step', event.id, i);
        return i;
      }, { semantics, ...never }));
    } catch {
      done.push(-i);
    }
    if (i % 5 === 4) await context.wait('w' + i, { seconds: 1 });
  }
  effect('end', event.id);
  return done;
});
