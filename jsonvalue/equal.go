package jsonvalue

// Equal reports deep equality: numbers by value, arrays in order, objects by the set of their members.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Null:
		return true
	case Bool:
		return a.flag == b.flag
	case Number:
		return CompareNumbers(a, b) == 0
	case String:
		return a.text == b.text
	case Array:
		return equalArrays(a.inner().vals, b.inner().vals)
	default:
		return equalObjects(a, b)
	}
}

func equalArrays(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i, k := range a.inner().keys {
		other, ok := b.Get(k)
		if !ok || !Equal(a.inner().vals[i], other) {
			return false
		}
	}
	return true
}
