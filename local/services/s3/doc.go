// Package s3 is an embedded S3: an S3 endpoint over a directory.
//
// The wire protocol is gofakes3's. The storage is this package's own, because gofakes3's backends hold a lock or a
// whole object in memory while a body is transferred, write in place, and keep multipart uploads only in memory. Here
// an object is a plain file at DIR/BUCKET/KEY. It is streamed in and out, appears atomically by a rename and keeps
// its ETag and metadata across restarts. A file placed in a bucket's directory by hand is an object, too.
//
// After each PutObject, CopyObject and CompleteMultipartUpload the server passes an EventBridge "Object Created"
// event to the subscriber in Options. A bucket's notifications go to queues, topics, functions and EventBridge.
// Buckets keep their settings: notifications and lifecycles take effect; encryption, policies, CORS rules, ownership
// and the block of public access are stored and returned, without effect in this package. All other settings have the
// values of a new bucket; changing them is refused as NotImplemented, never half applied.
//
// The package is meant for the loopback interface only. It checks no signatures and no permissions, has no ACLs,
// encrypts nothing, and does not decide what an event starts.
//
// Where file names are not case-sensitive, neither are keys: there "A" and "a" are the same object.
//
// Layout of the directory:
//
//	BUCKET/KEY              objects (odd keys with %-escapes, see keypath.go)
//	.meta/BUCKET/%.settings the bucket's settings
//	.meta/BUCKET/KEY%.json  ETag, content type, user metadata, tags
//	.versions/BUCKET/HASH/  noncurrent versions of an object, and delete markers
//	.uploads/ID/            multipart uploads in progress
//	.tmp/                   bodies that are being received
package s3
