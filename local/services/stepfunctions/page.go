package stepfunctions

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
)

// paged holds the paging members of a request.
type paged struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

const defaultPage = 100

// listing identifies a listing by its operation and all its parameters.
func (s *Service) listing(request ...string) aws.Listing {
	return aws.NewListing(s.cfg.Now(), request...)
}

// page returns one page of a list; see aws.Page.
func page[T any](p paged, l aws.Listing, list []T, place func(T) string) (elements []T, next string, err error) {
	size := p.MaxResults
	if size <= 0 {
		size = defaultPage
	}
	elements, next, ok := aws.Page(l, p.NextToken, size, list, place)
	if !ok {
		return nil, "", errToken
	}
	return elements, next, nil
}

// oldestFirst and newestFirst return sort keys for lists ordered by time and then by ARN.
func oldestFirst(t time.Time, arn string) string { return fmt.Sprintf("%019d %s", t.UnixNano(), arn) }

func newestFirst(t time.Time, arn string) string {
	return fmt.Sprintf("%019d %s", math.MaxInt64-t.UnixNano(), arn)
}

// placeOf parses a sort key written by oldestFirst.
func placeOf(text string) (t time.Time, arn string, ok bool) {
	nanos, arn, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(nanos, 10, 64)
	return time.Unix(0, n), arn, ok && err == nil
}

// creation returns the creation time for a new state machine or activity. It is unique, so that lists by creation
// time keep the order of creation even if the clock does not move between creations. mu is held.
func (s *Service) creation() time.Time {
	now := s.cfg.Now()
	if !now.After(s.created) {
		now = s.created.Add(1)
	}
	s.created = now
	return now
}
