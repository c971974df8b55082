package process

import (
	"context"
	"encoding/json"
	"time"

	"stepback/csvimport"
	"stepback/retry"
)

// BatchInput is the step's event for several rows.
type BatchInput struct {
	Source csvimport.Source `json:"source"`
	Run    string           `json:"run"`
	Offset csvimport.Offset `json:"offset"` // position of the rows' part in the file
	Items  []Item           `json:"items"`
}

// Item is one row of a batch. It keeps the original text of the record, because a row that a batch leaves to be
// processed individually is passed on unchanged.
type Item struct {
	Row    *int64            `json:"row"` // from 0, in the part
	Record *csvimport.Record `json:"record"`

	came string // JSON text of the record, an object; empty if there was none
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Item) UnmarshalJSON(text []byte) error {
	var raw struct {
		Row    *int64          `json:"row"`
		Record json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	i.Row = raw.Row
	if raw.Record == nil {
		return nil
	}
	if raw.Record[0] == '{' {
		i.came = string(raw.Record)
	}
	return json.Unmarshal(raw.Record, &i.Record)
}

// MarshalJSON implements json.Marshaler.
func (i Item) MarshalJSON() ([]byte, error) {
	record, err := i.record()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Row    *int64          `json:"row"`
		Record json.RawMessage `json:"record"`
	}{i.Row, record})
}

// record returns the record as it was received.
func (i Item) record() (json.RawMessage, error) {
	if i.came != "" {
		return json.RawMessage(i.came), nil
	}
	return json.Marshal(i.Record)
}

// BatchOutput is the step's result for several rows. Each row is in exactly one of its lists.
type BatchOutput struct {
	// Applied and AlreadyApplied are ranges of rows: the first and the last number of each.
	Applied        Ranges `json:"applied"`
	AlreadyApplied Ranges `json:"alreadyApplied"`
	// Rejected are rows that violate a business rule, in the form in which the state machine reports them. GiveUp adds
	// dead-lettered rows.
	Rejected []Rejection `json:"rejected"`
	// OneByOne are the rows that failed for other reasons and are to be processed individually.
	OneByOne []Item `json:"oneByOne"`
	// Errors counts the failures of the rows in OneByOne by name.
	Errors map[string]int64 `json:"errors,omitempty"`
}

// Rejection is the result of a rejected or dead-lettered row.
type Rejection struct {
	Outcome csvimport.Outcome `json:"outcome"`
	Row     int64             `json:"row"`
	Record  json.RawMessage   `json:"record"`
	Error   string            `json:"error"`
	Cause   string            `json:"cause"`
	// Attempts, FirstTime and LastTime are set for dead-lettered rows: the number of attempts of their batch, and the
	// RFC 3339 times of the first and the last.
	Attempts  int    `json:"attempts,omitempty"`
	FirstTime string `json:"firstTime,omitempty"`
	LastTime  string `json:"lastTime,omitempty"`
}

// GivenUp says why and when the rows of a batch were given up.
type GivenUp struct {
	Failure     *csvimport.Failure
	Attempts    int       // the number of attempts of the batch
	First, Last time.Time // the times of the first and the last; zero means unknown
}

// GiveUp returns the output of a batch whose rows are all dead-lettered. The error is that of a row without a record.
func GiveUp(items []Item, given GivenUp) (BatchOutput, error) {
	out := BatchOutput{Applied: Ranges{}, AlreadyApplied: Ranges{}, Rejected: make([]Rejection, 0, len(items)),
		OneByOne: []Item{}}
	for i := range items {
		if err := items[i].check(); err != nil {
			return out, err
		}
		record, err := items[i].record()
		if err != nil {
			return out, err
		}
		out.Rejected = append(out.Rejected, Rejection{Outcome: csvimport.DeadLettered, Row: *items[i].Row,
			Record: record,
			Error:  given.Failure.Name, Cause: given.Failure.Message, Attempts: given.Attempts,
			FirstTime: written(given.First), LastTime: written(given.Last)})
	}
	return out, nil
}

