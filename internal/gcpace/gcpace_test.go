package gcpace

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	p := Pace{Percent: 500, Room: 128 << 20}
	for _, tt := range []struct {
		use  use
		want int64
	}{
		{use{0, 0, 0}, 128 << 20},
		{use{30 << 20, 30 << 20, 0}, 128 << 20},
		{use{64 << 20, 64 << 20, 0}, 128 << 20},
		{use{64<<20 + 1, 64<<20 + 1, 0}, 144 << 20}, // in steps of 16 MB
		{use{100 << 20, 100 << 20, 0}, 208 << 20},
		{use{500 << 20, 500 << 20, 0}, 1008 << 20},
		{use{100 << 20, 30 << 20, 0}, 176 << 20}, // tables without pointers
		{use{500 << 20, 100 << 20, 0}, 608 << 20},
		{use{100 << 20, 500 << 20, 0}, 208 << 20}, // no more than twice the live heap
		{use{math.MaxInt64, 0, 0}, math.MaxInt64},
		{use{30 << 20, 30 << 20, 16 << 20}, 128 << 20},
		{use{56 << 20, 56 << 20, 40 << 20}, 160 << 20}, // after a program has been large
		{use{0, 0, math.MaxInt64}, math.MaxInt64},
	} {
		if got := p.limit(tt.use); got != tt.want {
			t.Errorf("with %+v: %d, want %d", tt.use, got, tt.want)
		}
	}
}

// The limit grows with the live heap and shrinks again. The test changes the runtime's settings and restores them.
func TestKeep(t *testing.T) { //nolint:paralleltest // the settings are the process's
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	t.Setenv("GOGC", "200")
	Pace{Percent: 300, Room: 32 << 20}.Keep()
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("in spite of GOGC the limit is %d", got)
	}
	t.Setenv("GOGC", "")
	f := &follower{pace: Pace{Percent: 300, Room: 32 << 20}}
	f.adjust(use{})
	if got := debug.SetMemoryLimit(-1); got != 32<<20 {
		t.Errorf("with nothing live the limit is %d", got)
	}
	kept := make([]*byte, 8<<20)
	runtime.GC()
	f.adjust(inUse())
	if got := debug.SetMemoryLimit(-1); got < 128<<20 {
		t.Errorf("with 64 MB live the limit is %d", got)
	}
	runtime.KeepAlive(kept)
}
