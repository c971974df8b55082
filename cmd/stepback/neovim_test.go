package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// neovimSession is Lua that opens a definition in Neovim with stepback lsp, writes the answers to the file OUT, and
// leaves. It uses functions that Neovim has had since 0.7.
const neovimSession = `
local out, got = vim.env.OUT, {}
local function finish()
  local f = assert(io.open(out, "w"))
  f:write(vim.fn.json_encode(got))
  f:close()
  vim.cmd("qa!")
end
local ok, err = pcall(function()
  vim.cmd("edit " .. vim.env.DEFINITION)
  local id = assert(vim.lsp.start_client({ name = "stepback", cmd = { vim.env.COMMAND, "lsp" } }))
  vim.lsp.buf_attach_client(0, id)
  assert(vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20), "no diagnostics")
  got.diagnostics = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(got.diagnostics, d.lnum .. " " .. (d.code or (d.user_data or {}).lsp and d.user_data.lsp.code or ""))
  end
  local function ask(method, line, character, more)
    local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = character } }
    local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, more or {}), 30000)
    return answers[id].result
  end
  got.hover = ask("textDocument/hover", 7, 5).contents.value
  got.completion = {}
  for _, item in ipairs(ask("textDocument/completion", 8, 13)) do table.insert(got.completion, item.label) end
  vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", 8, 13, { newName = "Finish" }), "utf-16")
  got.renamed = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  got.client = vim.lsp.get_client_by_id(id).name
end)
if not ok then got.error = tostring(err) end
finish()
`

// TestNeovim edits a definition in headless Neovim, whose language client starts stepback lsp.
func TestNeovim(t *testing.T) {
	t.Parallel()
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed (apt-get install neovim)")
	}
	dir := t.TempDir()
	definition, script, out := filepath.Join(dir, "pay.asl.yaml"), filepath.Join(dir, "session.lua"), filepath.Join(dir, "out.json")
	text := `# pays
StartAt: Pay
States:
  Pay:
    Type: Task
    Resource: arn:aws:lambda:us-east-1:123456789012:function:pay
    TimeoutSeconds: 10
    Retry: [{ErrorEquals: [Busy], IntervalSeconds: 2, MaxAttempts: 3, BackoffRate: 2}]
    Next: Done
  Done: {Type: Succeed}
`
	for name, content := range map[string]string{definition: text, script: neovimSession} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+script)
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1", "COMMAND="+os.Args[0], "OUT="+out, "DEFINITION="+definition,
		"HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CACHE_HOME="+dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Error, Hover, Renamed, Client string
		Diagnostics, Completion       []string
	}
	if err := json.Unmarshal(written, &got); err != nil || got.Error != "" {
		t.Fatalf("%v %s", err, got.Error)
	}
	if !strings.Contains(strings.Join(got.Diagnostics, ","), "7 NO_JITTER") {
		t.Errorf("the diagnostics are %v", got.Diagnostics)
	}
	if !strings.Contains(got.Hover, "at most 54s in the state") {
		t.Errorf("the hover is %s", got.Hover)
	}
	if strings.Join(got.Completion, " ") != "Pay Done" {
		t.Errorf("the completions are %v", got.Completion)
	}
	if want := strings.NewReplacer("Next: Done", "Next: Finish", "  Done:", "  Finish:").Replace(strings.TrimSpace(text)); got.Renamed != want {
		t.Errorf("the renamed text is\n%s", got.Renamed)
	}
}
