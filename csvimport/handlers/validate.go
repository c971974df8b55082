package handlers

import (
	"log/slog"

	"stepback/csvimport"
	"stepback/csvimport/validate"
)

// Validate returns the handler of ValidateCSVFile. If maxBytes is 0, the limit is validate.DefaultMaxBytes.
func Validate(objects csvimport.Objects, maxBytes int64, log *slog.Logger) Func[validate.Output] {
	v := &validate.Validator{Objects: objects, MaxBytes: maxBytes}
	return wrap("ValidateCSVFile", log, v.Validate, func(in validate.Input, out validate.Output) []slog.Attr {
		return []slog.Attr{
			slog.String("file", in.Source.String()), slog.Bool("valid", out.Valid), slog.Int64("rows", out.Rows),
			slog.Int64("problems", out.ProblemCount), slog.Bool("normalised", out.Normalised),
		}
	})
}
