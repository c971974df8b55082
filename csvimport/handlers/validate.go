package handlers

import (
	"log/slog"

	"stepback/csvimport"
	"stepback/csvimport/validate"
)

// Validate returns the handler of ValidateCSVFile and ValidateRange. letters may be nil; then files whose rows came out
// of dead letters are refused.
func Validate(objects csvimport.Objects, letters validate.Letters, sizes Sizes, log *slog.Logger) Func[validate.Answer] {
	v := &validate.Validator{Objects: objects, Letters: letters, MaxBytes: sizes.Max, PartBytes: sizes.Part}
	return wrap("ValidateCSVFile", log, v.Handle, func(in validate.Input, answer validate.Answer) []slog.Attr {
		attrs := []slog.Attr{slog.String("file", in.Source.String())}
		if in.Range != nil {
			return append(attrs, slog.Int("range", in.Range.Number))
		}
		out := validate.Output{}
		if answer.File != nil {
			out = *answer.File
		}
		attrs = append(attrs, slog.Bool("valid", out.Valid), slog.Int64("rows", out.Rows),
			slog.Int64("problems", out.ProblemCount), slog.Bool("normalised", out.Normalised))
		if out.Split != nil {
			attrs = append(attrs, slog.Int("round", out.Split.Round), slog.Int("ranges", out.Split.Count))
		}
		return attrs
	})
}
