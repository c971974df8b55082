package lambda

import (
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

// defaultPage is the default and the maximum number of items per page.
const defaultPage = 50

// pageOf returns the requested page of a list sorted by key. The marker is the key of the last item of the previous
// page, so items may be added and removed between requests.
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
