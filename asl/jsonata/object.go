package jsonata

import (
	"slices"
	"strconv"

	"stepback/jsonvalue"
)

// object is a JSON object. Members set by an expression are ordered like JavaScript properties: array indexes first,
// ascending, then the others in insertion order.
type object struct {
	keys []string
	vals []value
	// indexes is the number of leading keys that are array indexes in ascending order. unordered is true if more
	// array indexes follow after them.
	indexes   int
	unordered bool
	byKey     map[string]int
	// source is the tree of a lazily read object; vals is then a cache of the members read so far.
	source *jsonvalue.Value
}

// hashFrom is the number of keys at which an object gets a hash index.
const hashFrom = 12

func newObject(size int) *object {
	return &object{keys: make([]string, 0, size), vals: make([]value, 0, size)}
}

func (o *object) len() int {
	if o.source != nil {
		return o.source.Len()
	}
	return len(o.keys)
}

// names returns the keys in order. The caller must not change them.
func (o *object) names() []string {
	if o.source != nil {
		return o.source.Keys()
	}
	o.order()
	return o.keys
}

// at returns the value of the i-th member.
func (o *object) at(i int) value {
	if o.source == nil {
		o.order()
		return o.vals[i]
	}
	if o.vals == nil {
		o.vals = make([]value, o.source.Len())
	}
	if o.vals[i] == nil {
		o.vals[i] = fromJSON(o.source.At(i))
	}
	return o.vals[i]
}

// find returns a member's present index, before any reordering; -1 if there is no such member.
func (o *object) find(key string) int {
	if o.byKey != nil {
		if i, ok := o.byKey[key]; ok {
			return i
		}
		return -1
	}
	keys := o.keys
	if o.source != nil {
		keys = o.source.Keys()
	}
	if len(keys) >= hashFrom {
		o.byKey = make(map[string]int, len(keys))
		for i, k := range keys {
			o.byKey[k] = i
		}
		return o.find(key)
	}
	return slices.Index(keys, key)
}

// get returns the named member, or nil if there is none.
func (o *object) get(key string) value {
	switch i := o.find(key); {
	case i < 0:
		return nil
	case o.source == nil:
		return o.vals[i]
	default:
		return o.at(i)
	}
}

// own makes the object independent of the tree it was read from, so that it can be changed.
func (o *object) own() {
	if o.source == nil {
		return
	}
	for i := range o.source.Len() {
		o.at(i)
	}
	o.keys = slices.Clone(o.source.Keys())
	o.source = nil
	o.countIndexes()
}

// set adds or replaces a member.
func (o *object) set(key string, v value) {
	o.own()
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	if isIndex(key) {
		if !o.unordered && o.indexes == len(o.keys) && (o.indexes == 0 || indexLess(o.keys[o.indexes-1], key)) {
			o.indexes++
		} else {
			o.unordered = true
		}
	}
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
	if o.byKey != nil {
		o.byKey[key] = len(o.keys) - 1
	}
}

// order moves the array indexes to the front, in ascending order. It runs when the object is first read, because
// sorting on each insertion would move the others many times.
func (o *object) order() {
	if !o.unordered {
		return
	}
	places := make([]int, len(o.keys))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return compareKeys(o.keys[a], o.keys[b]) })
	keys, vals := make([]string, len(places)), make([]value, len(places))
	for i, at := range places {
		keys[i], vals[i] = o.keys[at], o.vals[at]
	}
	o.keys, o.vals, o.byKey, o.unordered = keys, vals, nil, false
	o.countIndexes()
}

// removeAll removes members.
func (o *object) removeAll(names map[string]bool) {
	o.own()
	o.order()
	n := 0
	for i, key := range o.keys {
		if names[key] {
			continue
		}
		o.keys[n], o.vals[n] = key, o.vals[i]
		n++
	}
	clear(o.vals[n:])
	o.keys, o.vals, o.byKey = o.keys[:n], o.vals[:n], nil
	o.countIndexes()
}

// countIndexes counts the array indexes at the front.
func (o *object) countIndexes() {
	o.indexes = 0
	for o.indexes < len(o.keys) && isIndex(o.keys[o.indexes]) {
		o.indexes++
	}
}

// isIndex reports whether a key is an array index in JavaScript's sense: a whole number below 2^32-1 in its shortest
// form.
func isIndex(key string) bool {
	if key == "" || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return false
	}
	for i := range len(key) {
		if key[i] < '0' || key[i] > '9' {
			return false
		}
	}
	n, err := strconv.ParseUint(key, 10, 64)
	return err == nil && n < 1<<32-1
}

// compareKeys orders array indexes before other keys, in ascending order. Other keys compare equal.
func compareKeys(a, b string) int {
	switch x, y := isIndex(a), isIndex(b); {
	case x && y && a == b, !x && !y:
		return 0
	case x && (!y || indexLess(a, b)):
		return -1
	default:
		return 1
	}
}

func indexLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
