package handlers

import (
	"log/slog"

	"stepback/csvimport"
	"stepback/csvimport/validate"
)

// Validate returns the handler of ValidateCSVFile. If maxBytes is 0, the limit is validate.DefaultMaxBytes. letters may
// be nil; then files whose rows came out of dead letters are refused.
func Validate(objects csvimport.Objects, letters validate.Letters, maxBytes int64, log *slog.Logger) Func[validate.Output] {
	v := &validate.Validator{Objects: objects, Letters: letters, MaxBytes: maxBytes}
	return wrap("ValidateCSVFile", log, v.Validate, func(in validate.Input, out validate.Output) []slog.Attr {
		return []slog.Attr{
			slog.String("file", in.Source.String()), slog.Bool("valid", out.Valid), slog.Int64("rows", out.Rows),
			slog.Int64("problems", out.ProblemCount), slog.Bool("normalised", out.Normalised),
		}
	})
}
