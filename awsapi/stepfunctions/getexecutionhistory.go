package stepfunctions

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"stepback/awsapi/awsjson"
	"stepback/engine/history"
)

type getExecutionHistoryRequest struct {
	ARN         string `json:"executionArn"`
	Reverse     bool   `json:"reverseOrder"`
	IncludeData *bool  `json:"includeExecutionData"`
	paged
}

var getExecutionHistoryMembers = with(paging(maxToken),
	executionARN(),
	awsjson.Member{Name: "reverseOrder", Kind: awsjson.Boolean},
	awsjson.Member{Name: "includeExecutionData", Kind: awsjson.Boolean},
)

type getExecutionHistoryResponse struct {
	Events    []json.RawMessage `json:"events"`
	NextToken string            `json:"nextToken,omitempty"`
}

// place is that of an event in the order that the request asks for.
func (in *getExecutionHistoryRequest) place(id int64) string {
	if in.Reverse {
		id = math.MaxInt32 - id
	}
	return fmt.Sprintf("%010d", id)
}

func (s *Service) getExecutionHistory(ctx context.Context, scope awsjson.Scope, in *getExecutionHistoryRequest) (*getExecutionHistoryResponse, error) {
	e, _, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	events, err := e.History(ctx, in.ARN)
	if err != nil {
		return nil, err
	}
	if in.Reverse {
		slices.Reverse(events)
	}
	asked := s.listing("history", in.ARN, strconv.FormatBool(in.Reverse))
	cut, next, err := page(in.paged, asked, events, func(ev history.Event) string { return in.place(ev.ID) })
	if err != nil {
		return nil, err
	}
	data := in.IncludeData == nil || *in.IncludeData
	out := &getExecutionHistoryResponse{Events: make([]json.RawMessage, len(cut)), NextToken: next}
	for i := range cut {
		out.Events[i] = cut[i].AppendJSON(nil, data)
	}
	return out, nil
}
