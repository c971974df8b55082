package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"stepback/local"
)

// TestShots takes pictures of the screens of a bad night.
func TestShots(t *testing.T) {
	dir := os.Getenv("STEPBACK_SHOTS")
	if dir == "" {
		t.Skip()
	}
	n := newNight(t, local.Console{})
	machine := "CSVProcessing"
	_ = machine
	for look, option := range map[string]chromedp.ExecAllocatorOption{
		"light": chromedp.Flag("blink-settings", "preferredColorScheme=1"),
		"dark":  chromedp.Flag("blink-settings", "preferredColorScheme=0"),
	} {
		ctx := browser(t, option)
		for width, w := range map[int64]string{1600: "1600", 400: "400"} {
			do(t, ctx, chromedp.EmulateViewport(width, 1000))
			for name, path := range map[string]string{
				"tonight": "", "machines": "machines", "machine": "machines/checkout", "failed": "executions/" + n.order,
				"failed-events": "executions/" + n.order + "?tab=events&e=5", "failed-data": "executions/" + n.order + "?tab=data",
				"waiting": "executions/" + n.waiting, "maprun": "mapruns/" + n.prices, "import": "executions/" + n.lost,
				"retries": "retries", "retriesof": "retries/checkout", "letters": "deadletters", "lettersof": "deadletters/import-rows",
				"lab": "lab?machine=checkout", "services": "services", "logs": "logs", "edit": "machines/checkout/edit", "executions": "executions?retrying=true",
				"find": "find?q=order", "sqs": "services/sqs",
			} {
				do(t, ctx, chromedp.Navigate(n.Endpoint+"/_stepback/"+path))
				shot := do(t, ctx, chromedp.FullScreenshot(100))
				if err := os.WriteFile(filepath.Join(dir, name+"-"+w+"-"+look+".png"), shot, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
