package aggregate

import (
	"context"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/spool"
	"stepback/statemachine"
)

const (
	lettersType     = "application/x-ndjson"
	correctionsType = "text/csv; charset=utf-8"
)

// partSummary is the result of one part of a file, until the results of all parts are joined.
type partSummary struct {
	Output
	Letters     csvimport.Piece `json:"lettersPiece"`
	Corrections csvimport.Piece `json:"correctionsPiece"` // without a header
}

// partPlace returns the location of an object with the results of a part, in the folder of the list of parts.
func partPlace(list csvimport.Location, number int, name string) csvimport.Location {
	return csvimport.Location{Bucket: list.Bucket, Key: fmt.Sprintf("%s/results-%05d-%s", path.Dir(list.Key), number, name)}
}

// aggregatePart stores the results of a part. It returns the part to be applied next or, if there is none, the summary
// of the whole file.
func (a *Aggregator) aggregatePart(ctx context.Context, r *run, out Output) (Output, error) {
	part := r.in.Part
	s := partSummary{Output: out}
	if err := r.letters.flush(); err != nil {
		return Output{}, err
	}
	if err := r.corrections.Flush(); err != nil {
		return Output{}, err
	}
	for _, x := range []struct {
		file              *spool.File
		to                *csvimport.Piece
		name, contentType string
	}{
		{r.lettersFile, &s.Letters, "dead-letters.jsonl", lettersType},
		{r.correctionsFile, &s.Corrections, "corrections.csv", correctionsType},
	} {
		*x.to = csvimport.Piece{Location: partPlace(part.List, part.Number, x.name), Size: x.file.Size()}
		if x.to.Size == 0 {
			continue
		}
		if err := x.file.Put(ctx, a.Objects, x.to.Location, x.contentType); err != nil {
			return Output{}, err
		}
	}
	if err := csvimport.PutJSON(ctx, a.Objects, partPlace(part.List, part.Number, "summary.json"), s); err != nil {
		return Output{}, err
	}
	if part.Last() || r.in.MapError != nil {
		return a.joinParts(ctx, r, out)
	}
	var list csvimport.PartList
	if err := csvimport.GetJSON(ctx, a.Objects, part.List, &list); err != nil {
		return Output{}, missingResult(r.in, err)
	}
	number := part.Number + 1
	out.Next = &Next{Results: r.in.Results}
	out.Next.Report.Rows = list.Parts[number].Rows
	out.Next.Report.Data.Location, out.Next.Report.Data.Letters = list.Parts[number].Data, r.in.Data.Letters
	out.Next.Report.Part = list.Part(number, part.List)
	out.Next.Results.Prefix = strings.TrimSuffix(r.in.Results.Prefix, partFolder(part.Number)) + partFolder(number)
	return out, nil
}

// partFolder returns the end of the prefix of a part's result files. The first part has none.
func partFolder(number int) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("/part-%05d", number)
}

// joinParts adds up the results of all parts that were applied, joins their dead letters and corrections, and concludes
// the import.
func (a *Aggregator) joinParts(ctx context.Context, r *run, last Output) (Output, error) {
	parts := make([]partSummary, r.in.Part.Number+1)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i := range parts {
		group.Go(func() error {
			at := partPlace(r.in.Part.List, i, "summary.json")
			return missingResult(r.in, csvimport.GetJSON(within, a.Objects, at, &parts[i]))
		})
	}
	if err := group.Wait(); err != nil {
		return Output{}, err
	}
	out := last
	out.Last = &last
	out.Rows, out.Applied, out.AlreadyApplied, out.Rejected, out.DeadLettered = r.in.Part.Total, 0, 0, 0, 0
	out.SettledAsApplied, out.Recovered = 0, 0
	out.Errors, out.BatchErrors, out.Retried = map[string]int64{}, map[string]int64{}, map[string]int64{}
	var rows int64
	var letters, corrections []csvimport.Piece
	for _, p := range parts {
		rows += p.Rows
		out.Applied, out.AlreadyApplied = out.Applied+p.Applied, out.AlreadyApplied+p.AlreadyApplied
		out.Rejected, out.DeadLettered = out.Rejected+p.Rejected, out.DeadLettered+p.DeadLettered
		out.SettledAsApplied, out.Recovered = out.SettledAsApplied+p.SettledAsApplied, out.Recovered+p.Recovered
		addAll(out.Errors, p.Errors)
		addAll(out.BatchErrors, p.BatchErrors)
		addAll(out.Retried, p.Retried)
		letters, corrections = append(letters, p.Letters), append(corrections, p.Corrections)
	}
	out.NotStarted = out.Rows - rows
	out.judge()
	if out.NotStarted < 0 || out.NotStarted > 0 && r.in.MapError == nil {
		return Output{}, csvimport.Fail(statemachine.AggregateMismatch, "execution %s: the parts have %d rows, the file has %d",
			r.in.Execution, rows, out.Rows)
	}
	if err := a.Objects.Join(ctx, out.DeadLetters, nil, letters, lettersType); err != nil {
		return Output{}, err
	}
	if err := a.Objects.Join(ctx, out.Corrections, []byte(csvfile.CorrectionsHeader()), corrections,
		correctionsType); err != nil {
		return Output{}, err
	}
	if err := a.writeSummary(ctx, out); err != nil {
		return Output{}, err
	}
	return out, a.conclude(ctx, r.in, out)
}

// readers is the number of summaries that are read at a time.
const readers = 16

func addAll(to, from map[string]int64) {
	for name, n := range from {
		to[name] += n
	}
}
