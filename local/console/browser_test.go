package console_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/chromedp/chromedp"

	"stepback/local"
)

// browserTime limits a test in a browser, which is slow to start on a busy machine.
const browserTime = 8 * time.Minute

// browser starts Chromium, or skips the test if it is not installed.
func browser(t *testing.T, options ...chromedp.ExecAllocatorOption) context.Context {
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
	ctx, cancel := context.WithTimeout(t.Context(), browserTime)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, slices.Concat(chromedp.DefaultExecAllocatorOptions[:],
		[]chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.NoSandbox}, options)...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	return ctx
}

// do runs a browser action.
func do[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T { //nolint:revive // the test comes first here
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// until waits in the page until an expression is true. Navigating cancels the wait, which is then repeated.
func until(t *testing.T, ctx context.Context, expression string) { //nolint:revive // as do
	t.Helper()
	for ctx.Err() == nil {
		held, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => {
			const look = () => `+expression+` ? done(true) : setTimeout(look, 20); look() })`, chromedp.EvalAwaitPromise))
		if err == nil && held {
			return
		}
	}
	t.Fatalf("%s does not come to hold", expression)
}

// TestBrowser checks that a page updates itself, and its keyboard shortcuts.
func TestBrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	b := newBed(t, local.Console{})
	do(t, ctx, chromedp.Navigate(b.Endpoint+"/_stepback/executions/"+b.stuck))
	until(t, ctx, `document.querySelector(".live.on")`)
	if text := do(t, ctx, chromedp.Text(`.banner`)); !strings.Contains(text, "attempt 1 of 6") {
		t.Error(text)
	}
	if err := b.engine.RetryNow(t.Context(), b.stuck, b.pending().ID); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `document.querySelector(".banner").textContent.includes("attempt 2 of 6")`)
	if do(t, ctx, chromedp.Evaluate[bool](`document.querySelector("#keys").open`)) {
		t.Error("the keys are shown before they are asked for")
	}
	do(t, ctx, chromedp.KeyEvent("?"))
	if !do(t, ctx, chromedp.Evaluate[bool](`document.querySelector("#keys").open`)) {
		t.Error("? does not show the keys")
	}
	do(t, ctx, chromedp.KeyEvent("?"))
	do(t, ctx, chromedp.KeyEvent("2"))
	until(t, ctx, `location.search === "?tab=events" && document.readyState === "complete"`)
	do(t, ctx, chromedp.KeyEvent("j"))
	if text := do(t, ctx, chromedp.Text(`tr.here`)); !strings.Contains(text, "ExecutionStarted") {
		t.Errorf("j is at %q", text)
	}
	do(t, ctx, chromedp.KeyEvent("g"))
	do(t, ctx, chromedp.KeyEvent("m"))
	until(t, ctx, `location.pathname === "/_stepback/machines"`)
	do(t, ctx, chromedp.Navigate(b.Endpoint+"/"))
	if at := do(t, ctx, chromedp.Location()); at != b.Endpoint+"/_stepback/" {
		t.Errorf("a browser at the root is at %s", at)
	}
}

// TestAccessibility checks that axe-core finds nothing wrong, in light and dark mode, at 400 and 1,600 pixels.
// axe-core (MPL 2.0) is not part of the repository: `make browser` downloads it.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	for look, option := range map[string]chromedp.ExecAllocatorOption{
		"light": chromedp.Flag("blink-settings", "preferredColorScheme=1"),
		"dark":  chromedp.Flag("blink-settings", "preferredColorScheme=0"),
	} {
		t.Run(look, func(t *testing.T) {
			t.Parallel()
			accessible(t, browser(t, option), look)
		})
	}
}

func accessible(t *testing.T, ctx context.Context, look string) { //nolint:revive // as do
	t.Helper()
	file := os.Getenv("STEPBACK_AXE")
	if file == "" {
		file = filepath.Join("..", "..", "node_modules", "axe-core", "axe.min.js")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("axe-core is not here (%v): make browser fetches it", err)
	}
	n := newNight(t, local.Console{}) //nolint:contextcheck // the platform outlives the browser
	b := newBed(t, local.Console{})   //nolint:contextcheck // as above

	inState(t, monitored(b), "failed-orders", types.StateValueAlarm) //nolint:contextcheck // as above
	if dark := do(t, ctx, chromedp.Evaluate[bool](`matchMedia("(prefers-color-scheme: dark)").matches`)); dark != (look == "dark") {
		t.Errorf("the browser is not %s", look)
	}
	shots := os.Getenv("STEPBACK_SCREENSHOTS") // a directory for screenshots of the pages
	for _, width := range []int64{1600, 400} {
		do(t, ctx, chromedp.EmulateViewport(width, 1000))
		var all []string
		for _, path := range []string{"executions/" + b.broken, "executions/" + b.broken + "?tab=events&e=2",
			"executions/" + b.stuck + "?tab=data", "machines/maps", "machines/none"} {
			all = append(all, b.Endpoint+"/_stepback/"+path)
		}
		for _, path := range monitoringScreens() {
			all = append(all, b.Endpoint+"/_stepback/"+path)
		}
		for _, path := range n.screens() {
			all = append(all, n.Endpoint+"/_stepback/"+path)
		}
		for i, path := range all {
			do(t, ctx, chromedp.Navigate(path))
			found := do(t, ctx, chromedp.EvaluateAsDevTools[[]string](string(axe)+`; axe.run(document, {resultTypes:["violations"]})
				.then(r => r.violations.map(v =>
				v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.html.slice(0, 120)).slice(0, 3).join(" | ")))`,
				chromedp.EvalAwaitPromise))
			for _, violation := range found {
				t.Errorf("%s at %d px: %s", path, width, violation)
			}
			if wide := do(t, ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`)); wide {
				t.Errorf("%s at %d px: the page scrolls sideways", path, width)
			}
			if shots != "" {
				_, page, _ := strings.Cut(path, "/_stepback/")
				name := fmt.Sprintf("%02d-%.60s-%d-%s.png", i, strings.NewReplacer("/", "_", "?", "_", ":", "_", "&", "_").Replace(page), width, look)
				const best = 100
				shot := do(t, ctx, chromedp.FullScreenshot(best))
				if err := os.WriteFile(filepath.Join(shots, name), shot, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
