package s3

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
)

type corsRule struct {
	Origins []string `xml:"AllowedOrigin"`
	Methods []string `xml:"AllowedMethod"`
	Headers []string `xml:"AllowedHeader"`
	Expose  []string `xml:"ExposeHeader"`
	MaxAge  *int     `xml:"MaxAgeSeconds"`
}

// crossOrigin applies the bucket's CORS rules to a request of a web page. handled is true if it has answered the
// request. A read that no rule allows is answered without CORS headers, as on S3: the page cannot see the response.
// Other requests that no rule allows are refused, because any page that a browser shows can send a POST.
func (s *store) crossOrigin(c *call) (handled bool, err error) {
	origin := c.Header.Get("Origin")
	preflight := c.Method == http.MethodOptions
	if origin == "" {
		if preflight {
			return true, fail("BadRequest", "Insufficient information. Origin request header needed.", nil)
		}
		if site := c.Header.Get("Sec-Fetch-Site"); !c.reads() && (site == "cross-site" || site == "same-site") {
			return true, refusedPage()
		}
		return false, nil
	}
	method := cmp.Or(c.Header.Get("Access-Control-Request-Method"), c.Method) // S3 reads it in every request
	if method == http.MethodOptions {
		return true, fail("BadRequest", "Invalid Access-Control-Request-Method: null", nil)
	}
	var wanted []string
	if preflight {
		wanted = strings.FieldsFunc(
			strings.ToLower(c.Header.Get("Access-Control-Request-Headers")),
			func(r rune) bool { return r == ',' || r == ' ' },
		)
	}
	rule, err := s.corsRule(c.bucket, origin, method, wanted)
	if err != nil {
		return true, err
	}
	if rule == nil {
		if preflight {
			return true, fail(
				"AccessForbidden",
				"CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
				members{"Method": method, "ResourceType": "OBJECT"},
			)
		}
		if c.reads() {
			return false, nil
		}
		return true, refusedPage()
	}
	h := c.header
	h.Set("Access-Control-Allow-Origin", origin)
	if slices.Contains(rule.Origins, "*") {
		h.Set("Access-Control-Allow-Origin", "*")
	} else {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(rule.Methods, ", "))
	h.Set("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method")
	if len(rule.Expose) > 0 {
		h.Set("Access-Control-Expose-Headers", strings.Join(rule.Expose, ", "))
	}
	if !preflight {
		return false, nil
	}
	if len(wanted) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(wanted, ", "))
	}
	if rule.MaxAge != nil {
		h.Set("Access-Control-Max-Age", strconv.Itoa(*rule.MaxAge))
	}
	c.w.WriteHeader(http.StatusOK)
	return true, nil
}

// reads reports whether a call changes nothing.
func (c *call) reads() bool { return c.Method == http.MethodGet || c.Method == http.MethodHead }

func refusedPage() error {
	return fail("AccessDenied", "Requests of web pages that change something are served only by buckets whose CORS rules allow them.", nil)
}

// corsRule returns the first rule of a bucket that allows a request; nil if there is none.
func (s *store) corsRule(bucket, origin, method string, headers []string) (*corsRule, error) {
	if exists, err := s.bucketExists(bucket); err != nil || !exists {
		return nil, err
	}
	all, err := s.settingsOf(bucket)
	if err != nil || all["cors"] == "" {
		return nil, s.storageError(err)
	}
	var in struct {
		Rules []corsRule `xml:"CORSRule"`
	}
	if err := xml.Unmarshal([]byte(all["cors"]), &in); err != nil {
		return nil, s.storageError(err)
	}
	for i := range in.Rules {
		r := &in.Rules[i]
		allowed := func(header string) bool {
			return slices.ContainsFunc(r.Headers,
				func(pattern string) bool { return aws.Matches(strings.ToLower(pattern), header) })
		}
		if slices.Contains(r.Methods, method) && slices.ContainsFunc(r.Origins,
			func(pattern string) bool { return aws.Matches(pattern, origin) }) &&
			!slices.ContainsFunc(headers, func(header string) bool { return !allowed(header) }) {
			return r, nil
		}
	}
	return nil, nil
}
