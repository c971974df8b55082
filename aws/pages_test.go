package aws_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"stepback/aws"
)

func ExamplePage() {
	names := []string{"a", "b", "c", "d", "e"}
	l := aws.NewListing(time.Unix(1000, 0), "ListThings", "123456789012", "eu-west-1")
	for token := ""; ; {
		page, next, ok := aws.Page(l, token, 2, names, func(s string) string { return s })
		fmt.Println(page, ok)
		if token = next; token == "" {
			break
		}
	}
	// Output:
	// [a b] true
	// [c d] true
	// [e] true
}

func TestPageGoesOnBehindWhatWasDeleted(t *testing.T) {
	t.Parallel()
	l := aws.NewListing(time.Unix(1000, 0), "a")
	self := func(s string) string { return s }
	first, token, ok := aws.Page(l, "", 2, []string{"a", "b", "c", "d", "e"}, self)
	if !ok || !slices.Equal(first, []string{"a", "b"}) || token == "" {
		t.Fatal(first, token, ok)
	}
	for _, left := range [][]string{{"a", "b", "c", "d"}, {"c", "d"}, {"a", "c", "d"}} {
		rest, token, ok := aws.Page(l, token, 100, left, self)
		if !ok || !slices.Equal(rest, []string{"c", "d"}) || token != "" {
			t.Error(left, rest, token, ok)
		}
	}
	if rest, _, ok := aws.Page(l, token, 100, []string{"a"}, self); !ok || len(rest) > 0 {
		t.Error(rest, ok)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	made := time.Unix(1000, 0)
	token := aws.NewListing(made, "ListThings", "x").Token("p")
	for name, c := range map[string]struct {
		listing aws.Listing
		token   string
		good    bool
	}{
		"the same day":    {aws.NewListing(made.Add(aws.TokenLife-time.Second), "ListThings", "x"), token, true},
		"a day later":     {aws.NewListing(made.Add(aws.TokenLife), "ListThings", "x"), token, false},
		"another listing": {aws.NewListing(made, "ListThings", "y"), token, false},
		"other words":     {aws.NewListing(made, "ListThingsx"), token, false},
		"no token":        {aws.NewListing(made, "ListThings", "x"), "token", false},
		"not base64":      {aws.NewListing(made, "ListThings", "x"), "???", false},
	} {
		if place, ok := c.listing.Place(c.token); ok != c.good || ok && place != "p" {
			t.Errorf("%s: %q, %v", name, place, ok)
		}
	}
}
