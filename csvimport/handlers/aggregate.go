package handlers

import (
	"log/slog"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
)

// Aggregate returns the handler of AggregateResults. now supplies the end time in the summary; nil means time.Now.
func Aggregate(objects csvimport.Objects, store csvimport.Store, now func() time.Time,
	log *slog.Logger) Func[aggregate.Output] {
	a := &aggregate.Aggregator{Objects: objects, Store: store, Now: now}
	return wrap("AggregateResults", log, a.Aggregate, func(in aggregate.Input, out aggregate.Output) []slog.Attr {
		return []slog.Attr{
			slog.String("file", in.Source.String()),
			slog.Int64("rows", out.Rows),
			slog.Int64("applied", out.Applied), slog.Int64("alreadyApplied", out.AlreadyApplied),
			slog.Int64("rejected", out.Rejected), slog.Int64("deadLettered", out.DeadLettered),
		}
	})
}
