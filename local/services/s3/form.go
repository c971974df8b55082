package s3

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"stepback/aws/signature"
	"stepback/internal/objectevent"
)

// mostForm is the maximum size of the fields of a form before its file, in bytes.
const mostForm = 20 << 10

// form is an HTML form that uploads a file. Names of its fields are in lower case.
type form struct {
	fields map[string]string
	file   *multipart.Part
}

// readForm reads the fields of a form up to its file, which is the last one that S3 reads.
func (c *call) readForm() (*form, error) {
	kind, parameters, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || parameters["boundary"] == "" {
		return nil, fail("PreconditionFailed", "Bucket POST must be of the enclosure-type multipart/form-data",
			members{"Condition": "Bucket POST must be of the enclosure-type multipart/form-data"})
	}
	f := &form{fields: map[string]string{}}
	r := multipart.NewReader(c.Body, parameters["boundary"])
	left := int64(mostForm)
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, invalidArgument("file", "0", "POST requires exactly one file upload per request.")
		}
		if err != nil {
			return nil, fail("MalformedPOSTRequest", "The body of your POST request is not well-formed multipart/form-data.", nil)
		}
		name := strings.ToLower(p.FormName())
		if name == "file" {
			f.file = p
			return f, nil
		}
		text, err := io.ReadAll(io.LimitReader(p, left+1))
		if err != nil {
			return nil, fail("MalformedPOSTRequest", "The body of your POST request is not well-formed multipart/form-data.", nil)
		}
		if left -= int64(len(text)); left < 0 {
			return nil, fail("MaxPostPreDataLengthExceeded", "Your POST request fields preceding the upload file were too large.",
				members{"MaxPostPreDataLengthBytes": mostForm})
		}
		f.fields[name] = string(text)
	}
}

// posted is the response of a form with success_action_status 201.
type posted struct {
	XMLName  xml.Name `xml:"PostResponse"`
	Location string
	Bucket   string
	Key      string
	ETag     string
}

