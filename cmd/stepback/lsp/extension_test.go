package lsp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stepback/internal/browsertest"
)

// themes are the variables that VS Code sets in the pages of extensions: of its Dark Modern and Light Modern themes.
var themes = map[string]string{
	"dark": "--vscode-editor-background: #1f1f1f; --vscode-editor-foreground: #ccc; --vscode-editorWidget-background: #202020; " +
		"--vscode-descriptionForeground: #9d9d9d; --vscode-editorWidget-border: #454545; --vscode-sideBar-background: #181818; " +
		"--vscode-focusBorder: #0078d4; --vscode-errorForeground: #f85149",
	"light": "--vscode-editor-background: #fff; --vscode-editor-foreground: #3b3b3b; --vscode-editorWidget-background: #f8f8f8; " +
		"--vscode-descriptionForeground: #3b3b3b; --vscode-editorWidget-border: #c8c8c8; --vscode-sideBar-background: #f8f8f8; " +
		"--vscode-focusBorder: #005fb8; --vscode-errorForeground: #f85149",
}

// TestExtensionGraph shows the extension's page in Chromium, with the pictures that the server draws: the state at the
// cursor is marked, and a click on a state sends its name.
func TestExtensionGraph(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	const script = `process.stdout.write(require("../../../internal/release/vscode/src/page.js").page("n0nce"))`
	page, err := exec.CommandContext(t.Context(), node, "-e", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	for look, theme := range themes {
		t.Run(look, func(t *testing.T) {
			t.Parallel()
			ctx := browsertest.Start(t)
			// What VS Code adds to the page.
			host := `<style>:root { ` + theme + ` }</style>` +
				`<script nonce="n0nce">var sent; const acquireVsCodeApi = () => ({ postMessage(m) { sent = m } });</script>`
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(strings.Replace(string(page), "</head>", host+"</head>", 1)))
			}))
			t.Cleanup(server.Close)
			browsertest.Do(t, ctx, chromedp.EmulateViewport(700, 1000))
			browsertest.Do(t, ctx, chromedp.Navigate(server.URL))

			e := edits(t)
			const uri = "file:///work/pay.asl.yaml"
			e.opens(uri, navigable)
			shows := func(line uint32) {
				t.Helper()
				var got picture
				//nolint:contextcheck // ask has a context of its own
				if err := e.ask(methodGraph, place(uri, line, 20), &got); err != nil {
					t.Fatal(err)
				}
				message, err := json.Marshal(map[string]any{"svg": got.SVG, "state": got.State, "note": "no definition"})
				if err != nil {
					t.Fatal(err)
				}
				browsertest.Do(t, ctx, chromedp.Evaluate[bool](fmt.Sprintf(`window.postMessage(%s, "*") ?? true`, message)))
			}
			const here = `[...document.querySelectorAll("a.here")].map(a => a.getAttribute("href")).join() === `
			shows(2)
			browsertest.Until(t, ctx, here+`"#Pay"`)
			shows(10)
			browsertest.Until(t, ctx, here+`"#Each"`)
			browsertest.Screenshot(t, ctx, "extension-graph-"+look)
			browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.querySelector('a[href="#One"] rect').dispatchEvent(
				new MouseEvent("click", { bubbles: true, cancelable: true }))`))
			browsertest.Until(t, ctx, `sent?.state === "One"`)

			e.changes(uri, 2, map[string]any{"text": "StartAt: ["})
			shows(0)
			browsertest.Until(t, ctx, `document.querySelector("#note").textContent.includes("last valid version") &&
				document.querySelector("#graph.stale svg")`)
			browsertest.Screenshot(t, ctx, "extension-graph-stale-"+look)
		})
	}
}
