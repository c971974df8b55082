package access

import (
	"net/http"
	"strings"
)

// subResources maps sub-resources to the noun in the names of S3's actions, for buckets and for objects.
var subResources = map[string]struct{ bucket, object string }{
	"acl": {"BucketAcl", "ObjectAcl"}, "cors": {"BucketCORS", ""}, "encryption": {"EncryptionConfiguration", ""},
	"lifecycle": {"LifecycleConfiguration", ""}, "location": {"BucketLocation", ""}, "logging": {"BucketLogging", ""},
	"notification": {"BucketNotification", ""}, "object-lock": {"BucketObjectLockConfiguration", ""},
	"ownershipControls": {"BucketOwnershipControls", ""}, "policy": {"BucketPolicy", ""},
	"publicAccessBlock": {"BucketPublicAccessBlock", ""}, "replication": {"ReplicationConfiguration", ""},
	"requestPayment": {"BucketRequestPayment", ""}, "tagging": {"BucketTagging", "ObjectTagging"},
	"versioning": {"BucketVersioning", ""}, "website": {"BucketWebsite", ""}, "accelerate": {"AccelerateConfiguration", ""},
	"attributes": {"", "ObjectAttributes"},
}

// OfS3 returns the permissions that a path-style request to S3 needs. A copy also needs those of a request that reads
// its source.
func OfS3(r *http.Request) []Need {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	on := "arn:aws:s3:::" + bucket
	if key != "" {
		on += "/" + key
	}
	need := func(action string) []Need { return []Need{{"s3:" + action, on}} }
	switch {
	case bucket == "":
		return []Need{{"s3:ListAllMyBuckets", "*"}}
	case key == "" && query.Has("uploads"):
		return need("ListBucketMultipartUploads")
	case key == "" && query.Has("versions"):
		return need("ListBucketVersions")
	case key == "" && query.Has("delete"):
		return []Need{{"s3:DeleteObject", on + "/*"}}
	}
	for name, part := range subResources {
		kind := part.bucket
		if key != "" {
			kind = part.object
		}
		if !query.Has(name) || kind == "" {
			continue
		}
		switch r.Method {
		case http.MethodPut:
			return need("Put" + kind)
		case http.MethodDelete:
			if kind == "BucketPolicy" || kind == "BucketWebsite" || kind == "ObjectTagging" {
				return need("Delete" + kind)
			}
			return need("Put" + kind) // as S3 names it
		default:
			return need("Get" + kind)
		}
	}
	version := ""
	if query.Has("versionId") {
		version = "Version"
	}
	if key == "" {
		return need(map[string]string{http.MethodPut: "CreateBucket", http.MethodDelete: "DeleteBucket"}[r.Method] +
			map[bool]string{true: "ListBucket"}[r.Method != http.MethodPut && r.Method != http.MethodDelete])
	}
	switch {
	case r.Method == http.MethodDelete && query.Has("uploadId"):
		return need("AbortMultipartUpload")
	case r.Method == http.MethodDelete:
		return need("DeleteObject" + version)
	case r.Method == http.MethodGet && query.Has("uploadId"):
		return need("ListMultipartUploadParts")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return need("GetObject" + version)
	}
	return need("PutObject")
}
