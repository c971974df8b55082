package retrymetrics_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"testing"

	"stepback/retrymetrics"
)

var update = flag.Bool("update", false, "write docs/metrics.md instead of comparing with it")

func TestDocsAreCurrent(t *testing.T) {
	t.Parallel()
	const page = "../docs/metrics.md"
	var want bytes.Buffer
	if err := retrymetrics.WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date (%v): run go generate ./retrymetrics", page, err)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	w := retrymetrics.DefaultWorkload()
	for level, want := range map[retrymetrics.Level]float64{retrymetrics.LevelError: 4.5,
		retrymetrics.LevelAll: 64.8} {
		if got := w.GB(level); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v GB, want %v", level, got, want)
		}
	}
	if a, e := retrymetrics.SeriesCount(retrymetrics.LevelAll, 1, 1, 1),
		retrymetrics.SeriesCount(retrymetrics.LevelError, 1, 1, 1); a <= e || e < 10 {
		t.Errorf("%d metrics at ALL, %d at ERROR", a, e)
	}
}
