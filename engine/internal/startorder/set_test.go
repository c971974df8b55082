package startorder_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"stepback/engine/internal/startorder"
)

type entry = startorder.Entry[int]

func walk(c startorder.Cursor[int]) (found []entry) {
	for e, ok := c.Head(); ok; e, ok = c.Head() {
		found = append(found, *e)
		c.Next()
	}
	return found
}

func TestSetIsASortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := startorder.New[int]()
		var want []entry
		for i := range rapid.IntRange(0, 200).Draw(t, "operations") {
			e := entry{
				List: rapid.Uint64Range(1, 3).Draw(t, "list"), Start: rapid.Int64Range(-3, 3).Draw(t, "start"),
				ARN: fmt.Sprint("x", rapid.IntRange(0, 40).Draw(t, "arn")), Value: i,
			}
			want = slices.DeleteFunc(want, func(o entry) bool {
				return o.List == e.List && o.Start == e.Start && o.ARN == e.ARN
			})
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				set.Delete(e)
				continue
			}
			set.Put(e)
			want = append(want, e)
		}
		slices.SortFunc(want, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(b.Start, a.Start), cmp.Compare(a.ARN, b.ARN))
		})
		if set.Len() != len(want) {
			t.Fatalf("%d entries, want %d", set.Len(), len(want))
		}
		list, start := rapid.Uint64Range(1, 3).Draw(t, "from list"), rapid.Int64Range(-3, 3).Draw(t, "from")
		want = slices.DeleteFunc(want, func(e entry) bool { return e.List != list || e.Start > start })
		c := set.From(list, start, "")
		set.Put(entry{List: list, Start: start, ARN: "later"}) // the cursor does not see it
		if got := walk(c); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
