"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { findCommand, only } = require("./command.js");
const { page } = require("./page.js");

test("findCommand", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "stepback-vscode-"));
  const file = (...parts) => {
    const name = path.join(folder, ...parts);
    fs.mkdirSync(path.dirname(name), { recursive: true });
    fs.writeFileSync(name, "");
    return name;
  };
  const inPath = file("bin", "stepback"), own = file("tools", "sb");
  const packaged = file("node_modules", "@stepback", "linux-x64", "bin", "stepback");
  const windows = file("node_modules", "@stepback", "win32-arm64", "bin", "stepback.exe");
  const PATH = ["", path.join(folder, "none"), path.join(folder, "bin")].join(path.delimiter);
  assert.equal(findCommand("stepback", [folder], { PATH }, "linux", "x64"), inPath);
  assert.equal(findCommand("", [folder], {}, "linux", "x64"), packaged);
  assert.equal(findCommand("stepback", [folder], { Path: "x" }, "win32", "arm64"), windows);
  assert.equal(findCommand("stepback", [folder], { PATH: "" }, "sunos", "x64"), undefined);
  assert.equal(findCommand("tools/sb", [folder], { PATH }, "linux", "x64"), own);
  assert.equal(findCommand(own, [], {}, "linux", "x64"), own);
  assert.equal(findCommand("tools", [folder], { PATH }, "linux", "x64"), undefined);
  fs.rmSync(folder, { recursive: true });
});

test("only", () => {
  assert.equal(only("pays 3 (of 4) $ [x]"), "^pays 3 \\(of 4\\) \\$ \\[x\\]$");
});

test("the page allows only its own script", () => {
  assert.match(page("n0nce"), /default-src 'none'.*script-src 'nonce-n0nce'/);
});
