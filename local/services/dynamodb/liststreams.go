package dynamodb

import (
	"context"
	"slices"
	"strings"

	"stepback/aws"
)

type listStreams struct {
	Table string `json:"TableName"`
	Limit int
	After string `json:"ExclusiveStartStreamArn"`
}

type streams struct {
	Streams []listedStream
	Last    string `json:"LastEvaluatedStreamArn,omitempty"`
}

type listedStream struct {
	ARN   string `json:"StreamArn"`
	Table string `json:"TableName"`
	Label string `json:"StreamLabel"`
}

const mostListed = 100

func (s *Service) listStreams(_ context.Context, scope aws.Scope, in *listStreams) (*streams, error) {
	out := &streams{Streams: []listedStream{}}
	s.mu.RLock()
	for _, st := range s.streams {
		if st.scope() == scope && (in.Table == "" || in.Table == st.Table) && st.arn() > in.After {
			out.Streams = append(out.Streams, listedStream{st.arn(), st.Table, st.Label})
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(out.Streams, func(a, b listedStream) int { return strings.Compare(a.ARN, b.ARN) })
	limit := mostListed
	if in.Limit > 0 {
		limit = min(in.Limit, limit)
	}
	if len(out.Streams) > limit {
		out.Streams = out.Streams[:limit]
		out.Last = out.Streams[limit-1].ARN
	}
	return out, nil
}

// stream returns the stream with an ARN.
func (s *Service) stream(arn string) (*stream, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, st := range s.streams {
		if st.arn() == arn {
			return st, nil
		}
	}
	return nil, &aws.Error{Code: errNoTable.Code, Message: "Requested resource not found: Stream: " + arn + " not found"}
}
