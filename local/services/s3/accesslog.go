package s3

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/internal/objectevent"
	"stepback/local/services/iam/policy"
)

// loggingStatus is the XML of a bucket's server access logging. Enabled is nil if its requests are not logged.
type loggingStatus struct {
	Enabled *struct {
		Bucket string    `xml:"TargetBucket"`
		Prefix string    `xml:"TargetPrefix"`
		Grants *struct{} `xml:"TargetGrants"`
		Format *struct {
			Simple      *struct{} `xml:"SimplePrefix"`
			Partitioned *struct {
				DateSource string `xml:"PartitionDateSource"`
			} `xml:"PartitionedPrefix"`
		} `xml:"TargetObjectKeyFormat"`
	} `xml:"LoggingEnabled"`
}

// checkLogging returns an error unless the logs of a bucket can be delivered to the target: a bucket of the same
// account and region.
func checkLogging(s *store, c *call, text []byte) error {
	var in loggingStatus
	if xml.Unmarshal(text, &in) != nil {
		return malformedXML()
	}
	to := in.Enabled
	if to == nil {
		return nil
	}
	if f := to.Format; f != nil {
		p := f.Partitioned
		if (f.Simple == nil) == (p == nil) || p != nil && p.DateSource != "EventTime" && p.DateSource != "DeliveryTime" {
			return malformedXML()
		}
	}
	if to.Grants != nil {
		return notImplemented("TargetGrants are not supported.")
	}
	exists, err := s.bucketExists(to.Bucket)
	if err != nil {
		return err
	}
	if !exists {
		return fail("InvalidTargetBucketForLogging", "The target bucket for logging does not exist", members{"TargetBucket": to.Bucket})
	}
	var owners, regions [2]string
	for i, bucket := range []string{c.bucket, to.Bucket} {
		if owners[i], err = s.ownerOf(bucket); err != nil {
			return err
		}
		if regions[i], err = s.regionOf(bucket); err != nil {
			return err
		}
	}
	switch {
	case s.canonicalID(owners[0]) != s.canonicalID(owners[1]):
		return fail("InvalidTargetBucketForLogging",
			"The owner for the bucket to be logged and the target bucket must be the same.", members{"TargetBucket": to.Bucket})
	case regions[0] != regions[1]:
		return fail("CrossLocationLoggingProhibited", "Cross S3 location logging not allowed. ",
			members{"SourceBucketLocation": regions[0], "TargetBucketLocation": regions[1]})
	}
	return nil
}

// accessLogs holds the records of requests until they are delivered.
type accessLogs struct {
	mu      sync.Mutex
	records map[loggedDay]*bytes.Buffer
}

// loggedDay identifies the records of a bucket's requests of one day, which begins at start (UTC).
type loggedDay struct {
	bucket string
	start  time.Time
}

// mostLogged is the size of the records of a bucket from which they are delivered at once, in bytes.
const mostLogged = 4 << 20

// observed is a response whose status and size are counted for the access log.
type observed struct {
	http.ResponseWriter
	status int
	sent   int64
	since  time.Time
}

