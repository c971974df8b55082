package stepfunctions

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestPageGoesOnBehindWhatWasDeleted(t *testing.T) {
	t.Parallel()
	l := listing{1, time.Unix(1000, 0)}
	self := func(s string) string { return s }
	first, token, err := page(paged{MaxResults: 2}, l, []string{"a", "b", "c", "d", "e"}, self)
	if err != nil || !slices.Equal(first, []string{"a", "b"}) || token == "" {
		t.Fatal(first, token, err)
	}
	for _, left := range [][]string{{"a", "b", "c", "d"}, {"c", "d"}, {"a", "c", "d"}} {
		rest, token, err := page(paged{NextToken: token}, l, left, self)
		if err != nil || !slices.Equal(rest, []string{"c", "d"}) || token != "" {
			t.Error(left, rest, token, err)
		}
	}
	if rest, _, err := page(paged{NextToken: token}, l, []string{"a"}, self); err != nil || len(rest) > 0 {
		t.Error(rest, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	made := listing{1, time.Unix(1000, 0)}
	token := made.token("p")
	for name, c := range map[string]struct {
		listing listing
		token   string
		good    bool
	}{
		"the same day":    {listing{1, made.now.Add(tokenLife - time.Second)}, token, true},
		"a day later":     {listing{1, made.now.Add(tokenLife)}, token, false},
		"another listing": {listing{2, made.now}, token, false},
		"no token":        {made, "token", false},
		"not base64":      {made, "???", false},
	} {
		place, err := c.listing.place(c.token)
		if c.good != (err == nil && place == "p") || !c.good && !errors.Is(err, errToken) {
			t.Errorf("%s: %q, %v", name, place, err)
		}
	}
}

func TestPlacesSortByTime(t *testing.T) {
	t.Parallel()
	early, late := time.UnixMilli(1), time.UnixMilli(1_700_000_000_000)
	if oldestFirst(early, "z") >= oldestFirst(late, "a") || newestFirst(late, "z") >= newestFirst(early, "a") {
		t.Error("places do not sort as the lists do")
	}
}
