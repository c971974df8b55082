package s3

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/objectevent"
	"stepback/local/services/delivery"
)

// destination is an entry in a bucket's notification configuration.
type destination struct {
	ID       string   `xml:"Id"`
	Queue    string   `xml:"Queue"`
	Topic    string   `xml:"Topic"`
	Function string   `xml:"CloudFunction"`
	Events   []string `xml:"Event"`
	Rules    []struct {
		Name, Value string
	} `xml:"Filter>S3Key>FilterRule"`
}

// arn returns the ARN of the destination.
func (d *destination) arn() string { return d.Queue + d.Topic + d.Function }

type notifications struct {
	Queues    []destination `xml:"QueueConfiguration"`
	Topics    []destination `xml:"TopicConfiguration"`
	Functions []destination `xml:"CloudFunctionConfiguration"`
	Bus       *struct{}     `xml:"EventBridgeConfiguration"`
}

func (n *notifications) all() []destination {
	return append(append(append([]destination{}, n.Queues...), n.Topics...), n.Functions...)
}

// The events that this store sends.
const (
	createdPut      = "ObjectCreated:Put"
	createdCopy     = "ObjectCreated:Copy"
	createdUpload   = "ObjectCreated:CompleteMultipartUpload"
	removedDelete   = "ObjectRemoved:Delete"
	removedMarker   = "ObjectRemoved:DeleteMarkerCreated"
	testEvent       = "s3:TestEvent"
	skipHeader      = "X-Amz-Skip-Destination-Validation"
	eventNamePrefix = "s3:"
)

// eventNames lists the events that notifications can request, including those that never occur here.
var eventNames = []string{"s3:ObjectCreated:", "s3:ObjectRemoved:", "s3:ObjectTagging:", "s3:ObjectRestore:",
	"s3:ObjectAcl:Put", "s3:Replication:", "s3:LifecycleExpiration:", "s3:LifecycleTransition", "s3:IntelligentTiering",
	"s3:ReducedRedundancyLostObject"}

func checkNotification(s *store, c *call, text []byte) error {
	var n notifications
	if xml.Unmarshal(text, &n) != nil {
		return malformedXML()
	}
	for _, d := range n.all() {
		a, ok := aws.ParseARN(d.arn())
		if !ok {
			return &aws.Error{Code: "InvalidArgument", Message: "The ARN could not be parsed"}
		}
		for _, name := range d.Events {
			known := false
			for _, prefix := range eventNames {
				known = known || strings.HasPrefix(name, prefix)
			}
			if !known {
				return &aws.Error{Code: "InvalidArgument", Message: "The event '" + name +
					"' is not supported for notifications"}
			}
		}
		if len(d.Events) == 0 {
			return malformedXML()
		}
		for _, r := range d.Rules {
			if !strings.EqualFold(r.Name, "prefix") && !strings.EqualFold(r.Name, "suffix") {
				return &aws.Error{Code: "InvalidArgument", Message: "filter rule name must be either prefix or suffix"}
			}
		}
		if c.Header.Get(skipHeader) == "true" || a.Service == "lambda" {
			continue
		}
		if err := s.test(c, d.arn()); err != nil {
			return err
		}
	}
	return nil
}

// test sends the test event with which S3 checks whether a destination exists.
func (s *store) test(c *call, arn string) error {
	body, err := json.Marshal(struct {
		Service, Event, Time, Bucket string
		RequestID                    string `json:"RequestId"`
		HostID                       string `json:"HostId"`
	}{"Amazon S3", testEvent, eventTime(s.stamps.now()), c.bucket, aws.NewID(), aws.NewID()})
	if err != nil {
		return err
	}
	if s.deliver == nil {
		err = errors.New("nothing is delivered here")
	} else {
		err = s.deliver(s.notifying(c.Context(), c.bucket), arn, &delivery.Message{Body: string(body),
			Subject: "Amazon S3 Notification"})
	}
	if err != nil {
		return &aws.Error{Code: "InvalidArgument", Message: "Unable to validate the following destination configurations: " +
			arn + ": " + err.Error()}
	}
	return nil
}

func eventTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// wants reports whether the destination is to be notified of an event for a key.
func (d *destination) wants(event, key string) bool {
	for _, r := range d.Rules {
		if strings.EqualFold(r.Name, "prefix") && !strings.HasPrefix(key, r.Value) ||
			strings.EqualFold(r.Name, "suffix") && !strings.HasSuffix(key, r.Value) {
			return false
		}
	}
	for _, name := range d.Events {
		prefix, open := strings.CutSuffix(name, "*")
		if name == eventNamePrefix+event || open && strings.HasPrefix(eventNamePrefix+event, prefix) {
			return true
		}
	}
	return false
}

// happened describes an event that destinations are notified of.
type happened struct {
	event, bucket, key string
	version            version
	detailType         string // of the EventBridge event
	detail             any
}

