// Package objectevent defines S3's "Object Created" events as EventBridge delivers them, and the executions they
// start.
//
// It is pure: it builds and reads events and names executions. It never stores objects, delivers events or starts
// anything, so the embedded S3 on a laptop and a function on AWS can share it.
package objectevent

import "time"

// The constants that every event of this kind carries.
const (
	DetailType = "Object Created"
	Source     = "aws.s3"
)

// Reason is the S3 operation that created the object.
type Reason string

// The reasons that S3 gives for an "Object Created" event.
const (
	PutObject               Reason = "PutObject"
	CopyObject              Reason = "CopyObject"
	CompleteMultipartUpload Reason = "CompleteMultipartUpload"
)

// Event is one "Object Created" event in the form in which EventBridge passes it to its targets (Amazon S3 user
// guide, "EventBridge event message structure").
type Event struct {
	Version    string    `json:"version"`
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Account    string    `json:"account"`
	Time       time.Time `json:"time"`
	Region     string    `json:"region"`
	Resources  []string  `json:"resources"`
	Detail     Detail    `json:"detail"`
}

// Detail describes what was created, where and by which operation.
type Detail struct {
	Version   string `json:"version"`
	Bucket    Bucket `json:"bucket"`
	Object    Object `json:"object"`
	RequestID string `json:"request-id"`
	Requester string `json:"requester"`
	SourceIP  string `json:"source-ip-address"`
	Reason    Reason `json:"reason"`
}

// Bucket names the bucket.
type Bucket struct {
	Name string `json:"name"`
}

// Object describes the object that now exists. Key is plain text, not URL encoded; Size is in bytes; ETag has no
// quotes. If two events have the same key, the one with the lexically greater Sequencer is later (all Sequencers
// have the same length).
type Object struct {
	Key       string `json:"key"`
	Size      int64  `json:"size"`
	ETag      string `json:"etag"`
	Sequencer string `json:"sequencer"`
}
