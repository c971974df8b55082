package console

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

// Pages rest one second while updates cost nothing, longer the more pages there are and the more they cost, and at
// most ten seconds.
func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	closed := p.open()
	if got := p.rest(); got != time.Second {
		t.Errorf("a page that costs nothing rests %s", got)
	}
	for range 15 {
		p.open()
	}
	for range 100 { // until the average has settled
		p.took(5 * time.Millisecond)
	}
	all := 16 * 5 * time.Millisecond
	want := min(10*time.Second, time.Duration(float64(all)/(0.01*float64(runtime.GOMAXPROCS(0)))))
	if got := p.rest(); got > want || got < want*9/10 {
		t.Errorf("sixteen pages of 5 ms rest %s, want %s", got, want)
	}
	for range 100 {
		p.took(time.Second)
	}
	if got := p.rest(); got != 10*time.Second {
		t.Errorf("slow pages rest %s", got)
	}
	closed()
	if p.pages != 15 {
		t.Errorf("%d pages are open", p.pages)
	}
}

// A tick is counted once for all open pages, afresh for a newly opened page, and again after an error.
func TestLately(t *testing.T) {
	t.Parallel()
	var l lately
	n := 0
	count := func() (*MachineRow, error) { n++; return &MachineRow{Name: "m"}, nil } //nolint:unparam // as it is called
	get := func(live bool) {
		t.Helper()
		if row, err := l.row("arn", live, count); err != nil || row.Name != "m" {
			t.Errorf("%v, %v", row, err)
		}
	}
	// A tick can start during the test, too, so the current one is prolonged.
	l.tick, l.rows = time.Now().Truncate(tick), nil
	get(false)
	get(false)
	if n != 2 {
		t.Errorf("two pages that are opened count %d times", n)
	}
	l.forget()
	n = 0
	get(true)
	if n != 1 {
		t.Errorf("after an act is counted %d times", n)
	}
	if _, err := l.row("other", true, func() (*MachineRow, error) { return nil, errors.New("no") }); err == nil {
		t.Error("an error is lost")
	}
	if l.rows != nil {
		t.Error("an error is remembered")
	}
}
