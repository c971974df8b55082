package aws

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// TokenLife is the validity period of a page token.
const TokenLife = 24 * time.Hour

// Listing identifies a listing and its time. A token of one listing is rejected in another.
type Listing struct {
	of  uint64
	now time.Time
}

// NewListing returns the listing identified by everything in its request, such as the operation, the scope and the
// filters.
func NewListing(now time.Time, request ...string) Listing {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(request, "\x00"))) // cannot fail
	return Listing{h.Sum64(), now}
}

// token is the content of a page token. Place is the place of the previous page's last element.
type token struct {
	Of    uint64 `json:"l"`
	Until int64  `json:"u"`
	Place string `json:"p"`
}

// Token returns the token for the page that begins after a place.
func (l Listing) Token(place string) string {
	text, err := json.Marshal(token{l.of, l.now.Add(TokenLife).Unix(), place})
	if err != nil {
		return "" // numbers and a string can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Place returns the place after which the token's page begins. It returns false if the token belongs to another
// listing or has expired.
func (l Listing) Place(text string) (string, bool) {
	var t token
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(decoded, &t) != nil || t.Of != l.of || l.now.Unix() >= t.Until {
		return "", false
	}
	return t.Place, true
}

// Page returns a page of a list: at most size elements after the token's place, or the first ones if the token is
// empty. next is the token of the following page; empty if there is none. ok is false if Place rejects the token.
//
// Places must be unique and sort like the list. A page then begins after the previous page's last element even if
// that element has been deleted in the meantime.
func Page[T any](l Listing, token string, size int, list []T, place func(T) string) (page []T, next string, ok bool) {
	if token != "" {
		last, ok := l.Place(token)
		if !ok {
			return nil, "", false
		}
		list = list[behind(list, last, place):]
	}
	if len(list) <= size {
		return list, "", true
	}
	return list[:size], l.Token(place(list[size-1])), true
}

// behind returns the index of the first element after a place. Lists can be long, so it first tries a binary search
// for the place.
func behind[T any](list []T, last string, place func(T) string) int {
	byPlace := func(element T, at string) int { return strings.Compare(place(element), at) }
	if i, ok := slices.BinarySearchFunc(list, last, byPlace); ok {
		return i + 1
	}
	next := len(list)
	for i := range list {
		at := place(list[i])
		if at == last {
			return i + 1
		}
		if at > last && next == len(list) {
			next = i
		}
	}
	return next
}
