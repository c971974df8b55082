package s3_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/internal/objectevent"
	"stepback/local/services/s3"
)

func TestCopy(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b"),
		Body:        strings.NewReader("hello"),
		ContentType: aws.String("text/csv"), Metadata: map[string]string{"owner": "ops"}})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket),
		Key: aws.String("dir/c"), CopySource: aws.String(bucket + "/a%20b")})
	if err != nil || *copied.CopyObjectResult.ETag != `"5d41402abc4b2a76b9719d911017c592"` {
		t.Fatalf("%+v, %v", copied, err)
	}
	body, out := get(t, c, &awss3.GetObjectInput{Key: aws.String("dir/c")})
	if body != "hello" || *out.ContentType != "text/csv" || out.Metadata["owner"] != "ops" {
		t.Errorf("%q %+v", body, out)
	}
	_, err = c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("dir/c"),
		CopySource:        aws.String(bucket + "/a%20b"),
		MetadataDirective: types.MetadataDirectiveReplace, Metadata: map[string]string{"new": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	_, out = get(t, c, &awss3.GetObjectInput{Key: aws.String("dir/c")})
	if *out.ContentType == "text/csv" || out.Metadata["new"] != "1" || out.Metadata["owner"] != "" {
		t.Errorf("replaced metadata: %+v", out)
	}
	_, err = c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("x"),
		CopySource: aws.String(bucket + "/a%20b"), CopySourceIfMatch: aws.String("no")})
	if codeOf(err) != "PreconditionFailed" {
		t.Errorf("conditional copy: %v", err)
	}
}

func TestEventsOfCreatedObjects(t *testing.T) {
	t.Parallel()
	var events []objectevent.Event
	_, c := start(t, t.TempDir(), s3.Options{Region: "eu-west-1", Account: "123456789012",
		ObjectCreated: func(e objectevent.Event) { events = append(events, e) }})
	put(t, c, "a.csv", "hello")
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b.csv"),
		CopySource: aws.String(bucket + "/a.csv")}); err != nil {
		t.Fatal(err)
	}
	etag := upload(t, c, "c.csv", filled("part one"), "part two")
	var got []string
	for _, e := range events {
		got = append(got, string(e.Detail.Reason)+" "+e.Detail.Bucket.Name+"/"+e.Detail.Object.Key+" "+
			e.Detail.Object.ETag)
	}
	want := []string{
		"PutObject incoming/a.csv 5d41402abc4b2a76b9719d911017c592",
		"CopyObject incoming/b.csv 5d41402abc4b2a76b9719d911017c592",
		"CompleteMultipartUpload incoming/c.csv " + strings.Trim(etag, `"`),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	first, second := events[0], events[1]
	if first.Detail.Object.Size != 5 || first.Region != "eu-west-1" || first.Account != "123456789012" ||
		first.Resources[0] != "arn:aws:s3:::incoming" {
		t.Errorf("%+v", first)
	}
	if first.Detail.Object.Sequencer >= second.Detail.Object.Sequencer || first.ID == second.ID {
		t.Errorf("sequencers %s, %s", first.Detail.Object.Sequencer, second.Detail.Object.Sequencer)
	}
}
