package s3_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// send makes a request without an S3 client, which would interpret the response in its own way.
func send(s *s3.Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20261127/us-east-1/s3/aws4_request, "+
		"SignedHeaders=host, Signature=0")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestErrorsHaveTheStatusAndTheMessageOfS3(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{Region: "eu-west-1"})
	put(t, c, "k", "0123456789")
	streamed := []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length", "5"}
	for name, e := range map[string]struct {
		method, target, body string
		headers              []string
		status               int
		code, message        string
	}{
		"a bucket that is there": {http.MethodPut, "/incoming", "", []string{"Authorization",
			"AWS4-HMAC-SHA256 Credential=local/20261127/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=0"}, 409, "BucketAlreadyOwnedByYou",
			"Your previous request to create the named bucket succeeded and you already own it."},
		"a bucket with objects": {http.MethodDelete, "/incoming", "", nil, 409, "BucketNotEmpty",
			"The bucket you tried to delete is not empty"},
		"a range beyond the end": {http.MethodGet, "/incoming/k", "", []string{"Range", "bytes=10-"}, 416,
			"InvalidRange", "The requested range is not satisfiable"},
		"a long key": {http.MethodPut, "/incoming/" + strings.Repeat("x", 1025), "1", nil, 400,
			"KeyTooLongError", "Your key is too long"},
		"no MD5": {http.MethodPut, "/incoming/k", "1", []string{"Content-MD5", "zzz"}, 400,
			"InvalidDigest", "The Content-MD5 you specified was invalid."},
		"another MD5": {http.MethodPut, "/incoming/k", "1",
			[]string{"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}, 400, "BadDigest",
			"The Content-MD5 you specified did not match what we received."},
		"a chunk without a size": {http.MethodPut, "/incoming/k", "zz\r\nhello\r\n0\r\n\r\n", streamed, 400,
			"IncompleteBody", "The request&#39;s body ended early: malformed aws-chunked body"},
		"a chunk of any size": {http.MethodPut, "/incoming/k", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", streamed, 400,
			"IncompleteBody", "The request&#39;s body ended early: malformed aws-chunked body"},
		"a chunk that does not end": {http.MethodPut, "/incoming/k", "5\r\nhello" + strings.Repeat("x", 70_000), streamed, 400,
			"IncompleteBody", "The request&#39;s body ended early: malformed aws-chunked body"},
		"a chunk that is cut off": {http.MethodPut, "/incoming/k", "5\r\nhel", streamed, 400, "IncompleteBody",
			"The connection ended before the whole body had arrived; nothing was stored."},
		"deletions without MD5": {http.MethodPost, "/incoming?delete", "<Delete><Object><Key>k</Key></Object></Delete>", nil, 400,
			"InvalidRequest", "Missing required header for this request: Content-MD5"},
		"no upload": {http.MethodDelete, "/incoming/k?uploadId=1", "", nil, 404, "NoSuchUpload",
			"The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."},
		"a method": {http.MethodPatch, "/incoming/k", "", nil, 405, "MethodNotAllowed",
			"The specified method is not allowed against this resource."},
		"a token": {http.MethodGet, "/incoming?list-type=2&continuation-token=%21", "", nil, 400,
			"InvalidArgument", "The continuation token provided is incorrect"},
		"a number of keys": {http.MethodGet, "/incoming?max-keys=x", "", nil, 400, "InvalidArgument",
			"Provided max-keys not an integer or within integer range"},
		"a negative number": {http.MethodGet, "/incoming?max-keys=-1", "", nil, 400, "InvalidArgument",
			"Argument maxKeys must be an integer between 0 and 2147483647"},
		"an encoding": {http.MethodGet, "/incoming?encoding-type=x", "", nil, 400, "InvalidArgument",
			"Invalid Encoding Method specified in Request"},
		"no bucket": {http.MethodGet, "/nobody?list-type=2", "", nil, 404, "NoSuchBucket",
			"The specified bucket does not exist"},
		"a token of nobody": {http.MethodGet, "/incoming?list-type=2&continuation-token=bm9uc2Vuc2U=", "", nil, 400,
			"InvalidArgument", "The continuation token provided is incorrect"},
		"a token for buckets": {http.MethodGet, "/?continuation-token=bm9uc2Vuc2U=", "", nil, 400,
			"InvalidArgument", "The continuation token provided is incorrect"},
		"no buckets": {http.MethodGet, "/?max-buckets=0", "", nil, 400,
			"InvalidArgument", "Argument max-buckets must be an integer between 1 and 10000"},
		"too many buckets": {http.MethodGet, "/?max-buckets=10001", "", nil, 400,
			"InvalidArgument", "Argument max-buckets must be an integer between 1 and 10000"},
		"an ID that no version has": {http.MethodGet, "/incoming/k?versionId=foo", "", nil, 400,
			"InvalidArgument", "Invalid version id specified"},
		"an empty ID of a version": {http.MethodDelete, "/incoming/k?versionId=", "", nil, 400,
			"InvalidArgument", "Version id cannot be the empty string"},
		"a version that is missing": {http.MethodGet, "/incoming/k?versionId=3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY", "", nil, 404,
			"NoSuchVersion", "The specified version does not exist."},
		"an owner that is no account": {http.MethodGet, "/incoming/k", "", []string{"X-Amz-Expected-Bucket-Owner", "me"}, 400,
			"InvalidBucketOwnerAWSAccountID", "The value of the expected bucket owner parameter must be an AWS Account ID..."},
		"a bucket for examples": {http.MethodPut, "/amzn-s3-demo-bucket", "", nil, 400, "InvalidBucketName",
			"The specified bucket is not valid."},
		"a bucket that an access point could be": {http.MethodPut, "/mine--ol-s3", "", nil, 400, "InvalidBucketName",
			"The specified bucket is not valid."},
		"a status of versioning": {http.MethodPut, "/incoming?versioning",
			"<VersioningConfiguration><Status>On</Status></VersioningConfiguration>", nil, 400, "MalformedXML", malformed},
		"no status of versioning": {http.MethodPut, "/incoming?versioning", "<VersioningConfiguration/>", nil, 400,
			"IllegalVersioningConfigurationException", "The Versioning element must be specified"},
		"a rule without filter": {http.MethodPut, "/incoming?lifecycle", "<LifecycleConfiguration><Rule><Status>Enabled</Status>" +
			"<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>", nil, 400, "MalformedXML", malformed},
		"origins with two wildcards": {http.MethodPut, "/incoming?cors", "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod>" +
			"<AllowedOrigin>http://*.*</AllowedOrigin></CORSRule></CORSConfiguration>", nil, 400, "InvalidRequest",
			"AllowedOrigin &#34;http://*.*&#34; can not have more than one wildcard."},
		"headers with two wildcards": {http.MethodPut, "/incoming?cors", "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod>" +
			"<AllowedOrigin>*</AllowedOrigin><AllowedHeader>*a*</AllowedHeader></CORSRule></CORSConfiguration>", nil, 400, "InvalidRequest",
			"AllowedHeader &#34;*a*&#34; can not have more than one wildcard."},
		"an empty website": {http.MethodPut, "/incoming?website", "<WebsiteConfiguration/>", nil, 400, "MalformedXML", malformed},
		"a website with a folder as index": {http.MethodPut, "/incoming?website", "<WebsiteConfiguration><IndexDocument><Suffix>a/b</Suffix>" +
			"</IndexDocument></WebsiteConfiguration>", nil, 400, "InvalidArgument", "The IndexDocument Suffix is not well formed"},
		"a system tag of an object": {http.MethodPut, "/incoming/k?tagging", taggedWith("aws:a", "1"), nil, 400, "InvalidTag",
			"Your TagKey cannot be prefixed with aws:"},
		"a system tag of a bucket": {http.MethodPut, "/incoming?tagging", taggedWith("aws:a", "1"), nil, 400, "InvalidTag",
			"System tags cannot be added/updated by requester"},
		"a tag with other characters": {http.MethodPut, "/incoming/k?tagging", taggedWith("a!", "1"), nil, 400, "InvalidTag",
			"The TagKey you have provided is invalid"},
		"a value with other characters": {http.MethodPut, "/incoming?tagging", taggedWith("a", "1;"), nil, 400, "InvalidTag",
			"The TagValue you have provided is invalid"},
		"a long header": {http.MethodGet, "/incoming/k", "", []string{"X-Large", strings.Repeat("x", 8192)}, 400,
			"RequestHeaderSectionTooLarge", "Your request header section exceeds the maximum allowed size."},
		"a copy to itself": {http.MethodPut, "/incoming/k", "", []string{"X-Amz-Copy-Source", "incoming/k"}, 400,
			"InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself without changing the object&#39;s metadata, storage class, website redirect location or encryption attributes."},
	} {
		w := send(server, e.method, e.target, e.body, e.headers...)
		body := w.Body.String()
		if w.Code != e.status || !strings.Contains(body, "<Code>"+e.code+"</Code>") ||
			!strings.Contains(body, "<Message>"+e.message+"</Message>") ||
			!strings.Contains(body, "<RequestId>"+w.Header().Get("X-Amz-Request-Id")+"</RequestId>") {
			t.Errorf("%s: %d %s\nwant %d %s: %s", name, w.Code, body, e.status, e.code, e.message)
		}
	}
}

