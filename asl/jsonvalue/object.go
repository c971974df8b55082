package jsonvalue

// ObjectBuilder collects the members of one object in order. A key that is set twice keeps its first place and its last
// value, as Jackson does.
type ObjectBuilder struct{ n *node }

// NewObject returns a builder with room for size members.
func NewObject(size int) ObjectBuilder {
	switch { // small objects, which most are, take one allocation instead of three
	case size == 1:
		n := &struct {
			node
			keys [1]string
			vals [1]Value
		}{}
		n.node.keys, n.node.vals = n.keys[:0], n.vals[:0]
		return ObjectBuilder{&n.node}
	case size == 2:
		n := &struct {
			node
			keys [2]string
			vals [2]Value
		}{}
		n.node.keys, n.node.vals = n.keys[:0], n.vals[:0]
		return ObjectBuilder{&n.node}
	case size <= 4:
		n := &struct {
			node
			keys [4]string
			vals [4]Value
		}{}
		n.node.keys, n.node.vals = n.keys[:0], n.vals[:0]
		return ObjectBuilder{&n.node}
	case size <= 6:
		n := &struct {
			node
			keys [6]string
			vals [6]Value
		}{}
		n.node.keys, n.node.vals = n.keys[:0], n.vals[:0]
		return ObjectBuilder{&n.node}
	}
	return ObjectBuilder{&node{keys: make([]string, 0, size), vals: make([]Value, 0, size)}}
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
