package logs

import (
	"encoding/base64"

	"stepback/aws/server/awsjson"
)

// paged are the members of a request for a page of a list.
type paged struct {
	Limit     int    `json:"limit"`
	NextToken string `json:"nextToken"`
}

var pageLimit = awsjson.Member{Name: "limit", Kind: awsjson.Integer, Min: 1, Max: maxPage}

// page cuts one page out of a list. Its token is the key of the last element of the page before; keys are ascending.
func page[T any](p paged, list []T, key func(T) string) (elements []T, next string, err error) {
	if p.NextToken != "" {
		last, err := base64.RawURLEncoding.DecodeString(p.NextToken)
		if err != nil {
			return nil, "", errToken
		}
		for len(list) > 0 && key(list[0]) <= string(last) {
			list = list[1:]
		}
	}
	limit := p.Limit
	if limit == 0 {
		limit = maxPage
	}
	if len(list) <= limit {
		return list, "", nil
	}
	return list[:limit], base64.RawURLEncoding.EncodeToString([]byte(key(list[limit-1]))), nil
}
