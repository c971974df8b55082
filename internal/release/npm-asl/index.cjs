"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { library, AslError } = require("./library.cjs");

const file = path.join(__dirname, "asl.wasm");
const damaged = (err) => {
  throw new AslError(`${file} is damaged or missing (${err.code ?? err.message}): install @stepback/asl again`);
};

const { start, functions, compatible } = library(() => {
  try {
    return new WebAssembly.Module(fs.readFileSync(file));
  } catch (err) {
    damaged(err);
  }
});

/** Starts the module now, so that the first call of a function does not. */
async function load(module) {
  start(module ?? (await fs.promises.readFile(file).then((bytes) => WebAssembly.compile(bytes)).catch(damaged)));
}

module.exports = { load, AslError, ...functions, compatible };
