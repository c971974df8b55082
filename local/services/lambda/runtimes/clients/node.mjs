// Runs a Node.js function of AWS Lambda: takes events from the Lambda Runtime API and answers them as AWS's own client does.

import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import fs from 'node:fs';
import util from 'node:util';
import { Writable } from 'node:stream';
import Module, { createRequire, register, syncBuiltinESMExports } from 'node:module';
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

const api = process.env.AWS_LAMBDA_RUNTIME_API;
const root = process.env.LAMBDA_TASK_ROOT || process.cwd();
const base = '/2018-06-01/runtime/';
const [host, port] = [api.slice(0, api.lastIndexOf(':')), api.slice(api.lastIndexOf(':') + 1)];
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let requestId = 'undefined';

// shown writes paths as they are on AWS.
function shown(text) {
  return text.replaceAll(path.join(root, 'runtime.js'), '/var/runtime/index.mjs').replaceAll(root, '/var/task')
    .replaceAll(import.meta.url, 'file:///var/runtime/index.mjs');
}

function call(method, where, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host, port, method, path: base + where, agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

// failure describes whatever was thrown.
function failure(thrown) {
  if (util.types.isNativeError(thrown) || thrown instanceof Error) {
    return {
      errorType: thrown.name || 'Error', errorMessage: shown(thrown.message),
      trace: shown(thrown.stack || '').split('\n'),
    };
  }
  return { errorType: typeof thrown, errorMessage: String(thrown), trace: [] };
}

class RuntimeError extends Error {
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

async function post(where, error) {
  await call('POST', where, JSON.stringify(error), {
    'Content-Type': 'application/json', 'Lambda-Runtime-Function-Error-Type': error.errorType,
  });
}

// Logging carries the time, the request's id and the level, as on AWS.
function patchConsole() {
  const levels = { log: 'INFO', info: 'INFO', debug: 'DEBUG', warn: 'WARN', error: 'ERROR', trace: 'TRACE' };
  for (const [method, level] of Object.entries(levels)) {
    console[method] = (...args) => {
      const text = util.format(...args).replaceAll('\n', '\r');
      fs.writeSync(1, `${new Date().toISOString()}\t${requestId}\t${level}\t${text}\n`);
    };
  }
}

// Custom resources of CloudFormation answer with PUT to a URL, and nearly all providers take its host and path only and
// use HTTPS. On this machine the answer goes to the endpoint itself, which speaks HTTP at a port of its own.
function answerHere() {
  const endpoint = process.env.AWS_ENDPOINT_URL;
  if (!endpoint?.startsWith('http:')) return;
  const here = new URL(endpoint);
  const secure = https.request;
  https.request = function request(...args) {
    const isURL = typeof args[0] === 'string' || args[0] instanceof URL;
    const url = isURL ? new URL(args[0]) : undefined;
    const options = (isURL ? typeof args[1] === 'object' && args[1] : args[0]) || {};
    const path = options.path || (url && url.pathname + url.search) || '';
    if (!path.startsWith('/_stepback/cloudformation/response/')) return secure.apply(https, args);
    return http.request({ method: options.method, headers: options.headers, hostname: here.hostname, port: here.port, path },
      args.findLast((a) => typeof a === 'function'));
  };
  syncBuiltinESMExports();
}

// What AWS's runtime brings along is asked for here, at the Runtime API: the answer is a directory, or why there is none.
const brought = /^(?:(?:@aws-sdk|@smithy|@aws-lambda-powertools)\/[a-z0-9-]+|aws-sdk(?=$|\/))/;
const ask = `function ask(name) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: ${JSON.stringify(host)}, port: ${JSON.stringify(port)}, method: 'POST',
      path: '/stepback/packages' }, (response) => {
      let text = '';
      response.on('data', (chunk) => { text += chunk; });
      response.on('end', () => resolve({ found: response.statusCode === 200, text }));
    });
    request.on('error', reject);
    request.end(name);
  });
}`;

// reasonOf is what a refusal says.
const reasonOf = `function reasonOf(text) {
  try { return JSON.parse(text).errorMessage; } catch { return text; }
}`;

// fetchForRequire has require find the packages of AWS's runtime. It waits in another process, for require cannot.
function fetchForRequire() {
  const resolveFilename = Module._resolveFilename;
  const asked = new Set();
  Module._resolveFilename = function resolve(request, ...rest) {
    try {
      return resolveFilename.call(this, request, ...rest);
    } catch (error) {
      const name = brought.exec(request)?.[0];
      if (error?.code !== 'MODULE_NOT_FOUND' || !name || asked.has(request)) throw error;
      asked.add(request);
      const script = `const http = require('node:http'); ${ask}; ${reasonOf};
        ask(process.argv[1]).then((a) => console.log(JSON.stringify({ found: a.found, text: a.found ? a.text : reasonOf(a.text) })))`;
      const run = spawnSync(process.execPath, ['-e', script, name], { encoding: 'utf8', env: {} });
      let answer = { found: false, text: run.stderr };
      try { answer = JSON.parse(run.stdout); } catch { /* as it is */ }
      if (!answer.found) throw Object.assign(error, { message: error.message + '\n' + answer.text });
      return createRequire(path.join(answer.text, 'require.js')).resolve(request);
    }
  };
}

// pointOldSDK gives version 2 of the SDK the endpoint of AWS_ENDPOINT_URL, which it does not read.
function pointOldSDK() {
  const load = Module._load;
  Module._load = function loadAndPoint(request, ...rest) {
    const loaded = load.call(this, request, ...rest);
    const endpoint = process.env.AWS_ENDPOINT_URL;
    if (endpoint && /^aws-sdk($|\/)/.test(request)) {
      const config = load.call(this, 'aws-sdk/global', ...rest)?.config;
      if (config && !config.endpoint) config.update({ endpoint, s3ForcePathStyle: true });
    }
    return loaded;
  };
}

// fetchForImport does for import what fetchForRequire does for require.
function fetchForImport() {
  register?.('data:text/javascript,' + encodeURIComponent(`import http from 'node:http';
    import { pathToFileURL } from 'node:url';
    ${ask}
    ${reasonOf}
    export async function resolve(specifier, context, next) {
      try { return await next(specifier, context); } catch (error) {
        const name = ${brought}.exec(specifier)?.[0];
        if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !name) throw error;
        const answer = await ask(name);
        if (!answer.found) throw Object.assign(error, { message: error.message + '\\n' + reasonOf(answer.text) });
        return next(specifier, { ...context, parentURL: pathToFileURL(answer.text + '/import.js').href });
      }
    }`));
}

// alsoByPath has imports of ES modules look into NODE_PATH, too, as require does: AWS's runtime has its SDK there for both.
function alsoByPath() {
  const folders = (process.env.NODE_PATH || '').split(path.delimiter).filter(Boolean);
  if (!folders.length || !register) return;
  const parents = folders.map((folder) => pathToFileURL(path.join(path.dirname(folder), 'import.js')).href);
  register('data:text/javascript,' + encodeURIComponent(`export async function resolve(specifier, context, next) {
    try { return await next(specifier, context); } catch (error) {
      if (!/^[@a-z]/i.test(specifier)) throw error;
      for (const parentURL of ${JSON.stringify(parents)}) {
        try { return await next(specifier, { ...context, parentURL }); } catch { /* the next one may have it */ }
      }
      throw error;
    }
  }`));
}

// load finds the handler "dir/file.function": an ES module or a CommonJS one, as its name and package.json say.
async function load(name) {
  const slash = name.lastIndexOf('/') + 1;
  const match = /^([^.]*)\.(.+)$/.exec(name.slice(slash));
  if (!match || name.includes('..')) {
    throw new RuntimeError('Runtime.MalformedHandlerName', 'Bad handler');
  }
  const file = path.resolve(root, name.slice(0, slash), match[1]);
  const module = await loadModule(file, name.slice(0, slash) + match[1]);
  let found = module;
  for (const part of match[2].split('.')) found = found?.[part];
  if (found === undefined && module.default) {
    found = module.default;
    for (const part of match[2].split('.')) found = found?.[part];
  }
  if (found === undefined) {
    throw new RuntimeError('Runtime.HandlerNotFound', `${name.slice(slash)} is undefined or not exported`);
  }
  if (typeof found !== 'function') {
    throw new RuntimeError('Runtime.HandlerNotFound', `${name.slice(slash)} is not a function`);
  }
  return found;
}

async function loadModule(file, name) {
  const require = createRequire(path.join(root, 'runtime.js'));
  try {
    for (const end of ['.js', '.mjs', '.cjs']) {
      if (!fs.existsSync(file + end)) continue;
      if (end === '.cjs' || end === '.js' && !isModule(path.dirname(file))) return require(file + end);
      return await import(pathToFileURL(file + end).href);
    }
    return require(file);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw Object.assign(new RuntimeError('Runtime.UserCodeSyntaxError', String(error)), { stack: error.stack });
    }
    if (error?.code === 'MODULE_NOT_FOUND' || error?.code === 'ERR_MODULE_NOT_FOUND') {
      const message = String(error).replace(file, name);
      throw Object.assign(new RuntimeError('Runtime.ImportModuleError', message), { stack: error.stack });
    }
    throw error;
  }
}

// isModule looks for the package.json that says what .js files in a directory are.
function isModule(directory) {
  for (let at = directory; ; at = path.dirname(at)) {
    const file = path.join(at, 'package.json');
    if (fs.existsSync(file)) {
      try {
        return JSON.parse(fs.readFileSync(file, 'utf8')).type === 'module';
      } catch {
        return false;
      }
    }
    if (at === root || at === path.dirname(at)) return false;
  }
}

function contextOf(headers, finish) {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  const client = headers['lambda-runtime-client-context'];
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME, functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME, logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    awsRequestId: headers['lambda-runtime-aws-request-id'], invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    clientContext: client ? JSON.parse(client) : undefined, identity: undefined,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: finish, succeed: (result) => finish(null, result), fail: (error) => finish(error ?? new Error('null')),
  };
}

