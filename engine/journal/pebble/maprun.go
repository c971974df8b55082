package pebble

import (
	"context"
	"iter"
	"strings"

	"stepback/engine/journal"
)

// PutMapRun implements journal.MapRuns.
func (j *Journal) PutMapRun(m *journal.MapRun, done func(error)) {
	e := j.encoders.Get().(*encoder)
	defer j.encoders.Put(e)
	e.reset()
	e.raw = m.AppendBinary(e.raw[:0])
	e.pack(e.key(mapRunPrefix, m.ARN))
	e.ops = append(e.ops, operation{key: e.key(ofPrefix, m.Execution+"\x00"+m.ARN)})
	j.committer.add(e.fill, done)
}

// MapRun implements journal.MapRuns.
func (v view) MapRun(_ context.Context, arn string) (*journal.MapRun, error) {
	return read(v, mapRunPrefix, arn, journal.DecodeMapRun)
}

// MapRuns implements journal.MapRuns.
func (v view) MapRuns(ctx context.Context, prefix string) iter.Seq2[*journal.MapRun, error] {
	return func(yield func(*journal.MapRun, error) bool) {
		for m, err := range v.mapRuns(prefix) {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// mapRuns does the work of MapRuns without a context to cancel it.
func (v view) mapRuns(prefix string) iter.Seq2[*journal.MapRun, error] {
	return func(yield func(*journal.MapRun, error) bool) {
		for it, err := range v.walk(ofPrefix + prefix) {
			var m *journal.MapRun
			if err == nil {
				_, arn, _ := strings.Cut(string(it.Key()), "\x00")
				m, err = read(v, mapRunPrefix, arn, journal.DecodeMapRun)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}
