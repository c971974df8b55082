package dynamodb

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type describeStream struct {
	ARN    string `json:"StreamArn"`
	After  string `json:"ExclusiveStartShardId"`
	Limit  int    // of shards; a stream has one
	Filter *struct {
		Type  string
		Shard string `json:"ShardId"`
	} `json:"ShardFilter"`
}

type describedStream struct {
	Description streamDescription `json:"StreamDescription"`
}

type streamDescription struct {
	ARN     string             `json:"StreamArn"`
	Label   string             `json:"StreamLabel"`
	Status  string             `json:"StreamStatus"`
	View    string             `json:"StreamViewType"`
	Created server.Time        `json:"CreationRequestDateTime"`
	Table   string             `json:"TableName"`
	Keys    []keySchemaElement `json:"KeySchema"`
	Shards  []shard            `json:"Shards"`
	Last    string             `json:"LastEvaluatedShardId,omitempty"`
}

type shard struct {
	ID     string        `json:"ShardId"`
	Range  sequenceRange `json:"SequenceNumberRange"`
	Parent string        `json:"ParentShardId,omitempty"`
}

type sequenceRange struct {
	First string `json:"StartingSequenceNumber"`
	Last  string `json:"EndingSequenceNumber,omitempty"`
}

func (s *Service) describeStream(_ context.Context, _ aws.Scope, in *describeStream) (*describedStream, error) {
	st, err := s.stream(in.ARN)
	if err != nil {
		return nil, err
	}
	d := streamDescription{ARN: st.arn(), Label: st.Label, Status: "ENABLED", View: st.View,
		Created: server.Time(time.UnixMilli(st.Created)), Table: st.Table, Keys: st.Keys.elements(), Shards: []shard{}}
	one := shard{ID: st.shard(), Range: sequenceRange{First: sequence(st.number)}}
	if st.Ended != 0 {
		d.Status = "DISABLED"
		one.Range.Last = sequence(st.Last)
	}
	if f := in.Filter; f != nil {
		switch {
		case f.Type == "":
			return nil, invalid(invalidParameter + "ShardFilter requires a Type")
		case f.Shard == "":
			return nil, invalid(invalidParameter + "ShardFilter of type " + f.Type + " requires a ShardId")
		}
	}
	if in.After < one.ID && in.Filter == nil { // the only shard has no children
		d.Shards = append(d.Shards, one)
	}
	return &describedStream{d}, nil
}
