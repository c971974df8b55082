"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { library, AslError } = require("./library.cjs");

const { start, functions, compatible } = library(() => new WebAssembly.Module(fs.readFileSync(path.join(__dirname, "asl.wasm"))));

/** Starts the module now, so that the first call of a function does not. */
async function load(module) {
  start(module ?? (await WebAssembly.compile(await fs.promises.readFile(path.join(__dirname, "asl.wasm")))));
}

module.exports = { load, AslError, ...functions, compatible };
