// Package site_test opens the documentation's site, as make site builds it, in Chromium.
package site_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stepback/internal/browsertest"
)

// served serves dist/site from this machine. It skips the test if the site has not been built.
func served(t *testing.T) *httptest.Server {
	t.Helper()
	dir := filepath.Join("..", "..", "dist", "site")
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Skipf("the site is not built (%v): make site builds it", err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server
}

// alone keeps Chromium from all addresses but those of this machine.
var alone = chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")

// TestPages reads the start page, searches for a word, and opens what was found.
func TestPages(t *testing.T) {
	t.Parallel()
	for look, option := range map[string]chromedp.ExecAllocatorOption{
		"light": chromedp.Flag("blink-settings", "preferredColorScheme=1"),
		"dark":  chromedp.Flag("blink-settings", "preferredColorScheme=0"),
	} {
		t.Run(look, func(t *testing.T) {
			t.Parallel()
			server := served(t)
			ctx := browsertest.Start(t, option, alone)
			browsertest.Do(t, ctx, chromedp.EmulateViewport(1400, 1000))
			browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/"))
			browsertest.Until(t, ctx, `document.querySelector("h1")`)
			if dark := browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.documentElement.classList.contains("dark")`)); dark != (look == "dark") {
				t.Errorf("the page is not %s", look)
			}
			browsertest.Screenshot(t, ctx, "site-first-"+look)
			browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/start.html"))
			browsertest.Until(t, ctx, `document.querySelector("h1")?.textContent.includes("five minutes")`)
			browsertest.Screenshot(t, ctx, "site-start-"+look)
			browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/intro.html")) // the README, with its pictures
			browsertest.Until(t, ctx, `document.images.length > 0 && [...document.images].every(i => i.complete && i.naturalWidth > 0)`)
			browsertest.Screenshot(t, ctx, "site-intro-"+look)

			browsertest.Until(t, ctx, `document.querySelector("#local-search button")`)
			browsertest.Until(t, ctx, `(document.querySelector("#localsearch-input") || void document.querySelector("#local-search button").click())`)
			browsertest.Do(t, ctx, chromedp.Evaluate[bool](typed("#localsearch-input", "MaxDelaySeconds")))
			browsertest.Until(t, ctx, `document.querySelectorAll(".VPLocalSearchBox .result").length > 2`)
			browsertest.Screenshot(t, ctx, "site-search-"+look)
			browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.querySelector(".VPLocalSearchBox .result").click() ?? true`))
			browsertest.Until(t, ctx, `!location.pathname.endsWith("/intro.html") && document.querySelector("main").textContent.includes("MaxDelaySeconds")`)
		})
	}
}

// typed is JavaScript that replaces the text of an input, as typing does.
func typed(selector, text string) string {
	return `(() => { const e = document.querySelector("` + selector + `"); e.value = ` + strconv.Quote(text) +
		`; e.dispatchEvent(new Event("input", { bubbles: true })); return true })()`
}

// TestChecksOffline checks, draws and fixes definitions in the page "Try it here" after its server has gone.
func TestChecksOffline(t *testing.T) {
	t.Parallel()
	server := served(t)
	ctx := browsertest.Start(t, alone)
	browsertest.Do(t, ctx, chromedp.EmulateViewport(1400, 1000))
	browsertest.Do(t, ctx, chromedp.Navigate(server.URL+"/try.html"))
	browsertest.Until(t, ctx, `document.querySelector("#state")?.textContent.includes("AWS accepts this definition")`)
	browsertest.Screenshot(t, ctx, "site-try-example")
	server.Close()

	browsertest.Do(t, ctx, chromedp.Evaluate[bool](typed("#definition", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"}}}`)))
	browsertest.Until(t, ctx, `document.querySelector("#state").textContent.includes("AWS would refuse")`)
	if got := browsertest.Do(t, ctx, chromedp.Text("#findings")); !strings.Contains(got, "MISSING_TRANSITION_TARGET") {
		t.Errorf("the findings are %s", got)
	}
	browsertest.Screenshot(t, ctx, "site-try-refused")

	browsertest.Do(t, ctx, chromedp.Evaluate[bool](typed("#definition", `{"StartAt":"Pay","States":{"Pay":{"Type":"Task","TimeoutSeconds":9,"End":true,`+
		`"Resource":"arn:aws:lambda:us-east-1:123456789012:function:pay","Retry":[{"ErrorEquals":["Busy"],"MaxAttempts":3,"BackoffRate":2}]}}}`)))
	browsertest.Until(t, ctx, `document.querySelector("#findings").textContent.includes("NO_JITTER")`)
	if got := browsertest.Do(t, ctx, chromedp.Evaluate[string](`document.querySelector("#picture svg").textContent`)); !strings.Contains(got, "Pay") {
		t.Errorf("the picture has %s", got)
	}
	browsertest.Screenshot(t, ctx, "site-try-findings")
	browsertest.Do(t, ctx, chromedp.Evaluate[bool](`document.querySelector("button.fix").click() ?? true`))
	browsertest.Until(t, ctx, `document.querySelector("#definition").value.includes("JitterStrategy") &&
		!document.querySelector("#findings").textContent.includes("NO_JITTER")`)
}
