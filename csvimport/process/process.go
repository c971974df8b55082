// Package process implements the ProcessSingleUserRecord step: each record adds one increment to one user, exactly
// once.
//
// It never retries: errors have names, and the state machine decides.
package process

import (
	"context"

	"stepback/csvimport"
	"stepback/retry"
)

// Input is the step's event.
type Input struct {
	Source csvimport.Source  `json:"source"`
	Run    string            `json:"run"`    // identifies the importing execution
	Offset csvimport.Offset  `json:"offset"` // position of the rows' part in the file
	Row    *int64            `json:"row"`    // from 0, in the part
	Record *csvimport.Record `json:"record"`
}

// Output is the step's result.
type Output struct {
	Outcome csvimport.Outcome `json:"outcome"` // applied or alreadyApplied
	Row     int64             `json:"row"`
	UserID  string            `json:"userId"`
}

// Process applies one record. A record that violates a business rule is a ValidationError; a malformed event is
// InvalidInput; errors of the store keep their names.
func Process(ctx context.Context, store csvimport.Store, in Input) (Output, error) {
	if err := check(in); err != nil {
		return Output{}, err
	}
	inc, err := in.Offset.Increment(in.Record)
	if err != nil {
		return Output{}, err
	}
	outcome, err := store.Apply(ctx, csvimport.Run{File: in.Source.Normal(), Name: in.Run}, in.Offset.Rows+*in.Row, inc)
	if err != nil {
		return Output{}, err
	}
	return Output{Outcome: outcome, Row: *in.Row, UserID: inc.UserID}, nil
}

func check(in Input) error {
	if err := in.Source.Check(); err != nil {
		return err
	}
	switch {
	case in.Row == nil:
		return csvimport.Fail(retry.InvalidInput,
			"the event lacks row, the number of the record in the file, from 0")
	case *in.Row < 0:
		return csvimport.Fail(retry.InvalidInput, "row is %d; rows are numbered from 0", *in.Row)
	case in.Record == nil:
		return csvimport.Fail(retry.InvalidInput,
			"the event lacks record, the columns user_id, login_count and post_count as text")
	}
	return nil
}
