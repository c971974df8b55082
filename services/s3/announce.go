package s3

import (
	"fmt"

	"stepback/aws"
	"stepback/objectevent"
)

// announce hands the event of a new object to the subscriber, if there is one.
func (s *store) announce(bucket, key string, v version, reason objectevent.Reason) {
	if s.created == nil {
		return
	}
	s.created(objectevent.Event{
		Version: "0", ID: aws.NewID(), DetailType: objectevent.DetailType, Source: objectevent.Source,
		Account: s.account, Region: s.region, Time: v.Modified.Truncate(1e9),
		Resources: []string{aws.Scope{Region: s.region}.BucketARN(bucket)},
		Detail: objectevent.Detail{
			Version: "0", Bucket: objectevent.Bucket{Name: bucket}, RequestID: aws.NewID(),
			Requester: s.account, SourceIP: "127.0.0.1", Reason: reason,
			Object: objectevent.Object{
				Key: key, Size: v.Size, ETag: v.ETag,
				Sequencer: fmt.Sprintf("%018X", v.Modified.UnixNano()),
			},
		},
	})
}
