"use strict";
const crypto = require("node:crypto");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { findCommand, only } = require("./command.js");
const { page } = require("./page.js");

const languages = ["json", "yaml", "asl", "yasl"];

let client;
let graph; // the panel, while it is open

function command() {
  const configured = vscode.workspace.getConfiguration("stepback").get("path");
  const folders = (vscode.workspace.workspaceFolders || []).map((f) => f.uri.fsPath);
  const found = findCommand(configured, folders);
  if (!found) {
    throw new Error(`The command ${configured || "stepback"} was not found. Install it (npm install --save-dev stepback, or see ` +
      "docs/install.md), or set stepback.path to it.");
  }
  return found;
}

async function start() {
  try {
    client = new LanguageClient("stepback", "stepback", { command: command(), args: ["lsp"] }, {
      documentSelector: languages.map((language) => ({ language })),
    });
    await client.start();
  } catch (err) {
    client = undefined;
    vscode.window.showErrorMessage(err.message);
  }
}

async function restart() {
  if (client) await client.stop().catch(() => {});
  await start();
}

// runTest runs a test of a file in a terminal, or all of its tests.
async function runTest(file, name) {
  const program = command();
  const document = vscode.workspace.textDocuments.find((d) => d.uri.fsPath === file);
  if (document && document.isDirty) await document.save();
  const further = vscode.workspace.getConfiguration("stepback").get("testArguments");
  const args = ["test", file, ...(name === undefined ? [] : ["--run", only(name)]), ...further];
  const scope = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) || vscode.TaskScope.Workspace;
  const task = new vscode.Task({ type: "process", command: program, args }, scope, name || "all tests", "stepback",
    new vscode.ProcessExecution(program, args));
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true, showReuseMessage: false };
  await vscode.tasks.executeTask(task);
}

class Graph {
  constructor(editor) {
    this.panel = vscode.window.createWebviewPanel("stepback.graph", "Graph", { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [] });
    this.panel.webview.html = page(crypto.randomBytes(16).toString("hex"));
    this.panel.webview.onDidReceiveMessage((message) => this.reveal(message.state));
    const subscriptions = [
      vscode.window.onDidChangeTextEditorSelection((e) => this.follow(e.textEditor, 50)),
      vscode.window.onDidChangeActiveTextEditor((e) => this.follow(e, 0)),
      vscode.workspace.onDidChangeTextDocument((e) => {
        const active = vscode.window.activeTextEditor;
        if (active && active.document === e.document) this.follow(active, 200);
      }),
    ];
    this.panel.onDidDispose(() => {
      clearTimeout(this.timer);
      for (const s of subscriptions) s.dispose();
      graph = undefined;
    });
    this.follow(editor, 0);
  }

  // follow shows the definition in an editor after a delay, in milliseconds, in which further changes may come.
  follow(editor, delay) {
    if (!editor || !languages.includes(editor.document.languageId)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(editor).catch((err) => client && client.error(err.message)), delay);
  }

  async show(editor) {
    if (!client || !graph) return;
    const document = editor.document;
    const shown = await client.sendRequest("stepback/graph", {
      textDocument: { uri: client.code2ProtocolConverter.asUri(document.uri) },
      position: client.code2ProtocolConverter.asPosition(editor.selection.active),
    });
    if (!graph) return; // closed meanwhile
    const same = this.uri === document.uri.toString();
    if (!shown.svg && !same && this.uri) return; // a file without a definition: the picture stays
    this.uri = document.uri.toString();
    if (shown.svg) {
      this.states = shown.states;
      this.panel.title = "Graph of " + shown.name;
    }
    this.panel.webview.postMessage({ svg: shown.svg, state: shown.state, note: "This file has no valid definition." });
  }

  async reveal(name) {
    const state = (this.states || []).find((s) => s.name === name);
    if (!state || !client) return;
    const range = client.protocol2CodeConverter.asRange(state.range);
    const open = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === this.uri);
    const editor = await vscode.window.showTextDocument(vscode.Uri.parse(this.uri), { viewColumn: open && open.viewColumn });
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

function showGraph() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return vscode.window.showInformationMessage("Open a definition first.");
  if (graph) {
    graph.panel.reveal(undefined, true);
    graph.follow(editor, 0);
  } else {
    graph = new Graph(editor);
  }
}

async function activate(context) {
  const guarded = (f) => (...args) => Promise.resolve().then(() => f(...args)).catch((err) => vscode.window.showErrorMessage(err.message));
  context.subscriptions.push(
    vscode.commands.registerCommand("stepback.showGraph", guarded(showGraph)),
    vscode.commands.registerCommand("stepback.runTest", guarded(runTest)),
    vscode.commands.registerCommand("stepback.restart", guarded(restart)),
    vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("stepback.path") && restart()),
  );
  await start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
