package jsonpath_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// TestHostilePaths evaluates paths whose work grows with the square of the input. Path functions and patterns take
// visits for what they read and copy, so each path ends with an error instead of running for minutes.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	numbers := `{"a":[` + strings.Repeat("1,", 60_000) + `1]}`
	deep := `{"a":[` + strings.Repeat("0,", 2000) + `0],"t":` + strings.Repeat("[", 400) + `"` + strings.Repeat("x", 200_000) + `"` +
		strings.Repeat("]", 400) + `}`
	text := `{"a":[` + strings.Repeat("1,", 40_000) + `1],"t":"` + strings.Repeat("a", 100_000) + `","n":` + strings.Repeat("9", 80_000) + `}`
	for _, test := range []struct{ path, document, want string }{
		{"$.a[*].sum($.a)", numbers, "the path visits more than 16000000 nodes"},
		{"$.a[*].append($.a)", numbers, "the path visits more than 16000000 nodes"},
		{"$.a[*].concat($..*)", deep, "the text of concat() is longer than 4194304 bytes"},
		{"$.a[?($.t =~ /(a|aa|b){1,50}x/)]", text, "the path visits more than 16000000 nodes"},
		{"$.a[?(@ == $.n)]", text, "the path visits more than 16000000 nodes"},
	} {
		p, err := jsonpath.Compile(test.path)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonvalue.Parse(test.document)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Eval(document); err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.path, err, test.want)
		}
		if !strings.HasPrefix(test.want, "the path visits") {
			continue
		}
		checks, visits, stop := 0, 16_000_000, errors.New("stop")
		_, err = p.SelectWithin(document, &visits, func() error {
			if checks++; checks < 5 {
				return nil
			}
			return stop
		})
		if !errors.Is(err, stop) || visits <= 0 {
			t.Errorf("%s, interrupted early: %v with %d visits left", test.path, err, visits)
		}
	}
}

// TestSelectWithin evaluates two paths on one budget of visits.
func TestSelectWithin(t *testing.T) {
	t.Parallel()
	p, err := jsonpath.Compile("$..*")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonvalue.Parse(`[1,[2,3]]`)
	if err != nil {
		t.Fatal(err)
	}
	visits := 60
	if v, err := p.SelectWithin(document, &visits, nil); err != nil || v.JSON() != `[1,[2,3],2,3]` {
		t.Fatalf("%v, %v", v.JSON(), err)
	}
	if visits != 25 {
		t.Errorf("%d visits are left, want 25", visits)
	}
	if _, err = p.SelectWithin(document, &visits, nil); err == nil || err.Error() != "the path visits more than 25 nodes" {
		t.Errorf("error %v", err)
	}
}
