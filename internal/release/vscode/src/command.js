"use strict";
const fs = require("node:fs");
const path = require("node:path");

// findCommand returns the program to run: the configured one, else stepback in PATH, else the binary of the npm package in
// one of the folders. It returns undefined if there is none.
function findCommand(configured, folders, env = process.env, platform = process.platform, arch = process.arch) {
  const exe = platform === "win32" ? ".exe" : "";
  const is = (file) => fs.existsSync(file) && fs.statSync(file).isFile();
  if (configured && configured !== "stepback") {
    if (path.isAbsolute(configured)) return is(configured) ? configured : undefined;
    for (const folder of folders) {
      const file = path.join(folder, configured);
      if (is(file)) return file;
    }
    return undefined;
  }
  const variable = Object.keys(env).find((name) => name.toUpperCase() === "PATH");
  for (const folder of (variable ? env[variable] : "").split(path.delimiter)) {
    const file = path.join(folder, "stepback" + exe);
    if (folder && is(file)) return file;
  }
  for (const folder of folders) {
    const file = path.join(folder, "node_modules", "@stepback", `${platform}-${arch}`, "bin", "stepback" + exe);
    if (is(file)) return file;
  }
  return undefined;
}

// only returns the value of stepback test --run that matches just the test with this name.
function only(name) {
  return "^" + name.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&") + "$";
}

module.exports = { findCommand, only };
