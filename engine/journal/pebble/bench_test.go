package pebble_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"stepback/engine/history"
	"stepback/engine/journal/journaltest"
)

// BenchmarkGroupCommit measures the journal's own rate with writers that each wait until their step is on the disk.
func BenchmarkGroupCommit(b *testing.B) {
	for _, writers := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			j := open(b, b.TempDir())
			defer j.Close()
			b.ReportAllocs()
			var next atomic.Int64
			var done sync.WaitGroup
			for w := range writers {
				done.Go(func() {
					x := journaltest.Begun(fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:bench:writer-%d", w))
					r := journaltest.Second(x)
					for n := int64(0); next.Add(1) <= int64(b.N); n++ {
						r.Step = n
						journaltest.Commit(b, j, r)
					}
				})
			}
			done.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// BenchmarkEnds measures executions that start and end in one step, as most child executions do.
func BenchmarkEnds(b *testing.B) {
	j := open(b, b.TempDir())
	defer j.Close()
	b.ReportAllocs()
	var done sync.WaitGroup
	slots := make(chan struct{}, 1000)
	for n := range b.N {
		x := journaltest.Begun(fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:bench/map:01234567-89ab-8000-8000-%012x", n))
		x.MapRunARN = "arn:aws:states:us-east-1:000000000000:mapRun:bench/map:01234567-89ab-8000-8000-000000000000"
		r := journaltest.Last(x, history.Succeeded)
		r.Begin, r.Step = true, 0
		slots <- struct{}{}
		done.Add(1)
		j.Commit(r, func(err error) {
			if err != nil {
				b.Error(err)
			}
			<-slots
			done.Done()
		})
	}
	done.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
}
