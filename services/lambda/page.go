package lambda

import (
	"encoding/json"
	"strconv"
	"time"

	"stepback/aws"
	"stepback/aws/server/awsjson"
)

// defaultPage is how many items a page has unless the request says less, and the most that it can have.
const defaultPage = 50

var pageMembers = []awsjson.Member{{Name: "maxItems", Kind: awsjson.Integer, Min: 1, Max: 10000}}

// pageOf cuts the page that a request asks for from a list that is sorted by key. A marker is the key of the last item
// before the page, so that items may come and go in between.
func pageOf[T any](q *request, list []T, key func(T) string) (page []T, next string, err error) {
	size := defaultPage
	if text := q.URL.Query().Get("MaxItems"); text != "" {
		if err := check(pageMembers, map[string]any{"MaxItems": json.Number(text)}); err != nil {
			return nil, "", err
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, "", awsjson.Invalid("MaxItems must be a number")
		}
		size = min(n, defaultPage)
	}
	listing := aws.NewListing(time.Now(), q.Method, q.URL.Path, q.scope.Account, q.scope.Region)
	page, next, ok := aws.Page(listing, q.URL.Query().Get("Marker"), size, list, key)
	if !ok {
		return nil, "", awsjson.Invalid("Invalid Marker: " + q.URL.Query().Get("Marker"))
	}
	if page == nil {
		page = []T{} // an empty list, not null
	}
	return page, next, nil
}
