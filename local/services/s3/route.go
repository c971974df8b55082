package s3

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A resource of S3 is the service, a bucket or an object.
const (
	onService = "service"
	onBucket  = "bucket"
	onObject  = "object"
)

// route is the key of an operation: its method, what it is about, and its sub-resource, the query parameter that
// selects it.
type route struct{ method, on, sub string }

type named struct {
	name string
	run  operation
}

// subresources lists the query parameters that select an operation, in the order in which they are looked for.
var subresources = []string{
	"uploads",
	"uploadId",
	"delete",
	"versions",
	"location",
	"policyStatus",
	"policy",
	"acl",
	"tagging",
	"attributes",
	"retention",
	"legal-hold",
	"object-lock",
	"restore",
	"select",
	"torrent",
	"accelerate",
	"analytics",
	"cors",
	"encryption",
	"intelligent-tiering",
	"inventory",
	"lifecycle",
	"logging",
	"metadataConfiguration",
	"metadataInventoryTable",
	"metadataJournalTable",
	"metadataTable",
	"metrics",
	"notification",
	"ownershipControls",
	"publicAccessBlock",
	"renameObject",
	"replication",
	"requestPayment",
	"session",
	"versioning",
	"website",
	"abac",
	"encryption-update",
}

var routes = map[route]named{
	{http.MethodGet, onService, ""}: {"ListBuckets", (*store).listBuckets},

	{http.MethodPut, onBucket, ""}:         {"CreateBucket", (*store).createBucket},
	{http.MethodDelete, onBucket, ""}:      {"DeleteBucket", (*store).deleteBucket},
	{http.MethodHead, onBucket, ""}:        {"HeadBucket", (*store).headBucket},
	{http.MethodGet, onBucket, ""}:         {"ListObjects", (*store).listObjects},
	{http.MethodPost, onBucket, ""}:        {"PostObject", (*store).postObject},
	{http.MethodGet, onBucket, "location"}: {"GetBucketLocation", (*store).getBucketLocation},
	{http.MethodGet, onBucket, "versions"}: {"ListObjectVersions", (*store).listVersions},
	{http.MethodGet, onBucket, "uploads"}:  {"ListMultipartUploads", (*store).listMultipartUploads},
	{http.MethodPost, onBucket, "delete"}:  {"DeleteObjects", (*store).deleteObjects},

	{http.MethodGet, onBucket, "acl"}:          {"GetBucketAcl", (*store).getBucketACL},
	{http.MethodPut, onBucket, "acl"}:          {"PutBucketAcl", (*store).putBucketACL},
	{http.MethodGet, onBucket, "object-lock"}:  {"GetObjectLockConfiguration", (*store).getObjectLock},
	{http.MethodPut, onBucket, "object-lock"}:  {"PutObjectLockConfiguration", (*store).putObjectLock},
	{http.MethodGet, onBucket, "policyStatus"}: {"GetBucketPolicyStatus", (*store).getPolicyStatus},

	{http.MethodGet, onObject, ""}:           {"GetObject", (*store).getObject},
	{http.MethodHead, onObject, ""}:          {"HeadObject", (*store).getObject},
	{http.MethodPut, onObject, ""}:           {"PutObject", (*store).putObject},
	{http.MethodDelete, onObject, ""}:        {"DeleteObject", (*store).deleteObject},
	{http.MethodGet, onObject, "tagging"}:    {"GetObjectTagging", (*store).getObjectTagging},
	{http.MethodPut, onObject, "tagging"}:    {"PutObjectTagging", (*store).putObjectTagging},
	{http.MethodDelete, onObject, "tagging"}: {"DeleteObjectTagging", (*store).deleteObjectTagging},
	{http.MethodGet, onObject, "acl"}:        {"GetObjectAcl", (*store).getObjectACL},
	{http.MethodPut, onObject, "acl"}:        {"PutObjectAcl", (*store).putObjectACL},
	{http.MethodGet, onObject, "attributes"}: {"GetObjectAttributes", (*store).getObjectAttributes},
	{http.MethodGet, onObject, "retention"}:  {"GetObjectRetention", (*store).getRetention},
	{http.MethodPut, onObject, "retention"}:  {"PutObjectRetention", (*store).putRetention},
	{http.MethodGet, onObject, "legal-hold"}: {"GetObjectLegalHold", (*store).getLegalHold},
	{http.MethodPut, onObject, "legal-hold"}: {"PutObjectLegalHold", (*store).putLegalHold},
	{http.MethodPost, onObject, "restore"}:   {"RestoreObject", (*store).restoreObject},

	{http.MethodPost, onObject, "uploads"}:    {"CreateMultipartUpload", (*store).createMultipartUpload},
	{http.MethodPut, onObject, "uploadId"}:    {"UploadPart", (*store).uploadPart},
	{http.MethodGet, onObject, "uploadId"}:    {"ListParts", (*store).listParts},
	{http.MethodPost, onObject, "uploadId"}:   {"CompleteMultipartUpload", (*store).completeMultipartUpload},
	{http.MethodDelete, onObject, "uploadId"}: {"AbortMultipartUpload", (*store).abortMultipartUpload},
}

