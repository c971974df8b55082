package logs

import (
	"cmp"
	"time"

	"stepback/aws"
)

// paged are the members of a request for a page of a list.
type paged struct {
	Limit     int    `json:"limit"`
	NextToken string `json:"nextToken"`
}

// page cuts one page out of a list, as aws.Page does. Request is all that the list was asked for.
func page[T any](p paged, now time.Time, request []string, list []T, key func(T) string) (elements []T, next string,
	err error) {
	elements, next, ok := aws.Page(aws.NewListing(now, request...), p.NextToken, cmp.Or(p.Limit, maxPage), list, key)
	if !ok {
		return nil, "", errToken
	}
	return elements, next, nil
}
