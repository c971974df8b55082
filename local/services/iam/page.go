package iam

import (
	"strings"

	"stepback/aws"
)

// paging holds the paging members of a list request.
type paging struct {
	Marker     string
	MaxItems   int
	PathPrefix string
}

// paged holds the paging members of every list response.
type paged struct {
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

// page returns the requested page of a list. what names the list.
func page[T any](s *Service, in *paging, what string, all []T, place func(T) string) ([]T, paged, error) {
	const usual = 100
	if in.MaxItems == 0 {
		in.MaxItems = usual
	}
	found, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), what, in.PathPrefix), in.Marker,
		in.MaxItems, all, place)
	if !ok {
		return nil, paged{}, refuse("ValidationError", 400, "Invalid Marker.")
	}
	if found == nil {
		found = []T{}
	}
	return found, paged{IsTruncated: next != "", Marker: next}, nil
}

// under reports whether path starts with the requested prefix.
func (p *paging) under(path string) bool { return strings.HasPrefix(path, p.PathPrefix) }
