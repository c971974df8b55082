package s3

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/aws/server"
)

// A headerRule describes how requests with a modelled header are handled.
type headerRule struct {
	// values lists the values that are accepted; nil accepts all.
	values []string
	// effectless is the reason why the header has no effect; empty if it has one.
	effectless string
	// only lists the operations that read the header; nil means all that have it.
	only []string
}

// encryptionHeaders are stored with an object and returned with it.
var encryptionHeaders = []string{"X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id",
	"X-Amz-Server-Side-Encryption-Bucket-Key-Enabled"}

const (
	nobodyPays  = "requests cost nothing"
	notEncoded  = "files are not encrypted; the header is stored and returned"
	noRetention = "there are no object locks"
)

// headerRules lists the modelled headers that are accepted, by their lower-case names. All other modelled headers are
// refused.
var headerRules = map[string]headerRule{
	"cache-control": {}, "content-disposition": {}, "content-encoding": {}, "content-language": {}, "content-type": {},
	"content-length": {}, "content-md5": {}, "expires": {}, "range": {}, "if-modified-since": {}, "if-unmodified-since": {},
	"if-match":        {only: []string{"GetObject", "HeadObject", "PutObject"}},
	"if-none-match":   {only: []string{"GetObject", "HeadObject", "PutObject"}},
	"x-amz-meta-":     {},
	"x-amz-tagging":   {},
	"x-amz-mfa":       {}, // rejected by the operations
	"x-amz-acl":       {values: []string{"private", "bucket-owner-full-control"}, effectless: "objects have no ACLs: their bucket's owner owns them"},
	"x-amz-max-parts": {effectless: "parts are not listed"}, "x-amz-part-number-marker": {effectless: "parts are not listed"},
	"x-amz-object-attributes":                         {},
	"x-amz-optional-object-attributes":                {effectless: "objects are never archived"},
	"x-amz-sdk-checksum-algorithm":                    {},
	"x-amz-checksum-algorithm":                        {},
	"x-amz-checksum-mode":                             {},
	"x-amz-checksum-type":                             {},
	"x-amz-checksum-crc32":                            {},
	"x-amz-checksum-crc32c":                           {},
	"x-amz-checksum-crc64nvme":                        {},
	"x-amz-checksum-sha1":                             {},
	"x-amz-checksum-sha256":                           {},
	"x-amz-copy-source":                               {},
	"x-amz-copy-source-range":                         {},
	"x-amz-copy-source-if-match":                      {},
	"x-amz-copy-source-if-none-match":                 {},
	"x-amz-copy-source-if-modified-since":             {},
	"x-amz-copy-source-if-unmodified-since":           {},
	"x-amz-metadata-directive":                        {},
	"x-amz-tagging-directive":                         {},
	"x-amz-expected-bucket-owner":                     {},
	"x-amz-source-expected-bucket-owner":              {},
	"x-amz-bucket-object-lock-enabled":                {values: []string{"false"}, effectless: noRetention},
	"x-amz-bypass-governance-retention":               {effectless: noRetention},
	"x-amz-confirm-remove-self-bucket-access":         {effectless: "bucket policies are not checked for a lockout"},
	"x-amz-object-ownership":                          {values: []string{"BucketOwnerEnforced"}, effectless: "the bucket's owner owns all objects"},
	"x-amz-request-payer":                             {effectless: nobodyPays},
	"x-amz-server-side-encryption":                    {values: []string{"AES256", "aws:kms", "aws:kms:dsse"}, effectless: notEncoded},
	"x-amz-server-side-encryption-aws-kms-key-id":     {effectless: notEncoded},
	"x-amz-server-side-encryption-bucket-key-enabled": {effectless: notEncoded},
	"x-amz-storage-class":                             {values: []string{"STANDARD"}, effectless: "it is the only storage class"},
	"x-amz-transition-default-minimum-object-size":    {effectless: "transitions are rejected"},
}

// accepts reports whether an operation accepts a header with a value. An empty value or operation stands for any.
func accepts(operation, header, value string) bool {
	rule, ok := headerRules[header]
	return ok && (rule.only == nil || operation == "" || slices.Contains(rule.only, operation)) &&
		(rule.values == nil || value == "" || slices.Contains(rule.values, value))
}

// protocolHeaders are headers with the prefix x-amz- that belong to no member.
var protocolHeaders = []string{"x-amz-content-sha256", "x-amz-date", "x-amz-decoded-content-length", "x-amz-security-token",
	"x-amz-trailer", "x-amz-user-agent", "x-amz-te", "x-amz-id-2", "x-amz-request-id"}

// refuseMembers returns an error for a request with a header that its operation does not read, or that expects the
// bucket to belong to an account other than the default one and the caller's.
func (s *store) refuseMembers(r *http.Request) *aws.Error {
	operation := conditionalOperation(r)
	for name, values := range r.Header {
		header := strings.ToLower(name)
		modelled := strings.HasPrefix(header, "x-amz-") && !slices.Contains(protocolHeaders, header) &&
			!strings.HasPrefix(header, "x-amz-meta-") || header == "if-match" || header == "if-none-match"
		if modelled && !accepts(operation, header, values[0]) {
			return notImplemented(fmt.Sprintf("The header %s: %s is not supported; docs/services.md lists the headers that are.",
				header, values[0]))
		}
	}
	// Accounts share all buckets, so each bucket is the caller's as well as the default account's.
	caller := server.ScopeOf(r, aws.Scope{}).Account
	for _, name := range []string{"X-Amz-Expected-Bucket-Owner", "X-Amz-Source-Expected-Bucket-Owner"} {
		if owner := r.Header.Get(name); owner != "" && owner != s.account && owner != caller {
			return &aws.Error{Code: "AccessDenied", Status: http.StatusForbidden, Message: "Access Denied"}
		}
	}
	if r.Method == http.MethodGet && r.URL.Query().Has("partNumber") && !r.URL.Query().Has("uploadId") ||
		r.Method == http.MethodHead && r.URL.Query().Has("partNumber") {
		return notImplemented("The parameter partNumber of reads is not supported.")
	}
	return nil
}

// conditionalOperation returns the operation of a request that may have the headers If-Match and If-None-Match, or
// "" for all others.
func conditionalOperation(r *http.Request) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case key == "":
		return ""
	case r.Method == http.MethodGet:
		return "GetObject"
	case r.Method == http.MethodHead:
		return "HeadObject"
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") != "":
		return "CopyObject"
	case r.Method == http.MethodPut:
		return "PutObject"
	case r.Method == http.MethodDelete:
		return "DeleteObject"
	default:
		return "CompleteMultipartUpload"
	}
}

// membersOf sets the members of an operation that are refused, and those without effect.
func membersOf(o *server.OperationCoverage, m *model.Operation) {
	if m.Input == nil {
		return
	}
	for _, member := range m.Input.Members {
		if member.Location != model.InHeader && member.Location != model.InHeaders {
			continue
		}
		header := strings.ToLower(member.LocationName)
		rule := headerRules[header]
		switch {
		case !accepts(m.Name, header, ""):
			o.Refused = append(o.Refused, member.Name)
		case rule.effectless != "":
			if o.Accepted == nil {
				o.Accepted = map[string]string{}
			}
			o.Accepted[member.Name] = rule.effectless
			if rule.values != nil {
				o.Accepted[member.Name] = strings.Join(rule.values, " or ") + " only: " + rule.effectless
			}
		}
	}
	if m.Name == "GetObject" || m.Name == "HeadObject" {
		o.Refused = append(o.Refused, "PartNumber")
	}
	slices.Sort(o.Refused)
}
