// Copies the repository's pages into the source directory of the site, and the library @stepback/asl for the page that
// checks definitions in the browser. Links between pages stay; links to code and directories lead to the repository.
// usage: node prepare.mjs ROOT OUT WASM WASM_EXEC REPOSITORY
import fs from "node:fs";
import path from "node:path";

const [root, out, wasm, wasmExec, repository] = process.argv.slice(2);

// The pages by their place in the repository, with their place in the site.
const pages = new Map([["README.md", "intro.md"], ["docs/README.md", "pages.md"]]);
for (const name of ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/RESULTS.md"]) pages.set(name, path.basename(name));
for (const dir of ["docs", "docs/decisions"]) {
  for (const name of fs.readdirSync(path.join(root, dir)).filter((n) => n.endsWith(".md"))) {
    const file = `${dir}/${name}`;
    if (!pages.has(file)) pages.set(file, file.slice("docs/".length).replace(/README\.md$/, "index.md"));
  }
}

function link(from, target) {
  if (/^([a-z]+:|#|\/\/)/i.test(target)) return target;
  const [name, anchor] = target.split("#");
  const file = path.posix.normalize(path.posix.join(path.posix.dirname(from), name));
  const to = pages.get(file) ?? pages.get(`${file}/README.md`);
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (to !== undefined) return path.posix.relative(path.posix.dirname(pages.get(from)) || ".", to) + hash || hash;
  if (/\.(svg|png)$/.test(file)) {
    fs.mkdirSync(path.join(out, "pictures"), { recursive: true });
    fs.copyFileSync(path.join(root, file), path.join(out, "pictures", path.basename(file)));
    const up = path.posix.relative(path.posix.dirname(pages.get(from)), ".") || ".";
    return `${up}/pictures/${path.basename(file)}`;
  }
  if (!fs.existsSync(path.join(root, file))) throw new Error(`${from} links to ${target}, which does not exist`);
  return `${repository}/tree/main/${file}${hash}`;
}

for (const [file, to] of pages) {
  let fenced = false;
  const text = fs.readFileSync(path.join(root, file), "utf8").split("\n").map((line) => {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    if (fenced) return line;
    return line.replace(/<!--.*?-->/g, "").replace(/\]\(([^()\s]+)\)/g, (_, target) => `](${link(file, target)})`);
  }).join("\n");
  fs.mkdirSync(path.dirname(path.join(out, to)), { recursive: true });
  fs.writeFileSync(path.join(out, to), `---\neditLink: false\n---\n\n<!-- ${file} -->\n\n${text}`.replace(/\n<!-- .* -->\n/, "\n"));
}

// The library: Go's wasm_exec.js inside a function, so that it changes no global variable.
const library = path.join(out, "public", "asl");
fs.mkdirSync(library, { recursive: true });
const source = path.join(root, "internal/release/npm-asl");
const code = `function goRuntime(globalThis) {\nconst fs = { writeSync: (fd, bytes) => globalThis.fs.writeSync(fd, bytes) };\n` +
  `${fs.readFileSync(wasmExec, "utf8")}\nreturn globalThis.Go;\n}\n\n${fs.readFileSync(path.join(source, "library.js"), "utf8")}`;
fs.writeFileSync(path.join(library, "library.mjs"), `${code}\nexport { library, AslError };\n`);
fs.copyFileSync(path.join(source, "browser.mjs"), path.join(library, "browser.mjs"));
fs.copyFileSync(wasm, path.join(library, "asl.wasm"));
fs.copyFileSync(path.join(root, "docs/examples/order-saga/order-saga.asl.json"), path.join(out, "public", "example.asl.json"));

// The pages of the site itself.
const own = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
for (const name of ["index.md", "try.md", "Try.vue"]) fs.copyFileSync(path.join(own, name), path.join(out, name));