const malformed = "The XML you provided was not well-formed or did not validate against our published schema"

func taggedWith(key, value string) string {
	return "<Tagging><TagSet><Tag><Key>" + key + "</Key><Value>" + value + "</Value></Tag></TagSet></Tagging>"
}

func TestBucketPoliciesThatAreMalformed(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	for name, c := range map[string]struct{ version, members, want string }{
		"valid":                  {"2012-10-17", `"Principal":{"AWS":"111111111111"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::incoming/*"`, ""},
		"both, with wildcards":   {"2008-10-17", `"Principal":"*","Action":["s3:Get*","s3:ListBucket"],"Resource":["arn:aws:s3:::incoming*"]`, ""},
		"every action, resource": {"2012-10-17", `"Principal":"*","Action":"*","Resource":"arn:aws:s3:::*"`, ""},
		"letter case":            {"2012-10-17", `"Principal":"*","Action":"S3:getobject","Resource":"arn:aws:s3:::incoming/a"`, ""},
		"the version":            {"2012-10-18", `"Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::incoming/*"`, "The policy must contain a valid version string"},
		"another bucket":         {"2012-10-17", `"Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::other/*"`, "Policy has invalid resource"},
		"every resource":         {"2012-10-17", `"Principal":"*","Action":"s3:GetObject","Resource":"*"`, "Policy has invalid resource"},
		"another service":        {"2012-10-17", `"Principal":"*","Action":"sqs:SendMessage","Resource":"arn:aws:s3:::incoming/*"`, "Policy has invalid action"},
		"an action of nobody":    {"2012-10-17", `"Principal":"*","Action":"s3:GetObjects","Resource":"arn:aws:s3:::incoming/*"`, "Policy has invalid action"},
		"objects, of the bucket": {"2012-10-17", `"Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::incoming"`, "Action does not apply to any resource(s) in statement"},
		"the bucket, of objects": {"2012-10-17", `"Principal":"*","Action":"s3:ListBucket","Resource":"arn:aws:s3:::incoming/*"`, "Action does not apply to any resource(s) in statement"},
		"a principal":            {"2012-10-17", `"Principal":{"AWS":"me"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::incoming/*"`, "Invalid principal in policy"},
	} {
		w := send(server, http.MethodPut, "/incoming?policy", `{"Version":"`+c.version+`","Statement":[{"Effect":"Allow",`+c.members+`}]}`)
		body := w.Body.String()
		if c.want == "" && w.Code != http.StatusNoContent || c.want != "" && (w.Code != http.StatusBadRequest ||
			!strings.Contains(body, "<Code>MalformedPolicy</Code><Message>"+c.want+"</Message>")) {
			t.Errorf("%s: %d %s, want %q", name, w.Code, body, c.want)
		}
	}
	w := send(server, http.MethodPut, "/incoming?policy", `{"Version":"2012-10-17","Statement":[]}`)
	if !strings.Contains(w.Body.String(), "Could not parse the policy: Statement is empty!") {
		t.Errorf("an empty statement: %d %s", w.Code, w.Body)
	}
}

