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

func (f *follower) adjust(u use) {
	if limit := f.pace.limit(u); limit != f.limit {
		f.limit = limit
		debug.SetMemoryLimit(limit) // stops the world for a moment, so the limit changes in steps
	}
}

// use holds the bytes of heap that were in use at the last collection, how many of them may contain pointers, and the
// bytes that the runtime needs besides the heap, for stacks and its own records of the heap.
type use struct{ live, scanned, overhead int64 }

// limit returns the memory the runtime may take after a collection. It is Room, or else what is in use and as many
// bytes again as the collector has to scan, but at least half of Room. For a heap of pointers that is twice the live
// heap, as Go gives any program. Tables and buffers without pointers cost the collector nothing, so they allow no
// garbage besides them. What the runtime needs besides the heap is added, because it does not shrink after a program
// has once been large. Without it the collector would run all the time once the live heap exceeds Room.
func (p Pace) limit(u use) int64 {
	step := p.Room / 8
	if u.live > math.MaxInt64/4 || u.overhead > math.MaxInt64/4 {
		return math.MaxInt64
	}
	garbage := max(p.Room/2, min(u.scanned, u.live))
	return max(p.Room, (u.live+garbage+u.overhead+step-1)/step*step)
}

// inUse returns the use at the last collection.
func inUse() use {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	var bytes [7]int64
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return use{}
		}
		bytes[i] = int64(min(s.Value.Uint64(), math.MaxInt64))
	}
	return use{live: bytes[0], scanned: bytes[1],
		overhead: bytes[2] - bytes[3] - bytes[4] - bytes[5] - bytes[6]}
}