// whenIdle is called when the invocation has not been answered and nothing is left that could.
let whenIdle = null;

// invoke calls an async handler, or one that answers by its callback. What a handler returns that is neither is not its answer.
function invoke(handler, headers, event) {
  return new Promise((resolve, reject) => {
    const finish = (error, result) => (error === null || error === undefined ? resolve(result) : reject(error));
    const result = handler(event, contextOf(headers, finish), finish);
    if (typeof result?.then === 'function') result.then(resolve, reject);
    whenIdle = () => resolve(null);
  });
}

// Handlers that write their response, as awslambda.streamifyResponse marks them.
const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');
const marked = Symbol.for('aws.lambda.runtime.handler.streaming.highWaterMark');
const prelude = Symbol('prelude');

globalThis.awslambda = {
  streamifyResponse(handler, options) {
    handler[streaming] = 'response';
    if (typeof options?.highWaterMark === 'number') handler[marked] = options.highWaterMark;
    return handler;
  },
  HttpResponseStream: {
    from(stream, metadata) {
      stream.setContentType('application/vnd.awslambda.http-integration-response');
      stream[prelude] = Buffer.concat([Buffer.from(JSON.stringify(metadata)), Buffer.alloc(8)]);
      return stream;
    },
  },
};

// ResponseStream sends what is written to it as the response of an invocation. The request begins with the first bytes, or
// with the end. Afterwards an error is in the trailers.
class ResponseStream extends Writable {
  #id;
  #request;
  #contentType = 'application/octet-stream';
  #answered;
  #ending = false;

