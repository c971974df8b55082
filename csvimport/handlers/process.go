package handlers

import (
	"context"
	"log/slog"

	"stepback/csvimport"
	"stepback/csvimport/process"
)

// Process returns the handler of ProcessSingleUserRecord and ApplyBatch. The caller closes the store once no more
// calls are running.
func Process(store csvimport.Store, log *slog.Logger) Func[process.Answer] {
	step := func(ctx context.Context, in process.Event) (process.Answer, error) {
		return process.Handle(ctx, store, in)
	}
	return wrap("ProcessSingleUserRecord", log, step, func(in process.Event, out process.Answer) []slog.Attr {
		attrs := []slog.Attr{slog.String("file", in.Source.String())}
		switch {
		case in.Items != nil:
			attrs = append(attrs, slog.Int("rows", len(in.Items)))
			if out.Batch != nil {
				attrs = append(attrs, slog.Int("oneByOne", len(out.Batch.OneByOne)))
			}
		case out.Row != nil:
			attrs = append(attrs, slog.String("outcome", string(out.Row.Outcome)))
		}
		if in.Row != nil {
			attrs = append(attrs, slog.Int64("row", *in.Row))
		}
		return attrs
	})
}