// notify notifies the destinations of a bucket. Failed deliveries are logged, because the object has already been
// changed. told is false if one may succeed later.
func (s *store) notify(h *happened) (told bool) {
	all, err := s.settingsOf(h.bucket)
	if err != nil || all["notification"] == "" || s.deliver == nil {
		return true
	}
	n, err := parseSetting[notifications](s, all, "notification")
	if err != nil {
		return true // it was validated before
	}
	told = true
	ctx := context.Background()
	for _, d := range n.all() {
		if !d.wants(h.event, h.key) {
			continue
		}
		body, err := json.Marshal(s.eventRecord(h, d.ID))
		if err == nil {
			err = s.deliver(s.notifying(ctx, h.bucket), d.arn(), &delivery.Message{Body: string(body),
				Subject: "Amazon S3 Notification"})
		}
		if err != nil {
			told = told && !mayHelp(err)
			s.log.Error("a notification of a bucket was not delivered", "bucket", h.bucket, "key", h.key, "to", d.arn(),
				"error", err)
		}
	}
	if n.Bus == nil {
		return told
	}
	scope := aws.Scope{Account: s.account, Region: s.region}
	body, err := json.Marshal(h.detail)
	if err == nil {
		err = s.deliver(ctx, scope.ARN("events", "event-bus/default"), &delivery.Message{Body: string(body),
			Source: objectevent.Source, DetailType: h.detailType, Resources: []string{scope.BucketARN(h.bucket)}})
	}
	if err != nil {
		told = told && !mayHelp(err)
		s.log.Error("an event of a bucket was not delivered", "bucket", h.bucket, "key", h.key, "error", err)
	}
	return told
}

// mayHelp reports whether a delivery that failed may succeed when it is repeated.
func mayHelp(err error) bool {
	var refused *aws.Error
	return !errors.As(err, &refused) || refused.ByServer() || refused.Status == http.StatusTooManyRequests
}

// notifying returns a context in which the bucket is the sender of deliveries.
func (s *store) notifying(ctx context.Context, bucket string) context.Context {
	scope := aws.Scope{Account: s.account, Region: s.region}
	return delivery.From(ctx, delivery.Sender{Service: "s3.amazonaws.com", Source: scope.BucketARN(bucket)})
}

// eventRecord returns the message for an event, in the form for queues, topics and functions.
func (s *store) eventRecord(h *happened, id string) any {
	type identity struct {
		Principal string `json:"principalId"`
	}
	type object struct {
		Key       string `json:"key"`
		Size      *int64 `json:"size,omitempty"`
		ETag      string `json:"eTag,omitempty"`
		Version   string `json:"versionId,omitempty"`
		Sequencer string `json:"sequencer"`
	}
	o := object{Key: url.QueryEscape(h.key), Version: h.version.ID, Sequencer: sequencer(h.version.Modified)}
	o.Key = strings.ReplaceAll(o.Key, "%2F", "/")
	if strings.HasPrefix(h.event, "ObjectCreated") {
		o.Size, o.ETag = &h.version.Size, h.version.ETag
	}
	return map[string]any{"Records": []any{map[string]any{
		"eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": s.region,
		"eventTime": eventTime(h.version.Modified), "eventName": h.event,
		"userIdentity":      identity{"AWS:" + s.account},
		"requestParameters": map[string]string{"sourceIPAddress": "127.0.0.1"},
		"responseElements":  map[string]string{"x-amz-request-id": aws.NewID(), "x-amz-id-2": aws.NewID()},
		"s3": map[string]any{
			"s3SchemaVersion": "1.0", "configurationId": id,
			"bucket": map[string]any{"name": h.bucket, "ownerIdentity": identity{s.account},
				"arn": aws.Scope{Region: s.region}.BucketARN(h.bucket)},
			"object": o,
		},
	}}}
}

func sequencer(t time.Time) string { return fmt.Sprintf("%018X", t.UnixNano()) }

// announceDeletion notifies the destinations that an object was deleted, or hidden by a delete marker. told is false if
// a destination has to be notified again.
func (s *store) announceDeletion(bucket, key, event string) (told bool) {
	at := s.stamps.next()
	kind := "Permanently Deleted"
	if event == removedMarker {
		kind = "Delete Marker Created"
	}
	return s.notify(&happened{event: event, bucket: bucket, key: key, version: version{Modified: at},
		detailType: "Object Deleted", detail: map[string]any{
			"version": "0", "bucket": map[string]string{"name": bucket},
			"object": map[string]string{"key": key, "sequencer": sequencer(at)}, "request-id": aws.NewID(),
			"requester": s.account, "source-ip-address": "127.0.0.1", "reason": "DeleteObject",
			"deletion-type": kind,
		}})
}
