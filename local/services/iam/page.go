package iam

import (
	"strings"

	"stepback/aws"
)

// paging is how a list is asked for.
type paging struct {
	Marker     string
	MaxItems   int
	PathPrefix string
}

// paged is what every list says of its end.
type paged struct {
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

// page cuts the page that is asked for out of a list. what names the list.
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

// under reports whether a path is below the one that is asked for.
func (p *paging) under(path string) bool { return strings.HasPrefix(path, p.PathPrefix) }
