package main

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/cmd/stepback/terminal"
)

// trigger is a standard error that calls a function once a given text has been written to it.
type trigger struct {
	mu   sync.Mutex
	text string
	then func()
	bytes.Buffer
}

func (w *trigger) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.then != nil && strings.Contains(string(p), w.text) {
		w.then()
		w.then = nil
	}
	return w.Buffer.Write(p)
}

// interrupted runs a command line and cancels it when a text appears on standard error.
func interrupted(t *testing.T, text string, args ...string) said {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	err := &trigger{text: text, then: cancel}
	code := execute(ctx, args, terminal.Streams{Out: &out, Err: err, Width: 80})
	return said{code, out.String(), err.String()}
}

// settled waits until no more goroutines run than before; goroutines that were asked to end may need a moment.
func settled(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
	}
}

// TestCtrlC is not parallel, so that it can count goroutines.
func TestCtrlC(t *testing.T) {
	for name, args := range map[string][]string{
		"at work": {"--concurrency", "1", "--batch", "1"},
		"in virtual time": {"--concurrency", "1", "--batch", "1", "--virtual-time", "--fault",
			"ProcessSingleUserRecord:hang:5%"},
		"while all hang": {"--fault", "ProcessSingleUserRecord:hang:1"},
		"while all wait": {"--fault", "ProcessSingleUserRecord:TimeoutError:1"},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			common := []string{"run", "--data", t.TempDir()}
			s := interrupted(t, "ProcessUserRecords", append(common, args...)...)
			s.complains(t, 130, "stepback: stopped; run the same command again to finish the import")
			settled(t, before)
			s = stepback(t, append(common, "--json")...)
			s.ends(t, 0, `"status": "SUCCEEDED"`, `"total": 10000`, `-2",`)
			settled(t, before)
		})
	}
}

func TestCtrlCBeforeAnythingHappens(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := t.TempDir()
	s := stepbackUnder(ctx, "run", "--data", data)
	s.complains(t, 130, "stopped")
	settled(t, before)
	stepback(t, "run", "--data", data).ends(t, 0, "SUCCEEDED")
}

// TestMain lets the test binary run as stepback itself, for tests that need a separate process.
func TestMain(m *testing.M) {
	if how := os.Getenv("STEPBACK_TEST_MEDDLES"); how != "" {
		meddle(how)
	}
	if file := os.Getenv(effectsVariable); file != "" {
		serveEffects(file)
	}
	if os.Getenv("STEPBACK_TEST_AS_COMMAND") != "" {
		main()
	}
	registerBuild()
	os.Exit(m.Run())
}
