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
	if in.Limit > mostListed {
		return nil, tooHigh(in.Limit, mostListed)
	}
	if in.After != "" && !isStreamARN(in.After) {
		return nil, invalidf("Invalid StreamArn: Invalid ResourceArn provided as input %s", in.After)
	}
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

// tooHigh returns the error for a Limit above the maximum.
func tooHigh(limit, most int) error {
	return invalidf("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value less "+
		"than or equal to %d", limit, most)
}

// isStreamARN reports whether a text has the form of a stream's ARN.
func isStreamARN(text string) bool {
	arn, ok := aws.ParseARN(text)
	return ok && arn.Service == "dynamodb" && strings.HasPrefix(arn.Resource, "table/") && strings.Contains(arn.Resource, "/stream/")
}

// stream returns the stream with an ARN.
func (s *Service) stream(arn string) (*stream, error) {
	if !isStreamARN(arn) {
		return nil, invalidf("Invalid StreamArn: Invalid ResourceArn provided as input %s", arn)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, st := range s.streams {
		if st.arn() == arn {
			return st, nil
		}
	}
	return nil, &aws.Error{Code: errNoTable.Code, Message: "Requested resource not found: Stream: " + arn + " not found"}
}
