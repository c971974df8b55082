package stepfunctions

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
)

// paged are the members of a request for a page.
type paged struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

const defaultPage = 100

// listing names a listing by its operation and all that its request asks for.
func (s *Service) listing(request ...string) aws.Listing {
	return aws.NewListing(s.cfg.Now(), request...)
}

// page cuts one page out of a list, as aws.Page does.
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

// oldestFirst and newestFirst are places of lists that are sorted by time and then by ARN.
func oldestFirst(t time.Time, arn string) string { return fmt.Sprintf("%019d %s", t.UnixNano(), arn) }

func newestFirst(t time.Time, arn string) string {
	return fmt.Sprintf("%019d %s", math.MaxInt64-t.UnixNano(), arn)
}

// placeOf reads a place that oldestFirst has written.
func placeOf(text string) (t time.Time, arn string, ok bool) {
	nanos, arn, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(nanos, 10, 64)
	return time.Unix(0, n), arn, ok && err == nil
}

// creation is the time of a machine or an activity that is created now. No two have the same, so that lists in the
// order of creation are so even when they were created faster than the clock moves. It is called with mu held.
func (s *Service) creation() time.Time {
	now := s.cfg.Now()
	if !now.After(s.created) {
		now = s.created.Add(1)
	}
	s.created = now
	return now
}
