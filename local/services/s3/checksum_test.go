package s3_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// The checksums of "123456789" in Base64, which are the check values in the catalogues of these algorithms.
var sums = map[string]string{
	"crc32": "y/Q5Jg==", "crc32c": "4waSgw==", "crc64nvme": "rosUhgp5mIg=", "sha1": "98O8HYCOBHMq32eZZczDTKeuNEE=",
	"sha256": "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
}

func TestUploadsWithAnotherChecksumAreRefused(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	for algorithm, sum := range sums {
		header := "X-Amz-Checksum-" + algorithm
		for value, want := range map[string]string{
			sum: "200",
			sum[:2] + "AA" + sum[4:]: "400 BadDigest The " + strings.ToUpper(algorithm) +
				" you specified did not match the calculated checksum.",
			"AAAA": "400 InvalidRequest Value for x-amz-checksum-" + algorithm +
				" header is invalid.",
			"!": "400 InvalidRequest Value for x-amz-checksum-" + algorithm +
				" header is invalid.",
		} {
			key := "/incoming/" + algorithm
			if got := outcomeOf(server, key, "123456789", header, value); got != want {
				t.Errorf("%s: %s: %s, want %s", algorithm, value, got, want)
			}
			trailing := fmt.Sprintf("9\r\n123456789\r\n0\r\nx-amz-checksum-%s:%s\r\n\r\n", algorithm, value)
			got := outcomeOf(server, key+"-trailing", trailing, "X-Amz-Content-Sha256",
				"STREAMING-UNSIGNED-PAYLOAD-TRAILER",
				"X-Amz-Decoded-Content-Length", "9", "X-Amz-Trailer", "x-amz-checksum-"+algorithm)
			if got != want {
				t.Errorf("%s behind the body: %s: %s, want %s", algorithm, value, got, want)
			}
		}
		for _, key := range []string{algorithm, algorithm + "-trailing"} {
			h := send(server, http.MethodHead, "/incoming/"+key, "", "X-Amz-Checksum-Mode", "ENABLED").Header()
			if got := h.Get("X-Amz-Checksum-"+algorithm) + " " + h.Get("X-Amz-Checksum-Type"); got != sum+
				" FULL_OBJECT" {
				t.Errorf("%s is kept as %s", key, got)
			}
			h = send(server, http.MethodHead, "/incoming/"+key, "").Header()
			if h.Get("X-Amz-Checksum-"+algorithm) != "" || h.Get("X-Amz-Stepback-Checksum") != "" {
				t.Errorf("%s tells its checksum unasked: %v", key, h)
			}
		}
	}
}

// outcomeOf puts an object and returns the status and the code and message of an error.
func outcomeOf(server *s3.Server, target, body string, headers ...string) string {
	w := send(server, http.MethodPut, target, body, headers...)
	out := fmt.Sprint(w.Code)
	for _, element := range []string{"Code", "Message"} {
		_, rest, _ := strings.Cut(w.Body.String(), "<"+element+">")
		text, _, found := strings.Cut(rest, "</"+element+">")
		if found {
			out += " " + text
		}
	}
	return out
}

func TestChecksumsOfMultipartUploads(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	for name, want := range map[string]struct {
		algorithm types.ChecksumAlgorithm
		kind      types.ChecksumType
		value     string
	}{
		"of the parts":     {types.ChecksumAlgorithmCrc32, "", "daUzEw==-2"},
		"of all bytes":     {types.ChecksumAlgorithmCrc32, types.ChecksumTypeFullObject, "Wksg+A=="},
		"always all bytes": {types.ChecksumAlgorithmCrc64nvme, "", "INwf7fcZTps="},
		"S3's default":     {"", "", "INwf7fcZTps="},
	} {
		in := &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: &name,
			ChecksumAlgorithm: want.algorithm, ChecksumType: want.kind}
		u, err := c.CreateMultipartUpload(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		var parts []types.CompletedPart
		for i, text := range []string{strings.Repeat("12345", 1<<20), "6789"} {
			p, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
				Bucket: aws.String(bucket), Key: &name, UploadId: u.UploadId, PartNumber: aws.Int32(int32(i + 1)),
				Body: bytes.NewReader([]byte(text)), ChecksumAlgorithm: want.algorithm,
			})
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, types.CompletedPart{PartNumber: aws.Int32(int32(i + 1)), ETag: p.ETag,
				ChecksumCRC32: p.ChecksumCRC32})
		}
		_, err = c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
			Bucket: aws.String(bucket), Key: &name, UploadId: u.UploadId,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket), Key: &name,
			ChecksumMode: types.ChecksumModeEnabled})
		if err != nil {
			t.Fatal(err)
		}
		got := aws.ToString(out.ChecksumCRC32) + aws.ToString(out.ChecksumCRC64NVME)
		if got != want.value {
			t.Errorf("%s: %s %s, want %s", name, got, out.ChecksumType, want.value)
		}
	}
}

// TestChecksumsOfParts expects the errors that S3 returned in eu-west-1 in September 2026 for uploads of a composite
// checksum whose parts have none.
func TestChecksumsOfParts(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	begun, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket),
		Key: aws.String("m"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256})
	if err != nil {
		t.Fatal(err)
	}
	target := "/" + bucket + "/m?uploadId=" + *begun.UploadId
	const mismatch = "<Code>InvalidRequest</Code><Message>Checksum Type mismatch occurred, expected checksum Type: sha256, actual checksum Type: "
	const hash = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=" // of "x"
	for _, e := range []struct {
		headers []string
		status  int
		want    string
	}{
		{nil, 400, mismatch + "null</Message>"},
		{[]string{"X-Amz-Checksum-Crc32", "jNwWgw=="}, 400, mismatch + "crc32</Message>"},
		{[]string{"X-Amz-Checksum-Sha256", hash}, 200, ""},
	} {
		w := send(server, http.MethodPut, target+"&partNumber=1", "x", e.headers...)
		if w.Code != e.status || !strings.Contains(w.Body.String(), e.want) {
			t.Errorf("%v: %d %s, want %d %s", e.headers, w.Code, w.Body, e.status, e.want)
		}
	}
	for sum, want := range map[string]string{
		"": "<Code>InvalidRequest</Code><Message>The upload was created using a sha256 checksum. The complete request must " +
			"include the checksum for each part. It was missing for part 1 in the request.</Message>",
		"<ChecksumSHA256>AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=</ChecksumSHA256>": "<Code>InvalidPart</Code>",
	} {
		w := send(server, http.MethodPost, target, `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>`+
			`<ETag>9dd4e461268c8034f5c8564e155c67a6</ETag>`+sum+`</Part></CompleteMultipartUpload>`)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("completion with %q: %d %s, want %s", sum, w.Code, w.Body, want)
		}
	}
	w := send(server, http.MethodPost, target, `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>`+
		`<ETag>9dd4e461268c8034f5c8564e155c67a6</ETag></Part></CompleteMultipartUpload>`, "X-Amz-Checksum-Sha256", hash)
	if !strings.Contains(w.Body.String(), "<Code>BadDigest</Code>") {
		t.Errorf("completion with the checksum of all bytes instead of the parts': %d %s", w.Code, w.Body)
	}
}
