package cloudformation

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/template"
)

// source is the source of a request's template.
type source struct {
	Body     *string `json:"TemplateBody"`
	URL      string  `json:"TemplateURL"`
	Previous bool    `json:"UsePreviousTemplate"`
}

// parameter is a template parameter in a request.
type parameter struct {
	Key      string `json:"ParameterKey"`
	Value    string `json:"ParameterValue,omitempty"`
	Previous bool   `json:"UsePreviousValue,omitempty"`
	Resolved string `json:"ResolvedValue,omitempty"`
}

// read returns the text of a template.
func (s *Service) read(ctx context.Context, scope aws.Scope, from source, st *stack) (string, error) {
	switch {
	case from.Body != nil && from.URL != "" || from.Previous && (from.Body != nil || from.URL != ""):
		return "", invalid("Exactly one of TemplateBody, TemplateURL and UsePreviousTemplate must be given")
	case from.Body != nil:
		if len(*from.Body) > template.MaxBodyBytes {
			return "", invalid(
				"1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to %d",
				template.MaxBodyBytes,
			)
		}
		return *from.Body, nil
	case from.URL != "":
		return s.fetch(ctx, scope, from.URL)
	case from.Previous && st != nil && st.Template != "":
		return st.Template, nil
	}
	return "", invalid("Either Template URL or Template Body must be specified.")
}

// fetch reads a template from S3, by a URL with bucket and key in the path, or with the bucket in the host.
func (s *Service) fetch(ctx context.Context, scope aws.Scope, address string) (string, error) {
	bucket, key, version, err := objectOf(address)
	if err != nil {
		return "", err
	}
	body, err := s.opts.API(scope, s.identity(ctx, scope, "")).Object(ctx, bucket, key, version)
	if err != nil {
		return "", invalid("S3 error: %s", why(err))
	}
	if len(body) > template.MaxBytes {
		return "", invalid("Template may not exceed %d bytes in size.", template.MaxBytes)
	}
	return string(body), nil
}

func objectOf(address string) (bucket, key, version string, err error) {
	u, e := url.Parse(address)
	if e != nil || u.Host == "" {
		return "", "", "", invalid("TemplateURL must be a supported URL.")
	}
	if u.Scheme == "s3" {
		return "", "", "", invalid("S3 error: Domain name specified in %s is not a valid S3 domain", u.Host)
	}
	if !storage(u) {
		return "", "", "", invalid("TemplateURL must be a supported URL.")
	}
	version = u.Query().Get("versionId")
	path := strings.TrimPrefix(u.Path, "/")
	label, rest, _ := strings.Cut(u.Hostname(), ".")
	if (strings.HasPrefix(rest, "s3.") || strings.HasPrefix(rest, "s3-")) && label != "s3" {
		bucket, _, _ = strings.Cut(u.Hostname(), ".s3")
		key = path
	} else {
		bucket, key, _ = strings.Cut(path, "/")
	}
	if bucket == "" || key == "" {
		return "", "", "", invalid("TemplateURL must reference a valid S3 object to which you have access.")
	}
	return bucket, key, version, nil
}

// storage reports whether a URL may belong to S3: on AWS by its host name, otherwise for any host that is not public.
func storage(u *url.URL) bool {
	host := u.Hostname()
	labels := strings.Split(host, ".")
	if len(labels) == 1 || net.ParseIP(host) != nil ||
		slices.Contains([]string{"localhost", "local", "internal", "test"}, labels[len(labels)-1]) {
		return true
	}
	return slices.ContainsFunc(labels, func(l string) bool { return l == "s3" || strings.HasPrefix(l, "s3-") })
}
