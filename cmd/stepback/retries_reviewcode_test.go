package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"stepback/cmd/stepback/exit"
)

// TestRetriesReviewOfCode reviews source files of durable functions, alone and beside definitions in a directory.
func TestRetriesReviewOfCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const sdk = "import { withDurableExecution, retryPresets } from '@aws/durable-execution-sdk-js';\n"
	pay := file("code/pay.ts", sdk+`export const handler = withDurableExecution(async (event: { id: string }, context) => {
  await fetch('https://example.com/' + event.id);
  await context.step('pay', async () => event.id, { retryStrategy: retryPresets.linear });
});`)
	clean := file("clean.mjs", sdk+"export const handler = withDurableExecution(async (e, c) => c.step('a', async () => 1));")
	wrong := file("wrong.js", sdk+"withDurableExecution(async (e, => 1)")
	plain := file("plain.js", "export const x = 1;")
	file("code/pay.test.ts", sdk+"withDurableExecution(")
	file("code/plain.go", "package code")

	stepback(t, "retries", "review", pay).ends(t, exit.Data,
		"pay.ts:3:9: error EFFECT_OUTSIDE_STEP: fetch is called again at every replay",
		"3 |   await fetch('https://example.com/' + event.id);", "= put it into a step",
		"pay.ts:4:68: warning STEP_NO_JITTER: executions that fail together retry together (at step pay)",
		"pay.ts: 1 error, 1 warning", "step pay        5         6           15s")
	stepback(t, "retries", "review", "--strict", clean).ends(t, 0, "clean.mjs: nothing found")
	stepback(t, "retries", "review", wrong).ends(t, exit.Data, `wrong.js:2:32: error SYNTAX_ERROR: Unexpected "=>"`,
		"wrong.js: has syntax errors, not reviewed")
	stepback(t, "retries", "review", plain).complains(t, exit.Usage, "plain.js: it has no durable function")
	stepback(t, "retries", "review", filepath.Join(dir, "code")).ends(t, exit.Data, "pay.ts: 1 error, 1 warning")

	s := stepback(t, "retries", "review", "--json", pay, clean)
	var all []struct {
		File, Result     string
		Diagnostics      []struct{ Code, Location string }
		States           []struct{ Retries, Attempts int }
		DurableFunctions int
	}
	if err := json.Unmarshal([]byte(s.out), &all); err != nil || len(all) != 2 || all[0].Result != "OK" ||
		all[0].Diagnostics[1].Location != "step pay" || all[0].States[0].Retries != 5 || all[1].DurableFunctions != 1 {
		t.Errorf("%v: %s", err, s.out)
	}
	stepback(t, "retries", "review", "--sarif", pay).ends(t, exit.Data, `"ruleId": "EFFECT_OUTSIDE_STEP"`, `"startLine": 3`,
		`"startColumn": 9`, `"id": "STEP_HIDDEN_LAYERS"`)
	stepback(t, "retries", "review", "--explain", "step_not_idempotent").ends(t, 0, "STEP_NOT_IDEMPOTENT (warning)", "AtMostOncePerRetry")
}
