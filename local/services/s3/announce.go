package s3

import (
	"stepback/aws"
	"stepback/internal/objectevent"
)

// createdBy maps the reason for an object's creation to the name of the event.
var createdBy = map[objectevent.Reason]string{objectevent.PutObject: createdPut, objectevent.CopyObject: createdCopy,
	objectevent.CompleteMultipartUpload: createdUpload}

// announce notifies the subscriber, if there is one, and the bucket's destinations of a new object. told is false if a
// destination has to be notified again.
func (s *store) announce(bucket, key string, v version, reason objectevent.Reason) (told bool) {
	e := objectevent.Event{
		Version: "0", ID: aws.NewID(), DetailType: objectevent.DetailType, Source: objectevent.Source,
		Account: s.account, Region: s.region, Time: v.Modified.Truncate(1e9),
		Resources: []string{aws.Scope{Region: s.region}.BucketARN(bucket)},
		Detail: objectevent.Detail{
			Version: "0", Bucket: objectevent.Bucket{Name: bucket}, RequestID: aws.NewID(),
			Requester: s.account, SourceIP: "127.0.0.1", Reason: reason,
			Object: objectevent.Object{
				Key: key, Size: v.Size, ETag: v.ETag,
				Sequencer: sequencer(v.Modified),
			},
		},
	}
	if s.created != nil {
		s.created(e)
	}
	return s.notify(&happened{event: createdBy[reason], bucket: bucket, key: key, version: v,
		detailType: objectevent.DetailType, detail: e.Detail})
}

// announceChange notifies the bucket's destinations that the description of an object has changed.
func (s *store) announceChange(c *call, v *version, event, detailType string) {
	s.notify(&happened{event: event, bucket: c.bucket, key: c.key, version: *v, detailType: detailType,
		detail: map[string]any{
			"version": "0", "bucket": map[string]string{"name": c.bucket},
			"object": map[string]string{"key": c.key, "etag": v.ETag}, "request-id": aws.NewID(),
			"requester": s.account, "source-ip-address": "127.0.0.1",
		}})
}
