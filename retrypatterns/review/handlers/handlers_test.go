package handlers_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"stepback/retrypatterns/review/handlers"
)

// reviewed returns the findings of a file as lines LINE:COLUMN CODE MESSAGE.
func reviewed(t *testing.T, name, text string) ([]string, handlers.Report) {
	t.Helper()
	r, err := handlers.Review(name, text)
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, 0, len(r.Findings))
	for _, d := range r.Findings {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Code, d.Message)))
	}
	return lines, r
}

func expect(t *testing.T, name, text string, want ...string) handlers.Report {
	t.Helper()
	got, r := reviewed(t, name, text)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	return r
}

// sample reads a file of testdata.
func sample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSamplesInTypeScript(t *testing.T) {
	t.Parallel()
	r := expect(
		t,
		"orders.ts",
		sample(t, "orders.ts"),
		`19:9 EFFECT_OUTSIDE_STEP fetch, reached from line 25, is called again at every replay`,
		`19:9 STEP_NOT_IDEMPOTENT fetch, reached from line 41, may be done twice: the step runs at least once, and makes up to 6 attempts`,
		`23:14 DIFFERS_IN_REPLAY randomUUID differs at every replay`,
		`24:17 DIFFERS_IN_REPLAY Date.now differs at every replay`,
		`26:9 EFFECT_OUTSIDE_STEP fs/promises.writeFile is called again at every replay`,
		`27:88 STEP_RETRIES_UNBOUNDED the strategy never declines a retry`,
		`27:88 STEP_NO_JITTER executions that fail together retry together`,
		`29:11 STEP_NOT_IDEMPOTENT axios.post may be done twice: the step runs at least once, and makes up to 4 attempts`,
		`30:23 STEP_NO_JITTER executions that fail together retry together`,
		`32:11 STEP_NOT_IDEMPOTENT sqs:sendMessage may be done twice: the step runs at least once, and makes up to 6 attempts`,
		`32:11 STEP_HIDDEN_LAYERS up to 18 calls of sqs:sendMessage: the step makes up to 6 attempts, the AWS SDK 3 of each`,
		`35:11 STEP_NOT_IDEMPOTENT dynamodb:updateItem may be done twice: the step makes up to 6 attempts`,
		`36:68 STEP_NO_JITTER executions that fail together retry together`,
		`38:20 STEP_RETRIES_UNBOUNDED 1000 attempts are practically without a limit`,
		`41:11 STEP_RETRIES_MULTIPLY the step makes up to 6 attempts in each attempt of withRetry ship, which makes up to 5 attempts`,
		`41:40 STEP_RETRIES_MULTIPLY p-retry retries inside a step that makes up to 6 attempts`,
		`43:3 STEP_RETRIES_UNBOUNDED the loop repeats its steps until one succeeds`,
		`45:13 STEP_RETRIES_MULTIPLY the step makes up to 6 attempts in each round of the loop on line 43, which repeats it until it succeeds`,
		`48:19 DIFFERS_IN_REPLAY new Date() differs at every replay`,
		`52:11 OPERATION_IN_STEP context.step is in the body of a step`,
	)
	steps(
		t,
		r,
		"step price -1/-1 0s",
		"step charge 3/4 35s",
		"step queue 5/6 2m15s",
		"step count 5/6 15s",
		"step 999/1000 70h47m30s",
		"step ship 5/30 2m15s",
		"step poll 5/-1 2m15s",
	)
	if want := []string{"price of ./prices.js"}; r.Functions != 1 || !slices.Equal(r.NotFollowed, want) {
		t.Errorf("%d functions, not followed: %q, want %q", r.Functions, r.NotFollowed, want)
	}
}

