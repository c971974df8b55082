package s3_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/delivery"
	"stepback/local/services/s3"
)

// TestSettingsAreKept sets every setting that a bucket can have, and reads them again after a restart.
func TestSettingsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c := start(t, dir, s3.Options{})
	ctx, in := t.Context(), aws.String(bucket)
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:DeleteBucket","Resource":"arn:aws:s3:::incoming"}]}`
	_, e1 := c.PutBucketPolicy(ctx, &awss3.PutBucketPolicyInput{Bucket: in, Policy: &policy})
	_, e2 := c.PutBucketEncryption(ctx, &awss3.PutBucketEncryptionInput{Bucket: in,
		ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{
			Rules: []types.ServerSideEncryptionRule{{ApplyServerSideEncryptionByDefault: &types.
				ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAwsKms}}}}})
	_, e3 := c.PutPublicAccessBlock(ctx, &awss3.PutPublicAccessBlockInput{Bucket: in,
		PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: aws.Bool(true)}})
	_, e4 := c.PutBucketOwnershipControls(ctx, &awss3.PutBucketOwnershipControlsInput{Bucket: in,
		OwnershipControls: &types.OwnershipControls{Rules: []types.OwnershipControlsRule{{
			ObjectOwnership: types.ObjectOwnershipBucketOwnerEnforced}}}})
	_, e5 := c.PutBucketCors(ctx, &awss3.PutBucketCorsInput{Bucket: in, CORSConfiguration: &types.CORSConfiguration{
		CORSRules: []types.CORSRule{{AllowedMethods: []string{"GET"}, AllowedOrigins: []string{"*"}}}}})
	_, e6 := c.PutBucketTagging(ctx, &awss3.PutBucketTaggingInput{Bucket: in, Tagging: &types.Tagging{
		TagSet: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}}})
	_, e7 := c.PutBucketLifecycleConfiguration(ctx, &awss3.PutBucketLifecycleConfigurationInput{Bucket: in,
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{
			ID: aws.String("old"), Status: types.ExpirationStatusEnabled,
			Filter:     &types.LifecycleRuleFilter{Prefix: aws.String("tmp/")},
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}}}}})
	if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
		t.Fatal(err)
	}
	_, c = start(t, dir, s3.Options{})
	p, e1 := c.GetBucketPolicy(ctx, &awss3.GetBucketPolicyInput{Bucket: in})
	e, e2 := c.GetBucketEncryption(ctx, &awss3.GetBucketEncryptionInput{Bucket: in})
	b, e3 := c.GetPublicAccessBlock(ctx, &awss3.GetPublicAccessBlockInput{Bucket: in})
	o, e4 := c.GetBucketOwnershipControls(ctx, &awss3.GetBucketOwnershipControlsInput{Bucket: in})
	cors, e5 := c.GetBucketCors(ctx, &awss3.GetBucketCorsInput{Bucket: in})
	tags, e6 := c.GetBucketTagging(ctx, &awss3.GetBucketTaggingInput{Bucket: in})
	l, e7 := c.GetBucketLifecycleConfiguration(ctx, &awss3.GetBucketLifecycleConfigurationInput{Bucket: in})
	if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(*p.Policy, " ", e.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.
		SSEAlgorithm, " ", *b.PublicAccessBlockConfiguration.BlockPublicAcls, " ",
		o.OwnershipControls.Rules[0].ObjectOwnership, " ", cors.CORSRules[0].AllowedMethods, " ", *tags.TagSet[0].Key, " ",
		*l.Rules[0].Expiration.Days)
	if want := policy + " aws:kms true BucketOwnerEnforced [GET] team 1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	_, e1 = c.DeleteBucketPolicy(ctx, &awss3.DeleteBucketPolicyInput{Bucket: in})
	_, e2 = c.DeletePublicAccessBlock(ctx, &awss3.DeletePublicAccessBlockInput{Bucket: in})
	if err := errors.Join(e1, e2); err != nil {
		t.Error(err)
	}
	_, e1 = c.GetBucketPolicy(ctx, &awss3.GetBucketPolicyInput{Bucket: in})
	_, e2 = c.GetPublicAccessBlock(ctx, &awss3.GetPublicAccessBlockInput{Bucket: in})
	if a, b := codeOf(e1), codeOf(e2); a != "NoSuchBucketPolicy" || b != "NoSuchPublicAccessBlockConfiguration" {
		t.Errorf("deleted: %s, %s", a, b)
	}
	for broken, want := range map[string]string{
		"{": "Policies must be valid JSON and the first byte must be '{'",
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*"}]}`:                    "Missing required field Resource",
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"s3:*","Resource":"arn:aws:s3:::incoming"}]}`: "Missing required field Principal",
	} {
		_, e1 = c.PutBucketPolicy(ctx, &awss3.PutBucketPolicyInput{Bucket: in, Policy: &broken})
		if codeOf(e1) != "MalformedPolicy" || !strings.HasSuffix(e1.Error(), want) {
			t.Errorf("%s: %v, want %s", broken, e1, want)
		}
	}
	// A new bucket of the same name has none of them.
	_, e1 = c.DeleteBucket(ctx, &awss3.DeleteBucketInput{Bucket: in})
	_, e2 = c.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: in})
	_, e3 = c.GetBucketCors(ctx, &awss3.GetBucketCorsInput{Bucket: in})
	if e1 != nil || e2 != nil || codeOf(e3) != "NoSuchCORSConfiguration" {
		t.Errorf("made anew: %v, %v, %v", e1, e2, e3)
	}
}

// A bucket's destinations are notified of the events they request.
func TestNotifications(t *testing.T) {
	t.Parallel()
	var told []string
	deliver := func(_ context.Context, arn string, m *delivery.Message) error {
		if strings.HasSuffix(arn, ":none") {
			return errors.New("there is no such queue")
		}
		var body struct {
			Event   string
			Records []struct {
				EventName string
				S3        struct {
					ConfigurationID string
					Object          struct{ Key string }
				}
			}
			Object struct{ Key string }
		}
		if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
			t.Error(err)
		}
		what := body.Event + body.Object.Key
		if len(body.Records) == 1 {
			r := body.Records[0]
			what = r.EventName + " " + r.S3.ConfigurationID + " " + r.S3.Object.Key
		}
		told = append(told, arn[strings.LastIndex(arn, ":")+1:]+" "+m.Source+m.DetailType+" "+what)
		return nil
	}
	_, c := start(t, t.TempDir(), s3.Options{Deliver: deliver})
	ctx, in := t.Context(), aws.String(bucket)
	set := func(queue string) error {
		_, err := c.PutBucketNotificationConfiguration(ctx, &awss3.PutBucketNotificationConfigurationInput{Bucket: in,
			NotificationConfiguration: &types.NotificationConfiguration{
				EventBridgeConfiguration: &types.EventBridgeConfiguration{},
				QueueConfigurations: []types.QueueConfiguration{{Id: aws.String("made"),
					QueueArn: aws.String("arn:aws:sqs:us-east-1:000000000000:" + queue),
					Events:   []types.Event{"s3:ObjectCreated:*"}, Filter: &types.NotificationConfigurationFilter{
						Key: &types.S3KeyFilter{FilterRules: []types.FilterRule{{Name: "suffix", Value: aws.String(".csv")}}}}}},
				LambdaFunctionConfigurations: []types.LambdaFunctionConfiguration{{Id: aws.String("gone"),
					LambdaFunctionArn: aws.String("arn:aws:lambda:us-east-1:000000000000:function:f"),
					Events:            []types.Event{"s3:ObjectRemoved:Delete"}}},
			}})
		return err
	}
	if err := set("none"); codeOf(err) != "InvalidArgument" {
		t.Errorf("a queue that is not there: %v", err)
	}
	if err := set("q"); err != nil {
		t.Fatal(err)
	}
	put(t, c, "a b/1.csv", "x")
	put(t, c, "2.txt", "x")
	for range 2 {
		if _, err := c.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: in, Key: aws.String("2.txt")}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"q  s3:TestEvent",
		"q  ObjectCreated:Put made a+b/1.csv",
		"event-bus/default aws.s3Object Created a b/1.csv",
		"event-bus/default aws.s3Object Created 2.txt",
		"f  ObjectRemoved:Delete gone 2.txt",
		"event-bus/default aws.s3Object Deleted 2.txt",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
}

// Objects expire at the midnight after their expiration time.
func TestLifecycles(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	server, c := start(t, t.TempDir(), s3.Options{Now: func() time.Time { return at }})
	_, err := c.PutBucketLifecycleConfiguration(t.Context(), &awss3.PutBucketLifecycleConfigurationInput{
		Bucket: aws.String(bucket), LifecycleConfiguration: &types.BucketLifecycleConfiguration{
			Rules: []types.LifecycleRule{{Status: types.ExpirationStatusEnabled,
				Filter:     &types.LifecycleRuleFilter{Prefix: aws.String("tmp/")},
				Expiration: &types.LifecycleExpiration{Days: aws.Int32(2)},
				AbortIncompleteMultipartUpload: &types.AbortIncompleteMultipartUpload{
					DaysAfterInitiation: aws.Int32(2)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket),
		Key: aws.String("tmp/u")}); err != nil {
		t.Fatal(err)
	}
	put(t, c, "tmp/a", "x")
	put(t, c, "kept", "x")
	keys := func() string {
		page, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String(bucket)})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, o := range page.Contents {
			names = append(names, *o.Key)
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct {
		now  time.Time
		want string
	}{
		{time.Date(2026, 11, 24, 23, 59, 59, 0, time.UTC), "kept tmp/a"},
		{time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC), "kept"},
	} {
		if err := server.Expire(step.now); err != nil {
			t.Fatal(err)
		}
		if got := keys(); got != step.want {
			t.Errorf("at %s: %s, want %s", step.now, got, step.want)
		}
	}
	uploads, err := c.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: aws.String(bucket)})
	if err != nil || len(uploads.Uploads) != 0 {
		t.Errorf("uploads %v, %v", uploads, err)
	}
}

// Versions expire once they have been noncurrent for long enough.
func TestOldVersionsExpire(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	server, c := start(t, t.TempDir(), s3.Options{Now: func() time.Time { return at }})
	v := &versioned{c, t}
	v.set(types.BucketVersioningStatusEnabled)
	v.put("k", "old")
	v.put("k", "new")
	if _, err := c.PutBucketLifecycleConfiguration(t.Context(), &awss3.PutBucketLifecycleConfigurationInput{
		Bucket: aws.String(bucket), LifecycleConfiguration: &types.BucketLifecycleConfiguration{
			Rules: []types.LifecycleRule{{Status: types.ExpirationStatusEnabled,
				Filter: &types.LifecycleRuleFilter{Prefix: aws.String("")}, NoncurrentVersionExpiration: &types.
					NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(1)}}}}}); err != nil {
		t.Fatal(err)
	}
	for day, want := range []string{"k:new* k:old", "k:new* k:old", "k:new*"} {
		if err := server.Expire(time.Date(2026, 11, 22+day, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		if got := v.list(10); got != want {
			t.Errorf("after %d days %s, want %s", day, got, want)
		}
	}
}