// WriteHeader implements http.ResponseWriter.
func (o *observed) WriteHeader(status int) {
	o.status = cmp.Or(o.status, status)
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (o *observed) Write(p []byte) (int, error) {
	o.status = cmp.Or(o.status, http.StatusOK)
	n, err := o.ResponseWriter.Write(p)
	o.sent += int64(n)
	return n, err
}

// Unwrap serves http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// observe counts the response of a call if the requests of its bucket are logged.
func (s *store) observe(c *call) error {
	all, err := s.settingsOf(c.bucket)
	if err != nil || all["logging"] == "" {
		return s.storageError(err)
	}
	status, err := parseSetting[loggingStatus](s, all, "logging")
	if err == nil && status.Enabled != nil {
		c.observed = &observed{ResponseWriter: c.w, since: time.Now()} // the duration is real time
		c.w = c.observed
	}
	return s.storageError(err)
}

// logAccess adds the record of an answered call to the log of its bucket.
func (s *store) logAccess(c *call, failure error) {
	if c.observed == nil {
		return
	}
	now := s.stamps.now().UTC()
	line, day := s.accessRecord(c, now, failure), loggedDay{c.bucket, now.Truncate(24 * time.Hour)}
	s.logs.mu.Lock()
	if s.logs.records == nil {
		s.logs.records = map[loggedDay]*bytes.Buffer{}
	}
	b := s.logs.records[day]
	if b == nil {
		b = &bytes.Buffer{}
		s.logs.records[day] = b
	}
	b.WriteString(line)
	full := b.Len() >= mostLogged
	s.logs.mu.Unlock()
	if full {
		if err := s.deliverLogs(); err != nil {
			s.log.Error("access logs could not be delivered", "bucket", c.bucket, "error", err)
		}
	}
}

// accessRecord returns the line of a call in the format of S3's server access logs. Fields of TLS are "-".
func (s *store) accessRecord(c *call, now time.Time, failure error) string {
	owner, _ := s.ownerOf(c.bucket) // the request has read it
	remote, _, err := net.SplitHostPort(c.RemoteAddr)
	if err != nil {
		remote = c.RemoteAddr
	}
	requester := s.canonicalID(c.caller.account)
	if who, err := s.principal(c); err == nil && !c.caller.anonymous && !strings.HasSuffix(who.ARN, ":root") {
		requester = who.ARN
	}
	code := ""
	if e := (*aws.Error)(nil); errors.As(failure, &e) {
		code = e.Code
	} else if failure != nil {
		code = "InternalError"
	}
	size := ""
	if c.key != "" {
		if v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId")); err == nil {
			size = strconv.FormatInt(v.Size, 10)
		}
	}
	signed, by := "", ""
	switch authorization := c.Header.Get("Authorization"); {
	case c.caller.anonymous:
		requester = ""
	case strings.HasPrefix(authorization, "AWS "):
		signed, by = "SigV2", "AuthHeader"
	case authorization != "":
		signed, by = "SigV4", "AuthHeader"
	case c.query.Has("X-Amz-Credential"):
		signed, by = "SigV4", "QueryString"
	default:
		signed, by = "SigV2", "QueryString"
	}
	took := strconv.FormatInt(time.Since(c.observed.since).Milliseconds(), 10)
	fields := []string{
		s.canonicalID(owner), c.bucket, "[" + now.Format("02/Jan/2006:15:04:05 -0700") + "]", remote, requester,
		c.header.Get(requestIDHeader), c.logName(), encodeKey(c.key),
		quotedField(c.Method + " " + c.RequestURI + " " + c.Proto), strconv.Itoa(cmp.Or(c.observed.status, http.StatusOK)), code,
		nonzero(c.observed.sent), size, took, took, quotedField(c.Referer()), quotedField(c.UserAgent()),
		c.query.Get("versionId"), c.header.Get("X-Amz-Id-2"), signed, "", by, c.Host, "", "", "",
	}
	for i, f := range fields {
		fields[i] = cmp.Or(f, "-")
	}
	return strings.Join(fields, " ") + "\n"
}

// quotedField returns a field in quotation marks; those inside are escaped as in URLs.
func quotedField(text string) string {
	return `"` + strings.NewReplacer(`"`, "%22", "\n", "%0A", "\r", "%0D").Replace(cmp.Or(text, "-")) + `"`
}

func nonzero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// logNames maps operations to their names in access logs, without the method, where those are not OBJECT or BUCKET.
var logNames = map[string]string{
	"AbortMultipartUpload": "UPLOAD", "CompleteMultipartUpload": "UPLOAD", "CreateMultipartUpload": "UPLOADS",
	"ListMultipartUploads": "UPLOADS", "ListParts": "UPLOAD", "UploadPart": "PART",
	"DeleteObjects": "MULTI_OBJECT_DELETE", "ListObjectVersions": "BUCKETVERSIONS", "RestoreObject": "OBJECT_RESTORE",
	"GetObjectAttributes": "OBJECT_ATTRIBUTES", "PostObject": "OBJECT",
}

// logSubresources maps the sub-resources of other operations to their names.
var logSubresources = map[string]string{
	"accelerate": "ACCELERATE", "acl": "ACL", "cors": "CORS", "encryption": "ENCRYPTION", "legal-hold": "LEGAL_HOLD",
	"lifecycle": "LIFECYCLE", "location": "LOCATION", "logging": "LOGGING_STATUS", "notification": "NOTIFICATION",
	"object-lock": "OBJECT_LOCK_CONFIGURATION", "ownershipControls": "OWNERSHIP_CONTROLS", "policy": "BUCKETPOLICY",
	"policyStatus": "POLICY_STATUS", "publicAccessBlock": "PUBLIC_ACCESS_BLOCK", "replication": "REPLICATION",
	"requestPayment": "REQUEST_PAYMENT", "retention": "RETENTION", "versioning": "VERSIONING", "website": "WEBSITE",
}

