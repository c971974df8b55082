package lambda

import (
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

// defaultPage is how many items a page has unless the request says less, and the most that it can have.
const defaultPage = 50

// pageOf cuts the page that a request asks for from a list that is sorted by key. A marker is the key of the last item
// before the page, so that items may come and go in between.
func pageOf[T any](q *request, list []T, key func(T) string) (page []T, next string, err error) {
	size := defaultPage
	if v, ok := q.Input.Get("MaxItems"); ok {
		n, _ := v.Int()
		size = min(int(n), defaultPage)
	}
	listing := aws.NewListing(time.Now(), q.HTTP.URL.Path, q.scope.Account, q.scope.Region)
	page, next, ok := aws.Page(listing, q.text("Marker"), size, list, key)
	if !ok {
		return nil, "", server.Invalid("Invalid Marker: " + q.text("Marker"))
	}
	if page == nil {
		page = []T{} // an empty list, not null
	}
	return page, next, nil
}