// postObject implements the upload of an object by an HTML form.
func (s *store) postObject(c *call) (any, error) {
	f, err := c.readForm()
	if err != nil {
		return nil, err
	}
	key, ok := f.fields["key"]
	if !ok || key == "" {
		return nil, invalidArgument("key", "", "Bucket POST must contain a field named 'key'.  If it is specified, please check the order of the fields.")
	}
	name := path.Base(strings.ReplaceAll(f.file.FileName(), `\`, "/"))
	c.key = strings.ReplaceAll(key, "${filename}", name)
	f.fields["key"] = c.key
	if len(c.key) > mostKey {
		return nil, fail("KeyTooLongError", "Your key is too long", members{"MaxSizeAllowed": mostKey, "Size": len(c.key)})
	}
	limits, err := s.admitForm(c, f)
	if err != nil {
		return nil, err
	}
	c.Header = f.headers()
	d, err := s.describes(c)
	if err != nil {
		return nil, err
	}
	if text, ok := f.fields["tagging"]; ok {
		var in tagging
		if xml.Unmarshal([]byte(text), &in) != nil {
			return nil, malformedXML()
		}
		if err := checkTags(in.TagSet.Tag); err != nil {
			return nil, err
		}
		d.tags = in.TagSet.Tag
	}
	check, err := newBodyCheck(&http.Request{Header: c.Header, Body: http.NoBody})
	if err != nil {
		return nil, err
	}
	b, err := s.receiveFile(f.file, limits, check)
	if err != nil {
		return nil, err
	}
	defer b.discard()
	b.description, b.checksum = d, check.checksum()
	v, n, err := s.place(c.bucket, c.key, &b, objectevent.Reason("PostObject"), nil)
	if err != nil {
		return nil, err
	}
	s.settle(n, s.announce(c.bucket, c.key, v, objectevent.Reason("PostObject")))
	c.header.Set("ETag", quoted(v.ETag))
	c.showVersion(&v)
	s.showEncryption(c.header, &v)
	return c.formAnswer(f, &v), nil
}

// receiveFile stores the file of a form, whose length is not known before its end.
func (s *store) receiveFile(r io.Reader, limits [2]int64, check *bodyCheck) (body, error) {
	counted := &countedReader{reader: io.LimitReader(sentBody{r}, limits[1]+1)}
	b, err := s.receiveAll(counted, limits[1], check)
	switch {
	case err != nil:
		return body{}, err
	case counted.n > limits[1]:
		err = fail("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", members{"ProposedSize": counted.n, "MaxSizeAllowed": limits[1]})
	case counted.n < limits[0]:
		err = fail("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size", members{"ProposedSize": counted.n, "MinSizeAllowed": limits[0]})
	default:
		err = check.finish()
	}
	if err != nil {
		b.discard()
	}
	return b, err
}

type countedReader struct {
	reader io.Reader
	n      int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.n += int64(n)
	return n, err
}

// formHeaders lists the fields that have the meaning of a header.
var formHeaders = []string{"Cache-Control", "Content-Type", "Content-Disposition", "Content-Encoding", "Expires"}

// headers returns the headers of the upload that a form's fields stand for.
func (f *form) headers() http.Header {
	h := http.Header{}
	for name, value := range f.fields {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case name == "acl":
			h.Set(aclHeader, value)
		case strings.HasPrefix(name, "x-amz-") && name != "x-amz-signature" && name != "x-amz-credential" && name != "x-amz-algorithm" && name != "x-amz-date":
			h.Set(canonical, value)
		}
	}
	for _, name := range formHeaders {
		if value := f.fields[strings.ToLower(name)]; value != "" {
			h.Set(name, value)
		}
	}
	return h
}

// formAnswer returns the response of a form.
func (c *call) formAnswer(f *form, v *version) any {
	location := "http://" + c.Host + "/" + c.bucket + "/" + encodeKey(c.key)
	c.header.Set("Location", location)
	target := f.fields["success_action_redirect"]
	if target == "" {
		target = f.fields["redirect"]
	}
	if u, err := url.Parse(target); target != "" && err == nil && u.IsAbs() {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += "bucket=" + url.QueryEscape(c.bucket) + "&key=" + url.QueryEscape(c.key) +
			"&etag=" + url.QueryEscape(quoted(v.ETag))
		c.header.Set("Location", u.String())
		c.w.WriteHeader(http.StatusSeeOther)
		return written{}
	}
	switch f.fields["success_action_status"] {
	case "200":
		return nil
	case "201":
		c.header.Set("Content-Type", "application/xml")
		c.w.WriteHeader(http.StatusCreated)
		fmt.Fprint(c.w, xml.Header)
		_ = xml.NewEncoder(c.w).Encode(posted{Location: location, Bucket: c.bucket, Key: c.key, ETag: quoted(v.ETag)})
		return written{}
	}
	return noContent{}
}

// admitForm checks whether a form's policy, or for one without a policy the bucket's ACL and policy, allow the upload.
// It returns the smallest and the largest size of the file.
func (s *store) admitForm(c *call, f *form) (limits [2]int64, err error) {
	limits = [2]int64{0, mostObject}
	text, signed := f.fields["policy"]
	credential := f.fields["x-amz-credential"]
	if credential == "" {
		credential = f.fields["awsaccesskeyid"]
	}
	if !signed {
		if credential != "" {
			return limits, invalidArgument("policy", "", "Bucket POST must contain a field named 'policy'.  If it is specified, please check the order of the fields.")
		}
		return limits, s.authorize(&call{Request: c.putting(), bucket: c.bucket, key: c.key, query: url.Values{}, operation: "PutObject", caller: c.caller})
	}
	for _, names := range [][]string{{"x-amz-credential", "awsaccesskeyid"}, {"x-amz-signature", "signature"}} {
		if f.fields[names[0]] == "" && f.fields[names[1]] == "" {
			return limits, invalidArgument(names[1], "", "Bucket POST must contain a field named '"+map[string]string{"awsaccesskeyid": "AWSAccessKeyId",
				"signature": "signature"}[names[1]]+"'.  If it is specified, please check the order of the fields.")
		}
	}
	c.caller = caller{account: s.accountOf(credential)}
	if err := s.verifyForm(c, f, credential); err != nil {
		return limits, err
	}
	r := c.putting()
	r.Header.Set("Authorization", "AWS "+keyOf(credential)+":") // names the signer
	if err := s.authorize(&call{Request: r, bucket: c.bucket, key: c.key, query: url.Values{}, operation: "PutObject", caller: c.caller}); err != nil {
		return limits, err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return limits, invalidPolicy("The policy must be Base64.")
	}
	return limits, f.checkPolicy(raw, c.bucket, &limits)
}

// verifyForm returns an error if the signature of a form's policy does not match, for a key whose secret is known.
func (s *store) verifyForm(c *call, f *form, credential string) error {
	if s.secret == nil {
		return nil
	}
	secret, known, err := s.secret(c.Request, keyOf(credential))
	if err == nil && known && !signature.MatchesForm(f.fields, secret) {
		err = signatureMismatch(keyOf(credential))
	}
	return err
}

// keyOf returns the access key of a credential.
func keyOf(credential string) string {
	key, _, _ := strings.Cut(credential, "/")
	return key
}

// putting returns the request of PutObject that a form stands for.
func (c *call) putting() *http.Request {
	r := c.Clone(c.Context())
	r.Method, r.URL = http.MethodPut, &url.URL{Path: "/" + c.bucket + "/" + c.key}
	r.Header = http.Header{}
	return r
}

func invalidPolicy(why string) error {
	return fail("InvalidPolicyDocument", "Invalid Policy: "+why, nil)
}

func againstPolicy(why string) error {
	return fail("AccessDenied", "Invalid according to Policy: "+why, nil)
}

// checkPolicy compares a form with its policy document.
func (f *form) checkPolicy(text []byte, bucket string, limits *[2]int64) error {
	var doc map[string]any // names are case-sensitive
	if err := json.Unmarshal(text, &doc); err != nil {
		return invalidPolicy("Invalid JSON.")
	}
	expiration, ok := doc["expiration"].(string)
	if !ok {
		return invalidPolicy("Policy missing expiration.")
	}
	conditions, ok := doc["conditions"].([]any)
	if !ok {
		return invalidPolicy("Policy missing conditions.")
	}
	until, err := time.Parse(time.RFC3339, expiration)
	if err != nil {
		return invalidPolicy("Invalid 'expiration' value: '" + expiration + "'")
	}
	if time.Now().After(until) {
		return againstPolicy("Policy expired.")
	}
	covered := map[string]bool{}
	for _, one := range conditions {
		if err := f.checkCondition(one, bucket, covered, limits); err != nil {
			return err
		}
	}
	for name := range f.fields {
		switch {
		case covered[name], name == "policy", name == "awsaccesskeyid", name == "signature", name == "x-amz-signature",
			strings.HasPrefix(name, "x-ignore-"):
		default:
			return againstPolicy("Extra input fields: " + name)
		}
	}
	return nil
}

// checkCondition compares a form with one condition of its policy: {"NAME": VALUE}, ["eq", "$NAME", VALUE],
// ["starts-with", "$NAME", PREFIX] or ["content-length-range", MIN, MAX].
func (f *form) checkCondition(one any, bucket string, covered map[string]bool, limits *[2]int64) error {
	operator, name, want := "eq", "", ""
	switch one := one.(type) {
	case map[string]any:
		if len(one) != 1 {
			return invalidPolicy("Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.")
		}
		for key, value := range one {
			text, ok := value.(string)
			if !ok {
				return invalidPolicy("Invalid Simple-Condition: value must be a string.")
			}
			name, want = strings.ToLower(key), text
		}
	case []any:
		if len(one) != 3 {
			return invalidPolicy("Invalid Condition: it must have three elements.")
		}
		operator, _ = one[0].(string)
		operator = strings.ToLower(operator)
		if operator == "content-length-range" {
			for i, v := range one[1:] {
				n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
				if number, ok := v.(float64); ok {
					n, err = int64(number), nil
				}
				if err != nil || n < 0 {
					return invalidPolicy("Invalid content-length-range.")
				}
				limits[i] = n
			}
			return nil
		}
		field, ok := one[1].(string)
		text, isText := one[2].(string)
		if !ok || !isText || !strings.HasPrefix(field, "$") {
			return invalidPolicy("Invalid Condition.")
		}
		name, want = strings.ToLower(field[1:]), text
	default:
		return invalidPolicy("Invalid Condition.")
	}
	covered[name] = true
	got := f.fields[name]
	if name == "bucket" {
		got = bucket
	}
	switch operator {
	case "eq":
		if got != want {
			return againstPolicy(fmt.Sprintf("Policy Condition failed: [\"eq\", \"$%s\", \"%s\"]", name, want))
		}
	case "starts-with":
		if !strings.HasPrefix(got, want) {
			return againstPolicy(fmt.Sprintf("Policy Condition failed: [\"starts-with\", \"$%s\", \"%s\"]", name, want))
		}
	default:
		return invalidPolicy("Invalid Condition: unknown operation '" + operator + "'.")
	}
	return nil
}
