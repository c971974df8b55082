"use strict";

// The page of the graph. It shows the pictures that the extension sends, marks the state at the cursor, and sends the
// state that was clicked. Colours are those of the editor's theme.
function page(nonce) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<title>Graph</title>
<style>
body { margin: 0; padding: 8px; background: var(--vscode-editor-background); color: var(--vscode-editor-foreground); }
#note { font: var(--vscode-font-size, 13px) var(--vscode-font-family, sans-serif); color: var(--vscode-descriptionForeground); min-height: 1.4em; }
#graph.stale { opacity: 0.5; }
#graph svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
body .sb-graph {
  --sb-card: var(--vscode-editorWidget-background, #fff); --sb-ink: var(--vscode-editor-foreground, #1f2328); --sb-dim: var(--vscode-descriptionForeground, #59636e);
  --sb-edge: var(--vscode-descriptionForeground, #8c959f); --sb-line: var(--vscode-editorWidget-border, #888); --sb-box: var(--vscode-sideBar-background, #f6f8fa);
  --sb-bad: var(--vscode-errorForeground, #c4232b); --sb-run: var(--vscode-focusBorder, #0969da); --sb-under: var(--vscode-editor-background, #fff);
}
body .sb-graph > .ground { fill: var(--vscode-editor-background, #fff); }
body .sb-graph a { cursor: pointer; }
body .sb-graph a.here > .node > rect { stroke: var(--vscode-focusBorder, #0969da); stroke-width: 3; }
</style>
</head>
<body>
<div id="note" role="status"></div>
<div id="graph"></div>
<script nonce="${nonce}">
const editor = acquireVsCodeApi();
const graph = document.getElementById("graph"), note = document.getElementById("note");
let shown = "";
window.addEventListener("message", ({ data }) => {
  if (data.svg && data.svg !== shown) graph.innerHTML = shown = data.svg;
  graph.classList.toggle("stale", !data.svg);
  note.textContent = data.svg ? "" : shown ? "The definition has errors: this is its last valid version." : data.note;
  for (const a of graph.querySelectorAll("a")) {
    const here = data.state !== undefined && a.getAttribute("href") === "#" + encodeState(data.state);
    if (here && !a.classList.contains("here")) a.scrollIntoView({ block: "nearest" });
    a.classList.toggle("here", here);
  }
});
graph.addEventListener("click", (event) => {
  const a = event.target.closest("a");
  if (!a) return;
  event.preventDefault();
  editor.postMessage({ state: decodeURIComponent(a.getAttribute("href").slice(1)) });
});
function encodeState(name) {
  for (const a of graph.querySelectorAll("a")) {
    const href = a.getAttribute("href").slice(1);
    if (decodeURIComponent(href) === name) return href;
  }
  return "";
}
</script>
</body>
</html>`;
}

module.exports = { page };
