package stepfunctions

import (
	"context"
	"encoding/json"
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
	cut, next, err := page(in.paged, events, func(ev history.Event) string { return strconv.FormatInt(ev.ID, 10) })
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
