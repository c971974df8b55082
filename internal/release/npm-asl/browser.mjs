import { library, AslError } from "./library.mjs";

const { begin, functions } = library(() => {
  throw new AslError("await load() before the first call: a browser loads WebAssembly asynchronously");
});

/** Loads the module: from asl.wasm beside this file, or from a URL, a Response, bytes or a compiled module. */
export async function load(from = new URL("./asl.wasm", import.meta.url)) {
  if (from instanceof WebAssembly.Module) return begin(from);
  if (typeof from === "string" || from instanceof URL) from = await fetch(from);
  if (typeof Response !== "undefined" && from instanceof Response) {
    if (!from.ok) throw new AslError(`${from.url}: HTTP status ${from.status}`);
    from = await from.arrayBuffer(); // works with every content type
  }
  await begin(await WebAssembly.compile(from));
}

export { AslError };
export const { validate, review, fix, graph, explain, testState } = functions;
