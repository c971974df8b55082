// Runs the durable functions of functions.mjs, which use AWS's SDK, against stepback serve, and compares results and histories.
// It also kills the server with SIGKILL while executions run, and starts it again on the same data.
// Usage: node durable.mjs STEPBACK DIRECTORY CODE.ZIP [KILLS]
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateFunctionCommand, GetDurableExecutionCommand, GetDurableExecutionHistoryCommand, InvokeCommand, LambdaClient,
  SendDurableExecutionCallbackFailureCommand, SendDurableExecutionCallbackSuccessCommand, StopDurableExecutionCommand,
} from '@aws-sdk/client-lambda';

const [stepback, directory, code, kills = '5'] = process.argv.slice(2);
const effects = directory + '/effects';
writeFileSync(effects, '');
let server; let url; let client;

async function start(listen) {
  server = spawn(stepback, ['serve', '--listen', listen, '--data', directory + '/data'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  server.stderr.on('data', (chunk) => { log += chunk; });
  for (let i = 0; i < 300; i++) {
    url = /^stepback: serving on (\S+)/m.exec(log)?.[1];
    if (url) break;
    if (server.exitCode !== null) break;
    await sleep(100);
  }
  assert(url, log);
  client = new LambdaClient({ endpoint: url, region: 'us-east-1', maxAttempts: 1, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
}

async function kill() {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGKILL');
  await ended;
}

const send = (command) => client.send(command);

async function create(name) {
  await send(new CreateFunctionCommand({
    FunctionName: name, Role: 'arn:aws:iam::000000000000:role/r', Runtime: 'nodejs22.x', Handler: 'functions.' + name, Timeout: 30,
    Code: { ZipFile: readFileSync(code) }, DurableConfig: { ExecutionTimeout: 600 }, Environment: { Variables: { EFFECTS: effects } },
  }));
}

async function invoke(name, event, more = {}) {
  const out = await send(new InvokeCommand({ FunctionName: name, Qualifier: '$LATEST', Payload: JSON.stringify(event), ...more }));
  const text = Buffer.from(out.Payload ?? []).toString();
  return { arn: out.DurableExecutionArn, error: out.FunctionError, result: text ? JSON.parse(text) : undefined };
}

async function history(arn) {
  const events = [];
  for (let Marker; ;) {
    const page = await send(new GetDurableExecutionHistoryCommand({ DurableExecutionArn: arn, IncludeExecutionData: true, Marker }));
    events.push(...page.Events);
    Marker = page.NextMarker;
    if (!Marker) return events;
  }
}

const brief = (events) => events.map((e) => [e.EventType, e.Name].filter(Boolean).join(' '));

async function until(what, read) {
  for (let i = 0; i < 600; i++) {
    const got = await read();
    if (got) return got;
    await sleep(100);
  }
  throw new Error('it does not happen: ' + what);
}

const ended = (arn) => until('the end of ' + arn, async () => {
  const x = await send(new GetDurableExecutionCommand({ DurableExecutionArn: arn }));
  return x.Status !== 'RUNNING' && x;
});

const tests = {
  async 'a step is retried after its delays'() {
    const out = await invoke('retries', { failures: 2, amount: 7 });
    assert.deepEqual(out.result, { charged: 7 });
    const events = await history(out.arn);
    assert.deepEqual(brief(events), ['ExecutionStarted', 'StepStarted charge', 'StepFailed charge', 'InvocationCompleted',
      'StepStarted charge', 'StepFailed charge', 'InvocationCompleted', 'StepStarted charge', 'StepSucceeded charge',
      'InvocationCompleted', 'ExecutionSucceeded']);
    assert.deepEqual(events.filter((e) => e.StepFailedDetails).map((e) => e.StepFailedDetails.RetryDetails),
      [{ CurrentAttempt: 1, NextAttemptDelaySeconds: 1 }, { CurrentAttempt: 2, NextAttemptDelaySeconds: 2 }]);
    assert.equal(events[2].StepFailedDetails.Error.Payload.ErrorMessage, 'declined');
  },
  async 'a callback completes an execution'() {
    const { arn } = await invoke('approval', {}, { InvocationType: 'Event' });
    const CallbackId = (await until('the callback', async () => (await history(arn)).find((e) => e.CallbackStartedDetails)))
      .CallbackStartedDetails.CallbackId;
    await until('the submitter', () => readFileSync(effects, 'utf8').includes('callback ' + CallbackId));
    await send(new SendDurableExecutionCallbackSuccessCommand({ CallbackId, Result: JSON.stringify({ by: 'me' }) }));
    const x = await ended(arn);
    assert.equal(x.Result, '{"by":"me"}');
    await assert.rejects(send(new SendDurableExecutionCallbackFailureCommand({ CallbackId, Error: { ErrorType: 'No' } })),
      { name: 'CallbackTimeoutException' });
  },
  async 'a callback times out'() {
    assert.equal((await invoke('expiry', {})).result, 'CallbackTimeoutError: Callback timed out');
    assert.equal((await invoke('expiry', { heartbeat: true })).result, 'CallbackTimeoutError: Callback timed out on heartbeat');
  },
  async 'map, parallel and child contexts survive a suspension'() {
    const out = await invoke('batch', { items: [1, 2, 3] });
    assert.deepEqual(out.result, { doubled: [2, 4, 6], both: ['l', 'r'] });
    const started = (await history(out.arn)).filter((e) => e.EventType === 'ContextStarted').map((e) => e.SubType);
    assert.deepEqual(started, ['Map', 'MapIteration', 'MapIteration', 'MapIteration', 'Parallel', 'ParallelBranch', 'ParallelBranch',
      'RunInChildContext']);
  },
  async 'a condition is polled'() {
    const out = await invoke('polling', {});
    assert.equal(out.result, 3);
    assert.equal(brief(await history(out.arn)).filter((e) => e === 'StepSucceeded poll').length, 3);
  },
  async 'functions are chained'() {
    const out = await invoke('chain', { function: 'retries:$LATEST' });
    assert.deepEqual(out.result, { charged: 5 });
    const child = (await history(out.arn)).find((e) => e.ChainedInvokeStartedDetails).ChainedInvokeStartedDetails;
    assert.equal(child.ExecutedVersion, '$LATEST');
    assert.equal((await ended(child.DurableExecutionArn)).Status, 'SUCCEEDED');
  },
  async 'an execution fails'() {
    const out = await invoke('fails', {});
    assert.equal(out.error, 'Unhandled');
    const x = await ended(out.arn);
    assert.equal(x.Status, 'FAILED');
    assert.equal(x.Error.ErrorMessage, 'no card');
  },
  async 'a step that crashes its process does not run again'() {
    const out = await invoke('crash', { id: 'c1' });
    assert.equal(out.result, 'StepError');
    assert.equal(readFileSync(effects, 'utf8').split('\n').filter((l) => l === 'once c1').length, 1);
    const crashed = (await history(out.arn)).find((e) => e.InvocationCompletedDetails?.Error?.Payload);
    assert.equal(crashed.InvocationCompletedDetails.Error.Payload.ErrorType, 'Runtime.ExitError');
  },
  async 'an execution is stopped'() {
    const { arn } = await invoke('approval', {}, { InvocationType: 'Event' });
    await send(new StopDurableExecutionCommand({ DurableExecutionArn: arn, Error: { ErrorType: 'Mine' } }));
    assert.equal((await ended(arn)).Status, 'STOPPED');
  },
  async 'kills lose nothing'() {
    const port = new URL(url).host;
    const steps = 20;
    const arns = await Promise.all([1, 2, 3].map((n) => invoke('long', { steps, id: 'k' + n }, { InvocationType: 'Event' }).then((o) => o.arn)));
    for (let i = 0; i < Number(kills); i++) {
      await sleep(200 + Math.random() * 1500);
      await kill();
      await start(port);
    }
    for (const [n, arn] of arns.entries()) {
      const result = JSON.parse((await ended(arn)).Result);
      const lines = readFileSync(effects, 'utf8').split('\n');
      for (let i = 0; i < steps; i++) {
        const ran = lines.filter((l) => l === `step k${n + 1} ${i}`).length;
        if (i % 2) { // at most once: it has its result, or was interrupted
          assert(ran <= 1, `step ${i} of k${n + 1} ran ${ran} times`);
          assert(Math.abs(result[i]) === i, `step ${i}: ${result[i]}`);
        } else {
          assert(ran >= 1 && result[i] === i, `step ${i} of k${n + 1} ran ${ran} times: ${result[i]}`);
        }
      }
      const firsts = [...new Set(lines.filter((l) => l.startsWith(`step k${n + 1} `)))].map((l) => Number(l.split(' ')[2]));
      assert.deepEqual(firsts, [...firsts].sort((a, b) => a - b), 'the steps ran out of order');
      const events = await history(arn);
      assert.deepEqual(events.map((e) => e.EventId), events.map((_, i) => i + 1));
      for (let i = 0; i < steps; i++) {
        const ends = events.filter((e) => e.Name === 's' + i && /^Step(Succeeded|Failed)$/.test(e.EventType)).length;
        assert.equal(ends, 1, `step ${i} has ${ends} outcomes`);
      }
    }
  },
};

let failed = 0;
await start('127.0.0.1:0');
try {
  for (const name of ['retries', 'approval', 'expiry', 'batch', 'polling', 'chain', 'fails', 'crash', 'long']) await create(name);
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log('  ok: ' + name);
    } catch (e) {
      failed++;
      console.log('  FAILED: ' + name + '\n' + e.stack);
    }
  }
} finally {
  await kill();
}
process.exit(failed ? 1 : 0);
