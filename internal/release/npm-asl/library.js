/**
 * An error of a function of this package: options that are not supported, or text that cannot be read at all. code is set
 * if AWS's API refuses the same, such as ValidationException.
 */
class AslError extends Error {
  constructor(message, code) {
    super(message);
    this.name = "AslError";
    if (code !== undefined) this.code = code;
  }
}

/** JSON of AWS's API is text. Another value is converted to its text. */
const json = (value) => (value === undefined || typeof value === "string" ? value : JSON.stringify(value));

/** Returns an object with the JSON of the given members converted to text. */
const texts = (object, ...members) => ({ ...object, ...Object.fromEntries(members.map((m) => [m, json(object[m])])) });

/** Converts the options of testState to the members of the API's request. */
function stateTest(options = {}) {
  const request = texts(options, "input", "context", "variables");
  if (options.mock) request.mock = texts(options.mock, "result");
  if (options.stateConfiguration) request.stateConfiguration = texts(options.stateConfiguration, "mapItemReaderData");
  return request;
}

/** @param {() => WebAssembly.Module} compile returns the module on the first call, or throws */
function library(compile) {
  let call;

  /** Prepares an instance. The module sees an object of its own as its global object, so nothing global is changed. */
  function prepare() {
    const bound = (name) => (typeof globalThis[name] === "function" ? globalThis[name].bind(globalThis) : undefined);
    const scope = Object.create(globalThis);
    // Accessors of a browser's window do not work through a prototype. fs, path and process are the stubs of wasm_exec.js.
    const own = {
      crypto: globalThis.crypto, performance: globalThis.performance, TextEncoder, TextDecoder,
      fetch: bound("fetch"), fs: undefined, path: undefined, process: undefined, stepbackCall: undefined,
    };
    for (const name of Object.keys(own)) {
      Object.defineProperty(scope, name, { value: own[name], writable: true, configurable: true });
    }
    const go = new (goRuntime(scope))();
    return {
      imports: go.importObject,
      run(instance) {
        go.run(instance); // registers stepbackCall before it returns
        call = scope.stepbackCall;
      },
    };
  }

  /** Starts an instance of a module at once. Browsers refuse this for large modules on a page's main thread. */
  function start(module) {
    const prepared = prepare();
    prepared.run(new WebAssembly.Instance(module, prepared.imports));
  }

  /** Starts an instance of a module asynchronously. */
  async function begin(module) {
    const prepared = prepare();
    prepared.run(await WebAssembly.instantiate(module, prepared.imports));
  }

  /** Calls a function of the module. Options with the value undefined count as not given. */
  function run(name, options, text) {
    if (typeof text !== "string") {
      throw new TypeError(`${name}: give the definition as text, not ${text === null ? "null" : typeof text}`);
    }
    if (call === undefined) start(compile());
    const { error, code, result } = call(name, JSON.stringify(options ?? {}), text);
    if (error !== undefined) throw new AslError(error, code);
    return JSON.parse(result);
  }

  /** Definitions are text or objects. */
  const textOf = (definition) =>
    typeof definition === "object" && definition !== null ? JSON.stringify(definition) : definition;

  return {
    start,
    begin,
    functions: {
      validate: (definition, options) => run("validate", options, textOf(definition)),
      review: (definition, options) => run("review", options, textOf(definition)),
      fix: (definition, options) => run("fix", options, textOf(definition)),
      graph: (definition, options) => run("graph", options, textOf(definition)),
      explain: (code) => run("explain", {}, code ?? ""),
      testState: (definition, options) => run("testState", stateTest(options), textOf(definition)),
    },
    // What the packages asl-validator and asl-path-validator have.
    compatible: {
      validateAsl: (definition, options) => run("aslValidator", options, JSON.stringify(definition)),
      validatePath: (path, context) => run("path", { context }, path),
      parseYaml: (text) => run("json", {}, text),
    },
  };
}
