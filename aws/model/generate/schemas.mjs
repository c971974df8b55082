// Prints the schemas of AWS's clients for JavaScript as JSON: node schemas.mjs PACKAGE_DIRECTORY… The directories are those
// of unpacked npm packages @aws-sdk/client-NAME. The output is the input of `generate -add`.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// The bits of a member's traits that are written as a number.
const bits = ['httpLabel', 'idempotent', 'idempotencyToken', 'sensitive', 'httpPayload', 'httpResponseCode', 'httpQueryParams'];

const simple = {
  0: { type: 'string' }, 1: { type: 'number' }, 2: { type: 'boolean' }, 4: { type: 'timestamp' },
  5: { type: 'timestamp', timestampFormat: 'iso8601' }, 6: { type: 'timestamp', timestampFormat: 'rfc822' },
  7: { type: 'timestamp', timestampFormat: 'unixTimestamp' }, 15: { type: 'document' }, 17: { type: 'number' }, 19: { type: 'number' },
  21: { type: 'blob' }, 42: { type: 'blob', streaming: true },
};
const listOf = 64;
const mapOf = 128;

function traitsOf(traits) {
  if (typeof traits !== 'number') return traits ?? {};
  return Object.fromEntries(bits.filter((_, i) => traits & (1 << i)).map((name) => [name, 1]));
}

// reference returns a member's or an element's schema: an inline one, or the name of a shape, which it adds to shapes.
function reference(schema, shapes) {
  if (typeof schema === 'function') return reference(schema(), shapes);
  if (typeof schema === 'number') {
    if (schema & mapOf) return { map: reference(schema & ~mapOf, shapes) };
    if (schema & listOf) return { list: reference(schema & ~listOf, shapes) };
    const found = simple[schema];
    if (!found) throw new Error(`unknown kind of simple schema ${schema}`);
    return found;
  }
  if (!Array.isArray(schema)) {
    if (schema === 'unit') return {};
    throw new Error(`unknown schema ${schema}`);
  }
  if (typeof schema[1] !== 'string') { // a schema with traits
    return { ...reference(schema[0], shapes), traits: traitsOf(schema[1]) };
  }
  const [kind, , name, traits, ...rest] = schema;
  if (kind === 0) return { ...reference(rest[0], shapes), traits: traitsOf(traits) };
  if (!(name in shapes)) {
    const made = shapes[name] = { kind, traits: traitsOf(traits) };
    if (kind === 1) made.element = reference(rest[0], shapes);
    if (kind === 2) [made.key, made.element] = rest.slice(0, 2).map((s) => reference(s, shapes));
    if (Math.abs(kind) === 3 || kind === 4) {
      made.members = rest[0].map((member, i) => ({ name: member, ...reference(rest[1][i], shapes) }));
      made.required = rest[0].slice(0, rest[2] ?? 0);
    }
  }
  return { shape: name };
}

async function schemasOf(directory) {
  const about = JSON.parse(fs.readFileSync(path.join(directory, 'package.json'), 'utf8'));
  const config = fs.readFileSync(path.join(directory, 'dist-es/runtimeConfig.shared.js'), 'utf8');
  const serviceId = /serviceId: [^"]*"([^"]*)"/.exec(config)[1];
  const operations = {};
  const shapes = {};
  const folder = path.join(directory, 'dist-es/schemas');
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.js'))) {
    // What a file imports are the classes of errors and the registry for them, which schemas do not need.
    const text = fs.readFileSync(path.join(folder, file), 'utf8').replace(/^import \{([^}]*)\} from [^;]*;$/gm, (_, names) =>
      names.split(',').map((name) => name.trim()).filter(Boolean)
        .map((name) => `class ${name} { register() {} registerError() {} }`).join('\n'));
    const copy = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'schemas-')), 'schemas.mjs');
    fs.writeFileSync(copy, text);
    try {
      for (const schema of Object.values(await import(pathToFileURL(copy).href))) {
        if (!Array.isArray(schema) || typeof schema[0] !== 'number') continue;
        const [kind, , name, traits, ...rest] = schema;
        if (kind === 9) {
          operations[name] = {
            traits: traitsOf(traits), input: reference(rest[0], shapes).shape, output: reference(rest[1], shapes).shape,
          };
        } else {
          reference(schema, shapes);
        }
      }
    } finally {
      fs.rmSync(path.dirname(copy), { recursive: true });
    }
  }
  return { package: about.name, version: about.version, serviceId, operations, shapes };
}

const all = [];
for (const directory of process.argv.slice(2)) all.push(await schemasOf(directory));
console.log(JSON.stringify(all));
