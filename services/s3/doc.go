// Package s3 is the embedded S3 of the laptop: an S3 endpoint on a directory.
//
// The wire protocol is gofakes3's; the storage is this package's own, because gofakes3's backends hold a lock or a
// whole object in memory while a body is transferred, write in place, and keep multipart uploads in memory only. Here
// an object is a plain file that a person finds under DIR/BUCKET/KEY, is streamed in and out, appears by a rename and
// keeps its ETag and metadata over a restart. A file that a person puts into a bucket's directory by hand is an object
// too.
//
// After each PutObject, CopyObject and CompleteMultipartUpload the server hands an EventBridge "Object Created" event
// to the subscriber that Options names.
//
// The package serves the laptop's loopback interface only. It checks no signature and no permission, knows no versions,
// ACLs or encryption and lets nobody change the settings of a bucket, which are those of a new one (such requests are
// refused as NotImplemented, never half obeyed), and never decides what an event starts.
//
// Where file names are not case-sensitive, neither are keys: there "A" and "a" are one object.
//
// Layout of the directory:
//
//	BUCKET/KEY              objects (odd keys with %-escapes, see keypath.go)
//	.meta/BUCKET/KEY%.json  ETag, content type, user metadata, tags
//	.uploads/ID/            multipart uploads under way
//	.tmp/                   bodies that are being received
package s3
