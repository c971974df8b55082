package s3_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// BucketOwnerEnforced would disable the grants of an ACL, so it is refused while there are any.
func TestBucketOwnerEnforcedNeedsAPrivateACL(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	ctx, in := t.Context(), aws.String("owned")
	enforce := &awss3.PutBucketOwnershipControlsInput{Bucket: in, OwnershipControls: &types.OwnershipControls{
		Rules: []types.OwnershipControlsRule{{ObjectOwnership: types.ObjectOwnershipBucketOwnerEnforced}}}}
	if _, err := c.CreateBucket(
		ctx,
		&awss3.CreateBucketInput{Bucket: in, ObjectOwnership: types.ObjectOwnershipObjectWriter},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DeletePublicAccessBlock(ctx, &awss3.DeletePublicAccessBlockInput{Bucket: in}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		acl  types.BucketCannedACL
		want string
	}{{types.BucketCannedACLPublicRead, "InvalidBucketAclWithObjectOwnership"}, {types.BucketCannedACLPrivate, ""}} {
		if _, err := c.PutBucketAcl(ctx, &awss3.PutBucketAclInput{Bucket: in, ACL: step.acl}); err != nil {
			t.Fatal(err)
		}
		_, err := c.PutBucketOwnershipControls(ctx, enforce)
		if got := codeOf(err); got != step.want {
			t.Errorf("%s: %v, want %q", step.acl, err, step.want)
		}
	}
	got, err := c.GetBucketOwnershipControls(ctx, &awss3.GetBucketOwnershipControlsInput{Bucket: in})
	if err != nil || got.OwnershipControls.Rules[0].ObjectOwnership != types.ObjectOwnershipBucketOwnerEnforced {
		t.Errorf("%+v, %v", got, err)
	}
}
