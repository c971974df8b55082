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
		Summary:                    r.in.Output.Object("summary.json"),
		DeadLetters:                r.in.Output.Object("dead-letters.jsonl"),
		Corrections:                r.in.Output.Object("corrections.csv"),
	}
	if total := out.Applied + out.AlreadyApplied + out.Rejected + out.DeadLettered; total != out.Rows {
		return Output{}, r.mismatch("%d applied, %d already applied, %d rejected and %d dead-lettered are %d rows, the file has %d",
			out.Applied, out.AlreadyApplied, out.Rejected, out.DeadLettered, total, out.Rows)
	}
	out.judge()
	return out, nil
}

// judge compares the failed rows with the tolerance.
func (o *Output) judge() {
	o.FailedPercentage = 0
	if o.Rows > 0 {
		o.FailedPercentage = 100 * float64(o.Rejected+o.DeadLettered) / float64(o.Rows)
	}
	o.WithinTolerance = o.MapError == nil && o.FailedPercentage <= o.ToleratedFailurePercentage
}

// write stores the three objects. The summary is the last, so that the other two exist once it does.
func (r *run) write(ctx context.Context, out Output) error {
	objects := r.aggregator.Objects
	if err := r.letters.flush(); err != nil {
		return err
	}
	if err := r.lettersFile.Put(ctx, objects, out.DeadLetters, lettersType); err != nil {
		return err
	}
	if err := r.corrections.Flush(); err != nil {
		return err
	}
	if err := r.correctionsFile.Put(ctx, objects, out.Corrections, correctionsType); err != nil {
		return err
	}
	return r.aggregator.writeSummary(ctx, out)
}

// writeSummary stores the summary.
func (a *Aggregator) writeSummary(ctx context.Context, out Output) error {
	summary, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	summary = append(summary, '\n')
	return a.Objects.Put(ctx, out.Summary, bytes.NewReader(summary), int64(len(summary)), "application/json")
}