// logName returns the operation of a call as access logs name it, such as REST.GET.OBJECT.
func (c *call) logName() string {
	switch c.operation {
	case "CopyObject":
		return "REST.COPY.OBJECT"
	case "UploadPartCopy":
		return "REST.COPY.PART"
	}
	name := logNames[c.operation]
	for sub, is := range logSubresources {
		if name == "" && c.query.Has(sub) {
			name = is
		}
	}
	switch {
	case name != "":
	case c.query.Has("tagging") && c.key == "":
		name = "TAGGING"
	case c.query.Has("tagging"):
		name = "OBJECT_TAGGING"
	case c.key == "":
		name = "BUCKET"
	default:
		name = "OBJECT"
	}
	return "REST." + c.Method + "." + name
}

// DeliverLogs writes the access logs that were collected to their target buckets. Call it from time to time, and before
// the process ends.
func (s *Server) DeliverLogs() error { return s.store.deliverLogs() }

// deliverLogs writes one object for each bucket and day with records. Records that cannot be delivered are lost, as on
// S3, which makes no promise about them.
func (s *store) deliverLogs() error {
	s.logs.mu.Lock()
	records := s.logs.records
	s.logs.records = nil
	s.logs.mu.Unlock()
	var failures []error
	for day, b := range records {
		if err := s.deliverLog(day, b); err != nil {
			failures = append(failures, fmt.Errorf("the access log of the bucket %s: %w", day.bucket, err))
		}
	}
	return errors.Join(failures...)
}

// mayLog returns an error unless the target bucket lets S3 write a log of the source bucket: by its policy for the
// service logging.s3.amazonaws.com, or by an ACL for the group LogDelivery. Like all policies of the bucket's own
// account, they are evaluated only if policies are enforced.
func (s *store) mayLog(source, target, key string) error {
	if s.enforces == nil || !s.enforces() {
		return nil
	}
	all, err := s.settingsOf(target)
	if err != nil {
		return err
	}
	owner, err := s.ownerOf(source)
	if err != nil {
		return err
	}
	if text := all["policy"]; text != "" {
		p, err := policy.Parse(text)
		if err != nil {
			return err
		}
		const bucketARN = "arn:aws:s3:::"
		d := (&policy.Policies{Resource: p}).Evaluate(&policy.Request{Principal: policy.Principal{Service: "logging.s3.amazonaws.com"},
			Action: "s3:PutObject", Resource: bucketARN + target + "/" + key, Context: policy.Context{
				"aws:SourceArn": {bucketARN + source}, "aws:SourceAccount": {cmp.Or(owner, s.account)}, "aws:SecureTransport": {"true"}}})
		if d.Allowed {
			return nil
		}
		if d.Explicit {
			return fmt.Errorf("the policy of the bucket %s denies S3's log delivery s3:PutObject", target)
		}
	}
	a, err := s.bucketACL(target)
	if err != nil {
		return err
	}
	if s.enforced(target) == nil && slices.ContainsFunc(a.Grants, func(g grant) bool {
		return g.Group == logDelivery && (g.Permission == writing || g.Permission == fullControl)
	}) {
		return nil
	}
	return fmt.Errorf("neither the policy nor the ACL of the bucket %s allows logging.s3.amazonaws.com to write objects", target)
}

func (s *store) deliverLog(day loggedDay, records *bytes.Buffer) error {
	all, err := s.settingsOf(day.bucket)
	if err != nil {
		return err
	}
	status, err := parseSetting[loggingStatus](s, all, "logging")
	if err != nil || status.Enabled == nil { // logging has ended
		return err
	}
	region, err := s.regionOf(day.bucket)
	if err != nil {
		return err
	}
	to, at := status.Enabled, s.stamps.now().UTC()
	if f := to.Format; f != nil && f.Partitioned != nil && f.Partitioned.DateSource == "EventTime" {
		at = day.start // the time of day in the key is 00-00-00
	}
	unique := make([]byte, 8)
	rand.Read(unique)
	key := at.Format("2006-01-02-15-04-05-") + strings.ToUpper(hex.EncodeToString(unique))
	if f := to.Format; f != nil && f.Partitioned != nil {
		key = strings.Join([]string{cmp.Or(all[ownerSetting], s.account), region, day.bucket, at.Format("2006/01/02"), key}, "/")
	}
	if err := s.mayLog(day.bucket, to.Bucket, to.Prefix+key); err != nil {
		return err
	}
	received, err := s.receive(records, int64(records.Len()), nil)
	if err != nil {
		return err
	}
	defer received.discard()
	received.headers = map[string]string{"Content-Type": "text/plain"}
	v, n, err := s.place(to.Bucket, to.Prefix+key, &received, objectevent.PutObject, nil)
	if err != nil {
		return err
	}
	s.settle(n, s.announce(to.Bucket, to.Prefix+key, v, objectevent.PutObject))
	return nil
}