  constructor(id, highWaterMark) {
    super(highWaterMark === undefined ? {} : { highWaterMark });
    this.#id = id;
  }

  get begun() { return this.#request !== undefined; }

  setContentType(type) {
    if (this.begun) throw new RuntimeError('InvalidStreamingOperation', 'Cannot set content-type, too late.');
    this.#contentType = type;
  }

  #begin() {
    this.#answered = new Promise((resolve, reject) => {
      this.#request = http.request({
        host, port, method: 'POST', path: `${base}invocation/${this.#id}/response`, agent,
        headers: {
          'Content-Type': this.#contentType, 'Lambda-Runtime-Function-Response-Mode': 'streaming',
          'Transfer-Encoding': 'chunked', Trailer: 'Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body',
        },
      }, (response) => {
        response.resume();
        response.on('end', resolve);
        response.on('error', reject);
      });
      this.#request.on('error', reject);
      // A response that the handler never ends must not keep the process from being idle, when it is ended for it.
      this.#request.on('socket', (socket) => { if (!this.#ending) socket.unref(); });
    });
    this.#answered.catch(() => {}); // reported by whoever waits for it
    if (this[prelude]) this.#request.write(this[prelude]);
  }

  _write(chunk, encoding, done) {
    if (!this.begun) this.#begin();
    this.#request.write(chunk, done);
  }

  _final(done) {
    if (!this.begun) this.#begin();
    this.#end();
    this.#answered.then(() => done(), done);
  }

  // breakOff ends a response that has begun with an error.
  async breakOff(error) {
    this.#request.addTrailers({
      'Lambda-Runtime-Function-Error-Type': error.errorType,
      'Lambda-Runtime-Function-Error-Body': Buffer.from(JSON.stringify(error)).toString('base64'),
    });
    this.#end();
    await this.#answered;
  }

  #end() {
    this.#ending = true;
    this.#request.socket?.ref();
    this.#request.end();
  }
}

