package s3

import (
	"encoding/json"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/iam/policy"
)

// objectActions and bucketActions are the actions that a bucket policy may name, in lower case (Service Authorization
// Reference, Actions defined by Amazon S3): those on objects, and those on the bucket.
var (
	objectActions = actions(`AbortMultipartUpload BypassGovernanceRetention DeleteObject DeleteObjectTagging
		DeleteObjectVersion DeleteObjectVersionTagging GetObject GetObjectAcl GetObjectAttributes GetObjectLegalHold
		GetObjectRetention GetObjectTagging GetObjectTorrent GetObjectVersion GetObjectVersionAcl
		GetObjectVersionAttributes GetObjectVersionForReplication GetObjectVersionTagging GetObjectVersionTorrent
		InitiateReplication ListMultipartUploadParts ObjectOwnerOverrideToBucketOwner PutObject PutObjectAcl
		PutObjectLegalHold PutObjectRetention PutObjectTagging PutObjectVersionAcl PutObjectVersionTagging
		ReplicateDelete ReplicateObject ReplicateTags RestoreObject UpdateObjectEncryption`)
	bucketActions = actions(`CreateBucket CreateBucketMetadataTableConfiguration DeleteBucket
		DeleteBucketMetadataTableConfiguration DeleteBucketPolicy DeleteBucketWebsite GetAccelerateConfiguration
		GetAnalyticsConfiguration GetBucketAbac GetBucketAcl GetBucketCORS GetBucketLocation GetBucketLogging
		GetBucketMetadataTableConfiguration GetBucketNotification GetBucketObjectLockConfiguration
		GetBucketOwnershipControls GetBucketPolicy GetBucketPolicyStatus GetBucketPublicAccessBlock
		GetBucketRequestPayment GetBucketTagging GetBucketVersioning GetBucketWebsite GetEncryptionConfiguration
		GetIntelligentTieringConfiguration GetInventoryConfiguration GetLifecycleConfiguration GetMetricsConfiguration
		GetReplicationConfiguration ListBucket ListBucketMultipartUploads ListBucketVersions ListTagsForResource
		PutAccelerateConfiguration PutAnalyticsConfiguration PutBucketAbac PutBucketAcl PutBucketCORS PutBucketLogging
		PutBucketNotification PutBucketObjectLockConfiguration PutBucketOwnershipControls PutBucketPolicy
		PutBucketPublicAccessBlock PutBucketRequestPayment PutBucketTagging PutBucketVersioning PutBucketWebsite
		PutEncryptionConfiguration PutIntelligentTieringConfiguration PutInventoryConfiguration
		PutLifecycleConfiguration PutMetricsConfiguration PutReplicationConfiguration TagResource UntagResource
		UpdateBucketMetadataInventoryTableConfiguration UpdateBucketMetadataJournalTableConfiguration`)
)

func actions(names string) []string {
	all := strings.Fields(strings.ToLower(names))
	for i, name := range all {
		all[i] = "s3:" + name
	}
	return all
}

// policyPrincipal matches the principals of AWS that a policy may name, apart from "*": account IDs and ARNs.
var policyPrincipal = lazyregexp.New(`^([0-9]{12}|arn:aws[a-z-]*:(iam|sts)::[^:]*:.+)$`)

// checkPolicy returns an error unless text is a valid policy of the call's bucket, or if it is public and the bucket
// blocks public policies.
func checkPolicy(s *store, c *call, text []byte) error {
	var p struct {
		Version   *string
		Statement any
	}
	if json.Unmarshal(text, &p) != nil {
		return malformedPolicy("Policies must be valid JSON and the first byte must be '{'")
	}
	if p.Statement == nil {
		return malformedPolicy("Missing required field Statement")
	}
	if p.Version != nil && *p.Version != "2012-10-17" && *p.Version != "2008-10-17" {
		return malformedPolicy("The policy must contain a valid version string")
	}
	parsed, err := policy.Parse(string(text))
	if err != nil {
		return malformedPolicy("Invalid policy syntax.")
	}
	if len(parsed.Statements) == 0 {
		return malformedPolicy("Could not parse the policy: Statement is empty!")
	}
	for _, statement := range parsed.Statements {
		if err := checkStatement(&statement, c.bucket); err != nil {
			return err
		}
	}
	block, err := s.accessBlock(c.bucket)
	if err == nil && block.BlockPublicPolicy && isPublic(parsed) {
		err = fail("AccessDenied", "User: "+c.caller.arn()+" is not authorized to perform: s3:PutBucketPolicy on resource: \"arn:aws:s3:::"+
			c.bucket+"\" because public policies are prevented by the BlockPublicPolicy setting in S3 Block Public Access.", nil)
	}
	return err
}

func malformedPolicy(message string) *aws.Error { return fail("MalformedPolicy", message, nil) }

// checkStatement returns an error unless a statement of a policy is about actions on the bucket and its objects. Each
// action must apply to one of the statement's resources.
func checkStatement(s *policy.Statement, bucket string) error {
	switch {
	case s.Principals == nil && s.NotPrincipals == nil:
		return malformedPolicy("Missing required field Principal")
	case len(s.Resources) == 0 && len(s.NotResources) == 0:
		return malformedPolicy("Missing required field Resource")
	}
	for _, p := range []*policy.Principals{s.Principals, s.NotPrincipals} {
		if p != nil && slices.ContainsFunc(p.AWS, func(name string) bool { return name != "*" && !policyPrincipal.MatchString(name) }) {
			return malformedPolicy("Invalid principal in policy")
		}
	}
	var objects, itself bool // what the resources are
	for _, resource := range slices.Concat(s.Resources, s.NotResources) {
		parts := strings.SplitN(resource, ":", 6)
		if len(parts) < 6 || parts[0] != "arn" || parts[2] != "s3" || parts[3]+parts[4] != "" {
			return malformedPolicy("Policy has invalid resource")
		}
		name, key, hasKey := strings.Cut(parts[5], "/")
		if !aws.Matches(name, bucket) || hasKey && key == "" {
			return malformedPolicy("Policy has invalid resource")
		}
		objects = objects || hasKey || strings.HasSuffix(name, "*")
		itself = itself || !hasKey
	}
	for _, action := range slices.Concat(s.Actions, s.NotActions) {
		matches := func(name string) bool { return aws.Matches(action, name) }
		onObjects, onItself := slices.ContainsFunc(objectActions, matches), slices.ContainsFunc(bucketActions, matches)
		switch {
		case !onObjects && !onItself:
			return malformedPolicy("Policy has invalid action")
		case len(s.Resources) > 0 && len(s.Actions) > 0 && (!onObjects || !objects) && (!onItself || !itself):
			return malformedPolicy("Action does not apply to any resource(s) in statement")
		}
	}
	return nil
}
