package handlers

import (
	"context"
	"log/slog"

	"stepback/csvimport"
	"stepback/csvimport/process"
)

// Process is the handler of ProcessSingleUserRecord. The caller closes the store when no call is running any more.
func Process(store csvimport.Store, log *slog.Logger) Func[process.Output] {
	step := func(ctx context.Context, in process.Input) (process.Output, error) {
		return process.Process(ctx, store, in)
	}
	return wrap("ProcessSingleUserRecord", log, step, func(in process.Input, out process.Output) []slog.Attr {
		attrs := []slog.Attr{slog.String("file", in.Source.String()), slog.String("outcome", string(out.Outcome))}
		if in.Row != nil {
			attrs = append(attrs, slog.Int64("row", *in.Row))
		}
		return attrs
	})
}
