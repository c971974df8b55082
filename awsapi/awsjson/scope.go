package awsjson

import (
	"net/http"
	"regexp"
	"strings"
)

// Scope is the account and the region that a request is about.
type Scope struct{ Account, Region string }

var (
	accountID  = regexp.MustCompile(`^\d{12}$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
)

// ScopeOf reads the credential scope of a request's signature: Credential=KEY/date/region/service/aws4_request. An access key of
// twelve digits names the account; what the request does not say is taken from the defaults.
func ScopeOf(r *http.Request, defaults Scope) Scope {
	s := defaults
	_, credential, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		return s
	}
	credential, _, _ = strings.Cut(credential, ",")
	parts := strings.Split(strings.TrimSpace(credential), "/")
	const scopeParts = 5
	if len(parts) != scopeParts {
		return s
	}
	if accountID.MatchString(parts[0]) {
		s.Account = parts[0]
	}
	if regionName.MatchString(parts[2]) {
		s.Region = parts[2]
	}
	return s
}
