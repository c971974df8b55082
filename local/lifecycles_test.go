package local_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/engine/clock"
	"stepback/local"
)

// Virtual time does not advance while the lifecycles of buckets are applied, which happens every hour.
func TestLifecyclesAreAppliedBeforeTimePasses(t *testing.T) {
	t.Parallel()
	start := time.Now().Truncate(time.Hour)
	c := clock.Virtual(start)
	p := open(t, local.Config{Clock: c})
	objects := s3.NewFromConfig(settings(p), func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String("short")
	if _, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{
		Bucket: bucket, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{
			Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("")},
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: aws.String("k")}); err != nil {
		t.Fatal(err)
	}
	// created returns the time at which the object was created. ok is false if it does not exist.
	created := func() (at time.Time, ok bool) {
		head, err := objects.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("k")})
		if none := (*types.NotFound)(nil); errors.As(err, &none) {
			return time.Time{}, false
		}
		if err != nil {
			t.Fatal(err)
		}
		return *head.LastModified, true
	}
	at, _ := created()
	// An object expires at the midnight after it has existed for a day.
	midnight := at.UTC().Truncate(24 * time.Hour).Add(48 * time.Hour)
	for _, step := range []struct {
		at   time.Time
		want bool
	}{{midnight.Add(-time.Second), true}, {midnight.Add(time.Nanosecond), false}} {
		rang := make(chan struct{})
		c.Schedule(step.at, clock.AlarmFunc(func() { close(rang) }))
		<-rang
		if _, ok := created(); ok != step.want {
			t.Errorf("at %s the object exists: %t", step.at, !step.want)
		}
	}
}

// Objects have the time of the platform's clock, also when virtual time has advanced by days.
func TestObjectsHaveVirtualTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	c := clock.Virtual(start)
	p := open(t, local.Config{Clock: c})
	objects := s3.NewFromConfig(settings(p), func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String("dated")
	if _, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	for _, days := range []int{1, 10} {
		want := start.AddDate(0, 0, days)
		rang := make(chan struct{})
		c.Schedule(want, clock.AlarmFunc(func() { close(rang) }))
		<-rang
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: aws.String("k")}); err != nil {
			t.Fatal(err)
		}
		head, err := objects.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("k")})
		if err != nil || !head.LastModified.Equal(want) {
			t.Errorf("%v, %v; want %v", head, err, want)
		}
	}
}
