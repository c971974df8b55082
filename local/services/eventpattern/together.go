package eventpattern

import (
	"encoding/binary"
	"slices"
)

// chosen maps arrays to the index of the element from which values have been taken.
type chosen map[int]int

// with returns the choice extended by the array elements that contain a value. It returns false if a different
// element of one of the arrays has already been chosen.
func (c chosen) with(in *element) (chosen, bool) {
	for at := in; at != nil; at = at.outer {
		if index, ok := c[at.array]; ok && index != at.index {
			return nil, false
		}
	}
	if in == nil {
		return c, true
	}
	more := make(chosen, len(c)+1)
	for array, index := range c {
		more[array] = index
	}
	for at := in; at != nil; at = at.outer {
		more[at.array] = at.index
	}
	return more, true
}

// only removes the arrays that are not in matter.
func (c chosen) only(matter map[int]bool) chosen {
	left := make(chosen, len(c))
	for array, index := range c {
		if matter[array] {
			left[array] = index
		}
	}
	return left
}

// key returns a text that is unique to the choice.
func (c chosen) key() string {
	arrays := make([]int, 0, len(c))
	for array := range c {
		arrays = append(arrays, array)
	}
	slices.Sort(arrays)
	var key []byte
	for _, array := range arrays {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(array)), uint64(c[array]))
	}
	return string(key)
}

// together reports whether the fields of a branch match with values from a single element of each array. It
// processes the fields in order and keeps the distinct choices that are possible so far. From these it drops the
// arrays that contain none of the remaining fields.
func (e *event) together(b branch) bool {
	later := make([]map[int]bool, len(b))
	matter := map[int]bool{}
	for i := len(b) - 1; i >= 0; i-- {
		later[i] = make(map[int]bool, len(matter))
		for array := range matter {
			later[i][array] = true
		}
		for _, it := range e.values[b[i].name] {
			for at := it.in; at != nil; at = at.outer {
				matter[at.array] = true
			}
		}
	}
	choices := []chosen{{}}
	for i, f := range b {
		seen := map[string]bool{}
		var next []chosen
		take := func(c chosen) {
			left := c.only(later[i])
			if key := left.key(); !seen[key] {
				seen[key] = true
				next = append(next, left)
			}
		}
		for _, c := range choices {
			absent := f.values.absent
			for _, it := range e.values[f.name] {
				more, ok := c.with(it.in)
				if !ok {
					continue
				}
				absent = false
				if f.values.match(it.value) {
					take(more)
				}
			}
			if absent {
				take(c)
			}
		}
		if choices = next; len(choices) == 0 {
			return false
		}
	}
	return true
}
