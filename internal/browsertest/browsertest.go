// Package browsertest drives headless Chromium in tests, and keeps screenshots of what they saw.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience limits a test in a browser, which is slow to start on a busy machine.
const patience = 8 * time.Minute

// Start starts Chromium and returns the context of its first tab; the browser ends with the test. It skips the test if
// Chromium is not installed and STEPBACK_CHROMIUM names no other one, and with -short.
func Start(t *testing.T, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no browser is started")
	}
	path := os.Getenv("STEPBACK_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("no chromium is installed: apt-get install chromium, or name one in STEPBACK_CHROMIUM")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, slices.Concat(chromedp.DefaultExecAllocatorOptions[:],
		[]chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.NoSandbox}, options)...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	return ctx
}

// Do runs an action in the tab of ctx and returns its result. An error fails the test.
func Do[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T { //nolint:revive // the test comes first here
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Until waits in the page until a JavaScript expression is true. Navigating cancels the wait, which is then repeated.
func Until(t *testing.T, ctx context.Context, expression string) { //nolint:revive // as Do
	t.Helper()
	for ctx.Err() == nil {
		held, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => {
			const look = () => `+expression+` ? done(true) : setTimeout(look, 20); look() })`, chromedp.EvalAwaitPromise))
		if err == nil && held {
			return
		}
	}
	t.Fatalf("%s is not true in time", expression)
}

// Screenshot writes a picture of the whole page to NAME.png in the directory STEPBACK_SCREENSHOTS. Without this
// variable it does nothing.
func Screenshot(t *testing.T, ctx context.Context, name string) { //nolint:revive // as Do
	t.Helper()
	dir := os.Getenv("STEPBACK_SCREENSHOTS")
	if dir == "" {
		return
	}
	const best = 100 // the quality at which chromedp writes PNG
	if err := os.WriteFile(filepath.Join(dir, name+".png"), Do(t, ctx, chromedp.FullScreenshot(best)), 0o600); err != nil {
		t.Fatal(err)
	}
}
