package paging

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
)

// Request holds the paging members of a request.
type Request struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

const defaultPage = 100

// Size returns the maximum number of elements in a page.
func (r Request) Size() int {
	if r.MaxResults <= 0 {
		return defaultPage
	}
	return r.MaxResults
}

// Cut returns one page of a list; see aws.Page.
func Cut[T any](p Request, l aws.Listing, list []T, place func(T) string) (elements []T, next string, err error) {
	elements, next, ok := aws.Page(l, p.NextToken, p.Size(), list, place)
	if !ok {
		return nil, "", apierror.ErrToken
	}
	return elements, next, nil
}

// OldestFirst returns the sort key for lists ordered by time and then by ARN.
func OldestFirst(t time.Time, arn string) string { return fmt.Sprintf("%019d %s", t.UnixNano(), arn) }

// NewestFirst returns the sort key for lists that begin with the newest.
func NewestFirst(t time.Time, arn string) string {
	return fmt.Sprintf("%019d %s", math.MaxInt64-t.UnixNano(), arn)
}

// ParsePlace parses a sort key written by OldestFirst.
func ParsePlace(text string) (t time.Time, arn string, ok bool) {
	nanos, arn, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(nanos, 10, 64)
	return time.Unix(0, n), arn, ok && err == nil
}
