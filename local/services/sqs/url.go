package sqs

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/internal/lazyregexp"
)

// base returns the start of the queue URLs in the response to a request.
func (s *Service) base(r *http.Request) string {
	if r.Host == "" || loopback.URL == "http://"+r.Host {
		return cmp.Or(s.opts.Endpoint, loopback.URL)
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (q *live) url(base string) string { return base + "/" + q.Account + "/" + q.Name }

// hostRegion matches the region in the host of AWS's queue URLs.
var hostRegion = lazyregexp.New(`^(?:sqs\.([a-z0-9-]+)|([a-z0-9-]+)\.queue)\.`)

// find returns the queue with the URL text, normally http://HOST/ACCOUNT/NAME. Only the path is compared, so any
// host name of this machine works. If the host names a region, as in AWS's queue URLs, that region is used. mu is
// held.
func (s *Service) find(scope aws.Scope, text string) (*live, error) {
	if account, name, ok := ofThisMachine(text); ok {
		if q := s.queues[address{aws.Scope{Account: account, Region: scope.Region}, name}]; q != nil {
			return q, nil
		}
	}
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return nil, &aws.Error{Code: "InvalidAddress", Status: http.StatusNotFound,
			Message: "The address " + text + " is not valid for this endpoint."}
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	at := address{aws.Scope{Account: scope.Account, Region: scope.Region}, parts[len(parts)-1]}
	if len(parts) > 1 {
		at.scope.Account = parts[len(parts)-2]
	}
	if m := hostRegion.FindStringSubmatch(u.Host); m != nil && strings.Contains(u.Host, ".amazonaws.") {
		at.scope.Region = cmp.Or(m[1], m[2])
	}
	if q := s.queues[at]; q != nil {
		return q, nil
	}
	return nil, errNoQueue
}

// ofThisMachine returns the account and the name in a URL of the form that this service issues. ok is false for a URL
// that may have another form.
func ofThisMachine(text string) (account, name string, ok bool) {
	rest, ok := strings.CutPrefix(text, "http://")
	host, path, _ := strings.Cut(rest, "/")
	account, name, found := strings.Cut(path, "/")
	if !ok || !found || strings.Contains(host, ".amazonaws.") || strings.ContainsAny(path, "%?#") ||
		strings.ContainsAny(host, "?#") {
		return "", "", false
	}
	return account, name, true
}

// byARN returns the queue with an ARN, or nil if there is none. mu is held.
func (s *Service) byARN(arn string) *live {
	a, ok := aws.ParseARN(arn)
	if !ok || a.Service != "sqs" {
		return nil
	}
	return s.queues[address{a.Scope(), a.Resource}]
}

func sortBy[T any](list []T, by func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
}
