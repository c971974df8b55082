package maprun

import (
	"context"
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/engine/journal"
	"stepback/engine/resultwriter"
)

// results collects the results of child executions and builds the Map state's output.
type results interface {
	add(x *journal.Execution) error
	// pending adds a batch whose child was never started.
	pending(child Machine, name string, b batch) error
	finish(ctx context.Context) (string, error)
	abort()
}

// openSink prepares the ResultWriter, or the collection of the results in the state's output.
func (m *Run) openSink() (results, error) {
	w := m.Call.State.Map.Writer
	if w == nil || w.Resource == "" {
		t := resultwriter.Transformation("")
		if w != nil {
			t = resultwriter.Transformation(w.Transformation)
		}
		return &collected{resultwriter.NewCollector(t)}, nil
	}
	if m.Objects == nil {
		return nil, &history.Failure{Name: plan.ErrResultWriterFailed,
			Cause: "No object store is configured for the ResultWriter."}
	}
	text := func(field string) string {
		v, _ := m.Call.WriterParameters.Get(field)
		return v.Text()
	}
	writer, err := resultwriter.New(m.Objects, resultwriter.Config{
		Bucket: text("Bucket"), Prefix: text("Prefix"), MapRunARN: m.Call.ARN, SpoolDir: m.TempDir,
		Transformation: resultwriter.Transformation(w.Transformation),
		OutputType:     resultwriter.OutputType(w.OutputType),
	})
	if err != nil {
		return nil, writerError(err)
	}
	return &exported{writer}, nil
}

// writerError converts an error of the ResultWriter to the failure that the workflow sees.
func writerError(err error) error {
	var failed *resultwriter.Error
	if errors.As(err, &failed) {
		return &history.Failure{Name: plan.ErrResultWriterFailed, Cause: failed.Cause}
	}
	var large *resultwriter.DataLimitError
	if errors.As(err, &large) {
		return &history.Failure{Name: plan.ErrDataLimitExceeded, Cause: large.Cause()}
	}
	return err
}

// exported writes results to S3.
type exported struct{ writer *resultwriter.Writer }

func (s *exported) add(x *journal.Execution) error {
	if err := s.writer.Add(resultOf(x)); err != nil {
		return writerError(err)
	}
	return nil
}

func (s *exported) pending(child Machine, name string, b batch) error {
	err := s.writer.Add(resultwriter.ChildResult{
		Status: resultwriter.Pending, ExecutionARN: history.ExecutionARN(child.ARN, name), Name: name,
		StateMachineARN: child.ARN, Input: b.input,
	})
	if err != nil {
		return writerError(err)
	}
	return nil
}

func (s *exported) finish(ctx context.Context) (string, error) {
	export, err := s.writer.Finish(ctx)
	if err != nil {
		return "", writerError(err)
	}
	return export.StateOutput().JSON(), nil
}

func (s *exported) abort() { _ = s.writer.Abort() } // only temporary files remain

// collected collects results in the state's output.
type collected struct{ collector *resultwriter.Collector }

func (s *collected) add(x *journal.Execution) error {
	if x.Status != history.Succeeded {
		return nil
	}
	if err := s.collector.Add(x.FirstItem, resultOf(x)); err != nil {
		return writerError(err)
	}
	return nil
}

func (s *collected) pending(Machine, string, batch) error { return nil }

func (s *collected) finish(context.Context) (string, error) {
	out, err := s.collector.Finish()
	if err != nil {
		return "", writerError(err)
	}
	return string(out), nil
}

func (s *collected) abort() {}

// nowhere discards results until the ResultWriter exists.
type nowhere struct{}

func (nowhere) add(*journal.Execution) error           { return nil }
func (nowhere) pending(Machine, string, batch) error   { return nil }
func (nowhere) finish(context.Context) (string, error) { return "", nil }
func (nowhere) abort()                                 {}

func resultOf(x *journal.Execution) resultwriter.ChildResult {
	r := resultwriter.ChildResult{
		Status: resultwriter.Status(x.Status), ExecutionARN: x.ARN, Name: x.Name, StateMachineARN: x.MachineARN,
		Input: x.Input, Output: x.Output, Error: x.Failure.Name, Cause: x.Failure.Cause, StartDate: x.Start,
		StopDate: x.Stop, RedriveCount: x.RedriveCount,
	}
	switch x.Status {
	case history.Succeeded:
		r.RedriveStatus, r.RedriveStatusReason = "NOT_REDRIVABLE", "Execution is SUCCEEDED and cannot be redriven"
	case history.Running:
	default:
		r.RedriveStatus = "REDRIVABLE_BY_MAP_RUN"
	}
	return r
}