func TestSamplesInGo(t *testing.T) {
	t.Parallel()
	r := expect(
		t,
		"orders.go",
		sample(t, "orders.go"),
		`24:12 EFFECT_OUTSIDE_STEP http.Post, reached from line 35, is called again at every replay`,
		`24:12 STEP_NOT_IDEMPOTENT http.Post, reached from line 63, may be done twice: the step runs at least once, and makes up to 1000 attempts`,
		`33:8 DIFFERS_IN_REPLAY uuid.NewString differs at every replay`,
		`34:11 DIFFERS_IN_REPLAY time.Now differs at every replay`,
		`38:6 EFFECT_OUTSIDE_STEP os.WriteFile is called again at every replay`,
		`41:23 STEP_RETRIES_UNBOUNDED the strategy never declines a retry`,
		`41:23 STEP_NO_JITTER executions that fail together retry together`,
		`47:21 STEP_NO_JITTER executions that fail together retry together`,
		`50:19 STEP_NOT_IDEMPOTENT http.NewRequestWithContext may be done twice: the step makes up to 4 attempts`,
		`58:13 STEP_NOT_IDEMPOTENT sqs:sendMessage may be done twice: the step runs at least once, and makes up to 6 attempts`,
		`58:13 STEP_HIDDEN_LAYERS up to 18 calls of sqs:sendMessage: the step makes up to 6 attempts, the AWS SDK 3 of each`,
		`62:10 STEP_RETRIES_MULTIPLY the step makes up to 1000 attempts in each attempt of Retry ship, which makes up to 6 attempts`,
		`63:11 STEP_RETRIES_MULTIPLY backoff.Retry retries inside a step that makes up to 1000 attempts`,
		`64:24 STEP_RETRIES_UNBOUNDED 1000 attempts are practically without a limit`,
		`64:24 STEP_NO_JITTER executions that fail together retry together`,
		`66:2 STEP_RETRIES_UNBOUNDED the loop repeats its steps until one succeeds`,
		`67:13 STEP_RETRIES_MULTIPLY the step makes up to 6 attempts in each round of the loop on line 66, which repeats it until it succeeds`,
		`71:3 DIFFERS_IN_REPLAY the order of goroutines differs at every replay`,
		`71:18 DIFFERS_IN_REPLAY rand.IntN differs at every replay`,
		`74:10 OPERATION_IN_STEP durable.Step is in the body of a step`,
	)
	steps(
		t,
		r,
		"Step price -1/-1 0s",
		"Step charge 3/4 35s",
		"Step queue 5/6 2m15s",
		"Step ship 999/6000 70h47m30s",
		"Step poll 5/-1 2m15s",
	)
	if want := []string{"Of of example.com/shop/prices"}; r.Functions != 1 || !slices.Equal(r.NotFollowed, want) {
		t.Errorf("%d functions, not followed: %q, want %q", r.Functions, r.NotFollowed, want)
	}
}

func TestCleanFunctions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"clean.ts", "clean.mjs", "clean.go"} {
		if r := expect(t, name, sample(t, name)); r.Functions != 1 {
			t.Errorf("%s: %d functions", name, r.Functions)
		}
	}
}

func TestNoFunction(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a.ts": "export const x: number = 1", "b.go": "package b\n",
		"bundle.js": "// node_modules/@aws/durable-execution-sdk-js/dist/index.mjs\nfunction f(c) { c.step('a', g); Date.now() }",
		"types.ts":  "import { DurableContext } from '@aws/durable-execution-sdk-js';\nexport interface A { context: DurableContext }",
		"c.js":      "import { StepSemantics } from '@aws/durable-execution-sdk-js'; console.log(StepSemantics)",
		"d.go":      "package d\nimport \"github.com/aws/aws-durable-execution-sdk-go/durable\"\nvar _ = durable.NoRetry\n",
	} {
		if _, err := handlers.Review(name, text); !errors.Is(err, handlers.ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// steps compares the steps of a report, written as LOCATION RETRIES/ATTEMPTS WAIT.
func steps(t *testing.T, r handlers.Report, want ...string) {
	t.Helper()
	got := make([]string, 0, len(r.Steps))
	for _, s := range r.Steps {
		got = append(got, fmt.Sprintf("%s %d/%d %s", s.Location, s.Retries, s.Attempts, s.Wait))
	}
	if !slices.Equal(got, want) {
		t.Errorf("steps:\n got %q\nwant %q", got, want)
	}
}

const (
	importJS = "import { withDurableExecution, createRetryStrategy, retryPresets, StepSemantics } from '@aws/durable-execution-sdk-js';\n"
	importGo = "package p\nimport \"github.com/aws/aws-durable-execution-sdk-go/durable\"\n"
)

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	expect(t, "a.ts", importJS+"export const handler = withDurableExecution(async (event: , context) => {});",
		`2:59 SYNTAX_ERROR Unexpected ","`)
	expect(t, "a.mjs", importJS+"\nconst text = 'über', x = ;", `3:26 SYNTAX_ERROR Unexpected ";"`)
	expect(
		t,
		"a.go",
		importGo+"func handler(ctx durable.Context) {\n\tx := \n}\n",
		"5:1 SYNTAX_ERROR expected operand, found '}'",
	)
}

// A finding points at the file as it is written, in characters, whatever TypeScript's types and characters stand before
// them.
func TestPositions(t *testing.T) {
	t.Parallel()
	expect(t, "a.ts", importJS+`interface A { b: string }
export const handler = withDurableExecution(async (event: A, context: any): Promise<number> => {
  const é: string = '日本😀' as string; const begun: number = Date.now();
  return begun + é.length;
});`, "4:60 DIFFERS_IN_REPLAY Date.now differs at every replay")
}

func TestComments(t *testing.T) {
	t.Parallel()
	r := expect(t, "a.ts", importJS+`export const handler = withDurableExecution(async (event: unknown, context) => {
  // stepback:ignore DIFFERS_IN_REPLAY only for the log
  console.log(Date.now());
  console.log(Date.now()); // stepback:ignore DIFFERS_IN_REPLAY only for the log
  console.log(Date.now()); // stepback:ignore DIFFERS_IN_REPLAY
  // stepback:ignore NO_JITTER it is fine
  // stepback:ignore STEP_NO_JITTER it is fine
  await context.step('a', async () => 1);
});`,
		"6:15 DIFFERS_IN_REPLAY Date.now differs at every replay",
		"6:31 IGNORE_UNCLEAR DIFFERS_IN_REPLAY is not silenced, because the comment gives no reason",
		"7:6 IGNORE_UNCLEAR there is no rule NO_JITTER to ignore in code",
		"8:6 IGNORE_UNCLEAR STEP_NO_JITTER is silenced, but the rule finds nothing on line 9")
	if r.Ignored != 2 {
		t.Errorf("%d ignored", r.Ignored)
	}
}

// A helper in a file of its own is found by what it does with its parameter, or in Go by its type.
func TestHelpers(t *testing.T) {
	t.Parallel()
	expect(t, "a.ts", "import type { DurableContext } from '@aws/durable-execution-sdk-js';\n"+
		"export async function help(ctx: DurableContext) { await ctx.step('a', async () => 1); return Math.random(); }",
		"2:94 DIFFERS_IN_REPLAY Math.random differs at every replay")
	expect(t, "a.go", importGo+`import "time"
func help(ctx durable.Context) time.Time { return time.Now() }`, "4:51 DIFFERS_IN_REPLAY time.Now differs at every replay")
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ strategy, want string }{
		{"undefined", ""},
		{"retryPresets.noRetry", ""},
		{"createRetryStrategy()", ""},
		{"createRetryStrategy({ maxAttempts: Infinity })", "2:108 STEP_RETRIES_UNBOUNDED the strategy never declines a retry"},
		{"createRetryStrategy({ maxAttempts: 10 * 12 })", "2:108 STEP_RETRIES_UNBOUNDED 120 attempts are practically without a limit"},
		{"createRetryStrategy({ jitter: 'NONE', ...{ maxAttempts: 1 } })", ""},
		{"createRetryStrategy({ ...event.options, jitter: 'NONE' })", ""},
		{"(e, n) => ({ shouldRetry: n < 4, delay: { seconds: 3 } })", "2:108 STEP_NO_JITTER executions that fail together retry together"},
		{"(e, n) => ({ shouldRetry: n < 4, delay: { seconds: n * Math.random() } })", ""},
		{"() => ({ shouldRetry: false })", ""},
		{"(e, n) => event.strategy(e, n)", ""},
		{"event.strategy", ""},
	} {
		got, _ := reviewed(
			t,
			"a.js",
			importJS+"export const handler = withDurableExecution(async (event, context) => context.step('a', f, "+
				"{ retryStrategy:"+c.strategy+" }));",
		)
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q, want %q", c.strategy, got, c.want)
		}
	}
}

