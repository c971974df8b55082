package server

import (
	"net/http"
	"strings"

	"stepback/aws"
)

// isAccountID reports whether a text has the form of an account ID.
func isAccountID(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789") == "" }

// isRegionName reports whether a text has the form of a region name.
func isRegionName(s string) bool {
	const longest = 32
	return s != "" && len(s) <= longest && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// The number of parts in a signature's credential scope: KEY/date/region/service/aws4_request, or for several regions
// (AWS4-ECDSA-P256-SHA256) KEY/date/service/aws4_request.
const scopeOfRegion, scopeOfRegions = 5, 4

// ScopeOf returns the scope from the credential scope of a request's signature. An access key of twelve digits names
// the account, and so does one that this project issued (aws.AccountOfKey). Missing parts are taken from the defaults.
func ScopeOf(r *http.Request, defaults aws.Scope) aws.Scope {
	return scopeOf(r, credentialOf(r), defaults)
}

// scopeOf is ScopeOf for a request with the parts of its credential.
func scopeOf(r *http.Request, parts []string, defaults aws.Scope) aws.Scope {
	s := defaults
	var region string
	switch len(parts) {
	case scopeOfRegion:
		region = parts[2]
	case scopeOfRegions:
		region = r.Header.Get("X-Amz-Region-Set") // may be several regions, or a pattern
	case 1: // unsigned, or signed with signature version 2
	default:
		return s
	}
	if isAccountID(parts[0]) {
		s.Account = parts[0]
	} else if account, ok := aws.AccountOfKey(parts[0]); ok {
		s.Account = account
	}
	if isRegionName(region) {
		s.Region = region
	}
	return s
}

// AccessKey returns the access key that a request was signed with; empty if it is not signed.
func AccessKey(r *http.Request) string { return credentialOf(r)[0] }

// credentialOf returns the parts of the credential in a request's signature, at least one. The signature of a presigned
// request is in its URL. Signature version 2, which only S3 accepts, has only an access key: AWS KEY:SIGNATURE.
func credentialOf(r *http.Request) []string {
	if second, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS "); ok {
		key, _, _ := strings.Cut(second, ":")
		return []string{strings.TrimSpace(key)}
	}
	_, credential, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	switch {
	case ok:
	case strings.Contains(r.URL.RawQuery, "X-Amz-Credential="):
		credential = r.URL.Query().Get("X-Amz-Credential")
	case strings.Contains(r.URL.RawQuery, "AWSAccessKeyId="):
		return []string{r.URL.Query().Get("AWSAccessKeyId")}
	}
	credential, _, _ = strings.Cut(credential, ",")
	return strings.Split(strings.TrimSpace(credential), "/")
}
