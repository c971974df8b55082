package aggregate

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/retry"
)

// Reasons for which a row becomes a dead letter.
const (
	reasonRetriesExhausted = "RetriesExhausted" // the last attempt failed like the previous ones
	reasonNotRetried       = "NotRetried"       // the first failure was final
	reasonNotWorthwhile    = "NotWorthwhile"    // another attempt was refused
	reasonChildFailed      = "ChildFailed"      // the child execution failed as a whole
	reasonNotStarted       = "NotStarted"       // the Map Run stopped before the row's turn
	reasonNotProcessed     = "NotProcessed"     // no result names the row
)

// settleBatch is the number of rows settled in one call.
const settleBatch = 500

// letter is a line in the dead-letters file.
type letter struct {
	Reason    string          `json:"reason"`
	Error     string          `json:"error"` // of the last attempt
	Cause     string          `json:"cause"`
	Attempts  int64           `json:"attempts"` // 0 if unknown
	FirstTime string          `json:"firstTime,omitempty"`
	LastTime  string          `json:"lastTime,omitempty"`
	Row       int64           `json:"row"`
	Line      int64           `json:"line"`            // line in the uploaded file
	Payload   json.RawMessage `json:"payload"`         // the record as it was read
	Child     string          `json:"child,omitempty"` // ARN of the child execution that processed the row
	Letter    string          `json:"letter"`          // ID of the dead letter

	// the outcome to record if the database has not counted the row: DeadLettered, or Rejected, which is not a dead
	// letter
	outcome csvimport.Outcome
}

func letterOf(res result, reason string) letter {
	return letter{
		Reason: reason, Error: res.Error, Cause: res.Cause, Attempts: res.Attempts,
		FirstTime: res.FirstTime, LastTime: res.LastTime, Row: *res.Row, Payload: res.Record, outcome: res.Outcome,
	}
}

func reasonOf(res result) string {
	switch {
	case res.Error == retry.RetryNotWorthwhile:
		return reasonNotWorthwhile
	case res.Attempts > 1:
		return reasonRetriesExhausted
	}
	return reasonNotRetried
}

// record returns the letter's payload, and the row's line. If the payload has no line, the data was read as it is in
// the file: the header is line 1, or the part has none, and each row is one line.
func (r *run) record(l *letter) (csvimport.Record, int64) {
	var record csvimport.Record
	_ = json.Unmarshal(l.Payload, &record) // any other payload has no columns to correct
	record = r.in.Part.Offset.Record(record)
	line, err := strconv.ParseInt(record.Line, 10, 64)
	switch {
	case err == nil:
	case r.in.Part.Count > 0:
		line = r.in.Part.Offset.Lines + l.Row + 1
	default:
		line = l.Row + 2
	}
	return record, line
}

// inFile changes the row of a letter, and the line in its payload, to those in the whole file.
func (r *run) inFile(l *letter, record csvimport.Record) error {
	l.Row += r.in.Part.Offset.Rows
	if r.in.Part.Offset.Lines == 0 || record.Line == "" {
		return nil
	}
	payload, err := json.Marshal(record)
	if err == nil {
		l.Payload = payload
	}
	return err
}

// notApplied queues a row to be settled in the database.
func (r *run) notApplied(ctx context.Context, l letter) error {
	if l.Row < 0 || l.Row >= r.in.Rows {
		_, err := r.count(l.Row, l.outcome)
		return err
	}
	r.unsettled = append(r.unsettled, l)
	if len(r.unsettled) < settleBatch {
		return nil
	}
	return r.settle(ctx)
}

// settle looks up the queued rows in the database. If the database has counted a row, in this run or an earlier
// one, it is applied. The others are closed, so that they can no longer be counted, and become dead letters or
// rejected rows. A row can be both counted and rejected, if its batch counted it and the response was lost.
func (r *run) settle(ctx context.Context) error {
	rows := make([]int64, len(r.unsettled))
	for i, l := range r.unsettled {
		rows[i] = r.in.Part.Offset.Rows + l.Row
	}
	decided, err := r.aggregator.Store.Settle(ctx, csvimport.Run{File: r.in.Source, Name: r.in.Run}, rows)
	if err != nil {
		return err
	}
	for i := range r.unsettled {
		if err := r.report(&r.unsettled[i], decided[i]); err != nil {
			return err
		}
	}
	r.unsettled = r.unsettled[:0]
	return nil
}

func (r *run) report(l *letter, decided csvimport.Outcome) error {
	counted := decided != csvimport.DeadLettered
	if before := r.tally.outcome(l.Row); counted && (before == csvimport.Applied ||
		before == csvimport.AlreadyApplied) {
		return nil // another result has already reported this outcome
	}
	if !counted {
		decided = l.outcome
	}
	fresh, err := r.count(l.Row, decided)
	if err != nil || !fresh {
		return err
	}
	switch decided {
	case csvimport.Applied:
		r.settled++
		return nil
	case csvimport.AlreadyApplied:
		return nil
	case csvimport.Rejected:
		return r.writeCorrection(*l)
	case csvimport.DeadLettered: // handled below
	}
	var record csvimport.Record
	record, l.Line = r.record(l)
	l.Letter = r.letterID(record, l.Line)
	written := *l
	if err := r.inFile(&written, record); err != nil {
		return err
	}
	if len(written.Payload) == 0 {
		written.Payload = json.RawMessage("null")
	}
	if err := r.letters.write(&written); err != nil {
		return err
	}
	return r.writeCorrection(*l)
}

// letterID returns the ID of a row's dead letter: the one that the row came out of, or a new one.
func (r *run) letterID(record csvimport.Record, line int64) string {
	if record.Letter != "" {
		return record.Letter
	}
	return csvimport.LetterID(cmp.Or(r.in.Data.Letters, csvimport.EarlierLetters(r.in.Source)), line)
}

// writeCorrection adds a row to the file that a user corrects and uploads again.
func (r *run) writeCorrection(l letter) error {
	r.errors[l.Error]++
	record, line := r.record(&l)
	return r.corrections.Write(csvfile.Correction{UserID: record.UserID, LoginCount: record.LoginCount,
		PostCount: record.PostCount, Line: line, Error: l.Error, Reason: messageOf(l.Cause),
		Letter: r.letterID(record, line)})
}

// messageOf returns the message inside a cause as Lambda writes it, or the whole cause if it has none.
func messageOf(cause string) string {
	var lambda struct {
		ErrorMessage string `json:"errorMessage"`
	}
	if json.Unmarshal([]byte(cause), &lambda) == nil && lambda.ErrorMessage != "" {
		return lambda.ErrorMessage
	}
	return cause
}
