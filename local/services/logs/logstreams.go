package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type logStreamRequest struct {
	Group  string `json:"logGroupName"`
	Stream string `json:"logStreamName"`
}

func (s *Service) createLogStream(_ context.Context, scope aws.Scope, r *logStreamRequest) (*none, error) {
	err := s.store.CreateStream(in(scope), r.Group, r.Stream)
	if errors.Is(err, logstore.ErrExists) {
		return nil, errStreamExists
	}
	return &none{}, err
}

func (s *Service) deleteLogStream(_ context.Context, scope aws.Scope, r *logStreamRequest) (*none, error) {
	return &none{}, s.store.DeleteStream(in(scope), r.Group, r.Stream)
}

const byLastEvent = "LastEventTime"

type describeLogStreamsRequest struct {
	groupRequest
	Prefix     string `json:"logStreamNamePrefix"`
	OrderBy    string `json:"orderBy"`
	Descending bool   `json:"descending"`
	paged
}

// describedStream is a stream in responses. It omits the event times of a stream without events.
type describedStream struct {
	Name          string `json:"logStreamName"`
	Created       int64  `json:"creationTime"`
	First         int64  `json:"firstEventTimestamp,omitempty"`
	Last          int64  `json:"lastEventTimestamp,omitempty"`
	Ingestion     int64  `json:"lastIngestionTime,omitempty"`
	SequenceToken string `json:"uploadSequenceToken,omitempty"`
	ARN           string `json:"arn"`
	Bytes         int64  `json:"storedBytes"` // has been 0 since 2019
}

type describeLogStreamsResponse struct {
	Streams   []describedStream `json:"logStreams"`
	NextToken string            `json:"nextToken,omitempty"`
}

// sequenceToken is the upload sequence token of every stream; clients no longer need one.
const sequenceToken = "49039859627555124174893530829160120000000000000000000000"

func (s *Service) describeLogStreams(_ context.Context, scope aws.Scope,
	r *describeLogStreamsRequest) (*describeLogStreamsResponse, error) {
	group, err := r.name()
	if err != nil {
		return nil, err
	}
	if r.Prefix != "" && r.OrderBy == byLastEvent {
		return nil, invalid("Cannot order by LastEventTime with a logStreamNamePrefix.")
	}
	found, err := s.store.Streams(in(scope), group, r.Prefix)
	if err != nil {
		return nil, err
	}
	r.sort(found)
	found, next, err := pageOfStreams(r, found)
	if err != nil {
		return nil, err
	}
	out := &describeLogStreamsResponse{Streams: make([]describedStream, len(found)), NextToken: next}
	for i, st := range found {
		out.Streams[i] = describedStream{
			Name: st.Name, Created: st.Created, First: st.First, Last: st.Last, Ingestion: st.Ingestion,
			ARN: groupARN(scope, group) + ":log-stream:" + st.Name,
		}
		if st.Last != 0 {
			out.Streams[i].SequenceToken = sequenceToken
		}
	}
	return out, nil
}

func (r *describeLogStreamsRequest) sort(streams []logstore.Stream) {
	if r.OrderBy == byLastEvent {
		slices.SortStableFunc(streams, func(a, b logstore.Stream) int { return cmp.Compare(a.Last, b.Last) })
	}
	if r.Descending {
		slices.Reverse(streams)
	}
}

// pageOfStreams returns one page. The token contains the number of streams on earlier pages, whose order may have
// changed since then.
func pageOfStreams(r *describeLogStreamsRequest, streams []logstore.Stream) (found []logstore.Stream, next string,
	err error) {
	at := 0
	if r.NextToken != "" {
		if _, err := fmt.Sscanf(r.NextToken, "streams-%d", &at); err != nil || at < 0 || at > math.MaxInt32 {
			return nil, "", errToken
		}
	}
	streams = streams[min(at, len(streams)):]
	limit := cmp.Or(r.Limit, maxPage)
	if len(streams) <= limit {
		return streams, "", nil
	}
	return streams[:limit], fmt.Sprintf("streams-%d", at+limit), nil
}
