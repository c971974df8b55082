package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/chromedp/chromedp"

	"stepback/internal/browsertest"
	"stepback/local"
)

// TestBrowser checks that a page updates itself, and its keyboard shortcuts.
func TestBrowser(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	b := newBed(t, local.Console{})
	browsertest.Do(t, ctx, chromedp.Navigate(b.Endpoint+"/_stepback/executions/"+b.stuck))
	browsertest.Until(t, ctx, `document.querySelector(".live.on")`)
	if text := browsertest.Do(t, ctx, chromedp.Text(`.banner`)); !strings.Contains(text, "attempt 1 of 6") {
		t.Error(text)
	}
	if err := b.engine.RetryNow(t.Context(), b.stuck, b.pending().ID); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, ctx, `document.querySelector(".banner").textContent.includes("attempt 2 of 6")`)
	if browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.querySelector("#keys").open`)) {
		t.Error("the keys are shown before they are asked for")
	}
	browsertest.Do(t, ctx, chromedp.KeyEvent("?"))
	if !browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.querySelector("#keys").open`)) {
		t.Error("? does not show the keys")
	}
	browsertest.Do(t, ctx, chromedp.KeyEvent("?"))
	browsertest.Do(t, ctx, chromedp.KeyEvent("2"))
	browsertest.Until(t, ctx, `location.search === "?tab=events" && document.readyState === "complete"`)
	browsertest.Do(t, ctx, chromedp.KeyEvent("j"))
	if text := browsertest.Do(t, ctx, chromedp.Text(`tr.here`)); !strings.Contains(text, "ExecutionStarted") {
		t.Errorf("j is at %q", text)
	}
	browsertest.Do(t, ctx, chromedp.KeyEvent("g"))
	browsertest.Do(t, ctx, chromedp.KeyEvent("m"))
	browsertest.Until(t, ctx, `location.pathname === "/_stepback/machines"`)
	browsertest.Do(t, ctx, chromedp.Navigate(b.Endpoint+"/"))
	if at := browsertest.Do(t, ctx, chromedp.Location()); at != b.Endpoint+"/_stepback/" {
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
			accessible(t, browsertest.Start(t, option), look)
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
	if dark := browsertest.Do(t, ctx, chromedp.Evaluate[bool](`matchMedia("(prefers-color-scheme: dark)").matches`)); dark != (look == "dark") {
		t.Errorf("the browser is not %s", look)
	}
	for _, width := range []int64{1600, 400} {
		browsertest.Do(t, ctx, chromedp.EmulateViewport(width, 1000))
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
			browsertest.Do(t, ctx, chromedp.Navigate(path))
			found := browsertest.Do(t, ctx, chromedp.EvaluateAsDevTools[[]string](string(axe)+`; axe.run(document, {resultTypes:["violations"]})
				.then(r => r.violations.map(v =>
				v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.html.slice(0, 120)).slice(0, 3).join(" | ")))`,
				chromedp.EvalAwaitPromise))
			for _, violation := range found {
				t.Errorf("%s at %d px: %s", path, width, violation)
			}
			if wide := browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`)); wide {
				t.Errorf("%s at %d px: the page scrolls sideways", path, width)
			}
			_, page, _ := strings.Cut(path, "/_stepback/")
			browsertest.Screenshot(t, ctx, fmt.Sprintf("console-%02d-%.60s-%d-%s", i,
				strings.NewReplacer("/", "_", "?", "_", ":", "_", "&", "_").Replace(page), width, look))
		}
	}
}
