// Stands in for AWS's durable execution SDK for JavaScript in tests of this project: its exports and its plugins have the
// same shape, and it speaks the same protocol, one operation at a time.
import http from 'node:http';

const suspended = Symbol('suspended');

function post(url, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } }, (response) => {
      let text = '';
      response.on('data', (chunk) => { text += chunk; });
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text))));
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

async function load() {
  const specifiers = (process.env.DURABLE_EXECUTION_PLUGINS || '').split(',').filter(Boolean);
  return Promise.all(specifiers.map(async (s) => (await import(s)).durableExecutionPluginProvider.createPlugin()));
}

const errorOf = (e) => ({ ErrorType: e.name, ErrorMessage: e.message });

function rebuilt(e) {
  return Object.assign(new Error(e?.ErrorMessage), { name: e?.ErrorType ?? 'Error' });
}

class Context {
  #execution; #prefix; #parent; #count = 0;

  constructor(execution, prefix, parent) {
    this.#execution = execution;
    this.#prefix = prefix;
    this.#parent = parent;
  }

  #next() { return this.#prefix + String(++this.#count); }

  #run(method, info, run) {
    return this.#execution.plugins.reduceRight((next, p) => () => (p[method] ? p[method](info, next) : next()), run)();
  }

  // operation returns an operation, which it starts if it is new.
  async #start(type, subType, name, more) {
    const id = this.#next();
    if (!this.#execution.operations.has(id)) {
      await this.#execution.checkpoint({ Id: id, ParentId: this.#parent, Name: name, Type: type, SubType: subType, Action: 'START', ...more });
    }
    const info = { id, name, type, subType, parentId: this.#parent };
    for (const p of this.#execution.plugins) await p.onOperationStart?.(info);
    return { id, info };
  }

  #of(id) { return this.#execution.operations.get(id); }

  async step(name, fn, { retryStrategy } = {}) { return this.#attempts(name, 'Step', () => fn, retryStrategy); }

  async #attempts(name, subType, body, retryStrategy) {
    const { id, info } = await this.#start('STEP', subType, name);
    const o = this.#of(id);
    if (o.Status === 'SUCCEEDED') return o.StepDetails.Result === undefined ? undefined : JSON.parse(o.StepDetails.Result);
    if (o.Status === 'FAILED') throw rebuilt(o.StepDetails.Error);
    if (o.Status === 'PENDING') throw suspended;
    const update = { Id: id, ParentId: this.#parent, Name: name, Type: 'STEP', SubType: subType };
    if (o.Status === 'READY') await this.#execution.checkpoint({ ...update, Action: 'START' });
    const attempt = (o.StepDetails?.Attempt ?? 0) + 1;
    let result;
    try {
      const fn = body(o.StepDetails?.Result === undefined ? undefined : JSON.parse(o.StepDetails.Result));
      result = await this.#run('wrapOperationAttemptFn', { ...info, attempt }, () => fn({ attempt }));
    } catch (error) {
      const { shouldRetry, delay } = retryStrategy?.(error, attempt) ?? { shouldRetry: false };
      await this.#execution.checkpoint({ ...update, Action: shouldRetry ? 'RETRY' : 'FAIL', Error: errorOf(error),
        ...(shouldRetry && { StepOptions: { NextAttemptDelaySeconds: delay.seconds } }) });
      if (shouldRetry) throw suspended;
      throw error;
    }
    const again = subType === 'WaitForCondition' ? retryStrategy(result) : { shouldContinue: false };
    await this.#execution.checkpoint({ ...update, Action: again.shouldContinue ? 'RETRY' : 'SUCCEED', Payload: JSON.stringify(result),
      ...(again.shouldContinue && { StepOptions: { NextAttemptDelaySeconds: again.delay.seconds } }) });
    if (again.shouldContinue) throw suspended;
    return result;
  }

  async waitForCondition(name, check, { initialState, waitStrategy }) {
    return this.#attempts(name, 'WaitForCondition', (state) => () => check(state ?? initialState), waitStrategy);
  }

  async wait(name, { seconds }) {
    const { id } = await this.#start('WAIT', 'Wait', name, { WaitOptions: { WaitSeconds: seconds } });
    if (this.#of(id).Status === 'STARTED') throw suspended;
  }

  async invoke(name, functionName, input) {
    const { id } = await this.#start('CHAINED_INVOKE', 'ChainedInvoke', name, { Payload: JSON.stringify(input),
      ChainedInvokeOptions: { FunctionName: functionName } });
    const o = this.#of(id);
    if (o.Status === 'STARTED') throw suspended;
    if (o.Status !== 'SUCCEEDED') throw rebuilt(o.ChainedInvokeDetails.Error);
    return JSON.parse(o.ChainedInvokeDetails.Result);
  }

  async waitForCallback(name, submitter, { timeout } = {}) {
    return this.#child(name, 'WaitForCallback', async (context) => context.#callback(submitter, timeout));
  }

  async #callback(submitter, timeout) {
    const { id } = await this.#start('CALLBACK', 'Callback', undefined, timeout && { CallbackOptions: { TimeoutSeconds: timeout.seconds } });
    await this.step(undefined, () => submitter(this.#of(id).CallbackDetails.CallbackId));
    const o = this.#of(id);
    if (o.Status === 'STARTED') throw suspended;
    if (o.Status !== 'SUCCEEDED') throw Object.assign(rebuilt(o.CallbackDetails.Error), { name: 'CallbackError' });
    return o.CallbackDetails.Result;
  }

  async runInChildContext(name, fn) { return this.#child(name, 'RunInChildContext', fn); }

  async #child(name, subType, fn) {
    const { id } = await this.#start('CONTEXT', subType, name);
    const o = this.#of(id);
    if (o.Status === 'SUCCEEDED') return o.ContextDetails.Result === undefined ? undefined : JSON.parse(o.ContextDetails.Result);
    if (o.Status === 'FAILED') throw rebuilt(o.ContextDetails.Error);
    const update = { Id: id, ParentId: this.#parent, Name: name, Type: 'CONTEXT', SubType: subType };
    try {
      const result = await fn(new Context(this.#execution, id + '-', id));
      await this.#execution.checkpoint({ ...update, Action: 'SUCCEED', Payload: JSON.stringify(result) });
      return result;
    } catch (error) {
      if (error !== suspended) await this.#execution.checkpoint({ ...update, Action: 'FAIL', Error: errorOf(error) });
      throw error;
    }
  }

  async map(name, items, fn) {
    return this.#child(name, 'Map', async (context) => {
      const results = [];
      let waits = false;
      for (const [i, item] of items.entries()) {
        try {
          results.push(await context.#child(`map-item-${i}`, 'MapIteration', (c) => fn(c, item, i)));
        } catch (error) {
          if (error !== suspended) throw error;
          waits = true;
        }
      }
      if (waits) throw suspended;
      return results;
    });
  }
}

export function withDurableExecution(handler) {
  const loading = load();
  return async (event) => {
    const url = `${process.env.AWS_ENDPOINT_URL}/2025-12-01/durable-executions/${encodeURIComponent(event.DurableExecutionArn)}/checkpoint`;
    const execution = { plugins: await loading, operations: new Map(), token: event.CheckpointToken };
    const merge = (operations) => { for (const o of operations ?? []) execution.operations.set(o.Id, o); };
    merge(event.InitialExecutionState.Operations);
    execution.checkpoint = async (update) => {
      const said = await post(url, { CheckpointToken: execution.token, Updates: [update] });
      execution.token = said.CheckpointToken;
      merge(said.NewExecutionState?.Operations);
    };
    const input = JSON.parse(event.InitialExecutionState.Operations[0].ExecutionDetails.InputPayload);
    const run = async () => {
      try {
        return { Status: 'SUCCEEDED', Result: JSON.stringify(await handler(input, new Context(execution, '', undefined))) };
      } catch (error) {
        return error === suspended ? { Status: 'PENDING' } : { Status: 'FAILED', Error: errorOf(error) };
      }
    };
    return execution.plugins.reduceRight((next, p) => () => (p.wrapInvocation ? p.wrapInvocation({}, next) : next()), run)();
  };
}
