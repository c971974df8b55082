package aggregate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"stepback/csvimport"
	"stepback/csvimport/mapresults"
)

// readResults reads all result files.
func (r *run) readResults(ctx context.Context, m mapresults.Manifest) error {
	for _, group := range []struct {
		files []mapresults.File
		read  func(context.Context, *json.Decoder) error
	}{
		{m.ResultFiles.SUCCEEDED, r.readSucceeded},
		{m.ResultFiles.FAILED, r.readFailed},
		{m.ResultFiles.PENDING, r.readPending},
	} {
		for _, file := range group.files {
			at := csvimport.Location{Bucket: m.DestinationBucket, Key: file.Key}
			if err := mapresults.Each(ctx, r.aggregator.Objects, at, group.read); err != nil {
				return missingResult(r.in, err)
			}
		}
	}
	return r.settle(ctx)
}

// succeeded is a successful child: either only its output (Transformation COMPACT), or a full record that contains
// the output as text. Its input is not used.
type succeeded struct {
	childOutput
	Name, Output, ExecutionArn string
}

// readSucceeded reads one successful child.
func (r *run) readSucceeded(ctx context.Context, decoder *json.Decoder) error {
	var child succeeded
	if err := decoder.Decode(&child); err != nil {
		return err
	}
	if child.Output != "" {
		if err := json.Unmarshal([]byte(child.Output), &child.childOutput); err != nil {
			return fmt.Errorf("the output of child execution %s: %w", child.Name, err)
		}
	}
	r.child = child.ExecutionArn
	if err := r.countChild(ctx, &child.childOutput); err != nil {
		var f *csvimport.Failure
		switch {
		case errors.As(err, &f):
			return err
		case child.Name != "":
			return fmt.Errorf("the output of child execution %s: %w", child.Name, err)
		}
		return fmt.Errorf("the output of a child execution: %w", err)
	}
	return nil
}

// childOutput is the output of a child execution in any shape: the lists of a batch, the result of a single row,
// or, in bulk, the response of a batch with the lists of the rows that it left to be processed one by one.
type childOutput struct {
	result
	Applied        rowList          `json:"applied"`
	AlreadyApplied rowList          `json:"alreadyApplied"`
	Failed         []result         `json:"failed"`
	Rejected       []result         `json:"rejected"`
	OneByOne       *childOutput     `json:"oneByOne"`
	Errors         map[string]int64 `json:"errors"` // counts rows that a batch left, by error name

	left bool // true if these are rows that a batch left
}

// BatchFailed is the key in Output.Retried for rows whose batch failed as a whole, so that they were processed one by
// one.
const BatchFailed = "BatchFailed"

// rowList lists row numbers, as single numbers or as pairs of the first and last of a range.
type rowList [][2]int64

// UnmarshalJSON implements json.Unmarshaler.
func (l *rowList) UnmarshalJSON(text []byte) error {
	var pairs [][2]int64
	if json.Unmarshal(text, &pairs) == nil {
		*l = pairs
		return nil
	}
	var numbers []int64
	if err := json.Unmarshal(text, &numbers); err != nil {
		return err
	}
	for _, n := range numbers {
		*l = append(*l, [2]int64{n, n})
	}
	return nil
}

// result is the result of one row.
type result struct {
	Outcome   csvimport.Outcome `json:"outcome"`
	Row       *int64            `json:"row"`
	Record    json.RawMessage   `json:"record"`
	Error     string            `json:"error"`
	Cause     string            `json:"cause"`
	Attempts  int64             `json:"attempts"`
	FirstTime string            `json:"firstTime"`
	LastTime  string            `json:"lastTime"`
	Child     string            `json:"child"` // ARN of the child execution, if its record is not kept
}

func (r *run) countChild(ctx context.Context, out *childOutput) error {
	if out.Outcome != "" {
		return r.countResult(ctx, out.result)
	}
	if err := r.countRows(out.Applied, csvimport.Applied); err != nil {
		return err
	}
	if err := r.countRows(out.AlreadyApplied, csvimport.AlreadyApplied); err != nil {
		return err
	}
	for _, result := range append(out.Rejected, out.Failed...) {
		if err := r.countResult(ctx, result); err != nil {
			return err
		}
	}
	for name, n := range out.Errors {
		r.batchErrors[name] += n
	}
	if out.OneByOne != nil {
		r.countRetried(out)
		return r.countChild(ctx, out.OneByOne)
	}
	for _, result := range out.Failed {
		if result.Attempts > 1 && !out.left {
			r.retried[result.Error]++
		}
	}
	return nil
}

// countRetried adds the rows that a batch left to be processed one by one to the counts of retries.
func (r *run) countRetried(out *childOutput) {
	out.OneByOne.left = true
	recovered := out.OneByOne.Applied.rows() + out.OneByOne.AlreadyApplied.rows()
	rest := recovered + int64(len(out.OneByOne.Failed))
	for name, n := range out.Errors {
		r.retried[name] += n
		rest -= n
	}
	if rest > 0 {
		r.retried[BatchFailed] += rest
	}
	r.recovered += recovered
}

// rows returns the number of rows in a list.
func (l rowList) rows() int64 {
	var n int64
	for _, span := range l {
		n += span[1] - span[0] + 1
	}
	return n
}

func (r *run) countRows(rows rowList, outcome csvimport.Outcome) error {
	for _, span := range rows {
		for row := span[0]; row <= span[1]; row++ {
			if _, err := r.count(row, outcome); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) countResult(ctx context.Context, res result) error {
	if res.Row == nil {
		return errors.New("a result lacks its row")
	}
	switch res.Outcome {
	case csvimport.Applied, csvimport.AlreadyApplied:
		_, err := r.count(*res.Row, res.Outcome)
		return err
	case csvimport.Rejected:
		return r.notApplied(ctx, letterOf(res, ""))
	case csvimport.DeadLettered:
		l := letterOf(res, reasonOf(res))
		l.Child = cmp.Or(res.Child, r.child)
		return r.notApplied(ctx, l)
	}
	return fmt.Errorf("row %d has the outcome %q, which is none of applied, alreadyApplied, rejected and deadLettered",
		*res.Row, res.Outcome)
}
