// Package s3 is an embedded S3: an S3 endpoint over a directory.
//
// The package serves the protocol itself (see ServeHTTP in call.go, and route.go). An object is a plain file at
// DIR/BUCKET/KEY. It is streamed in and out, appears atomically by a rename and keeps its ETag and metadata across
// restarts. A file placed in a bucket's directory by hand is an object, too.
//
// After each PutObject, CopyObject and CompleteMultipartUpload the server passes an EventBridge "Object Created"
// event to the subscriber in Options. A bucket's notifications go to queues, topics, functions and EventBridge.
// Buckets keep their settings. Notifications, lifecycles, CORS rules, ownership, the block of public access, object
// lock, policies and ACLs take effect; docs/services.md lists what is stored without effect. A setting that is not
// served is refused as NotImplemented.
//
// The package is meant for the loopback interface only. It checks no signatures: the access key names the caller's
// account. A request without a signature is anonymous. Contents are not encrypted.
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
