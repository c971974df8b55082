// Package gcpace lets a program's heap grow far before it is collected, as long as the program stays small. A job that
// allocates much and keeps little is collected seldom, and yet never takes more memory than it was given; one that
// keeps more is collected as any Go program is. It decides nothing but when the garbage collector runs.
package gcpace

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Pace says how far the heap grows.
type Pace struct {
	// Percent is how far the heap may grow beyond what is live, as GOGC says it.
	Percent int
	// Room is how many bytes the Go runtime may take for that, stacks and its own needs included, while little is live.
	// It is no limit for what is live: see limit.
	Room int64
}

// Default is the pace of the stepback command. A run allocates much and keeps little, so that collecting at the usual
// double takes a fifth of its time. With this room an import of a million rows takes about 170 MB, the pages of the
// command's file that the kernel maps included; with 96 MB it takes 200 and as much processor time.
var Default = Pace{Percent: 500, Room: 72 << 20}

// Keep keeps this pace until the process ends. Where the environment sets GOGC or GOMEMLIMIT, that holds instead.
func (p Pace) Keep() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(p.Percent)
	debug.SetMemoryLimit(p.Room)
	afterEachCollection(&follower{pace: p, limit: p.Room})
}

// follower has the memory limit follow what is live.
type follower struct {
	pace  Pace
	limit int64
}

// afterEachCollection has the follower adjust the limit whenever the heap has been collected: it is what is collected,
// and comes back.
func afterEachCollection(f *follower) {
	runtime.SetFinalizer(f, func(f *follower) {
		f.adjust(inUse())
		afterEachCollection(f)
	})
}

func (f *follower) adjust(live, overhead int64) {
	if limit := f.pace.limit(live, overhead); limit != f.limit {
		f.limit = limit
		debug.SetMemoryLimit(limit) // stops the world for a moment, which is why it comes in steps
	}
}

// limit is what the runtime may take while so many bytes are live: the room, or twice what is live, which is what Go
// gives any program, and what it needs besides the heap, which does not shrink after a program has once been large.
// Without it the collector would run all the time once there is more alive than there is room.
func (p Pace) limit(live, overhead int64) int64 {
	step := p.Room / 8
	if live > math.MaxInt64/4 || overhead > math.MaxInt64/4 {
		return math.MaxInt64
	}
	return max(p.Room, (2*live+overhead+step-1)/step*step)
}

// inUse is how many bytes of the heap the last collection found in use, and how many the runtime needs besides the
// heap: stacks, and its own records of the heap.
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