func TestABucketOfUsEast1IsCreatedTwice(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	if w := send(server, http.MethodPut, "/incoming", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestObjectsKeepTheHeadersForCaches(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("a"), Body: strings.NewReader("1"),
		CacheControl: aws.String("no-cache"), ContentLanguage: aws.String("de"),
		Metadata: map[string]string{"Made-By": "ops"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b"),
		CopySource: aws.String(bucket + "/a")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CopyObject(t.Context(), &awss3.CopyObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("c"), CopySource: aws.String(bucket + "/a"),
		MetadataDirective: types.MetadataDirectiveReplace, CacheControl: aws.String("max-age=1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "no-cache|de|ops", "b": "no-cache|de|ops", "c": "max-age=1||"} {
		h := send(server, http.MethodHead, "/incoming/"+key, "").Header()
		made := strings.Join(map[string][]string(h)["x-amz-meta-made-by"], ",") // as sent on the wire
		if got := h.Get("Cache-Control") + "|" + h.Get("Content-Language") + "|" + made; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestRangesThatAreNoneAreIgnored(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "0123456789")
	for _, value := range []string{"bites=1-", "bytes=", "bytes=a-b", "bytes=0-1,3-4"} {
		if w := send(server, http.MethodGet, "/incoming/k", "", "Range", value); w.Code != http.StatusOK ||
			w.Body.Len() != 10 {
			t.Errorf("%s: %d %s", value, w.Code, w.Body)
		}
	}
}

func TestKeysThatXMLCannotHoldAreListedEncoded(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	for _, key := range []string{"\x01", "a b/c+d", "ü/100%", "new\nline"} {
		put(t, c, key, "1")
	}
	out, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{
		Bucket: aws.String(bucket), EncodingType: types.EncodingTypeUrl, Delimiter: aws.String("/"),
		StartAfter: aws.String("\x00"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range out.Contents {
		got = append(got, *o.Key)
	}
	for _, p := range out.CommonPrefixes {
		got = append(got, *p.Prefix)
	}
	if want := []string{"%01", "new%0Aline", "a%20b/", "%C3%BC/"}; !slices.Equal(got, want) || *out.KeyCount != 4 ||
		*out.StartAfter != "%00" {
		t.Errorf("%q of %d after %q, want %q", got, *out.KeyCount, *out.StartAfter, want)
	}
}