// What is too long, too deep or not known is refused, and nothing panics.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a.js": importJS + strings.Repeat("(", 2000), "b.js": importJS + strings.Repeat("!", 30000) + "1", "a.py": "import x",
		"c.ts": importJS + strings.Repeat(" ", handlers.MaxText), "a.go": importGo + "var x = " + strings.Repeat("(", 2000),
	} {
		if r, err := handlers.Review(name, text); err == nil {
			t.Errorf("%s: %v", name, r)
		}
	}
	for name, text := range map[string]string{
		"await.js":  importJS + strings.Repeat("await ", 20_000) + "1",
		"typeof.js": importJS + "x = " + strings.Repeat("typeof ", 20_000) + "1",
		"else.ts":   importJS + strings.Repeat("if (a) b(); else ", 10_000) + "c()",
		"self.js":   importJS + "const a = b, b = a; export const h = withDurableExecution((e, c) => { a(); c.step(a, a, a); c.step(); c.map(); f(f) }); function f(g) { g(f) }",
		"odd.js":    importJS + "withDurableExecution(); withDurableExecution(x); withDurableExecution(async ({ a }, { step, ...b }) => step`a`);",
		"odd.go":    importGo + "func f(c durable.Context) { durable.Step(c); durable.Step(); durable.Step(c, f, f, f, f...); f(f()) ; for {}; x := x; x() }",
		"bytes.go":  importGo + "func f(c durable.Context) { \xff }",
		"bytes.js":  importJS + "\xff\xfe",
	} {
		_, _ = handlers.Review(name, text)
	}
}

// TestOperations lists the operations with names, also those that are not retried.
func TestOperations(t *testing.T) {
	t.Parallel()
	r, err := handlers.Review("pay.mjs", `import { withDurableExecution } from '@aws/durable-execution-sdk-js';
export const handler = withDurableExecution(async (event, context) => {
  await context.step('charge', async () => 1);
  await context.step('once', async () => 1, { retryStrategy: () => ({ shouldRetry: false }) });
  await context.step(async () => 1);
  await context.waitForCallback('approval', async (id) => id);
  await context.map('rows', event.rows, async (c, row) => c.step('save', async () => row));
});
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []handlers.Operation{{"step", "charge", true}, {"step", "once", false}, {"waitForCallback", "approval", true}, {"step", "save", true}}
	if !slices.Equal(r.Operations, want) {
		t.Errorf("%v, want %v", r.Operations, want)
	}
}
