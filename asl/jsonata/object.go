package jsonata

import (
	"slices"
	"strconv"

	"stepback/asl/jsonvalue"
)

// object is a JSON object. Members that an expression sets are ordered as JavaScript orders properties: array indexes first,
// ascending, then the others as they came.
type object struct {
	keys []string
	vals []value
	// indexes counts the keys at the front that are array indexes.
	indexes int
	byKey   map[string]int
	// source is the tree that a lazily read object stands for; vals is then a cache of the members read so far.
	source *jsonvalue.Value
}

// hashFrom is the number of keys from which an object gets a hash index.
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
	return o.keys
}

// at returns the value of the i-th member.
func (o *object) at(i int) value {
	if o.source == nil {
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

func (o *object) find(key string) int {
	if o.byKey != nil {
		if i, ok := o.byKey[key]; ok {
			return i
		}
		return -1
	}
	keys := o.names()
	if len(keys) >= hashFrom {
		o.byKey = make(map[string]int, len(keys))
		for i, k := range keys {
			o.byKey[k] = i
		}
		return o.find(key)
	}
	return slices.Index(keys, key)
}

// get returns the member of this name, nil when there is none.
func (o *object) get(key string) value {
	if i := o.find(key); i >= 0 {
		return o.at(i)
	}
	return nil
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
	for o.indexes < len(o.keys) && isIndex(o.keys[o.indexes]) {
		o.indexes++
	}
}

// set adds or replaces a member.
func (o *object) set(key string, v value) {
	o.own()
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	if isIndex(key) {
		o.insertIndex(key, v)
		return
	}
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
	if o.byKey != nil {
		o.byKey[key] = len(o.keys) - 1
	}
}

func (o *object) insertIndex(key string, v value) {
	at := 0
	for at < o.indexes && indexLess(o.keys[at], key) {
		at++
	}
	o.keys = slices.Insert(o.keys, at, key)
	o.vals = slices.Insert(o.vals, at, v)
	o.indexes++
	o.byKey = nil
}

func (o *object) remove(key string) {
	o.own()
	i := o.find(key)
	if i < 0 {
		return
	}
	o.keys = slices.Delete(o.keys, i, i+1)
	o.vals = slices.Delete(o.vals, i, i+1)
	if i < o.indexes {
		o.indexes--
	}
	o.byKey = nil
}

// isIndex reports whether a key is an array index in JavaScript's sense: a whole number below 2^32-1 in its shortest form.
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

func indexLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