// broken ends the running streamed response with an error. It returns false if no response has begun.
let broken = async () => false;

async function answerStreaming(handler, headers, event) {
  const response = new ResponseStream(headers['lambda-runtime-aws-request-id'], handler[marked]);
  broken = async (error) => {
    if (!response.begun || response.writableFinished) return false;
    await response.breakOff(error);
    return true;
  };
  await new Promise((resolve, reject) => {
    response.on('finish', resolve);
    response.on('error', reject);
    whenIdle = () => response.end();
    Promise.resolve(handler(event, response, contextOf(headers, () => {}))).then((result) => {
      if (result !== undefined) console.warn('Streaming handlers ignore return values.');
    }).catch(reject);
  });
}

async function answer(handler, headers, body) {
  const id = headers['lambda-runtime-aws-request-id'];
  broken = async () => false;
  try {
    const event = JSON.parse(body);
    if (handler[streaming] === 'response') {
      await answerStreaming(handler, headers, event);
      whenIdle = null;
      return;
    }
    const result = await invoke(handler, headers, event);
    whenIdle = null;
    const text = JSON.stringify(result === undefined ? null : result);
    await call('POST', `invocation/${id}/response`, text, { 'Content-Type': 'application/json' });
  } catch (thrown) {
    whenIdle = null;
    const error = failure(thrown);
    console.error('Invoke Error \t' + JSON.stringify({ ...error, stack: error.trace, trace: undefined }));
    if (!await broken(error)) await post(`invocation/${id}/error`, error);
  }
}

async function uncaught(kind, thrown) {
  const error = { ...failure(thrown), errorType: kind };
  if (kind === 'Runtime.UnhandledPromiseRejection') error.errorMessage = String(thrown);
  console.error(JSON.stringify(error));
  if (!await broken(error)) {
    await post(requestId === 'undefined' ? 'init/error' : `invocation/${requestId}/error`, error);
  }
  process.exit(requestId === 'undefined' ? 1 : 128);
}

async function main() {
  patchConsole();
  alsoByPath();
  fetchForRequire();
  pointOldSDK();
  fetchForImport(); // last: what is registered last is asked first, and asks the others
  answerHere();
  process.chdir(root);
  process.on('beforeExit', () => whenIdle?.());
  process.on('uncaughtException', (error) => uncaught('Runtime.UncaughtException', error));
  process.on('unhandledRejection', (error) => uncaught('Runtime.UnhandledPromiseRejection', error));
  let handler;
  try {
    handler = await load(process.env._HANDLER || '');
  } catch (thrown) {
    const error = failure(thrown);
    console.error(JSON.stringify(error));
    await post('init/error', error);
    process.exit(1);
  }
  for (;;) {
    const next = await call('GET', 'invocation/next');
    if (next.status !== 200) process.exit(1);
    requestId = next.headers['lambda-runtime-aws-request-id'];
    process.env._X_AMZN_TRACE_ID = next.headers['lambda-runtime-trace-id'] ?? '';
    await answer(handler, next.headers, next.body);
  }
}

await main();
