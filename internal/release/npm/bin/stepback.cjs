#!/usr/bin/env node
"use strict";
const { spawn } = require("node:child_process");
const { binary } = require("../index.cjs");

let path;
try {
  path = binary();
} catch (err) {
  console.error(`stepback: ${err.message}`);
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to the child, too. The child decides when to end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
}
child.on("error", (err) => {
  console.error(`stepback: ${path} cannot be run (${err.message}): remove node_modules and install again`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
