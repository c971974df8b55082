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
	"DeleteBucketOwnershipControls", "DeleteBucketPolicy", "DeleteBucketTagging", "DeleteBucketWebsite",
	"DeleteObject", "DeleteObjectTagging", "DeleteObjects", "DeletePublicAccessBlock",
	"GetBucketAccelerateConfiguration", "GetBucketAcl", "GetBucketCors", "GetBucketEncryption", "GetBucketLifecycle",
	"GetBucketLifecycleConfiguration", "GetBucketLocation", "GetBucketLogging", "GetBucketNotification",
	"GetBucketNotificationConfiguration", "GetBucketOwnershipControls", "GetBucketPolicy", "GetBucketPolicyStatus",
	"GetBucketReplication", "GetBucketRequestPayment", "GetBucketTagging", "GetBucketVersioning", "GetBucketWebsite",
	"GetObject", "GetObjectAcl", "GetObjectAttributes", "GetObjectLegalHold", "GetObjectLockConfiguration",
	"GetObjectRetention", "GetObjectTagging", "GetPublicAccessBlock", "HeadBucket", "HeadObject", "ListBuckets",
	"ListMultipartUploads", "ListObjectVersions", "ListObjects", "ListObjectsV2", "ListParts",
	"PutBucketAccelerateConfiguration", "PutBucketAcl", "PutBucketCors", "PutBucketEncryption", "PutBucketLifecycle",
	"PutBucketLifecycleConfiguration", "PutBucketLogging", "PutBucketNotification",
	"PutBucketNotificationConfiguration", "PutBucketOwnershipControls", "PutBucketPolicy", "PutBucketRequestPayment",
	"PutBucketTagging", "PutBucketVersioning", "PutBucketWebsite", "PutObject", "PutObjectAcl", "PutObjectLegalHold",
	"PutObjectLockConfiguration", "PutObjectRetention", "PutObjectTagging", "PutPublicAccessBlock", "RestoreObject",
	"UploadPart", "UploadPartCopy",
}

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"DeleteObject":                     "MFA delete is rejected",
	"DeleteObjects":                    "MFA delete is rejected",
	"GetBucketReplication":             "always says that there is none",
	"GetObject":                        "one range at a time",
	"PutBucketAccelerateConfiguration": "stored without effect",
	"PutBucketCors":                    "changes by web pages that no rule allows are rejected",
	"PutBucketEncryption":              "files are not encrypted",
	"PutBucketLogging":                 "without `TargetGrants`; the target bucket's policy is not asked",
	"PutBucketPolicy":                  "for the bucket's own account, evaluated only with `serve --enforce-iam`",
	"PutBucketRequestPayment":          "stored without effect",
	"PutBucketVersioning":              "MFA delete is rejected",
	"PutBucketWebsite":                 "stored; there is no website endpoint",
	"RestoreObject":                    "at once; S3 Select is rejected",
}
