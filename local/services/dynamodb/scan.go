package dynamodb

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"strconv"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/dynamodb/item"
)

type scan struct {
	listing
	ScanFilter jsonvalue.Value
	Segments   *int `json:"TotalSegments"`
	Segment    *int
}

func (s *Service) scan(_ context.Context, scope aws.Scope, in *scan) (*listed, error) {
	params, err := in.check([]given{{"ProjectionExpression", in.Projection != nil},
		{"FilterExpression", in.Filter != nil}}, []given{{"AttributesToGet", in.Attributes != nil},
		{"ScanFilter", !in.ScanFilter.IsNull()}, {"ConditionalOperator", in.Joined != nil}})
	if err != nil {
		return nil, err
	}
	if err := in.checkSegments(); err != nil {
		return nil, err
	}
	p, err := s.newPage(scope, &in.listing, params, "ScanFilter", in.ScanFilter)
	if err != nil {
		return nil, err
	}
	if err := params.Unused(); err != nil {
		return nil, err
	}
	if _, err := p.startAt(in.Start); err != nil {
		return nil, err
	}
	p.within(p.prefix())
	p.wholeTable = in.Segments == nil && p.start == nil
	if in.Segments != nil {
		if *in.Segment > 0 {
			p.first = segmentStart(p.prefix(), *in.Segment, *in.Segments)
		}
		if *in.Segment+1 < *in.Segments {
			p.end = segmentStart(p.prefix(), *in.Segment+1, *in.Segments)
		}
		if p.start != nil && (bytes.Compare(p.start, p.first) < 0 || bytes.Compare(p.start, p.end) >= 0) {
			return nil, item.Invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use " +
				"ExclusiveStartKey with correct Segment. TotalSegments: " + strconv.Itoa(*in.Segments) + " Segment: " +
				strconv.Itoa(*in.Segment))
		}
	}
	return s.list(p, in.Capacity)
}

func (in *scan) checkSegments() error {
	switch {
	case in.Segments == nil && in.Segment == nil:
	case in.Segments == nil:
		return item.Invalid("The TotalSegments parameter is required but was not present in the request when Segment " +
			"parameter is present")
	case in.Segment == nil:
		return item.Invalid("The Segment parameter is required but was not present in the request when parameter " +
			"TotalSegments is present")
	case *in.Segment >= *in.Segments:
		return item.Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: " +
			strconv.Itoa(*in.Segment) + " is not less than TotalSegments: " + strconv.Itoa(*in.Segments))
	}
	return nil
}

// segmentStart returns the first key of a segment. Each segment covers an equal share of all hashes.
func segmentStart(prefix []byte, segment, of int) []byte {
	hash, _ := bits.Div64(uint64(segment), 0, uint64(of)) // segment × 2^64 / of
	return binary.BigEndian.AppendUint64(prefix, hash)
}
