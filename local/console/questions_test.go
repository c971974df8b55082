package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stepback/internal/browsertest"
	"stepback/local"
)

// person is a user who starts at the first page and clicks.
type person struct {
	*testing.T
	ctx    context.Context
	clicks int
}

// click clicks on the first visible link with the text in main or nav, and waits for the next page.
func (p *person) click(text string) {
	p.Helper()
	p.clicks++
	from := browsertest.Do(p.T, p.ctx, chromedp.Location())
	found := browsertest.Do(p.T, p.ctx, chromedp.Evaluate[bool](`(() => { const e = [...document.querySelectorAll("main a, nav a")]
		.find((a) => a.textContent.trim() === "`+text+`" && a.offsetParent); e?.click(); return !!e })()`))
	if !found {
		p.Fatalf("there is nothing to click on called %q at %s", text, from)
	}
	browsertest.Until(p.T, p.ctx, `location.href !== "`+from+`" && document.readyState === "complete"`)
}

// reads checks that the part of the page visible without scrolling contains the texts in this order, and that no more
// than the given clicks were needed.
func (p *person) reads(question string, clicks int, texts ...string) {
	p.Helper()
	if p.clicks > clicks {
		p.Errorf("%s: %d clicks, want %d at most", question, p.clicks, clicks)
	}
	seen := browsertest.Do(p.T, p.ctx, chromedp.Evaluate[string](`(() => { let seen = "";
		const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) { const range = document.createRange(); range.selectNodeContents(walk.currentNode);
			const r = range.getBoundingClientRect();
			const inside = r.width && r.height && r.top >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
			if (inside) seen += walk.currentNode.data; }
		return seen.replace(/\\s+/g, " ") })()`))
	rest := seen
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			p.Errorf("%s: %q is not read, in this order, on the screen: %s", question, text, seen)
			return
		}
		rest = after
	}
}

// TestFiveQuestionsInABrowser plays an on-call engineer who is paged during a bad night. Each of the five questions
// is answered on one screen of 1600 by 1000 pixels, at most two clicks from the first page.
func TestFiveQuestionsInABrowser(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	n := newNight(t, local.Console{})
	browsertest.Do(t, ctx, chromedp.EmulateViewport(1600, 1000))
	ask := func() *person {
		browsertest.Do(t, ctx, chromedp.Navigate(n.Endpoint+"/"))
		browsertest.Until(t, ctx, `document.readyState === "complete"`)
		return &person{T: t, ctx: ctx}
	}

	n.page("deadletters") // this page takes the time to count all of them
	p := ask()
	p.reads("what is broken now?", 0, "Something needs attention", "1 alarm", "3 kinds of failure in 24 h", "8 retrying now",
		"44 dead letters", "executions-failed", "checkout", "Failed in the last 24 hours", "CarrierTimeout", "checkout", "7")
	p.reads("when does it retry?", 0, "Retrying now", "Transfer", "payout-late-", "BankUnavailable", "2 of 6", ", in ",
		"Index", "SearchOverloaded", "2 of 4")

	p.click("OutOfStock")
	p.reads("which orders are without stock?", 1, "checkout", "order-4719-reserve", "FAILED", "OutOfStock")
	p = ask()
	p.click("why the latest failed")
	p.reads("why did this one fail?", 1, "order-4719-reserve", "FAILED", "OutOfStock", "in Reserve, after 1 attempt", "sku-9917: 0 left")
	p = ask()
	p.click("CarrierTimeout")
	p.click("order-4719-ship")
	p.reads("why did this one fail?", 2, "order-4719-ship", "FAILED", "CarrierTimeout", "in Ship, after 4 attempts with waits of 1s, 2s, 4s",
		"caught, then Refund → Release → OrderFailed", "no answer from carrier dhl-eu within 5 s")
	p = ask()
	p.click("Transfer")
	p.reads("when does it retry?", 1, "payout-late-", "RUNNING", "attempt 1 of 6 failed with BankUnavailable", "the next attempt is at",
		"(in ", "gives up by", "Retry now")
	p = ask()
	p.click("import-rows")
	p.reads("which rows are lost?", 1, "import-rows", "RetriesExhausted", "DatabaseConnectionError", "23", "Rejected", "ValidationError",
		"3", "line 6", "s3://csv-input/activity-2026-11-22.csv", "DatabaseConnectionError")
	p.click("line 6")
	p.reads("which rows are lost?", 2, "line 6", "RetriesExhausted DatabaseConnectionError", "failed to connect", "Original payload", "user_id")
	p = ask()
	p.click("why the latest failed")
	p.click("What would another policy have done?")
	p.reads("what would another policy have done?", 2, "Lab", "34 executions", "Charge", "actual", "27", "recorded", "no retry", "14", "13",
		"exact", "3 retries, 1s ×2", "bracketed")
}