func written(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Ranges are row numbers as pairs: the first and the last of each range.
type Ranges [][2]int64

// Add appends a number, extending the last range if the number follows it.
func (r *Ranges) Add(row int64) {
	if n := len(*r); n > 0 && (*r)[n-1][1] == row-1 {
		(*r)[n-1][1] = row
		return
	}
	*r = append(*r, [2]int64{row, row})
}

// Batch applies the rows of a batch in one transaction. Failures of single rows are in the output. An error
// concerns the whole batch: a malformed event is InvalidInput, and errors of the store keep their names.
func Batch(ctx context.Context, store csvimport.Store, in BatchInput) (BatchOutput, error) {
	out := BatchOutput{Applied: Ranges{}, AlreadyApplied: Ranges{}, Rejected: []Rejection{}, OneByOne: []Item{}}
	if err := in.Source.Check(); err != nil {
		return out, err
	}
	items := make([]*Item, 0, len(in.Items))
	rows := make([]csvimport.Row, 0, len(in.Items))
	for i := range in.Items {
		item := &in.Items[i]
		if err := item.check(); err != nil {
			return out, err
		}
		inc, err := in.Offset.Increment(item.Record)
		if err != nil {
			if err := out.failed(item, err); err != nil {
				return out, err
			}
			continue
		}
		items, rows = append(items, item), append(rows, csvimport.Row{Number: in.Offset.Rows + *item.Row,
			Increment: inc})
	}
	answers, err := store.ApplyBatch(ctx, csvimport.Run{File: in.Source.Normal(), Name: in.Run}, rows)
	if err != nil {
		return out, err
	}
	for i, a := range answers {
		switch {
		case a.Err != nil:
			if err := out.failed(items[i], a.Err); err != nil {
				return out, err
			}
		case a.Outcome == csvimport.Applied:
			out.Applied.Add(*items[i].Row)
		default:
			out.AlreadyApplied.Add(*items[i].Row)
		}
	}
	return out, nil
}

func (i *Item) check() error {
	switch {
	case i.Row == nil:
		return csvimport.Fail(retry.InvalidInput,
			"an item of the event lacks row, the number of the record in the file, from 0")
	case *i.Row < 0:
		return csvimport.Fail(retry.InvalidInput, "row is %d; rows are numbered from 0", *i.Row)
	case i.Record == nil:
		return csvimport.Fail(retry.InvalidInput,
			"item with row %d lacks record, the columns user_id, login_count and post_count as text", *i.Row)
	}
	return nil
}

// failed records the failure of one row.
func (o *BatchOutput) failed(item *Item, failure error) error {
	f := csvimport.AsFailure(failure)
	if f.Name != retry.ValidationError {
		o.leave(*item, f.Name)
		return nil
	}
	record, err := item.record()
	o.Rejected = append(o.Rejected, Rejection{Outcome: csvimport.Rejected, Row: *item.Row, Record: record,
		Error: f.Name,
		Cause: f.Message})
	return err
}

// leave adds a row to those that are to be processed individually, and counts its error.
func (o *BatchOutput) leave(item Item, name string) {
	if o.Errors == nil {
		o.Errors = map[string]int64{}
	}
	o.OneByOne = append(o.OneByOne, item)
	o.Errors[name]++
}

// Event is the function's event, for one row or several.
type Event struct {
	Input
	Items []Item `json:"items"`
}

// Answer is the function's response, for one row or several.
type Answer struct {
	Row   *Output
	Batch *BatchOutput
}

// MarshalJSON marshals whichever of the two is set.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.Batch != nil {
		return json.Marshal(a.Batch)
	}
	return json.Marshal(a.Row)
}

// Handle calls Batch for an event with items and Process for any other.
func Handle(ctx context.Context, store csvimport.Store, in Event) (Answer, error) {
	if in.Items != nil {
		out, err := Batch(ctx, store, BatchInput{in.Source, in.Run, in.Offset, in.Items})
		return Answer{Batch: &out}, err
	}
	out, err := Process(ctx, store, in.Input)
	return Answer{Row: &out}, err
}
