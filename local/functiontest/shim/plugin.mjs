// A plugin of AWS's durable execution SDK for JavaScript, which loads it by DURABLE_EXECUTION_PLUGINS. Before each attempt of
// a step it asks the test for a response, at STEPBACK_TEST; the step's own body runs only if the test has none.
import http from 'node:http';
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const test = new URL(process.env.STEPBACK_TEST);
const root = process.env.LAMBDA_TASK_ROOT || process.cwd();

function post(where, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: test.hostname, port: test.port, method: 'POST', path: where, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => { text += chunk; });
      response.on('end', () => (response.statusCode < 300 ? resolve(text ? JSON.parse(text) : undefined)
        : reject(new Error(`stepback test: ${where}: ${response.statusCode} ${text}`))));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

// The jitter of retries comes from Math.random: with a seed, it is the same in each run (mulberry32).
let state = Number(process.env.STEPBACK_TEST_SEED) >>> 0;
Math.random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

// exported returns what the handler's module and the CommonJS modules of the function export under a name, so that an error
// has the class that retry strategies compare.
async function exported(name) {
  const [, file] = /^((?:.*\/)?[^./]+)\./.exec(process.env._HANDLER || '') || [];
  const found = [];
  for (const end of file ? ['.js', '.mjs', '.cjs'] : []) {
    const at = path.resolve(root, file + end);
    if (!existsSync(at)) continue;
    try { found.push(await import(pathToFileURL(at).href)); } catch { /* it is loading, or has no such class */ }
    break;
  }
  for (const module of Object.values(createRequire(path.join(root, 'test.js')).cache || {})) found.push(module.exports);
  for (const module of found) {
    for (const from of [module, module?.default]) {
      const c = from?.[name];
      if (typeof c === 'function' && c.prototype instanceof Error) return c;
    }
  }
  const global = globalThis[name];
  return typeof global === 'function' && (global === Error || global.prototype instanceof Error) ? global : undefined;
}

async function failure(name, cause) {
  const error = Reflect.construct(Error, [cause ?? ''], (await exported(name)) ?? Error);
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  return error;
}

const contexts = new Map(); // by ID

// within returns the names of the contexts around an operation, from the outermost.
function within(info) {
  const names = [];
  for (let c = contexts.get(info.parentId); c; c = contexts.get(c.parentId)) if (c.name) names.unshift(c.name);
  return names;
}

class TestPlugin {
  async wrapInvocation(info, run) {
    await post('/hello', { sdk: 'javascript' });
    return run();
  }

  async onOperationStart(info) {
    if (info.type === 'CONTEXT') contexts.set(info.id, { name: info.name, parentId: info.parentId, subType: info.subType });
  }

  async wrapOperationAttemptFn(info, run) {
    const parent = contexts.get(info.parentId);
    const question = { name: info.name ?? '', kind: info.subType === 'WaitForCondition' ? 'condition' : 'step', within: within(info) };
    if (parent?.subType === 'WaitForCallback') Object.assign(question, { name: parent.name ?? '', kind: 'submitter' });
    const answer = await post('/step', question);
    if (answer.run) return run();
    if (answer.crash) process.exit(1);
    if (answer.error) throw await failure(answer.error, answer.cause);
    return answer.return;
  }
}

export const durableExecutionPluginProvider = { pluginApiVersion: 1, pluginType: TestPlugin, createPlugin: () => new TestPlugin() };
