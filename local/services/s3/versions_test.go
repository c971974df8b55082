package s3_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// versioned is a client of a bucket with versioning.
type versioned struct {
	*awss3.Client
	t *testing.T
}

func (v *versioned) set(status types.BucketVersioningStatus) {
	v.t.Helper()
	if _, err := v.PutBucketVersioning(v.t.Context(), &awss3.PutBucketVersioningInput{Bucket: aws.String(bucket),
		VersioningConfiguration: &types.VersioningConfiguration{Status: status}}); err != nil {
		v.t.Fatal(err)
	}
}

func (v *versioned) put(key, body string) string {
	v.t.Helper()
	out, err := v.PutObject(v.t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: &key,
		Body: strings.NewReader(body)})
	if err != nil {
		v.t.Fatal(err)
	}
	return aws.ToString(out.VersionId)
}

// get returns the body of a version, or the error code; an empty id means the latest version.
func (v *versioned) get(key, id string) string {
	v.t.Helper()
	in := &awss3.GetObjectInput{Bucket: aws.String(bucket), Key: &key}
	if id != "" {
		in.VersionId = &id
	}
	out, err := v.GetObject(v.t.Context(), in)
	if err != nil {
		return codeOf(err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return string(text)
}

func (v *versioned) remove(key, id string) *awss3.DeleteObjectOutput {
	v.t.Helper()
	in := &awss3.DeleteObjectInput{Bucket: aws.String(bucket), Key: &key}
	if id != "" {
		in.VersionId = &id
	}
	out, err := v.DeleteObject(v.t.Context(), in)
	if err != nil {
		v.t.Fatal(err)
	}
	return out
}

// list returns all versions, read page by page, with * after the latest and - before delete markers.
func (v *versioned) list(size int32) string {
	v.t.Helper()
	words := []string{}
	in := &awss3.ListObjectVersionsInput{Bucket: aws.String(bucket), MaxKeys: &size}
	for {
		page, err := v.ListObjectVersions(v.t.Context(), in)
		if err != nil {
			v.t.Fatal(err)
		}
		star := func(latest *bool) string {
			if *latest {
				return "*"
			}
			return ""
		}
		for _, o := range page.Versions {
			words = append(words, *o.Key+":"+v.get(*o.Key, *o.VersionId)+star(o.IsLatest))
		}
		for _, o := range page.DeleteMarkers {
			words = append(words, "-"+*o.Key+star(o.IsLatest))
		}
		if !*page.IsTruncated {
			return strings.Join(words, " ")
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c := start(t, dir, s3.Options{})
	v := &versioned{c, t}
	if id := v.put("k", "before"); id != "" {
		t.Errorf("without versions %s", id)
	}
	v.set(types.BucketVersioningStatusEnabled)
	one, two := v.put("k", "one"), v.put("k", "two")
	if one == "" || one == two {
		t.Errorf("versions %q and %q", one, two)
	}
	if out, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("copy"),
		CopySource: aws.String(bucket + "/k?versionId=" + one)}); err != nil || aws.ToString(out.CopySourceVersionId) != one ||
		v.get("copy", "") != "one" {
		t.Errorf("copying an old version: %v, %v", out, err)
	} else {
		v.remove("copy", aws.ToString(out.VersionId))
	}
	got := fmt.Sprint(v.get("k", ""), " ", v.get("k", one), " ", v.get("k", "null"), " ", v.get("k", "3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY"))
	if got != "two one before NoSuchVersion" {
		t.Errorf("read %s", got)
	}
	marker := v.remove("k", "")
	if !*marker.DeleteMarker || aws.ToString(marker.VersionId) == "" {
		t.Errorf("deleted %+v", marker)
	}
	v.put("j", "other")
	want := "j:other* k:two k:one k:before -k*"
	for _, size := range []int32{1000, 2, 1} {
		if got := v.list(size); len(strings.Fields(got)) != 5 || size == 1000 && got != want {
			t.Errorf("pages of %d: %s, want %s", size, got, want)
		}
	}
	_, c = start(t, dir, s3.Options{}) // everything is on disk
	v = &versioned{c, t}
	if got := v.get("k", "") + " " + v.get("k", *marker.VersionId); got != "NoSuchKey MethodNotAllowed" {
		t.Errorf("behind the marker %s", got)
	}
	if gone := v.remove("k", *marker.VersionId); !*gone.DeleteMarker || v.get("k", "") != "two" {
		t.Errorf("without the marker %s", v.get("k", ""))
	}
	v.remove("k", two)
	if got := v.list(1000); got != "j:other* k:one* k:before" {
		t.Errorf("without the latest %s", got)
	}
	v.set(types.BucketVersioningStatusSuspended)
	v.put("k", "null again")
	if got := v.list(1000); got != "j:other* k:null again* k:one" {
		t.Errorf("suspended %s", got)
	}
	if _, err := c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)}); codeOf(err) !=
		"BucketNotEmpty" {
		t.Errorf("deleting the bucket: %v", err)
	}
	page, err := c.ListObjectVersions(t.Context(), &awss3.ListObjectVersionsInput{Bucket: aws.String(bucket)})
	if err != nil {
		t.Fatal(err)
	}
	all := &types.Delete{}
	for _, o := range page.Versions {
		all.Objects = append(all.Objects, types.ObjectIdentifier{Key: o.Key, VersionId: o.VersionId})
	}
	if out, err := c.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(bucket),
		Delete: all}); err != nil || len(out.Deleted) != 3 {
		t.Errorf("%v, %v", out, err)
	}
	if _, err := c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Errorf("deleting the bucket: %v, with %s", err, v.list(1000))
	}
}
