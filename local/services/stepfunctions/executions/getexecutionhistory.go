package executions

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions/paging"
)

type getExecutionHistoryRequest struct {
	ARN         string `json:"executionArn"`
	Reverse     bool   `json:"reverseOrder"`
	IncludeData *bool  `json:"includeExecutionData"`
	paging.Request
}

type getExecutionHistoryResponse struct {
	Events    []json.RawMessage `json:"events"`
	NextToken string            `json:"nextToken,omitempty"`
}

// place returns the sort key that orders events as requested.
func (in *getExecutionHistoryRequest) place(id int64) string {
	if in.Reverse {
		id = math.MaxInt32 - id
	}
	return fmt.Sprintf("%010d", id)
}

// maxHistoryPage is the maximum size of the events in a response, in bytes, unless a single event is larger.
const maxHistoryPage = 16 << 20

func (s *Service) getExecutionHistory(ctx context.Context, scope aws.Scope,
	in *getExecutionHistoryRequest) (*getExecutionHistoryResponse, error) {
	e, x, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	of := in.of(x)
	events := s.histories.get(of)
	if events == nil {
		if events, err = e.History(ctx, in.ARN); err != nil {
			return nil, err
		}
		if in.Reverse {
			slices.Reverse(events)
		}
	}
	asked := aws.NewListing(s.cfg.Now(), "history", in.ARN, strconv.FormatBool(in.Reverse))
	cut, next, err := paging.Cut(in.Request, asked, events, func(ev history.Event) string { return in.place(ev.ID) })
	if err != nil {
		return nil, err
	}
	out := &getExecutionHistoryResponse{Events: in.shown(cut), NextToken: next}
	if n := len(out.Events); n < len(cut) {
		out.NextToken = asked.Token(in.place(cut[n-1].ID))
	}
	switch {
	case out.NextToken == "":
		s.histories.forget(of)
	case x.Status != history.Running && in.NextToken == "":
		s.histories.keep(of, events)
	}
	return out, nil
}

// of returns a cache key for the history in its current state. The key changes with a redrive, because a redrive
// adds events.
func (in *getExecutionHistoryRequest) of(x *journal.Execution) string {
	return fmt.Sprint(in.Reverse, x.RedriveCount, x.Status, " ", in.ARN)
}

// shown returns as many of the events as fit into a response, as JSON.
func (in *getExecutionHistoryRequest) shown(events []history.Event) []json.RawMessage {
	data := in.IncludeData == nil || *in.IncludeData
	texts, size := make([]json.RawMessage, 0, len(events)), 0
	for i := range events {
		text := events[i].AppendJSON(nil, data)
		if size += len(text); size > maxHistoryPage && i > 0 {
			break
		}
		texts = append(texts, text)
	}
	return texts
}
