package s3

import (
	"slices"
)

// needed maps operations to the permission that another account needs for them, on the bucket or on the object.
var needed = map[string]struct {
	on, permission string
}{
	"ListObjects":   {onBucket, reading},
	"ListObjectsV2": {onBucket, reading},
	"HeadBucket":    {onBucket, reading},
	"ListMultipartUploads": {
		onBucket,
		reading,
	},
	"ListObjectVersions": {onBucket, reading},
	"GetBucketAcl":       {onBucket, readACL},
	"PutBucketAcl": {
		onBucket,
		writeACL,
	},
	"PutObject":  {onBucket, writing},
	"PostObject": {onBucket, writing},
	"CopyObject": {onBucket, writing},
	"DeleteObject": {
		onBucket,
		writing,
	},
	"DeleteObjects":         {onBucket, writing},
	"CreateMultipartUpload": {onBucket, writing},
	"UploadPart": {
		onBucket,
		writing,
	},
	"UploadPartCopy":          {onBucket, writing},
	"CompleteMultipartUpload": {onBucket, writing},
	"GetObject":               {onObject, reading},
	"HeadObject":              {onObject, reading},
	"GetObjectAcl":            {onObject, readACL},
	"PutObjectAcl":            {onObject, writeACL},
}

// grantsAccess reports whether the ACL of the bucket or object lets the caller perform a call.
func (s *store) grantsAccess(c *call, block accessBlock) (bool, error) {
	need, ok := needed[c.operation]
	if !ok {
		return s.initiated(c), nil
	}
	if need.on == onObject {
		return s.mayReach(c.caller, c.bucket, c.key, c.query.Get("versionId"), need.permission, block)
	}
	a, err := s.bucketACL(c.bucket)
	if err != nil {
		return false, err
	}
	return s.enforced(c.bucket) == nil && s.gives(a, c.caller, need.permission, block), nil
}

// mayReach reports whether the ACL of an object gives a permission to a caller. It is false if the object is missing.
func (s *store) mayReach(who caller, bucket, key, id, permission string, block accessBlock) (bool, error) {
	v, err := s.describeVersion(bucket, key, id)
	if isCode(err, "NoSuchKey") || isCode(err, "NoSuchVersion") {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a, err := s.aclOf(bucket, &v)
	if err != nil {
		return false, err
	}
	return s.enforced(bucket) == nil && s.gives(a, who, permission, block), nil
}

// enforced returns an error if ACLs have no effect in a bucket.
func (s *store) enforced(bucket string) error {
	ownership, err := s.ownershipOf(bucket)
	if err == nil && ownership == ownerEnforced {
		err = accessDenied()
	}
	return err
}

// gives reports whether an ACL gives a permission to a caller.
func (s *store) gives(a *acl, who caller, permission string, block accessBlock) bool {
	return slices.ContainsFunc(a.Grants, func(g grant) bool {
		if g.Permission != permission && g.Permission != fullControl {
			return false
		}
		switch g.Group {
		case allUsers:
			return !block.IgnorePublicACLs
		case authenticatedUsers:
			return !block.IgnorePublicACLs && !who.anonymous
		}
		return !who.anonymous && g.ID == s.canonicalID(who.account)
	})
}
