// Package gcpace lets a program's heap grow far before it is collected, as long as its live heap is small. A
// program that allocates much and keeps little is collected seldom, yet never takes more memory than it was given.
// A program that keeps more is collected like any Go program. The package controls nothing except when the garbage
// collector runs.
package gcpace

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Pace determines how far the heap grows before a collection.
type Pace struct {
	// Percent limits the growth of the heap beyond the live heap before a collection, in percent, as in GOGC.
	Percent int
	// Room is the number of bytes that the Go runtime may take while the live heap is small, including stacks and
	// its own needs. It does not limit the live heap: see limit.
	Room int64
}

// Default is the pace of the stepback command. A run allocates much and keeps little, so that collecting at the usual
// doubling takes a fifth of its time. With this setting an import of a million rows takes about 170 MB, including the
// pages of the command's file that the kernel maps; with 96 MB it takes 200 MB and as much processor time.
var Default = Pace{Percent: 500, Room: 72 << 20}

// Keep applies this pace until the process ends. If the environment sets GOGC or GOMEMLIMIT, those apply instead.
func (p Pace) Keep() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(p.Percent)
	debug.SetMemoryLimit(p.Room)
	afterEachCollection(&follower{pace: p, limit: p.Room})
}

// follower adjusts the memory limit to the size of the live heap.
type follower struct {
	pace  Pace
	limit int64
}

// afterEachCollection makes the follower adjust the limit after each garbage collection: its finalizer runs when it
// is collected, and sets itself again.
func afterEachCollection(f *follower) {
	runtime.SetFinalizer(f, func(f *follower) {
		f.adjust(inUse())
		afterEachCollection(f)
	})
}

func (f *follower) adjust(live, overhead int64) {
	if limit := f.pace.limit(live, overhead); limit != f.limit {
		f.limit = limit
		debug.SetMemoryLimit(limit) // stops the world for a moment, so the limit changes in steps
	}
}

// limit returns the memory the runtime may take while live bytes are in use. It is Room, or twice the live heap,
// which is what Go gives any program, plus the runtime's overhead, which does not shrink after a program has once
// been large. Without it the collector would run all the time once the live heap exceeds Room.
func (p Pace) limit(live, overhead int64) int64 {
	step := p.Room / 8
	if live > math.MaxInt64/4 || overhead > math.MaxInt64/4 {
		return math.MaxInt64
	}
	return max(p.Room, (2*live+overhead+step-1)/step*step)
}

// inUse returns the bytes of heap that the last collection found in use, and the bytes that the runtime needs besides
// the heap: stacks, and its own records of the heap.
func inUse() (live, overhead int64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	var bytes [6]int64
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return 0, 0
		}
		bytes[i] = int64(min(s.Value.Uint64(), math.MaxInt64))
	}
	return bytes[0], bytes[1] - bytes[2] - bytes[3] - bytes[4] - bytes[5]
}
