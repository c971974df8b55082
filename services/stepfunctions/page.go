package stepfunctions

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// paged are the members of a request for a page.
type paged struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

const (
	defaultPage = 100
	// tokenLife is how long the token of a page is good for.
	tokenLife = 24 * time.Hour
)

// listing is what is listed, and when: a token of one listing is no token of another.
type listing struct {
	of  uint64
	now time.Time
}

// listing names a listing by its operation and all that its request asks for.
func (s *Service) listing(request ...string) listing {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.Join(request, "\x00")) // cannot fail
	return listing{h.Sum64(), s.cfg.Now()}
}

// pageToken names the last element of the page before by its place.
type pageToken struct {
	Of    uint64 `json:"l"`
	Until int64  `json:"u"`
	Place string `json:"p"`
}

func (l listing) token(place string) string {
	text, err := json.Marshal(pageToken{l.of, l.now.Add(tokenLife).Unix(), place})
	if err != nil {
		return "" // numbers and a string can be written
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func (l listing) place(token string) (string, error) {
	var t pageToken
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || json.Unmarshal(text, &t) != nil || t.Of != l.of || l.now.Unix() >= t.Until {
		return "", errToken
	}
	return t.Place, nil
}

// page cuts one page out of a list. Places tell elements apart and sort as the list does, so that a page begins behind
// the last element of the one before even when that has been deleted meanwhile.
func page[T any](p paged, l listing, list []T, place func(T) string) (elements []T, next string, err error) {
	if p.NextToken != "" {
		last, err := l.place(p.NextToken)
		if err != nil {
			return nil, "", err
		}
		list = list[behind(list, last, place):]
	}
	size := p.MaxResults
	if size <= 0 {
		size = defaultPage
	}
	if len(list) <= size {
		return list, "", nil
	}
	return list[:size], l.token(place(list[size-1])), nil
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

// oldestFirst and newestFirst are places of lists that are sorted by time and then by ARN.
func oldestFirst(t time.Time, arn string) string { return fmt.Sprintf("%019d %s", t.UnixNano(), arn) }

func newestFirst(t time.Time, arn string) string {
	return fmt.Sprintf("%019d %s", math.MaxInt64-t.UnixNano(), arn)
}
