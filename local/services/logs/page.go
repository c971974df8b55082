package logs

import (
	"cmp"
	"time"

	"stepback/aws"
)

// paged holds the paging members of a request.
type paged struct {
	Limit     int    `json:"limit"`
	NextToken string `json:"nextToken"`
}

// page returns one page of a list; see aws.Page. request holds all parameters of the list request.
func page[T any](p paged, now time.Time, request []string, list []T, key func(T) string) (elements []T, next string,
	err error) {
	elements, next, ok := aws.Page(aws.NewListing(now, request...), p.NextToken, cmp.Or(p.Limit, maxPage), list, key)
	if !ok {
		return nil, "", errToken
	}
	return elements, next, nil
}
