package s3

import (
	"slices"

	"stepback/aws/model"
	"stepback/aws/server"
)

// Coverage returns which operations of S3's model are implemented. A test requests each of them over HTTP.
func (s *Server) Coverage() server.Coverage {
	m, err := model.Find("s3")
	if err != nil {
		panic(err) // the model is part of the program
	}
	has := func(name string) bool {
		_, ok := slices.BinarySearch(operations, name)
		return ok
	}
	c := server.CoverageOf(m.Name, m.ID, m.Operations(), has, partly)
	for i := range c.Operations {
		if o := &c.Operations[i]; o.State != server.Unsupported {
			operation, err := m.Operation(o.Name)
			if err != nil {
				panic(err) // likewise
			}
			membersOf(o, operation)
		}
	}
	return c
}

// operations lists the implemented operations, sorted by name.
var operations = []string{
	"AbortMultipartUpload", "CompleteMultipartUpload", "CopyObject", "CreateBucket", "CreateMultipartUpload",
	"DeleteBucket", "DeleteBucketCors", "DeleteBucketEncryption", "DeleteBucketLifecycle",
	"DeleteBucketOwnershipControls", "DeleteBucketPolicy", "DeleteBucketTagging", "DeleteObject", "DeleteObjectTagging",
	"DeleteObjects", "DeletePublicAccessBlock", "GetBucketAccelerateConfiguration", "GetBucketAcl", "GetBucketCors",
	"GetBucketEncryption", "GetBucketLifecycle", "GetBucketLifecycleConfiguration", "GetBucketLocation",
	"GetBucketLogging", "GetBucketNotification", "GetBucketNotificationConfiguration", "GetBucketOwnershipControls",
	"GetBucketPolicy", "GetBucketReplication", "GetBucketRequestPayment", "GetBucketTagging", "GetBucketVersioning",
	"GetBucketWebsite", "GetObject", "GetObjectAttributes", "GetObjectLockConfiguration", "GetObjectTagging",
	"GetPublicAccessBlock", "HeadBucket", "HeadObject", "ListBuckets", "ListMultipartUploads", "ListObjectVersions",
	"ListObjects", "ListObjectsV2", "ListParts", "PutBucketCors", "PutBucketEncryption", "PutBucketLifecycle",
	"PutBucketLifecycleConfiguration", "PutBucketNotification", "PutBucketNotificationConfiguration",
	"PutBucketOwnershipControls", "PutBucketPolicy", "PutBucketTagging", "PutBucketVersioning", "PutObject",
	"PutObjectTagging", "PutPublicAccessBlock", "UploadPart", "UploadPartCopy",
}

const unchangeable = "returns the setting of a new bucket, which cannot be changed"

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CopyObject":                       "old versions cannot be copied; the answer has no version ID",
	"DeleteObjectTagging":              "not for old versions",
	"DeleteObjects":                    "MFA delete is rejected",
	"GetBucketAccelerateConfiguration": unchangeable,
	"GetBucketAcl":                     unchangeable,
	"GetBucketLogging":                 unchangeable,
	"GetBucketReplication":             unchangeable,
	"GetBucketRequestPayment":          unchangeable,
	"GetBucketWebsite":                 unchangeable,
	"GetObject":                        "one range at a time",
	"GetObjectAttributes":              "not for old versions",
	"GetObjectLockConfiguration":       unchangeable,
	"GetObjectTagging":                 "not for old versions",
	"PutBucketCors":                    "stored; requests of web pages are rejected anyway",
	"PutBucketEncryption":              "stored; files are not encrypted",
	"PutBucketLifecycleConfiguration":  "transitions, ExpiredObjectDeleteMarker and NewerNoncurrentVersions are rejected",
	"PutBucketOwnershipControls":       "stored without effect",
	"PutBucketVersioning":              "MFA delete is rejected",
	"PutObjectTagging":                 "not for old versions",
	"PutPublicAccessBlock":             "stored without effect",
	"PutBucketPolicy":                  "evaluated only with `serve --enforce-iam`",
	"UploadPartCopy":                   "old versions cannot be copied",
}
