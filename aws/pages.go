package aws

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// TokenLife is how long the token of a page is good for.
const TokenLife = 24 * time.Hour

// Listing is what is listed, and when: the token of one listing is refused in another.
type Listing struct {
	of  uint64
	now time.Time
}

// NewListing names a listing by all that its request asks for: the operation, the scope, the filters.
func NewListing(now time.Time, request ...string) Listing {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(request, "\x00"))) // cannot fail
	return Listing{h.Sum64(), now}
}

// token is what the text of a token says. Place is that of the last element of the page before.
type token struct {
	Of    uint64 `json:"l"`
	Until int64  `json:"u"`
	Place string `json:"p"`
}

// Token is the token of the page behind a place.
func (l Listing) Token(place string) string {
	text, err := json.Marshal(token{l.of, l.now.Add(TokenLife).Unix(), place})
	if err != nil {
		return "" // numbers and a string can be written
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Place is the place behind which the page of a token begins. It reports false for a token that is not one of this
// listing, or too old.
func (l Listing) Place(text string) (string, bool) {
	var t token
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(decoded, &t) != nil || t.Of != l.of || l.now.Unix() >= t.Until {
		return "", false
	}
	return t.Place, true
}

// Page cuts the page that a token asks for out of a list: at most size elements, the first ones for an empty token.
// Next is the token of the page after it; empty when there is none. It reports false for a token that Place refuses.
//
// Places tell elements apart and sort as the list does, so that a page begins behind the last element of the one before
// even when that has been deleted meanwhile.
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

// behind is the index of the first element behind a place. Lists can be long, so the place is looked for where it
// should be first.
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
