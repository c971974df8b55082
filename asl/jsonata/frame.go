package jsonata

// frame holds the variables of a block or call.
type frame struct {
	parent *frame
	names  []string
	vals   []value
}

func (f *frame) bind(name string, v value) {
	for i, n := range f.names {
		if n == name {
			f.vals[i] = v
			return
		}
	}
	f.names = append(f.names, name)
	f.vals = append(f.vals, v)
}

// lookup returns the value bound to a name in this frame or a surrounding one.
func (f *frame) lookup(name string) (value, bool) {
	for ; f != nil; f = f.parent {
		for i, n := range f.names {
			if n == name {
				return f.vals[i], true
			}
		}
	}
	return nil, false
}

// of returns a frame below f with the bindings of a tuple. The tuple must not change afterwards.
func (f *frame) of(t *tuple) *frame {
	if t == nil {
		return &frame{parent: f}
	}
	n := len(t.names)
	return &frame{parent: f, names: t.names[:n:n], vals: append([]value(nil), t.vals...)}
}