// copies maps the operations that a copy's source turns into another.
var copies = map[string]named{
	"PutObject":  {"CopyObject", (*store).copyObject},
	"UploadPart": {"UploadPartCopy", (*store).uploadPartCopy},
}

// understood lists the query parameters of the operations that select none. Other parameters are refused, because
// they would be ignored.
var understood = []string{
	"continuation-token",
	"delimiter",
	"encoding-type",
	"fetch-owner",
	"key-marker",
	"list-type",
	"marker",
	"max-keys",
	"max-parts",
	"max-uploads",
	"max-buckets",
	"bucket-region",
	"optional-object-attributes",
	"part-number-marker",
	"partNumber",
	"prefix",
	"start-after",
	"upload-id-marker",
	"version-id-marker",
	"versionId",
	"x-id",
	// added to the URL to which a POST form redirects, which may be the bucket's
	"bucket",
	"key",
	"etag",
	// of presigned URLs with signature version 2; those of version 4 start with X-Amz-
	"AWSAccessKeyId",
	"Expires",
	"Signature",
}

func isUnderstood(name string) bool {
	const amazon = "X-Amz-"
	return slices.Contains(understood, name) || strings.HasPrefix(name, "response-") ||
		len(name) >= len(amazon) && strings.EqualFold(name[:len(amazon)], amazon)
}

// on returns what the call is about.
func (c *call) on() string {
	switch {
	case c.bucket == "":
		return onService
	case c.key == "":
		return onBucket
	}
	return onObject
}

// route returns the operation of a call and sets its name.
func (c *call) route() (operation, error) {
	sub := ""
	for _, name := range subresources {
		if c.query.Has(name) {
			sub = name
			break
		}
	}
	for name := range c.query {
		if !isUnderstood(name) && !slices.Contains(subresources, name) {
			return nil, notImplemented(fmt.Sprintf("The sub-resource or parameter %q is not served here.", name))
		}
	}
	if c.bucket == "WriteGetObjectResponse" { // an operation, and no valid name of a bucket
		return nil, notImplemented("WriteGetObjectResponse is not served here.")
	}
	key := route{c.Method, c.on(), sub}
	o, ok := routes[key]
	if !ok {
		o, ok = settingOperation(key)
	}
	if !ok {
		return nil, c.unrouted(sub)
	}
	if copied, ok := copies[o.name]; ok && c.Header.Get("X-Amz-Copy-Source") != "" {
		o = copied
	}
	if c.operation = o.name; o.name == "ListObjects" && c.query.Get("list-type") == "2" {
		c.operation = "ListObjectsV2"
	}
	return o.run, nil
}

// unrouted returns the error of a request that is no operation here.
func (c *call) unrouted(sub string) error {
	if sub == "" {
		return methodNotAllowed(c.Method, strings.ToUpper(c.on()))
	}
	for r := range routes {
		if r.on == c.on() && r.sub == sub {
			return methodNotAllowed(c.Method, strings.ToUpper(c.on()))
		}
	}
	return notImplemented(fmt.Sprintf("The sub-resource or parameter %q is not served here.", sub))
}
