package s3_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

var oddKeys = []string{
	"a", "a/b", "a/b/c", "a/", "a//b", "/lead", "//", ".", "..", "../up", "../../../../etc/passwd", "x/../../y", "./x",
	"%", "%2E", "%=", "a%=", "%_", "%+", "q%.json", "100%", `back\slash`, "c:d", "nul\x00byte", "tab\tkey", "ユーザー.csv",
	"a-b", "a.b", "a0",
	strings.Repeat("n", 241), strings.Repeat("n", 240), strings.Repeat("n", 1000), strings.Repeat("n", 500) + "/" +
		strings.Repeat("m", 500),
	strings.Repeat("長", 340), strings.Repeat("/", 300), "con", ".meta", ".tmp/x",
}

func TestEveryKeyIsKeptAndNoneLeavesItsBucket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "outer", "data")
	_, c := start(t, dir, s3.Options{})
	for _, key := range oddKeys {
		put(t, c, key, "body of "+key)
	}
	for _, key := range oddKeys {
		if body, _ := get(t, c, &awss3.GetObjectInput{Key: &key}); body != "body of "+key {
			t.Errorf("key %.40q came back as %.40q", key, body)
		}
	}
	if top, _ := os.ReadDir(filepath.Dir(dir)); len(top) != 1 {
		t.Errorf("beside the data directory: %v", top)
	}
	want := slices.Sorted(slices.Values(oddKeys))
	if got := allKeys(t, c, "", ""); !slices.Equal(got, want) {
		t.Errorf("listed\n%.2000q\nwant\n%.2000q", got, want)
	}
	deleteAll(t, c, oddKeys)
	if got := allKeys(t, c, "", ""); len(got) != 0 {
		t.Errorf("left after deletion: %q", got)
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if !d.IsDir() && d.Name() != "%.bucket" {
			t.Errorf("a file is left: %s", path)
		}
		return nil
	})
}

func TestTooLongKeyIsRefused(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket),
		Key: aws.String(strings.Repeat("k", 1025)), Body: strings.NewReader("")})
	if codeOf(err) != "KeyTooLongError" {
		t.Errorf("%v", err)
	}
}

func TestAFilePutThereByHandIsAnObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c := start(t, dir, s3.Options{})
	if err := os.WriteFile(filepath.Join(dir, bucket, "hand.csv"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String(bucket)})
	if err != nil || len(list.Contents) != 1 || *list.Contents[0].ETag != `"5d41402abc4b2a76b9719d911017c592"` {
		t.Fatalf("%+v, %v", list, err)
	}
	put(t, c, "hand.csv/below", "x")
	if body, _ := get(t, c, &awss3.GetObjectInput{Key: aws.String("hand.csv")}); body != "hello" {
		t.Errorf("body %q", body)
	}
}

func allKeys(t *testing.T, c *awss3.Client, prefix, after string) []string {
	t.Helper()
	var keys []string
	in := &awss3.ListObjectsV2Input{Bucket: aws.String(bucket), MaxKeys: aws.Int32(3), Prefix: &prefix}
	if after != "" {
		in.StartAfter = &after
	}
	for p := awss3.NewListObjectsV2Paginator(c, in); p.HasMorePages(); {
		page, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, strings.ReplaceAll(*o.Key, "nul\ufffdbyte", "nul\x00byte"))
		}
	}
	return keys
}

func deleteAll(t *testing.T, c *awss3.Client, keys []string) {
	t.Helper()
	for _, key := range keys {
		if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucket),
			Key: &key}); err != nil {
			t.Errorf("delete %.40q: %v", key, err)
		}
	}
}

func TestDeleteObjects(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "a", "x")
	put(t, c, "b", "x")
	out, err := c.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(bucket),
		Delete: &types.Delete{
			Objects: []types.ObjectIdentifier{{Key: aws.String("a")}, {Key: aws.String("none")}}}})
	if err != nil || len(out.Deleted) != 2 || len(out.Errors) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := allKeys(t, c, "", ""); !slices.Equal(got, []string{"b"}) {
		t.Errorf("left: %q", got)
	}
}
