package aggregate

import (
	"bytes"
	"context"
	"encoding/json"

	"stepback/csvimport"
)

// sum builds the summary, or fails if the outcomes do not add up.
func (r *run) sum() (Output, error) {
	out := Output{
		Source:                     r.in.Source,
		Execution:                  r.in.Execution,
		StartTime:                  r.in.StartTime,
		EndTime:                    r.aggregator.now(),
		Rows:                       r.in.Rows,
		Applied:                    r.tally.count(csvimport.Applied),
		AlreadyApplied:             r.tally.count(csvimport.AlreadyApplied),
		Rejected:                   r.tally.count(csvimport.Rejected),
		DeadLettered:               r.tally.count(csvimport.DeadLettered),
		SettledAsApplied:           r.settled,
		ToleratedFailurePercentage: r.in.ToleratedFailurePercentage,
		MapError:                   r.in.MapError,
		Errors:                     r.errors,
		BatchErrors:                r.batchErrors,
		Retried:                    r.retried,
		Recovered:                  r.recovered,
		LeftOut:                    r.in.Data.LeftOut,
		Letters:                    r.in.Data.Letters,
		Summary:                    r.in.Output.object("summary.json"),
		DeadLetters:                r.in.Output.object("dead-letters.jsonl"),
		Corrections:                r.in.Output.object("corrections.csv"),
	}
	if total := out.Applied + out.AlreadyApplied + out.Rejected + out.DeadLettered; total != out.Rows {
		return Output{}, r.mismatch("%d applied, %d already applied, %d rejected and %d dead-lettered are %d rows, the file has %d",
			out.Applied, out.AlreadyApplied, out.Rejected, out.DeadLettered, total, out.Rows)
	}
	if out.Rows > 0 {
		out.FailedPercentage = 100 * float64(out.Rejected+out.DeadLettered) / float64(out.Rows)
	}
	out.WithinTolerance = out.MapError == nil && out.FailedPercentage <= out.ToleratedFailurePercentage
	return out, nil
}

// write stores the three objects. The summary is the last, so that the other two exist once it does.
func (r *run) write(ctx context.Context, out Output) error {
	objects := r.aggregator.Objects
	if err := r.letters.flush(); err != nil {
		return err
	}
	if err := r.lettersFile.Put(ctx, objects, out.DeadLetters, "application/x-ndjson"); err != nil {
		return err
	}
	if err := r.corrections.Flush(); err != nil {
		return err
	}
	if err := r.correctionsFile.Put(ctx, objects, out.Corrections, "text/csv; charset=utf-8"); err != nil {
		return err
	}
	summary, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	summary = append(summary, '\n')
	return objects.Put(ctx, out.Summary, bytes.NewReader(summary), int64(len(summary)), "application/json")
}
