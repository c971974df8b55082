#!/usr/bin/env node
"use strict";
const fs = require("node:fs");
const { parseArgs } = require("node:util");
const { compatible } = require("@stepback/asl");
const validator = require("../index.cjs");

const usage = `Usage: asl-validator [options]

Amazon States Language validator

Options:
  -V, --version                        output the version number
  --json-definition <jsonDefinition>   JSON definition (default: [])
  --json-path <jsonPath>               JSON path (default: [])
  --yaml-definition <yamlDefinition>   YAML definition (default: [])
  --yaml-path <yamlPath>               YAML path (default: [])
  --silent                             silent mode
  --no-path-check                      skips checking path expressions
  --no-arn-check                       skips the arn check for Resource values
  -h, --help                           display help for command`;

const many = { type: "string", multiple: true, default: [] };
let options;
try {
  options = parseArgs({
    options: {
      "json-definition": many, "json-path": many, "yaml-definition": many, "yaml-path": many,
      silent: { type: "boolean" }, "no-path-check": { type: "boolean" }, "no-arn-check": { type: "boolean" },
      version: { type: "boolean", short: "V" }, help: { type: "boolean", short: "h" },
    },
  }).values;
} catch (e) {
  console.error(`error: ${e.message}`);
  process.exit(1);
}
if (options.version) {
  console.log(require("../package.json").version);
  process.exit(0);
}
if (options.help) {
  console.log(usage);
  process.exit(0);
}
const log = (...words) => options.silent || console.log(...words);
const error = (...words) => options.silent || console.error(...words);

/** Returns the exit status for one definition: 0, 1 if it is invalid, 2 if it cannot be read. */
function check(name, read, parse) {
  let definition;
  try {
    definition = parse(read());
  } catch (e) {
    error(`Unable to parse ${name}: ${e.message}`);
    return 2;
  }
  try {
    const result = validator(definition, { checkPaths: !options["no-path-check"], checkArn: !options["no-arn-check"] });
    if (result.isValid) {
      log(`✓ State machine definition "${name}" is valid`);
      return 0;
    }
    error(`✕ State machine definition "${name}" is invalid:\n`, result.errorsText());
    return 1;
  } catch (e) {
    error("Validator exception:", e);
    return 2;
  }
}

const statuses = [];
for (const [format, parse] of [["json", JSON.parse], ["yaml", compatible.parseYaml]]) {
  options[`${format}-definition`].forEach((text, i) =>
    statuses.push(check(`${format.toUpperCase()} definition #${i + 1}`, () => text, parse)));
  options[`${format}-path`].forEach((path) => statuses.push(check(path, () => fs.readFileSync(path, "utf8"), parse)));
}
if (statuses.length === 0) {
  log("No state machine to validate.");
  console.log(usage);
}
process.exit(Math.max(0, ...statuses));
