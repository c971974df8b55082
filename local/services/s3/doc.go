// Package s3 is the embedded S3 of the laptop: an S3 endpoint on a directory.
//
// The wire protocol is gofakes3's; the storage is this package's own, because gofakes3's backends hold a lock or a
// whole object in memory while a body is transferred, write in place, and keep multipart uploads in memory only. Here
// an object is a plain file that a person finds under DIR/BUCKET/KEY, is streamed in and out, appears by a rename and
// keeps its ETag and metadata over a restart. A file that a person puts into a bucket's directory by hand is an object
// too.
//
// After each PutObject, CopyObject and CompleteMultipartUpload the server hands an EventBridge "Object Created" event
// to the subscriber that Options names. The notifications of a bucket go to queues, topics, functions and EventBridge.
// Buckets keep their settings: notifications and lifecycles are carried out; encryption, policies, CORS rules,
// ownership and the block of public access are kept and answered, and have no effect. Other settings are those of a
// new bucket; to change them is refused as NotImplemented, never half obeyed.
//
// The package serves the laptop's loopback interface only. It checks no signature and no permission, knows no
// ACLs and encrypts nothing, and never decides what an event starts.
//
// Where file names are not case-sensitive, neither are keys: there "A" and "a" are one object.
//
// Layout of the directory:
//
//	BUCKET/KEY              objects (odd keys with %-escapes, see keypath.go)
//	.meta/BUCKET/%.settings the bucket's settings
//	.meta/BUCKET/KEY%.json  ETag, content type, user metadata, tags
//	.versions/BUCKET/HASH/  versions of an object that are not current, and delete markers
//	.uploads/ID/            multipart uploads under way
//	.tmp/                   bodies that are being received
package s3
