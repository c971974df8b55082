package handlers

import (
	"log/slog"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/manyfiles"
)

// Files returns the handler of ListFiles and SumFiles. bucket is the input bucket. now supplies the end time in the
// summary; nil means time.Now.
func Files(objects csvimport.Objects, bucket string, now func() time.Time, log *slog.Logger) Func[manyfiles.Answer] {
	steps := &manyfiles.Steps{Objects: objects, Bucket: bucket, Now: now}
	return wrap("Files", log, steps.Handle, func(_ manyfiles.Input, out manyfiles.Answer) []slog.Attr {
		switch {
		case out.Sum != nil:
			return []slog.Attr{slog.Int64("files", out.Sum.Files), slog.Int64("failed", out.Sum.Failed),
				slog.Int64("rows", out.Sum.Rows), slog.Int64("applied", out.Sum.Applied)}
		case out.List != nil:
			return []slog.Attr{slog.Int64("files", out.List.Files), slog.Int64("bytes", out.List.Bytes)}
		}
		return nil
	})
}
