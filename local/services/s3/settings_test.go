package s3_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

func TestSettingsOfABucketAreThoseOfANewOne(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	in := aws.String(bucket)
	_, cors := c.GetBucketCors(t.Context(), &awss3.GetBucketCorsInput{Bucket: in})
	_, policy := c.GetBucketPolicy(t.Context(), &awss3.GetBucketPolicyInput{Bucket: in})
	_, lifecycle := c.GetBucketLifecycleConfiguration(t.Context(),
		&awss3.GetBucketLifecycleConfigurationInput{Bucket: in})
	_, tags := c.GetBucketTagging(t.Context(), &awss3.GetBucketTaggingInput{Bucket: in})
	_, nobody := c.GetBucketTagging(t.Context(), &awss3.GetBucketTaggingInput{Bucket: aws.String("nobody")})
	got := []string{codeOf(cors), codeOf(policy), codeOf(lifecycle), codeOf(tags), codeOf(nobody)}
	want := []string{"NoSuchCORSConfiguration", "NoSuchBucketPolicy", "NoSuchLifecycleConfiguration", "NoSuchTagSet",
		"NoSuchBucket"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	acl, err := c.GetBucketAcl(t.Context(), &awss3.GetBucketAclInput{Bucket: in})
	if err != nil || len(acl.Grants) != 1 || acl.Grants[0].Permission != types.PermissionFullControl ||
		acl.Grants[0].Grantee.Type != types.TypeCanonicalUser {
		t.Errorf("%+v, %v", acl, err)
	}
	e, err := c.GetBucketEncryption(t.Context(), &awss3.GetBucketEncryptionInput{Bucket: in})
	if err != nil ||
		e.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm !=
			types.ServerSideEncryptionAes256 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := c.GetBucketNotificationConfiguration(t.Context(),
		&awss3.GetBucketNotificationConfigurationInput{Bucket: in}); err != nil {
		t.Error(err)
	}
	for setting, code := range map[string]string{"acl": "MalformedACLError", "website": "MalformedXML", "logging": "MalformedXML",
		"replication": "NotImplemented", "accelerate": "MalformedXML", "object-lock": "MalformedXML",
		"requestPayment": "MalformedXML"} {
		if w := send(server, http.MethodPut, "/incoming?"+setting, "{}"); w.Code == http.StatusOK ||
			!strings.Contains(w.Body.String(), "<Code>"+code+"</Code>") {
			t.Errorf("changing %s: %d %s, want %s", setting, w.Code, w.Body, code)
		}
	}
}

func TestABucketIsEmptiedByTheVersionsOfItsObjects(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	for _, key := range []string{"a", "b/1", "b/2", "c"} {
		put(t, c, key, key)
	}
	page, err := c.ListObjectVersions(t.Context(), &awss3.ListObjectVersionsInput{Bucket: aws.String(bucket),
		Delimiter: aws.String("/"), MaxKeys: aws.Int32(2)})
	if err != nil || len(page.Versions) != 1 || *page.CommonPrefixes[0].Prefix != "b/" || !*page.IsTruncated ||
		*page.NextKeyMarker != "b/" {
		t.Fatalf("%+v, %v", page, err)
	}
	var keys []string
	for pages := awss3.NewListObjectVersionsPaginator(c, &awss3.ListObjectVersionsInput{Bucket: aws.String(bucket),
		MaxKeys: aws.Int32(3)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Versions {
			keys = append(keys, *v.Key)
			_, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucket), Key: v.Key,
				VersionId: v.VersionId})
			if err != nil || !*v.IsLatest || *v.Size != int64(len(*v.Key)) {
				t.Errorf("%+v, %v", v, err)
			}
		}
	}
	if strings.Join(keys, " ") != "a b/1 b/2 c" {
		t.Error(keys)
	}
	if _, err := c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Error(err)
	}
}

func TestAttributesOfAnObject(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("123456789"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.GetObjectAttributes(t.Context(), &awss3.GetObjectAttributesInput{
		Bucket: aws.String(bucket), Key: aws.String("k"),
		ObjectAttributes: []types.ObjectAttributes{types.ObjectAttributesEtag, types.ObjectAttributesChecksum,
			types.ObjectAttributesObjectSize},
	})
	if err != nil {
		t.Fatal(err)
	}
	if *out.ETag != "25f9e794323b453885f5181f1b624d0b" || *out.Checksum.ChecksumSHA256 != sums["sha256"] ||
		out.Checksum.ChecksumType != types.ChecksumTypeFullObject ||
		*out.ObjectSize != 9 || out.StorageClass != "" || out.LastModified == nil {
		t.Errorf("%+v", out)
	}
}
