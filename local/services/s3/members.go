package s3

import (
	"fmt"
	"slices"
	"strings"

	"stepback/aws/model"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
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

const (
	nobodyPays  = "requests cost nothing"
	notEncoded  = "files are not encrypted; the header is stored and returned"
	keyRequired = "files are not encrypted; reads require the same key"
)

// headerRules lists the modelled headers that are accepted, by their lower-case names. All other modelled headers are
// refused.
var headerRules = map[string]headerRule{
	"cache-control": {}, "content-disposition": {}, "content-encoding": {}, "content-language": {}, "content-type": {},
	"content-length": {}, "content-md5": {}, "expires": {}, "range": {}, "if-modified-since": {}, "if-unmodified-since": {},
	"if-match":        {only: []string{"GetObject", "HeadObject", "PutObject", "CopyObject", "CompleteMultipartUpload", "DeleteObject"}},
	"if-none-match":   {only: []string{"GetObject", "HeadObject", "PutObject", "CopyObject", "CompleteMultipartUpload"}},
	"x-amz-meta-":     {},
	"x-amz-tagging":   {},
	"x-amz-mfa":       {}, // rejected by the operations
	"x-amz-acl":       {},
	"x-amz-max-parts": {}, "x-amz-part-number-marker": {}, "x-amz-mp-object-size": {},
	"x-amz-grant-full-control": {}, "x-amz-grant-read": {}, "x-amz-grant-read-acp": {}, "x-amz-grant-write": {}, "x-amz-grant-write-acp": {},
	"x-amz-object-attributes":                                     {},
	"x-amz-optional-object-attributes":                            {},
	"x-amz-sdk-checksum-algorithm":                                {},
	"x-amz-checksum-algorithm":                                    {},
	"x-amz-checksum-mode":                                         {},
	"x-amz-checksum-type":                                         {},
	"x-amz-checksum-crc32":                                        {},
	"x-amz-checksum-crc32c":                                       {},
	"x-amz-checksum-crc64nvme":                                    {},
	"x-amz-checksum-sha1":                                         {},
	"x-amz-checksum-sha256":                                       {},
	"x-amz-copy-source":                                           {},
	"x-amz-copy-source-range":                                     {},
	"x-amz-copy-source-if-match":                                  {},
	"x-amz-copy-source-if-none-match":                             {},
	"x-amz-copy-source-if-modified-since":                         {},
	"x-amz-copy-source-if-unmodified-since":                       {},
	"x-amz-metadata-directive":                                    {},
	"x-amz-tagging-directive":                                     {},
	"x-amz-expected-bucket-owner":                                 {},
	"x-amz-source-expected-bucket-owner":                          {},
	"x-amz-bucket-object-lock-enabled":                            {},
	"x-amz-bypass-governance-retention":                           {},
	"x-amz-object-lock-mode":                                      {},
	"x-amz-object-lock-retain-until-date":                         {},
	"x-amz-object-lock-legal-hold":                                {},
	"x-amz-confirm-remove-self-bucket-access":                     {effectless: "bucket policies are not checked for a lockout"},
	"x-amz-object-ownership":                                      {},
	"x-amz-request-payer":                                         {effectless: nobodyPays},
	"x-amz-server-side-encryption":                                {effectless: notEncoded},
	"x-amz-server-side-encryption-aws-kms-key-id":                 {effectless: notEncoded},
	"x-amz-server-side-encryption-bucket-key-enabled":             {effectless: notEncoded},
	"x-amz-server-side-encryption-context":                        {effectless: notEncoded},
	"x-amz-server-side-encryption-customer-algorithm":             {effectless: keyRequired},
	"x-amz-server-side-encryption-customer-key":                   {effectless: keyRequired},
	"x-amz-server-side-encryption-customer-key-md5":               {effectless: keyRequired},
	"x-amz-copy-source-server-side-encryption-customer-algorithm": {effectless: keyRequired},
	"x-amz-copy-source-server-side-encryption-customer-key":       {effectless: keyRequired},
	"x-amz-copy-source-server-side-encryption-customer-key-md5":   {effectless: keyRequired},
	"x-amz-storage-class":                                         {},
	"x-amz-website-redirect-location":                             {effectless: "stored and returned; there is no website endpoint"},
	"x-amz-transition-default-minimum-object-size":                {effectless: "transitions apply to objects of every size"},
	"x-amz-skip-destination-validation":                           {},
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
// bucket to belong to another account.
func (s *store) refuseMembers(c *call) error {
	for name, values := range c.Header {
		header := strings.ToLower(name)
		modelled := strings.HasPrefix(header, "x-amz-") && !slices.Contains(protocolHeaders, header) &&
			!strings.HasPrefix(header, "x-amz-meta-") || header == "if-match" || header == "if-none-match"
		if modelled && !accepts(c.operation, header, values[0]) {
			return notImplemented(fmt.Sprintf("The header %s: %s is not supported; docs/services.md lists the headers that are.",
				header, values[0]))
		}
	}
	if c.bucket == "" || c.operation == "CreateBucket" {
		return nil
	}
	return s.expectedOwner(c)
}

// versionID matches the IDs of versions in their forms: those of AWS, and those of here.
var versionID = lazyregexp.New(`^(null|[A-Za-z0-9._]{26,})$`)

// checkVersionID returns an error if a call names a version by an ID that none can have.
func (c *call) checkVersionID() error {
	if c.key == "" || !c.query.Has("versionId") {
		return nil
	}
	switch id := c.query.Get("versionId"); {
	case id == "":
		return invalidArgument("versionId", "", "Version id cannot be the empty string")
	case !versionID.MatchString(id):
		return invalidArgument("versionId", id, "Invalid version id specified")
	}
	return nil
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
	slices.Sort(o.Refused)
}
