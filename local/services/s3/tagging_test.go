package s3_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// tagsOf returns the tags of an object as key=value, in order.
func tagsOf(t *testing.T, c *awss3.Client, key string) string {
	t.Helper()
	out, err := c.GetObjectTagging(t.Context(), &awss3.GetObjectTaggingInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, tag := range out.TagSet {
		shown = append(shown, *tag.Key+"="+*tag.Value)
	}
	return strings.Join(shown, ",")
}

func TestObjectsHaveTags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := start(t, dir, s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"),
		Body: strings.NewReader("1"), Tagging: aws.String("x=1&ü%20=%2B")})
	if err != nil {
		t.Fatal(err)
	}
	copied := func(key string, directive types.TaggingDirective, tags string) {
		_, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{
			Bucket: aws.String(bucket), Key: &key, CopySource: aws.String(bucket + "/a"), TaggingDirective: directive,
			Tagging: aws.String(tags),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	copied("b", types.TaggingDirectiveCopy, "")
	copied("c", types.TaggingDirectiveReplace, "y=2")
	put(t, c, "d", "1")
	for key, want := range map[string]string{"a": "x=1,ü =+", "b": "x=1,ü =+", "c": "y=2", "d": ""} {
		if got := tagsOf(t, c, key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if n := send(server, http.MethodHead, "/incoming/a", "").Header().Get("X-Amz-Tagging-Count"); n != "2" {
		t.Errorf("%s tags", n)
	}
	_, err = c.PutObjectTagging(t.Context(), &awss3.PutObjectTaggingInput{
		Bucket: aws.String(bucket), Key: aws.String("a"),
		Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("z"), Value: aws.String("")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	_, c = start(t, dir, s3.Options{})
	if got := tagsOf(t, c, "a"); got != "z=" {
		t.Errorf("after a restart: %s", got)
	}
	if _, err := c.DeleteObjectTagging(t.Context(), &awss3.DeleteObjectTaggingInput{Bucket: aws.String(bucket),
		Key: aws.String("a")}); err != nil {
		t.Fatal(err)
	}
	if body, _ := get(t, c, &awss3.GetObjectInput{Key: aws.String("a")}); tagsOf(t, c, "a") != "" || body != "1" {
		t.Errorf("%s, %s", tagsOf(t, c, "a"), body)
	}
}

func TestTagsAreChecked(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "1")
	set := func(pairs ...string) string {
		var b strings.Builder
		for _, key := range pairs {
			fmt.Fprintf(&b, "<Tag><Key>%s</Key><Value>v</Value></Tag>", key)
		}
		return "<Tagging><TagSet>" + b.String() + "</TagSet></Tagging>"
	}
	for name, e := range map[string]struct{ target, body, want string }{
		"eleven": {"/incoming/k?tagging", set(strings.Split("a b c d e f g h i j k", " ")...),
			"400 BadRequest Object tags cannot be greater than 10"},
		"twice": {"/incoming/k?tagging", set("a", "a"),
			"400 InvalidTag Cannot provide multiple Tags with the same key"},
		"no key": {"/incoming/k?tagging", set(""), "400 InvalidTag The TagKey you have provided is invalid"},
		"no XML": {"/incoming/k?tagging", "{}",
			"400 MalformedXML The XML you provided was not well-formed or did not validate against our published schema"},
		"no object": {"/incoming/none?tagging", set("a"), "404 NoSuchKey The specified key does not exist."},
		"the bucket": {"/incoming?tagging", set("a", "a"),
			"400 InvalidTag Cannot provide multiple Tags with the same key"},
	} {
		if got := outcomeOf(server, e.target, e.body); got != e.want {
			t.Errorf("%s: %s, want %s", name, got, e.want)
		}
	}
}
