package stepfunctions

import "encoding/base64"

// paged are the members of a request for a page.
type paged struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

const defaultPage = 100

// page cuts one page out of a list. Its token names the last element of the page before.
func page[T any](p paged, list []T, key func(T) string) (elements []T, next string, err error) {
	if p.NextToken != "" {
		last, err := base64.RawURLEncoding.DecodeString(p.NextToken)
		if err != nil {
			return nil, "", errToken
		}
		at := 0
		for at < len(list) && key(list[at]) != string(last) {
			at++
		}
		if at == len(list) {
			return nil, "", errToken
		}
		list = list[at+1:]
	}
	size := p.MaxResults
	if size <= 0 {
		size = defaultPage
	}
	if len(list) <= size {
		return list, "", nil
	}
	return list[:size], base64.RawURLEncoding.EncodeToString([]byte(key(list[size-1]))), nil
}
