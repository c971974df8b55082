package jsonvalue

// ObjectBuilder collects the members of one object in order. A key that is set twice keeps its first position and its
// last value, as in Jackson.
type ObjectBuilder struct{ n *node }

// Objects with inline space for their members: small ones, which most are, take one allocation instead of three.
type (
	object1 struct {
		node
		k [1]string
		v [1]Value
	}
	object2 struct {
		node
		k [2]string
		v [2]Value
	}
	object4 struct {
		node
		k [4]string
		v [4]Value
	}
	object6 struct {
		node
		k [6]string
		v [6]Value
	}
)

// NewObject returns a builder with capacity for size members.
func NewObject(size int) ObjectBuilder {
	switch {
	case size == 1:
		o := new(object1)
		return within(&o.node, o.k[:0], o.v[:0])
	case size == 2:
		o := new(object2)
		return within(&o.node, o.k[:0], o.v[:0])
	case size <= 4:
		o := new(object4)
		return within(&o.node, o.k[:0], o.v[:0])
	case size <= 6:
		o := new(object6)
		return within(&o.node, o.k[:0], o.v[:0])
	}
	return within(new(node), make([]string, 0, size), make([]Value, 0, size))
}

func within(n *node, keys []string, vals []Value) ObjectBuilder {
	n.keys, n.vals = keys, vals
	return ObjectBuilder{n}
}

// Set adds or replaces a member.
func (b ObjectBuilder) Set(key string, v Value) {
	n := b.n
	if i := n.find(key); i >= 0 {
		n.vals[i] = v
		return
	}
	n.keys = append(n.keys, key)
	n.vals = append(n.vals, v)
	switch {
	case n.index != nil:
		n.index[key] = len(n.keys) - 1
	case len(n.keys) == indexFrom:
		n.index = make(map[string]int, 2*indexFrom)
		for i, k := range n.keys {
			n.index[k] = i
		}
	}
}

// Value returns the finished object. The builder must not be used afterwards.
func (b ObjectBuilder) Value() Value { return Value{kind: Object, node: b.n} }
